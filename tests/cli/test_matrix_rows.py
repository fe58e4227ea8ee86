# SPDX-License-Identifier: MIT
"""`cushim matrix`: what its rows tell first, and what it says to do."""

import subprocess

import pytest
from command import FAILED, OK, USAGE, run
from simulated import PROGRAM, compiled, matrix, nothing_is_left, without_places  # noqa: F401

BEGIN = """
#include <stdio.h>
#include <cushim/cushim.h>
#define TRY(call) do { \\
    CUresult result = (call); \\
    if (result != CUDA_SUCCESS) { printf("error %d\\n", result); return 1; } \\
} while (0)
static int work(const struct cushim_api *cu)
{
    CUcontext context; CUdeviceptr memory; CUstream stream; CUmodule module; CUfunction kernel;
    unsigned *host; int code = 0;
    if (cushim_init(cu) != CUDA_SUCCESS)
        return 77;
    TRY(cu->cuCtxCreate_v2(&context, 0, 0));
"""
END = """
    TRY(cu->cuCtxDestroy_v2(context));
    return code;
}
int main(void) { return work(cushim_load(NULL)); }
"""
LATE = """
    TRY(cu->cuMemAlloc_v2(&memory, 4096));
    TRY(cu->cuStreamCreate(&stream, 1));
    TRY(cu->cuMemAllocHost_v2((void **)&host, 4096));
    host[5] = 0;
    TRY(cu->cuMemsetD32Async(memory, 7, 1024, stream));
    TRY(cu->cuMemcpyDtoHAsync_v2(host, memory, 4096, stream));
    for (volatile int i = 0; i < 30000000; i++)
        ;
    code = host[5] != 7;
    TRY(cu->cuStreamSynchronize(stream));
    TRY(cu->cuMemFreeHost(host));
    TRY(cu->cuMemFree_v2(memory));
    TRY(cu->cuStreamDestroy_v2(stream));
"""
KERNEL = """
    static const char ptx[] = ".version 6.0\\n.target sm_30\\n.address_size 64\\n"
        ".visible .entry k()\\n{\\n.reg .u64 %r;\\nmov.u64 %r, 16;\\n"
        "st.global.u32 [%r], 1;\\nret;\\n}";
    TRY(cu->cuModuleLoadData(&module, ptx));
    TRY(cu->cuModuleGetFunction(&kernel, module, "k"));
    TRY(cu->cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    TRY(cu->cuCtxSynchronize());
"""


def build(folder, body):
    return compiled(folder, BEGIN + body + END, flags=("-g",))


def rows(*arguments, code=FAILED):
    """The rows, each in one line."""
    result = run("matrix", *arguments)
    assert result.code == code, result.out
    return result.rows


def test_what_to_do_is_told_once(tmp_path):
    """As the annotation has it, for all rows of its kind."""
    program = build(tmp_path, LATE)
    gate = ("--gate", "--fault-each=1", "--cuda", "11.4,13.0")
    text = rows(*gate, "--github", "--", program)
    advice = "call cuStreamSynchronize earlier, or let the other stream wait by cuStreamWaitEvent"
    annotation, *table = text.splitlines()
    assert annotation.startswith("::error ") and annotation.endswith(advice)
    assert [" ".join(line.split()) for line in table if advice in line] == [
        "CUDA 13.0, queued work runs late: the first call was done only when the second one waited "
        "for it, and its result was used before that, or what it reads was written again: " +
        advice]


def test_a_kernel_is_told_before_the_exit_code(tmp_path):
    program = build(tmp_path, KERNEL)
    for one in matrix("--cuda", "11.4,13.0", "--", program, code=FAILED):
        why = one["why"]
        assert why.startswith("cuLaunchKernel at ") and "kernel 'k', block (0,0,0)" in why
        assert "; exit code 1; cuCtxSynchronize at " in why and why.count("kernel 'k'") == 1


@pytest.mark.parametrize("end, result", [('puts("too old"); return 1', "fails"),
                                         ("abort()", "crashes")])
def test_an_optional_entry_is_no_cause(tmp_path, end, result):
    """What the newest release that fails lacks is the cause under the older ones, too."""
    (tmp_path / "a.c").write_text(f"""
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context, *library;
    unsigned long long memory;
    int (*begin)(unsigned) = dlsym(driver, "cuInit");
    int (*create)(void **, unsigned, int) = dlsym(driver, "cuCtxCreate_v2");
    int (*destroy)(void *) = dlsym(driver, "cuCtxDestroy_v2");
    int (*plain)(unsigned long long *, size_t) = dlsym(driver, "cuMemAlloc_v2");
    int (*queued)(unsigned long long *, size_t, void *) = dlsym(driver, "cuMemAllocAsync");
    int (*release)(unsigned long long) = dlsym(driver, "cuMemFree_v2");
    int (*load)(void **, const char *, void *, void *, unsigned, void *, void *, unsigned) =
        dlsym(driver, "cuLibraryLoadData");
    begin(0);
    create(&context, 0, 0);
    if (queued) queued(&memory, 256, 0); else plain(&memory, 256);
    release(memory);
    if (!load) {{
        destroy(context);
        {end};
    }}
    load(&library, ".version 6.0\\n.target sm_30\\n.address_size 64\\n", 0, 0, 0, 0, 0, 0);
    return 0;
}}
""")
    subprocess.run(["cc", "-w", "-o", tmp_path / "a", tmp_path / "a.c", "-ldl"], check=True)
    words = ("--cuda", "8.0-12.0", "--", tmp_path / "a")
    text = rows(*words)
    assert "no cuLibraryLoadData (CUDA 12.0): the driver lacks what the program looks up" in text
    assert f"CUDA 11.8 to 8.0  {result}" in text and "cuMemAllocAsync" not in text
    assert run("matrix", "--github", *words).out.count("::error ") == 1


def test_a_misspelt_name(tmp_path):
    """Of a program that calls what it looked up; it is no cause if the program passes."""
    (tmp_path / "a.c").write_text("""
#include <dlfcn.h>
int main(int count, char **words)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    int (*begin)(unsigned) = dlsym(driver, "cuInit");
    int (*alloc)(unsigned long long *, unsigned long) = dlsym(driver, "cuMemAlocc");
    unsigned long long memory;
    begin(0);
    return count == 1 ? alloc(&memory, 16) : words[1][0] == 'x' ? *(volatile int *)0 : 0;
}
""")
    subprocess.run(["cc", "-w", "-o", tmp_path / "a", tmp_path / "a.c", "-ldl"], check=True)
    words = "no cuMemAlocc: no known driver has this name (did you mean cuMemAlloc?)"
    text = rows("--cuda", "9.0,13.0", "--", tmp_path / "a")
    assert text.startswith("CUDA 9.0   crashes  signal 11 (Segmentation fault)")
    assert text.count(words) == 1 and "CUDA 13.0  crashes  same as CUDA 9.0\n" in text
    assert words not in rows("--cuda", "9.0,13.0", "--", tmp_path / "a", "y", code=OK)


@pytest.mark.parametrize("devices, words", [("1", "there is 1 device"),
                                            ("2", "there are 2 devices")])
def test_a_device_that_is_not_there(tmp_path, devices, words):
    program = build(tmp_path, "CUdevice device; TRY(cu->cuDeviceGet(&device, 2));")
    one, = matrix("--cuda", "12.4", "--devices", devices, "--", program, code=FAILED)
    assert f": 101 CUDA_ERROR_INVALID_DEVICE, {words}; " in one["why"]
    one, = matrix("--cuda", "12.4", "--fault", "cuDeviceGet:error=INVALID_DEVICE", "--", program)
    assert "there is" not in one["call"]
    result = run("matrix", "--cuda", "12.4", "--", program, CUDA_VISIBLE_DEVICES="0")
    assert result.code == FAILED and "there is" not in result.rows


def test_the_reason_of_a_refusal(tmp_path):
    """The row has it, and does not say that every call succeeded."""
    program = compiled(tmp_path, """
#include <cushim/cushim.h>
#include <cushim/device.h>
#include <cushim/memory.h>
int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    struct cushim_device_scope gpu;
    CUdeviceptr memory = 0;
    if (cushim_device_enter(cu, 0, &gpu) != CUDA_SUCCESS)
        return 77;
    cushim_memory_alloc(cu, 0, &memory);
    return cushim_device_leave(&gpu) != CUDA_SUCCESS;
}
""")
    one, = matrix("--strict", "--cuda", "12.4", "--", program, code=FAILED)
    assert one["why"].startswith("exit code 0 though cushim_memory_alloc refused what it was given")
    assert one["why"].endswith("; bytes is 0; ask for at least 1")


def test_variables_of_the_simulated_driver():
    """Those of settings reach the runs; rules and checks are the runs' own."""
    show = ("sh", "-c", "echo $CUSHIM_SIM_DEVICES $CUSHIM_SIM_MEMORY $CUSHIM_SIM_WORKERS"
            "$CUSHIM_SIM_FAULT$CUSHIM_SIM_CHECK; exit 3")
    words = ("--cuda", "12.4,9.0", "--", *show)
    variables = {"CUSHIM_SIM_DEVICES": "2", "CUSHIM_SIM_MEMORY": "4G", "CUSHIM_SIM_WORKERS": "1"}
    result = run("matrix", *words, **variables)
    assert "\"2 4G 1\"" in result.rows and result.err == ""
    assert "\"3 4G 1\"" in run("matrix", "--devices", "3", *words, **variables).rows
    assert "9.0" not in run("matrix", "--", *show, CUSHIM_SIM_PROFILE="hopper").rows
    assert "\"1\"" in run("matrix", *words, CUSHIM_SIM_WORKERS="1", CUSHIM_SIM_FAULT="cuInit",
                          CUSHIM_SIM_CHECK="race").rows
    for variable, option in ("FAULT", "--fault RULE"), ("CHECK", "--check=WHAT"):
        told = f"cushim matrix: CUSHIM_SIM_{variable} is not read: give {option}\n"
        assert run("matrix", *words, **{f"CUSHIM_SIM_{variable}": "race"}).err == told
    for variable in "DEVICES", "WORKERS":
        assert run("matrix", *words, **{f"CUSHIM_SIM_{variable}": "-"}).code == USAGE


def test_what_is_left_to_a_context(tmp_path):
    """By the manual of cuCtxDestroy it ends all; memory counts, as for NVIDIA's own leak check, and
    of a primary context, which others may keep, the rest too."""
    make = "TRY(cu->cuStreamCreate(&stream, 1)); TRY(cu->cuMemAlloc_v2(&memory, 64));"
    gate = ("--gate", "--idle", "--fault-each=1", "--cuda", "12.4", "--")
    free = "TRY(cu->cuMemFree_v2(memory));"
    matrix(*gate, build(tmp_path, make + free))
    one, *_ = matrix(*gate, build(tmp_path, make), code=FAILED)
    assert "left to the end of a context: 64 bytes of memory in 1 block, made by " in one["why"]
    assert "stream" not in one["why"]
    primary = (BEGIN + make + free + END).replace(
        "cuCtxCreate_v2(&context, 0, 0)", "cuDevicePrimaryCtxRetain(&context, 0)").replace(
        "cuCtxDestroy_v2(context)", "cuDevicePrimaryCtxRelease_v2(0)").replace(
        make, "TRY(cu->cuCtxSetCurrent(context));" + make)
    one, *_ = matrix(*gate, compiled(tmp_path, primary), code=FAILED)
    assert "left to the end of a context: 1 stream, made by " in one["why"]


@pytest.mark.parametrize("count, red", [(3, False), (16, False), (17, True), (100, True)])
def test_what_a_loop_leaves_to_a_context(tmp_path, count, red):
    """A few objects of a line may be left to it, but not one for each request."""
    program = build(tmp_path, f"""for (int i = 0; i < {count}; i++)
        TRY(cu->cuStreamCreate(&stream, 1));
    for (int i = 0; i < 3; i++)
        TRY(cu->cuStreamCreate(&stream, 1));""")
    gate = ("--gate", "--idle", "--fault-each=1", "--cuda", "12.4", "--")
    one, *_ = matrix(*gate, program, code=FAILED if red else OK)
    if red:
        assert without_places(one["why"]).startswith(
            f"the check found: left to the end of a context: {count} streams")
        assert one["why"].endswith(": destroy each")
        assert one["place"].endswith(" (work)")


def test_memory_of_another_device(tmp_path):
    program = build(tmp_path, KERNEL.replace("mov.u64 %r, 16", "ld.param.u64 %r, [p]").replace(
        ".entry k()", ".entry k(.param .u64 p)").replace(
        "TRY(cu->cuLaunchKernel", """
    CUcontext other; void *arguments[] = {&memory};
    TRY(cu->cuCtxCreate_v2(&other, 0, 1));
    TRY(cu->cuMemAlloc_v2(&memory, 4000));
    TRY(cu->cuCtxSetCurrent(context));
    TRY(cu->cuLaunchKernel""").replace("0, NULL, NULL, NULL", "0, NULL, arguments, NULL"))
    one, = matrix("--cuda", "12.4", "--devices", "2", "--", program, code=FAILED)
    assert "; a block of 4000 bytes, of device 1, is there" in one["why"]


RETAINS = """
#include <cushim/cushim.h>
static CUcontext context;
static void retain(const struct cushim_api *cu) { cu->cuDevicePrimaryCtxRetain(&context, 0); }
static void keep(const struct cushim_api *cu) { retain(cu); %s }
int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    if (cushim_init(cu) != CUSHIM_OK)
        return 77;
    cu->cuDevicePrimaryCtxRetain(&context, 0);
    keep(cu);
    %s
    return 0;
}
"""
RELEASE = "cu->cuDevicePrimaryCtxRelease_v2(0);"


@pytest.mark.parametrize("inner, outer, function", [
    ("", RELEASE, "retain"), (RELEASE, "", "main"), ("retain(cu);" + RELEASE, RELEASE, "retain")])
def test_the_retain_that_was_not_released(tmp_path, inner, outer, function):
    """It is the one whose function did not release it."""
    program = compiled(tmp_path, RETAINS % (inner, outer), flags=("-g", "-O0"))
    one, = matrix("--check", "--cuda", "12.4", "--", program, code=FAILED)
    assert "leaked 1 context, made by cuDevicePrimaryCtxRetain at " in one["why"]
    assert one["place"].endswith(f" ({function})"), one["place"]
    if outer and inner:
        return
    matrix("--check", "--cuda", "12.4", "--",
           compiled(tmp_path, RETAINS % (RELEASE, RELEASE), flags=("-g", "-O0")))


def test_a_use_of_what_was_freed(tmp_path):
    """Which use the driver finds first may be chance: what was freed too early is one cause."""
    program = build(tmp_path, """
        int version;
        TRY(cu->cuDriverGetVersion(&version));
        TRY(cu->cuMemAlloc_v2(&memory, 64));
        TRY(cu->cuMemFree_v2(memory));
        if (version >= 13000)
            TRY(cu->cuMemsetD8_v2(memory, 0, 64));
        TRY(cu->cuMemcpyDtoH_v2(&code, memory, 4));
    """)
    rows = run("matrix", "--cuda", "13.0,12.4", "--", program).rows
    assert rows.startswith("CUDA 13.0 to 12.4  fails  exit code 1; cuMemsetD8_v2 at ")
