# SPDX-License-Identifier: MIT
"""tools/install: help and wrong options end it before anything is done; right ones go to Meson."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(name="install")
def fixture_install(tmp_path):
    """The program, in a tree in which each step only tells its arguments."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "bin").mkdir()
    shutil.copy(ROOT / "tools/install", tmp_path / "tools")
    shutil.copy(ROOT / "meson_options.txt", tmp_path)
    for name in ("tools/setup", "tools/configure", "bin/ninja", "bin/meson", "bin/id"):
        answer = "0" if name == "bin/id" else "${0##*/} $*"
        (tmp_path / name).write_text(f'#!/bin/sh\necho "{answer}"\n', encoding="utf-8")
        (tmp_path / name).chmod(0o755)

    def run(*options, **environment):
        done = subprocess.run(["sh", tmp_path / "tools/install", *options], text=True, check=False,
                              env={"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", **environment},
                              capture_output=True)
        return done.returncode, done.stdout, done.stderr
    return run


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help(install, option):
    """Its own, and nothing is done."""
    code, out, err = install("--prefix=/opt/cushim", option)
    assert (code, err) == (0, "") and out.startswith("usage: sh tools/install [--prefix=FOLDER]")
    assert "setup" not in out


@pytest.mark.parametrize("options, why", [
    (["--perfix=/opt"], "unknown option '--perfix=/opt'"), (["/opt"], "unknown option '/opt'"),
    (["--prefix", "/opt"], "--prefix takes an absolute path"),
    (["--prefix=opt"], "--prefix takes an absolute path"), (["-Dsim"], "unknown option '-Dsim'"),
    (["-Dsim=false", "-Dsmi=true"], "cushim has no option 'smi'"), ([""], "unknown option ''")])
def test_wrong_options(install, options, why):
    code, out, err = install(*options)
    assert (code, out) == (2, "") and err.startswith(f"install: {why}") and "usage: " in err


@pytest.mark.parametrize("options", [
    [], ["--prefix=/opt/cushim"], ["-Dsim=false", "--buildtype=plain"], ["-Db_lto=true"],
    ["--libdir=lib/x86_64-linux-gnu"]])
def test_options_go_to_meson(install, options):
    code, out, err = install(*options, DESTDIR="/nowhere")
    words = ["configure", "build-install", "-Dsim=true", "--buildtype=release",
             "--prefix=/usr/local", "--libdir=lib", *options]
    assert (code, err) == (0, "")
    assert out.splitlines() == ["setup ", " ".join(words), "install: building",
                                "ninja -C build-install --quiet",
                                "meson install -C build-install --no-rebuild --quiet"]


@pytest.mark.parametrize("folder", ["lib", "lib/x86_64-linux-gnu"])
def test_last_lines(install, tmp_path, folder):
    """What to add to the environment, once and only if it is not there, and how to remove it."""
    prefix = tmp_path / "my prefix"
    (prefix / "bin").mkdir(parents=True)
    (prefix / folder / "pkgconfig").mkdir(parents=True)
    (prefix / "bin/cushim").write_text("#!/bin/sh\n", encoding="utf-8")
    (prefix / "bin/cushim").chmod(0o755)
    (prefix / folder / "pkgconfig/cushim.pc").write_text(
        f"libdir={prefix}/{folder}\nName: c\nDescription: c\nVersion: 1\n", encoding="utf-8")
    options = [f"--prefix={prefix}", f"--libdir={folder}"]
    path = f'    export PATH="{prefix}/bin:$PATH"'
    pc_path = (f'    export PKG_CONFIG_PATH="{prefix}/{folder}/pkgconfig'
               '${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"')
    last = f'ninja -C "{tmp_path}/build-install" uninstall'

    def lines(**environment):
        code, out, err = install(*options, **environment)
        assert (code, err) == (0, "") and out.splitlines()[-1].endswith(last)
        assert "ldconfig" not in out, "the build's own installation does that where it is right"
        return [line for line in out.splitlines() if "export" in line or ": add to" in line]

    head, *rest = lines()
    assert head.startswith("install: add to ~/.profile") and rest == [path, pc_path]
    given = subprocess.run(["sh", "-c", "\n".join(["set -u", *rest, 'echo "$PKG_CONFIG_PATH"'])],
                           env={"PATH": os.environ["PATH"]}, text=True, capture_output=True)
    assert (given.stdout, given.stderr) == (f"{prefix}/{folder}/pkgconfig\n", "")
    own = {"PATH": f"{tmp_path}/bin:{prefix}/bin:{os.environ['PATH']}"}
    assert lines(**own)[1:] == [pc_path]
    own["PKG_CONFIG_PATH"] = f"{prefix}/{folder}/pkgconfig"
    assert lines(**own) == []
