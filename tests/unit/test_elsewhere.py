# SPDX-License-Identifier: MIT
"""The unit tests compile where there is no glibc: for musl, and those that run there for Windows.

The suite `platforms` builds and runs them. This takes seconds, and so a test that does not compile
there is seen by whoever runs the suite `unit`.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["MESON_BUILD_ROOT"])
UNIT = "tests/unit/"
WINDOWS = ["-include", ROOT / "tests/windows/posix.h", f"-I{ROOT / 'tests/windows'}",
           f"-I{ROOT / 'tests/windows/posix'}"]


def commands():
    """{source below tests/unit: its compiler's options}, as Meson has them for this build."""
    rows = json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))
    found = {}
    for row in rows:
        name = os.path.relpath(BUILD / row["file"], ROOT)
        if name.startswith(UNIT):
            words = shlex.split(row["command"])
            found[name.removeprefix(UNIT)] = [
                word for word in words[1:] if word.startswith(("-D", "-I", "-W", "-std="))]
    return found


def of_windows():
    """The sources that tests/windows/meson.build names."""
    text = (ROOT / "tests/windows/meson.build").read_text(encoding="utf-8")
    table = re.search(r"^windows_tests = \{(.*?)^\}", text, re.M | re.S)[1]
    return {f"test_{name}.c" for name in re.findall(r"'(\w+)':", table)} | set(
        re.findall(r"'\.\./unit/(\w+\.c)'", text))


def refused(compiler, options, source, extra):
    """What the compiler says of a file."""
    done = subprocess.run([compiler, *options, *extra, "-fsyntax-only", ROOT / UNIT / source],
                          cwd=BUILD, text=True, check=False, capture_output=True)
    return done.stderr if done.returncode else ""


@pytest.mark.in_all
@pytest.mark.parametrize("compiler", ["musl-gcc", "x86_64-w64-mingw32-gcc"])
def test_compiles(compiler, tmp_path):
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    sources, extra = commands(), WINDOWS
    assert len(sources) > 50
    if compiler == "musl-gcc":  # whose folders of headers do not have what is Debian's
        shutil.copy("/usr/include/cmocka.h", tmp_path)
        extra = [f"-I{tmp_path}"]
    else:
        assert of_windows() <= set(sources)
        sources = {name: sources[name] for name in of_windows()}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        words = pool.map(lambda item: refused(compiler, item[1], item[0], extra), sources.items())
    assert "".join(words) == ""
