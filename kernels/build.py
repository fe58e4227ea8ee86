#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the PTX beside each .cu source again, or check that it is what the source gives.

Maintainers run this after changing a kernel; the build reads the committed PTX alone. It needs
clang with the NVPTX target (Debian: `apt-get install clang`) and no CUDA toolkit. With a toolkit's
ptxas, --assemble checks that the PTX compiles for GPUs old and new, and that bad/ does not.
"""

import argparse
import pathlib
import subprocess
import sys

import compilers

FOLDER = pathlib.Path(__file__).resolve().parent

# The oldest that CUDA 13 compiles for, and a recent one.
ARCHITECTURES = ["sm_75", "sm_90"]

BANNER = """\
// SPDX-License-Identifier: MIT
// Generated from {source} by kernels/build.py; do not edit.

"""


def assemble(ptxas):
    """Number of .ptx files that ptxas takes and should not, or refuses and should not."""
    wrong = 0
    for path in [*sorted(FOLDER.glob("*.ptx")), *sorted(FOLDER.glob("bad/*.ptx"))]:
        for arch in ARCHITECTURES:
            # Not linked (-c), because one kernel may call what is in another file.
            done = subprocess.run([ptxas, "-c", f"-arch={arch}", "-o", "/dev/null", path],
                                  stderr=subprocess.PIPE, text=True)
            if (done.returncode == 0) == (path.parent.name == "bad"):
                print(f"{path}: {arch}: {done.stderr or 'compiles, and should not'}",
                      file=sys.stderr)
                wrong += 1
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--clang", default="clang", help="compiler to use (default: clang)")
    parser.add_argument("--check", action="store_true",
                        help="write nothing; exit 1 if a .ptx differs from what its source gives")
    parser.add_argument("--assemble", metavar="PTXAS",
                        help="compile the committed PTX with this ptxas, and write nothing")
    parser.add_argument("source", nargs="*", type=pathlib.Path,
                        help=".cu files (default: all beside this script)")
    options = parser.parse_args()

    if options.assemble:
        try:
            return assemble(options.assemble) != 0
        except OSError as error:
            sys.exit(f"{options.assemble}: {error}")
    stale = 0
    for source in options.source or sorted(FOLDER.glob("*.cu")):
        target = source.with_suffix(".ptx")
        try:
            text = BANNER.format(source=source.name) + compilers.by_clang(
                source, extra=["-Werror"], program=options.clang)[0]
        except OSError as error:
            sys.exit(f"{source}: {error}")
        except compilers.Refused as error:
            sys.exit(str(error))
        if target.exists() and target.read_text() == text:
            continue
        if options.check:
            print(f"{target}: not what {source.name} gives", file=sys.stderr)
            stale = 1
        else:
            target.write_text(text)
            print(f"{target}: written")
    return stale


if __name__ == "__main__":
    sys.exit(main())
