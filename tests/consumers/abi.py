#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The shared library's exports and ABI, as text to keep beside the tests.

Usage: abi.py BUILD   writes exports.txt and cushim.abi anew, from the library in a build folder
"""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXPORTS = HERE / "exports.txt"
DESCRIPTION = HERE / "cushim.abi"
COMMAND = "python3 tests/consumers/abi.py BUILD"

# What public headers declare and nothing that differs from machine to machine.
OPTIONS = ["--drop-private-types", "--exported-interfaces-only", "--no-comp-dir-path",
           "--no-corpus-path", "--no-elf-needed", "--no-parameter-names", "--no-show-locs",
           "--no-write-default-sizes", "--type-id-style", "hash"]


def output(*command):
    """Standard output of a command that must succeed."""
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True,
                          check=True).stdout


def exported(library):
    """Text of exports.txt for a library."""
    lines = output("nm", "-D", "--defined-only", library).splitlines()
    return "".join(f"{name}\n" for name in sorted(line.split()[-1] for line in lines))


def described(library, build):
    """Text of cushim.abi for a library."""
    text = output("abidw", *OPTIONS, "--headers-dir", HERE.parents[1] / "include",
                  "--headers-dir", build / "gen/cushim", library)
    return re.sub(r" path='(?:[^']*/)?((?:src|gen)/[^']*)'", r" path='\1'", text)


def table(description):
    """Members of struct cushim_api in a description, in order."""
    body = re.search(r"<class-decl name='cushim_api' size[^>]*>(.*?)</class-decl>", description,
                     re.S)[1]
    return [name or "union" for name in
            re.findall(r"<data-member[^>]*>\s*<var-decl name='(\w*)'", body)]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = Path(sys.argv[1]).resolve()
    library = build / "src/libcushim.so.0"
    EXPORTS.write_text(exported(library), encoding="utf-8")
    DESCRIPTION.write_text(described(library, build), encoding="utf-8")


if __name__ == "__main__":
    main()
