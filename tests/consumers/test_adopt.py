# SPDX-License-Identifier: MIT
"""The commands of docs/adopt.md, taken from the page and run as they stand."""

import re
import shutil

import pytest
from adopt import HERE, NO_DRIVER, ROOT, facts, need, needed, run

PAGE = (ROOT / "docs/adopt.md").read_text(encoding="utf-8")


def commands(heading):
    """The command lines of a section, one script."""
    section = re.search(rf"^## {heading}\n(.*?)^## ", PAGE, re.M | re.S)[1]
    lines = re.findall(r"^    ( *\S.*)$", section, re.M)
    assert lines
    return "\n".join(lines)


@pytest.fixture(name="tree")
def fixture_tree(tmp_path):
    """cushim's sources, with a program beside them."""
    tree = tmp_path / "cushim's tree"
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns("build*", ".*", "tests"))
    shutil.copy(HERE / "app.c", tree)
    return tree


def test_install(tree, tmp_path):
    """Into a prefix that nobody knows; the program needs nothing but the static library."""
    need("meson", "ninja", "pkg-config")
    shown = run("sh", "-euc", commands("Install"), cwd=tree,
                env={"PREFIX": str(tmp_path / "prefix"), "CUSHIM_LIBCUDA": NO_DRIVER})
    assert facts("\n".join(shown.splitlines()[-3:]))["status"] == "not-found"
    assert [name for name in needed(tree / "app") if "cushim" in name] == []
    rpath = re.search(r"`(-Wl,-rpath,.*)`", PAGE)[1]
    run("sh", "-euc", "cc app.c -o shared $(pkg-config --cflags --libs cushim) " + rpath, cwd=tree,
        env={"PKG_CONFIG_PATH": str(tmp_path / "prefix/lib/pkgconfig")})
    assert "libcushim.so.0" in needed(tree / "shared")
    assert facts(run(tree / "shared", env={"CUSHIM_LIBCUDA": NO_DRIVER}))["status"] == "not-found"


def test_two_files(tree):
    """The commands of the page, with README's program."""
    mine = tree.parent / "mine"
    mine.mkdir()
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    program = re.search(r"<!-- test: program -->\n```c\n(.*?)```", page, re.S)[1]
    (mine / "program.c").write_text(program, encoding="utf-8")
    run("sh", "-euc", commands("Two files"), cwd=tree)
    shown = run(mine / "program", env={"CUSHIM_LIBCUDA": NO_DRIVER})
    assert shown.startswith(f"on the CPU, because CUSHIM_LIBCUDA={NO_DRIVER}: ")
