# SPDX-License-Identifier: MIT
"""Which names the libraries show to others."""

import pytest
from adopt import HERE, assert_keeps_to_itself, need, run


def exported(library):
    """Names that a shared library exports, sorted."""
    listed = run("nm", "--dynamic", "--defined-only", "--format=posix", library)
    return sorted(line.split()[0].split("@")[0] for line in listed.splitlines())


def test_exports_are_the_listed_ones(installed):
    """Neither more nor less; a new function is one line here, and a removed one a new soname."""
    need("nm")
    listed = (HERE / "exports.txt").read_text(encoding="utf-8").splitlines()
    assert exported(installed.shared) == listed


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
