# SPDX-License-Identifier: MIT
"""What a load costs, beside other ways to load a driver."""

import importlib.util
import statistics
import sys
import tempfile
import time
from pathlib import Path

from measure import Table, instructions, output, short

LOADS = ("bare", "cushim", "symbols", "lines", "asked", "every", "cuew", "nv")
NAME = "libcuda.so.1"  # all find the driver by the system's search, as programs do
IMPORT = "from cuda.bindings import driver; driver.cuDriverGetVersion()"


def prepared(driver, folder):
    """An environment in which the system's own search finds the driver, for those that need it."""
    where = Path(folder, driver.version)
    where.mkdir()
    for name in ("libcuda.so", "libcuda.so.1"):
        (where / name).symlink_to(driver.path)
    variables = driver.environment()
    variables["LD_LIBRARY_PATH"] = ":".join(
        filter(None, (str(where), variables.get("LD_LIBRARY_PATH"))))
    return variables


def time_loads(program, driver, environment, pairs):
    """Nanoseconds of each kind of load, each in a fresh process, in turns; None: it cannot."""
    times = {kind: [] for kind in LOADS}
    for number in range(pairs):
        for kind in LOADS if number % 2 else reversed(LOADS):
            line = output(program, kind, NAME, environment=environment)
            times[kind].append(int(line.split()[0]))
    return times


def load(programs, drivers, rounds, pairs, callgrind):
    """A complete load against dlopen and one question for the version."""
    table = Table(
        "A complete load",
        "bare: `dlopen`, `dlsym(\"cuDriverGetVersion\")`, call it. cushim: `cushim_open`, that is "
        "`dlopen`, version, every entry of the registry. symbols: the same by "
        "the order symbols, which never asks `cuGetProcAddress`. lines: the simple way, `dlopen`, "
        "version and a `dlsym` of each entry that is not newer, from a list that is there before "
        "the clock starts. asked: the same, but `cuGetProcAddress` first, from 11.3 on. every: "
        "`dlopen` and a `dlsym` of each entry of the registry. cuew: the same with the names up "
        "to 8.0, as cuew does. nv: `cuda_load_functions` of nv-codec-headers, a lazy `dlopen`. All "
        "call `cuDriverGetVersion` at the end but the last. Each load in a fresh process, the "
        "kinds in turns, files in the page cache. Time: ratio of the medians of "
        f"{rounds} x {pairs} loads of each kind, then the lowest and highest of the {rounds} "
        "rounds' ratios. Instructions: callgrind, without noise. Goals: cushim / bare at most "
        "1.15 in time, symbols / bare at most 1.10, cushim / asked at most 1.05.",
        ("driver (CUDA)", "bare, µs", "cushim, µs", "cushim / bare", "rounds", "symbols / bare",
         "lines / bare", "asked / bare", "every / bare", "cuew / bare", "nv / bare",
         "cushim / asked", "instructions: cushim / bare",
         "symbols / bare", "lines / bare", "asked / bare"))
    program = programs / "load"
    with tempfile.TemporaryDirectory() as folder:
        for driver in drivers:
            environment = prepared(driver, folder)
            times = [time_loads(program, driver, environment, pairs) for _ in range(rounds)]
            median = {kind: statistics.median(value for one in times for value in one[kind])
                      for kind in LOADS}
            ratios = [statistics.median(one["cushim"]) / statistics.median(one["bare"])
                      for one in times]
            row = [short(driver), f"{median['bare'] / 1000:.0f}", f"{median['cushim'] / 1000:.0f}",
                   f"{median['cushim'] / median['bare']:.3f}",
                   f"{min(ratios):.2f} to {max(ratios):.2f}"]
            row += [f"{median[kind] / median['bare']:.3f}" if median[kind] else "-"
                    for kind in LOADS[2:]]
            row.append(f"{median['cushim'] / median['asked']:.3f}")
            if callgrind:
                count = {kind: instructions(f"load_{kind}", program, kind, NAME,
                                            environment=environment) for kind in LOADS[:5]}
                row += [f"{count[kind] / count['bare']:.3f}" for kind in LOADS[1:5]]
            table.rows.append(row + [""] * (len(table.head) - len(row)))
    return table


def seconds(*command, environment):
    """How long a command takes."""
    start = time.perf_counter()
    output(*command, environment=environment)
    return time.perf_counter() - start


def python(programs, drivers, turns):
    """The import of cuda-bindings, if this Python has it, against a whole process with cushim."""
    table = Table(
        "The import of cuda-bindings",
        "Whole processes in turns: Python that does nothing, Python that imports "
        "`cuda.bindings.driver` and calls `cuDriverGetVersion`, and a program that loads by "
        f"`cushim_open`. Medians of {turns}, milliseconds.",
        ("driver (CUDA)", "python, ms", "with cuda-bindings, ms", "import, ms",
         "program with cushim, ms"))
    if importlib.util.find_spec("cuda") is None:
        table.rows.append(("this Python has no cuda-bindings", "", "", "", ""))
        return table
    with tempfile.TemporaryDirectory() as folder:
        for driver in drivers[-1:]:
            environment = prepared(driver, folder)
            commands = ((sys.executable, "-c", "pass"), (sys.executable, "-c", IMPORT),
                        (programs / "load", "cushim", driver.path))
            times = [[seconds(*command, environment=environment) * 1000 for command in commands]
                     for _ in range(turns)]
            nothing, whole, program = (statistics.median(column) for column in zip(*times))
            table.rows.append((short(driver), f"{nothing:.1f}", f"{whole:.1f}",
                               f"{whole - nothing:.1f}", f"{program:.1f}"))
    return table
