# SPDX-License-Identifier: MIT
"""`cushim matrix`: what is said of the entries that a driver lacks."""

import os
import shutil
import subprocess

import pytest
from command import CLI, FAILED, INPUT, OK, SIM_DRIVERS, SYSTEM, USAGE, environment, run
from simulated import PROGRAM, compiled, matrix, nothing_is_left, without_places  # noqa: F401


def test_value_that_is_a_word():
    """A value that may be left out is no word of its own."""
    for option, value in (("--check", "race"), ("--fault-each", "3")):
        result = run("matrix", option, value, "--", "true")
        assert (result.code, result.err) == (INPUT, f"cushim matrix: {value}: no such program in "
                                             "PATH; --check and --fault-each take a value behind "
                                             "'='\n")


@pytest.mark.parametrize("words, message", [
    (["--cuda", "none", "--drivers", CLI, "--fault-each"],
     "--fault-each takes a simulated release: leave out --cuda none"),
    (["--fault-each=0"], "--fault-each: '0' is no number from 1 to 32"),
    (["--fault-each=3x"], "--fault-each: '3x' is no number"),
    (["--survives", "cuMemAloc"],
     "matrix: --survives: \"cuMemAloc\": no entry of that name; did you mean cuMemAlloc?"),
    (["--survives", "cuInit,NOPE"],
     "matrix: --survives: \"NOPE\": no entry of that name; names are those of cuda.h\n"),
    (["--survives", "missing"], "\"missing\": no entry of that name; names are those of cuda.h\n"),
    (["--survives", "*"], "\"*\": no entry of that name; names are those of cuda.h\n"),
    (["--works", "11.44"], "--works: no simulated CUDA '11.44'"),
    (["--works", "none"], "--works: 'none' stands alone"),
    (["--cuda", "12.1-"], "--cuda: no simulated CUDA ''"),
    (["--cuda", "11.9+"], "--cuda: no simulated CUDA '11.9'; near it are 11.8 and 12.0;"),
    (["--cuda", "12.1++"], "--cuda: no simulated CUDA '+'"),
    (["--cuda", "12.1-11.4"], "--cuda: '12.1-11.4' ends before it begins")])
def test_refused(words, message):
    result = run("matrix", *words, "--", "true")
    assert (result.code, result.rows) == (USAGE, "") and message in result.err


@pytest.mark.parametrize("option", ["--junit", "--markdown"])
def test_a_report_that_cannot_be_written(option, tmp_path):
    """It is told before the first run; what is there stays if nothing can be run."""
    ran, old, new = (tmp_path / name for name in ("ran", "old", "new"))
    for path, reason in ((tmp_path / "none" / "a", "No such file or directory"),
                         (tmp_path, "Is a directory")):
        result = run("matrix", "--cuda", "12.4", option, path, "--", "touch", ran)
        assert (result.code, result.out, ran.exists()) == (SYSTEM, "", False)
        assert result.err == f"cushim matrix: {path}: {reason}\n"
    old.write_text("old")
    for path in old, new:
        assert run("matrix", option, path, "--", tmp_path / "none").code == INPUT
        assert run("matrix", option, path, "--cuda", "12.4", "--", "true",
                   TMPDIR=tmp_path / "none").code == SYSTEM
    assert old.read_text() == "old" and not new.exists()
    matrix("--cuda", "12.4", option, old, "--", "touch", ran)
    assert ran.exists() and "cushim matrix" in old.read_text()


TABLE = """
#include <stdio.h>
#include <cushim/cushim.h>
int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    CUcontext context;
    CUdeviceptr memory;
    if (cushim_init(cu) != CUSHIM_OK || cu->cuDevicePrimaryCtxRetain(&context, 0) != 0) {
        fprintf(stderr, "no device: %s\\n", cushim_message(cu));
        return 1;
    }
    cu->cuDeviceGet(&(CUdevice){0}, 99);
    cu->cuCtxSetCurrent(context);
    int result = cu->cuMemAllocAsync(&memory, 100, NULL);
    fputs(result ? "the allocation went wrong\\n" : "", stderr);
    return result ? 3 : cu->cuMemFreeAsync(memory, NULL);
}
"""


FORGOTTEN = """
#include <cushim/cushim.h>
CUresult cuInit(unsigned), cuDeviceGetUuid(CUuuid *, CUdevice);
int main(void)
{
    CUuuid uuid;
    cushim_load(NULL)->cuInit(0);
    cushim_load(NULL)->cuDeviceGetUuid(&uuid, 0);
    return 0;
}
"""


DESCRIBE = """
#include <cushim/cushim.h>
#include <cushim/device.h>
#include <cushim/module.h>
int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    struct cushim_device_properties device = {.size = sizeof device};
    CUcontext context;
    CUmodule module;
    CUfunction function;
    return cushim_init(cu) != CUSHIM_OK || cushim_device_describe(cu, 0, &device) != 0 ||
        cu->cuCtxCreate_v2(&context, 0, 0) != 0 ||
        cu->cuModuleLoadData(&module, ".version 3.0\\n.target sm_30\\n.address_size 64\\n"
                             ".visible .entry k() { ret; }") != 0 ||
        cushim_module_function(cu, module, "none", &function) == 0;
}
"""


if "CUSHIM_STATIC" in os.environ:  # not in a build with sanitizers, which programs link as well
    @pytest.fixture(name="table", scope="module")
    def table_fixture(tmp_path_factory):
        """A program with cushim in it, which calls stubs of its table and does not say which."""
        return compiled(tmp_path_factory.mktemp("table"), TABLE)

    def test_a_stub_of_the_table(table):
        """Its call reaches no entry, and the driver is told. What cushim itself looks up is no
        reason, nor is a call that failed and was not reported."""
        old, new = matrix("--cuda", "10.2,12.4", "--", table, code=FAILED)
        assert (old["result"], new["result"]) == ("fails", "passes")
        assert old["call"] == "cuMemAllocAsync is not available: it came with CUDA 11.2, and " \
            "the driver, of CUDA 10.2, is older; cuDeviceGet: 101 CUDA_ERROR_INVALID_DEVICE, " \
            "there is 1 device"
        assert old["errors"] == "the allocation went wrong\n"

    def test_an_entry_that_fails_and_is_missing(tmp_path):
        """One option tells both, and the report has it once."""
        program = compiled(tmp_path, TABLE.replace("the allocation went wrong\\n", "").replace(
            "result ? 3", "result ? 0"))
        rows = run("matrix", "--strict", "--fault-each", "--cuda", "10.2,12.4", "--survives",
                   "cuCtxSetCurrent", "--", program).rows
        assert "called what the driver lacks" in rows and "0 though cuMemAllocAsync failed" in rows
        assert rows.count("--survives cuMemAllocAsync") == rows.count("--survives") == 1, rows

    def test_an_older_one_is_named(tmp_path):
        """If the driver has one of another ABI."""
        program = compiled(tmp_path, FORGOTTEN.replace("cuDeviceGetUuid(&uuid, 0)",
                                                       "cuDevicePrimaryCtxRelease_v2(0)"))
        one, = matrix("--cuda", "9.0", "--", program, code=OK)
        assert one["call"] == "cuDevicePrimaryCtxRelease_v2 is not available: it came with CUDA " \
            "11.0; the driver, of CUDA 9.0, has cuDevicePrimaryCtxRelease_v1"

    @pytest.mark.parametrize("how", ["static", "dropin"])
    def test_a_call_of_which_nobody_takes_the_code(tmp_path, how):
        """The row shows it, and --strict makes a failure of it."""
        program = FORGOTTEN.replace("cushim_load(NULL)->", "") if how == "dropin" else FORGOTTEN
        compiled(tmp_path, program, how.upper())
        told = "cuDeviceGetUuid is not available: it came with CUDA 9.2, and the driver, of CUDA " \
            "9.0, is older"
        for options, result, code in ((), "passes", OK), (("--strict",), "fails", FAILED):
            new, old = matrix("--cuda", "12.4,9.0", *options, "--", tmp_path / "a", code=code)
            assert (new["result"], new["call"]) == ("passes", None)
            assert (old["result"], old["call"]) == (result, told)
        run("matrix", "--cuda", "9.0", "--junit", tmp_path / "x", "--markdown", tmp_path / "m",
            "--", tmp_path / "a")
        for name in "xm":
            assert told in without_places((tmp_path / name).read_text())
        strict, each = (without_places(run("matrix", "--cuda", "9.0", *options, "--",
                                           tmp_path / "a").rows) for options in (("--strict",), ()))
        assert strict.startswith(f"CUDA 9.0  fails  called what the driver lacks; {told}")
        assert f"passes  {told}\n" in each
        assert " calls succeeded, 1 failed, of them cuDeviceGetUuid, which the driver lacks\n" in \
            run("sim", "--cuda", "9.0", "--", tmp_path / "a").err
        log = run("sim", "--quiet", "--cuda", "9.0", "--log", "-", "--", tmp_path / "a").err
        assert "cuDeviceGetUuid() = 36 CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, the driver lacks " \
            "it\n" in log
        simulated = SIM_DRIVERS[0].parent
        shutil.copy(simulated / "libcuda-sim-9.0.so", tmp_path / "renamed.so")
        shutil.copy(simulated / "libcushim-sim-engine.so", tmp_path)
        done = subprocess.run([tmp_path / "a"], stderr=subprocess.PIPE, text=True, check=True,
                              env=environment(CUSHIM_LIBCUDA=str(tmp_path / "renamed.so"),
                                              CUSHIM_SIM_SUMMARY="1"))
        assert "1 failed, of them cuDeviceGetUuid, which the driver lacks\n" in done.stderr


    def test_what_helpers_do_without(tmp_path):
        """They ask before they call; that cushim names entries explains no crash."""
        compiled(tmp_path, DESCRIBE)
        for one in matrix("--cuda", "8.0,9.0,12.4", "--strict", "--survives",
                          "cuModuleGetFunction", "--", tmp_path / "a", code=OK):
            assert (one["result"], one["errors"]) == ("passes", "")
        compiled(tmp_path, DESCRIBE.replace("return cushim_init", "cushim_init(cu);"
                 "if (!CUSHIM_HAS(cu, cuMemAllocAsync)) raise(9); return cushim_init").replace(
                     "#include", "#include <signal.h>\n#include", 1))
        old, _ = matrix("--cuda", "8.0,12.4", "--", tmp_path / "a", code=FAILED)
        assert (old["result"], old["call"]) == ("crashes", None)

    @pytest.mark.parametrize("call, told, survived", [
        ('cu->cuModuleGetFunction(&function, module, "none")', "cuModuleGetFunction failed",
         "cuModuleGetFunction"),
        ('cushim_module_function(cu, module, "none", &function)', "cuModuleGetFunction failed",
         "cuModuleGetFunction"),
        ("cushim_device_describe(cu, 0, NULL)",
         "cushim_device_describe refused what it was given", "cushim_device_describe")])
    def test_a_program_that_falls_back_for_its_own_mistake(tmp_path, call, told, survived):
        """It would never use the GPU: the kernel's name is misspelt, or cushim refuses."""
        last = 'cushim_module_function(cu, module, "none", &function) == 0'
        compiled(tmp_path, DESCRIBE.replace(last, f"({call}, 0)"))
        given = ("--strict", "--cuda", "12.4")
        table = tmp_path / "a.md"
        result = run("matrix", *given, "--github", "--markdown", table, "--", tmp_path / "a")
        assert result.code == FAILED and f"exit code 0 though {told}" in result.rows
        cure = f"if the program rightly goes on: --survives {survived}\n"
        assert result.rows.count(cure) == (2 if survived == "cuModuleGetFunction" else 0)
        assert ("--survives" in table.read_text()) == (cure in result.rows)
        matrix(*given, "--survives", survived, "--", tmp_path / "a")


GUARDED = """
#include <dlfcn.h>
#define ENTRY(name) int (*name)() = (int (*)())dlsym(driver, #name)
int main(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    ENTRY(cuInit);
    ENTRY(cuMemAllocAsync);
    ENTRY(cuDeviceGet);
    ENTRY(cuDeviceGetUuid);
    ENTRY(cuMemFreeAsync);
    char room[64];
    cuInit(0);
    if (cuMemAllocAsync)
        cuMemAllocAsync(room, 0L, (void *)0);
    cuDeviceGet(room, 0);
    cuDeviceGetUuid(room, 0);
    if (cuMemFreeAsync)
        cuMemFreeAsync(0L, (void *)0);
    return 0;
}
"""


@pytest.mark.skipif(os.environ["CUSHIM_SANITIZER"] != "none",
                    reason="a plain program cannot open a driver with sanitizers")
def test_what_crashed_comes_first(tmp_path):
    """Of the entries that a driver lacks, the one that the program calls next; not one for which
    it looked, before or behind. What a trap says is the cause alone."""
    (tmp_path / "a.c").write_text(GUARDED)
    subprocess.run(["cc", "-w", "-o", tmp_path / "a", tmp_path / "a.c", "-ldl"], check=True)
    old, _ = matrix("--cuda", "9.0,12.4", "--", tmp_path / "a", code=FAILED)
    assert (old["result"], old["call"]) == (
        "crashes", "no cuDeviceGetUuid (CUDA 9.2): the driver lacks what the program looks up")
    (tmp_path / "c.c").write_text(GUARDED.replace("cuMemAllocAsync(room, 0L, (void *)0);", """
        cuMemAllocAsync(room, 0L, (void *)0);
    else
        cuDeviceGetCount(room);""").replace("ENTRY(cuDeviceGet);", """ENTRY(cuDeviceGet);
    ENTRY(cuDeviceGetCount);""").replace("    cuDeviceGet(room, 0);\n", ""))
    subprocess.run(["cc", "-w", "-o", tmp_path / "c", tmp_path / "c.c", "-ldl"], check=True)
    old, _ = matrix("--cuda", "9.0,12.4", "--", tmp_path / "c", code=FAILED)
    assert old["call"].startswith("no cuMemAllocAsync (CUDA 11.2), cuDeviceGetUuid (CUDA 9.2)"), \
        "which was the next is not known: the last call is none of the newest driver's run"
    (tmp_path / "b.c").write_text(GUARDED.replace("cuDeviceGetUuid(room, 0);", "{ ENTRY("
                                                  "cuMemAlloc); cuMemAlloc(room, 16); }"))
    subprocess.run(["cc", "-w", "-o", tmp_path / "b", tmp_path / "b.c", "-ldl"], check=True)
    old, _ = matrix("--cuda", "9.0,12.4", "--fault", "wrong-abi", "--", tmp_path / "b", code=FAILED)
    assert old["call"].startswith("wrong ABI called: the symbol cuMemAlloc has the parameters of")
    assert "cuMemAllocAsync" not in old["call"]


@pytest.mark.skipif(os.environ["CUSHIM_SANITIZER"] != "none",
                    reason="a plain program cannot open a driver with sanitizers")
def test_names_are_no_reason_if_the_newest_fails_too(tmp_path):
    """The program names an entry that old drivers lack, and does not call it."""
    (tmp_path / "a.c").write_text(
        "#include <dlfcn.h>\n#include <stdlib.h>\nint main(int count, char **words) {"
        "void *library = dlopen(\"libcuda.so.1\", RTLD_NOW);"
        "void *entry = dlsym(library, \"cuMemAllocAsync\");"
        "if (count > 1) abort(); return entry ? 0 : 1; }\n")
    subprocess.run(["cc", "-o", tmp_path / "a", tmp_path / "a.c", "-ldl"], check=True)
    for one in matrix("--cuda", "11.1,12.4", "--", tmp_path / "a", "crash", code=FAILED):
        assert (one["result"], one["call"]) == ("crashes", None)
    old, _ = matrix("--cuda", "11.1,12.4", "--", tmp_path / "a", code=FAILED)
    assert old["call"] == "no cuMemAllocAsync (CUDA 11.2): the driver lacks what the program names"


def test_check_comes_behind_the_program(tmp_path):
    """Its own last line first, and what the check found."""
    fails = f"'{PROGRAM}' left; echo it went wrong >&2; exit 3"
    result = run("matrix", "--cuda", "12.4", "--check", "--markdown", tmp_path / "a.md", "--", "sh",
                 "-c", fails)
    words = "\"it went wrong\"; the check found: left to the end of a context: "
    assert result.code == FAILED and words in result.rows.splitlines()[0]
    assert words in (tmp_path / "a.md").read_text()
    passes = run("matrix", "--cuda", "12.4", "--check=race", "--", "sh", "-c",
                 f"'{PROGRAM}' left; echo well")
    assert "fails  the check found: left to the end of a context: " in passes.rows
    assert "well" not in passes.rows and "calls succeeded" not in passes.rows


def test_quiet_check_has_the_place():
    """Without the summary."""
    result = run("sim", "--quiet", "--check=init", "--", PROGRAM, "unset")
    place, *found = result.err.splitlines()
    assert result.code == INPUT and "init: kernel 'k', block (0,0,0)" in place
    assert all(line.startswith("cushim sim: check: ") for line in found)
    assert found[0].endswith("the checks of kernels found 1 fault")


def test_check_of_a_program_that_calls_nothing():
    """It is as without the check. A rule that never fired is a finding here too."""
    for option in "--check", "--check=race":
        one, = matrix("--cuda", "12.4", option, "--", "true")
        assert (one["result"], one["errors"]) == ("unused", "")
        matrix("--cuda", "12.4", "--strict", option, "--", "true", code=FAILED)
    one, = matrix("--cuda", "12.4", "--check", "--fault", "cuInit:error=2", "--", "true",
                  code=FAILED)
    assert one["errors"] == "cushim sim: check: the rule cuInit:error=2 never fired\n"
    result = run("sim", "--check", "--fault", "missing:cuMemFree", "--", "true")
    assert (result.code, result.err) == (OK, "")
    words = "cushim sim: check: the rule *:call=2 never fired\n"
    result = run("sim", "--check", "--fault", "wrong-abi", "--fault", "*:call=2", "--", "true")
    assert (result.code, result.err) == (INPUT, words)
