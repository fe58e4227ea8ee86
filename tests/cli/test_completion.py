# SPDX-License-Identifier: MIT
"""Completion in each shell: the commands, and the options of each, are those of --help."""

import os
import re
import shutil
import subprocess

import pytest
from command import CLI, COMMANDS, READERS, ROOT, run

SCRIPTS = ROOT / "tools/completion"
NAMES = {*COMMANDS, *READERS}


def complete(*words):
    """What bash offers for the last word."""
    script = (f"source {SCRIPTS}/cushim.bash; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); "
              "_cushim; printf '%s\\n' \"${COMPREPLY[@]}\"")
    done = subprocess.run(["bash", "-c", script, "bash", CLI, *words], capture_output=True,
                          text=True, check=True)
    assert done.stderr == ""
    return set(done.stdout.split())


def options(command):
    """Long options that its help lists."""
    return set(re.findall(r"--[a-z][a-z-]*", run(command, "--help").out))


def test_bash_commands():
    assert NAMES <= complete("")
    assert complete("sy") == {"symbols"}
    assert complete("--v") == {"--version"}


@pytest.mark.parametrize("command", sorted(NAMES))
def test_bash_options(command):
    assert complete(command, "--") == options(command)


def test_bash_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "driver.so").touch()
    assert complete("info", "--driver", "dri") == {"driver.so"}


@pytest.mark.parametrize("shell, script", [("zsh", "_cushim"), ("fish", "cushim.fish")])
def test_syntax(shell, script):
    if not shutil.which(shell):
        pytest.skip(f"no {shell}")
    subprocess.run([shell, "-n", SCRIPTS / script], check=True)


@pytest.mark.skipif(not shutil.which("fish"), reason="no fish")
def test_fish():
    path = f"{os.path.dirname(CLI)}:{os.environ['PATH']}"
    for line, wanted in (("cushim ", NAMES), ("cushim info --", options("info"))):
        done = subprocess.run(["fish", "--no-config", "-c", f"source {SCRIPTS}/cushim.fish; "
                               f"complete -C '{line}'"], capture_output=True, text=True,
                              check=True, env={**os.environ, "PATH": path})
        assert wanted <= {row.split("\t")[0] for row in done.stdout.splitlines()}
