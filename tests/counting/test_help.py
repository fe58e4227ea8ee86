# SPDX-License-Identifier: MIT
"""Scripts that a user calls: --help and wrong options install nothing, fetch nothing and build
nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHELL = ["tools/quickstart", "tools/install", "tools/setup", "tests/run", "packaging/bare-debian",
         "packaging/bare-wheel", "python/wheel"]
PYTHON = ["packaging/fill.py", "gen/vendor.py", "gen/fetch.py", "tests/drivers/fetch.py"]
TOOLS = ["apt-get", "sudo", "meson", "ninja", "pip", "pip3", "debootstrap", "mkdir", "mktemp",
         "unshare"]


def call(folder, script, *words):
    """Exit code, output and messages; none of the tools that change something is called."""
    for tool in TOOLS:
        (folder / tool).write_text(f"#!/bin/sh\necho {tool} >> {folder}/called\nexit 9\n",
                                   encoding="utf-8")
        (folder / tool).chmod(0o755)
    program = sys.executable if script in PYTHON else "/bin/sh"
    done = subprocess.run([program, ROOT / script, *words], cwd=folder, text=True, check=False,
                          capture_output=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
    assert not (folder / "called").exists(), (folder / "called").read_text(encoding="utf-8")
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("option", ["--help", "-h"])
@pytest.mark.parametrize("script", SHELL + PYTHON)
def test_help(tmp_path, script, option):
    code, out, err = call(tmp_path, script, option)
    assert (code, err) == (0, "") and len(out.split()) > 20


@pytest.mark.parametrize("script", SHELL + PYTHON)
def test_an_option_that_is_none(tmp_path, script):
    code, out, err = call(tmp_path, script, "--nonsense")
    assert code in (1, 2) and out == "" and err, (code, out)
