#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fetch NVIDIA's real libcuda.so.1 drivers from Debian's archive, for the tests; or libnvidia-ml.

NVIDIA's drivers load, report their version and resolve entry points on a machine without a GPU.
They are licensed files: they go to a cache outside the work tree, and are never committed.
"""
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
sys.path.append(str(ROOT / "gen"))  # which has a fetch.py, too

import fetching  # noqa: E402
from archive import opened  # noqa: E402
from fetching import Unavailable, locked, version_key  # noqa: E402
from modes import DRIVERS as FEW  # noqa: E402

REQUIRED = ("460", "470", "535", "550")
EXTRAS = ("340", "390", "418", "450", "525", "555")
SUITES = ("bullseye", "bookworm", "trixie", "sid", "experimental")
LAYOUT = """\
layout of the cache:
  <cache>/drivers/<version>/libcuda.so.1   the driver, beside it what it needs and driver.json
  Drivers before 430 need LD_LIBRARY_PATH to name their folder ("needs" in --list says so).
  With --library nvml: <cache>/nvml-drivers/<version>/libnvidia-ml.so.1
"""

# Runs in a process of its own: an old driver may crash, hang, or fork on a machine it predates.
PROBE = """
import ctypes, os, sys
for needed in sys.argv[2:]:
    ctypes.CDLL(needed, mode=ctypes.RTLD_GLOBAL)
version = ctypes.c_int(0)
code = ctypes.CDLL(sys.argv[1]).cuDriverGetVersion(ctypes.byref(version))
print(code, version.value, flush=True)
os._exit(0)
"""
# NVML reports no version before nvmlInit, which needs a GPU: that it loads and answers is enough.
PROBE_NVML = """
import ctypes, os, sys
text = ctypes.CDLL(sys.argv[1]).nvmlErrorString
text.restype = ctypes.c_char_p
print(0 if text(0) else 1, 1, flush=True)
os._exit(0)
"""


class Library:
    """One of the libraries that a driver's packages hold."""

    def __init__(self, name, folder, packages, script):
        self.file = f"{name}.so.1"
        self.prefix = f"{name}.so."
        self.folder = folder
        self.packages = packages
        self.probe = script


LIBRARIES = {
    "cuda": Library("libcuda", "drivers",
                    r"libcuda1|libnvidia-(tesla|tesla-\d+|legacy-\d+xx)-cuda1", PROBE),
    "nvml": Library("libnvidia-ml", "nvml-drivers",
                    r"libnvidia-((tesla|tesla-\d+|legacy-\d+xx)-)?ml1", PROBE_NVML),
}
CUDA = LIBRARIES["cuda"]


# ---------------------------------------------------------------------------- the cache

def drivers_folder(option, wanted=CUDA):
    """The folder that holds one folder per driver version."""
    return fetching.cache_folder(wanted.folder, option)


def cached_drivers(folder, wanted=CUDA):
    """What driver.json says of each driver in the cache, oldest first, with its path."""
    found = []
    for note in folder.glob("[0-9]*/driver.json"):
        library = note.with_name(wanted.file)
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            driver = json.loads(note.read_text(encoding="utf-8"))
            if library.is_file() and driver["version"] == note.parent.name:
                found.append({"branch": driver["branch"], "version": driver["version"],
                              "cuda": driver["cuda"], "path": str(library),
                              "needs": driver["needs"]})
    return sorted(found, key=lambda driver: version_key(driver["version"]))


def missing_from(folder, branches, wanted=CUDA):
    have = {driver["branch"] for driver in cached_drivers(folder, wanted)}
    return [branch for branch in branches if branch not in have]


# ------------------------------------------------------------------------ one driver

def probe(library, needs, script=PROBE):
    """The CUDA version that the library itself reports (12040 for 12.4); of NVML, 1."""
    if library.read_bytes()[:4] != b"\x7fELF":
        raise Unavailable(f"{library.name} is not an ELF file")
    command = [sys.executable, "-I", "-c", script, str(library), *map(str, needs)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              timeout=60, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as late:
        raise Unavailable("cuDriverGetVersion does not return") from late
    if done.returncode:
        words = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise Unavailable(f"does not load: {words[0]}")
    code, version = map(int, done.stdout.split())
    if code or version <= 0:
        raise Unavailable(f"cuDriverGetVersion returns {code} and version {version}")
    return version


def install(folder, suite, package, branch, wanted):
    """Fetch one driver, check it, and put it into the cache in one step."""
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder) as new:
        unpacked, ready = Path(new, "unpacked"), Path(new, "ready")
        ready.mkdir()
        suite.unpack(package, unpacked)
        files = [file for file in unpacked.rglob("lib*.so.*") if not file.is_symlink()]
        drivers = [file for file in files if file.name.startswith(wanted.prefix)]
        if len(drivers) != 1:
            raise Unavailable(f"{package['package']} holds {len(drivers)} {wanted.prefix} files")
        version = drivers[0].name.removeprefix(wanted.prefix)
        if version.split(".")[0] != branch or version.encode() not in drivers[0].read_bytes():
            raise Unavailable(f"{drivers[0].name} does not call itself a {branch} driver")
        needs = [file.name for file in files if file not in drivers]
        for file in files:
            file.rename(ready / (wanted.file if file in drivers else file.name))
        cuda = probe(ready / wanted.file, [ready / name for name in needs], wanted.probe)
        note = {"branch": branch, "version": version, "cuda": cuda, "package": package["package"],
                "package_version": package["version"], "suite": suite.name, "needs": needs}
        (ready / "driver.json").write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
        fetching.put(ready, folder / version)


def search(folder, suites, branches, rejected, wanted):
    """Look through all suites once. Returns {branch: reason} and whether to try again."""
    reasons, again = {}, False
    for suite in suites:
        branches = missing_from(folder, branches, wanted)
        if not branches:
            break
        try:
            suite.update()
        except Unavailable as failure:
            again |= failure.again
            reasons |= {branch: f"{suite.name}: {failure}" for branch in branches}
            continue
        for branch in branches:
            for package in suite.candidates(wanted.packages, f"{branch}."):
                key = (suite.name, package["package"])
                try:
                    if key not in rejected:
                        install(folder, suite, package, branch, wanted)
                        break
                except Unavailable as failure:
                    reasons[branch] = f"{suite.name}: {failure}"
                    again |= failure.again
                    if not failure.again:
                        rejected.add(key)
    return reasons, again


def fetch(folder, branches, wanted=CUDA):
    """Fetch what the cache lacks. Returns why, for each branch that could not be had."""
    if not missing_from(folder, branches, wanted):
        return {}
    absent = {branch: f"not in {', '.join(SUITES)}" for branch in branches}
    reasons, rejected = absent, set()
    try:
        with locked(folder), opened(SUITES) as suites:
            for attempt in range(fetching.TRIES):
                time.sleep(fetching.PAUSE_SECONDS if attempt else 0)
                failures, again = search(folder, suites, branches, rejected, wanted)
                reasons = absent | failures
                if not again or not missing_from(folder, branches, wanted):
                    break
    except (Unavailable, OSError, subprocess.SubprocessError) as failure:
        reasons = {branch: " ".join(str(failure).split()) for branch in branches}
    return reasons


# ------------------------------------------------------------------------ command line

def main():
    parser = fetching.command_line(
        __doc__, LAYOUT, LIBRARIES, r"\d{3}", "driver branch such as 535",
        f"{' '.join(REQUIRED)}, and as extras {' '.join(EXTRAS)}")
    parser.add_argument("--few", action="store_true",
                        help=f"those that `sh tests/run` takes: {' '.join(FEW)}")
    options = parser.parse_args()
    library = LIBRARIES[options.library]
    folder = drivers_folder(options.cache, library)
    if options.list:
        print(json.dumps(cached_drivers(folder, library), indent=2))
        return 0
    default = FEW if options.few else [*REQUIRED, *EXTRAS]
    wanted = list(dict.fromkeys([*(fetching.named(options) or default), *options.require]))
    reasons = fetch(folder, wanted, library)
    lines = {}
    for driver in cached_drivers(folder, library):
        cuda = f"CUDA {driver['cuda'] // 1000}.{driver['cuda'] % 1000 // 10}"
        what = cuda if library is CUDA else "NVML"
        if driver["branch"] in wanted:  # the newest comes last
            lines[driver["branch"]] = f"{driver['version']} {what} {driver['path']}"
    return fetching.report(wanted, options.require, lines, reasons)


if __name__ == "__main__":
    sys.exit(main())
