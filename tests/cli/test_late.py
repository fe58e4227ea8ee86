# SPDX-License-Identifier: MIT
"""The rule `late`: programs that do not wait for what they queued are found, and no others."""

import os
import re

import pytest
from command import ROOT, run
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


@pytest.mark.parametrize("name", [*BAD, *GOOD, "plain_no_wait", "plain_threads"])
def test_early_work(name):
    """What is done before the call that queued it returns need not be waited for."""
    tries = 5 if name == "plain_threads" else 1
    assert {code(name, "--fault", "early") for _ in range(tries)} == {0}


@pytest.mark.parametrize("rule, wanted", [("late:from=1", 1), ("late:from=4", 1),
                                          ("late:from=5", 0), ("reorder:from=4", 1),
                                          ("reorder:from=5", 0), ("late:streams=1", 1),
                                          ("late:streams=1,from=5", 0)])
def test_some_work_is_late(rule, wanted):
    """The fourth piece of work is the copy: after a fill, two kernels, and nothing behind."""
    assert any(code("bad_pinned", "--fault", rule) == wanted for _ in range(5))


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("cuda", ["12.4", "13.5"])
def test_no_missing_wait(name, cuda):
    """The result is right, and nothing is left."""
    assert code(name, "--check=race,init,sync", "--cuda", cuda, "--fault", "late") == 0
