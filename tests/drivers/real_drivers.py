# SPDX-License-Identifier: MIT
"""The cached drivers, what their files export, and what the probe says of them.

Shared by the tests here and by tests/bench.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(folder) for folder in Path(__file__).resolve().parents[:2]]

import modes  # noqa: E402
from fetch import EXTRAS, REQUIRED, cached_drivers, drivers_folder, probe  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
FOREIGN = os.environ.get("CUSHIM_FOREIGN_DRIVER")  # the one to test with: tests/platforms/driver

# What drivers export beside the documented API; no header of any toolkit declares these.
PRIVATE = ("cudbg", "cuEGLApiInit", "cuMemGetAttribute")


class Driver:
    """One driver of the cache."""

    def __init__(self, note):
        self.branch = note["branch"]
        self.version = note["version"]
        self.cuda = note["cuda"]
        self.path = Path(note["path"])
        self.needs = note["needs"]

    def environment(self):
        """For a process that opens it: older ones need a library that lies beside them."""
        variables = {name: value for name, value in os.environ.items()
                     if not name.startswith(("CUSHIM_LIBCUDA", "CUDA_"))}
        if self.needs:
            variables["LD_LIBRARY_PATH"] = str(self.path.parent)
        return variables


def foreign_driver(path):
    """A driver for another processor, which this process cannot ask: Debian's, under its own name.
    What CUDA version a branch has is the same for each processor."""
    version = path.resolve().name.removeprefix("libcuda.so.")
    branch = version.split(".")[0]
    measured = next((ROOT / "docs" / "measured").glob(f"{branch}.*.json"))
    cuda = json.loads(measured.read_text(encoding="utf-8"))["driver"]["version"]
    return Driver({"branch": branch, "version": version, "cuda": cuda, "path": path.absolute(),
                   "needs": []})


def newest_drivers():
    """The newest cached driver of each branch that fetch.py knows, by branch, oldest first."""
    if FOREIGN:
        driver = foreign_driver(Path(FOREIGN))
        return {driver.branch: driver}
    found = {note["branch"]: Driver(note) for note in cached_drivers(drivers_folder(None))}
    return {branch: found[branch] for branch in sorted((*REQUIRED, *EXTRAS)) if branch in found}


def each_branch():
    """Parameters for a test of each cached driver. One that is required and not there is a case as
    well; and so is, for the count of what is left out, each that `sh tests/run` does not fetch."""
    if FOREIGN:
        return list(newest_drivers())
    return sorted({*newest_drivers(), *REQUIRED, *(EXTRAS if modes.QUICK else ())})


def driver_at(path):
    """A driver that is not of the cache, such as the machine's own."""
    number = path.resolve().name.removeprefix("libcuda.so.")
    version = number if "." in number else path.absolute().parent.name
    return Driver({"branch": version.split(".")[0], "version": version,
                   "cuda": probe(path.resolve(), []), "path": path.absolute(), "needs": []})


def registry():
    """The entries of the registry, in its order."""
    lines = (ROOT / "gen/registry/entries.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def is_private(symbol):
    """Whether an exported symbol is outside of the documented API."""
    return symbol.startswith(PRIVATE[0]) or symbol.removesuffix("_v2") in PRIVATE[1:]


def nm_exports(path):
    """{symbol: address} as `nm -D` shows them: functions and data."""
    shown = subprocess.run(["nm", "--dynamic", "--defined-only", "--format=posix", str(path)],
                           capture_output=True, text=True, check=True).stdout
    rows = (line.split() for line in shown.splitlines())
    return {row[0]: int(row[2], 16) for row in rows}


class ElfFile:
    """A driver's dynamic symbols, and where its code lies in the file, read by pyelftools."""

    def __init__(self, path):
        from elftools.elf.elffile import ELFFile  # not needed by tests/bench

        with open(path, "rb") as stream:
            elf = ELFFile(stream)
            self.machine, self.pointer = elf.header.e_machine, elf.elfclass // 8
            self.segments = [segment.header for segment in elf.iter_segments("PT_LOAD")]
            self.exports, self.functions = {}, {}
            for symbol in elf.get_section_by_name(".dynsym").iter_symbols():
                self._add(symbol.name, symbol.entry)

    def _add(self, name, entry):
        if (entry.st_shndx == "SHN_UNDEF" or entry.st_info.bind == "STB_LOCAL"
                or entry.st_other.visibility not in ("STV_DEFAULT", "STV_PROTECTED")):
            return
        self.exports[name] = entry.st_value
        if entry.st_info.type == "STT_FUNC":
            self.functions[name] = entry.st_value

    def file_offset(self, address):
        """Where the byte at a load-relative address is in the file."""
        for segment in self.segments:
            if 0 <= address - segment.p_vaddr < segment.p_filesz:
                return address - segment.p_vaddr + segment.p_offset
        raise ValueError(f"no segment of the file holds {address:#x}")


class Entry:
    """One line of the probe: a registry entry and its slot."""

    def __init__(self, fields):
        (self.symbol, self.name, since, self.stream, self.header, self.state, self.via, offset,
         slot) = fields
        self.since = int(since)
        self.offset = None if offset == "-" else int(offset, 16)
        self.slot = 0 if slot == "(nil)" else int(slot, 16)


class Probe:
    """What the probe printed; anything that it does not know makes the test fail."""

    def __init__(self, text):
        self.facts, self.entries, self.calls = {}, [], []
        for line in text.splitlines():
            kind, *fields = line.split("\t")
            if kind == "fact":
                self.facts[fields[0]] = fields[1]
            elif kind == "call":
                self.calls.append((fields[0], int(fields[1]), fields[2]))
            else:
                assert kind == "entry", f"unexpected output: {line!r}"
                self.entries.append(Entry(fields))
        self.by_symbol = {entry.symbol: entry for entry in self.entries}


def start_probe(program, driver, *options, path=None, preload=None):
    """Run the probe on a driver, or on a changed copy of it; the finished process."""
    words = [program] if Path(program).exists() else shlex.split(program)  # an emulator's, maybe
    command = [*words, str(path or driver.path), *options]
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        environment = driver.environment()
        if preload:  # by a link, as a blank would end the name in LD_PRELOAD
            link = Path(folder, "preloaded.so")
            link.symlink_to(preload)
            environment |= {"LD_PRELOAD": str(link)}
        return subprocess.run(command, capture_output=True, text=True, timeout=60,
                              env=environment, check=False)


def run_probe(program, driver, *options, path=None, preload=None):
    """What the probe says, where it succeeds and prints no word beside."""
    done = start_probe(program, driver, *options, path=path, preload=preload)
    assert done.returncode == 0, f"probe: exit code {done.returncode}: {done.stderr}"
    assert not done.stderr, f"a load printed: {done.stderr}"
    return Probe(done.stdout)
