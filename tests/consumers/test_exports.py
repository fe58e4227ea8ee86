# SPDX-License-Identifier: MIT
"""What the libraries show to others: names, and the shared one's ABI."""

import os
import re

import abi
import pytest
from adopt import HERE, assert_keeps_to_itself, need, run


def test_exports_are_the_listed_ones(installed):
    """Neither more nor less; a new function is one line here, and a removed one a new soname."""
    need("nm")
    assert abi.exported(installed.shared).splitlines() == \
        abi.EXPORTS.read_text(encoding="utf-8").splitlines(), f"deliberately? then: {abi.COMMAND}"


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


@pytest.fixture(scope="module")
def stored(build):
    """The stored description, where it can be compared with this build."""
    need("abidw", "abidiff")
    if os.uname().machine != "x86_64":
        pytest.skip("the stored ABI is that of x86-64")
    if not build.options["debug"]:
        pytest.skip("this build has no debug information, from which the ABI is read")
    return abi.DESCRIPTION.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def current(build, stored, tmp_path_factory):
    """A file with the description of the library that was built."""
    path = tmp_path_factory.mktemp("abi") / "current.abi"
    path.write_text(abi.described(build.path / "src/libcushim.so.0", build.path), encoding="utf-8")
    return path


def changes(before, after):
    """What abidiff has to say, but for functions that were added; empty where nothing."""
    shown = run("abidiff", "--no-added-syms", before, after, code=None)
    return "" if re.match(r"$|Functions changes summary: 0 Removed, 0 Changed", shown) else shown


def test_abi_is_the_stored_one(current):
    """Added functions are welcome; everything else is a change to be made deliberately."""
    assert changes(abi.DESCRIPTION, current) == "", f"deliberately? then: {abi.COMMAND}"


def test_table_only_grows(stored, current):
    """Order is ABI: the members that were there are where they were."""
    before, now = abi.table(stored), abi.table(current.read_text(encoding="utf-8"))
    assert len(before) > 700 and now[:len(before)] == before


def test_abi_check_sees_what_it_should(stored, current, tmp_path):
    """A swapped pair in the table, a changed value, a function that went: each is reported."""
    first, second = abi.table(stored)[-2:]
    swapped = stored.replace(f"'{first}'", "'?'").replace(f"'{second}'", f"'{first}'") \
                    .replace("'?'", f"'{second}'")
    changed = stored.replace("name='CUSHIM_ORDER_DLSYM' value='1'",
                             "name='CUSHIM_ORDER_DLSYM' value='5'")
    removed = stored.replace("cushim_slot_at", "cushim_slot_was_at")
    without = re.sub(r"\n *<elf-symbol name='cushim_slot_at'.*", "", stored)
    without = re.sub(r"\n *<function-decl name='cushim_slot_at'.*?</function-decl>", "", without,
                     flags=re.S)
    other = tmp_path / "other.abi"
    for text, says in ((swapped, second), (changed, "CUSHIM_ORDER_DLSYM"),
                       (removed, "1 Removed"), (without, "")):
        assert text != stored
        other.write_text(text, encoding="utf-8")
        shown = changes(other, current)
        assert says in shown if says else shown == ""


def test_description_names_no_machine(stored):
    """No path of whoever made it, and small enough to keep."""
    assert " path='/" not in stored and "../" not in stored
    assert len(stored) < 1_000_000
