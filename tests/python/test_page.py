# SPDX-License-Identifier: MIT
"""The programs of docs/python.md, with a driver and without one."""

import re
import sys

import pytest
from conftest import ROOT

PAGE = (ROOT / "docs/python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.S)
PROGRAM, _, SUITE = BLOCKS


def test_program(run, site, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    alone = run("program.py", CUSHIM_LIBCUDA="/nowhere/libcuda.so.1")
    assert alone.returncode == 0, alone.stderr
    done = run("-m", "cushim", "sim", "--quiet", "--cuda", "12.4", "--", sys.executable,
               "program.py")
    assert done.returncode == 0, done.stderr
    assert "on the CPU: CUSHIM_LIBCUDA=/nowhere/libcuda.so.1: No such file" in alone.stdout
    assert done.stdout.startswith("True True ")
    assert "\nsupported green-contexts: " in done.stdout


@pytest.mark.parametrize("release, outcome", [("12.3", "1 skipped"), ("12.4", "1 passed")])
def test_suite(release, outcome, run, tmp_path):
    (tmp_path / "test_suite.py").write_text(SUITE, encoding="utf-8")
    done = run("-m", "pytest", "-p", "cushim.plugin", "-p", "no:cacheprovider", "--strict-markers",
               "--cushim-sim", release, "--cushim-devices", "2")
    assert done.returncode == 0 and outcome in done.stdout, done.stdout + done.stderr


def test_options(run):
    """The page and the plugin have the same options."""
    shown = run("-m", "pytest", "-p", "cushim.plugin", "--help").stdout
    assert set(re.findall(r"--cushim-[a-z]+", PAGE)) == set(
        re.findall(r"^ +(--cushim-[a-z]+)", shown, re.M)) != set()
