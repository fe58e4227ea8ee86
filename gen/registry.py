# SPDX-License-Identifier: MIT
"""The registry's files: reading, writing, and what every user of them needs to know."""

import json
import re
from pathlib import Path

DEFAULT = Path(__file__).resolve().parent / "registry"


class RegistryError(Exception):
    """Bad data; the message begins with file and line."""


def read(directory, name):
    """Objects of DIRECTORY/NAME.jsonl, in order; an empty list where there is no such file."""
    path = Path(directory) / f"{name}.jsonl"
    if not path.exists():
        return []
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise RegistryError(f"{path}:{number}: {error}") from None
        if not isinstance(row, dict):
            raise RegistryError(f"{path}:{number}: not an object")
        rows.append(row)
    return rows


def dumps(rows):
    """The file's text for ROWS: one compact object a line."""
    return "".join(json.dumps(row, ensure_ascii=True) + "\n" for row in rows)


def write(directory, name, rows):
    """Write a file only if that changes it, so that builds see no false change."""
    path = Path(directory) / f"{name}.jsonl"
    text = dumps(rows)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def version_text(version):
    """12040 -> "12.4"."""
    return f"{version // 1000}.{version % 1000 // 10}"


SUFFIX = re.compile(r"^(?P<name>cu\w+?)(?:_v(?P<abi>\d+))?(?P<stream>_ptsz|_ptds)?$")


def split_symbol(symbol):
    """"cuX_v2_ptsz" -> ("cuX", 2, "ptsz"); a symbol without _vN is ABI 1."""
    match = SUFFIX.match(symbol)
    stream = match["stream"]
    return match["name"], int(match["abi"] or 1), stream[1:] if stream else "legacy"
