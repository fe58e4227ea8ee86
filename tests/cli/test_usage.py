# SPDX-License-Identifier: MIT
"""Options, bad use, colours and lost output: what all subcommands have in common."""

import os
import re
import subprocess

import pytest
from command import (CLI, COMMANDS, FAKE_GPU, NO_DRIVER, OK, READERS, SYSTEM, USAGE, environment,
                     run, run_on_terminal)

ESCAPE = "\033["


@pytest.mark.parametrize("command", [(), *((name,) for name in (*COMMANDS, *READERS))])
@pytest.mark.parametrize("option", ["--help", "-?"])
def test_help(command, option):
    result = run(*command, option)
    assert (result.code, result.err) == (OK, "")
    assert result.out.startswith(" ".join(["Usage: cushim", *command, "[OPTION...]"]))
    for code in range(6):
        assert re.search(rf"^  {code}  \w", result.out, re.MULTILINE), f"no exit code {code}"
    assert max(map(len, result.out.splitlines())) < 80


@pytest.mark.parametrize("command, options", [
    ("info", ["--driver=PATH", "--init", "--json"]),
    ("symbols", ["--driver=PATH", "--missing", "--since=X.Y", "--name=GLOB",
                 "--order=both|symbols", "--audit", "--json"]),
    ("features", ["--driver=PATH", "--device=N", "--missing", "--name=GLOB", "--json"]),
    ("compat", ["--driver=PATH", "--json"]),
    ("demo", ["--driver=PATH", "--device=N"]),
])
def test_help_lists_options(command, options):
    out = run(command, "--help").out
    for option in options:
        assert re.search(rf"^  -., {re.escape(option)}\b", out, re.MULTILINE), option


def test_help_lists_commands():
    out = run("--help").out
    for name in (*COMMANDS, *READERS):
        assert re.search(rf"^  {name} +\w", out, re.MULTILINE), name


@pytest.mark.parametrize("command", [(), *((name,) for name in (*COMMANDS, *READERS))])
def test_version(command):
    result = run(*command, "--version")
    assert (result.code, result.err) == (OK, "")
    assert re.fullmatch(r"cushim \d+\.\d+\.\d+ \(knows CUDA up to \d+\.\d\)\n", result.out)


@pytest.mark.parametrize("arguments, words", [
    ([], "cushim: no command given"),
    (["nonsense"], "cushim: no command 'nonsense'"),
    ([""], "cushim: no command ''"),
    (["--nonsense"], "cushim: unrecognized option '--nonsense'"),
    (["--json", "info"], "cushim: unrecognized option '--json'"),
    (["info", "--nonsense"], "cushim info: unrecognized option '--nonsense'"),
    (["info", "extra"], "cushim info: no argument expected, but there is 'extra'"),
    (["info", "--driver"], "cushim info: option '--driver' requires an argument"),
    (["info", "--json=yes"], "cushim info: option '--json' doesn't allow an argument"),
    (["symbols", "--nonsense"], "cushim symbols: unrecognized option '--nonsense'"),
    (["symbols", "cuInit"], "cushim symbols: no argument expected, but there is 'cuInit'"),
    (["symbols", "--order", "best"], "cushim symbols: no order 'best'"),
    (["symbols", "--audit", "--order", "both"], "--order does not go with it"),
    (["symbols", "--since", ""], "'' is not a CUDA release"),
    (["symbols", "--since", "new"], "'new' is not a CUDA release"),
    (["symbols", "--since", "12.4.1"], "'12.4.1' is not a CUDA release"),
    (["symbols", "--since", "12."], "'12.' is not a CUDA release"),
    (["symbols", "--since", "-1"], "'-1' is not a CUDA release"),
    (["symbols", "--since", "0.1"], "'0.1' is not a CUDA release"),
    (["symbols", "--since", "12040"], "'12040' is not a CUDA release"),
    (["symbols", "--since", " 12.4"], "' 12.4' is not a CUDA release"),
    (["demo", "--nonsense"], "cushim demo: unrecognized option '--nonsense'"),
    (["demo", "extra"], "cushim demo: no argument expected, but there is 'extra'"),
    (["demo", "--device", "first"], "'first' is not a device's number"),
    (["demo", "--device", "-1"], "'-1' is not a device's number"),
    (["demo", "--device", "1x"], "'1x' is not a device's number"),
    (["demo", "--device", ""], "'' is not a device's number"),
    (["demo", "--device", "99999999999999999999"], "is not a device's number"),
])
def test_wrong_use(arguments, words):
    result = run(*arguments)
    assert (result.code, result.out) == (USAGE, "")
    assert words in result.err
    assert "--help" in result.err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("where", ["option", "environment"])
@pytest.mark.parametrize("path, word", [("", "empty"), ("/nonexistent/libcuda.so.1", "No such"),
                                        ("/", "directory|folder")])
def test_no_driver(command, where, path, word):
    if where == "option":
        result = run(command, "--driver", path)
    else:
        result = run(command, CUSHIM_LIBCUDA=path)
    assert result.code == NO_DRIVER
    said = result.out if command == "info" else result.err
    assert re.search(word, said)
    assert path in said
    assert "Traceback" not in said


@pytest.mark.parametrize("path", ["/dev/null", "/etc/passwd", __file__, "libm.so.6"])
@pytest.mark.parametrize("command", COMMANDS)
def test_not_a_driver(command, path):
    result = run(command, "--driver", path)
    assert result.code == NO_DRIVER
    assert path in result.out + result.err


@pytest.mark.parametrize("command", COMMANDS)
def test_plain_text_in_a_pipe(command):
    result = run(command, "--driver", FAKE_GPU)
    assert result.code == OK
    assert "\033" not in result.out
    assert not re.search(r"[ \t]$", result.out, re.MULTILINE), "a line ends in blanks"


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("variables, coloured", [
    ({}, True),
    ({"NO_COLOR": ""}, True),
    ({"NO_COLOR": "1"}, False),
    ({"NO_COLOR": "0"}, False),
    ({"TERM": "dumb"}, False),
])
def test_colour_on_a_terminal(command, variables, coloured):
    result = run_on_terminal(command, "--driver", FAKE_GPU, **variables)
    assert (result.code, result.err) == (OK, "")
    assert (ESCAPE in result.out) == coloured
    assert result.out.count(ESCAPE + "0m") * 2 == result.out.count(ESCAPE)


@pytest.mark.parametrize("command", ["info", "symbols"])
def test_text_is_the_same_on_a_terminal(command):
    piped = run(command, "--driver", FAKE_GPU).out
    shown = run_on_terminal(command, "--driver", FAKE_GPU).out
    assert re.sub(r"\033\[\d*m", "", shown) == piped


@pytest.mark.parametrize("command", ["info", "symbols"])
def test_json_has_no_colour_on_a_terminal(command):
    result = run_on_terminal(command, "--driver", FAKE_GPU, "--json")
    assert result.json()["driver"]["path"] == FAKE_GPU
    assert "\033" not in result.out


@pytest.mark.parametrize("path", ["/nonexistent/\033[31mred\nline", "/nonexistent/\udcff\udcfe"])
@pytest.mark.parametrize("arguments", [["info"], ["info", "--json"], ["symbols", "--json"]])
def test_strange_path(arguments, path):
    raw = os.fsencode(path)
    done = subprocess.run([CLI, *arguments, "--driver", raw], capture_output=True, check=False,
                          env=environment(), timeout=60)
    assert done.returncode == NO_DRIVER
    assert b"\033" not in done.stdout
    if "--json" in arguments:
        assert done.stdout.decode("utf-8").startswith("{"), "not valid UTF-8"


WRITES = [["--help"], ["--version"], ["info"], ["info", "--json"], ["info", "--init"],
          ["info", "--help"], ["symbols"], ["symbols", "--json"], ["symbols", "--audit"],
          ["symbols", "--audit", "--json"], ["demo"]]


@pytest.mark.parametrize("arguments", WRITES, ids=" ".join)
def test_full_disk(arguments):
    with open("/dev/full", "w", encoding="ascii") as full:
        result = run(*arguments, stdout=full, CUSHIM_LIBCUDA=FAKE_GPU)
    assert result.code == SYSTEM
    assert "the output could not be written" in result.err


@pytest.mark.parametrize("arguments", WRITES, ids=" ".join)
def test_closed_output(arguments):
    done = subprocess.run(["sh", "-c", '"$0" "$@" >&-', CLI, *arguments], timeout=60, check=False,
                          stderr=subprocess.PIPE, text=True,
                          env=environment(CUSHIM_LIBCUDA=FAKE_GPU))
    assert done.returncode == SYSTEM
    assert "the output could not be written" in done.stderr


@pytest.mark.parametrize("arguments", WRITES, ids=" ".join)
def test_all_descriptors_closed(arguments):
    done = subprocess.run(["sh", "-c", '"$0" "$@" <&- >&- 2>&-', CLI, *arguments], timeout=60,
                          check=False, env=environment(CUSHIM_LIBCUDA=FAKE_GPU))
    assert done.returncode == SYSTEM


def test_usage_error_with_full_disk_stays_one():
    with open("/dev/full", "w", encoding="ascii") as full:
        assert run("nonsense", stdout=full).code == USAGE
