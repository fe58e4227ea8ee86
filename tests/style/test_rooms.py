# SPDX-License-Identifier: MIT
"""The rooms of src/: what each object of the library uses, read off the objects themselves."""

import os
import re
import subprocess
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[2] / "src"
BUILD = Path(os.environ.get("MESON_BUILD_ROOT", "build"))
# From the ground up. A file may use those before it; src/README.md describes each.
LOADER = ["entries", "error_names", "text", "registry", "error_name", "status", "last_error",
          "fault_rule", "elf_file", "platform_posix", "stubs", "dylib", "lookup", "find", "resolve",
          "instance", "open", "require", "proc", "init"]
# The first line or lines of a function, and its name.
DEFINITION = re.compile(r"^(?!typedef|extern|#|\s|_)[\w *,()]*?\b([a-z]\w+)\([^;]*?\)\n{", re.M)


def object_name(member):
    """loader_open.c.o and meson-generated_.._gen_entries.c.o -> ("loader", "open"), ("", ...)."""
    name = Path(member).name.removesuffix(".o").removesuffix(".c")  # of a thin archive a path
    if "meson-generated" in name:
        return "gen", re.sub(r".*_gen_", "", name)
    room, _, file = name.partition("_")
    return (room, file) if room in ("loader", "helpers", "nvml") else ("", name)


@pytest.fixture(name="objects", scope="module")
def objects_fixture():
    """(room, file) -> the objects that it uses."""
    defined, wanted = {}, {}
    listing = subprocess.run(["nm", "-A", BUILD / "src" / "libcushim.a"], text=True, check=True,
                             capture_output=True).stdout
    for line in listing.splitlines():
        *_, member, rest = line.split(":")
        name = object_name(member)
        *_, kind, symbol = rest.split()
        wanted.setdefault(name, set())
        if kind == "U":
            wanted[name].add(symbol)
        elif kind in "TDRBVC":
            defined[symbol] = name
    return {name: {defined[symbol] for symbol in symbols if symbol in defined} - {name}
            for name, symbols in wanted.items()}


def test_no_cycle(objects):
    """No file uses one that uses it, by whichever way."""
    def reach(start):
        seen, todo = set(), [start]
        while todo:
            for other in objects[todo.pop()] - seen:
                seen.add(other)
                todo.append(other)
        return seen
    assert [name for name in objects if name in reach(name)] == []


def test_loader_is_built_upwards(objects):
    """A file of the loader uses what lies below it."""
    below = set()
    for file in LOADER:
        name = next(name for name in objects if name in {("loader", file), ("gen", file)})
        assert objects[name] <= below, f"{file} uses {objects[name] - below}"
        below.add(name)
    assert {name for name in objects if name[0] == "loader"} <= below


def test_only_open_finds_and_resolves(objects):
    """One file has the spine: find, resolve, publish."""
    assert [user for user, used in objects.items() if ("loader", "find") in used
            and ("loader", "resolve") in used] == [("loader", "open")]


@pytest.mark.parametrize("path", sorted(SRC.glob("loader/*.c")), ids=lambda path: path.stem)
def test_functions_carry_the_name_of_their_file(path):
    """A name in a backtrace tells its file; the public ones are listed in cushim.h."""
    public = (SRC.parent / "include" / "cushim" / "cushim.h").read_text(encoding="utf-8")
    stem = re.sub(r"_(posix|windows)$", "", path.stem)
    names = DEFINITION.findall(path.read_text(encoding="utf-8"))
    assert names
    foreign = [name for name in names if not name.startswith((f"{stem}_", f"cushim_{stem}"))
               and not re.search(rf"\b{name}\(", public)]
    assert foreign == []
