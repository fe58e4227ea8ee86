# SPDX-License-Identifier: MIT
"""`cushim scan`: the device code in programs, and the GPUs that it runs on."""

import os
import re
import shutil
import subprocess

import pytest
from command import FAILED, OK, ROOT, run
from scanning import MINGW, NEEDS_MINGW, build, cubin, fatbin, only

FATBINS = ROOT / "tests/fuzz/corpus/fatbin"


def test_fatbin():
    file = only(FATBINS / "both.fatbin")
    assert file["code"] == [{"times": 1, "machine_code": [80], "cubins": [
        {"capability": 80, "variant": "", "toolkit": 13000}], "ptx": [
        {"capability": 80, "variant": "", "version": 90}], "damaged": False}]
    gpus = {row["capability"]: (row["answer"], row["from"]) for row in file["gpus"]}
    assert gpus[75] == ("209", None)
    assert gpus[80] == ("runs", 13000) and gpus[86] == ("runs", 13000)
    assert gpus[90] == ("compiled", 13000)


@pytest.mark.parametrize("name", ["two-none", "two-speed", "two-size"])
def test_packed_ptx(name):
    """Plain, packed with LZ4 and with Zstandard: the same."""
    code = only(FATBINS / f"{name}.fatbin")["code"]
    assert code == [{"times": 1, "machine_code": [], "cubins": [], "damaged": False,
                     "ptx": [
        {"capability": 75, "variant": "", "version": 90},
        {"capability": 90, "variant": "", "version": 90}]}]


@pytest.mark.parametrize("codes, gpu, against, answer, code", [
    ([("cubin", 80)], "8.6", None, "runs", OK),
    ([("cubin", 86)], "8.0", None, "209", FAILED),
    ([("cubin", 80)], "9.0", None, "209", FAILED),
    ([("ptx", 80, "8.4", "sm_80")], "9.0", None, "compiled", OK),
    ([("ptx", 80, "8.4", "sm_80")], "9.0", "12.4", "compiled", OK),
    ([("ptx", 80, "8.4", "sm_80")], "9.0", "12.3", "222", FAILED),
    ([("ptx", 80, "8.4", "sm_80")], "7.5", None, "209", FAILED),
    ([("cubin", 90), ("ptx", 80, "8.4", "sm_80")], "9.0", "12.0", "runs", OK),
    ([("ptx", 90, "8.0", "sm_90a")], "9.0", None, "compiled", OK),
    ([("ptx", 90, "8.0", "sm_90a")], "10.0", None, "209", FAILED),
    ([("ptx", 100, "8.8", "sm_100f")], "10.3", None, "compiled", OK),
    ([("ptx", 100, "8.8", "sm_100f")], "12.0", None, "209", FAILED),
    ([("ptx", 100, "8.8", "sm_100f")], "10.1", None, "209", FAILED),
    ([("cubin", 90)], "9.0", "11.4", "unknown", FAILED),
    ([("cubin", 90, cubin(90, flags=0x800))], "9.0", None, "runs", OK),
    ([("cubin", 80, cubin(80, flags=0x800))], "8.6", None, "209", FAILED),
    ([("cubin", 80, cubin(80, version=124))], "8.6", "12.0", "runs", OK),
    ([("cubin", 80, cubin(80, version=124))], "8.6", "11.8", "family", FAILED),
    ([("cubin", 80, cubin(80, version=124)), ("ptx", 80, "7.8", "sm_80")], "8.6", "11.8",
     "compiled", OK),
    ([("cubin", 80, cubin(80, version=124)), ("cubin", 86, cubin(86, version=118))], "8.6", "11.8",
     "runs", OK),
    ([("cubin", 60, cubin(60, version=102))], "6.0", "10.1", "family", FAILED),
    ([("cubin", 60, cubin(60, version=102))], "6.0", "10.2", "runs", OK),
    ([("cubin", 80, cubin(80, abi=8, note=131))], "8.0", "13.0", "runs", OK),
    ([("cubin", 80, cubin(80, abi=8))], "8.0", "12.9", "family", FAILED),
])
def test_gpu(tmp_path, codes, gpu, against, answer, code):
    path = tmp_path / "a.fatbin"
    path.write_bytes(fatbin(*codes))
    options = ["--gpu", gpu] + (["--against", against] if against else [])
    file = only(*options, path, code=code)
    assert [row["answer"] for row in file["gpus"]] == [answer]
    assert run("scan", *options, path).code == code


@pytest.mark.parametrize("architecture, image, flags, variant, toolkit", [
    (90, {}, 0, "", 12040),
    (90, {"flags": 0x800}, 0, "a", 12040),
    (90, {}, 0x100000, "a", 12040),
    (60, {"version": 75}, 0, "", 7050),
    (60, {"version": 9999}, 0, "", None),
    (100, {"abi": 8, "flags": 8}, 0, "a", 12080),
    (100, {"abi": 8}, 0, "", 12080),
    (90, {"abi": 8}, 0, "", 13000),
    (100, {"abi": 8, "note": 132}, 0x200000, "f", 13020),
    (90, {"abi": 8, "note": 134, "before": 400000}, 0, "", 13040),
])
def test_what_a_cubin_tells(tmp_path, architecture, image, flags, variant, toolkit):
    """The variant, by the fatbin's flags or the cubin's; the toolkit that made it."""
    (tmp_path / "a.fatbin").write_bytes(
        fatbin(("cubin", architecture, cubin(architecture, **image)), flags=flags))
    row = only(tmp_path / "a.fatbin")["code"][0]["cubins"][0]
    assert row == {"capability": architecture, "variant": variant, "toolkit": toolkit}


def test_fatbins_in_a_program(tmp_path):
    """Of several that differ, the worst counts, and it says so."""
    one, other = fatbin(("cubin", 80)), fatbin(("cubin", 90))
    words = ",".join(str(byte) for byte in one + one + other)
    path = build(tmp_path, "__attribute__((section(\".nv_fatbin\"))) const unsigned char code[] = "
                 f"{{{words}}}; int main(void) {{ return code[0]; }}")
    file = only(path)
    assert [(row["times"], row["machine_code"]) for row in file["code"]] == [(2, [80]), (1, [90])]
    answer = next(row for row in file["gpus"] if row["capability"] == 80)
    assert answer == {"capability": 80, "answer": "209", "partly": True, "from": None}


NVCC = shutil.which("nvcc", path=f"{os.environ['PATH']}:/usr/local/cuda/bin")
NEEDS_NVCC = pytest.mark.skipif(not NVCC, reason="no nvcc")
KERNEL = "__global__ void k(float *p) { p[0] = 1; }\n"
VARIANTS = ["-gencode", "arch=compute_80,code=sm_80", "-gencode",
            "arch=compute_90a,code=[sm_90a,compute_90a]", "-gencode",
            "arch=compute_100f,code=[sm_100f,compute_100f]"]


@NEEDS_NVCC
def test_real_compiler(tmp_path):
    version = re.search(r"release (\d+)\.(\d+)", subprocess.run(
        [NVCC, "--version"], capture_output=True, text=True, check=True).stdout)
    toolkit = 1000 * int(version[1]) + 10 * int(version[2])
    (tmp_path / "a.cu").write_text(KERNEL)
    for more in ([], ["-Xfatbin", "-compress-all"], ["-Xfatbin", "-compress-mode=size"]):
        subprocess.run([NVCC, "-c", *VARIANTS, *more, "a.cu"], cwd=tmp_path, check=True)
        code = only(tmp_path / "a.o")["code"]
        assert [row["machine_code"] for row in code] == [[80, 90, 100]]
        assert [(row["capability"], row["variant"], row["toolkit"]) for row in
                code[0]["cubins"]] == [(80, "", toolkit), (90, "a", toolkit), (100, "f", toolkit)]
        assert [(ptx["capability"], ptx["variant"]) for ptx in code[0]["ptx"]] == \
            [(90, "a"), (100, "f")]


@pytest.mark.in_all
@NEEDS_MINGW
@pytest.mark.parametrize("source", ["ours", pytest.param("nvcc", marks=NEEDS_NVCC)])
def test_fatbin_in_a_windows_program(tmp_path, source):
    """The compiler's fatbin in the section that Windows programs have it in."""
    if source == "nvcc":
        (tmp_path / "a.cu").write_text(KERNEL)
        subprocess.run([NVCC, "-fatbin", *VARIANTS, "a.cu", "-o", "a.fatbin"], cwd=tmp_path,
                       check=True)
    else:
        (tmp_path / "a.fatbin").write_bytes(
            fatbin(("cubin", 80, cubin(80)), ("cubin", 90, cubin(90, flags=0x800)),
                   ("cubin", 100, cubin(100, abi=8))))
    (tmp_path / "a.s").write_text(".section .nv_fatb,\"dr\"\n.globl code\ncode:\n"
                                  ".incbin \"a.fatbin\"\n")
    (tmp_path / "a.c").write_text("extern const char code[]; "
                                  "int main(int count, char **words) { return code[count]; }")
    subprocess.run([MINGW + "gcc", "a.c", "a.s", "-o", "a.exe"], cwd=tmp_path, check=True)
    assert b".nv_fatb" in (tmp_path / "a.exe").read_bytes()[:4096]
    file = only(tmp_path / "a.exe")
    assert file["format"] == "PE, x86-64"
    assert [row["machine_code"] for row in file["code"]] == [[80, 90, 100]]
    assert file["code"][0]["cubins"][1]["variant"] == "a"
