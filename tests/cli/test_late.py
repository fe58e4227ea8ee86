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


COPY = (ROOT / "tests/cli/late_program.c").read_text().partition("MemcpyDtoH")[0].count("\n") + 1


@pytest.mark.parametrize("name, code, row", [
    ("bad_pinned", FAILED, "fails   exit code 1; cuMemcpyDtoHAsync_v2 at tests/cli/late_program.c:"
     f"{COPY} (bad_pinned) was not waited for; \"the res"),
    ("bad_reuse", FAILED, "fails   exit code 1; a wait for queued work is missing?; \"the res"),
    ("good_legacy", OK, "passes")])
def test_the_gate_has_such_a_run(name, code, row):
    """Where a wait is missing, that row alone is red."""
    gate = ("--gate", "--cuda", "12.4,13.5", "--fault-each=1")
    for _ in range(5):
        result = run("matrix", *gate, "--", PROGRAM, name)
        late = f"CUDA 13.5, queued work runs late {row}"
        rows = result.rows.replace(f"{ROOT}/", "")
        if re.sub(" +", " ", late) in re.sub(" +", " ", rows):
            break
    else:
        pytest.fail(result.out)
    assert result.code == code
    assert result.out.endswith(" 1 fails\n") == (code == FAILED)
