# SPDX-License-Identifier: MIT
"""The rooms of src/sim/ and src/sim/ptx/: what each object uses, and what each header promises."""

import graphlib
import os
import re
import subprocess
from pathlib import Path

import pytest

SIM = Path(__file__).resolve().parents[2] / "src" / "sim"
BUILD = Path(os.environ.get("MESON_BUILD_ROOT", "build")) / "src" / "sim"
# From the ground up. A file uses its own room and those before it; README.md there describes each.
# The driver may use the engine's ptx.h, and the engine uses nothing of the driver.
DRIVER = ["core", "device", "queue", "memory", "texture", "copy", "module", "launch", "graph",
          "context", "call", "thin", "nvml"]
ENGINE = ["ptx/read", "ptx/ops", "ptx/memory", "ptx/texture", "ptx/lower", "ptx/run"]
ROOMS = ENGINE + DRIVER
# Instead of the system's headers on Windows, and instead of a file of the same name without suffix.
WINDOWS = [*(SIM / "windows").rglob("*.[ch]"), *SIM.rglob("*_windows.c")]
SOURCES = sorted(set(SIM.rglob("*.[ch]")) - set(WINDOWS))
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
# Generated: the exported functions know the room of calls, and no more; the text of a library.
GENERATED = {"sim_exports": "call", "sim_device_runtime": "module"}


def room_of(path):
    """src/sim/ptx/read/lex.c -> ptx/read; None: in no room."""
    name = path.relative_to(SIM).parent.as_posix()
    return name if name in ROOMS else None


def below(room):
    """Rooms that files of this one may use."""
    return ROOMS[:ROOMS.index(room) + 1]


def source_of(engine, member):
    """The object queue_ticket.c.o of the driver -> ("queue", "ticket")."""
    generated = re.match(r"meson-generated_.*?(sim_\w+|error_names)\.c\.o$", member)
    if generated:
        return GENERATED.get(generated[1], "core"), generated[1]
    stem = member.removesuffix(".c.o")
    for room in ENGINE if engine else DRIVER:
        prefix = room.removeprefix("ptx/") + "_"
        if stem.startswith(prefix) and (SIM / room / f"{stem[len(prefix):]}.c").exists():
            return room, stem[len(prefix):]
    return None, stem


@pytest.fixture(name="symbols", scope="module")
def symbols_fixture():
    """(room, file) -> (symbols that it defines, symbols that it wants), of all objects."""
    found = {}
    for library in [*BUILD.glob("libcushim-sim-core.a"), *BUILD.glob("libcushim-sim-exports.a"),
                    *BUILD.glob("ptx/*.a")]:
        members = subprocess.run(["ar", "t", library], text=True, check=True,
                                 capture_output=True).stdout
        for member in members.splitlines():  # one may have no symbol at all
            found.setdefault(source_of(library.parent.name == "ptx", Path(member).name),
                             (set(), set()))
        listing = subprocess.run(["nm", "-A", library], text=True, check=True,
                                 capture_output=True).stdout
        for line in listing.splitlines():
            *_, member, rest = line.split(":")
            name = source_of(library.parent.name == "ptx", Path(member).name)
            defined, wanted = found[name]
            *_, kind, symbol = rest.split()
            (wanted if kind == "U" else defined if kind in "TDRBVC" else set()).add(symbol)
    assert len(found) > 150
    return found


def test_every_file_is_in_a_room(symbols):
    assert [path for path in SOURCES if path.parent not in (SIM, SIM / "ptx")
            and not room_of(path)] == []
    assert [path.name for path in SOURCES if path.parent in (SIM, SIM / "ptx")] == \
        ["ptx.h", "sim.h"]
    assert [name for name in symbols if name[0] is None] == []
    built = {f"{room}/{file}.c" for room, file in symbols}
    # Linked with the libraries that are read here, or alone.
    apart = {"call/embedded.c", "thin/engine.c", "thin/thin.c", "thin/version.c",
             *(f"nvml/{path.name}" for path in (SIM / "nvml").glob("*.c"))}
    assert {path.relative_to(SIM).as_posix() for path in SOURCES if path.suffix == ".c"} - apart \
        <= built


def test_no_object_uses_a_room_above(symbols):
    home = {symbol: name for name, (defined, _) in symbols.items() for symbol in defined}
    upward = sorted({(user, home[symbol]) for user, (_, wanted) in symbols.items()
                     for symbol in wanted
                     if symbol in home and home[symbol][0] not in below(user[0])})
    assert upward == []


@pytest.mark.parametrize("room", sorted({*ROOMS} - {"thin", "nvml"}))
def test_no_circle_of_files(symbols, room):
    """In these rooms a file uses no other that uses it. The generated table of entries names all
    functions, which is no use of them."""
    home = {symbol: name for name, (defined, _) in symbols.items() for symbol in defined}
    uses = {name: {home[symbol] for symbol in wanted if symbol in home and home[symbol] != name
                   and home[symbol][0] == room and home[symbol][1] not in GENERATED}
            for name, (_, wanted) in symbols.items() if name[0] == room}
    assert len(list(graphlib.TopologicalSorter(uses).static_order())) == len(uses) > 2


@pytest.mark.parametrize("room", ROOMS)
def test_no_header_of_a_room_above(room):
    """Types make edges that no object shows."""
    allowed = {"sim.h", "ptx/ptx.h"} if room in DRIVER else {"ptx/ptx.h"}
    names = set(below(room)) - (set(ENGINE) if room in DRIVER else set())
    wrong = [(path.name, include) for path in SOURCES if room_of(path) == room
             for include in INCLUDE.findall(path.read_text(encoding="utf-8"))
             if (SIM / include).exists() and include not in allowed
             and include.rpartition("/")[0] not in names]
    assert wrong == []


# --- Names ---

PUBLIC = (SIM / "ptx" / "ptx.h").read_text(encoding="utf-8")


def functions(symbols, rooms):
    """(room, file, function) of each function that other files may use and no entry is."""
    return [(room, file, name) for (room, file), (defined, _) in sorted(symbols.items())
            if room in rooms and file not in GENERATED for name in sorted(defined)
            if not re.match(r"sim_cu[A-Z]|cushim_", name)]


@pytest.mark.parametrize("rooms, prefix", [(DRIVER, "sim_"), (ENGINE, "")],
                         ids=["driver", "engine"])
def test_functions_carry_the_name_of_their_file(symbols, rooms, prefix):
    """sim_ticket_make is in queue/ticket.c, and no second file has that name."""
    files = [path.stem for path in SOURCES if path.suffix == ".c" and room_of(path) in rooms
             and room_of(path) not in ("thin", "nvml")]
    assert len(set(files)) == len(files)

    def file_of(name):
        found = [file for file in files if re.match(rf"{prefix}{file}(_|$)", name)]
        return max(found, key=len, default=None)
    foreign = [(room, file, name) for room, file, name in functions(symbols, rooms)
               if file_of(name) != file and not (rooms is ENGINE and f"{name}(" in PUBLIC)]
    assert foreign == []


@pytest.mark.parametrize("room", ["ptx/memory", "ptx/texture", "ptx/run"])
def test_local_functions_have_names_of_their_own(room):
    """perf and gdb show a name and no file. A source that is built for several processors counts
    once: a process runs one of them. So does an inline function of a header."""
    headers = "".join(path.read_text(encoding="utf-8") for path in (SIM / "ptx").rglob("*.h"))
    places = {}
    for library in (BUILD / "ptx").glob("*.a"):
        for line in subprocess.run(["nm", "-A", library], text=True, check=True,
                                   capture_output=True).stdout.splitlines():
            *_, member, rest = line.split(":")
            *_, kind, name = rest.split()
            name = re.fullmatch(r"([a-z]\w*)(?:\.(?:part|constprop|isra|cold)[.\d]*)*", name)
            if kind == "t" and name and not re.search(rf"\b{name[1]}\(", headers):
                places.setdefault(name[1], set()).add(source_of(True, Path(member).name))
    assert len(places) > 500
    assert {name: files for name, files in places.items()
            if len(files) > 1 and any(file[0] == room for file in files)} == {}


def test_functions_are_declared_in_a_header_of_their_room(symbols):
    """Rooms have one header, or a few. No file has one of its own (windows/ apart)."""
    headers = {room: "".join(path.read_text(encoding="utf-8") for path in (SIM / room).glob("*.h"))
               for room in ROOMS}

    def declared(room, name):
        stem = re.sub(r"_(base|v3|v4)$", "", name)  # one source, compiled for several processors
        return re.search(rf"\b({name}|{stem})\b[(),;[ ]", headers[room] + PUBLIC)
    assert [found for found in functions(symbols, ROOMS) if not declared(found[0], found[2])] == []
    assert {room: len(list((SIM / room).glob("*.h"))) for room in ROOMS
            if len(list((SIM / room).glob("*.h"))) > 3} == {"ptx/ops": 9}


def test_each_profile_has_its_places():
    """What NVML tells of it, and the test of its attributes."""
    names = re.findall(r'^    {"(\w+)", "', (SIM / "core/profile.c").read_text("utf-8"), re.M)
    facts = (SIM / "nvml/nvml_device.c").read_text("utf-8")
    assert re.findall(r'^    \{"(\w+)", "SIM-', facts, re.M) + ["small"] == names
    tests = (SIM.parents[1] / "tests/sim/meson.build").read_text("utf-8")
    tested = re.search(r"foreach profile : \[(.*?)\]", tests, re.DOTALL)[1]
    assert re.findall(r"'(\w+)'", tested) == names
