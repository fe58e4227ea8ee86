# SPDX-License-Identifier: MIT
"""The default build, for machines other than this one."""

import json
import re

import pytest
from adopt import HERE, ROOT, need, run

MACHINES = {"aarch64-linux-gnu": ("libcushim.so", "AArch64"),
            "x86_64-w64-mingw32": ("libcushim-0.dll", "X86-64|PE32|pei-x86-64")}


@pytest.mark.parametrize("machine", MACHINES)
def test_default_build(machine, tmp_path):
    """`meson setup` and `ninja` without an option give the libraries, and no test or example."""
    need(f"{machine}-gcc", "meson", "ninja")
    build = tmp_path / "build"
    run("meson", "setup", build, ROOT, "--cross-file", HERE / f"cross/{machine}.ini",
        "-Dwerror=true")
    run("ninja", "-C", build, "-j2")
    targets = json.loads(run("meson", "introspect", "--targets", build))
    assert [target["name"] for target in targets if target["type"] == "executable"] == []
    library, format_ = MACHINES[machine]
    shown = run(f"{machine}-objdump", "-f", build / "src" / library)
    assert re.search(format_, shown, re.I), shown


def test_tests_are_refused_elsewhere(tmp_path):
    """Where no test can run, asking for them is an error with a reason."""
    need("x86_64-w64-mingw32-gcc", "meson")
    shown = run("meson", "setup", tmp_path, ROOT, "-Dtests=true", "--cross-file",
                HERE / "cross/x86_64-w64-mingw32.ini", code=1)
    assert "the tests run on Linux only" in shown
