# SPDX-License-Identifier: MIT
"""recorded/: each file is what pack.py writes of it, and gives the files that it was made of."""

import re
import struct
import subprocess
import sys
from pathlib import Path

import pack
import pytest

HERE = Path(__file__).resolve().parent


@pytest.mark.parametrize("path", sorted(pack.RECORDED.iterdir()), ids=lambda path: path.stem)
def test_written_by_pack(tmp_path, path):
    """Nothing in it is lost on the way to files and back; it is of the kernels of its heading."""
    names = {name.split(".")[0] for name in pack.read_all(path)}
    for kernel in names:
        assert pack.path_of(kernel) == path
        pack.write(kernel, pack.read(kernel), tmp_path)
    assert (tmp_path / path.name).read_bytes() == path.read_bytes()


def test_each_kernel_has_ptx_and_a_result():
    table = (HERE / "kernels.def").read_text("utf-8")
    lines = re.findall(r"^KERNEL\((\w+),\s*(\w+),", table, re.M)
    assert len(lines) > 80
    for kernel, origin in lines:
        suffixes = {Path(name).suffix for name in pack.read(kernel)}
        assert suffixes & {".bin", ".txt"}, kernel
        assert (".ptx" in suffixes) == (origin in ("BOTH", "NVCC")), kernel
        assert (HERE / f"{kernel}.hand.ptx").exists() == (origin == "HAND"), kernel


def test_round_trip(tmp_path):
    files = {"a.x.ptx": b".version 7.5\n", "a.y.ptx": "// \u2028 \x0c\r\nü\n".encode(),
             "a.txt": b"",
             "a.bin": bytes(range(256)) + b"\0\0\0\x80"}
    pack.write("a", files, tmp_path)
    assert pack.read("a", tmp_path) == files
    assert "\n03020100 07060504 " in (tmp_path / "kernels.txt").read_text("utf-8")
    pack.write("a", {}, tmp_path)
    assert pack.read("a", tmp_path) == {} and not list(tmp_path.iterdir())


@pytest.mark.parametrize("name, data", [("a.txt", b"no end of line"), ("a.bin", b"123"),
                                        ("a.txt", b"==== a.bin\n"), ("a.txt", b"x\n==== y\n")])
def test_refused(tmp_path, name, data):
    with pytest.raises((ValueError, struct.error)):
        pack.write("a", {name: data}, tmp_path)
    assert not list(tmp_path.iterdir())


def test_part_that_is_there_twice(tmp_path):
    (tmp_path / "kernels.txt").write_text("==== a.bin\n==== a.bin\n", encoding="utf-8")
    with pytest.raises(ValueError):
        pack.read("a", tmp_path)


def test_unpack_into_an_odd_path(tmp_path):
    """What was there before is gone; ninja reads what the files were made of."""
    folder = tmp_path / "Büro – mit Platz"
    (folder / "ptx").mkdir(parents=True)
    (folder / "ptx/gone.ptx").write_text("", encoding="utf-8")
    for _ in range(2):
        subprocess.run([sys.executable, HERE / "pack.py", folder, folder / "stamp"], check=True)
    assert not (folder / "ptx/gone.ptx").exists()
    assert len(list((folder / "ptx").iterdir())) > 300 and (folder / "golden/bits.bin").exists()
    assert (folder / "stamp.d").read_text("utf-8").startswith(
        f"{folder}/stamp: ".replace(" – mit Platz", "\\ –\\ mit\\ Platz"))
