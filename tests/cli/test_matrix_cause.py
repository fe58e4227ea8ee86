# SPDX-License-Identifier: MIT
"""`cushim matrix`: which cause a row has: a number that is no error, a run beside others, a rule
that never fired, what is left behind an error that the program ignores."""

import pathlib
import re
import shlex

import pytest
from command import CLI, FAILED, OK, run
from simulated import PROGRAM, compiled, matrix, nothing_is_left  # noqa: F401

IGNORES = """
#include <stdio.h>
#include <cushim/cushim.h>
static int work(const struct cushim_api *cu)
{
    CUcontext context;
    CUdeviceptr memory;
    unsigned host[4];
    return cu->cuCtxCreate_v2(&context, 0, 0) || cu->cuMemAlloc_v2(&memory, 16) ||
        cu->cuMemsetD32_v2(memory, 1, 4) || cu->cuMemcpyDtoH_v2(host, memory, 16) ||
        cu->cuMemFree_v2(memory) || cu->cuCtxDestroy_v2(context);
}
int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    if (cushim_init(cu) != CUDA_SUCCESS)
        return 77;
    if (work(cu))
        puts("error");
    return 0;
}
"""


@pytest.mark.parametrize("words, told", [
    ("999", True), ("it is 999, in f", True), ("Error 999 in f", True), ("status: 999 in f", True),
    ("failed (999 in f)", True), ("result=999 in f", True), ("cuInit: 999 in f", True),
    ("CUDA 999 in f", True), ("999 wrong", False), ("sum is off: 999 values differ", False)])
def test_a_number_that_is_no_error(words, told):
    """But a count of what is wrong, as a self-test prints it."""
    script = f"'{CLI}' info --init >/dev/null 2>&1; echo {shlex.quote(words)}; exit 3"
    one, = matrix("--cuda", "12.4", "--fault", "cuInit:error=999", "--", "sh", "-c", script,
                  code=OK if told else FAILED)
    assert one["result"] == ("notices" if told else "fails")


def test_a_run_beside_others(tmp_path):
    """It fails for what the others do, as to a file: no wait is missing, which looks the same."""
    words = "it passes when no other run is beside it: does it write a file of a fixed name, or " \
        "use a port? --jobs=1"
    lock = tmp_path / "lock"
    script = f"mkdir {lock} 2>/dev/null || {{ echo busy; exit 3; }}; '{PROGRAM}' codes 0 1 1; " \
        f"code=$?; sleep 0.1; rmdir {lock}; [ $code = 0 ] || exit 77"
    gate = ("--gate", "--survives", "cuMemAlloc", "--idle", "--fault-each=1", "--cuda",
            "12.4,13.0,13.5")
    runs = [one for one in matrix(*gate, "--jobs", "6", "--", "sh", "-c", script, code=FAILED)
            if one["result"] == "fails" and one["name"] != "no driver"]
    assert runs
    for one in runs:
        assert one["why"] == f'exit code 3; {words}; "busy"'
    matrix(*gate, "--jobs", "1", "--", "sh", "-c", script)
    rows = run("matrix", "--cuda", "12.4,13.0", "--jobs", "2", "--", "sh", "-c", "exit 3").rows
    assert "no other run" not in rows


def test_a_rule_that_never_fired():
    """It is told, and red with --strict, as with --check."""
    fault = ("--cuda", "12.4,13.0", "--fault", "cuMemAlloc:call=9,error=2")
    program = ("--", PROGRAM, "codes", "0", "1", "1")
    told = "the rule cuMemAlloc:call=9,error=2 never fired"
    result = run("matrix", *fault, *program)
    assert (result.code, result.rows.splitlines()[0].split(maxsplit=3)[3]) == (
        OK, f"13.0  passes  {told}") or result.rows.splitlines()[0].endswith(f"passes  {told}")
    for option in "--strict", "--check":
        result = run("matrix", option, *fault, *program)
        assert result.code == FAILED and f"the check found: {told}\n" in result.rows
    matrix("--strict", "--cuda", "12.4", "--fault", "cuInit:slow=1", *program)


def test_what_is_left_behind_an_ignored_error(tmp_path):
    """All calls of one list may survive; that memory stays allocated then is told."""
    program = compiled(tmp_path, IGNORES, flags=("-g",))
    gate = ("matrix", "--gate", "--cuda", "12.4")
    names = "cuCtxCreate_v2,cuMemAlloc_v2,cuMemsetD32_v2,cuMemcpyDtoH_v2"
    words = f"--survives {names}, but what it leaves behind then stays a failure"
    rows = " ".join(run(*gate, "--", program).rows.split())
    assert f"if the program rightly goes on: {words}" in rows
    result = run(*gate, "--survives", names, "--", program)
    assert result.code == FAILED and "fails     the check found: le" in result.rows


EXAMPLES = pathlib.Path(CLI).parents[1] / "docs/examples"


@pytest.mark.parametrize("program", sorted(EXAMPLES.glob("example-saxpy")) +
                         sorted(EXAMPLES.glob("example-timed_graph")))
def test_owners(program):
    """What a destructor of cushim.hpp calls is nothing that the program went on with."""
    result = run("matrix", "--gate", "--quiet", "--cuda", "10.0+", "--", program)
    assert result.code == OK, result.out


CALLBACK = """
#include <cushim/cushim.h>
static const struct cushim_api *cu;
static CUdeviceptr memory;
static void CUDA_CB release(void *user)
{
    (void)user;
    cu->cuMemFree_v2(memory);
}
int main(void)
{
    CUcontext context;
    cu = cushim_load(NULL);
    if (cushim_init(cu) != CUDA_SUCCESS)
        return 77;
    return cu->cuCtxCreate_v2(&context, 0, 0) || cu->cuMemAlloc_v2(&memory, 16) ||
        cu->cuLaunchHostFunc(NULL, release, NULL) || cu->cuCtxSynchronize() ||
        cu->cuCtxDestroy_v2(context);
}
"""


def test_a_call_within_a_callback(tmp_path):
    """It fails, which is why memory is left: it is the cause, and the place."""
    program = compiled(tmp_path, CALLBACK, flags=("-g",))
    one, *_ = matrix("--gate", "--idle", "--fault-each=1", "--cuda", "12.4", "--", program,
                     code=FAILED)
    words, = [line for line in CALLBACK.splitlines() if "cuMemFree_v2" in line]
    line = CALLBACK.splitlines().index(words) + 1
    assert re.match(rf"cuMemFree_v2 failed at \S+:{line} \(release\) with "
                    r"800 CUDA_ERROR_NOT_PERMITTED, not allowed in a callback, then the check "
                    r"found: left to the end of a context: 16 bytes of memory in 1 block, made by "
                    r"cuMemAlloc_v2 at \S+ \(main\)$", one["why"])
    assert one["place"].endswith(f":{line} (release)")
