# SPDX-License-Identifier: MIT
"""Options, bad use, colours and lost output: what all subcommands have in common."""

import os
import re
import subprocess

import pytest
from command import (CLI, COMMANDS, FAKE_GPU, NO_DRIVER, OK, READERS, SIM_DRIVERS, SYSTEM, USAGE,
                     environment, run, run_on_terminal)

ESCAPE = "\033["


@pytest.mark.parametrize("command", [(), *((name,) for name in (*COMMANDS, *READERS))])
@pytest.mark.parametrize("option", ["--help", "-?", "-h"])
def test_help(command, option):
    result = run(*command, option)
    assert (result.code, result.err) == (OK, "")
    assert result.out.startswith(" ".join(["Usage: cushim", *command, "[OPTION...]"]))
    for code in range(6):
        assert re.search(rf"^  {code}  \w", result.out, re.MULTILINE), f"no exit code {code}"
    assert max(map(len, result.out.splitlines())) < 80


def test_a_letter_is_one_option():
    """In all subcommands a letter stands for one option, and an option has one letter or none."""
    letters, names = {}, {}
    for command in (*COMMANDS, *READERS, "report", *(("sim", "matrix") if SIM_DRIVERS else ())):
        rows = re.findall(r"^  (?:-(.), |    )--([a-z-]+)", run(command, "--help").out, re.M)
        assert len(rows) > 3, command
        for letter, name in rows:
            assert names.setdefault(name, letter) == letter, f"{command}: --{name} is -{letter}"
            assert not letter or letters.setdefault(letter, name) == name, f"{command}: -{letter}"
    assert letters["j"] == "json" and letters["d"] == "driver"


@pytest.mark.parametrize("arguments", [
    ["info", "--driver", "/a", "--driver", "/b"], ["info", "-d", "/a", "--driver=/b"],
    ["symbols", "--since", "11.0", "-s", "12.0"], ["demo", "--device", "0", "--device", "0"],
])
def test_given_twice(arguments):
    """Which one would count? An option that takes one value is refused the second time."""
    result = run(*arguments)
    assert (result.code, result.out) == (USAGE, "")
    assert re.match(rf"cushim {arguments[0]}: --\w+ is given twice\nTry `cushim ", result.err)


def test_a_flag_twice_is_one():
    assert run("symbols", "-j", "--json", "--driver", FAKE_GPU).code == OK


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
    (["symbols", "--order", "best"],
     "cushim symbols: --order: 'best' is none of both|symbols"),
    (["symbols", "--audit", "--order", "both"], "--order does not go with it"),
    (["symbols", "--since", ""], "'' is no CUDA release"),
    (["symbols", "--since", "new"], "'new' is no CUDA release"),
    (["symbols", "--since", "12.4.1"], "'12.4.1' is no CUDA release"),
    (["symbols", "--since", "12."], "'12.' is no CUDA release"),
    (["symbols", "--since", "-1"], "'-1' is no CUDA release"),
    (["symbols", "--since", "0.1"], "'0.1' is no CUDA release"),
    (["symbols", "--since", "12040"], "'12040' is no CUDA release"),
    (["symbols", "--since", " 12.4"], "' 12.4' is no CUDA release"),
    (["demo", "--nonsense"], "cushim demo: unrecognized option '--nonsense'"),
    (["demo", "extra"], "cushim demo: no argument expected, but there is 'extra'"),
    (["demo", "--device", "first"], "--device: 'first' is no number from 0 on"),
    (["demo", "--device", "-1"], "'-1' is no number from 0 on"),
    (["demo", "--device", "1x"], "'1x' is no number from 0 on"),
    (["demo", "--device", ""], "'' is no number from 0 on"),
    (["demo", "--device", "99999999999999999999"], "is no number from 0 on"),
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
