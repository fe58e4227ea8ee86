# SPDX-License-Identifier: MIT
"""The rules of docs/verdicts.md: each is applied where the page says, and nowhere else."""

import re
import subprocess
import zipfile

import pytest
from command import CLI, FAILED, OK, ROOT, SIM_DRIVERS, registry, run
from scanning import BOTH as BOTH_CODES
from scanning import MINGW, NEEDS_MINGW, OLD_PTX, build, cubin, data, fatbin, only, scan

LINKED = "int cuGraphAddNode(void); int f(void) { return cuGraphAddNode(); }"
WEAK = ("__attribute__((weak)) int cuGraphAddNode(void);"
        "int f(void) { return cuGraphAddNode ? cuGraphAddNode() : 0; }")
NEW = "int cuNewThing(void); int f(void) { return cuNewThing(); }"
NAMES = 'const char *const names[] = {%s}; int f(int n) { return names[n][0]; }'
MENTIONED = 'const char *word(void) { return "cuMemFreeAsync"; }'
TWICE = ('const char one[] __attribute__((section(".a"))) = "no cuMemFreeAsync";'
         'const char two[] __attribute__((section(".b"))) = "cuMemFreeAsync";')
NAMED = NAMES % '"libcuda.so.1", "cuInit", "cuMemAlloc_v2", "cuMemAllocAsync"'
MERGED = NAMES % '"libcuda.so.1", "cuInit", "driver lacks cuCtxGetId"'
OLD = NAMES % '"libcuda.so.1", "cuInit", "cuMemAlloc", "cuMemFree", "cuCtxDestroy"'
OLD_MESSAGE = NAMES % '"libcuda.so.1", "cuInit", "failed: cuMemAlloc"'
MESSAGE = NAMES % '"libcuda.so.1", "cuCtxCreate_v4", "no cuCtxCreate_v2"'
TWO_ABIS = NAMES % '"libcuda.so.1", "cuCtxCreate_v2", "cuCtxCreate_v4"'
ASKED = NAMES % '"libcuda.so.1", "cuInit", "cuMemAllocAsync", "cuGetProcAddress"'
RUNTIME = 'int cudaFree(void *); int f(void) { return cudaFree(0); }'
PTX = [("ptx", 80, "8.4", "sm_80")]
NEWEST = "{}.{}".format(*divmod(max(entry["since"] for entry in registry()) // 10, 100))
BOTH = [("cubin", 80, cubin(80)), ("ptx", 80, "8.4", "sm_80")]


def program(folder, source):
    """A shared library of C, or a fatbin; with "runtime:N" a library that needs libcudart.so.N."""
    if isinstance(source, list):
        path = folder / "a.fatbin"
        path.write_bytes(b"".join(fatbin(*codes) for codes in source))
        return path
    if not source.startswith("runtime:"):
        return build(folder, source, "-shared", "-fPIC", name="a.so")
    library = source.removeprefix("runtime:")
    library = library if library.startswith("lib") else f"libcudart.so.{library}"
    stub = build(folder, "int cudaFree(void *p) { return 0; }", "-shared", "-fPIC",
                 f"-Wl,-soname,{library}", name="stub.so")
    return build(folder, RUNTIME, stub, "-shared", "-fPIC", name="a.so")


@pytest.mark.parametrize("source, driver, gpu, rule, answer, code", [
    (LINKED, "12.2", None, "runs", "runs", None),
    (LINKED, "12.2", "Jetson Orin", "tegra-machine", "fails", None),
    ([BOTH], "12.4", "Jetson Orin", "runs", "runs", None),
    (LINKED, "12.1", None, "required-entry", "fails", None),
    (LINKED, "530", None, "required-entry", "fails", None),
    (LINKED, "535", None, "runs", "runs", None),
    ("runtime:12", "470.256.02", None, "runtime-floor", "fails", 35),
    ("runtime:12", "470.256.02", "8.0", "runtime-floor", "fails", 35),
    ("runtime:12", "525", None, "runs", "runs", None),
    ("runtime:libcublas.so.12", "470", None, "runtime-floor", "fails", 35),
    ("runtime:libcublasLt-0a1b2c3d.so.12", "470", None, "runtime-floor", "fails", 35),
    ("runtime:libcudart-5a077122.so.12.0.107", "470", None, "runtime-floor", "fails", 35),
    ("runtime:libcudart.3eda8113.so.13", "550", None, "runtime-floor", "fails", 35),
    ("runtime:13", "12.4", None, "runtime-floor", "fails", 35),
    ("runtime:11.0", "460", None, "runs", "runs", None),
    ("runtime:libcusparse.so.12", "525.53", None, "runs", "runs", None),
    ("runtime:10.2", "10.1", None, "runtime-floor", "fails", 35),
    ("runtime:10.2", "11.0", None, "runs", "runs", None),
    ([BOTH], "590", "6.1", "gpu-dropped", "fails", 100),
    ([[("ptx", 50, "6.0", "sm_50")]], "595.45.04", "GTX 1080", "gpu-dropped", "fails", 100),
    ([[("ptx", 50, "6.0", "sm_50")]], "580", "GTX 1080", "runs", "runs", None),
    ([[("ptx", 30, "6.0", "sm_30")]], "495", "kepler", "gpu-dropped", "fails", 100),
    ([BOTH], "550", "7.5", "no-code", "fails", 209),
    ([BOTH], None, "7.5", "no-code", "fails", 209),
    ([PTX], "545", "9.0", "ptx-too-new", "fails", 222),
    ([PTX], "12.3", None, "ptx-too-new", "fails", 222),
    ([PTX], "550", "H100", "runs", "runs", None),
    ([BOTH, [("cubin", 90, cubin(90))]], "550", "A100", "some-code", "limits", None),
    ([[("cubin", 80, cubin(80))]], "11.8", "A100", "later-family", "unknown", None),
    ([[("cubin", 80, cubin(80))], [("cubin", 90)]], "11.8", "A100", "later-family", "unknown",
     None),
    (NEW, "12.2", None, "unknown-entry", "unknown", None),
    ([[("cubin", 80)]], "550", "19.9", "gpu-not-known", "unknown", None),
    (LINKED, "550", "19.9", "gpu-not-known", "unknown", None),
    ([BOTH], "470", "H100", "gpu-later", "fails", 100),
    ([[("cubin", 87, cubin(87))]], "11.3", "Jetson Orin", "gpu-later-perhaps", "unknown", None),
    (LINKED, "700.1", None, "driver-newer", "unknown", None),
    (MENTIONED, "9.0", None, "mentioned-alone", "unknown", None),
    (TWICE, "9.0", None, "mentioned-alone", "unknown", None),
    (MENTIONED, "13.0", "6.1", "mentioned-alone", "unknown", None),
    (NAMED, "11.1", None, "named-entry", "unknown", None),
    (NAMED, "11.2", None, "runs", "runs", None),
    (MERGED, "11.4", None, "named-entry", "unknown", None),
    (MERGED, "12.0", None, "runs", "runs", None),
    (MESSAGE, "10.2", None, "named-entry", "unknown", None),
    (TWO_ABIS, "10.2", None, "runs", "runs", None),
    (TWO_ABIS, "3.1", None, "named-entry", "unknown", None),
    (OLD, "9.0", None, "old-abi", "limits", None),
    (OLD, None, "9.0", "runs", "runs", None),
    (OLD_MESSAGE, "9.0", None, "runs", "runs", None),
    (NAMES % '"libcuda.so.1", "cuCtxDestroy"', "9.0", None, "runs", "runs", None),
    (NAMES % '"libcuda.so.1", "cuMemAlloc", "cuMemAlloc_v2"', "9.0", None, "runs", "runs", None),
    (OLD.replace("cuInit", "cuGetProcAddress"), "12.0", None, "runs", "runs", None),
    (NAMES % '"libcuda.so.1", "cuMemAlloc", "CUSHIM_LIBCUDA"', NEWEST, None, "runs", "runs", None),
    (ASKED, "11.1", None, "optional-entry", "limits", None),
    (WEAK, "12.1", None, "optional-entry", "limits", None),
    (NAMES % '"CUSHIM_LIBCUDA"', "9.0", None, "through-cushim", "unknown", None),
    (NAMES % '"CUSHIM_LIBCUDA"', NEWEST, None, "runs", "runs", None),
])
def test_rule(tmp_path, source, driver, gpu, rule, answer, code):
    words = (["--drivers", driver] if driver else []) + (["--gpus", gpu] if gpu else [])
    path = program(tmp_path, source)
    found = only(*words, path, code=FAILED if answer == "fails" else OK)["verdicts"]
    assert {(row["rule"], row["verdict"], row["code"]) for row in found} == {(rule, answer, code)}
    strict = run("scan", "--strict", *words, path)
    assert strict.code == (FAILED if answer in ("fails", "unknown") else OK)
    text = run("scan", "--explain", *words, path).out
    assert (f"(rule {rule})" in text) == (rule != "runs")
    for row in found:
        assert row["rule"] == "runs" or row["reason"] in text and (row["fix"] or "") in text


@pytest.mark.parametrize("name", ["libcudart-other.so.13", "libcublasXt.so.12", "libcudart.so.99",
                                  "libcudart.so.120", "libcudart.so"])
def test_library_that_is_no_runtime(tmp_path, name):
    assert scan(program(tmp_path, f"runtime:{name}"))["files"] == []


@pytest.mark.parametrize("names", [100, 7])
def test_runtime_inside(tmp_path, names):
    """A runtime in the file is of the release of the newest entries that it asks for, or later."""
    listed = sorted(((entry["symbol"], entry["since"]) for entry in registry()
                     if 12000 <= entry["since"] < 13000), key=lambda row: row[1])
    assert len(listed) > 20
    some = listed[:names]
    newest = max(since for _, since in some) if names > 7 else 0
    path = program(tmp_path, NAMES % ", ".join(
        f'"{name}"' for name in ["/cudart.shm.%x", *(symbol for symbol, _ in some)]))
    runtime = only(path)["runtime"]
    if not newest:
        assert runtime is None
        verdict, = only("--drivers", "12.9", path)["verdicts"]
        assert (verdict["verdict"], verdict["rule"]) == ("unknown", "runtime-unknown")
        return
    assert runtime == {"library": None, "release": newest, "floor": "525.60.13"}
    verdict, = only("--drivers", "525", path)["verdicts"]
    assert (verdict["verdict"], verdict["rule"]) == ("limits", "minor-version")
    verdict, = only("--drivers", "470", path, code=FAILED)["verdicts"]
    assert (verdict["code"], verdict["rule"]) == (35, "runtime-floor")


@pytest.mark.in_all
@NEEDS_MINGW
def test_windows_drivers(tmp_path):
    """A runtime in a Windows program is judged by Windows' versions: 528.33 is the oldest for all
    of 12 there, and 525.60.13 on Linux."""
    names = [entry["symbol"] for entry in registry() if 12000 <= entry["since"] < 13000]
    (tmp_path / "a.c").write_text(
        'const char *const table[] = {"nvcuda.dll", "cudaErrorCudartUnloading", '
        '"cudaD3D9MapVertexBuffer", %s}; int main(void) { return table[0][0] == 0; }'
        % ", ".join(f'"{name}"' for name in names))
    subprocess.run([MINGW + "gcc", tmp_path / "a.c", "-o", tmp_path / "a.exe"], check=True)
    for driver, rule in (("527.41", "runtime-floor"), ("528.33", "minor-version"),
                         ("525", "minor-version"), ("551.61", "minor-version")):
        row = only("--drivers", driver, tmp_path / "a.exe",
                   code=FAILED if rule == "runtime-floor" else OK)
        assert row["verdicts"][0]["rule"] == rule, driver


def test_own_command():
    """The command has the words that it looks for, and is no runtime. It uses cushim."""
    file = only("--drivers", f"9.0,{NEWEST}", CLI)
    assert file["runtime"] is None
    assert [verdict["rule"] for verdict in file["verdicts"]] == ["through-cushim", "runs"]


def test_what_a_program_calls_through_cushim(tmp_path):
    """Names in the file are told, and are not all that it may call."""
    path = program(tmp_path, NAMES % '"CUSHIM_LIBCUDA", "cuInit"')
    verdict, = only("--drivers", "12.0", path)["verdicts"]
    assert verdict["reason"].endswith(" in the file")
    path = program(tmp_path, NAMES % '"CUSHIM_LIBCUDA", "cuInit", "cuMemAllocAsync"')
    reason = only("--drivers", "11.1", path)["verdicts"][0]["reason"]
    assert reason.endswith(" in the file; it, or cushim in it, names cuMemAllocAsync, which the "
                           "driver lacks")
    text = run("scan", path).out
    assert "asked           2 named, by the program or by cushim in it: it starts" in text
    assert "from CUDA" not in text  # cushim's own names are of any release
    assert only("--gpus", "8.0", path)["verdicts"][0]["rule"] == "runs"


@pytest.mark.parametrize("name, command", [
    ("a.so", "cushim matrix -- PROGRAM"), ("it's", "cushim matrix -- PROGRAM"),
    ("app", "cushim matrix -- {}")])
def test_run_of_a_program_with_cushim(tmp_path, name, command):
    path = build(tmp_path, NAMES % '"CUSHIM_LIBCUDA"', "-shared", "-fPIC", name=name)
    command = f"'{command.format(path)}'"
    assert command in only("--drivers", "12.0", path)["verdicts"][0]["fix"]
    assert f"cannot be seen: its sources tell, and {command}" in run("scan", path).out


@pytest.mark.parametrize("archive", [False, True])
def test_objects(tmp_path, archive):
    """What is not linked yet fails with -lcuda, and does not with the drop-in. So objects are a
    check for what is called by name: with --strict it fails if a driver lacks one of them."""
    path = build(tmp_path, LINKED, "-c", name="a.o")
    if archive:
        subprocess.run(["ar", "rcs", "a.a", "a.o"], cwd=tmp_path, check=True)
        path = tmp_path / "a.a"
    old, new = only("--drivers", "12.1,12.2", path)["verdicts"]
    assert (old["verdict"], old["rule"]) == ("unknown", "object-entry")
    assert "calls cuGraphAddNode" in old["reason"] and "CUDA 12.2 or later" in old["fix"]
    assert new["verdict"] == "runs"
    assert run("scan", "--strict", "--drivers", "12.1", path).code == FAILED
    assert run("scan", "--strict", "--drivers", "12.2", path).code == OK
    assert "entries that it calls" in run("scan", path).out


@pytest.mark.skipif(not SIM_DRIVERS, reason="no simulated drivers in this build")
def test_file_of_a_driver(tmp_path):
    """What a file does not export it lacks; of its release only the least is known."""
    path = program(tmp_path, NEW)
    verdict, = only("--drivers", SIM_DRIVERS[-1], path, code=FAILED)["verdicts"]
    assert (verdict["verdict"], verdict["rule"]) == ("fails", "required-entry")
    old = next(path for path in SIM_DRIVERS if path.stem.endswith("-11.4"))
    verdict, = only("--drivers", old, "--gpus", "H100", program(tmp_path, [BOTH]))["verdicts"]
    assert (verdict["verdict"], verdict["rule"]) == ("unknown", "gpu-later-perhaps")


# ---- several files

def wheel(folder, **members):
    """A wheel of fatbins: {name: codes}, "__" being a folder."""
    with zipfile.ZipFile(folder / "a b.whl", "w") as archive:
        for name, codes in members.items():
            archive.writestr(name.replace("__", "/") + ".so", fatbin(*codes))
    return folder / "a b.whl"


def all_of(*words, code=OK):
    """(verdict, rule, file) of all files together, for one cell."""
    verdict, = scan(*words, code=code)["verdicts"]
    return verdict["verdict"], verdict["rule"], verdict["file"].rpartition(":")[2]


@pytest.mark.parametrize("names, told", [
    ('"libcuda.so.1", "cuInit", "cuMemAlloc"', True),
    ('"libcuda.so.1", "cuMemAlloc", "cuMemAlloc_v2"', False),
    ('"libcuda.so.1", "cuMemAlloc", "cuGetProcAddress"', False),
    ('"libcuda.so.1", "cuInit", "cuMemAlloc_v2"', False)])
def test_old_abi(tmp_path, names, told):
    """A plain symbol that is looked up alone is an older ABI than the headers' of that name."""
    text = run("scan", program(tmp_path, NAMES % names)).out
    line = "old ABI         cuMemAlloc is the ABI of CUDA 2.0; later headers mean cuMemAlloc_v2 by"
    assert (line in text) == told and ("old ABI" in text) == told


def test_summary(tmp_path):
    """All files together alone."""
    path = wheel(tmp_path, one=[("cubin", 80)], other=[("cubin", 90)])
    text = run("scan", "--summary", "--gpus", "8.0", path).out
    assert text.startswith("all 2 files: together") and text.count("verdicts") == 1
    assert run("scan", "--gpus", "8.0", path).out.count("verdicts") == 3
    path = wheel(tmp_path, one=[("cubin", 80)])
    assert run("scan", "--summary", "--gpus", "8.0", path).out.startswith("all 1 file: together")


def test_files_of_a_wheel(tmp_path):
    """It is certain that a wheel fails only where none of its files has code that runs."""
    path = wheel(tmp_path, one=[("cubin", 80)], other=[("cubin", 90)])
    assert all_of("--gpus", "8.0", path) == ("limits", "some-files", "other.so")
    assert all_of("--gpus", "7.0", path, code=FAILED)[:2] == ("fails", "no-code")


def test_failure_of_another_kind(tmp_path):
    """A file that fails for its runtime does not save one that has no code."""
    library = program(tmp_path, "runtime:13")
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
        archive.writestr("lib/x_cuda126.so", fatbin(("cubin", 80)))
        archive.write(library, "lib/x_cuda130.so")
    verdict, = scan("--drivers", "535", "--gpus", "7.0", tmp_path / "a.whl",
                    code=FAILED)["verdicts"]
    assert verdict["verdict"] == "fails"


RUNTIME_INSIDE = 'const char *const names[] = {"/cudart.shm.%%x", %s}; void PyInit_a(void) {}' % \
    ", ".join(f'"{entry["symbol"]}"' for entry in registry() if 12000 <= entry["since"] <= 13000)
OLD_NAMES = [f'"{entry["symbol"]}"' for entry in registry() if entry["since"] <= 9000]
PLAIN_NAMES = [f'"{entry["symbol"]}"' for entry in registry()
               if entry["since"] <= 9000 and entry["symbol"] == entry["name"]]
MODULE = "void PyInit_b(void) {} " + NAMES


@pytest.mark.parametrize("names, more, rule", [
    (120, None, "some-files"), (50, None, "runtime-floor"), (120, "code", "runtime-floor"),
    (120, "runtime:13", "runtime-floor"), (120, "folder", "runtime-floor")])
def test_binding_beside_the_runtime(tmp_path, names, more, rule):
    """The runtime's module fails, and one that calls the driver works; kernels need the runtime."""
    build(tmp_path, RUNTIME_INSIDE, "-shared", "-fPIC", name="runtime.so")
    build(tmp_path, MODULE % ", ".join(['"libcuda.so.1"'] + OLD_NAMES[:names]), "-shared", "-fPIC",
          name="driver.so")
    folder = tmp_path / "a"
    folder.mkdir()
    if more == "code":
        (tmp_path / "k.s").write_text('.section .nv_fatbin,"a"\n.incbin "code"\n')
        (tmp_path / "code").write_bytes(fatbin(("cubin", 80)))
        subprocess.run(["cc", "-c", "k.s"], cwd=tmp_path, check=True)
        build(tmp_path, RUNTIME_INSIDE, "-shared", "-fPIC", str(tmp_path / "k.o"),
              name="runtime.so")
    paths = [tmp_path / "runtime.so", tmp_path / "driver.so"]
    if more == "runtime:13":
        paths.append(program(tmp_path, more))
    for path in paths:
        path.rename(folder / path.name)
    given = folder
    if more != "folder":
        given = tmp_path / "a.whl"
        with zipfile.ZipFile(given, "w") as archive:
            for path in folder.iterdir():
                archive.write(path, path.name)
    cell, = scan("--drivers", "535", given, code=OK if rule == "some-files" else FAILED)["verdicts"]
    assert (cell["rule"], cell["verdict"]) == (rule, "limits" if rule == "some-files" else "fails")


@pytest.mark.parametrize("driver, names, rule", [
    ("535", 120, "some-files"), ("470", 120, "runtime-floor"), ("535", 50, "runtime-floor")])
def test_asking_binding_beside_the_runtime(tmp_path, driver, names, rule):
    """It does not name the library; without its cuGetProcAddress it has nothing."""
    build(tmp_path, RUNTIME_INSIDE, "-shared", "-fPIC", name="runtime.so")
    asked = ['"cuGetProcAddress_v2"'] + PLAIN_NAMES[:names]
    build(tmp_path, MODULE % ", ".join(asked), "-shared", "-fPIC", name="driver.so")
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
        for name in ("runtime.so", "driver.so"):
            archive.write(tmp_path / name, name)
    cell, = scan("--drivers", driver, tmp_path / "a.whl",
                 code=OK if rule == "some-files" else FAILED)["verdicts"]
    assert (cell["rule"], cell["verdict"]) == (rule, "limits" if rule == "some-files" else "fails")


def test_static_library_in_a_wheel(tmp_path):
    """What a program takes of it is linked into the program."""
    (tmp_path / "a.s").write_bytes(b'.section .nv_fatbin,"a"\n.incbin "code"\n')
    (tmp_path / "code").write_bytes(fatbin(("cubin", 90)))
    subprocess.run(["cc", "-c", "a.s"], cwd=tmp_path, check=True)
    subprocess.run(["ar", "rcs", "a.a", "a.o"], cwd=tmp_path, check=True)
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
        archive.write(tmp_path / "a.a", "lib/a.a")
    assert all_of("--gpus", "8.0", tmp_path / "a.whl") == ("limits", "some-files", "lib/a.a")
    assert all_of("--gpus", "8.0", tmp_path / "a.a", code=FAILED)[:2] == ("fails", "no-code")


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_order_of_the_rules_decides(tmp_path, names):
    """Not that of the files; and the fix is enough for each of them."""
    code, library = tmp_path / names[0], tmp_path / names[1]
    code.write_bytes(fatbin(("cubin", 90)))
    program(tmp_path, "runtime:12").rename(library)
    (tmp_path / "stub.so").unlink()
    (tmp_path / "program.c").unlink()
    cell, = scan("--drivers", "450", "--gpus", "H100", tmp_path, code=FAILED)["verdicts"]
    assert (cell["rule"], cell["file"]) == ("runtime-floor", str(library))
    assert "525.60.13" in cell["fix"] and "; and" not in cell["fix"]
    program(tmp_path / "..", "runtime:13").rename(tmp_path / "c")
    cell, = scan("--drivers", "450", "--gpus", "H100", tmp_path, code=FAILED)["verdicts"]
    assert "580.65.06" in cell["fix"] and cell["file"] == str(tmp_path / "c")
    cell, = scan("--drivers", "450", "--gpus", "A100", tmp_path, code=FAILED)["verdicts"]
    assert (cell["rule"], cell["code"]) == ("runtime-floor", 35)
    assert "580.65.06" in cell["fix"]
    assert cell["fix"].endswith("; and compile for sm_80, or add PTX")


def test_files_of_a_folder(tmp_path):
    """Programs that were named are each a product."""
    (tmp_path / "one").write_bytes(fatbin(("cubin", 80)))
    (tmp_path / "other").write_bytes(fatbin(("cubin", 90)))
    assert all_of("--gpus", "8.0", tmp_path, code=FAILED)[:2] == ("fails", "no-code")


def test_alternatives(tmp_path):
    """Of one library for several toolkits the best counts."""
    path = wheel(tmp_path, lib__x_cuda118=[("cubin", 70)], lib__x_cuda129=[("cubin", 90)])
    assert all_of("--gpus", "7.0", path)[:2] == ("runs", "runs")
    path = wheel(tmp_path, lib__x_cuda118=[("cubin", 80)], lib__x_cuda129=[("cubin", 90)])
    assert all_of("--gpus", "7.0", path, code=FAILED)[:2] == ("fails", "no-code")


def test_nothing_found(tmp_path):
    path = wheel(tmp_path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("package/text.py", "cuInit")
    result = run("scan", "--drivers", "9.0", "--gpus", "5.0", path)
    assert (result.code, result.out) == (
        OK, "nothing found that uses the CUDA driver: unknown, by the rule nothing-found\n"
            "not read: Python text that names the driver, in 1 file\n")
    assert run("scan", "--strict", "--drivers", "9.0", "--gpus", "5.0", path).code == FAILED
    verdict, = scan("--drivers", "9.0", "--gpus", "5.0", path)["verdicts"]
    assert (verdict["verdict"], verdict["rule"]) == ("unknown", "nothing-found")
    assert scan(path)["verdicts"] == []


# ---- what was asked

def test_lists_and_repetition(tmp_path):
    """No option drops another; the answers stand in the order that was asked for."""
    path = program(tmp_path, [BOTH])
    for words in (["--drivers", "545,12.4", "--gpus", "RTX 4090,maxwell"],
                  ["--drivers=545", "--gpus=RTX 4090", "--drivers", "12.4", "--gpus", "maxwell"]):
        answer = scan(*words, path, code=FAILED)
        assert [row["capability"] for row in answer["gpus"]] == [89, 50, 52]
        assert [row["release"] for row in answer["drivers"]] == [12030, 12040]
        assert [(row["release"], row["capability"], row["verdict"]) for row in answer["verdicts"]] \
            == [(release, gpu, "runs" if gpu == 89 else "fails")
                for release in (12030, 12040) for gpu in (89, 50, 52)]
    text = run("scan", "--drivers", "545,12.4", "--gpus", "RTX 4090,maxwell", path).out
    assert re.search(r"8\.9 RTX 4090 +5\.0 maxwell +5\.2 maxwell", text)
    assert re.search(r"driver 545, CUDA 12\.3 +runs +fails 209 +fails 209", text)


def test_a_reason_is_told_once(tmp_path):
    """Cells that are alike have one line, with their number."""
    text = run("scan", "--explain", "--gpus", "maxwell,7.0,8.0", program(tmp_path, [BOTH])).out
    assert text.count("(rule no-code)") == 3  # the fix names the GPU
    assert "fix: compile for sm_70, or add PTX" in text
    text = run("scan", "--explain", "--drivers", "460,470", program(tmp_path, "runtime:12")).out
    assert text.count("(rule runtime-floor)") == 2 and "525.60.13" in text


def test_a_failure_is_explained_unasked(tmp_path):
    """Other verdicts are with --explain alone."""
    text = run("scan", "--drivers", "470,525", program(tmp_path, "runtime:12")).out
    assert text.count("(rule runtime-floor)") == 1 and "fix: " in text
    path = build(tmp_path, LINKED, "-shared", "-fPIC", "-Wl,-z,lazy", name="a.so")
    assert "(rule called-entry)" not in run("scan", "--drivers", "12.1", path).out


def test_looked_up_at_the_call(tmp_path):
    """Whether a program calls what is looked up at the call is not known; Python looks up all."""
    path = build(tmp_path, LINKED, "-shared", "-fPIC", "-Wl,-z,lazy", name="a.so")
    verdict, = only("--drivers", "12.1", path)["verdicts"]
    assert (verdict["verdict"], verdict["rule"]) == ("unknown", "called-entry")
    assert verdict["fix"] == "a driver of CUDA 12.2 or later (branch 535)"
    assert only("--drivers", "12.2", path)["verdicts"][0]["verdict"] == "runs"
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as package:
        package.write(path, "a.so")
    verdict, = only("--drivers", "12.1", tmp_path / "a.whl", code=FAILED)["verdicts"]
    assert (verdict["verdict"], verdict["rule"]) == ("fails", "required-entry")
    new = build(tmp_path, NEW, "-shared", "-fPIC", "-Wl,-z,lazy", name="new.so")
    for driver in SIM_DRIVERS[-1:]:
        verdict, = only("--drivers", driver, new)["verdicts"]
        assert (verdict["verdict"], verdict["rule"]) == ("unknown", "unknown-entry")


def test_object_of_windows(tmp_path):
    """It is not read, and so nothing is known of it."""
    (tmp_path / "a.obj").write_bytes(b"\x64\x86\1\0" + bytes(16) + b".text\0\0\0" + bytes(32))
    verdict, = only("--drivers", "550", "--gpus", "A100", tmp_path / "a.obj")["verdicts"]
    assert (verdict["verdict"], verdict["rule"]) == ("unknown", "not-read")


# ---- the page

def test_every_rule_is_written():
    """The page and this file have each rule of the sources."""
    source = "".join((ROOT / "tools" / name).read_text(encoding="utf-8")
                     for name in ("verdict.c", "scan_table.c"))
    rules = set(re.findall(r'VERDICT_\w+, \w+,\s+"([a-z-]+)"|rule = "([a-z-]+)"', source))
    rules = {one or other for one, other in rules} - {"runs"}
    page = (ROOT / "docs/verdicts.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([a-z]+(?:-[a-z]+)+)` \|", page, re.M)) == rules
    assert len(rules) > 15
    here = (ROOT / "tests/cli/test_verdicts.py").read_text(encoding="utf-8")
    assert [rule for rule in rules if f'"{rule}"' not in here] == []


def test_text_beside_fatbins(tmp_path):
    """Where text alone has code for a GPU, it is not known whether that is enough."""
    path = data(tmp_path, BOTH_CODES + OLD_PTX)
    for gpu, verdict, rule in [("A100", "runs", "runs"), ("GTX 1080", "unknown", "text-alone")]:
        row, = only("--drivers", "550", "--gpus", gpu, path)["verdicts"]
        assert (row["verdict"], row["rule"]) == (verdict, rule)
    row, = only("--gpus", "GTX 1080", data(tmp_path, OLD_PTX))["verdicts"]
    assert row["verdict"] == "runs"


@pytest.mark.parametrize("content, words", [
    (OLD_PTX + OLD_PTX.replace(b"sm_50", b"sm_90"), "1 of 2 PTX texts have"),
    (BOTH_CODES + OLD_PTX.replace(b"sm_50", b"sm_90"), "1 of 2 fatbins and PTX texts have")])
def test_texts_are_no_fatbins(tmp_path, content, words):
    row, = only("--gpus", "A100", data(tmp_path, content))["verdicts"]
    assert row["rule"] == "some-code" and row["reason"].startswith(words)


OLD = [("cubin", 70, cubin(70))]
NEW_TOO = [("cubin", 70, cubin(70)), ("cubin", 90, cubin(90))]


@pytest.mark.parametrize("old, new, verdict, rule", [
    (96, 4, "fails", "little-code"), (95, 5, "limits", "some-code"), (95, 4, "limits", "some-code"),
    (400, 2, "fails", "little-code"), (0, 100, "runs", "runs")])
def test_little_code(tmp_path, old, new, verdict, rule):
    """Of many fatbins hardly one has code for the GPU, as PyTorch before it knew the GPU."""
    path = program(tmp_path, old * [OLD] + new * [NEW_TOO])
    row, = only("--drivers", "550", "--gpus", "H100", path,
                code=FAILED if verdict == "fails" else OK)["verdicts"]
    assert (row["verdict"], row["rule"]) == (verdict, rule)
    assert row["code"] == (209 if verdict == "fails" else None)
    row, = only("--drivers", "550", "--gpus", "V100", path)["verdicts"]
    assert row["verdict"] == "runs"


@pytest.mark.parametrize("new, rule", [(2, "no-code"), (40, "some-files")])
def test_little_code_in_a_wheel(tmp_path, new, rule):
    """A small library that runs does not save a wheel whose large one does not."""
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as wheel:
        wheel.writestr("large.fatbin", b"".join(fatbin(*OLD) for _ in range(200)))
        wheel.writestr("small.fatbin", b"".join(fatbin(*NEW_TOO) for _ in range(new)))
    verdict, = scan("--drivers", "550", "--gpus", "H100", tmp_path / "a.whl",
                    code=FAILED if rule == "no-code" else OK)["verdicts"]
    assert verdict["rule"] == rule and verdict["file"].endswith("large.fatbin")


def test_the_gpu_first(tmp_path):
    """Where the driver does not have the GPU, this is what the user sees, whatever the code."""
    row, = only("--drivers", "470", "--gpus", "H100", program(tmp_path, [OLD]),
                code=FAILED)["verdicts"]
    assert (row["rule"], row["code"]) == ("gpu-later", 100)
