#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure the simulated driver: kernels, launches and memory, each in processes of its own.

Times are medians of RUNS in a process, and then of ROUNDS processes. It judges nothing;
docs/measurements.md has results. beside.py compares with POCL.
"""

import argparse
import os
import re
import statistics
import subprocess
from pathlib import Path

from bench import machine, print_markdown, print_text
from measure import Table, instructions, output


def measure(arguments, mode, libraries):
    """What the processes of all rounds print: {name: [numbers]}."""
    command = [arguments.build / "tests/bench/bench-sim", mode, arguments.runs, *libraries]
    found = {}
    for _ in range(arguments.rounds):
        text = subprocess.run([str(word) for word in command], check=True, capture_output=True,
                              text=True).stdout
        for name, value in (line.split() for line in text.splitlines()):
            found.setdefault(name, []).append(float(value))
    return found


def kernels(arguments):
    table = Table("Kernels of the simulated driver",
                  "On one worker, on two, and the same computation by a plain C loop, gcc -O2, on "
                  "one thread and on two: all in one process, in turns. Gain: one divided by "
                  "two, each with its neighbour in time; fastest: of the fastest of all runs, "
                  "which other work on the machine disturbs least.",
                  ("kernel", "one worker, ms", "two workers, ms", "gain", "gain, fastest",
                   "loop, ms", "gain of the loop", "one worker / loop", "the same, fastest"))
    for title, mode in (("vecadd of 2^24", "vecadd"), ("matmul of 512 x 512", "matmul")):
        found = measure(arguments, mode, (arguments.library, arguments.other))
        middle = {name: statistics.median(values) for name, values in found.items()}
        least = {name: min(values) for name, values in found.items()}
        table.rows.append([
            title, f"{middle['one']:.1f}", f"{middle['two']:.1f}", f"{middle['gain']:.2f}",
            f"{least['one-fastest'] / least['two-fastest']:.2f}", f"{middle['loop-one']:.1f}",
            f"{middle['loop-gain']:.2f}", f"{middle['one'] / middle['loop-one']:.2f}",
            f"{least['one-fastest'] / least['loop-one-fastest']:.2f}"])
        if mode == "vecadd":
            table.rows.append(["the same, with memory and copies", "", f"{middle['whole']:.1f}",
                               "", "", "", "", "", ""])
    return table


def rest(arguments):
    table = Table("Launches and memory of the simulated driver",
                  "Launches of one block of 32 threads that does nothing. Memory: resident, at the "
                  "start of a process, and after a context, a module and a launch.",
                  ("what", "measured"))
    call, launch, memory = ({name: statistics.median(values) for name, values in
                       measure(arguments, mode, (arguments.library,)).items()}
                      for mode in ("call", "launch", "memory"))
    table.rows += [
        ("a call that does nothing", f"{call['call-100000'] * 10:.0f} ns"),
        ("module loaded and first launch", f"{launch['load-and-first'] * 1e3:.0f} µs"),
        ("launch and wait", f"{launch['synchronised-10000'] / 10:.2f} µs"),
        ("launch, 10000 in a stream", f"{launch['queued-10000'] / 10:.2f} µs"),
        ("resident at the start", f"{memory['before']:.1f} MiB"),
        ("resident after a launch", f"{memory['after']:.1f} MiB"),
        ("the driver's share", f"{memory['after'] - memory['before']:.1f} MiB")]
    return table


def counted(arguments):
    """What the kernels of kernels/ take, with the library of another build and with this one's."""
    program = arguments.build / "tests/device/device-kernels"
    environment = {**os.environ, "CUSHIM_SIM_WORKERS": "1"}
    table = Table("Instructions of the kernels",
                  "What a worker executes for all launches of one check of kernels/, by callgrind.",
                  ("kernel", "before, millions", "now, millions", "now / before"))
    checks = output(program, environment={**environment, "CUSHIM_LIBCUDA": str(arguments.library)})
    for name in re.findall(r"^([\w ]+): ", checks, re.M):
        before, now = (instructions("block_worker", program, name,
                                    environment={**environment, "CUSHIM_LIBCUDA": str(library)})
                       for library in (arguments.before, arguments.library))
        if before:
            table.rows.append([name, f"{before / 1e6:.2f}", f"{now / 1e6:.2f}",
                               f"{now / before:.2f}"])
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=Path, help="Meson's build folder, built")
    parser.add_argument("--library", type=Path, help="simulated driver; default: 13.0's")
    parser.add_argument("--other", type=Path, help="the one with two workers; default: 12.4's")
    parser.add_argument("--before", type=Path, metavar="LIBRARY",
                        help="count the kernels' instructions with this one too, and do no more")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    arguments = parser.parse_args()
    arguments.library = arguments.library or arguments.build / "src/sim/libcuda-sim-13.0.so"
    arguments.other = arguments.other or arguments.build / "src/sim/libcuda-sim-12.4.so"
    print(f"Measured on {machine()}.")
    tables = (counted,) if arguments.before else (kernels, rest)
    for table in (make(arguments) for make in tables):
        if table:
            (print_markdown if arguments.markdown else print_text)(table)


if __name__ == "__main__":
    main()
