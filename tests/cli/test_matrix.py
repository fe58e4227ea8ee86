# SPDX-License-Identifier: MIT
"""`cushim matrix`: how programs end, the reports, the limits, and what is left behind."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest
from command import (CLI, DRIVERS, FAILED, INPUT, NO_DRIVER, OK, SIM_DRIVERS, SYSTEM, USAGE,
                     environment, run, run_on_small_disk, run_on_terminal)
from simulated import PROGRAM, matrix, nothing_is_left, without_places  # noqa: F401

CALLS = f"exec {shlex.quote(PROGRAM)} codes 0 1 100"
RELEASES = [path.stem.split("-")[-1] for path in SIM_DRIVERS]


def shell(script, *options, code):
    """One run of a shell script under CUDA 12.4."""
    runs = matrix("--cuda", "12.4", *options, "--", "sh", "-c", script, code=code)
    assert len(runs) == 1
    return runs[0]


@pytest.mark.parametrize("script, options, result, number, code", [
    ("exit 0", [], "unused", 0, OK),
    ("exit 0", ["--strict"], "unused", 0, FAILED),
    (CALLS, ["--strict"], "passes", 0, OK),
    ("exit 3", [], "fails", 3, FAILED),
    ("exit 3", ["--degrade", "3"], "unused", 3, OK),
    ("exit 3", ["--degrade", "3", "--strict"], "unused", 3, FAILED),
    (CALLS.removeprefix("exec ") + "; exit 3", ["--degrade", "3", "--strict"], "degrades", 3, OK),
    ("exit 4", ["--degrade", "3"], "fails", 4, FAILED),
    ("kill -SEGV $$", [], "crashes", 11, FAILED),
    ("kill -ABRT $$", [], "crashes", 6, FAILED),
])
def test_ends(script, options, result, number, code):
    one = shell(script, *options, code=code)
    assert (one["result"], one["code"]) == (result, number)


def test_calls_are_counted(tmp_path):
    """A gate that a program passes without CUDA says so."""
    assert shell("exit 0", code=OK)["calls"] == 0 < shell(CALLS, code=OK)["calls"]
    result = run("matrix", "--cuda", "12.4", "--junit", tmp_path / "junit.xml", "--", "true")
    assert (result.code, result.rows) == (OK, "CUDA 12.4  unused  no call of the driver\n"
                                         "1 run: 1 unused\n")
    suite = xml.parse(tmp_path / "junit.xml").getroot()
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
    assert suite[0].find("skipped").get("message") == "no call of the driver"
    run("matrix", "--strict", "--cuda", "12.4", "--junit", tmp_path / "junit.xml", "--", "true")
    suite = xml.parse(tmp_path / "junit.xml").getroot()
    assert (suite.get("failures"), suite.get("skipped")) == ("1", "0")


@pytest.mark.parametrize("mode, option, words", [
    ("left", "--check", "left to the end of a context: 100 bytes of memory"),
    ("unset", "--check=init", "the checks of kernels found 1 fault\n")])
def test_check(mode, option, words):
    """What is left, and faults of kernels, are failures under all releases; without the option the
    program passes."""
    program = (PROGRAM, mode)
    assert {one["result"] for one in matrix("--cuda", "11.2,12.4", "--", *program)} == {"passes"}
    runs = matrix("--cuda", "11.2,12.4", option, "--", *program, code=FAILED)
    assert [(one["result"], one["code"]) for one in runs] == 2 * [("fails", INPUT)]
    assert all(words in one["errors"] for one in runs)
    assert mode == "left" or "init: kernel 'k', block (0,0,0)" in runs[0]["errors"]


def test_all_that_the_check_found_is_counted():
    """The table has room for the first."""
    result = run("matrix", "--cuda", "12.4", "--check", "--fault", "cuMemAlloc:call=99,error=2",
                 "--fault", "cuMemFree:call=99,error=1", "--", PROGRAM, "left")
    assert result.code == FAILED
    assert '100 bytes of memory in 1 block, and 2 more findings\n' in without_places(result.rows)


def test_degraded_is_told_to_junit(tmp_path):
    """What a test did without has no message there: it stands before its output."""
    script = CALLS.removeprefix("exec ") + "; echo 'no <GPU>'; exit 3"
    run("matrix", "--cuda", "12.4", "--degrade", "3", "--junit", tmp_path / "junit", "--", "sh",
        "-c", script)
    suite = xml.parse(tmp_path / "junit").getroot()
    assert suite[0].find("system-out").text.startswith("cushim matrix: degrades: exit code 3;")
    assert "no <GPU>\n" in suite[0].find("system-out").text
    run("matrix", "--cuda", "12.4", "--junit", tmp_path / "junit", "--", "sh", "-c", CALLS)
    assert "cushim matrix:" not in (tmp_path / "junit").read_text()


def test_same_words_once():
    """A program that prints what the simulated driver tells of the failing call."""
    script = f"'{CLI}' info --init >/dev/null 2>&1; echo \"$WORDS\" >&2; exit 3"
    call = shell(script, "--devices", "0", code=FAILED)["call"]
    result = run("matrix", "--cuda", "12.4", "--devices", "0", "--", "sh", "-c", script, WORDS=call)
    assert result.code == FAILED and result.rows.count(call) == 1 and "cuInit" in call


def test_hang():
    """A program that does not heed the signal either is ended; so are its children."""
    begin = time.monotonic()
    one = shell("trap '' TERM; sleep 600 & while :; do sleep 1; done", "--timeout", "1",
                code=FAILED)
    assert one["result"] == "hangs"
    assert time.monotonic() - begin < 20


def test_nothing_but_hangs():
    """The rest is left out: it would take as long, and end so."""
    cuda = "9.0,10.2,11.2,12.4,13.0,13.5"
    runs = matrix("--cuda", cuda, "--timeout", "1", "--jobs", "1", "--", "sleep", "60",
                  code=FAILED)
    assert [one["result"] for one in runs] == ["hangs"] * 2 + ["not run"] * 4
    result = run("matrix", "--cuda", cuda, "--timeout", "1", "--jobs", "1", "--", "sh", "-c",
                 'case $CUSHIM_SIM_NVML_CUDA in 9*) ;; *) sleep 60 ;; esac')
    assert result.code == FAILED and result.rows.endswith("6 runs: 1 unused, 5 hangs\n")


@pytest.mark.parametrize("wants", ["runtime", "other"])
def test_runtime_is_not_simulated(wants):
    """A failure for want of the CUDA runtime is no verdict on the program, as of `cushim scan`."""
    script, unknown = f"'{PROGRAM}' private-table {wants} 1; exit 1", wants == "runtime"
    one = shell(script, code=OK if unknown else FAILED)
    assert one["result"] == ("unknown" if unknown else "fails")
    shell(script, "--strict", code=FAILED)
    result = run("matrix", "--cuda", "12.4", "--junit", "/dev/stderr", "--", "sh", "-c", script)
    assert ("the CUDA runtime is not simulated" in result.rows) == unknown
    assert ('<skipped message="the CUDA runtime is not simulated"/>' in result.err) == unknown


@pytest.mark.parametrize("program, words", [
    ("/nonexistent/program", "/nonexistent/program: No such file or directory"),
    ("no-such-program-anywhere", "no-such-program-anywhere: no such program in PATH"),
    ("/etc/passwd", "/etc/passwd: Permission denied")])
def test_program_that_is_none(program, words):
    """It is said once, and nothing is run."""
    result = run("matrix", "--cuda", "11.2,12.4", "--", program)
    assert (result.code, result.rows) == (INPUT, "") and result.err == f"cushim matrix: {words}\n"


def test_program_that_cannot_be_executed(tmp_path):
    """The file is there, and what would start it is not."""
    (tmp_path / "script").write_text("#!/nonexistent/shell\n")
    (tmp_path / "script").chmod(0o755)
    runs = matrix("--cuda", "12.4", "--", tmp_path / "script", code=FAILED)
    assert runs[0]["result"] == "not run" and "script" in runs[0]["errors"]


def test_full_disk_is_no_verdict(tmp_path):
    """What the command lacks is not the program's failure; the code tells as well."""
    junit = tmp_path / "junit.xml"
    result = run_on_small_disk("16k", "matrix", "--cuda", "11.2,12.4", "--junit", junit, "--",
                               PROGRAM, "codes", "0", "1", "100")
    words = "could not be started; cushim sim: no folder for the library can be made: " \
        "No space left on device"
    assert (result.code, result.err) == (SYSTEM, "")
    assert [" ".join(line.split()) for line in result.rows.splitlines()] == [
        " ".join(line.split()) for line in (f"CUDA 11.2  not run  {words}",
                                            "CUDA 12.4  not run  same as CUDA 11.2",
                                            "2 runs: 2 not run")]
    assert xml.parse(junit).getroot()[0].find("failure").get("type") == "not run"


def test_log_without_its_end():
    """The program passes; how often it called is not known. Its words are there."""
    script = f'head -c 9000000 /dev/zero >"$TMPDIR/fill" 2>/dev/null; {CALLS}'
    result = run_on_small_disk("8m", "matrix", "--json", "--strict", "--cuda", "12.4", "--", "sh",
                               "-c", f"{script.replace('exec ', '')}; rm \"$TMPDIR/fill\"")
    one, = json.loads(result.rows)["runs"]
    assert (result.code, one["result"], one["calls"]) == (OK, "passes", None)
    assert "the log ends here: No space left on device" in one["errors"]


def test_no_descriptors():
    """One that could be started is judged, and the other is not."""
    result = subprocess.run(["sh", "-c", 'ulimit -n 9; exec "$@"', "sh", CLI, "matrix", "--cuda",
                             "11.2,12.4", "--jobs", "2", "--json", "--", "sh", "-c", "exit 3"],
                            capture_output=True, text=True, check=False, env=environment())
    runs = json.loads(result.stdout)["runs"]
    assert result.returncode == SYSTEM
    assert [one["result"] for one in runs] == ["fails", "not run"]
    assert runs[1]["errors"] == "cushim matrix: it cannot be started: Too many open files\n"


@pytest.mark.parametrize("options, words", [
    (["--fault", "cuFoo"], "--fault: \"cuFoo\": no entry of that name"),
    (["--devices", "65"], "--devices: '65' is no number from 0 to 64"),
    (["--check=all"], "--check: 'all' is no check; it takes race, init or sync"),
    (["--memory", "0"], "--memory: '0' is no size"),
    (["--profile", "x"], "--profile: there is no 'x'")])
def test_settings_are_refused_once(options, words):
    result = run("matrix", *options, "--", "true")
    assert (result.code, result.rows, result.err.count("\n")) == (USAGE, "", 1)
    assert words in result.err


def test_profile_that_a_release_does_not_know():
    """The other releases are judged."""
    old, new = matrix("--cuda", "8.0,12.4", "--profile", "hopper", "--", *shlex.split(CALLS)[1:],
                      code=FAILED)
    assert (old["result"], new["result"]) == ("not run", "passes")
    assert old["errors"].startswith("cushim sim: --profile: CUDA 8.0 does not know 'hopper'")


def test_much_output():
    """More than a pipe holds, on both streams, also from a process that stays."""
    one = shell("head -c 3000000 /dev/zero | tr '\\0' x >&2; head -c 3000000 /dev/zero | "
                "tr '\\0' 'y'; setsid yes & echo; echo end", code=OK)
    assert set(one["errors"]) == {"x"} and len(one["output"]) == 4095


LAUNCH = """
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **words)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    int (*init)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
    int (*table)(void **, const void *) = (int (*)(void **, const void *))dlsym(driver,
        "cuGetExportTable");
    int (*allocate)(void *, unsigned long, void *) =
        (int (*)(void *, unsigned long, void *))dlsym(driver, "cuMemAllocAsync");
    int (*device)(int *, int) = (int (*)(int *, int))dlsym(driver, "cuDeviceGet");
    int (*memory)(void *, unsigned long) = (int (*)(void *, unsigned long))dlsym(driver,
        "cuMemAlloc_v2");
    void *room;
    int number;
    init(0);
    table(&room, "0123456789abcdef");
    device(&number, 99);
    if (count > 1)
        number = memory(&room, 16);
    else
        number = allocate(&room, 16, 0);
    fprintf(stderr, "an early line\\nthe product reports error %d\\n\\n", number);
    return 1;
}
"""


@pytest.fixture(name="launch", scope="module")
def launch_fixture(tmp_path_factory):
    """A program that calls an entry without looking whether it is there."""
    folder = tmp_path_factory.mktemp("launch")
    (folder / "a.c").write_text(LAUNCH.replace("\\\\n", "\\n"))
    subprocess.run(["cc", "-w", "-o", folder / "launch", folder / "a.c", "-ldl"], check=True)
    return folder / "launch"


def test_crash_is_explained(launch):
    """The entry that the program names and the driver lacks."""
    old, = matrix("--cuda", "11.1", "--", launch, code=FAILED)
    assert (old["result"], old["code"]) == ("crashes", 11)
    assert old["call"] == "no cuMemAllocAsync (CUDA 11.2): the driver lacks what the program " \
        "names; cuDeviceGet: 101 CUDA_ERROR_INVALID_DEVICE, there is 1 device"
    new, = matrix("--cuda", "12.4", "--", launch, code=FAILED)
    assert new["result"] == "fails" and "no cuMemAllocAsync" not in new["call"]


@pytest.mark.skipif(os.environ["CUSHIM_SANITIZER"] != "none",
                    reason="a plain program cannot open a driver with sanitizers")
def test_failure_is_explained(tmp_path):
    """A program that finds out that an entry is not there, and says nothing."""
    (tmp_path / "a.c").write_text(
        "#include <dlfcn.h>\nint main(void) { return !dlsym(dlopen(\"libcuda.so.1\", RTLD_NOW), "
        "\"cuMemAllocAsync\"); }\n")
    subprocess.run(["cc", "-o", tmp_path / "a", tmp_path / "a.c", "-ldl"], check=True)
    old, new = matrix("--cuda", "11.1,12.4", "--", tmp_path / "a", code=FAILED)
    assert old["call"].startswith("no cuMemAllocAsync (CUDA 11.2):") and new["call"] is None
    words = "cushim: cuMemAllocAsync is not available: it came with CUDA 11.2, and the driver is " \
        "older"
    one = shell(f"echo '{words}'; exit 1", code=FAILED)
    assert (one["call"], one["output"]) == (None, words + "\n"), "what a program prints is no fact"
    for script, words in (("exit 1", "called no driver"),
                          (f"'{PROGRAM}' codes 0 1 1 >&-; exit 1", "every call of the driver ")):
        row = run("matrix", "--cuda", "12.4", "--", "sh", "-c", script).rows.splitlines()[0]
        assert f"; it printed nothing, and {words}" in row


def test_last_words():
    """Of the standard error, if there are any."""
    result = run("matrix", "--cuda", "12.4", "--", "sh", "-c", "echo cause >&2; echo end; exit 1")
    assert result.rows.splitlines()[0].endswith('"cause"')
    result = run("matrix", "--cuda", "12.4", "--", "sh", "-c", "echo >&2; echo end; exit 1")
    assert result.rows.splitlines()[0].endswith('"end"')


DROPIN = """
#include <stdio.h>
int cuInit(unsigned);
int cuDeviceGet(int *, int);
int cuMemAllocAsync(void *, unsigned long, void *);
int cuGetErrorString(int, const char **);
int main(void)
{
    const char *text = "no text";
    long memory;
    int number;
    cuInit(0);
    cuGetErrorString(-1, &text);
    int result = cuMemAllocAsync(&memory, 16, 0);
    cuGetErrorString(result, &text);
    fprintf(stderr, "launch.c:46: %s\\n", text);
    puts("axpy ok");
    return result == 36;
}
"""


if "CUSHIM_DROPIN" in os.environ:  # not in a build with sanitizers, which programs link as well
    def test_what_a_dropin_lacked(tmp_path):
        """The entry, and not the call that asks what its code means."""
        (tmp_path / "a.c").write_text(DROPIN)
        subprocess.run(["cc", "-o", tmp_path / "a", tmp_path / "a.c", os.environ["CUSHIM_DROPIN"],
                        "-ldl", "-lpthread"], check=True)
        old, new = matrix("--cuda", "10.1,12.4", "--", tmp_path / "a", code=FAILED)
        assert old["call"] == "cuMemAllocAsync is not available: it came with CUDA 11.2, and the " \
            "driver, of CUDA 10.1, is older"
        assert old["errors"].startswith("launch.c:46: ") and old["errors"].count("\n") == 1
        assert "no text" not in old["errors"] and "(null)" not in old["errors"]
        assert (new["result"], new["call"].split(":")[0]) == ("passes", "cuMemAllocAsync")
        result = run("matrix", "--cuda", "10.1", "--", tmp_path / "a")
        assert "launch.c:46: " in result.rows and "axpy ok" not in result.rows


def test_words_of_the_simulated_driver_are_shown():
    """They begin as the lines of a drop-in do, which nobody asked for."""
    one = shell(f"CUSHIM_SIM_GRAIN=odd {CALLS}", code=OK)
    assert one["errors"].startswith("cushim: simulated driver: CUSHIM_SIM_GRAIN: cannot use")


def test_the_call_that_was_reported(launch):
    """Not the first that failed, and no probe."""
    one, = matrix("--cuda", "12.4", "--", launch, "memory", code=FAILED)
    assert one["call"].startswith("cuMemAlloc_v2: 201 ")
    result = run("matrix", "--cuda", "12.4", "--", launch, "memory")
    assert result.rows.splitlines()[0].endswith('"the product reports error 201"')
    assert "an early line" not in result.rows


@pytest.mark.parametrize("binding", ["now", "lazy"])
def test_entry_that_the_system_lacks(tmp_path, binding):
    """The system's loader ends a program that is linked to what the driver lacks, at its start or
    at the call; that is a failure of the program, and not of its start."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    (tmp_path / "a.c").write_text("int cuInit(unsigned), cuMemFreeAsync(void *, void *);"
                                  "int main(void) { return cuInit(0) || !cuMemFreeAsync(0, 0); }")
    newest = SIM_DRIVERS[-1]
    (tmp_path / "libcuda.so").symlink_to(newest)
    subprocess.run(["cc", "a.c", "-o", "a", f"-Wl,-z,{binding}", "-L.", "-lcuda", "-Wl,-rpath-link",
                    newest.parent, "-Wl,--allow-shlib-undefined"], cwd=tmp_path, check=True)
    old, new = matrix("--cuda", "10.2,12.4", "--", tmp_path / "a", code=FAILED)
    assert (old["result"], new["result"]) == ("fails", "passes")
    assert "undefined symbol: cuMemFreeAsync" in old["errors"]
    assert old["calls"] == (1 if binding == "lazy" else 0)


if os.environ["CUSHIM_SANITIZER"] != "none":  # a plain program cannot open such a driver
    del test_crash_is_explained, test_entry_that_the_system_lacks, test_the_call_that_was_reported


def test_devices_and_profile():
    runs = matrix("--cuda", "12.4", "--devices", "3", "--profile", "hopper", "--memory", "2G", "--",
                  CLI, "info", "--init", "--json")
    assert runs[0]["output"].count("H100") + runs[0]["output"].count("H200") >= 3
    assert runs[0]["output"].count(str(2 << 30)) == 3


def test_branches():
    runs = matrix("--cuda", "none", "--drivers", "470,535.104.05", "--", "true")
    assert [(one["name"], one["cuda"]) for one in runs] == \
        [("driver 470, CUDA 11.4", "11.4"), ("driver 535.104.05, CUDA 12.2", "12.2")]
    result = run("matrix", "--drivers", "100", "--", "true")
    assert (result.code, result.rows) == (USAGE, "") and "driver 100 is not simulated" in result.err


def test_output_and_no_input():
    one = shell("echo words; echo more >&2; read line || echo no input", code=OK)
    assert (one["output"], one["errors"]) == ("words\nno input\n", "more\n")
    one = shell("for i in 1 2 3 4 5 6 7 8; do printf '%1000s\\033' $i; done", code=OK)
    assert len(one["output"]) == 4095 and one["output"].endswith(" 8 ")


def test_all_releases():
    """`cushim info` under each: the driver that it found is of that release."""
    runs = matrix("--", CLI, "info", "--json")
    assert [one["cuda"] for one in runs] == RELEASES[::-1]
    for one in runs:
        major, minor = map(int, one["cuda"].split("."))
        assert f'"version": {1000 * major + 10 * minor},' in one["output"]


def test_faults_and_the_first_failing_call():
    script = f"exec {shlex.quote(PROGRAM)} codes 0 10 100"
    one = shell(script, "--fault", "cuMemAlloc:error=OUT_OF_MEMORY", code=OK)
    assert one["call"].endswith("2 CUDA_ERROR_OUT_OF_MEMORY")
    assert one["call"].startswith("cuMemAlloc")
    assert shell(script, code=OK)["call"] is None
    rows = run("matrix", "--cuda", "12.4", "--fault", "cuMemAlloc:error=OUT_OF_MEMORY", "--", "sh",
               "-c", script)
    assert without_places(rows.rows) == "CUDA 12.4  passes  exit code 0 though cuMemAlloc_v2 " \
        "failed\n1 run: 1 passes\n"


@pytest.mark.skipif(not DRIVERS, reason="no drivers in the cache")
def test_real_drivers():
    drivers = [driver for driver in DRIVERS.values() if not driver.needs][-2:]
    paths = ",".join(str(driver.path) for driver in drivers)
    runs = matrix("--cuda", "none", "--drivers", paths, "--", CLI, "info", "--json")
    for one, driver in zip(runs, drivers, strict=True):
        assert one["driver"] == str(driver.path.resolve())
        assert f'"version": {driver.cuda},' in one["output"]


def test_text_and_files(tmp_path):
    junit, markdown = tmp_path / "junit.xml", tmp_path / "table.md"
    result = run("matrix", "--cuda", "11.2,12.4", "--junit", junit, "--markdown", markdown, "--",
                 "sh", "-c", "echo '<&|>'; exit 2")
    assert (result.code, result.err) == (FAILED, "")
    assert [line.split(maxsplit=3) for line in result.rows.splitlines()[:2]] == [
        ["CUDA", "11.2", "fails", 'exit code 2; "<&|>"'],
        ["CUDA", "12.4", "fails", "same as CUDA 11.2"]]
    assert result.rows.splitlines()[2] == "2 runs: 2 fails"
    suite = xml.parse(junit).getroot()
    assert suite.get("tests") == suite.get("failures") == "2"
    assert suite.get("errors") == suite.get("skipped") == "0"
    assert float(suite.get("time")) == pytest.approx(
        sum(float(case.get("time")) for case in suite), abs=0.003)
    assert {case.get("classname") for case in suite} == {"cushim matrix"}
    assert [case.get("name") for case in suite] == ["CUDA 11.2", "CUDA 12.4"]
    assert suite[0].find("failure").get("message") == 'exit code 2; "<&|>"'
    assert suite[0].find("system-out").text == "<&|>\n"
    assert suite[0].find("system-err").text is None
    assert markdown.read_text().splitlines()[:6] == [
        "**cushim matrix, 2 runs: 2 fails**", "", "| run | result | why | where |",
        "|---|---|---|---|",
        '| CUDA 11.2 | fails | exit code 2; "<&\\|>" |  |',
        "| CUDA 12.4 | fails | same as CUDA 11.2 |  |"]
    assert suite[1].find("failure").get("message") == 'exit code 2; "<&|>" (same as CUDA 11.2)'
    assert suite[0].find("failure").text == 'exit code 2; "<&|>"'


def test_bytes_that_are_no_text(tmp_path, monkeypatch):
    """A report is UTF-8: what is none becomes '?', and the rest stays. What the check found has a
    line of its own though the program left its last one open."""
    script = f"'{PROGRAM}' left; printf 'caf\\303\\251 \\377 \\357\\277\\277 a\\303' >&2; exit 1"
    names = [tmp_path / name for name in ("a.xml", "a.md")]
    one = shell(script, "--check", "--junit", names[0], "--markdown", names[1], code=FAILED)
    assert one["errors"].startswith("caf\u00e9 ? \uffff a?\ncushim sim: check: process ")
    words = "\"caf\u00e9 ? {} a?\"; the check found: left to "
    suite = xml.parse(names[0]).getroot()
    assert words.format("?") in suite[0].find("failure").text
    assert words.format("\uffff") in names[1].read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    name = Path("caf\u00e9.so")
    name.symlink_to(SIM_DRIVERS[-1])
    rows = run("matrix", "--cuda", "12.4", "--drivers", name, "--", "sh", "-c", "exit 1").rows
    assert len({line.index("fails") for line in rows.splitlines()[:2]}) == 1


def test_a_name_that_is_longer_than_its_column(tmp_path):
    """It has a line of its own, and all results stand below each other."""
    name = tmp_path / ("long" * 20 + ".so")
    name.symlink_to(SIM_DRIVERS[-1])
    words = ("matrix", "--cuda", "12.4", "--drivers", name, "--", "sh", "-c", "exit 1")
    first, own, other, *_ = run(*words).out.splitlines()
    assert first.startswith("CUDA 12.4  fails  exit code 1; ")
    assert (own, other[:17]) == (f"driver {name}", f"{'':11}fails ")
    for columns in 80, 100, 120:
        lines = run_on_terminal(*words, columns=columns, NO_COLOR="1").out.splitlines()
        lines.remove(own)
        assert max(map(len, lines)) <= columns


def test_quiet():
    """The runs that fail the command, and the count of all."""
    script = f'[ "$(basename "$(readlink -f "${{LD_LIBRARY_PATH%%:*}}/libcuda.so.1")")" = ' \
        "libcuda-sim-12.4.so ]"
    result = run("matrix", "--quiet", "--cuda", "11.2,12.4", "--", "sh", "-c", script)
    assert (result.code, result.rows) == (FAILED,
        "CUDA 11.2  fails  exit code 1; it printed nothing, and called no driver\n"
        "2 runs: 1 unused, 1 fails\n")


def test_many_at_a_time(tmp_path):
    """Four programs that wait for each other end, since four run at a time."""
    script = f"touch {tmp_path}/$$; until [ $(ls {tmp_path} | wc -l) = 4 ]; do sleep 0.05; done"
    matrix("--cuda", "10.2,11.2,12.4,13.0", "--jobs", "4", "--", "sh", "-c", script)


def test_interrupted():
    """It takes its children along and leaves no folder."""
    with subprocess.Popen([CLI, "matrix", "--cuda", "11.2,12.4", "--", "sleep", "600"],
                          env=environment()) as process:
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == -signal.SIGTERM


def test_ignored_signal():
    """One that its caller ignores, as nohup does, ends nothing."""
    with subprocess.Popen(["sh", "-c", "trap '' HUP INT; exec \"$@\"", "sh", CLI, "matrix",
                           "--cuda", "12.4", "--", "sh", "-c", "echo; sleep 2"],
                          stdout=subprocess.PIPE, env=environment()) as process:
        time.sleep(1)
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    assert (process.returncode, out.split()[2]) == (OK, b"unused")


@pytest.mark.in_all
def test_progress_in_a_log():
    """A line on standard error every 15 seconds, unless it is to be quiet."""
    words = ("--cuda", "12.4,11.4", "--jobs", "2", "--timeout", "20", "--", "sh", "-c",
             "case $CUSHIM_SIM_NVML_CUDA in 12*) exit 3 ;; *) sleep 16 ;; esac")
    loud, quiet = (subprocess.Popen([CLI, "matrix", *more, *words], stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, text=True, env=environment())
                   for more in ([], ["--quiet"]))
    assert loud.communicate(timeout=60)[1] == "cushim matrix: 1 of 2 runs, 1 failed so far\n"
    assert (quiet.communicate(timeout=60)[1], quiet.returncode) == ("", FAILED)


def test_progress_on_a_terminal():
    """A bar with the name of what runs, which goes up to its end, and is taken away."""
    result = run_on_terminal("matrix", "--cuda", "12.4,13.5", "--jobs", "1", "--fault-each", "--",
                             "sh", "-c", f"sleep .3; '{PROGRAM}' codes 0 1 1", errors=True)
    assert result.code == OK
    bars = re.findall(r"\rcushim matrix: (\w[\w ]+) \[\x1b\S+ +(\d+) %", result.out)
    names = list(dict.fromkeys(name for name, _ in bars))
    assert names == ["drivers", "failing calls"]
    for name in names:
        shares = [int(share) for each, share in bars if each == name]
        assert shares == sorted(set(shares)) and shares[0] < 60 and shares[-1] == 100
    assert re.search(r"100 %\r +\r", result.out)


def test_the_reason_of_a_failure_is_not_dim():
    """It is what people look for; that of another row is."""
    for option, dim in ([], True), (["--strict"], False):
        out = run_on_terminal("matrix", *option, "--cuda", "12.4", "--", "true").out
        assert ("\x1b[2m" in out) == dim and ("no call of the driver" in out) != dim


@pytest.mark.parametrize("words, code, message", [
    ([], USAGE, "no program given"), (["--cuda", "99.9", "--", "true"], USAGE, "'99.9'"),
    (["--cuda", "new", "--", "true"], USAGE, "'new'; 'cushim sim --list'"),
    (["--cuda", "9.3", "--", "true"], USAGE, "'9.3'; near it are 9.1 and 10.0; 'cushim"),
    (["--cuda", "none,12.4", "--", "true"], USAGE, "'none' stands alone"),
    (["--jobs", "0", "--", "true"], USAGE, "'0' is no number from 1 to 256"),
    (["--timeout", "x", "--", "true"], USAGE, "'x' is no number"),
    (["--cuda", "none", "--", "true"], NO_DRIVER, "no driver to run it under"),
    (["--drivers", "/nonexistent/x.so", "--", "true"], INPUT, "/nonexistent/x.so"),
])
def test_bad_words(words, code, message):
    result = run("matrix", *words)
    assert (result.code, result.rows) == (code, "")
    assert message in result.err


@pytest.mark.parametrize("asked, releases", [
    ("12.2-12.4", ["12.4", "12.3", "12.2"]), ("13.2+", ["13.5", "13.4", "13.3", "13.2"]),
    ("9.0,12.4+", ["9.0"]), ("12.4-12.4", ["12.4"])])
def test_ranges(asked, releases):
    """The newest first; both ends belong to it."""
    runs = [one["cuda"] for one in matrix("--cuda", asked, "--", "true")]
    assert runs[:len(releases)] == releases
    assert runs[len(releases):] == [] or (asked, runs[-1]) == ("9.0,12.4+", "12.4")
