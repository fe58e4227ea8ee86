# SPDX-License-Identifier: MIT
"""`cushim scan`: the device code in programs, and the GPUs that it runs on."""

import itertools
import os
import re
import shutil
import struct
import subprocess
import zipfile
from pathlib import Path

import pytest
from command import FAILED, FATBINS, OK, registry, run
from scanning import BOTH, MINGW, NEEDS_MINGW, OLD_PTX, build, data, fatbin, memory_of, only, scan
from cubins import alone, cubin



def test_fatbin():
    file = only(FATBINS / "both.fatbin")
    assert file["code"] == [{"times": 1, "text": False, "machine_code": [80], "cubins": [
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
    assert code == [{"times": 1, "text": False, "machine_code": [], "cubins": [], "damaged": False,
                     "ptx": [
        {"capability": 75, "variant": "", "version": 90},
        {"capability": 90, "variant": "", "version": 90}]}]


@pytest.mark.parametrize("codes, gpu, driver, verdict, error", [
    ([("cubin", 80)], "8.6", None, "runs", None),
    ([("cubin", 86)], "8.0", None, "fails", 209),
    ([("cubin", 80)], "9.0", None, "fails", 209),
    ([("ptx", 80, "8.4", "sm_80")], "9.0", None, "runs", None),
    ([("ptx", 80, "8.4", "sm_80")], "9.0", "12.4", "runs", None),
    ([("ptx", 80, "8.4", "sm_80")], "9.0", "12.3", "fails", 222),
    ([("ptx", 80, "8.4", "sm_80")], "7.5", None, "fails", 209),
    ([("cubin", 90), ("ptx", 80, "8.4", "sm_80")], "9.0", "12.0", "runs", None),
    ([("ptx", 90, "8.0", "sm_90a")], "9.0", None, "runs", None),
    ([("ptx", 90, "8.0", "sm_90a")], "10.0", None, "fails", 209),
    ([("ptx", 100, "8.8", "sm_100f")], "10.3", None, "runs", None),
    ([("ptx", 100, "8.8", "sm_100f")], "12.0", None, "fails", 209),
    ([("ptx", 100, "8.8", "sm_100f")], "10.1", None, "fails", 209),
    ([("cubin", 90)], "9.0", "11.4", "fails", 100),
    ([("cubin", 90, cubin(90, flags=0x800))], "9.0", None, "runs", None),
    ([("cubin", 80, cubin(80, flags=0x800))], "8.6", None, "fails", 209),
    ([("cubin", 80, cubin(80, version=124))], "8.6", "12.0", "runs", None),
    ([("cubin", 80, cubin(80, version=124))], "8.6", "11.8", "unknown", None),
    ([("cubin", 80, cubin(80, version=124)), ("ptx", 80, "7.8", "sm_80")], "8.6", "11.8", "runs",
     None),
    ([("cubin", 80, cubin(80, version=124)), ("cubin", 86, cubin(86, version=118))], "8.6", "11.8",
     "runs", None),
    ([("cubin", 60, cubin(60, version=102))], "6.0", "10.1", "unknown", None),
    ([("cubin", 60, cubin(60, version=102))], "6.0", "10.2", "runs", None),
    ([("cubin", 80, cubin(80, abi=8, note=131))], "8.0", "13.0", "runs", None),
    ([("cubin", 80, cubin(80, abi=8))], "8.0", "12.9", "unknown", None),
])
def test_gpu(tmp_path, codes, gpu, driver, verdict, error):
    path = tmp_path / "a.fatbin"
    path.write_bytes(fatbin(*codes))
    options = ["--gpus", gpu] + (["--drivers", driver] if driver else [])
    code = FAILED if verdict == "fails" else OK
    file = only(*options, path, code=code)
    assert [(row["verdict"], row["code"]) for row in file["verdicts"]] == [(verdict, error)]
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
    assert answer == {"capability": 80, "answer": "209", "partly": True, "from": None,
                      "last_branch": None}
    verdict, = only("--gpus", "8.0", path)["verdicts"]
    assert (verdict["verdict"], verdict["rule"]) == ("limits", "some-code")


def test_fatbins_by_architecture(tmp_path):
    """Whatever their order in the file, and those with PTX as text behind them."""
    parts = [fatbin(("cubin", 90)), fatbin(("cubin", 52)), fatbin(("cubin", 80), ("cubin", 86)),
             fatbin(("cubin", 80))]
    words = ",".join(str(byte) for part in parts for byte in part)
    path = build(tmp_path, "__attribute__((section(\".nv_fatbin\"))) const unsigned char code[] = "
                 f"{{{words}}}; int main(void) {{ return code[0]; }}")
    assert [row["machine_code"] for row in only(path)["code"]] == [[52], [80], [80, 86], [90]]
    lines = [line for line in run("scan", path).out.splitlines() if "machine code for" in line]
    assert [re.search(r"for (\d\.\d)", line)[1] for line in lines] == ["5.2", "8.0", "8.0", "9.0"]


def rows(file):
    """{capability: (answer, partly)}"""
    return {row["capability"]: (row["answer"], row["partly"]) for row in file["gpus"]}


def sections(*executable):
    """A cubin with section headers: each executable one has so many bytes."""
    head = bytearray(cubin(52))
    struct.pack_into("<Q", head, 40, 64)
    struct.pack_into("<HHH", head, 58, 64, len(executable) + 1, 0)
    for size in (0, *executable):
        head += struct.pack("<IIQQQQIIQQ", 0, 1, 4 if size else 0, 0, 0, size, 0, 0, 1, 0)
    return bytes(head)


@pytest.mark.parametrize("codes, judged", [
    ([("lto", 80)], False), ([("cubin", 52, sections())], False),
    ([("cubin", 52, sections(0))], False), ([("cubin", 52, sections(16))], True),
    ([("cubin", 52, sections(0, 16))], True), ([("cubin", 52, sections(16)[:-60])], True),
    ([("lto", 80), ("cubin", 52)], True),
])
def test_without_a_kernel(tmp_path, codes, judged):
    """Code for a later link, and machine code without a kernel, fail on no GPU."""
    path = tmp_path / "a.a"
    for name, more in (("b.fatbin", []), ("a.fatbin", [("ptx", 50, "6.0", "sm_50")])):
        (tmp_path / name).write_bytes(fatbin(*codes) + (fatbin(*more) if more else b""))
    path = tmp_path / "a.fatbin"
    assert rows(only(path))[80] == (("209", True) if judged else ("compiled", False))
    assert only("--gpus", "8.0", tmp_path / "b.fatbin", code=FAILED if judged else OK)["code"]


def test_ptx_without_a_kernel(tmp_path):
    (tmp_path / "a.fatbin").write_bytes(fatbin(("ptx", 80, "8.4", "sm_80"), kernel="") +
                                        fatbin(("ptx", 50, "6.0", "sm_50")))
    assert rows(only(tmp_path / "a.fatbin"))[60] == ("compiled", False)


def test_for_one_architecture(tmp_path):
    """Code for sm_90a alone is beside code for all, unless there is no other."""
    special = fatbin(("cubin", 90, cubin(90, flags=0x800)))
    (tmp_path / "a.fatbin").write_bytes(fatbin(("cubin", 80), ("cubin", 90)) + special)
    answers = rows(only(tmp_path / "a.fatbin"))
    assert answers[80] == ("runs", False) and answers[90] == ("runs", False)
    assert answers[75] == ("209", False)
    (tmp_path / "b.fatbin").write_bytes(special)
    answers = rows(only(tmp_path / "b.fatbin"))
    assert answers[80] == ("209", False) and answers[90] == ("runs", False)


@pytest.mark.parametrize("codes, capability, answer", [
    ([("cubin", 80)], 87, "209"), ([("cubin", 87)], 87, "runs"), ([("cubin", 87)], 89, "209"),
    ([("cubin", 70)], 72, "209"), ([("ptx", 70, "6.3", "sm_70")], 72, "compiled"),
])
def test_tegra(tmp_path, codes, capability, answer):
    """Machine code for desktop GPUs does not run on Tegra, nor the other way round; PTX does."""
    (tmp_path / "a.fatbin").write_bytes(fatbin(*codes))
    assert rows(only(tmp_path / "a.fatbin"))[capability] == (answer, False)


PTX = ".version 8.0\n.target sm_52\n.address_size 64\n.visible .entry k()\n{\n    ret;\n}\n"
TEXTS = {
    "plain": PTX, "compiler's": "//\n// Generated by NVIDIA NVVM Compiler\n//\n\n" + PTX,
    "remarks": PTX.replace("\n.target", "  // ISA\n// and what it is for\n\n.target", 1),
    "in a row": "numbers " + PTX,
}


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("how", ["text", "codes"])
def test_ptx_as_text(tmp_path, kind, how):
    """As a string, and as cushim-embed writes it: an array of character codes."""
    value = '"' + TEXTS[kind].replace("\n", "\\n") + '"' if how == "text" else \
        "{" + ",".join(str(byte) for byte in TEXTS[kind].encode() + b"\0") + "}"
    path = build(tmp_path, f"const char ptx[] = {value};\n"
                 "int main(int count, char **words) { return ptx[count]; }")
    file = only("--drivers", "11.4", "--gpus", "8.6", path)  # the program may not load it there
    one, = file["verdicts"]
    assert (one["rule"], one["verdict"]) == ("text-alone", "unknown")
    assert "does not run here: it is PTX 8.0, and the driver of CUDA 11.4 takes it up to 7.4; " in \
        one["reason"]
    assert one["fix"] == ("a driver of CUDA 12.0 or later (branch 525), machine code for the GPU, "
                          "or PTX of an older toolkit")
    assert one["fix"] in run("scan", "--explain", "--drivers", "11.4", path).out
    assert file["code"] == [{"times": 1, "text": True, "machine_code": [], "cubins": [], "ptx": [
        {"capability": 52, "variant": "", "version": 80}], "damaged": False}]
    assert only("--drivers", "12.0", "--gpus", "8.6", path)["verdicts"][0]["verdict"] == "runs"
    one, = only("--gpus", "5.0", path)["verdicts"]
    assert (one["rule"], one["fix"]) == ("text-alone", "PTX for sm_50 or earlier")
    assert "does not run here: its .target is no such GPU's; whether" in one["reason"]
    only("--strict", "--gpus", "5.0", path, code=FAILED)


@pytest.mark.parametrize("words, gpu, driver, verdict", [
    ("/* a kernel\n */\n" + PTX, "8.6", "12.0", ("runs", None)),
    (TEXTS["compiler's"], "8.6", "11.4", ("fails", 222)),
    (TEXTS["remarks"], "5.0", None, ("fails", 218)),
    (PTX.replace("sm_52", "sm_90a"), "10.0", None, ("fails", 218)),
])
def test_ptx_file(tmp_path, words, gpu, driver, verdict):
    """As a cubin: loading it is all that can be done with it."""
    path = tmp_path / "a.ptx"
    path.write_text(words)
    options = ["--gpus", gpu] + (["--drivers", driver] if driver else [])
    file = only(*options, path, code=FAILED if verdict[1] else OK)
    assert file["format"] == "PTX" and [row["text"] for row in file["code"]] == [True]
    assert [(row["verdict"], row["code"]) for row in file["verdicts"]] == [verdict]
    answer = next(row["answer"] for row in only(path)["gpus"] if row["capability"] == 50)
    assert answer == "218"


def test_ptx_among_others(tmp_path):
    """In a folder and in a wheel. Another PTX or cubin may be loaded instead; a library whose code
    fails takes no PTX instead."""
    package = tmp_path / "a"
    package.mkdir()
    (package / "old.ptx").write_text(PTX)
    (package / "new.ptx").write_text(PTX.replace("sm_52", "sm_90"))
    (package / "none.ptx").write_text(".version\n")
    root = scan("--gpus", "8.6", package)
    assert [(Path(row["file"]).name, row["verdicts"][0]["verdict"]) for row in root["files"]] == [
        ("new.ptx", "fails"), ("old.ptx", "runs")]
    assert (root["verdicts"][0]["rule"], root["other"]) == ("some-files", 1)
    (package / "b.fatbin").write_bytes(fatbin(("cubin", 90)))
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as wheel:
        for file in package.iterdir():
            wheel.write(file, f"a/{file.name}")
    for path in package, tmp_path / "a.whl":
        root = scan("--gpus", "8.6", path, code=FAILED)
        assert len(root["files"]) == 3 and root["verdicts"][0]["file"].endswith("b.fatbin")


@pytest.mark.parametrize("text", [".version 8.0 or later", ".version %d.%d\\n.target sm_%d",
                                  ".version 8.0\\n.target \\0sm_80", ".versions 1.0"])
def test_no_ptx(tmp_path, text):
    """Messages about PTX, and forms to be filled in."""
    path = build(tmp_path, f'const char *const text[] = {{"libcuda.so.1", "cuInit", "{text}"}};\n'
                 "int main(int count, char **words) { return text[count][0]; }")
    assert only(path)["code"] == []


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


COMPAT = bytes([4, 11, 8, 0, *bytes(8), 2, 9, 1, 0])


@pytest.mark.parametrize("image, capability, variant, toolkit", [
    (alone(80), 80, "", 12040), (alone(52, version=75, kind=1), 52, "", 7050),
    (alone(90, flags=0x800), 90, "a", 12040), (alone(100, abi=8, flags=8), 100, "a", 12080),
    (alone(90, abi=8, note=131), 90, "", 13010), (alone(120, abi=8), 120, "", 12080),
    (alone(90, abi=8, note=130, compat=COMPAT), 90, "a", 13000),
    (alone(90, abi=8, note=130, compat=COMPAT[:-2] + b"\0\0"), 90, "", 13000),
    (alone(90, abi=8, note=130, compat=b"\4\1\xff\xff" + COMPAT), 90, "", 13000),
])
def test_a_cubin_alone(tmp_path, image, capability, variant, toolkit):
    """As a file, and among a program's data; in a fatbin it is no further one."""
    (tmp_path / "a.cubin").write_bytes(image)
    found = only(tmp_path / "a.cubin")
    assert found["format"] == "cubin"
    code, = found["code"]
    assert code["cubins"] == [{"capability": capability, "variant": variant, "toolkit": toolkit}]
    assert only(data(tmp_path, b"x" + image + b"y"))["code"] == [code]
    inside, = only(data(tmp_path, fatbin(("cubin", capability, image))))["code"]
    assert inside["times"] == 1 and inside["machine_code"] == [capability]


def changed(at, form, value):
    image = bytearray(alone(80))
    struct.pack_into(form, image, at, value)
    return bytes(image)


@pytest.mark.parametrize("image", [
    changed(4, "B", 1), changed(5, "B", 2), changed(6, "B", 0), changed(7, "B", 0),
    changed(7, "B", 65), changed(8, "B", 8), changed(16, "<H", 3), changed(18, "<H", 62),
    changed(40, "<Q", 1 << 63), changed(40, "<Q", len(alone(80)) - 192), changed(40, "<Q", 0),
    changed(48, "<I", 9), changed(52, "<H", 52), changed(54, "<Q", 0x0004003800010038),
    changed(58, "<H", 40), changed(60, "<H", 0), changed(62, "<H", 4),
    changed(len(alone(80)) - 252, "<I", 1), alone(80)[:-64], alone(80)[:63], b"\x7fELF" * 99,
], ids=map(str, itertools.count()))
def test_no_cubin(tmp_path, image):
    """A number of its head, or of its first section, that no cubin has."""
    code, = only(data(tmp_path, alone(90) + image))["code"]
    assert code["machine_code"] == [90]


@pytest.mark.parametrize("more, gpu, verdict, rule", [
    ([], "8.6", "runs", "runs"), ([], "9.0", "fails", "no-code"),
    ([alone(90)], "9.0", "runs", "runs"), ([alone(90)], "10.0", "fails", "no-code"),
    ([alone(90, kernel=".text.other")], "9.0", "limits", "some-code"),
    ([fatbin(("cubin", 90))], "9.0", "limits", "some-code"),
    ([OLD_PTX], "9.0", "unknown", "text-alone"),
])
def test_cubins_of_a_program(tmp_path, more, gpu, verdict, rule):
    """Those of one kernel are alternatives, others are parts."""
    path = data(tmp_path, b"".join([alone(80), *more]))
    row, = only("--gpus", gpu, path, code=FAILED if verdict == "fails" else OK)["verdicts"]
    assert (row["verdict"], row["rule"]) == (verdict, rule)


def test_cubins_are_printed(tmp_path):
    """Those for the same GPUs in one line; the reason names them."""
    path = data(tmp_path, b"".join(alone(architecture, kernel=f".text.k{kernel}")
                                   for kernel in range(3) for architecture in (90, 80)) +
                alone(86, kernel=".text.l") + BOTH)
    out = run("scan", "--gpus", "8.6,7.5", "--explain", path).out
    assert re.findall(r"(?:fatbins|cubins) .*", out) == [
        "fatbins         1 with machine code for 8.0 (CUDA 12.x); PTX for 9.0 (PTX 8.0)",
        "cubins          3 with machine code for 8.0 (CUDA 12.x) 9.0 (CUDA 12.x)",
        "cubins          1 with machine code for 8.6 (CUDA 12.x)"]
    assert "neither machine code for it nor PTX" in out
    out = run("scan", "--gpus", "8.0", "--explain", path).out
    assert "1 of 5 fatbins, cubins and PTX texts have no code that runs here" in out


def test_cubin_files(tmp_path):
    """Of several files, which one a program loads is not known."""
    for architecture in (80, 90):
        (tmp_path / f"{architecture}.cubin").write_bytes(alone(architecture))
    for gpu, rule, code in (("8.0", "some-files", OK), ("10.0", "no-code", FAILED)):
        out = run("scan", "--explain", "--gpus", gpu, tmp_path)
        assert out.code == code and f"rule {rule}" in out.out.partition("all 2 files")[2]
    assert run("scan", "--gpus", "9.0", tmp_path / "80.cubin").code == FAILED


@NEEDS_NVCC
@pytest.mark.parametrize("name", ["80", "90", "90a", "100", "100a", "120"])
def test_real_cubin(tmp_path, name):
    """What nvcc writes, as a file, by bin2c's way, and by .incbin."""
    (tmp_path / "a.cu").write_text(KERNEL)
    subprocess.run([NVCC, "-cubin", f"-arch=sm_{name}", "a.cu"], cwd=tmp_path, check=True)
    row = only(tmp_path / "a.cubin")["code"][0]["cubins"][0]
    assert f"{row['capability']}{row['variant']}" == name and row["toolkit"] >= 12000
    image = (tmp_path / "a.cubin").read_bytes()
    path = build(tmp_path, "const unsigned char code[] = {" + ",".join(map(str, image)) + "};\n"
                 "int main(int count, char **words) { return code[count]; }")
    for program in (path, data(tmp_path, image)):
        assert only(program)["code"][0]["cubins"] == [row]


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


def test_ptx_of_a_fatbin_is_no_text(tmp_path):
    """A fatbin outside of its section, with PTX that is not packed; and text behind it."""
    found = only(data(tmp_path, BOTH + BOTH))["code"]
    assert [(row["times"], row["text"]) for row in found] == [(2, False)]
    found = only(data(tmp_path, BOTH + OLD_PTX + BOTH))["code"]
    assert [(row["times"], row["text"]) for row in found] == [(2, False), (1, True)]


@pytest.mark.parametrize("toolkit, release", [(118, None), (124, 12020)])
def test_runtime_and_code(tmp_path, toolkit, release):
    """Names that are later than the toolkit of the code are not the runtime's."""
    names = [entry["symbol"] for entry in registry() if 12000 <= entry["since"] <= 12020]
    text = "".join(f'"{name}", ' for name in names)
    path = data(tmp_path, fatbin(("cubin", 80, cubin(80, version=toolkit))),
                f'const char *const names[] = {{"/cudart.shm.%x", {text}}};')
    found = only("--drivers", "470", path, code=FAILED if release else OK)
    assert (found["runtime"] or {}).get("release") == release
    row, = found["verdicts"]
    assert row["rule"] == ("runtime-floor" if release else "runtime-unknown")


def test_across_parts(tmp_path):
    """A file is searched in parts of 4 MiB; what lies across two of them is found, once."""
    part = 1 << 22
    ptx = bytes(part - 5) + OLD_PTX
    for shift in (0, 6, 20, 40):
        found = only(data(tmp_path, ptx[shift:] + bytes(2 * part)))["code"]
        assert [(row["times"], row["text"]) for row in found] == [(1, True)]
    for word in (b"libcuda.so.1", b"cuMemAllocAsync"):
        for shift in (3, 9):
            text = bytes(part - shift) + word + b"\0cuInit\0libcuda.so.1\0cuMemAllocAsync\0"
            found = only(data(tmp_path, text))
            assert {row["symbol"]: row["how"] for row in found["entries"]} == \
                {"cuInit": "named", "cuMemAllocAsync": "named"}


@pytest.mark.skipif(os.environ.get("CUSHIM_SANITIZER", "none") != "none",
                    reason="sanitizers take memory of their own")
def test_memory(tmp_path):
    """Neither a large library nor the wheel that it is in is held in memory as a whole."""
    size = 200 << 20
    subprocess.run(["cc", "-w", "-shared", "-x", "c", "-", "-o", tmp_path / "a.so"], text=True,
                   check=True, input=f'const char large[{size}] = "cuInit"; '
                   'const char *const name = "libcuda.so.1";')
    assert (tmp_path / "a.so").stat().st_size > size
    code, out, err, memory = memory_of(tmp_path / "a.so")
    assert (code, err) == (OK, "") and "1 named" in out and memory < 100 << 10
    with zipfile.ZipFile(tmp_path / "a.whl", "w", zipfile.ZIP_STORED) as wheel:
        wheel.write(tmp_path / "a.so", "a/a.so")
    code, out, err, memory = memory_of("--drivers", "535", tmp_path / "a.whl")
    assert (code, err) == (OK, "") and "1 named" in out and memory < 100 << 10
