#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the fuzzers' inputs, each a file: corpus.py FOLDER [STAMP] makes FOLDER/ptx, FOLDER/fatbin
and FOLDER/rule; with STAMP it writes that file when they are there.

corpus-ptx.txt and corpus-fatbin.txt hold them as parts, corpus-rule.txt as lines. To add some:
corpus.py --add ptx|fatbin FILE...
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import parts  # noqa: E402 pylint: disable=wrong-import-position

KINDS = ("ptx", "fatbin")
ODD_RULES = {"bytes": bytes(range(1, 256)), "long": b"cuMemAlloc:" + b",".join([b"error=2"] * 60),
             "name": b"c" * 250 + b"_v1"}


def source(kind):
    """The text file of a kind."""
    return HERE / f"corpus-{kind}.txt"


def rules():
    """{name: bytes}"""
    lines = source("rule").read_bytes().splitlines()[1:]
    return {f"{number:02}": line for number, line in enumerate(lines, 1)} | ODD_RULES


def make(folder):
    """All of them."""
    for kind in KINDS:
        parts.unpack(source(kind), folder / kind)
    (folder / "rule").mkdir(parents=True, exist_ok=True)
    for name, data in rules().items():
        (folder / "rule" / name).write_bytes(data)


def add(kind, paths):
    """Files that a fuzzer found."""
    files = parts.read(source(kind)) | {Path(path).name: Path(path).read_bytes() for path in paths}
    parts.write(source(kind), dict(sorted(files.items())), parts.LICENCE)


def main():
    if sys.argv[1:2] == ["--add"] and len(sys.argv) > 3 and sys.argv[2] in KINDS:
        add(sys.argv[2], sys.argv[3:])
    elif len(sys.argv) in (2, 3) and not sys.argv[1].startswith("-"):
        make(Path(sys.argv[1]))
        for stamp in sys.argv[2:]:
            Path(stamp).write_text("made\n", encoding="utf-8")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
