#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure cushim on the cached real drivers and print ratios, side by side, from one run.

Loads, calls, coverage, size, memory and headers, as docs/measurements.md shows them. Times are
medians; a busy machine widens their spread, which is printed, and changes no count of instructions.
Exit code 1 where a promise is broken that does not depend on time: a public symbol that is not
covered, a slot with another ABI, a call that executes more instructions. 77 where no driver is in
the cache.
"""

import argparse
import os
import platform
import re
import shutil
import sys
import textwrap
from datetime import date
from pathlib import Path

import measure_call
import measure_coverage
import measure_growth
import measure_header
import measure_load
import measure_size
import measure_start
from real_drivers import driver_at, newest_drivers


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=Path, help="Meson's build folder, built")
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    parser.add_argument("--quick", action="store_true",
                        help="few repetitions and no callgrind: whether it works, not how fast")
    parser.add_argument("--driver", type=Path, metavar="PATH",
                        help="measure this driver and not the cached ones")
    parser.add_argument("--only", choices=("load", "python", "growth", "call", "coverage", "size",
                                           "memory", "start", "header"))
    return parser.parse_args()


def machine():
    """Processor, system and C library, in a line."""
    info = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*: (.*)", info.read_text()) if info.exists() else None
    return (f"{model[1] if model else platform.machine()}, {os.cpu_count()} cores, "
            f"Linux {platform.release()}, {' '.join(platform.libc_ver())}, "
            f"load average {os.getloadavg()[0]:.1f}")


def print_text(table):
    """A table for people at a terminal."""
    rows = [[str(cell) for cell in row] for row in (table.head, *table.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.head))]
    print(f"\n== {table.title}\n")
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    for failure in table.failures:
        print(f"FAILED: {failure}")


def print_markdown(table):
    """A table with what was measured, as a section of docs/measurements.md."""
    text = textwrap.fill(table.text, 100, break_on_hyphens=False)
    print(f"\n## {table.title}\n\n{text}\n")
    for row in (table.head, ["---", *["---:"] * (len(table.head) - 1)], *table.rows):
        print("| " + " | ".join(map(str, row)) + " |")
    for failure in table.failures:
        print(f"\n**FAILED**: {failure}")


def main():
    options = parse_arguments()
    drivers = [driver_at(options.driver)] if options.driver else list(newest_drivers().values())
    build = options.build.resolve()
    programs = build / "tests/bench"
    if not drivers:
        print("skipped: no driver in the cache; tests/drivers/fetch.py fetches them")
        return 77
    valgrind = shutil.which("valgrind") is not None
    callgrind = valgrind and not options.quick
    rounds, pairs, calls, turns = (1, 2, 1000, 3) if options.quick else (9, 41, 1000000, 41)
    counts = (780, 1000) if options.quick else (100, 200, 400, 780, 1000)
    measurements = {
        "load": lambda: measure_load.load(programs, drivers, rounds, pairs, callgrind),
        "python": lambda: measure_load.python(programs, drivers, pairs),
        "growth": lambda: measure_growth.growth(build, counts),
        "call": lambda: measure_call.call(programs, calls, turns, valgrind),
        "coverage": lambda: measure_coverage.coverage(programs, drivers),
        "size": lambda: measure_size.size(build, options.quick),
        "memory": lambda: measure_size.memory(programs, drivers[-1], pairs),
        "start": lambda: measure_start.start(programs, pairs),
        "header": lambda: measure_header.header(build, turns, callgrind),
    }
    if not valgrind:
        del measurements["growth"]
    print(f"Measured on {date.today()}: {machine()}.", flush=True)
    failed = False
    for name, run in measurements.items():
        if options.only in (None, name):
            table = run()
            (print_markdown if options.markdown else print_text)(table)
            sys.stdout.flush()
            failed |= bool(table.failures)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
