# SPDX-License-Identifier: MIT
"""gen/emit_sim.py on the tiny registry: exports, versions, traps, what is listed."""

import re
import subprocess
import sys

import pytest

from handmade import GEN, REGISTRY

ABSENT = """cuDriverGetVersion cuGetErrorName cuGetErrorString cuGetProcAddress
    cuGetProcAddress_v2 cuLaunchHostFunc cuMemAlloc cuMemAlloc_v2 cuNodeSet""".split()
MARKS = '/* MISSING(cuInit) is no mark */\nAREA("most of it")\n' + \
    "".join(f"MISSING({symbol})\n" for symbol in ABSENT) + \
    'PARTLY(cuPass, null, NO_DEVICE,\n       "what is none")\n'


def emit(tmp_path, output, marks=MARKS, code=0):
    """What emit.py writes, or says where it ends with another CODE."""
    (tmp_path / "missing.def").write_text(marks)
    done = subprocess.run(
        [sys.executable, GEN / "emit.py", output, tmp_path / "out", "--registry", REGISTRY,
         "--missing", tmp_path / "missing.def"], capture_output=True, text=True, check=False)
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


@pytest.mark.parametrize("marks, message", [
    ('AREA("a")\nMISSING(cuNothing)\n', "2: no entry cuNothing"),
    ('AREA("a")\nMISSING(cuNothing*)\n', "2: no entry cuNothing*"),
    ('AREA("a")\nMISSING(cuMemcpy_ptds)\n', "2: no entry cuMemcpy_ptds"),
    ('AREA("a")\n\nMISSING(cuInit)\nMISSING(cuInit)\n', "4: cuInit is missing already"),
    ('AREA("a")\nMISSING(cuInit)\nPARTLY(cuInit, b, NO_DEVICE, "c")\n',
     "3: cuInit is missing already"),
    ("/* two\nlines */\nMISSING(cuInit)\n", "3: no area yet"),
    ('AREA("a")\nMISING(cuInit)\n', "2: no mark"),
    ('AREA("a")\nMISSING(cuInit) // why\n', "2: no mark"),
    ("ANSWER(cuInit, CUDA_SUCCESS)\nSAME(cuInit, cuPass)\n", "2: cuInit has an answer already"),
    ("ANSWER(cuInit, 1 + 1)\n", "1: no mark"),
    ("SAME(cuMemAlloc, cuNothing)\n", "1: no parameter of cuNothing has the name dptr, bytesize"),
    ("SAME(cuMemAlloc, cuInit)\n", "1: no parameter of cuInit has the name dptr, bytesize")])
def test_bad_marks(tmp_path, marks, message):
    assert emit(tmp_path, "sim_entries.md", marks, 1) == f"{tmp_path}/missing.def:{message}\n"


def test_header(tmp_path):
    """What is missing has no prototype: the compiler refuses a behaviour of it."""
    text = emit(tmp_path, "sim_behaviours.h")
    assert "CUresult sim_cuInit(" in text and "sim_cuMemAlloc(" not in text
    assert "#define SIM_LACK_cuPass_null CUDA_ERROR_NO_DEVICE\n" in text


def test_a_star_stands_for_letters(tmp_path):
    marks = MARKS.replace("MISSING(cuMemAlloc)\nMISSING(cuMemAlloc_v2)", "MISSING(cuMemAl*)")
    assert marks != MARKS and emit(tmp_path, "sim_entries.md", marks) == \
        emit(tmp_path, "sim_entries.md")


def test_without_code(tmp_path):
    """An entry that is a line of data is simulated, and no behaviour of it compiles."""
    marks = MARKS.replace("MISSING(cuGetProcAddress)\n", "") + \
        "ANSWER(cuInit, sim_memory_old())\nSAME(cuGetProcAddress, cuGetProcAddress_v2)\n"
    text = emit(tmp_path, "sim_exports.c", marks)
    assert "sim_call.result = sim_memory_old();" in text
    assert "sim_cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, 0);" in \
        re.sub(r"\s+", " ", text)
    assert rows(text)["cuInit"][2] == rows(text)["cuGetProcAddress"][2] == "1"
    assert "sim_cuInit(" not in text + emit(tmp_path, "sim_behaviours.h", marks)


@pytest.mark.parametrize("version, symbols", [
    (2000, {"cuDriverGetVersion", "cuInit", "cuMemAlloc"}),
    (4000, {"cuDriverGetVersion", "cuInit", "cuMemAlloc", "cuMemAlloc_v2", "cuMemcpy"})])
def test_versions(tmp_path, version, symbols):
    text = emit(tmp_path, f"{version}.map")
    assert set(re.findall(r"^        (cu\w+);$", text, re.MULTILINE)) == \
        symbols | {"cushim_sim_engine"}
    assert "local: *;" in text


def test_page(tmp_path):
    text = emit(tmp_path, "sim_entries.md")
    assert "3 of\n12 have" in text
    assert text.endswith("| most of it | " + ", ".join(f"`{symbol}`" for symbol in ABSENT) +
                         " | `NOT_SUPPORTED` |\n| what is none | `cuPass` | `NO_DEVICE` |\n")
