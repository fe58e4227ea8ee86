#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the rows of wrapper.c.

Usage: rows.py OUTPUT ENTRIES.jsonl [SYMBOL...]   all entries that Linux has if none is named
"""

import json
import sys
from pathlib import Path


def main(output, registry, *symbols):
    """One ROW(index, symbol) a line."""
    lines = Path(registry).read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    known = [entry["symbol"] for entry in entries]
    chosen = symbols or [entry["symbol"] for entry in entries if entry.get("platform") != "windows"]
    unknown = set(chosen) - set(known)
    if unknown:
        sys.exit(f"rows.py: no entries of the registry: {' '.join(sorted(unknown))}")
    rows = "".join(f"ROW({i}, {symbol})\n" for i, symbol in enumerate(chosen))
    Path(output).write_text(rows, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
