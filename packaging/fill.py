#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Copy the folders of packaging/ with who you are and where a release lies.

Usage: fill.py FOLDER [NAME=VALUE...]

  homepage    address of the project's page, on which the releases are linked
  release     address of cushim-X.Y.Z.tar.xz
  sha256, sha512  of that file, in hexadecimal
  maintainer  "Name <address>"
  signature  what a signature's name adds to the release's, as .asc; with homepage

A file has @homepage@ for the value, or @maintainer:DEFAULT@ where there is one without it. A line
that needs a value which is not given is left out. A line that begins with "#= " is a comment until
it is filled in.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDERS = ("debian", "rpm", "wrap", "conan", "vcpkg", "conda")
NAMES = ("homepage", "release", "sha256", "sha512", "maintainer", "signature")
PLACE = re.compile(rf"@({'|'.join(NAMES)})(?::([^@\n]*(?:@[\w.]+[^@\n]*)?))?@")


def fill(text, values):
    """The text with the values; lines that need one that is not there are left out."""
    lines = []
    for line in text.splitlines(keepends=True):
        lacks = [name for name, default in PLACE.findall(line)
                 if name not in values and not default]
        if not lacks:
            filled = PLACE.sub(lambda found: values.get(found[1], found[2]), line)
            lines.append(filled.removeprefix("#= "))
    return "".join(lines)


def main():
    """Run by hand; tests/consumers/test_packaging.py does."""
    usage = __doc__.split("\n\n", maxsplit=1)[1].strip()
    if sys.argv[1:2] in (["-h"], ["--help"]):
        print(usage)
        return
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(usage)
    values = {}
    for word in sys.argv[2:]:
        name, equals, value = word.partition("=")
        if name not in NAMES or not equals or not value or "\n" in value:
            sys.exit(f"fill.py: '{word}' is not one of {', '.join(NAMES)} with a value")
        values[name] = value
    for folder in FOLDERS:
        for path in sorted((HERE / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                to = Path(sys.argv[1]) / path.relative_to(HERE)
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_text(fill(path.read_text(encoding="utf-8"), values), encoding="utf-8")
                to.chmod(path.stat().st_mode & 0o777)


if __name__ == "__main__":
    main()
