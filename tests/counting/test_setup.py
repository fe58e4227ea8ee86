# SPDX-License-Identifier: MIT
"""tools/setup: the packages are listed before anything is installed."""

import os
import shutil
import subprocess
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIST = "setup: these packages of Debian are missing:"


@pytest.fixture(name="setup")
def fixture_setup(tmp_path):
    """setup, where pkg-config finds nothing, and apt-get, id and sudo are made up."""
    def script(name, text):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)

    def run(*arguments, user=0, apt_code=0, sudo=None, path=os.environ["PATH"]):
        script("pkg-config", "exit 1")
        script("id", f"echo {user}")
        if apt_code is not None:
            script("apt-get", f"echo \"apt-get $*\" >>'{tmp_path}/installed'; echo the log; "
                              f"exit {apt_code}")
        if sudo is not None:
            script("sudo", f"case $1 in -n) exit {sudo};; -v) ;; *) exec \"$@\";; esac")
        done = subprocess.run(["/bin/sh", ROOT / "tools/setup", *arguments], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL,
                              env={**os.environ, "PATH": f"{tmp_path}:{path}"})
        installed = tmp_path / "installed"
        return (done.returncode, done.stdout.splitlines(),
                installed.read_text(encoding="utf-8").splitlines() if installed.exists() else [])
    return run


def test_listed_and_installed(setup):
    """What apt-get is given is what was listed before."""
    code, lines, installed = setup("build")
    assert code == 0 and lines[0].startswith(LIST)
    packages = lines[0].removeprefix(LIST)
    assert "libjansson-dev" in packages.split()
    assert installed == ["apt-get update",
                         f"apt-get install -y --no-install-recommends{packages}"]


def test_only_listed(setup):
    code, lines, installed = setup("tests", "list")
    assert (code, len(lines), installed) == (0, 1, [])
    assert {"libjansson-dev", "libcmocka-dev"} <= set(lines[0].removeprefix(LIST).split())


def packages(setup, what):
    """What is listed with pkg-config finding nothing."""
    return set(setup(what, "list")[1][0].removeprefix(LIST).split())


def only_sh(tmp_path):
    """A folder of programs for PATH, that has what setup itself uses."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for tool in ("sh", "true", "env", "mktemp", "cat", "rm", "ls"):
        (folder / tool).symlink_to(shutil.which(tool))
    return folder


def test_each_list_has_the_one_before(setup, tmp_path):
    """With no tool there at all: `all` has what `tests` has, and that what `build` has."""
    path = only_sh(tmp_path)
    listed = [packages(partial(setup, path=path), what) for what in ("build", "tests", "all")]
    assert listed[0] < listed[1] < listed[2]
    assert {"chromium", "wine", "clang"} <= listed[2] - listed[1]


@pytest.mark.parametrize("words", [["test"], ["tests", "install"], ["list"]])
def test_wrong_use(setup, words):
    code, lines, installed = setup(*words)
    assert (code, installed) == (2, []) and lines[0].startswith("usage:")


@pytest.mark.parametrize("sudo", [None, 1])
def test_not_root(setup, sudo, tmp_path):
    """Without sudo, or if it would ask for a password that nobody can give: what root has to do."""
    code, lines, installed = setup("build", user=1000, sudo=sudo, path=only_sh(tmp_path))
    assert (code, installed) == (1, [])
    assert lines[0].startswith(LIST)
    assert lines[1] == ("setup: root installs them, by: apt-get install -y --no-install-recommends"
                        + lines[0].removeprefix(LIST))


def test_sudo(setup):
    """An ordinary user sees what sudo is to install before it does."""
    code, lines, installed = setup("build", user=1000, sudo=0)
    assert code == 0 and lines[0].startswith(LIST) and lines[1].endswith(" by sudo apt-get")
    assert installed[1] == ("apt-get install -y --no-install-recommends"
                            + lines[0].removeprefix(LIST))


def test_other_system(setup, tmp_path):
    """The names of what is missing, and no more."""
    code, lines, installed = setup("build", path=only_sh(tmp_path), apt_code=None)
    assert (code, installed) == (1, [])
    assert lines[0].startswith(LIST) and "no apt-get here" in lines[1]


def test_failed_installation(setup):
    code, lines, _ = setup("build", apt_code=100)
    assert code == 1 and "the log" in lines
