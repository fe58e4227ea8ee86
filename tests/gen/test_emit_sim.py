# SPDX-License-Identifier: MIT
"""gen/emit_sim.py on the tiny registry: exports, versions, traps, what is listed."""

import re
import subprocess
import sys

import pytest

from handmade import GEN, HERE

SOURCE = """\
CUresult sim_cuInit(unsigned int Flags)
{
    return Flags;
}

CUresult sim_cuMemcpy(CUdeviceptr dst, const void *src, size_t bytes)
{
    return bytes;
}

CUresult sim_cuPass(CUpassing *passing)
{
    (void)passing;
    return CUDA_ERROR_NOT_SUPPORTED;
}
"""


def emit(tmp_path, output, source=SOURCE, code=0):
    """What emit.py writes, or says where it ends with another CODE."""
    (tmp_path / "source.c").write_text(source)
    done = subprocess.run(
        [sys.executable, GEN / "emit.py", output, tmp_path / "out", "--registry", HERE / "registry",
         "--sources", tmp_path / "source.c"], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stderr if code else (tmp_path / "out").read_text(encoding="utf-8")


def rows(text):
    """Members of each struct sim_entry by symbol: since, stream, behaviour, superseded, abi."""
    return {row[0]: row[1:] for row in re.findall(
        r'^    \{"(\w+)",\s+"\w+",\s+(\d+),\s+\'(.)\',\s+(\d),\s+(\d),\s+(\d+),', text, re.M)}


def test_entries(tmp_path):
    entries = rows(emit(tmp_path, "sim_exports.c"))
    assert len(entries) == 14 and "cuD3D9CtxCreate" not in entries, "what is of Windows alone"
    assert {symbol for symbol, row in entries.items() if row[2] == "1"} == \
        {"cuInit", "cuMemcpy", "cuMemcpy_ptds", "cuPass"}, "per-thread forms share a behaviour"
    assert {symbol for symbol, row in entries.items() if row[3] == "1"} == {"cuMemAlloc"}, \
        "what the oldest toolkit means by its name is no trap: cuGetProcAddress"
    abi = {symbol: row[4] for symbol, row in entries.items()}
    assert abi["cuMemcpy"] == abi["cuMemcpy_ptds"] and abi["cuMemAlloc"] != abi["cuMemAlloc_v2"]


def test_behaviour_of_no_entry(tmp_path):
    message = emit(tmp_path, "sim_exports.c", "CUresult sim_cuNothing(void)\n{\n}\n", 1)
    assert message == "sim: behaviour of no entry: cuNothing\n"


@pytest.mark.parametrize("version, symbols", [
    (2000, {"cuDriverGetVersion", "cuInit", "cuMemAlloc"}),
    (4000, {"cuDriverGetVersion", "cuInit", "cuMemAlloc", "cuMemAlloc_v2", "cuMemcpy"})])
def test_versions(tmp_path, version, symbols):
    text = emit(tmp_path, f"{version}.map")
    assert set(re.findall(r"^        (cu\w+);$", text, re.MULTILINE)) == symbols
    assert "local: *;" in text


def test_list(tmp_path):
    """Also what only refuses."""
    text = emit(tmp_path, "sim_entries.md")
    assert "2 of 12." in text
    assert text.endswith("## cuda.h\ncuDriverGetVersion, cuGetErrorName, cuGetErrorString, "
                         "cuGetProcAddress, cuGetProcAddress_v2,\ncuLaunchHostFunc, cuMemAlloc, "
                         "cuMemAlloc_v2, cuNodeSet, cuPass\n")
