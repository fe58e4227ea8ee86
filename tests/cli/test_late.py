# SPDX-License-Identifier: MIT
"""The rule `late`: programs that do not wait for what they queued are found, and no others."""

import os
import re

import pytest
from command import FAILED, OK, ROOT, run
from simulated import nothing_is_left  # noqa: F401

PROGRAM = os.environ["CUSHIM_LATE_PROGRAM"]
SANITIZED = os.environ["CUSHIM_SANITIZER"] != "none"
NAMES = re.findall(r"^static int ((?:bad|good)_\w+)\(void\)$",
                   (ROOT / "tests/cli/late_program.c").read_text(), re.M)
BAD = [name for name in NAMES if name.startswith("bad")]
GOOD = [name for name in NAMES if name.startswith("good")]


def code(name, *options):
    return run("sim", "--quiet", *options, "--", PROGRAM, name).code


@pytest.mark.parametrize("name", BAD)
def test_a_missing_wait(name):
    """It is found, and mostly not without the rule, but where a sanitizer makes the work slow. On
    a machine that is busy a program may stop for long at any place."""
    tries = range(5)
    assert SANITIZED or any(code(name) == 0 for _ in tries)
    assert any(code(name, "--fault", "late") == 1 for _ in tries)


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("cuda", ["12.4", "13.5"])
def test_no_missing_wait(name, cuda):
    """The result is right, and nothing is left."""
    assert code(name, "--check=race,init,sync", "--cuda", cuda, "--fault", "late") == 0


def place_of(words, function, path="tests/cli/late_program.c"):
    """Of the last such words in a function."""
    text = (ROOT / path).read_text()
    start = text.index(f" {function}(")
    last = text.rindex(words, start, text.index("\n}\n", start))
    return f"{path}:{text[:last].count(chr(10)) + 1} ({function})"


@pytest.mark.parametrize("name, code, row", [
    ("bad_pinned", FAILED, "fails exit code 1; cuMemcpyDtoHAsync_v2 at "
     f"{place_of('MemcpyDtoH', 'bad_pinned')} was not waited for; \"the res"),
    ("bad_reuse", FAILED, "fails exit code 1; cuMemcpyHtoDAsync_v2 at "
     f"{place_of('MemcpyHtoD', 'bad_reuse')} was waited for by cuCtxSynchronize at "
     f"{place_of('cuCtx', 'has', 'tests/cli/queued.h')}: too late?; \"the res"),
    ("bad_later_wait", FAILED, "fails exit code 1; cuMemcpyDtoHAsync_v2 at "
     f"{place_of('MemcpyDtoH', 'bad_later_wait')} was waited for by cuStreamSynchronize at "
     f"{place_of('Synchronize', 'bad_later_wait')}: too late?; \"the res"),
    ("good_legacy", OK, "passes")])
def test_the_gate_has_such_a_run(name, code, row, monkeypatch):
    """Where a wait is missing, that row alone is red; the annotation is at the work."""
    monkeypatch.chdir(ROOT)
    gate = ("--gate", "--github", "--cuda", "12.4,13.5", "--fault-each=1")
    for _ in range(5):
        result = run("matrix", *gate, "--", PROGRAM, name)
        if f"CUDA 13.5, queued work runs late {row}" in re.sub(" +", " ", result.rows):
            break
    else:
        pytest.fail(result.out)
    assert result.code == code
    assert (" 1 fails\n" in result.out) == (code == FAILED)
    if code == FAILED:
        path, line = re.search(r" at (\S+):(\d+) ", row).groups()
        note, = re.findall(f"::error file={path},line={line},title=CUDA 13.5%2C queued work runs "
                           "late::(.*)", result.out)
        told, cure = note.split("%0A")
        assert " waited for" in told
        assert re.search("call cuStreamSynchronize (behind|earlier)", cure)
