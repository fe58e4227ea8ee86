# SPDX-License-Identifier: MIT
"""tools/configure: whatever the folder was, it has the options and finds what is installed now."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = """project('made-up', default_options: ['werror=false'])
found = dependency('made-up-library', required: false).found()
if get_option('tests')
  test('one', find_program('sh'), args: ['-c', 'true'], suite: 'unit')
  if found
    test('two', find_program('sh'), args: ['-c', 'true'], suite: 'unit')
  endif
endif
"""
OPTION = "option('{}', type: 'boolean', value: false)\n"


@pytest.fixture(name="tree")
def fixture_tree(tmp_path):
    """A project whose second test needs a library that is not installed yet."""
    (tmp_path / "meson.build").write_text(PROJECT, encoding="utf-8")
    (tmp_path / "meson_options.txt").write_text(OPTION.format("tests") + OPTION.format("old"),
                                                encoding="utf-8")
    return tmp_path


def install_library(tree):
    """pkg-config finds it from now on."""
    (tree / "made-up-library.pc").write_text("Name: a\nDescription: a\nVersion: 1\n",
                                             encoding="utf-8")


def meson(tree, *arguments):
    return subprocess.run(["meson", *arguments], cwd=tree, check=True, text=True,
                          capture_output=True).stdout


def configure(tree, *options, code=0):
    """Run tools/configure and give the names of the tests that there are then."""
    done = subprocess.run(["sh", ROOT / "tools/configure", "b", *options], cwd=tree, text=True,
                          env={**os.environ, "PKG_CONFIG_PATH": str(tree)}, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == code, done.stdout
    if code:
        return None
    return [row["name"] for row in json.loads(meson(tree, "introspect", "--tests", "b"))]


def test_new_folder(tree):
    install_library(tree)
    assert configure(tree, "-Dtests=true") == ["one", "two"]
    assert configure(tree, "-Dtests=true") == ["one", "two"]


def test_folder_with_other_options(tree):
    meson(tree, "setup", "b", "-Dwerror=true")
    assert configure(tree, "-Dtests=true") == ["one"]


def test_library_came_later(tree):
    """The folder was configured when it was not installed: nothing of that is kept."""
    assert configure(tree, "-Dtests=true") == ["one"]
    install_library(tree)
    assert configure(tree, "-Dtests=true") == ["one", "two"]


def test_tree_moved_on(tree):
    """An option that the folder was configured with is gone from the tree."""
    meson(tree, "setup", "b", "-Dold=true")
    (tree / "meson_options.txt").write_text(OPTION.format("tests"), encoding="utf-8")
    assert configure(tree, "-Dtests=true") == ["one"]


@pytest.mark.parametrize("file", ["coredata.dat", "build.dat"])
def test_folder_that_meson_cannot_read(tree, file):
    """Of another release of Meson, or half-written."""
    meson(tree, "setup", "b")
    (tree / "b/meson-private" / file).write_bytes(b"of another release")
    assert configure(tree, "-Dtests=true") == ["one"]


def test_setup_that_failed_before(tree):
    """What a failed setup leaves behind does not hinder the next."""
    good = (tree / "meson.build").read_text(encoding="utf-8")
    (tree / "meson.build").write_text(good + "error('no')\n", encoding="utf-8")
    configure(tree, "-Dtests=true", code=1)
    (tree / "meson.build").write_text(good, encoding="utf-8")
    assert configure(tree, "-Dtests=true") == ["one"]


def test_failure_is_told(tree):
    meson(tree, "setup", "b")
    configure(tree, "-Dnonsense=true", code=1)
