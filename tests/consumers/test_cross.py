# SPDX-License-Identifier: MIT
"""The default build, for machines other than this one."""

import json
import re

import pytest
from adopt import HERE, ROOT, need, run

MACHINES = {"aarch64-linux-gnu": (HERE / "cross/aarch64-linux-gnu.ini", "libcushim.so", "AArch64"),
            "x86_64-w64-mingw32": (ROOT / "tests/platforms/windows.ini", "libcushim-0.dll",
                                   "X86-64|PE32|pei-x86-64")}

# What the page says of a Windows build: the files, and what a program or a DLL needs beside the
# system's two libraries.
INSTALLED = {"bin/cushim.exe": {"shell32.dll"}, "bin/libcushim-0.dll": set(),
             "lib/libcushim.a": None, "lib/libcushim-dropin.a": None, "lib/libcushim.dll.a": None}


@pytest.mark.parametrize("machine", MACHINES)
def test_default_build(machine, tmp_path):
    """`meson setup` and `ninja` without an option give the libraries, and no test or example. On
    Windows a part of the command, too; docs/windows.md has the commands and lists the files."""
    need(f"{machine}-gcc", "meson", "ninja")
    build = tmp_path / "build"
    cross, library, format_ = MACHINES[machine]
    run("meson", "setup", build, ROOT, "--cross-file", cross, "-Dwerror=true", "--prefix=/",
        "-Ddebug=false")  # which takes less long
    run("ninja", "-C", build, "-j2")
    targets = json.loads(run("meson", "introspect", "--targets", build))
    windows = library.endswith(".dll")
    programs = [target["name"] for target in targets if target["type"] == "executable"]
    assert programs == (["cushim"] if windows else [])
    shown = run(f"{machine}-objdump", "-f", build / "src" / library)
    assert re.search(format_, shown, re.I), shown
    if windows:  # its users have none of mingw's libraries
        page = (ROOT / "docs/windows.md").read_text(encoding="utf-8")
        install = re.search(r"^    (DESTDIR=.*)$", page, re.M)[1]
        run("sh", "-euc", install.replace("build-windows", "build"), cwd=tmp_path)
        assert "--cross-file tests/platforms/windows.ini --prefix=/" in page
        for file, more in INSTALLED.items():
            assert f"`{file}`" in page or f"`{file.partition('/')[2]}`" in page
            assert (tmp_path / "windows" / file).exists()
            if more is not None:
                shown = run(f"{machine}-objdump", "-p", tmp_path / "windows" / file)
                found = {name.lower() for name in re.findall(r"DLL Name: (\S+)", shown)}
                assert found == {"kernel32.dll", "msvcrt.dll"} | more


def test_tests_are_refused_elsewhere(tmp_path):
    """Where no test can run, asking for them is an error with a reason."""
    need("aarch64-linux-gnu-gcc", "meson")
    cross = tmp_path / "cross.ini"
    text = MACHINES["aarch64-linux-gnu"][0].read_text(encoding="utf-8")
    cross.write_text(text.replace("'linux'", "'freebsd'"), encoding="utf-8")
    shown = run("meson", "setup", tmp_path / "build", ROOT, "-Dtests=true", "--cross-file", cross,
                code=1)
    assert "the tests run on Linux and Windows only" in shown
