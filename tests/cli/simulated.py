# SPDX-License-Identifier: MIT
"""Programs under `cushim sim`."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from command import OK, ROOT, run

PROGRAM = os.environ.get("CUSHIM_SIM_PROGRAM", "")
# A line of the log.
CALL = re.compile(r"(\d+) (\d+\.\d{6}) s (\d+)/(\d+) (cu\w+)\((.*)\) = (\d+) (\w+), \d+\.\d us"
                  r"(?:, by a rule)?$")
NEWEST = os.environ.get("CUSHIM_SIM_NEWEST", "")


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path_factory, monkeypatch):
    """The folders for the library are gone at the end of each test."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setenv("TMPDIR", str(folder))
    yield
    assert not list(folder.iterdir())


def without_places(text):
    """A report without the places of calls, which tests/cli/test_places.py is about."""
    return re.sub(r"(?:,(?: the first)? (?:made|launched) by \w+)? at [^ ,]+"
                  r"(?::\d+|\+0x[0-9a-f]+)(?: \(\w+\))?", "", text)


def matrix(*arguments, code=OK):
    """The runs of the JSON output."""
    result = run("matrix", "--json", *arguments)
    told = re.sub(r"cushim matrix: \d+ of \d+ runs, \d+ failed so far\n", "", result.err)
    assert (result.code, told) == (code, ""), result.out
    return result.json()["runs"]


def sim(*arguments, options=(), **variables):
    """`cushim sim OPTIONS -- sim_program ARGUMENTS`."""
    if str(arguments[0]).startswith("exit-in"):
        # LeakSanitizer of gcc 12 itself hangs if a thread ends the process while another waits.
        variables.setdefault("ASAN_OPTIONS", "detect_leaks=0")
    return run("sim", *options, "--", PROGRAM, *arguments, **variables)


def compiled(folder, text, library="STATIC", link=(), flags=()):
    """A program with cushim in it, as CUSHIM_STATIC or CUSHIM_DROPIN has it."""
    build = Path(os.environ["CUSHIM_SIM_FOLDER"]).parents[1]
    (folder / "a.c").write_text(text)
    subprocess.run(["cc", "-w", *flags, "-I", ROOT / "include", "-I", build / "gen", "-o",
                    folder / "a", folder / "a.c", os.environ[f"CUSHIM_{library}"], *link, "-ldl",
                    "-lpthread"],
                   check=True)
    return folder / "a"
