# SPDX-License-Identifier: MIT
"""What a call costs in each of the ways to make it."""

import os
import statistics

from measure import Table, instructions, output, quartiles

# Instructions that a way may take beside a function pointer: a load of the table, a jump.
MOST = {"pointer": 0, "plt": 1, "no-plt": 0, "table": 1, "two-files": 1, "drop-in": 2,
        "nv-codec-headers": 1}
CALLS = 100000


def run(programs, ways, calls, turns, threads):
    """Nanoseconds of each turn, by way."""
    lines = output(programs / "call", programs / "libcuda.so.1", calls, turns, threads,
                   *(programs / f"way-{way}.so" for way in ways),
                   environment=environment(programs)).splitlines()
    columns = zip(*(line.split() for line in lines))
    return {way: [int(word) / 1000 for word in column] for way, column in zip(ways, columns)}


def environment(programs):
    """Every way finds the same driver."""
    return {**os.environ, "LD_LIBRARY_PATH": str(programs),
            "CUSHIM_LIBCUDA": str(programs / "libcuda.so.1")}


def counted(programs, way):
    """Instructions of a call and of the loop around it."""
    total = instructions("way_call", programs / "call", programs / "libcuda.so.1", CALLS, 1, 1,
                         programs / f"way-{way}.so", environment=environment(programs))
    return round(total / CALLS, 2)


def call(programs, calls, turns, callgrind):
    """One call in each way, from one thread and from all cores."""
    cores = os.cpu_count()
    ways = [way for way in MOST if (programs / f"way-{way}.so").exists()]
    table = Table(
        "A call",
        "`cuCtxGetDevice` of a driver whose functions do nothing, through a function pointer, the "
        "PLT (`-lcuda`), the GOT (`-lcuda`, `-fno-plt`), cushim's table, the table of the two "
        "files, the drop-in, and the table of nv-codec-headers; pointers and tables are in static "
        f"variables. Time: medians and quartiles of {turns} turns of {calls} calls each, all ways "
        f"in turns, from one thread and from {cores} at once. Instructions: callgrind, loop and "
        "driver's function included.",
        ("call through", "ns", "quartiles", "over pointer", f"ns, {cores} threads",
         "over pointer", "instructions"))
    one, all_cores = (run(programs, ways, calls, turns, threads) for threads in (1, cores))
    counts = {way: counted(programs, way) for way in ways} if callgrind else {}
    for way in ways:
        median = {id(times): statistics.median(times[way]) for times in (one, all_cores)}
        ratio = {id(times): statistics.median(value / base for value, base
                                              in zip(times[way], times["pointer"]))
                 for times in (one, all_cores)}
        table.rows.append((way, f"{median[id(one)]:.2f}", quartiles(one[way]),
                           f"{ratio[id(one)]:.3f}", f"{median[id(all_cores)]:.2f}",
                           f"{ratio[id(all_cores)]:.3f}", f"{counts[way]:g}" if counts else ""))
        if counts and counts[way] > counts["pointer"] + MOST[way]:
            table.failures.append(f"{way}: {counts[way]} instructions, "
                                  f"pointer: {counts['pointer']}")
    return table
