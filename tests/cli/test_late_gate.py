# SPDX-License-Identifier: MIT
"""The gate of cushim matrix names the wait that is missing, and its place."""

import os
import re

import pytest
from command import FAILED, OK, ROOT, run
from simulated import nothing_is_left  # noqa: F401

PROGRAM = os.environ["CUSHIM_LATE_PROGRAM"]
WRONG = re.findall(r"^static int (wrong_\w+)\(void\)$",
                   (ROOT / "tests/cli/late_program.c").read_text(), re.M)


def place_of(words, function, path="tests/cli/late_program.c"):
    """Of the last such words in a function."""
    text = (ROOT / path).read_text()
    start = text.index(f" {function}(")
    last = text.rindex(words, start, text.index("\n}\n", start))
    return f"{path}:{text[:last].count(chr(10)) + 1} ({function})"


COPY_OUT, COPY_IN = "cuMemcpyDtoHAsync_v2", "cuMemcpyHtoDAsync_v2"


def rows_of(name, tries=5):
    """Of gates, since a busy machine may let one pass: the result, and the rows of the rules."""
    gate = ("--gate", "--github", "--cuda", "13.5", "--fault-each=1")
    for _ in range(tries):
        result = run("matrix", *gate, "--", PROGRAM, name)
        text = re.sub(" +", " ", result.rows)
        rows = dict(re.findall(r"^CUDA 13\.5, (queued work (?:runs late|reordered)) (.*)$", text,
                               re.M))
        yield result, rows


@pytest.mark.parametrize("name, rule, row", [
    ("bad_pinned", "runs late",
     f"{COPY_OUT} at {place_of('MemcpyDtoH', 'bad_pinned')} was not waited for"),
    ("bad_later_wait", "runs late", f"{COPY_OUT} at {place_of('MemcpyDtoH', 'bad_later_wait')} was "
     "waited for too late, by cuStreamSynchronize at "
     f"{place_of('Synchronize', 'bad_later_wait')}"),
    *((name, "runs late", f"the host changed what {COPY_IN} at {place_of('MemcpyHtoD', name)} "
       "reads, before anything waited for it")
      for name in ("bad_reuse", "bad_reuse_then_copy", "bad_reuse_in_loop")),
    ("bad_early_host_function", "runs late",
     f"{COPY_OUT} at {place_of('MemcpyDtoH', 'bad_early_host_function')} was not waited for"),
    ("bad_host_function", "reordered",
     f"cuLaunchHostFunc at {place_of('LaunchHost', 'bad_host_function')} ran before {COPY_OUT} at "
     f"{place_of('MemcpyDtoH', 'bad_host_function')}, and nothing orders them"),
    ("bad_two_streams", "reordered",
     f"{COPY_OUT} at {place_of('MemcpyDtoH', 'bad_two_streams')} ran before cuLaunchKernel at "
     f"{place_of('cuLaunch', 'add', 'tests/cli/queued.h')}, and nothing orders them")])
def test_the_gate_names_the_cause(name, rule, row, monkeypatch):
    """That row alone is red; the annotation is at the work."""
    monkeypatch.chdir(ROOT)
    for result, rows in rows_of(name):
        if row in rows.get(f"queued work {rule}", ""):
            break
    else:
        pytest.fail(result.out)
    assert result.code == FAILED and " 1 fails\n" in result.out
    path, line = re.search(r" at (\S+):(\d+) ", row).groups()
    title = f"::error file={path},line={line},title=CUDA 13.5%2C queued work {rule}::"
    note, = re.findall(f"{title}(.*)", result.out)
    told, cure = note.split("%0A")
    assert re.search("waited for|ran before|changed", told) and "call cuS" in cure


@pytest.mark.parametrize("name", WRONG)
def test_the_gate_names_no_other_cause(name):
    """The result is wrong without the rules, and if all work is early: no wait is missing."""
    [(result, rows)] = rows_of(name, 1)
    assert result.code == FAILED and "waited for" not in result.out and rows == {}


def test_the_gate_names_a_wait_that_is_missing_under_each_release(monkeypatch):
    monkeypatch.chdir(ROOT)
    [(result, rows)] = rows_of("plain_no_wait", 1)
    assert f"{COPY_OUT} at {place_of('MemcpyDtoH', 'plain_no_wait')} was waited for too late" in \
        rows["queued work runs late"]


@pytest.mark.parametrize("other, rule, row", [
    ("bad_pinned", "runs late", f"{COPY_OUT} at .* was not waited for"),
    ("bad_host_function", "reordered", f"cuLaunchHostFunc at .* ran before {COPY_OUT} at .*")])
def test_a_release_that_fails_by_chance(other, rule, row, tmp_path):
    """Its row comes behind that of the cause, and it has no annotation of its own; releases above
    and below it that pass are rows of their own."""
    files = [tmp_path / name for name in ("a.xml", "a.md")]
    script = f"case $CUSHIM_SIM_NVML_CUDA in 12.4) exec {PROGRAM} plain_no_wait;; esac; " \
        f"exec {PROGRAM} {other}"
    same = f"same as CUDA 13.5, queued work {rule}"
    for _ in range(5):  # the other one may fail by chance, too
        text = run("matrix", "--gate", "--github", "--cuda", "13.5,12.4,11.4", "--fault-each=1",
                   "--junit", files[0], "--markdown", files[1], "--", "sh", "-c", script).rows
        rows = [re.sub("  +", "  ", line) for line in text.splitlines()]
        if rows.count("CUDA 13.5  passes") == rows.count("CUDA 11.4  passes") == 1:
            break
    else:
        pytest.fail(text)
    at = next(i for i, line in enumerate(rows) if re.match(
        f"CUDA 13.5, queued work {rule}  fails  exit code 1; {row}", line))
    assert rows[at + 1] == f"CUDA 12.4  fails  {same}"
    title, = re.findall("^::error .*title=(CUDA.*)::fails", text, re.M)
    assert title == f"CUDA 13.5%2C queued work {rule}%2C likewise 1 other"
    assert f" ({same})\">" in files[0].read_text()
    assert re.search(f"\\| CUDA 12.4 \\| fails \\| {same} \\|", files[1].read_text())


def test_an_old_release_that_fails_for_its_own_reason():
    """It does so, too, if all work is early."""
    script = f"case $CUSHIM_SIM_NVML_CUDA in 11.4) exec {PROGRAM} {WRONG[0]};; esac; " \
        f"exec {PROGRAM} bad_pinned"
    rows = run("matrix", "--gate", "--cuda", "13.5,12.4,11.4", "--fault-each=1", "--", "sh", "-c",
               script).rows
    row, = re.findall("^CUDA 11.4 .*$", rows, re.M)
    assert " fails " in row and "same as" not in row


def test_the_gate_of_a_right_program():
    [(result, rows)] = rows_of("good_legacy", 1)
    assert result.code == OK and set(rows.values()) == {"passes"} and len(rows) == 2
