# SPDX-License-Identifier: MIT
"""`cushim matrix --gate` and `--works`."""

import os
import subprocess
import xml.etree.ElementTree as xml

import pytest
from command import FAILED, INPUT, OK, USAGE, run
from simulated import PROGRAM, compiled, matrix, nothing_is_left, without_places  # noqa: F401
from test_matrix_fault import CAREFUL

TWO = ("--gate", "--cuda", "11.4,13.0")


def test_works():
    """To degrade is a failure under those releases alone, and so is not to call the driver."""
    program = ("--degrade", "77", "--", "sh", "-c", f"'{PROGRAM}' codes 0 1 1; exit 77")
    matrix("--cuda", "11.4,12.4", *program)
    result = run("matrix", "--cuda", "11.4,12.4", "--works", "12.0+", *program)
    assert result.code == FAILED
    assert "CUDA 12.4  fails     exit code 77, but it must work" in result.rows
    assert "CUDA 11.4  degrades  exit code 77; " in result.rows
    result = run("matrix", "--cuda", "11.4,12.4", "--works", "13.0", *program)
    assert (result.code, result.err) == (
        USAGE, "cushim matrix: --works: no release of '13.0' is run\n")
    matrix("--cuda", "12.4", "--works", "12.4", "--", "true", code=FAILED)
    script = f"'{PROGRAM}' codes 0 1 1; case $CUSHIM_SIM_NVML_CUDA in 12*) ;; *) exit 3; esac"
    refuses = ("--cuda", "11.4,12.4", "--", "sh", "-c", script)
    assert matrix("--works", "12.0+", *refuses)[0]["result"] == "degrades"
    assert matrix(*refuses, code=FAILED)[0]["result"] == "fails"


def test_a_driver_that_is_not_called_where_it_need_not_work():
    """As by a program that misses a symbol: no failure, if it calls the driver elsewhere."""
    script = f"case $CUSHIM_SIM_NVML_CUDA in 11*) exit 0; esac; exec '{PROGRAM}' codes 0 1 1"
    program = ("--strict", "--cuda", "11.4,12.4", "--", "sh", "-c", script)
    old, new = matrix("--works", "12.0+", *program)
    assert (old["result"], new["result"]) == ("unused", "passes")
    matrix("--works", "11.4+", *program, code=FAILED)
    matrix(*program, code=FAILED)


def test_a_leak_where_it_need_not_work():
    """The finding, which is what fails, comes first."""
    script = f"'{PROGRAM}' left; case $CUSHIM_SIM_NVML_CUDA in 11*) exit 3; esac"
    old, _ = matrix("--check", "--cuda", "11.4,12.4", "--works", "12.0+", "--", "sh", "-c", script,
                    code=FAILED)
    assert old["why"].startswith("the check found: left to the end of a context: 100 bytes of ")
    assert without_places(old["why"]).endswith("memory in 1 block; exit code 3")


def test_a_leak_at_a_refusal(tmp_path):
    """At the gate a program that refuses a release may leave things behind."""
    script = f"'{PROGRAM}' left; case $CUSHIM_SIM_NVML_CUDA in 11*) exit 3; esac; exit 77"
    old, *_ = matrix("--gate", "--cuda", "11.4,12.4", "--works", "12.0+", "--", "sh", "-c", script,
                     code=FAILED)
    assert (old["cuda"], old["result"]) == ("11.4", "degrades")


def test_releases_that_fail_in_no_order():
    """One that fails alone may be a matter of timing; the newest or the oldest that do not
    degrade are none."""
    told = "it passes under some releases and fails under others: this may be a " \
        "matter of timing"
    for fails, order in ("12.0", True), ("11.8", False), ("12.4|12.0", False), \
            ("12.4|11.8", True):
        script = f"'{PROGRAM}' codes 0 1 1; case $CUSHIM_SIM_NVML_CUDA in {fails}) exit 3;; " \
            "11.4) exit 77; esac"
        rows = run("matrix", "--degrade", "77", "--cuda", "12.4,12.0,11.8,11.4", "--", "sh", "-c",
                   script).rows
        assert rows.endswith(f"\n{told}\n") == order, rows


def test_what_to_do_without_a_driver():
    """It is told; the words about this command's own setting are left out."""
    words = run("info", CUSHIM_LIBCUDA="").out.splitlines()[1]
    assert "CUSHIM_LIBCUDA: empty, " in words
    for output in 1, 2:
        script = f"[ \"${{CUSHIM_LIBCUDA-no}}\" ] || {{ echo '{words}' >&{output}; exit 1; }}; " \
            f"'{PROGRAM}' codes 0 1 1"
        rows = run("matrix", *TWO, "--", "sh", "-c", script).rows
        row, = (row for row in rows.splitlines() if row.startswith("no driver"))
        assert row.split(maxsplit=3)[3] == "exit code 1; compute without a GPU, or end with 77"


def test_releases_without_the_profile():
    """They are left out, but for those that are named."""
    runs = matrix("--profile", "hopper", "--", "true")
    assert runs[-1]["cuda"] == "11.8" and runs[0]["cuda"] > "13"
    one, = matrix("--profile", "hopper", "--cuda", "11.4", "--", "true", code=FAILED)
    assert one["result"] == "not run" and "does not know 'hopper'" in one["errors"]


def test_gate_of_a_program_that_tries_nothing():
    """It is red, with the reason."""
    calls = f"'{PROGRAM}' codes 0 1 1; exit 77"
    for script in "exit 0", calls, '[ "${CUSHIM_LIBCUDA-no}" ] || exit 0; ' + calls:
        result = run("matrix", *TWO, "--", "sh", "-c", script)
        assert result.code == FAILED, script
    assert result.rows.endswith("\nno run passes, so that nothing was tried\n")


def test_gate_of_a_program_without_the_driver():
    """That it is not used shows in the run without one, too. That run alone tells nothing of it."""
    assert {one["result"] for one in matrix(*TWO, "--", "true", code=FAILED)} == {"unused"}
    one, = matrix("--cuda", "none", "--drivers", "/dev/null", "--", "true")
    assert one["result"] == "passes"


@pytest.mark.parametrize("devices, names, result", [
    ("1", ["no device", "no driver"], None), ("2", ["1 device", "no device", "no driver"], "fails"),
    ("3", ["1 device", "no device", "no driver"], "degrades")])
def test_a_single_device(devices, names, result):
    """A program that may use several is tried with one, too."""
    script = f"[ $CUSHIM_SIM_DEVICES != 1 ] || [ {devices} = 1 ] || " \
        f"exit {3 if result == 'fails' else 77}; '{PROGRAM}' codes 0 1 1; exit 77"
    runs = matrix(*TWO, "--devices", devices, "--", "sh", "-c", script, code=FAILED)
    assert [one["name"].removeprefix("CUDA 13.0, ") for one in runs[2:]] == names
    assert result is None or (runs[2]["cuda"], runs[2]["result"]) == ("13.0", result)
    assert "CUDA 13.0, 1 device   fails  same as CUDA 11.4\n" in run(
        "matrix", *TWO, "--devices", "2", "--", "sh", "-c", "exit 3").rows


def stub(folder):
    """A library to link with, as a toolkit has it."""
    (folder / "cuda.c").write_text("int cuInit(unsigned flags) { return (int)flags; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o",
                    folder / "libcuda.so.1", folder / "cuda.c"], check=True)


def test_gate_of_a_linked_program(tmp_path):
    """It does not start without a driver: red, but for a program of GPU machines alone."""
    stub(tmp_path)
    (tmp_path / "a.c").write_text("int cuInit(unsigned); int main(void) {"
                                  " int code = cuInit(0); return code ? 77 : 0; }\n")
    subprocess.run(["cc", "-o", tmp_path / "a", tmp_path / "a.c", tmp_path / "libcuda.so.1"],
                   check=True)
    *_, nothing, _late, _reorder = matrix(*TWO, "--idle", "--", tmp_path / "a", code=FAILED)
    assert (nothing["name"], nothing["result"]) == ("no driver", "not run")
    assert nothing["why"] == "does not start without libcuda.so.1: it is linked with -lcuda (" \
        "load it at run time, or --needs-driver)"
    *_, nothing, _late, _reorder = matrix(*TWO, "--idle", "--needs-driver", "--", tmp_path / "a")
    assert nothing["why"] == "linked to libcuda, which --needs-driver allows"


if "CUSHIM_STATIC" in os.environ:  # not in a build with sanitizers, which programs link as well
    @pytest.fixture(name="careful", scope="module")
    def careful_fixture(tmp_path_factory):
        return compiled(tmp_path_factory.mktemp("careful"), CAREFUL)

    def test_gate(careful):
        """Runs without a device, without a driver, with late and reordered work, and with calls
        that fail."""
        runs = matrix(*TWO, "--", careful, "-", "-", "1")
        names = [one["name"] for one in runs]
        assert names[:6] == ["CUDA 11.4", "CUDA 13.0", "CUDA 13.0, no device", "no driver",
                             "CUDA 13.0, queued work runs late", "CUDA 13.0, queued work reordered"]
        assert [one["result"] for one in runs[:6]] == [*2 * ["passes"], *2 * ["degrades"],
                                                       *2 * ["passes"]]
        assert "CUDA 13.0, call 2 of cuEventCreate fails" in names
        assert "CUDA 11.4, call 2 of cuEventCreate fails" in names
        assert "CUSHIM_LIBCUDA" in runs[3]["errors"] or runs[3]["errors"] == ""
        text = run("matrix", *TWO, "--", careful, "-", "-", "1").rows
        assert "CUDA 13.0, each of 6 calls fails in turn  notices   exit code 1 in each\n" in text

    def test_gate_and_leaks_behind_an_error(careful):
        """They count if they are asked for; another leak counts always."""
        assert matrix(*TWO, "--", careful, "-", "leak", "1")
        runs = matrix(*TWO, "--check", "--", careful, "-", "leak", "1", code=FAILED)
        assert {one["fired"] for one in runs if one["result"] == "fails"} == {
            "cuEventCreate", "cuMemAlloc_v2", "cuMemsetD8Async", "cuCtxSynchronize"}
        matrix(*TWO, "--", PROGRAM, "left", code=FAILED)

    def test_own_options_of_the_gate(careful):
        """They go before what it stands for."""
        program = ("--", careful, "-", "-", "3")
        runs = matrix(*TWO, "--degrade", "3", "--fault-each=1", *program, code=FAILED)
        assert [one["code"] for one in runs if one["result"] == "fails"] == 2 * [77]
        assert "degrades" in {one["result"] for one in runs if one["fault"]}
        assert not [one for one in runs if "call 2 of" in one["name"]]
        assert matrix(*TWO, "--fault", "cuInit:slow=1", *program)


FALLBACK = """
#include <stdio.h>
#include <cushim/cushim.h>
#include <cushim/error.h>
#define NAME(code) cu->cuGetErrorName(code, &name), puts(name)
int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    const char *name = "";
    CUcontext context = NULL;
    CUdeviceptr memory = 0;
    CUresult code;
    if (cushim_init(cu) != CUSHIM_OK)
        return 77;
    if ((code = cu->cuCtxCreate_v2(&context, 0, 0)) == CUDA_SUCCESS) {
        code = cu->cuMemAlloc_v2(&memory, 64);
        WORK
        cu->cuMemFree_v2(memory);
        cu->cuCtxDestroy_v2(context);
    }
    if (code)
        SAY;
    return 0;
}
"""
DOES = ["cuCtxCreate_v2", "cuMemAlloc_v2"]
NEWER = "unsigned long long id; if (!code) code = cu->cuCtxGetId(context, &id);"

FAULTY = """
#include <cushim/cushim.h>
int main(void)
{
    const char *ptx = ".version 4.1\\n.target sm_30\\n.address_size 64\\n"
        ".visible .entry k() { .reg .b64 %a; mov.u64 %a, 64; st.global.u32 [%a], 1; ret; }";
    const struct cushim_api *cu = cushim_load(NULL);
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    if (cushim_init(cu) != CUSHIM_OK || cu->cuCtxCreate_v2(&context, 0, 0) ||
        cu->cuModuleLoadData(&module, ptx) || cu->cuModuleGetFunction(&kernel, module, "k"))
        return 77;
    cu->cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    cu->cuCtxSynchronize();
    cu->cuModuleUnload(module);
    return cu->cuCtxDestroy_v2(context) < 0;
}
"""

# It polls four times, or once if the file of its first argument is there.
POLLS = """
#include <fcntl.h>
#include <cushim/cushim.h>
int main(int count, char **words)
{
    const struct cushim_api *cu = cushim_load(NULL);
    CUcontext context;
    CUevent event = NULL;
    CUdeviceptr memory;
    int bad, polls;
    if (cushim_init(cu) != CUSHIM_OK || cu->cuCtxCreate_v2(&context, 0, 0))
        return 77;
    bad = cu->cuEventCreate(&event, 0) || cu->cuEventRecord(event, NULL);
    polls = bad ? 0 : open(words[1], O_CREAT | O_EXCL, 0600) < 0 ? 1 : 4;
    for (int i = 0; i < polls && !bad; i++)
        bad = cu->cuEventQuery(event) % CUDA_ERROR_NOT_READY != 0;
    if (event)
        cu->cuEventDestroy_v2(event);
    bad = bad || (count > 2 && polls == 1 && cu->cuMemAlloc_v2(&memory, 16));
    cu->cuCtxDestroy_v2(context);
    return bad;
}
"""

# It computes on the CPU in any case.
USELESS = """
#include <cushim/cushim.h>
int main(void)
{
    const char *ptx = ".version 4.1\\n.target sm_30\\n.address_size 64\\n"
        ".visible .entry k() { ret; }";
    const struct cushim_api *cu = cushim_load(NULL);
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr memory = 0;
    int version = 0, code = 0;
    if (cushim_init(cu) != CUSHIM_OK)
        return 0;
    cu->cuDriverGetVersion(&version);
    if (cu->cuDeviceGet(&code, 0))
        return 0;
    if (cu->cuCtxCreate_v2(&context, 0, 0))
        return 1;
    WORK
    return cu->cuCtxDestroy_v2(context) != 0;
}
"""

if "CUSHIM_STATIC" in os.environ:
    def test_a_kernel_that_ends_by_a_fault(tmp_path):
        """A program that takes no notice passes, but for --check."""
        program = compiled(tmp_path, FAULTY)
        matrix("--cuda", "12.4", "--", program, code=OK)
        one, = matrix("--cuda", "12.4", "--check", "--", program, code=FAILED)
        assert one["result"] == "fails" and "1 kernel ended by a fault" in one["errors"]
        matrix(*TWO, "--", program, code=FAILED)
        row, *_ = run("matrix", "--cuda", "12.4", "--check", "--", program).rows.splitlines()
        assert " kernel 'k', " in row and without_places(row).endswith(
            "1 kernel ended by a fault")

    def test_rows_of_one_fault_of_a_kernel(tmp_path):
        """Whatever the exit code is, and while the program calls; of another line it is another
        row. Each has what launched the kernel."""
        ptx = ('.file 1 \\"a.cu\\"\\n.visible .entry k() {\\n.reg .b32 %r; .shared .align 4 .b8 '
               's[4];\\n.loc 1 %d 1\\nld.shared.u32 %r, [s]; st.shared.u32 [s], %r; ret; }";')
        head, rest = FAULTY.split(".visible")
        text = head.replace("ptx", "form") + ptx.replace("%r", "%%r") + rest.split("}\";", 1)[1]
        text = "#include <stdio.h>\n" + text.replace(
            "if (cushim_init(cu) != CUSHIM_OK ||", "char ptx[512]; int version, code;"
            "if (cushim_init(cu) != CUSHIM_OK || cu->cuDriverGetVersion(&version) ||"
            "snprintf(ptx, sizeof ptx, form, version < 11000 ? 8 : 7) < 0 ||").replace(
            "cu->cuCtxSynchronize();", "while (cu->cuStreamQuery(NULL)) ; code = version >= 12000;")
        text = text.replace("(context) < 0", "(context) || code")
        program = compiled(tmp_path, text)
        rows = run("matrix", "--cuda", "12.4,11.4,11.2,10.2,9.0", "--check=init", "--", program)
        one, other, _ = rows.rows.splitlines()
        assert one.startswith("CUDA 12.4 to 11.2  fails  cuLaunchKernel at a+0x")
        assert other.startswith("CUDA 10.2 to 9.0   fails  the check found: cuLaunchKernel at a+")
        assert "a.cu:7 (PTX" in one and "a.cu:8 (PTX" in other

    def test_a_race(tmp_path):
        """Its row is no word against a release; no call is made to fail then, which is told."""
        text = FAULTY.replace(".reg .b64 %a; mov.u64 %a, 64; st.global.u32 [%a], 1;",
                              ".shared .align 4 .b8 s[4]; .reg .b32 %t; mov.u32 %t, %tid.x; "
                              "st.shared.u32 [s], %t;").replace("1, 1, 1, 1, 1, 1, 0",
                                                                "1, 1, 1, 64, 1, 1, 0")
        program = compiled(tmp_path, text)
        first, other, *_, totals = run("matrix", *TWO, "--", program).rows.splitlines()
        assert first.startswith("CUDA 11.4") and ": race: kernel 'k', " in first
        assert first.endswith("nothing orders the two, which may show under any release")
        assert other.split(maxsplit=2)[2] == "fails     same as CUDA 11.4"
        assert totals.endswith(
            "2 fails (no call was made to fail, since it passes under no release)")

    def test_behind_the_end_of_shared_memory(tmp_path):
        """A device takes what is rounded up; the checks do not."""
        text = FAULTY.replace("mov.u64 %a, 64; st.global.u32 [%a], 1;",
                              ".shared .align 4 .b8 s[1020]; st.shared.u32 [s+SIZE], 1;")
        for place, code in (1016, OK), (1020, FAILED):
            program = compiled(tmp_path, text.replace("SIZE", str(place)))
            matrix("--cuda", "12.4", "--check", "--", program)
            matrix("--cuda", "12.4", "--check=sync", "--", program, code=code)

    def test_what_ended_a_kernel_comes_first(tmp_path):
        """Before what the checks said of it earlier."""
        text = FAULTY.replace("mov.u64 %a, 64;", ".reg .b32 %r; .shared .align 4 .b8 s[4]; "
                              "ld.shared.u32 %r, [s]; mov.u64 %a, 64;")
        text = text.replace(", 1; ret", ", %r; ret")
        program = compiled(tmp_path, text)
        one, = matrix("--cuda", "12.4", "--check=init", "--", program, code=FAILED)
        assert one["errors"].index("init: kernel") < one["errors"].index("no live memory")
        row, *_ = run("matrix", "--cuda", "12.4", "--check=init", "--", program).rows.splitlines()
        assert "no live memory at 0x40" in row and "init: kernel" not in row

    @pytest.mark.parametrize("work, says, red", [
        ("", 'fprintf(stderr, "on the CPU: error %d\\n", code)', set()),
        ("", "NAME(code)", set()),
        ("", 'puts("cuCtxCreate_v2, cuMemAlloc_v2")', {*DOES}),
        ("", 'fprintf(stderr, "error %d\\n", code), abort()', set()), ("", "abort()", {*DOES}),
        ("", "(void)0", {*DOES}),
        ("cu->cuMemsetD8(memory, 0, 64);", "NAME(code)",
         {"cuMemAlloc_v2", "cuMemsetD8_v2"}),
        (NEWER, "puts(cushim_last_error())", {*DOES}), (NEWER, 'printf("result=%d", code)', set()),
        (NEWER, "(void)0", {None, *DOES}),
    ])
    def test_a_program_that_goes_on_without(tmp_path, work, says, red):
        """It may end with 0 if it told the error, and did no more work: not only the call's name,
        which may be a trace."""
        program = compiled(tmp_path, FALLBACK.replace("WORK", work).replace("SAY", says))
        runs = matrix(*TWO, "--idle", "--", program, code=FAILED if red else OK)
        assert {one["fired"] for one in runs if one["result"] in ("fails", "crashes")} == red
        assert not red or "notices" not in {one["result"] for one in runs if one["fired"] in red}

    def test_a_program_that_compares_the_result_of_what_is_missing(tmp_path):
        """It rightly does without, which --survives tells; each report names that."""
        program = compiled(tmp_path, FALLBACK.replace("WORK", """
            unsigned long long id;
            if (!code && cu->cuCtxGetId(context, &id) == CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER)
                id = 0; // without""").replace("SAY", "NAME(code)"), flags=["-g"])
        line = (tmp_path / "a.c").read_text().partition("// without")[0].count("\n")
        files = [tmp_path / name for name in ("b.xml", "b.md")]
        words = ("matrix", *TWO, "--idle", "--junit", files[0], "--markdown", files[1])
        result = run(*words, "--github", "--", program)
        row = "called what the driver lacks; cuCtxGetId is not available: "
        advice = "if the program rightly does without: --survives cuCtxGetId"
        assert result.code == FAILED and row in without_places(result.rows)
        assert result.rows.count(advice) == 2 and result.rows.endswith(f"\n{advice}\n")
        assert f"%0A{advice}\n" in result.rows and f"; {advice}<" in files[0].read_text()
        assert "\nif the program rightly does without: `--survives cuCtxGetId`\n" in \
            files[1].read_text()
        for survived, code in (("cuCtxGetId", OK), (f"cuCtxGetId@a.c:{line}", OK),
                               (f"cuCtxGetId@a.c:{line + 1}", FAILED), ("cuCtxCreate", FAILED)):
            result = run(*words, "--survives", survived, "--", program)
            assert (result.code, advice in result.rows) == (code, code == FAILED), result.rows

    def test_what_does_without_need_not_fail(tmp_path):
        """Where the program need not work, it ends with 0 and tells of a call that failed."""
        program = compiled(tmp_path, FALLBACK.replace("WORK", """
            int version = 0;
            cu->cuDriverGetVersion(&version);
            if (!code && version < 12000)
                code = cu->cuMemcpyDtoH_v2(&version, 16, 4);""").replace("SAY", "NAME(code)"))
        rows = run("matrix", "--strict", "--cuda", "11.4,12.4", "--works", "12.0+", "--",
                   program).rows
        assert without_places(rows.splitlines()[0]) == "CUDA 11.4  degrades  exit code 0, and it " \
            "said why; cuMemcpyDtoH_v2: 1 CUDA_ERROR_INVALID_VALUE"

    def test_cushim_in_a_linked_program(tmp_path):
        """It is there to start without a driver."""
        stub(tmp_path)
        program = compiled(tmp_path, "#include <cushim/cushim.h>\nCUresult cuInit(unsigned);\n"
                           "int main(void) { cuInit(0); return cushim_init(cushim_load(NULL)) ? 77 "
                           ": 0; }\n", link=[tmp_path / "libcuda.so.1"])
        *_, without, _late, _reorder = matrix(*TWO, "--", program, code=FAILED)
        assert (without["name"], without["result"]) == ("no driver", "not run")

    def test_a_call_that_fails_by_itself(tmp_path):
        """With --strict, if the run ends with 0, and it is no answer to a question."""
        text = FAULTY.replace("cu->cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL)",
                              "cu->cuMemFree_v2(4)").replace("cu->cuCtxSynchronize()", "WHAT")
        program = compiled(tmp_path, text.replace("WHAT", "0"))
        one, = matrix("--cuda", "12.4", "--", program)
        assert (one["result"], one["fired"]) == ("passes", "cuMemFree_v2")
        result = run("matrix", "--strict", "--cuda", "12.4", "--", program)
        assert result.code == FAILED and "exit code 0 though cuMemFree_v2 failed" in result.rows
        matrix("--strict", "--cuda", "12.4", "--survives", "cuMemFree", "--", program)
        text = text.replace("cu->cuMemFree_v2(4)", "0")
        for asks in ('cu->cuModuleGetGlobal_v2(&(CUdeviceptr){0}, NULL, module, "none")',
                     "cu->cuDeviceGet(&(CUdevice){0}, 99)"):
            matrix("--strict", "--cuda", "12.4", "--",
                   compiled(tmp_path, text.replace("WHAT", asks)))

    def test_what_to_do_about_a_missing_wait(tmp_path):
        """An annotation tells it, also of a program that leaves things behind at a wrong result."""
        program = compiled(tmp_path, "#include <unistd.h>" + FALLBACK.replace("WORK", """
            int *host = NULL;
            if (!code && !(code = cu->cuMemAllocHost_v2((void **)&host, 4)) &&
                !(code = cu->cuMemsetD32_v2(memory, 7, 1)))
                code = cu->cuMemcpyDtoHAsync_v2(host, memory, 4, NULL);
            usleep(20000);
            if (!code && *host != 7)
                return 1;
            cu->cuMemFreeHost(host);""").replace("SAY", "NAME(code)"))
        notes = []
        for _ in range(5):  # plainly it passes mostly
            rows = run("matrix", *TWO, "--github", "--", program).rows
            notes += [row for row in rows.splitlines() if "queued work runs late" in row and
                      row.startswith("::error")]
            if notes:
                break
        note, = notes
        assert "; the check found: leaked " in note and note.endswith(
            "%0Athe result of this call was used, or its memory given back, before it was done: "
            "call cuStreamSynchronize behind it, or cuEventSynchronize for an event that is "
            "recorded there")

    def test_what_sets_null_releases(tmp_path):
        """By its argument: the other call of the same entry fails, and so it does not fail."""
        program = compiled(tmp_path, """#include <stdio.h>
            #include <cushim/cushim.h>
            int main(void)
            {
                const struct cushim_api *cu = cushim_load(NULL);
                CUcontext context, before;
                if (cushim_init(cu) || cu->cuDevicePrimaryCtxRetain(&context, 0))
                    return 77;
                cu->cuCtxSetCurrent(NULL);
                if (cu->cuCtxSetCurrent(context) || cu->cuCtxPushCurrent(context))
                    return 1;
                cu->cuCtxPopCurrent(&before);
                cu->cuCtxSetCurrent(NULL);
                return cu->cuDevicePrimaryCtxRelease(0) != 0;
            }""")
        runs = matrix("--gate", "--idle", "--cuda", "12.4", "--", program)
        assert sorted(one["fault"].split(",")[0] for one in runs if one["fault"]) == [
            "cuCtxPushCurrent_v2:call=1", "cuCtxSetCurrent:call=2",
            "cuDevicePrimaryCtxRetain:call=1", "late", "reorder"]

    @pytest.mark.parametrize("words, result", [
        ("cu->cuGetErrorString(code, &text)", "notices"), ("text = \"no memory\"", "fails")])
    def test_the_driver_s_own_words_tell_an_error(tmp_path, words, result):
        program = compiled(tmp_path, f"""#include <stdio.h>
            #include <cushim/cushim.h>
            int main(void)
            {{
                const struct cushim_api *cu = cushim_load(NULL);
                const char *text = "";
                CUcontext context;
                CUdeviceptr memory;
                if (cushim_init(cu) || cu->cuDevicePrimaryCtxRetain(&context, 0) ||
                    cu->cuCtxSetCurrent(context))
                    return 77;
                CUresult code = cu->cuMemAlloc(&memory, 64);
                if (code) {{
                    {words};
                    printf("on the CPU: %s\\n", text);
                }} else if (cu->cuMemFree(memory)) {{
                    return 1;
                }}
                return cu->cuDevicePrimaryCtxRelease(0) != 0;
            }}""")
        runs = matrix("--strict", "--fault-each", "--cuda", "12.4", "--", program,
                      code=OK if result == "notices" else FAILED)
        assert [one["result"] for one in runs if "cuMemAlloc" in str(one["fault"])] == [result]

    @pytest.mark.parametrize("end", ["0", "1"])
    def test_refused_ptx_where_it_need_not_work(tmp_path, end):
        """A release that --works does not name may refuse the kernel."""
        program = compiled(tmp_path, f"""#include <stdio.h>
            #include <cushim/cushim.h>
            int main(void)
            {{
                const struct cushim_api *cu = cushim_load(NULL);
                CUcontext context;
                CUmodule module;
                CUdeviceptr memory;
                if (cushim_init(cu) || cu->cuDevicePrimaryCtxRetain(&context, 0) ||
                    cu->cuCtxSetCurrent(context) || cu->cuMemAlloc(&memory, 64) ||
                    cu->cuMemsetD8(memory, 0, 64) || cu->cuMemFree(memory))
                    return 77;
                CUresult code = cu->cuModuleLoadData(&module,
                    ".version 8.0\\n.target sm_50\\n.address_size 64\\n.entry k() {{ ret; }}");
                if (code)
                    printf("on the CPU: %d\\n", (int)code);
                else if (cu->cuModuleUnload(module))
                    return 1;
                return cu->cuDevicePrimaryCtxRelease(0) ? 1 : code ? {end} : 0;
            }}""")
        runs = matrix("--strict", "--works", "12.0+", "--cuda", "11.4,12.4", "--", program)
        assert [one["result"] for one in runs] == ["degrades", "passes"]
        matrix("--strict", "--cuda", "11.4,12.4", "--", program, code=FAILED)

    def test_a_query_fails_too(tmp_path):
        """A loop that waits for an event hangs if it takes each failure for "not yet"."""
        text = FAULTY.replace("st.global.u32 [%a], 1; ", "").replace(
            "cu->cuCtxSynchronize();", "CUevent event; cu->cuEventCreate(&event, 0);"
            "cu->cuEventRecord(event, NULL); while (cu->cuEventQuery(event)); "
            "cu->cuEventDestroy_v2(event);")
        program = compiled(tmp_path, text)
        runs = matrix("--cuda", "12.4", "--timeout", "2", "--fault-each", "--", program,
                      code=FAILED)
        assert "cuEventQuery" in [one["fired"] for one in runs]

    @pytest.mark.parametrize("work, call", [
        ("", ""), ("cu->cuDeviceGetAttribute(&code, 9999, 0);", ""),
        ("if (cu->cuModuleLoadData(&module, ptx)) return 1;"
         'cu->cuModuleGetFunction(&kernel, module, "none"); cu->cuModuleUnload(module);',
         "cuModuleGetFunction"),
        ("if (version >= 13000) cu->cuModuleGetFunction(&kernel, NULL, 0);", "cuModuleGetFunction"),
        ("if (version > 20000) cu->cuMemsetD8(memory, 0, 64);", ""), ("0;", "cuDeviceGet"),
        ("cu->cuMemsetD8(memory, 0, 64); cu->cuModuleGetFunction(&kernel, NULL, 0);", None)])
    def test_a_program_that_does_nothing_on_the_gpu(tmp_path, work, call):
        """The gate is red, but for --idle, and names a call that failed by itself."""
        text = USELESS.replace("WORK", work)
        if call == "cuDeviceGet":
            text = text.replace("cushim_init(cu) != CUSHIM_OK", "!cu")
        program = compiled(tmp_path, text)
        files = [tmp_path / name for name in ("b.xml", "b.md")]
        words = ("matrix", *TWO, "--survives", "cuMemsetD8,cuModuleGetFunction", "--junit",
                 files[0], "--markdown", files[1], "--github")
        result, idle = (run(*words, *more, "--", program) for more in ([], ["--idle"]))
        told = "no run launched a kernel, copied or filled memory"
        assert (idle.code, told in idle.rows) == (OK, False)
        assert result.code == (OK if call is None else FAILED), result.rows
        assert (told in result.rows) == (call is not None)
        if call is None:
            return
        result = run(*words, "--", program)
        told = result.rows.splitlines()[-1]
        assert told.startswith("no run launched ") and \
            told.endswith(": if the program need not, add --idle")
        assert (f" ({call} failed at a+0x" in told) == bool(call)
        assert f"::error title=all runs::{told}\n" in result.rows
        assert files[1].read_text().splitlines()[2] == told
        suite = xml.parse(files[0]).getroot()
        assert suite.get("failures") == "1" and suite.get("tests") == str(len(suite))
        assert suite[-1].find("failure").get("message") == told
        assert run(*words, "--json", "--", program).json()["note"] == told
        assert told not in run("matrix", *TWO[1:], "--", program).rows

    def test_a_query_that_is_not_made_again(tmp_path):
        """How often a program polls differs from run to run: a rule of the command's own that never
        fired is no failure, and a run that passes so is left out; a leak in it is told, and so is a
        rule of the user."""
        program = compiled(tmp_path, POLLS)
        each = ("--gate", "--idle", "--cuda", "12.4", "--jobs", "1", "--", program)
        runs = matrix(*each, tmp_path / "first")
        assert {one["name"] for one in runs if one["fault"] and "Event" in one["name"]} == {
            "CUDA 12.4, cuEventCreate fails", "CUDA 12.4, cuEventRecord fails",
            "CUDA 12.4, cuEventQuery fails"}
        *_, one = matrix(*each, tmp_path / "second", "leaks", code=FAILED)
        assert (one["name"], one["result"], one["code"], one["fired"]) == (
            "CUDA 12.4, call 4 of cuEventQuery fails", "fails", INPUT, None)
        rows = run("matrix", *each, tmp_path / "third", "leaks").rows
        assert "left to the end of a context" in rows and "never fired" not in rows
        matrix("--cuda", "12.4", "--check", "--fault", "cuEventQuery:call=9,error=1", "--", program,
               tmp_path / "fourth", code=FAILED)

    def test_the_table_has_each_abi(tmp_path):
        """Its slot of a plain symbol is no wrong ABI on a driver that has no cuGetProcAddress."""
        text = FAULTY.replace("st.global.u32 [%a], 1; ", "").replace(
            "cu->cuLaunchKernel(", "cu->cuStreamBeginCapture_v1(CU_STREAM_LEGACY); "
            "cu->cuLaunchKernel(")
        program = compiled(tmp_path, text)
        one, = matrix("--fault", "wrong-abi", "--cuda", "10.0", "--", program)
        assert one["call"] == "cuStreamBeginCapture: 900 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"
