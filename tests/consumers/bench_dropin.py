#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a call through the drop-in costs beside the same call through the PLT, in one run.

Usage: bench_dropin.py BUILD
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOOPS = ("loop_plt", "loop_dropin")
CALLS = 100000


def output(*command, env=None):
    """Standard output of a command that must succeed."""
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True,
                          check=True, env={**os.environ, **(env or {})}).stdout


class Bench:
    """bench_dropin.c and its little libcuda.so.1, compiled for one build."""

    def __init__(self, build, folder):
        self.folder = Path(folder)
        self.program = self.folder / "bench"
        library = self.folder / "libcuda.so.1"
        self.env = {"LD_LIBRARY_PATH": str(folder), "CUSHIM_LIBCUDA": str(library)}
        output("cc", "-O2", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", HERE / "driver.c",
               "-o", library)
        output("cc", "-O2", HERE / "bench_dropin.c", "-I", build / "src/packaging/cuda-headers",
               "-I", build / "gen", build / "src/libcushim-dropin.a", library, "-o",
               self.program, "-ldl", "-pthread")

    def instructions(self):
        """Instructions that a turn of either loop takes, as callgrind counts them."""
        counts = self.folder / "callgrind.out"
        output("valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={counts}",
               self.program, 1, CALLS, env=self.env)
        shown = output("callgrind_annotate", "--inclusive=yes", "--threshold=100", counts)
        found = (re.search(rf"^\s*([\d,]+) .*:{loop}\b", shown, re.M)[1] for loop in LOOPS)
        return [int(count.replace(",", "")) / CALLS for count in found]

    def nanoseconds(self, rounds=201):
        """Medians of a call through the PLT, through the drop-in, and of their ratio."""
        lines = output(self.program, rounds, 1000000, env=self.env).splitlines()
        return [float(line.split()[1]) for line in lines]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(sys.argv[1]).resolve(), folder)
        plt, dropin = bench.instructions()
        print(f"instructions a turn: PLT {plt:.2f}, drop-in {dropin:.2f}")
        for _ in range(3):
            plt, dropin, ratio = bench.nanoseconds()
            print(f"ns a turn: PLT {plt:.2f}, drop-in {dropin:.2f}, median ratio {ratio:.3f}")


if __name__ == "__main__":
    main()
