# SPDX-License-Identifier: MIT
"""A changed line of the registry rebuilds what depends on it, and nothing else.

What was rebuilt is what has a new time in the build folder of a copy of the project.
"""

import json
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from handmade import GEN

pytestmark = pytest.mark.by_hand
ROOT = GEN.parent
LEFT_OUT = shutil.ignore_patterns(".git", "build*", "tests", "__pycache__")
# The only sources that include cudaTypedefs.h, if the build has examples.
EXAMPLES = {path.name for path in (ROOT / "docs" / "examples").glob("proc_address*.c")}
MESON = ["meson", "setup", "build", "-Dtests=false", "-Dtools=disabled", "-Dsim=false",
         "-Doptimization=0"]


class Project:
    """A built copy of the project."""

    def __init__(self, folder):
        self.folder = folder
        self.run(*MESON)
        self.run("ninja", "-C", "build")

    def run(self, *command):
        """What a command prints; it must succeed."""
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def times(self):
        """Each file that a build makes, with its time."""
        build = self.folder / "build"
        return {str(path.relative_to(build)): path.stat().st_mtime_ns
                for path in build.rglob("*")
                if path.is_file() and not path.name.startswith(".ninja")}

    def rebuilt(self):
        """What a build has written: generated files, objects, and what was linked of them."""
        before = self.times()
        self.run("ninja", "-C", "build")
        written = {name for name, when in self.times().items() if when != before.get(name)}
        objects = {Path(name).name.removesuffix(".o").rpartition("gen_")[2].rpartition("_.._")[2]
                   for name in written if name.endswith(".o")}
        generated = {Path(name).name for name in written if name.endswith((".c", ".h"))}
        linked = {Path(name).name for name in written if name.endswith(".a") or ".so" in name}
        return generated, objects, linked

    def change(self, name, matches, new):
        """Put NEW(row) in place of the first row of a registry file that MATCHES."""
        file = self.folder / "gen" / "registry" / f"{name}.jsonl"
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        number = next(n for n, line in enumerate(lines) if matches(json.loads(line)))
        lines[number] = json.dumps(new(json.loads(lines[number]))) + "\n"
        time.sleep(0.01)  # a later time than the build's, on any file system
        file.write_text("".join(lines), encoding="utf-8")


@pytest.fixture(scope="module", name="project")
def project_fixture(tmp_path_factory):
    """The project, built once; each test begins with nothing left to do."""
    for tool in ("meson", "ninja"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")
    folder = tmp_path_factory.mktemp("rebuild") / "project"
    shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
    return Project(folder)


def test_nothing(project):
    """A second build has nothing to do, and a touched file leads to no compilation."""
    assert "no work to do" in project.run("ninja", "-C", "build")
    for file in (project.folder / "gen" / "registry").iterdir():
        file.touch()
    assert project.rebuilt() == (set(), set(), set())
    assert "no work to do" in project.run("ninja", "-C", "build")


def test_error(project):
    """An error's text: its table, and what links it."""
    project.change("errors", lambda row: row["code"] == 1,
                   lambda row: {**row, "text": "otherwise"})
    generated, objects, linked = project.rebuilt()
    assert generated == {"error_names.c"}
    assert objects == {"error_names.c"}
    assert "libcushim.a" in linked


def test_entry_data(project):
    """An entry's release: the table of entries; its stubs and its prototype are the same.

    The typedef's name has the release in it.
    """
    project.change("entries", lambda row: row["symbol"] == "cuInit",
                   lambda row: {**row, "since": row["since"] + 10})
    generated, objects, _ = project.rebuilt()
    assert generated == {"entries.c", "cudaTypedefs.h"}
    assert objects - EXAMPLES == {"entries.c"}


def test_companion_type(project):
    """A type of a companion header: that header, and the sources that include it."""
    project.change("types", lambda row: row["name"] == "CUd3d9DeviceList", renamed)
    generated, objects, _ = project.rebuilt()
    assert generated == {"cudaD3D9.h"}
    assert objects == {"dropin.c"}


def renamed(row):
    """A row with a new name for its first value."""
    row["versions"][0]["values"][0][0] += "_RENAMED"
    return row


def test_level(project):
    """A companion name that is a macro no more: its header, and those that put macros away."""
    project.change("levels", lambda row: row.get("name") == "cuD3D9CtxCreate",
                   lambda row: {**row, "symbol": "cuD3D9CtxCreate"})
    generated, objects, _ = project.rebuilt()
    assert generated == {"cudaD3D9.h", "api.h", "calls_only_names.h",
                         "cuda_functions.h"}
    assert {"dropin.c", "entries.c"} <= objects


def test_plain_name(project):
    """What a plain PFN_ name means: the typedef header, which no source of the library includes."""
    project.change("typedefs", lambda row: row["name"] == "PFN_cuMemAlloc",
                   lambda row: {**row, "versions": row["versions"][:1]})
    generated, objects, linked = project.rebuilt()
    assert generated == {"cudaTypedefs.h"}
    assert objects - EXAMPLES == linked == set()


def test_entry_type(project):
    """A parameter: the table, and so all that sees it; but not what is made of other files."""
    project.change("entries", lambda row: row["symbol"] == "cuInit",
                   lambda row: {**row, "params": [["unsigned int", "renamed"]]})
    generated, objects, _ = project.rebuilt()
    assert generated == {"api.h", "cuda_functions.h", "cudaTypedefs.h", "dropin.c"}
    assert {"dropin.c", "entries.c"} <= objects
    assert "error_names.c" not in objects
