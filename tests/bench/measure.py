# SPDX-License-Identifier: MIT
"""The measurements; each returns one Table. bench.py runs and prints them."""

import json
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "drivers"))

from real_drivers import is_private, nm_exports, registry  # noqa: E402

HERE = Path(__file__).resolve().parent
LOADS = ("bare", "cushim", "dlsym")


@dataclass
class Table:
    """A title, what was measured and how, and rows of text; `failures` break a promise."""

    title: str
    text: str
    head: tuple
    rows: list = field(default_factory=list)
    failures: list = field(default_factory=list)


def output(*command, environment=None):
    """What a program prints; an exception where it fails."""
    return subprocess.run([str(word) for word in command], env=environment, check=True,
                          capture_output=True, text=True).stdout


def instructions(function, *command, environment=None):
    """How many instructions a function and what it calls execute, by callgrind."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder, "callgrind.out")
        output("valgrind", "--tool=callgrind", f"--toggle-collect={function}",
               f"--callgrind-out-file={record}", *command, environment=environment)
        return int(re.search(r"^(?:summary|totals): (\d+)", record.read_text(), re.M)[1])


def short(driver):
    """A driver in a table."""
    return f"{driver.version} ({driver.cuda // 1000}.{driver.cuda % 1000 // 10})"


# ------------------------------------------------------------------------- a complete load

def time_loads(program, driver, pairs):
    """Nanoseconds of each kind of load, each in a fresh process, in turns."""
    times = {kind: [] for kind in LOADS}
    for number in range(pairs):
        for kind in LOADS if number % 2 else reversed(LOADS):
            times[kind].append(int(output(program, kind, driver.path,
                                          environment=driver.environment())))
    return times


def load(programs, drivers, rounds, pairs, callgrind):
    """A complete load against dlopen and one question for the version."""
    table = Table(
        "A complete load",
        "cushim: `cushim_open`, that is inspect the file, `dlopen`, version, every entry of the "
        "registry. dlsym: the same by the order dlsym-only, which never asks `cuGetProcAddress`. "
        "bare: `dlopen`, `dlsym(\"cuDriverGetVersion\")`, call it. Each load in a fresh process, "
        "the three kinds in turns, files in the page cache. Time: ratio of the medians of "
        f"{rounds} x {pairs} loads of each kind, then the lowest and highest of the {rounds} "
        "rounds' ratios. Instructions: callgrind, without noise. Goal: cushim / bare at most 1.15 "
        "in time.",
        ("driver (CUDA)", "bare, µs", "cushim, µs", "cushim / bare", "rounds", "dlsym / bare",
         "rounds", "instructions: cushim / bare", "dlsym / bare"))
    for driver in drivers:
        times = [time_loads(programs / "load", driver, pairs) for _ in range(rounds)]
        median = {kind: statistics.median(value for one in times for value in one[kind])
                  for kind in LOADS}
        row = [short(driver), f"{median['bare'] / 1000:.0f}", f"{median['cushim'] / 1000:.0f}"]
        for kind in LOADS[1:]:
            ratios = [statistics.median(one[kind]) / statistics.median(one["bare"])
                      for one in times]
            row += [f"{median[kind] / median['bare']:.3f}",
                    f"{min(ratios):.2f} to {max(ratios):.2f}"]
        if callgrind:
            count = {kind: instructions(f"load_{kind}", programs / "load", kind, driver.path,
                                        environment=driver.environment()) for kind in LOADS}
            row += [f"{count[kind] / count['bare']:.3f}" for kind in LOADS[1:]]
        table.rows.append(row + [""] * (len(table.head) - len(row)))
    return table


# ------------------------------------------------------------------------- one call

def call(programs, driver, calls, turns, callgrind):
    """A call through the table against one through a plain function pointer."""
    table = Table(
        "A call",
        f"`cuDriverGetVersion` of driver {short(driver)}, by `cu->cuDriverGetVersion(&version)` "
        "with `cu` in a local variable, and by a local function pointer from `dlsym`. Time: "
        f"medians and quartiles of {turns} turns of {calls} calls each, both kinds in turns. "
        "Instructions: callgrind, caller's loop and driver's function included.",
        ("call through", "ns", "quartiles", "instructions a call"))
    lines = output(programs / "call", driver.path, calls, turns,
                   environment=driver.environment()).split()
    times = {"table": [int(word) / 1000 for word in lines[::2]],
             "pointer": [int(word) / 1000 for word in lines[1::2]]}
    counts = {}
    for kind, values in times.items():
        if callgrind:
            few, many = (instructions(f"call_{kind}", programs / "call", driver.path, number, 1,
                                      environment=driver.environment())
                         for number in (1000, 11000))
            counts[kind] = (many - few) / 10000
        low, _, high = statistics.quantiles(values) if len(values) > 1 else values * 3
        table.rows.append((kind, f"{statistics.median(values):.2f}", f"{low:.2f} to {high:.2f}",
                           f"{counts[kind]:g}" if counts else ""))
    ratio = statistics.median(times["table"]) / statistics.median(times["pointer"])
    equal = f"{counts['table'] / counts['pointer']:g}" if counts else ""
    table.rows.append(("table / pointer", f"{ratio:.3f}", "", equal))
    if counts and counts["table"] != counts["pointer"]:
        table.failures.append("a call through the table executes other instructions")
    return table


# ------------------------------------------------------------------------- coverage and ABIs

def slots_of(program, driver):
    """{method: [(symbol of the slot, offset that it holds)]}"""
    slots = defaultdict(list)
    for line in output(program, driver.path, environment=driver.environment()).splitlines():
        method, symbol, offset = line.split()
        slots[method].append((symbol, int(offset, 16)))
    return slots


def coverage(programs, drivers):
    """How much of each driver the table covers, and how many slots hold another ABI."""
    entries = registry()
    known = {entry["symbol"] for entry in entries}
    table = Table(
        "Coverage, and slots that hold another ABI than their type says",
        f"The registry has {len(entries)} entries, those of Windows included. Public: what the "
        "driver exports but `cudbg*`, `cuEGLApiInit` and `cuMemGetAttribute*`, which no header "
        "declares. A slot is wrong if the function in it is not the exported symbol that the slot "
        "is named and typed after; in brackets the number of slots filled. newest: a loader that "
        "asks `cuGetProcAddress(name, newest CUDA version known)` and calls the answer as the "
        "name's newest ABI. own: one that asks for each ABI with that ABI's own version. dlsym: "
        "one that takes the symbol without suffix for the newest ABI.",
        ("driver (CUDA)", "public", "covered", "available", "wrong: cushim", "newest", "own",
         "dlsym"))
    for driver in drivers:
        exports = nm_exports(driver.path)
        public = {symbol for symbol in exports if not is_private(symbol)}
        slots = slots_of(programs / "naive", driver)
        wrong = {method: sum(exports.get(symbol) != offset for symbol, offset in filled)
                 for method, filled in slots.items()}
        shown = {method: f"{wrong[method]} ({len(slots[method])})" if method in wrong else "-"
                 for method in ("newest", "own", "dlsym")}
        share = 100 * len(public & known) / len(public)
        table.rows.append((short(driver), len(public), f"{share:g} %", len(slots["cushim"]),
                           wrong["cushim"], shown["newest"], shown["own"], shown["dlsym"]))
        if public - known:
            table.failures.append(f"{driver.version}: not covered: {sorted(public - known)}")
        if wrong["cushim"] or {symbol for symbol, _ in slots["cushim"]} != public:
            table.failures.append(f"{driver.version}: wrong or missing slots")
    return table


# ------------------------------------------------------------------------- size

def loader_commands(build):
    """The build's own compiler commands for the static library, as word lists, with folder."""
    for unit in json.loads((build / "compile_commands.json").read_text()):
        if "/libcushim.a.p/" in f"/{unit['output']}":
            words = shlex.split(unit["command"])
            yield words[words[0].endswith("ccache"):], unit["directory"]


def without(words, *options):
    """A command without these options and the word that follows each."""
    kept = iter(words)
    return [word for word in kept if not (word in options and next(kept, True))]


def sizes(program):
    """text and data of a program, as the command `size` counts them."""
    return [int(word) for word in output("size", program).splitlines()[1].split()[:2]]


def build_both(build, folder, flags):
    """Programs with and without the loader, compiled alike: two paths."""
    def compile_one(number, words, directory):
        target = folder / f"{number}.o"
        subprocess.run([*words, *flags, "-o", str(target)], cwd=directory, check=True)
        return target

    units = [([word for word in without(words, "-o", "-MF", "-MQ")
               if not re.match(r"-O|-g$|-MD$|-Werror", word)], directory)
             for words, directory in loader_commands(build)]
    with ThreadPoolExecutor() as pool:
        objects = pool.map(compile_one, range(len(units)), *zip(*units))
        output("ar", "rcs", folder / "libcushim.a", *objects)
    compiler = units[0][0][0]
    common = [word for word in units[0][0] if word.startswith(("-I", "-std="))]
    for name in ("with", "without"):
        subprocess.run([compiler, *common, *flags, str(HERE / f"size_{name}.c"), "-o",
                        str(folder / name), str(folder / "libcushim.a"), "-lpthread", "-ldl"],
                       cwd=build, check=True)
    return folder / "with", folder / "without"


def size(build, quick):
    """What the static library adds to a program that only uses the loader."""
    table = Table(
        "Size",
        "What the static library adds to a dynamically linked executable that calls "
        "`cushim_load(NULL)->cuInit(0)` and nothing else, against one with an empty `main`; "
        "bytes, as the command `size` counts them. The registry and the stubs, one for each entry "
        "and reason, are most of it.",
        ("flags", "text", "data", "text + data"))
    variants = (["-O2"], ["-O2", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"],
                ["-Os", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"])
    for flags in variants[:1] if quick else variants:
        with tempfile.TemporaryDirectory() as folder:
            larger, smaller = (sizes(program)
                               for program in build_both(build, Path(folder), flags))
        text, data = (more - less for more, less in zip(larger, smaller))
        table.rows.append((f"`{' '.join(flags)}`", text, data, text + data))
    return table
