# SPDX-License-Identifier: MIT
"""A program built with the header of one release, on the shared library of another."""

import re
import shutil

import pytest
from adopt import HERE, facts, run, with_driver

NEW = "".join(f"\n    CUresult (CUDAAPI *cuOfTomorrow{number})(void *pointer, int number);"
              for number in range(3))


def members(installed):
    """How many slots the installed header has."""
    text = (installed.include / "cushim/api.h").read_text(encoding="utf-8")
    return int(re.search(r"#define CUSHIM_ENTRY_COUNT (\d+)", text)[1])


@pytest.fixture
def build_with(installed, tmp_path):
    """Compile against a copy of the installed headers whose table was changed."""
    def build(change, compiler="cc"):
        folder = tmp_path / "include"
        shutil.copytree(installed.include, folder, dirs_exist_ok=True)
        header = folder / "cushim/api.h"
        text = header.read_text(encoding="utf-8")
        start = text.index("struct cushim_api {")
        end = text.index("\n};", start)
        header.write_text(text[:start] + change(text[start:end]) + text[end:], encoding="utf-8")
        program = tmp_path / "handshake"
        run(compiler, HERE / "handshake.c", "-o", program, "-I", folder, "-Wall", "-Werror",
            "-L", installed.libraries, "-lcushim")
        return program
    return build


def test_same_release(installed, build_with, driver):
    """The counterpart: nothing is refused."""
    program = build_with(lambda table: table)
    shown = facts(run(program, env=with_driver(installed.env, driver)))
    assert (shown["status"], shown["open"], shown["size"]) == ("ok", "yes", "enough")
    assert shown["slots"] == str(members(installed))


@pytest.mark.parametrize("driver_here", [False, True], ids=["no-driver", "driver"])
def test_newer_header_on_older_library(installed, build_with, driver_here, request):
    """Told at load, in words; every slot that the header knows can be called all the same."""
    env = with_driver(installed.env, request.getfixturevalue("driver")) if driver_here \
        else installed.env
    shown = facts(run(build_with(lambda table: table + NEW), "call", env=env))
    slots = members(installed) + 3
    # cuDriverGetVersion alone would succeed, and refuses the NULL that it is given here.
    assert shown == {"status": "header-mismatch", "table": "same", "size": "enough",
                     "open": "no", "version": "0 0", "slots": str(slots),
                     "refused": str(slots), "message": shown["message"]}
    assert "the library cushim is older than the header that this program was built with" in \
        shown["message"]


def test_older_header_on_newer_library(installed, build_with, driver):
    """The table's beginning is all that the program knows, and it is what it was."""
    def cut(table):
        pieces = re.split(r"\n    (?=CUresult|CUSHIM_EXTENSION)", table)
        return "\n    ".join(pieces[:-3])

    shown = facts(run(build_with(cut), env=with_driver(installed.env, driver)))
    assert (shown["status"], shown["open"], shown["size"]) == ("ok", "yes", "enough")
    assert shown["slots"] == str(members(installed) - 3)
    assert shown["version"] == f"0 {driver.cuda}"
