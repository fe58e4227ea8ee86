# SPDX-License-Identifier: MIT
"""The committed PTX and the scripts of kernels/."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

KERNELS = Path(__file__).resolve().parents[2] / "kernels"
PTX = sorted(KERNELS.glob("*.ptx"))


def embed(source, target):
    """Run embed.py."""
    return subprocess.run([sys.executable, KERNELS / "embed.py", source, target], check=False,
                          capture_output=True, text=True)


def test_each_source_has_its_ptx():
    assert PTX and [path.stem for path in PTX] == sorted(
        path.stem for path in KERNELS.glob("*.cu"))


@pytest.mark.parametrize("path", PTX, ids=lambda path: path.stem)
def test_ptx_suits_old_drivers(path):
    text = path.read_text(encoding="ascii")
    assert text.startswith("// SPDX-License-Identifier: MIT\n")
    assert re.findall(r"^\.(?:version|target) .*$", text, re.MULTILINE) == [
        ".version 3.2", ".target sm_20"]
    assert "NVIDIA" not in text


@pytest.mark.in_all
def test_ptx_is_what_the_sources_give():
    clang = shutil.which("clang-14")
    if clang is None:
        pytest.skip("clang-14, which made the committed PTX, is not installed")
    done = subprocess.run([sys.executable, KERNELS / "build.py", "--check", "--clang", clang],
                          check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("path", PTX, ids=lambda path: path.stem)
def test_embedded_string_is_the_file(path, tmp_path):
    assert embed(path, tmp_path / "out.h").returncode == 0
    text = (tmp_path / "out.h").read_text(encoding="ascii")
    assert f"static const char {path.stem}_ptx[] = {{\n" in text
    codes = bytes(map(int, re.findall(r"\d+(?=,)", text.partition("{")[2])))
    assert codes == path.read_bytes() + b"\0"
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("name, data, words", [
    ("a.ptx", b"", "a.ptx: no PTX"),
    ("a.ptx", b"\x7fELF", "a.ptx: no PTX"),
    ("a.ptx", b".version 3.2\nmov\0\n", "a.ptx:2: a byte that is not ASCII text"),
    ("a.ptx", b".version 3.2\n\n// \xc3\xa9\n", "a.ptx:3: a byte that is not ASCII text"),
    ("3d.ptx", b".version 3.2\n", "3d.ptx: the file's name does not make a C identifier"),
])
def test_embed_refuses(name, data, words, tmp_path):
    (tmp_path / name).write_bytes(data)
    done = embed(tmp_path / name, tmp_path / "out.h")
    assert done.returncode != 0
    assert words in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "out.h").exists()


def test_build_reports_a_compiler_that_is_not_there():
    done = subprocess.run([sys.executable, KERNELS / "build.py", "--clang", "/nonexistent/clang"],
                          check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert "/nonexistent/clang" in done.stderr and "Traceback" not in done.stderr
