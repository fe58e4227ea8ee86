#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure the simulated driver: kernels, launches and memory, each in processes of its own.

Times are medians of RUNS in a process, and then of ROUNDS processes of each kind, in turns. It
judges nothing; docs/measurements.md has results.
"""

import argparse
import os
import statistics
import subprocess
from pathlib import Path

from bench import machine, print_markdown, print_text
from measure import Table


def measure(arguments, mode, workers=None):
    """What one process prints: {name: number}."""
    environment = {**os.environ, "CUSHIM_SIM_WORKERS": str(workers)} if workers else None
    command = [arguments.build / "tests/bench/bench-sim", arguments.library, mode, arguments.runs]
    text = subprocess.run([str(word) for word in command], env=environment, check=True,
                          capture_output=True, text=True).stdout
    return {name: float(value) for name, value in (line.split() for line in text.splitlines())}


def rounds(arguments, mode, workers=(None,)):
    """Medians over the rounds: {workers: {name: number}}; and every round."""
    each = [{count: measure(arguments, mode, count) for count in workers}
            for _ in range(arguments.rounds)]
    middle = {count: {name: statistics.median(one[count][name] for one in each)
                      for name in each[0][count]} for count in workers}
    return middle, each


def kernels(arguments):
    table = Table("Kernels of the simulated driver",
                  "The loop: the same computation by a plain C loop, gcc -O2, one core, in the "
                  "same process, in turns. 1 to 2: time with one worker divided by that with "
                  "two. Fastest: the same of the fastest of all runs, which other work on the "
                  "machine disturbs least.",
                  ("kernel", "one worker, ms", "two workers, ms", "1 to 2", "loop, ms",
                   "one worker / loop", "fastest: one worker", "two workers", "1 to 2", "loop",
                   "one worker / loop"))
    for name, mode, key in (("vecadd of 2^24", "vecadd", "kernel"),
                            ("vecadd of 2^24, with memory and copies", "vecadd", "whole"),
                            ("matmul of 512 x 512", "matmul", "kernel")):
        middle, each = rounds(arguments, mode, (1, 2))
        row = [name]
        for one, two, loop in (
                (middle[1][key], middle[2][key], middle[1]["loop"]),
                [min(turn[count][kind + "-fastest"] for turn in each)
                 for count, kind in ((1, key), (2, key), (1, "loop"))]):
            row += [f"{one:.1f}", f"{two:.1f}", f"{one / two:.2f}", f"{loop:.1f}",
                    f"{one / loop:.2f}"]
        table.rows.append(row)
    return table


def rest(arguments):
    table = Table("Launches and memory of the simulated driver",
                  "Launches of one block of 32 threads that does nothing. Memory: resident, at the "
                  "start of a process, and after a context, a module and a launch.",
                  ("what", "measured"))
    launch, _ = rounds(arguments, "launch")
    memory, _ = rounds(arguments, "memory")
    launch, memory = launch[None], memory[None]
    table.rows += [
        ("module loaded and first launch", f"{launch['load-and-first'] * 1e3:.0f} µs"),
        ("launch and wait", f"{launch['synchronised-10000'] / 10:.2f} µs"),
        ("launch, 10000 in a stream", f"{launch['queued-10000'] / 10:.2f} µs"),
        ("resident at the start", f"{memory['before']:.1f} MiB"),
        ("resident after a launch", f"{memory['after']:.1f} MiB"),
        ("the driver's share", f"{memory['after'] - memory['before']:.1f} MiB")]
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=Path, help="Meson's build folder, built")
    parser.add_argument("--library", type=Path, help="simulated driver; default: 13.0's")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    arguments = parser.parse_args()
    arguments.library = arguments.library or arguments.build / "src/sim/libcuda-sim-13.0.so"
    print(f"Measured on {machine()}.")
    for table in (kernels(arguments), rest(arguments)):
        (print_markdown if arguments.markdown else print_text)(table)


if __name__ == "__main__":
    main()
