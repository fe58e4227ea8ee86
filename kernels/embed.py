#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn a PTX file into a C header that holds it as a NUL-terminated string.

usage: embed.py INPUT.ptx OUTPUT.h

vecadd.ptx becomes `static const char vecadd_ptx[]`. Written as character codes, because C
compilers limit the length of a string literal.
"""

import pathlib
import re
import sys

PER_LINE = 20


def embed(name, data):
    """Text of the header that holds `data` under `name`."""
    codes = [str(byte) for byte in data] + ["0"]
    rows = [", ".join(codes[i:i + PER_LINE]) for i in range(0, len(codes), PER_LINE)]
    return "\n".join([
        "/* SPDX-License-Identifier: MIT */",
        f"/* Generated from {name}.ptx by kernels/embed.py; do not edit. */",
        "",
        f"static const char {name}_ptx[] = {{",
        *(f"    {row}," for row in rows),
        "};",
        "",
    ])


def check(path, data):
    """Refuse what is no PTX text, with file and line."""
    if not re.fullmatch(r"[A-Za-z_]\w*", path.stem, re.ASCII):
        sys.exit(f"{path}: the file's name does not make a C identifier")
    if b".version" not in data:
        sys.exit(f"{path}: no PTX, it has no .version line")
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.isascii() or b"\0" in line:
            sys.exit(f"{path}:{number}: a byte that is not ASCII text")


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: embed.py INPUT.ptx OUTPUT.h")
    source = pathlib.Path(sys.argv[1])
    data = source.read_bytes()
    check(source, data)
    pathlib.Path(sys.argv[2]).write_text(embed(source.stem, data))


if __name__ == "__main__":
    main()
