# SPDX-License-Identifier: MIT
"""`cushim matrix`: calls that fail in turn, what the check finds in runs that go wrong, and codes
of shells."""

import os
import re
import shlex
import subprocess
import xml.etree.ElementTree as xml

import pytest
from command import CLI, FAILED, OK, USAGE, run
from simulated import PROGRAM, compiled, matrix, nothing_is_left, sim, without_places  # noqa: F401

# It takes no notice of the failure of the call that its first argument names, and leaks if the
# second is "leak" and it took notice of another. Its exit code is 77 then, or the third.
CAREFUL = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cushim/cushim.h>
static const char *ignored;
static int bad(const char *name, CUresult code)
{
    return code != 0 && strcmp(name, ignored) != 0;
}
#define BAD(name, ...) bad(#name, cu->name(__VA_ARGS__))
int main(int count, char **words)
{
    const struct cushim_api *cu = cushim_load(NULL);
    CUcontext context = NULL;
    CUevent events[2] = {NULL, NULL};
    CUdeviceptr memory = 0;
    int leaks = strcmp(words[2], "leak") == 0, wrong = 1;
    ignored = words[1];
    if (cushim_init(cu) != CUSHIM_OK)
        return 77;
    if (BAD(cuCtxCreate_v2, &context, 0, 0))
        return atoi(words[3]);
    if (!BAD(cuEventCreate, &events[0], 0) && !BAD(cuEventCreate, &events[1], 0) &&
        !BAD(cuMemAlloc_v2, &memory, 64) && !BAD(cuMemsetD8Async, memory, 0, 64, NULL) &&
        !BAD(cuCtxSynchronize))
        wrong = 0;
    cu->cuCtxSynchronize();
    if (wrong && leaks)
        return atoi(words[3]);
    cu->cuMemFree_v2(memory);
    for (int i = 0; i < 2; i++)
        if (events[i])
            cu->cuEventDestroy_v2(events[i]);
    cu->cuCtxDestroy_v2(context);
    return wrong ? atoi(words[3]) : 0;
}
"""

# Two streams of its own; the end ignores the results of its waits.
WAITS = """
#include <string.h>
#include <cushim/cushim.h>
int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    CUstream one = NULL, two = NULL;
    CUcontext context = NULL;
    CUevent event = NULL;
    CUdeviceptr memory = 0;
    CUresult code;
    char bytes[64] = "";
    if (cushim_init(cu) != CUSHIM_OK)
        return 77;
    if (cu->cuCtxCreate_v2(&context, 0, 0))
        return 1;
    if ((code = cu->cuStreamCreate(&one, 1)) || (code = cu->cuStreamCreate(&two, 1)) ||
        (code = cu->cuEventCreate(&event, 0)) || (code = cu->cuMemAlloc_v2(&memory, 128)))
        goto out;
    WORK
out:
    if (one)
        cu->cuStreamSynchronize(one);
    if (two)
        cu->cuStreamSynchronize(two);
    cu->cuMemFree_v2(memory);
    if (event)
        cu->cuEventDestroy_v2(event);
    if (two)
        cu->cuStreamDestroy_v2(two);
    if (one)
        cu->cuStreamDestroy_v2(one);
    cu->cuCtxDestroy_v2(context);
    return code != 0;
}
"""
FILLS = """
    if ((code = cu->cuMemsetD8Async(memory, 1, 64, one)) || JOINS
        (code = cu->cuMemsetD8Async(memory + 64, 2, 64, two)))
        goto out;
"""
JOINED = FILLS.replace("JOINS", "(code = cu->cuEventRecord(event, one)) ||"
                       "(code = cu->cuStreamWaitEvent(two, event, 0)) ||")
FILLS = FILLS.replace("JOINS", "")

# The error of the fill is ignored, and that of the first of two jobs is not.
IGNORES = """
    cu->cuMemsetD8Async(memory, 1, 64, one);
    BETWEEN
    (code = cu->cuMemcpyDtoH_v2(bytes, memory, 64)) || (code = bytes[5] != 1);
"""
JOBS = """
    const char *name;
    CUresult first = code = cu->cuMemsetD8Async(memory, 1, 64, one);
    if (first) {
        SAY;
        cu->cuEventDestroy_v2(event);
        event = NULL;
    }
    (code = cu->cuMemcpyDtoH_v2(bytes, memory, 64)) || (code = first);
"""

EACH = ("--cuda", "12.4", "--fault-each", "--degrade", "77")
DOES = ["cuCtxCreate_v2", "cuEventCreate", "cuMemAlloc_v2", "cuMemsetD8Async", "cuCtxSynchronize"]


if "CUSHIM_STATIC" in os.environ:  # not in a build with sanitizers, which programs link as well
    @pytest.fixture(name="careful", scope="module")
    def careful_fixture(tmp_path_factory):
        return compiled(tmp_path_factory.mktemp("careful"), CAREFUL)

    def test_each_call_fails_once(careful):
        """Under the newest and the oldest release that it passes; not what only asks or releases,
        and no wait for nothing."""
        each = ("--cuda", "11.2,9.0,12.4", "--fault-each", "--degrade", "77")
        runs = matrix(*each, "--strict", "--check", "--", careful, "-", "-", "1")
        plain, runs = runs[:3], runs[3:]
        assert {(one["result"], one["fault"]) for one in plain} == {("passes", None)}
        assert [one["fired"] for one in runs] == DOES + DOES
        assert [one["cuda"] for one in runs] == 5 * ["12.4"] + 5 * ["9.0"]
        assert {one["result"] for one in runs} == {"notices"}
        assert [one["fault"] for one in runs][2:5] == [
            "cuMemAlloc_v2:call=1,error=OUT_OF_MEMORY", "cuMemsetD8Async:call=1,error=UNKNOWN",
            "cuCtxSynchronize:call=1,after,error=LAUNCH_FAILED"]
        assert runs[2]["name"] == "CUDA 12.4, cuMemAlloc_v2 fails"
        assert {one["went_on"] for one in runs} == {None}

    def test_more_calls(careful):
        runs = matrix("--cuda", "12.4", "--fault-each=2", "--degrade", "77", "--strict", "--",
                      careful, "-", "-", "1")[1:]
        assert [one["name"] for one in runs if one["fired"] == "cuEventCreate"] == [
            "CUDA 12.4, cuEventCreate fails", "CUDA 12.4, call 2 of cuEventCreate fails"]
        assert len(runs) == len(DOES) + 1, "the second wait had nothing to wait for"

    @pytest.mark.parametrize("work, ignored", [
        (FILLS + "(code = cu->cuStreamSynchronize(one)) || (code = cu->cuStreamSynchronize(two));",
         None),
        (FILLS + "code = cu->cuStreamSynchronize(one);", "call 3 of cuStreamSynchronize"),
        (FILLS + "code = cu->cuCtxSynchronize();", None),
        (FILLS + "cu->cuStreamSynchronize(one); code = cu->cuStreamSynchronize(two);", None),
        (FILLS + "cu->cuCtxSynchronize(); code = cu->cuMemcpyDtoH_v2(bytes, memory, 64);", None),
        (FILLS + "cu->cuCtxSynchronize();", "cuCtxSynchronize"),
        (JOINED + "code = cu->cuStreamSynchronize(two);", None),
        (FILLS + """
            while ((code = cu->cuStreamQuery(one)) == CUDA_ERROR_NOT_READY);
            if (code) goto out;
            while ((code = cu->cuStreamQuery(two)) == CUDA_ERROR_NOT_READY);""", None),
        (JOINED + """
            if ((code = cu->cuEventRecord(event, two))) goto out;
            while ((code = cu->cuEventQuery(event)) == CUDA_ERROR_NOT_READY);""", None)])
    def test_waits_of_streams(tmp_path, work, ignored):
        """One that has nothing to wait for is not made to fail; one stream is not the other. Behind
        one that fails the next call that acts fails, too."""
        program = compiled(tmp_path, WAITS.replace("WORK", work))
        runs = matrix("--cuda", "12.4", "--fault-each=2", "--degrade", "77", "--strict", "--",
                      program, code=FAILED if ignored else OK)
        assert [one["name"] for one in runs if one["result"] == "fails"] == \
            ([f"CUDA 12.4, {ignored} fails"] if ignored else [])

    def test_a_wait_for_nothing_in_its_own_run(tmp_path):
        """As with threads, of which each run has another order: nothing is tried."""
        program = compiled(tmp_path, "#include <fcntl.h>\n" + WAITS.replace(
            "main(void)", "main(int count, char **words)").replace("WORK", """
            if (open(words[1], O_CREAT | O_EXCL, 0600) >= 0)
                code = cu->cuMemsetD8Async(memory, 1, 64, one);"""))
        runs = matrix(*EACH, "--strict", "--jobs", "1", "--", program, tmp_path / "first")
        assert not [one for one in runs if "Synchronize" in one["name"]]

    def test_a_query_fails_when_the_work_has_ended(tmp_path):
        """Then the result is right although nobody takes notice."""
        program = compiled(tmp_path, WAITS.replace("int main", """
            static volatile int done;
            static void end(void *user) { usleep(5000); done = 1; }
            int main""").replace("#include", "#include <unistd.h>\n#include", 1).replace("WORK", """
            if ((code = cu->cuLaunchHostFunc(one, end, NULL)) ||
                (code = cu->cuEventRecord(event, one)))
                goto out;
            while (cu->cuEventQuery(event) == CUDA_ERROR_NOT_READY)
                ;
            code = !done;"""))
        runs = matrix(*EACH, "--strict", "--", program, code=FAILED)
        assert [one["fired"] for one in runs if one["result"] == "fails"] == ["cuEventQuery"]

    @pytest.mark.parametrize("work, went_on", [
        (IGNORES.replace("BETWEEN", "cu->cuCtxGetCurrent(&context); cu->cuStreamSynchronize(one);"),
         "cuMemcpyDtoH_v2"),
        (IGNORES.replace("BETWEEN", "cu->cuEventDestroy_v2(event); event = NULL;"
                         "cu->cuStreamSynchronize(one);"), "cuMemcpyDtoH_v2"),
        (IGNORES.replace("BETWEEN", 'puts("error 999"); cu->cuCtxGetCurrent(&context);') +
         "code = 0;", "cuMemcpyDtoH_v2"),
        (JOBS.replace("SAY", "cu->cuProfilerStop(); goto out"), None),
        (JOBS.replace("SAY", 'printf("error %d\\n", first)'), None),
        (JOBS.replace("SAY", 'puts(cu->cuGetErrorName(first, &name) ? "" : name)'), None),
        (JOBS.replace("SAY", "puts(cushim_error_name(first))"), None),
        (JOBS.replace("SAY", 'printf("error %d\\n%5000d\\n", first, 0)'), None),
        (JOBS.replace("SAY", 'puts("the fill failed")'), "cuMemcpyDtoH_v2"),
        ("""
    code = cu->cuMemsetD8Async(memory, 7, 64, one);
    CUresult then = cu->cuMemcpyDtoH_v2(bytes, memory, 64);
    printf("error %d\\n", code = code ? code : then);
""", None),
        (JOBS.replace("SAY", "goto out"), None)])
    def test_behind_a_call_that_failed(tmp_path, work, went_on):
        """A wait, a release and a question are not what the program went on with, but what comes
        behind them is, unless the program told the error and cleaned up."""
        program = compiled(tmp_path, "#include <stdio.h>\n#include <cushim/error.h>\n" +
                           WAITS.replace("WORK", work))
        runs = matrix(*EACH, "--strict", "--", program, code=FAILED if went_on else OK)
        assert [(one["fired"], one["went_on"]) for one in runs if one["result"] == "fails"] == \
            ([("cuMemsetD8Async", went_on)] if went_on else [])

    @pytest.mark.parametrize("ignored, words", [
        ("cuEventCreate",
         "cuEventCreate failed, the program went on with cuMemAlloc_v2, then exit code 0"),
        ("cuMemAlloc_v2",
         "cuMemAlloc_v2 failed, the program went on with cuMemsetD8Async, then exit code 1"),
        ("cuMemsetD8Async", "exit code 0 though cuMemsetD8Async failed"),
        ("cuCtxSynchronize", "exit code 0 though cuCtxSynchronize failed")])
    def test_failures_of_which_nobody_takes_notice(careful, tmp_path, ignored, words):
        """They are marked in each report, and are failures with --strict; not if that may be."""
        program = ("--", careful, ignored, "-", "1")
        files = [tmp_path / name for name in ("a.xml", "a.md")]
        runs = {one["fired"]: one for one in matrix(*EACH, "--junit", files[0], "--markdown",
                                                    files[1], *program)}
        one = runs[ignored]
        assert one["result"] == ("passes" if "code 0" in words else "notices")
        assert (one["went_on"] is None) == (ignored in ("cuCtxSynchronize", "cuMemsetD8Async"))
        for text in (*(file.read_text() for file in files), run("matrix", *EACH, *program).rows):
            assert words in without_places(text)
        runs = matrix(*EACH, "--strict", "--junit", files[0], *program, code=FAILED)
        assert [one["fired"] for one in runs if one["result"] == "fails"] == [ignored]
        failure, = xml.parse(files[0]).getroot().iter("failure")
        assert without_places(failure.get("message")) == words
        assert failure.text.endswith(f"; if the program rightly goes on: --survives {ignored}")
        strict = without_places(run("matrix", *EACH, "--strict", "--quiet", "--github",
                                    *program).rows)
        assert f"fails  {words}" in strict
        told = f"if the program rightly goes on: --survives {ignored}\n"
        assert strict.endswith("\nlet the program tell these errors and stop; " + told)
        note, = re.findall(f"::fails: {words}%0A(.*)%0A{told}", strict)
        assert "look at what " in note and ";" not in note
        out = run("matrix", *EACH, "--strict", *program).out
        assert max(map(len, out.splitlines())) <= 100 and f"--survives {ignored}" in \
            " ".join(out.split())
        name = ignored.removesuffix("_v2")
        matrix(*EACH, "--strict", "--survives", name, *program)

    def test_the_exit_codes_of_a_row(tmp_path):
        """It counts them; and one that should have been 0 has a row of its own."""
        program = compiled(tmp_path, CAREFUL.replace("return wrong ?", """
            if (wrong && !memory)
                return printf("CUDA_ERROR_OUT_OF_MEMORY\\n"), 0;
            return wrong ?"""))
        words = (*EACH, "--strict", "--markdown", tmp_path / "a.md")
        rows = run("matrix", *words, "--", program, "-", "-", "3").rows.splitlines()
        row = "CUDA 12.4, each of 5 calls fails in turn", "notices", \
            "exit code 0 in 2 runs, 3 in 3"
        assert rows[1] == "  ".join(row)
        assert f"| {' | '.join(row)} |" in (tmp_path / "a.md").read_text().splitlines()
        runs = matrix(*words, "--falls-back", "--", program, "-", "-", "3", code=FAILED)
        assert [(one["fired"], one["code"]) for one in runs if one["result"] == "fails"] == [
            (name, 3) for name in ("cuCtxCreate_v2", "cuMemsetD8Async", "cuCtxSynchronize")]
        assert [without_places(one["why"]) for one in runs if one["fault"]][2:] == [
            f"exit code 3 after {name} failed"
            for name in ("cuCtxCreate_v2", "cuMemsetD8Async", "cuCtxSynchronize")]
        rows = run("matrix", *words, "--falls-back", "--github", "--", program, "-", "-", "3").rows
        assert "\nCUDA 12.4, each of 2 calls fails in turn  notices  exit code 0 in each\n" in rows
        assert "\nCUDA 12.4, 3 calls fail in turn           fails    exit code 3 after the" in rows
        assert rows.count(", and the program, which should do without the GPU by --falls-back") == 2
        matrix(*words, "--falls-back", "--", program, "-", "-", "77")

    def test_a_fallback_that_aborts(careful, tmp_path):
        """It tells the error, which alone is no notice of it then."""
        program = compiled(tmp_path, CAREFUL.replace(
            "return wrong ?", 'if (wrong) puts("CUDA_ERROR_OUT_OF_MEMORY"), fflush(stdout), '
            "abort(); return wrong ?"))
        one, = (one for one in matrix(*EACH, "--falls-back", "--", program, "-", "-", "77",
                                      code=FAILED) if one["fired"] == "cuMemAlloc_v2")
        assert one["result"] == "crashes"
        result = run("matrix", "--falls-back", "--", careful)
        assert (result.code, result.err) == (
            USAGE, "cushim matrix: --falls-back is about calls that fail: add --fault-each or "
            "--gate\n")

    def test_survival_at_one_place(tmp_path):
        """The other call of the entry is not survived; without lines it is said."""
        program = compiled(tmp_path, WAITS.replace("WORK", """
            CUdeviceptr other = 0;
            cu->cuMemAlloc_v2(&other, 64); // here
            if (other && (code = cu->cuMemFree_v2(other))) goto out;
            other = 0;
            cu->cuMemAlloc_v2(&other, 64); // and here
            if (other && (code = cu->cuMemFree_v2(other))) goto out;"""), flags=["-g"])
        lines = (tmp_path / "a.c").read_text().splitlines()
        here, there = (next(number for number, line in enumerate(lines, 1) if words in line)
                       for words in ("// here", "// and here"))
        each = ("matrix", "--cuda", "12.4", "--fault-each=3", "--strict", "--degrade", "77")

        def red(*survived):
            result = run(*each, "--json", "--survives", ",".join(survived), "--", program)
            return [one["name"].removeprefix("CUDA 12.4, ") for one in result.json()["runs"]
                    if one["result"] == "fails"], result.err

        second, third = (f"call {number} of cuMemAlloc_v2 fails" for number in (2, 3))
        assert red("cuCtxCreate") == ([second, third], "")
        assert red(f"cuMemAlloc@a.c:{here}") == ([third], "")
        assert red(f"cuMemAlloc_v2@{tmp_path.name}/a.c:{there}") == ([second], "")
        assert red(f"cuMemAlloc@{tmp_path}/a.c:{here}", f"cuMemAlloc@a.c:{there}") == ([], "")
        assert red("cuMemAlloc") == ([], "")
        for other in "cuMemFree@a.c:{}", "cuMemAlloc@.c:{}", "cuMemAlloc@b/a.c:{}":
            word = other.format(here)
            assert red(word) == ([second, third], f"cushim matrix: --survives: {word}: no call of "
                                 "this line failed\n")
        subprocess.run(["strip", program], check=True)
        assert red(f"cuMemAlloc@a.c:{here}") == ([second, third], "cushim matrix: --survives: "
            f"cuMemAlloc@a.c:{here}: the lines of its calls are not known: build the program with "
            "-g, and install addr2line\n")

    @pytest.mark.parametrize("work, good", [
        ("cu->cuEventElapsedTime(&time, event, end);", False),
        ("cu->cuStreamSynchronize(one); cu->cuEventElapsedTime(&time, event, end);", True),
        ("while (cu->cuEventElapsedTime(&time, event, end) == CUDA_ERROR_NOT_READY);", True),
        ("if (cu->cuEventElapsedTime(&time, event, end)) { cu->cuEventSynchronize(end);"
         "cu->cuEventElapsedTime(&time, event, end); }", True),
        ("if (cu->cuEventElapsedTime(&time, event, end)) { cu->cuEventSynchronize(end);"
         "cu->cuEventElapsedTime(&time, event, event); }", False),
        ("cu->cuEventElapsedTime(&time, event, never);", False)])
    def test_a_time_that_is_none(tmp_path, work, good):
        """What the program takes for it is no result."""
        program = compiled(tmp_path, "#include <unistd.h>\n" + WAITS.replace("int main", """
            static void wait(void *user) { usleep(20000); }
            int main""").replace("WORK", f"""
            CUevent end = NULL, never = NULL;
            float time = 0;
            if ((code = cu->cuEventCreate(&end, 0)) || (code = cu->cuEventCreate(&never, 0)) ||
                (code = cu->cuEventRecord(event, one)) ||
                (code = cu->cuLaunchHostFunc(one, wait, NULL)) ||
                (code = cu->cuEventRecord(end, one)))
                goto out;
            {work}
            cu->cuEventDestroy_v2(end);
            cu->cuEventDestroy_v2(never);"""))
        one, = matrix("--cuda", "12.4", "--strict", "--", program, code=OK if good else FAILED)
        assert (one["fired"] == "cuEventElapsedTime") == (not good)
        assert good or one["call"].split(":")[0] == "cuEventElapsedTime"
        words = ("matrix", "--cuda", "12.4", "--", "sh", "-c", f"'{program}'; exit 1")
        assert good or "exit code 1; cuEventElapsedTime at a+0x" in run(*words).rows

    def test_leaks_on_the_way_of_an_error(careful):
        """Also with the exit code that tells of an error, or that it does without."""
        for code in "1", "77":
            program = ("--", careful, "-", "leak", code)
            matrix(*EACH, "--strict", *program)
            runs = matrix(*EACH, "--check", *program, code=FAILED)
            assert [one["fired"] for one in runs if one["result"] == "fails"] == DOES[1:]
            matrix("--cuda", "12.4", "--check", "--degrade", "77", *program)

    def test_a_fault_that_is_not_noticed(careful):
        """As for --fault-each, with a rule of one's own; a late call that is slow is no fault."""
        rule = ("--cuda", "12.4", "--fault", "cuCtxSynchronize:after,error=LAUNCH_FAILED")
        program = ("--", careful, "cuCtxSynchronize", "-", "1")
        one, = matrix(*rule, *program)
        assert (one["result"], one["fired"]) == ("passes", "cuCtxSynchronize")
        matrix(*rule, "--strict", *program, code=FAILED)
        matrix(*rule, "--strict", "--survives", "cuCtxSynchronize", *program)
        one, = matrix("--cuda", "12.4", "--strict", "--fault", "cuInit:slow=1", *program)
        assert one["fired"] is None

    def test_rows_that_are_the_same(careful):
        """Two or more in a row; what the check found is the same in each."""
        rows = run("matrix", "--cuda", "12.4,11.2,10.2,9.0", "--", careful, "-", "-", "1").rows
        assert rows == "CUDA 12.4 to 9.0  passes\n4 runs: 4 passes\n"
        rows = run("matrix", "--cuda", "12.4,11.2", "--", careful, "-", "-", "1").rows
        assert rows == "CUDA 12.4 to 11.2  passes\n2 runs: 2 passes\n"
        rows = run("matrix", "--cuda", "9.0,10.2,12.4", "--", careful, "-", "-", "1").rows
        assert rows.count("\n") == 4, "not in order"
        rows = run("matrix", "--check", "--cuda", "12.4,11.2,10.2", "--", PROGRAM, "left").rows
        assert rows.startswith("CUDA 12.4 to 10.2  fails  the check found: left to ")
        assert rows.endswith("3 runs: 3 fails\n") and rows.count("\n") == 2

    def test_calls_that_fail_for_one_cause(tmp_path, careful):
        """Of one place they are a row and an annotation; each file has each run."""
        def rows(program, *words):
            files = [tmp_path / name for name in ("a.xml", "a.md")]
            out = run("matrix", *EACH, "--github", "--check", "--junit", files[0], "--markdown",
                      files[1], "--", program, *words).rows
            assert len(xml.parse(files[0]).getroot()) == 1 + len(DOES)
            notes = [line for line in out.splitlines() if line.startswith("::error")]
            table = out.splitlines()[len(notes):]
            lines = files[1].read_text().splitlines()
            assert sum(line.startswith("| CUDA") for line in lines) == len(table) - 1
            assert [line.split(" | ")[1] in ("fails", "crashes") for line in lines
                    if line.startswith("| CUDA")] == (len(table) - 3) * [True] + 2 * [False]
            assert lines[-1] == "</details>" and \
                "<details><summary>2 runs do not fail</summary>" in lines
            return table[1:-1], notes

        (one, other), notes = rows(careful, "-", "leak", "1")
        assert one.startswith("CUDA 12.4, cuCtxCreate_v2 fails  notices  exit code 1")
        assert " ".join(other.split()).startswith(
            "CUDA 12.4, cuEventCreate fails, likewise 3 others fails the check found: "
            "leaked 1 context, made by cuCtxC")
        assert other.endswith("; exit code 1")
        note, = notes
        assert "title=CUDA 12.4%2C cuEventCreate fails%2C likewise 3 others::" in note

        crash = CAREFUL.replace("return wrong ?", "if (wrong) DIES; return wrong ?").replace(
            "strcmp(name, ignored) != 0", "strcmp(name, ignored) != 0 && fprintf(stderr, name)")
        program = compiled(tmp_path, crash.replace("DIES", "*(volatile int *)8 = 0"))
        (one, other), notes = rows(program, "-", "-", "1")
        assert other.startswith("CUDA 12.4, cuEventCreate fails, likewise 3 others crashes  "
                                "signal 11 (Segmentation fault) at a+0x")
        assert len(notes) == 1 and "cuMemAlloc_v2" not in other
        program = compiled(tmp_path, crash.replace("DIES", "abort()"))
        table, notes = rows(program, "-", "-", "1")
        assert len(table) == len(DOES) and len(notes) == len(DOES) - 1, "each has other words"

    def test_calls_that_the_program_ignores_alike(tmp_path):
        """They are one row with a list, one annotation and one test, under both releases; JSON has
        each run. One or two calls are rows of their own."""
        def rows(*words, code="0"):
            program = compiled(tmp_path, CAREFUL.replace(
                "code != 0 && strcmp(name, ignored) != 0", code), flags=["-g"])
            files = [tmp_path / name for name in ("a.xml", "a.md")]
            each = ("matrix", "--cuda", "12.4,9.0", "--fault-each=2", "--strict", *words)
            result = run(*each, "--github", "--junit", files[0], "--markdown", files[1], "--",
                         program, "-", "-", "1")
            notes = re.findall("^::error.*$", result.rows, re.M)
            return result.rows.splitlines(), notes, *(file.read_text() for file in files)

        table, (note,), junit, markdown = rows()
        row, totals, hint = table[2:]
        name, why = "CUDA 12.4 and 9.0, 6 calls fail in turn", "the program went on though these "
        assert row.startswith(f"{name}  fails   {why}calls failed: cuCtxCreate_v2 at ")
        listed = re.findall(r"(cu\w+) at \S+a\.c:\d+ \(main\)", row)
        assert listed == DOES, "both events are of one line"
        assert totals == "14 runs: 2 passes, 1 fails in 12 runs"
        assert hint == "let the program tell these errors and stop; if the program rightly goes " \
            "on: --survives cuCtxCreate_v2,cuEventCreate,cuMemAlloc_v2 and 2 others"
        assert f"title={name.replace(',', '%2C')}::fails: {why}calls failed:%0AcuCtx" in note
        assert "%0Aeach of them failed in a run of its own, and the program called others" in note
        suite = xml.fromstring(junit)
        assert (len(suite), suite.get("tests"), suite.get("failures")) == (3, "3", "1")
        assert suite[2].get("name") == name and suite[2].find("failure").text.count("a.c:") == 5
        assert markdown.count("\n| CUDA") == 2 and f"\n| {name} | fails | {why}" in markdown
        table, notes, *_ = rows("--survives", ",".join(DOES[:3]))
        assert len(notes) == 2 and table[-2].endswith(", 4 fails"), "two may be two mistakes"
        table, (note,), *_ = rows(code='code != 0 && strcmp(name, "cuMemAlloc_v2") != 0')
        assert [line.split("  ")[0] for line in table if " fails  " in line] == [
            "CUDA 12.4, cuMemAlloc_v2 fails", "CUDA 9.0, cuMemAlloc_v2 fails"]

    def test_leaks_of_several_places(tmp_path):
        """They are no one cause."""
        create = "cu->cuMemAlloc_v2(&m, 16)"
        program = compiled(tmp_path, CAREFUL.replace(
            "cu->cuCtxDestroy_v2(context);", "cu->cuCtxDestroy_v2(context); int version = 0;"
            "cu->cuCtxCreate_v2(&context, 0, 0), cu->cuDriverGetVersion(&version); CUdeviceptr m;"
            f"if (version > 11000) {create}; else {create}; cu->cuCtxDestroy_v2(context);"))
        rows = run("matrix", "--check", "--cuda", "12.4,11.2,10.2,9.0", "--", program, "-", "-",
                   "1").rows
        assert [row.split("  ")[0] for row in rows.splitlines()[:-1]] == [
            "CUDA 12.4 to 11.2", "CUDA 10.2 to 9.0"]


LEFT = f"{shlex.quote(PROGRAM)} left; exit 77"


def test_check_of_runs_that_degrade(tmp_path):
    """What is left is a failure there too, in each report; a rule that never fired is none."""
    program = ("--cuda", "12.4", "--degrade", "77", "--", "sh", "-c", LEFT)
    files = [tmp_path / name for name in ("a.xml", "a.md")]
    assert matrix("--strict", *program)[0]["result"] == "degrades"
    one, = matrix("--check", "--junit", files[0], "--markdown", files[1], *program, code=FAILED)
    assert (one["result"], one["code"]) == ("fails", 77)
    failure, = xml.parse(files[0]).getroot().iter("failure")
    assert "left to the end of a context" in failure.text
    assert "left to the end of a context" in files[1].read_text()
    assert "left to the end of a context" in run("matrix", "--check", *program).rows
    never = f"{shlex.quote(PROGRAM)} codes 0 1 100; exit 77"
    rule = ("--check", "--cuda", "12.4", "--degrade", "77", "--fault", "cuMemAlloc:call=9")
    assert matrix(*rule, "--", "sh", "-c", never)[0]["result"] == "degrades"
    matrix(*rule, "--", "sh", "-c", never.removesuffix("; exit 77"), code=FAILED)


def test_junit_tells_how_runs_ended(tmp_path):
    """One that degrades is no failure, and not the same as one that passes."""
    matrix("--cuda", "12.4", "--degrade", "77", "--junit", tmp_path / "a.xml", "--", "sh", "-c",
           LEFT)
    suite = xml.parse(tmp_path / "a.xml").getroot()
    assert suite.get("failures") == "0" and not list(suite.iter("failure"))
    assert {each.get("name"): each.get("value") for each in suite.iter("property")} == {
        "result": "degrades", "end": "exit code 77"}


def test_annotations():
    """One for each row that fails, or for releases; beside JSON on standard error."""
    program = ("--cuda", "12.4,11.2,10.2", "--", "sh", "-c", "echo a% >&2; echo; exit 3")
    line = "::error title=CUDA 12.4 to 10.2::fails: exit code 3; it printed nothing, and called no"
    assert run("matrix", "--github", *program).rows.splitlines()[0] == \
        "::error title=CUDA 12.4 to 10.2::fails: exit code 3; \"a%25\""
    assert run("matrix", "--github", "--json", *program).err.startswith("::error title=")
    silent = run("matrix", "--github", "--cuda", "12.4", "--", "sh", "-c", "exit 3").rows
    assert silent.startswith(line.replace(" to 10.2", ""))
    assert "::" not in run("matrix", "--github", "--cuda", "12.4", "--", "true").rows


def test_annotations_of_lines(tmp_path):
    """A place in a file that is there; the table of Markdown has it, too."""
    (tmp_path / "a.c").touch()
    table = tmp_path / "a.md"
    for words, place in ((f"{tmp_path}/a.c:66: went wrong: 3", f"file={tmp_path}/a.c,line=66,"),
                         (f"{tmp_path}/b.c:66: went wrong", ""), ("at 10:30", "")):
        out = run("matrix", "--github", "--cuda", "12.4", "--markdown", table, "--", "sh", "-c",
                  f"echo '{words}' >&2; exit 3").rows
        where = f"{tmp_path}/a.c:66" if place else ""
        assert table.read_text().endswith(f'| exit code 3; "{words}" | {where} |\n')
        assert out.startswith(
            f'::error {place}title=CUDA 12.4::fails: exit code 3; "{words}"\n')


def test_annotations_of_one_cause():
    """Numbers in the program's words are no other cause; an exit code and a word are."""
    def titles(script, releases="12.4,11.8,11.4,11.2,10.2"):
        out = run("matrix", "--github", "--cuda", releases, "--", "sh", "-c", script).rows
        return [line.split("=")[1].split("::")[0] for line in out.splitlines()
                if line.startswith("::error")]

    assert titles("echo at $$, $(date +%s.%N) >&2; exit 3") == ["CUDA 12.4 to 10.2"]
    assert titles("echo $$ >&2; exit 3", "11.2,12.4") == ["CUDA 11.2 and 1 other"]
    other = f"case $('{CLI}' info) in *11.4*) CODE ;; esac; echo $$ >&2; exit 3"
    assert titles(other.replace("CODE", "exit 4")) == \
        ["CUDA 12.4 to 11.8 and 2 others", "CUDA 11.4"]
    assert titles(other.replace("CODE", "echo a >&2; exit 3"))[1:] == ["CUDA 11.4"]


def test_more_annotations_than_github_shows():
    """The last tells how many more there are."""
    releases = run("sim", "--list").out.splitlines()[0].split()[-12:]
    words = "echo $CUSHIM_SIM_NVML_CUDA | tr .0-9 a-k >&2; exit 3"
    for causes, more in (10, None), (12, 3):
        out = run("matrix", "--github", "--cuda", ",".join(releases[:causes]), "--", "sh", "-c",
                  words).rows
        lines = [line for line in out.splitlines() if line.startswith("::error")]
        assert len(lines) == 10, out
        assert lines[-1].startswith(f"::error title={more} more causes::") == bool(more)


def test_the_exit_code_of_a_check():
    """The program's own, unless that is 0; the finding is told in any case."""
    for code, told in ((0, 5), (3, 3), (5, 5)):
        result = run("sim", "--quiet", "--check", "--", "sh", "-c",
                     f"{shlex.quote(PROGRAM)} left; exit {code}")
        assert result.code == told and "check: process " in result.err


@pytest.mark.parametrize("script, result, code, words", [
    ("exit 140", "fails", 140, "exit code 140 (a shell's for signal 12)"),
    ("exit 200", "fails", 200, "exit code 200"),
    ("sh -c 'kill -SEGV $$'; exit $?", "fails", 139, "exit code 139 (a shell's for signal 11)"),
    ("kill -SEGV $$", "crashes", 11, "signal 11 (Segmentation fault)")])
def test_codes_of_shells(script, result, code, words):
    """Only a program that a signal ended crashed."""
    one, = matrix("--cuda", "12.4", "--", "sh", "-c", script, code=FAILED)
    assert (one["result"], one["code"]) == (result, code)
    assert words in run("matrix", "--cuda", "12.4", "--", "sh", "-c", script).rows


def test_log_has_the_signal_and_the_rule(tmp_path):
    log = tmp_path / "log"
    sim("killed", 15, options=("--quiet", "--log", log))
    assert log.read_text().splitlines()[-1].endswith("was ended by signal 15 (Terminated)")
    result = sim("codes", 0, 1, 100, options=("--quiet", "--log", "-", "--fault", "cuMemAlloc"))
    assert result.code == OK and " us, by a rule\n" in result.err


if "CUSHIM_STATIC" in os.environ:
    def test_rows_that_name_their_driver(tmp_path):
        """They are one, with the newest driver's name."""
        program = compiled(tmp_path, CAREFUL.replace("cuCtxCreate_v2, &context, 0, 0",
                                                     "cuCtxGetId, NULL, NULL"))
        rows = run("matrix", "--cuda", "11.8,11.2,10.2", "--", program, "-", "-", "3").rows
        assert without_places(rows) == "CUDA 11.8 to 10.2  fails  exit code 3; cuCtxGetId is not " \
            "available: it came with CUDA 12.0, and the driver, of CUDA 11.8, is older\n" \
            "3 runs: 3 fails\n"
