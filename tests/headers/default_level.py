#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which plain names the cached drivers have, by the release that gives the names their meaning.

Usage: default_level.py BUILD/gen

A driver has a plain name at a level if it exports the ABI that the name means there. Counted are
the names of which the driver exports some ABI. docs/measurements.md has what this prints.
"""

import itertools
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "gen"), str(ROOT / "tests/drivers")]

import registry  # noqa: E402
from emit import COMPANIONS  # noqa: E402
from emit_cuda import BEFORE_REGISTRY  # noqa: E402
from real_drivers import newest_drivers, nm_exports  # noqa: E402


def known_levels():
    """Every release that CUSHIM_CUDA_VERSION may name."""
    rows = registry.read(registry.DEFAULT, "levels")
    return sorted({*BEFORE_REGISTRY, *(row["release"] for row in rows)})


def known_names():
    """name -> the symbols of its ABIs, of the legacy stream, on Linux."""
    names = {}
    for row in registry.read(registry.DEFAULT, "entries"):
        if row["stream"] == "legacy" and row.get("platform") != "windows":
            names.setdefault(row["name"], set()).add(row["symbol"])
    return names


def macros(include, *options):
    """The macros of our own headers, as the preprocessor has them."""
    headers = ["cuda.h", *(name for name in COMPANIONS if "D3D" not in name)]
    text = "".join(f"#include <cushim/{header}>\n" for header in headers)
    shown = subprocess.run(["cc", "-E", "-dM", "-x", "c", "-I", str(include), *options, "-"],
                           input=text, capture_output=True, text=True, check=True).stdout
    return {row[1]: row[2] for row in map(str.split, shown.splitlines()) if len(row) == 3}


def meanings(include, names, *options):
    """name -> the symbol that it means."""
    found = macros(include, *options)
    return {name: found.get(name, name) for name in names}


def eras(include, names):
    """(first level, last level, meanings) for each row of levels at which names mean the same."""
    each = [(level, meanings(include, names, f"-DCUSHIM_CUDA_VERSION={level}"))
            for level in known_levels()]
    for meaning, group in itertools.groupby(each, key=lambda pair: pair[1]):
        levels = [level for level, _ in group]
        yield levels[0], levels[-1], meaning


def release(number):
    """12040 -> 12.4"""
    return f"{number // 1000}.{number % 1000 // 10}"


def missing(meaning, names, exports):
    """How many names the driver has in some ABI, but not in the one that is meant."""
    return sum(bool(exports & group) and meaning[name] not in exports
               for name, group in names.items())


def table(include, drivers):
    """Lines: for each driver its names, and how many of them it lacks at each level."""
    names = known_names()
    columns = list(eras(include, names))
    yield "| driver (CUDA) | names | " + " | ".join(
        f"{release(first)} to {release(last)}" for first, last, _ in columns) + " |"
    yield "| --- |" + " ---: |" * (len(columns) + 1)
    for driver in drivers:
        exports = set(nm_exports(driver.path))
        cells = [sum(bool(exports & group) for group in names.values()),
                 *(missing(meaning, names, exports) for *_, meaning in columns)]
        yield f"| {driver.version} ({release(driver.cuda)}) | " + " | ".join(map(str, cells)) + " |"


def changes(include):
    """Lines: for each level the symbols that names mean from it on, and did not before."""
    columns = list(eras(include, known_names()))
    yield "| from | names mean |"
    yield "| --- | --- |"
    for (*_, old), (first, _, new) in zip(columns, columns[1:]):
        symbols = [f"`{new[name]}`" for name in sorted(old) if old[name] != new[name]]
        yield f"| {release(first)} | {', '.join(symbols)} |"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    include = Path(sys.argv[1])
    print("\n".join([*table(include, newest_drivers().values()), "", *changes(include)]))


if __name__ == "__main__":
    main()
