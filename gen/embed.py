#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write a text as a C string: embed.py FILE NAME OUTPUT. Standard library only."""

import sys
from pathlib import Path


def quote(line):
    """A line as a string literal; what is no plain ASCII as octal numbers."""
    return '    "' + "".join(
        "\\" + char if char in '"\\' else char if " " <= char <= "~" else
        "".join(f"\\{byte:03o}" for byte in char.encode("utf-8")) for char in line) + '\\n"'


def main():
    """One line for each of the text's."""
    source, name, output = sys.argv[1:]
    lines = [quote(line) for line in Path(source).read_text(encoding="utf-8").splitlines()]
    Path(output).write_text("/* SPDX-License-Identifier: MIT */\n"
                            f"/* Generated from {Path(source).name} by gen/embed.py. */\n"
                            f"extern const char {name}[];\nconst char {name}[] =\n"
                            + "\n".join(lines) + ";\n", encoding="utf-8")


if __name__ == "__main__":
    main()
