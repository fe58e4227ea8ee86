# SPDX-License-Identifier: MIT
"""Which names the libraries show to others."""

import re

import pytest
from adopt import HERE, ROOT, assert_keeps_to_itself, need, run


# What a name says it is about; those of the table and the process as a whole are one word.
OBJECTS = ["attempt", "attribute", "capability", "capture", "context", "copy", "cubin", "device",
           "driver", "entry", "error", "error_handler", "event", "family", "feature", "fill",
           "graph", "image", "jit_result", "last_error", "launch", "library", "memory", "module",
           "outcome", "params", "pointer", "primary", "ptx", "registry", "release", "scope",
           "slot", "status", "stream", "support", "toolkit"]
WHOLE = ["base", "check", "close", "close_unload", "has", "init", "load", "message", "open", "path",
         "proc", "reason", "remarks", "require", "version"]
BARE = ["feature", "last_error", "status"]  # the object's name alone asks for it
NVML = ["device", "error", "link", "message", "process", "status", "usage"]


def exported(library):
    """{name: version} of what a shared library exports."""
    listed = run("nm", "--dynamic", "--defined-only", "--format=posix", library)
    names = (line.split()[0].replace("@@", "@").partition("@") for line in listed.splitlines()
             if line.split()[1] != "A")
    return {name: version for name, _, version in names}


def listed_names():
    """The same by src/cushim.map."""
    text = re.sub(r"(?m)^#.*", "", (ROOT / "src" / "cushim.map").read_text(encoding="utf-8"))
    return {name: version for version, names in re.findall(r"(\S+) \{(.*?)\}", text, re.S)
            for name in re.findall(r"(\w+);", names)}


def test_exports_are_the_listed_ones(installed):
    """Neither more nor less, each with its version. A name of another version is another ABI."""
    need("nm")
    found = exported(installed.shared)
    assert found == listed_names()
    assert set(found.values()) == {"CUSHIM_0.1"} and all(name.islower() for name in found)


def test_names_follow_the_rule():
    """cushim_<object>_<verb or what is asked for>, as CONTRIBUTING.md has it."""
    named = re.compile(f"cushim_(({'|'.join(OBJECTS)})_[a-z0-9_]+|{'|'.join(WHOLE + BARE)}|"
                       f"nvml_({'|'.join(NVML)})(_[a-z]+)?)")
    names = [name for name in listed_names() if not name.endswith("_")]  # those are for macros
    assert [name for name in names if not named.fullmatch(name)] == []
    for word in OBJECTS + WHOLE + BARE:  # no word without a name
        assert any(name.startswith(f"cushim_{word}") for name in names), word


def test_versions_are_asked_for(installed, tmp_path):
    """A program that is linked to the library records the version that it needs."""
    program = installed.compile(tmp_path / "app", HERE / "app.c", libraries=[installed.shared])
    assert re.search(r"libcushim\.so\.0\s.*\n.*CUSHIM_0\.1\b", run("readelf", "-V", program))


def test_soname(installed):
    """Programs ask for libcushim.so.0, whatever the release."""
    assert "SONAME) " in run("readelf", "-d", installed.shared).replace("  ", " ")
    assert "[libcushim.so.0]" in run("readelf", "-d", installed.shared)


@pytest.mark.parametrize("library", ["static", "dropin"])
def test_static_libraries_export_nothing(installed, library, tmp_path):
    """All of it linked in, and all of the program's names made dynamic."""
    program = installed.compile(
        tmp_path / "app", HERE / "app.c",
        options=["-rdynamic", "-Wl,--whole-archive", getattr(installed, library),
                 "-Wl,--no-whole-archive"])
    assert_keeps_to_itself(program)
