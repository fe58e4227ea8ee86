# SPDX-License-Identifier: MIT
"""`cushim sim`: settings, faults, checks, the summary."""

import json
import os
import re
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from command import CLI, NO_DRIVER, OK, SYSTEM, USAGE, run
from simulated import CALL, NEWEST, PROGRAM, nothing_is_left, sim, without_places  # noqa: F401


def faults(*rules, mode=("codes", 0, 10, 100), options=()):
    """What allocations answer under these rules."""
    given = [word for rule in rules for word in ("--fault", rule)]
    return sim(*mode, options=(*options, "--quiet", *given))


def codes(*rules, **more):
    """The same as numbers."""
    result = faults(*rules, **more)
    assert (result.code, result.err) == (OK, "")
    return [int(word) for word in result.out.split()]


def leaks(result):
    """What the summary says was leaked, by kind."""
    return {kind: int(count) for count, kind in
            re.findall(r"^cushim sim: process \d+ leaked (\d+) (.*)$", result.err, re.MULTILINE)}


# ---- settings

def info(*options):
    """What `cushim info --init --json` sees."""
    result = run("sim", "--quiet", *options, "--", CLI, "info", "--init", "--json")
    assert result.err == ""
    return result.json()


@pytest.mark.parametrize("version", ["10.2", "11.2", "12.4", NEWEST])
def test_version(version):
    major, minor = version.split(".")
    assert info("--cuda", version)["driver"]["version"] == 1000 * int(major) + 10 * int(minor)


def test_default_is_the_newest():
    major, minor = NEWEST.split(".")
    facts = info()
    assert facts["driver"]["version"] == 1000 * int(major) + 10 * int(minor)
    assert len(facts["init"]["devices"]) == 1


def profiles():
    """Name, capability, release and device of each profile that --list shows."""
    result = run("sim", "--list")
    assert (result.code, result.err) == (OK, "")
    return re.findall(r"^  (\S+) +(\S+)  from CUDA (\S+) on  (.*)$", result.out, re.MULTILINE)


@pytest.mark.parametrize("command", ["sim", "matrix"])
def test_help_names_each_profile(command):
    """From the list of the simulated driver, and so the same for both."""
    text = " ".join(run(command, "--help").out.split())
    names = ", ".join(name for name, *_ in profiles())
    assert f"the newest that the version knows): {names} " in text


def test_profile():
    capabilities = []
    for name, capability, release, title in profiles():
        device, = info("--profile", name)["init"]["devices"]
        assert (device["compute_capability"], device["name"]) == (capability, title)
        assert run("sim", "--cuda", release, "--profile", name, "--", "true").code == OK
        capabilities.append(capability)
    assert capabilities == ["5.2", "6.0", "7.0", "7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0",
                            "8.0"]


@pytest.mark.parametrize("cuda, name", [("6.5", "pascal"), ("9.0", "hopper"), ("11.0", "ampere86"),
                                        ("12.6", "blackwell")])
def test_profile_newer_than_cuda(cuda, name):
    result = run("sim", "--cuda", cuda, "--profile", name, "--", "true")
    assert result.code == USAGE
    assert f"CUDA {cuda} does not know '{name}'" in result.err
    device, = info("--cuda", cuda)["init"]["devices"]
    assert device["compute_capability"] == {"6.5": "5.2", "9.0": "7.0"}.get(cuda, "8.0")


def test_devices_and_memory():
    devices = info("--devices", "3", "--memory", "2G")["init"]["devices"]
    assert [device["memory"] for device in devices] == 3 * [2 << 30]
    assert len({device["uuid"] for device in devices}) == 3
    assert len({device["pci"] for device in devices}) == 3


def test_no_device():
    facts = info("--devices", "0")
    assert facts["driver"]["status"] == "ok" and facts["init"]["status"] == "no-device"


def test_most_devices():
    assert len(info("--devices", "64")["init"]["devices"]) == 64


def test_list():
    result = run("sim", "--list")
    assert (result.code, result.err) == (OK, "")
    versions, title, *lines = result.out.splitlines()
    assert {"10.2", "11.2", "12.4", NEWEST} <= set(versions.split())
    assert (title, len(lines)) == ("profiles:", len(profiles()))


def test_memory_is_a_limit():
    assert codes(mode=("codes", 0, 2, 3 << 20), options=("--memory", "2M")) == [2, 2]


@pytest.mark.parametrize("options, words", [
    (["--cuda", "7.9"], "'7.9' is none of"),
    (["--cuda", "newest"], "'newest' is none of"),
    (["--cuda", "12.4x"], "'12.4x' is none of"),
    (["--devices", "65"], "'65' is no number from 0 to 64"),
    (["--devices", "-1"], "'-1' is no number"),
    (["--devices", "two"], "'two' is no number"),
    (["--devices", ""], "'' is no number"),
    (["--profile", "kepler"], "there is no 'kepler'; it takes one of maxwell pascal"),
    (["--memory", "0"], "'0' is no size"),
    (["--memory", "8Q"], "'8Q' is no size"),
    (["--memory", "-1"], "'-1' is no size"),
    (["--memory", "99999999999999999999"], "is no size"),
    (["--workers", "0"], "'0' is no number from 1"),
    (["--time-limit", "1s"], "'1s' is no number"),
    (["--log", "/nonexistent/log"], "/nonexistent/log: No such file"),
    (["--fault", ""], "the value is empty"),
    (["--fault", "cuNothing"], '"cuNothing": no entry of that name'),
    (["--fault", "cuInit:error=NONSENSE"],
     "cannot use error=NONSENSE; error is a code from 1 on, or a name"),
    (["--fault", "cuInit:error=OUT_OF_MEMROY"],
     "no error is called OUT_OF_MEMROY; did you mean OUT_OF_MEMORY?"),
    (["--fault", "cuInit:error=OUTOFMEM"], "did you mean OUT_OF_MEMORY?"),
    (["--fault", "cuInit:error=CUDA_ERROR_INVALID"], "did you mean CUDA_ERROR_INVALID_VALUE?"),
    (["--fault", "cuInit:error=CUDA_ERROR_INVALID_VALEU"],
     "did you mean CUDA_ERROR_INVALID_VALUE?"),
    (["--fault", "cuInit:error=0"], "cannot use error=0; error is a code from 1 on, or a name"),
    (["--fault", "cuInit:call=0"], "cannot use call=0; call is a whole number from 1 on"),
    (["--fault", "cuInit:call=-1"], "cannot use call=-1"),
    (["--fault", "cuInit:call"], "cannot use call; call is a whole number from 1 on"),
    (["--fault", "cuInit:sometimes"], "cannot use sometimes; it takes error=CODE, call=N"),
    (["--fault", "cuInit:probability=1.5"],
     "cannot use probability=1.5; probability is a number from 0 to 1"),
    (["--fault", "cuInit:probability=nan"], "cannot use probability=nan"),
    (["--fault", "cuInit:device=64"],
     "cannot use device=64; device is a whole number from 0 to 63"),
    (["--fault", "cuInit:from=0"], "cannot use from=0; from is a whole number from 1 on"),
    (["--fault", "cuInit:every=0"], "cannot use every=0; every is a whole number from 1 on"),
    (["--fault", "cuInit:seed=x"], "cannot use seed=x; seed is a whole number from 0 on"),
    (["--fault", "cuInit:slow=0"], "cannot use slow=0; slow is a time of 1 to 3600000"),
    (["--fault", "cuInit:after=5"], "cannot use after=5; after has no value here"),
    (["--fault", "cuMemAlloc:memory=5"], "cannot use memory=5; it takes error=CODE, call=N"),
    (["--fault", "missing:cuMemAlloc_v9"], "of that name; did you mean cuMemAlloc_v2?"),
    (["--fault", "cuInit:slow=10,after"], "after needs error=CODE"),
    (["--fault", "out-of-memory"], "needs after=BYTES"),
    (["--fault", "out-of-memory:after=lots"],
     "cannot use after=lots; after is a size such as 4096, 16M or 8G"),
    (["--fault", "out-of-memory:call=2,after=1"], "cannot use call=2"),
    (["--fault", "device-lost:slow=2"], "cannot use slow=2"),
    (["--fault", "missing:"], "no exported symbol"),
    (["--fault", "missing:cuNothing"], "no exported symbol"),
    (["--fault", "wrong-abi:device=1"], "cannot use device=1; it takes nothing"),
    (["--fault", "cuInit;cuNothing"], '"cuNothing": no entry'),
    (["--fault", "cuInit:" + 300 * "x"], "too long"),
    (65 * ["--fault", "cuInit"], "more than 64"),
    (["--fault", 65 * "cuInit;"], "more than 64"),
])
def test_wrong_setting(options, words):
    result = run("sim", *options, "--", "echo", "ran")
    assert (result.code, result.out) == (USAGE, "")
    assert words in result.err and result.err.startswith("cushim sim: ")


@pytest.mark.parametrize("arguments", [[], ["--"], ["--quiet"]])
def test_no_program(arguments):
    result = run("sim", *arguments)
    assert result.code == USAGE and "no program given" in result.err


def test_no_library():
    result = run("sim", "--", "true", CUSHIM_SIM_DIR="/nonexistent")
    assert result.code == NO_DRIVER and "no simulated driver is installed" in result.err


def test_no_place_for_temporary_files():
    result = run("sim", "--", "true", TMPDIR="/nonexistent")
    assert result.code == SYSTEM and "no folder for the library" in result.err


def test_environment_in_place_of_options(tmp_path):
    """Each variable counts where its option is not given."""
    log = tmp_path / "log"
    variables = {"CUSHIM_SIM_CUDA": "11.2", "CUSHIM_SIM_DEVICES": "3",
                 "CUSHIM_SIM_FAULT": "cuMemAlloc:error=2;cuInit:call=9", "CUSHIM_SIM_LOG": str(log)}
    summary = run("sim", "--", PROGRAM, "codes", 0, 1, 10, **variables).err
    assert "CUDA 11.2, 3 devices" in summary
    assert "cuMemAlloc" in log.read_text()
    result = run("sim", "--check", "--", PROGRAM, "codes", 0, 1, 10, **variables)
    assert result.code == 5 and "cuInit:call=9" in result.err
    result = run("sim", "--cuda", "12.2", "--devices", "2", "--fault", "cuInit:error=3", "--",
                 PROGRAM, "codes", 0, 1, 10, **variables)
    assert "CUDA 12.2, 2 devices" in result.err and "cuMemAlloc" not in result.out
    result = run("sim", "--", "true", CUSHIM_SIM_DEVICES="many")
    assert result.code == USAGE and "many" in result.err


def test_environment_alone_complains_and_goes_on(tmp_path):
    """Settings that a program gets without the command."""
    result = run("sim", "--quiet", "--", "env", "CUSHIM_SIM_DEVICES=many", "CUSHIM_SIM_MEMORY=-",
                 "CUSHIM_SIM_PROFILE=none", "CUSHIM_SIM_CUDA=99.0", "CUSHIM_SIM_FAULT=nothing",
                 f"CUSHIM_SIM_LOG={tmp_path}", PROGRAM, "codes", 0, 1, 10)
    assert (result.code, result.out) == (OK, "0 \n")
    for name in ("DEVICES", "MEMORY", "PROFILE", "CUDA", "FAULT", "LOG"):
        assert f"CUSHIM_SIM_{name}: " in result.err
    for words in ('"many"; it takes a whole number from 0 to 64; the default stays',
                  '"-"; it takes a size such as 512M or 8G', '"none"; it takes one of maxwell',
                  '"99.0"; it takes one of 6.5 8.0'):
        assert f"cannot use {words}" in result.err


def test_private_table():
    """The CUDA runtime is told that there is no device, and the user why."""
    for initialised in ("0", "1"):
        for options in ([], ["--quiet"]):
            result = sim("private-table", "runtime", initialised, options=options)
            assert (result.code, result.out) == (OK, "100 1\n100 1\n")
            assert result.err.count("only programs that call the driver API run here") == 1
            assert "driver API" not in sim("private-table", "other", initialised,
                                           options=options).err


# ---- faults

def test_by_call():
    assert codes("cuMemAlloc:call=3,error=OUT_OF_MEMORY") == [0, 0, 2] + 7 * [0]
    assert codes("cuMemAlloc_v2:from=8,error=801") == 7 * [0] + 3 * [801]
    assert codes("cuMemAlloc:every=4") == [0, 0, 0, 999, 0, 0, 0, 999, 0, 0]
    assert codes("cuMemAlloc:from=5,every=4") == 7 * [0] + [999, 0, 0]


def test_only_the_symbol():
    assert codes("cuMemAlloc_v2") == 10 * [999]
    assert codes("cuMemFree_v2") == 10 * [0]
    result = faults("cuMemAlloc:error=CUDA_ERROR_ILLEGAL_ADDRESS", mode=("plain-symbol",))
    assert result.out == "700\n"


def test_all_calls():
    assert faults("*:error=3").out == "cuInit: 3\n"


def test_sentence_names_the_rule():
    """That of a program's helper: its causes are others."""
    result = run("sim", "--quiet", "--fault", "cuInit:call=2;cuInit:error=802", "--", CLI,
                 "info", "--init")
    assert '; the fault rule "cuInit:error=802" did it' in result.out + result.err


def test_every_rule_counts_every_call():
    assert codes("cuMemAlloc:every=3,error=1;cuMemAlloc:from=8,error=2") == \
        [0, 0, 1, 0, 0, 1, 0, 2, 1, 2]


def test_probability():
    many = ("codes", 0, 400, 100)
    first = codes("cuMemAlloc:probability=0.25,seed=7", mode=many)
    assert first == codes("cuMemAlloc:probability=0.25,seed=7", mode=many)
    assert first != codes("cuMemAlloc:probability=0.25,seed=8", mode=many)
    assert 60 < first.count(999) < 140
    assert codes("cuMemAlloc:probability=0") == 10 * [0]
    assert codes("cuMemAlloc:probability=1") == 10 * [999]


@pytest.mark.parametrize("device, expected", [(0, 0), (1, 999)])
def test_by_device(device, expected):
    mode = ("codes", device, 5, 100)
    assert codes("cuMemAlloc:device=1", mode=mode, options=("--devices", "2")) == 5 * [expected]


def test_after():
    """The call happens, and its result is lost."""
    result = sim("codes", 0, 3, 100, options=("--fault", "cuMemFree:after,error=4"))
    assert (result.out, leaks(result)) == ("0 0 0 \n", {})
    assert "6 calls succeeded, 3 failed" in result.err
    assert re.search(r"process \d+ had the fault cuMemFree:after,error=4 3 times\n", result.err)


def test_instead():
    result = sim("codes", 0, 3, 100, options=("--fault", "cuMemFree:error=4;cuCtxDestroy"))
    assert leaks(result) == {"context": 1, "blocks of memory, 300 bytes": 3}


def test_slow():
    start = time.monotonic()
    assert codes("cuMemAlloc:slow=150,call=2") == 10 * [0]
    assert 0.15 <= time.monotonic() - start < 5
    assert codes("cuMemAlloc:slow=1,error=2") == 10 * [2]


def test_out_of_memory():
    assert codes("out-of-memory:after=550") == 5 * [0] + 5 * [2]
    assert codes("out-of-memory:after=1K") == 10 * [0]
    assert codes("out-of-memory:after=0") == 10 * [2]
    assert faults("out-of-memory:after=2K", mode=("leak",)).out == "pinned: 2\n"


def test_device_lost():
    rule = "device-lost:device=1,call=8"
    two = ("--devices", "2")
    assert codes(rule, options=two) == 10 * [0]
    assert codes(rule, mode=("codes", 1, 10, 100), options=two) == 3 * [0] + 7 * [999]
    assert codes("device-lost:device=1,call=8,error=ECC_UNCORRECTABLE",
                 mode=("codes", 1, 4, 100), options=two) == [0, 0, 0, 214]


@pytest.mark.parametrize("version", ["10.2", "12.4"])
def test_missing(version):
    """Neither dlsym nor cuGetProcAddress finds it, and all else is there."""
    result = faults("cuInit:call=9;missing:cuMemAlloc_v2", options=("--cuda", version))
    assert (result.code, result.out) == (1, "no cuMemAlloc_v2\n")
    with_it, without = [
        {row["symbol"] for row in run(
            "sim", "--quiet", "--cuda", version, *options, "--", CLI, "symbols", "--missing",
            "--json").json()["symbols"]}
        for options in ([], ["--fault", "missing:cuMemAlloc_v2"])]
    assert without - with_it == {"cuMemAlloc_v2"} and with_it < without


def test_wrong_abi_by_name():
    """A plain symbol of which every header means another one."""
    assert faults(mode=("plain-symbol",)).code == OK
    result = faults("wrong-abi", mode=("plain-symbol",))
    assert (result.code, result.out) == (128 + signal.SIGABRT, "")
    assert "wrong ABI called: the symbol cuMemAlloc has the parameters of CUDA 2.0" in result.err


def test_wrong_abi_by_version():
    """A version newer than the driver's: it answers with the newest that it has."""
    mode = ("newer", "cuCtxCreate", 13000)
    older = ("--cuda", "12.4")
    assert faults(mode=mode, options=older).out == "found\ncalled\n"
    result = faults("wrong-abi", mode=mode, options=older)
    assert (result.code, result.out) == (128 + signal.SIGABRT, "found\n")
    assert 'cuGetProcAddress("cuCtxCreate", 13000) of this CUDA 12.4 driver gave cuCtxCreate_v3, ' \
           "and the caller means cuCtxCreate_v4" in result.err
    assert faults("wrong-abi", mode=mode).out == "found\ncalled\n"


@pytest.mark.parametrize("version", ["10.2", "11.2", "12.4", NEWEST])
def test_cushim_has_no_wrong_abi(version):
    result = run("sim", "--quiet", "--cuda", version, "--fault", "wrong-abi", "--", CLI, "demo")
    assert (result.code, result.err) == (OK, "")


# ---- what is checked, and the summary

def check(*arguments, faults=()):
    """`cushim sim --check`: its exit code, and what it says."""
    rules = [word for rule in faults for word in ("--fault", rule)]
    result = sim(*arguments, options=("--quiet", "--check", *rules))
    prefix = "cushim sim: check: "
    assert all(line.startswith(prefix) for line in result.err.splitlines())
    return result.code, [without_places(re.sub(r"process \d+ ", "", line.removeprefix(prefix)))
                         for line in result.err.splitlines()]


def test_check():
    """What is not released is an error of its own, also what a context took with it."""
    assert check("codes", 0, 3, 100) == (OK, [])
    code, problems = check("leak")
    assert code == 5
    assert "leaked 2 streams" in problems
    assert "leaked 2750 bytes of memory in 4 blocks" in problems
    assert check("left") == (5, ["left to the end of a context: 100 bytes of memory in 1 block"])
    assert "left 1 block of memory, 100 bytes to the end of a context" in sim("left").err


def test_check_of_rules():
    """A rule that never fired tested nothing."""
    fires, never = "cuMemAlloc:call=2", "cuMemAlloc:call=4"
    assert check("codes", 0, 3, 100, faults=[fires])[0] == OK
    assert check("codes", 0, 3, 100, faults=[fires, never]) == (
        5, [f"the rule {never} never fired"])
    assert check("codes", 0, 3, 100, faults=["out-of-memory:after=1G"])[0] == 5
    assert check("codes", 0, 3, 100, faults=["out-of-memory:after=250"])[0] == OK
    assert check("codes", 0, 3, 100, faults=["missing:cuMemFree"])[0] == OK


def test_help_of_rules():
    """No row is broken by the width of a terminal."""
    rows = run("sim", "--help").out.partition("Rules for --fault:\n")[2].partition("\n\n")[0]
    assert len(rows.splitlines()) > 10
    assert not [row for row in rows.splitlines() if not row.startswith("  ") or len(row) > 79]


def test_check_of_a_program_that_fails():
    """Its own exit code is kept; one that says nothing at its end is a finding."""
    assert check("exit-in-callback")[0] == 5
    result = sim("killed", 9, options=("--quiet", "--check"))
    assert result.code == 128 + 9
    assert "no process that called the driver left a count at its end; programs of Go, and those " \
        "that call _exit or are killed" in result.err


@pytest.mark.skipif(os.environ["CUSHIM_SANITIZER"] != "none",
                    reason="a plain program cannot open a driver with sanitizers")
@pytest.mark.parametrize("code, told", [(1, True), (127, False)])
def test_check_of_a_symbol_that_is_missing(code, told):
    """With the code of the system's loader, the sentence of that is the only one."""
    program = f"import ctypes, os; ctypes.CDLL('libcuda.so.1').cuInit(0); os._exit({code})"
    result = run("sim", "--quiet", "--check", "--", sys.executable, "-c", program)
    assert result.code == code and ("left a count" in result.err) == told


def test_summary_file(tmp_path):
    file = tmp_path / "summary.json"
    result = sim("leak", options=("--quiet", "--summary", file, "--fault", "cuInit:call=9"))
    assert (result.code, result.err) == (OK, "")
    whole = json.loads(file.read_text())
    process, = whole["processes"]
    assert whole["exit"] == 0 and "the rule cuInit:call=9 never fired" in whole["problems"]
    assert process["program"] == "sim_program" and process["failed"] == 0
    assert process["leaked"]["memory"] == {"blocks": 4, "bytes": 2750}
    assert process["rules"] == [{"rule": "cuInit:call=9", "fired": 0}]
    assert sim("leak", options=("--summary", tmp_path / "no" / "where")).code == SYSTEM


def test_checks_of_kernels(tmp_path):
    """What is found is said, counted in the summary, and ends the command with 5."""
    file = tmp_path / "summary.json"
    result = sim("unset", options=("--check=race,init", "--summary", file))
    assert result.code == 5
    assert ("init: kernel 'k', block (0,0,0), thread (0,0,0), PTX line 8, ld: it reads shared "
            "memory that nothing wrote") in result.err
    assert json.loads(file.read_text())["processes"][0]["found_in_kernels"] == 1
    for options in ("--check=race", "--check=sync,race"):
        result = sim("unset", options=(options,))
        assert "init:" not in result.err and "checks of kernels" not in result.err
    for wrong in ("--check=all", "--check=", "--check=race,,init"):
        result = sim("unset", options=(wrong,))
        assert result.code == USAGE and "is no check; it takes race, init or sync, or" in result.err


def test_rules_of_all():
    """* is for calls, not for the look-ups of the loader before them."""
    log = [line for line in sim("newer", "cuMemAlloc", "12000", options=(
        "--quiet", "--log", "-", "--fault", "*:call=1,error=3")).err.splitlines()]
    assert not any("cuGetProcAddress" in line and "= 3 " in line for line in log)


@pytest.mark.parametrize("rule, words", [
    ("cuMemAloc", "did you mean cuMemAlloc?"),
    ("cumemalloc", "did you mean cuMemAlloc?"),
    ("oom:after=1", "of cuda.h, *, out-of-memory, device-lost, missing, wrong-abi, late, "
                    "reorder and early"),
    ("cuInit:cal=1", "it takes error=CODE, call=N, from=N,"),
    ("device-lost:slow=1", "it takes device=D, call=N and error=CODE"),
    ("early:from=1", "it takes nothing"),
    ("late:now", "it takes from=N and streams=1"),
    ("late:from=0", "from is a whole number from 1 on"),
    ("late:before=1", "it takes from=N and"), ("late:streams=2", "streams is 1"),
    ("reorder:to=1", "it takes from=N, before=N and last=N")])
def test_wrong_rules_say_what_is_right(rule, words):
    result = sim("texts", options=("--fault", rule))
    assert result.code == USAGE and words in result.err


def test_first_abi_by_its_member():
    """Messages name a table's member cuMemAlloc_v1; its symbol is cuMemAlloc."""
    assert codes("cuMemAlloc_v1") == 10 * [0]
    rule = ("--fault", "cuMemAlloc_v1:error=7", "--quiet")
    assert sim("plain-symbol", options=rule).out == "7\n"


def test_leaks():
    result = sim("leak")
    assert result.code == OK
    assert leaks(result) == {"context": 1, "streams": 2, "event": 1, "module": 1, "array": 1,
                             "blocks of memory, 2750 bytes": 4}
    assert re.match(r"cushim sim: process \d+ \(sim_program\): CUDA [\d.]+, 1 device; "
                    r"11 calls succeeded, 0 failed\n", result.err)


def test_no_leaks():
    result = sim("leak", "clean")
    assert leaks(result) == {} and result.err.endswith(" leaked nothing\n")


def test_quiet():
    assert sim("leak", options=("--quiet",)).err == ""


@pytest.mark.parametrize("mode, code", [("exit-in-callback", 5), ("exit-in-call", 6)])
def test_end_in_a_callback(mode, code):
    result = sim(mode)
    assert result.code == code
    assert leaks(result)["context"] == 1


def test_processes(tmp_path):
    """One that forks: its own summary, that of a child that called something, and of another
    program; none of the child that called nothing."""
    log = tmp_path / "log"
    result = sim("forks", options=("--log", log))
    assert (result.code, result.out) == (OK, "child: 3\n")
    assert result.err.count("leaked nothing") == 3
    assert result.err.count("leaked") == 3
    calls = [CALL.match(line) for line in log.read_text().splitlines()]
    assert len({call[3] for call in calls if call}) == 3


def test_many_at_once(tmp_path):
    log = tmp_path / "log"
    versions = ["10.2", "11.2", "12.4", NEWEST]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda i: sim("codes", 0, 20, 100, options=(
            "--quiet", "--cuda", versions[i % 4], "--log", log,
            "--fault", f"cuMemAlloc:call={i + 1}")), range(12)))
    for i, result in enumerate(results):
        assert result.out.split() == [*i * ["0"], "999", *(19 - i) * ["0"]]
    lines = log.read_text().splitlines()
    assert len(lines) == 12 * 42 and all(CALL.match(line) for line in lines)
