# SPDX-License-Identifier: MIT
"""The rule `reorder`: programs in which nothing orders two streams are found, and no others."""

import os
import re

import pytest
from command import ROOT, run
from simulated import nothing_is_left  # noqa: F401

PROGRAM = os.environ["CUSHIM_REORDER_PROGRAM"]
NAMES = re.findall(r"^static int ((?:bad|good)_\w+)\(void\)$",
                   (ROOT / "tests/cli/reorder_program.c").read_text(), re.M)
BAD = [name for name in NAMES if name.startswith("bad")]
GOOD = [name for name in NAMES if name.startswith("good")]


def code(name, *options, rule="reorder"):
    return run("sim", "--quiet", "--devices=2", f"--fault={rule}", *options, "--", PROGRAM,
               name).code


@pytest.mark.parametrize("name", BAD)
def test_a_missing_order(name):
    """It is found each time, by the result, or by memory that is gone, if each of two streams is
    the last one once; but on a machine that is busy a program may stop for long at any place."""
    assert sum(any(code(name, "--cuda=12.4", rule=f"reorder:last={last}") in (1, 3)
                   for last in (2, 1)) for _ in range(4)) >= 3


@pytest.mark.parametrize("name", [name for name in BAD if name != "bad_free"])
def test_what_lacks_an_order_lacks_no_wait(name):
    """Work that is late, and in the order of the calls, is right, if no memory goes too early."""
    assert code(name, rule="late:streams=1") == 0


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("cuda", ["12.4", "13.5"])
def test_no_missing_order(name, cuda):
    """The result is right, and nothing is left."""
    for rule in ("reorder", "reorder:last=1", "reorder:last=2"):
        assert code(name, "--check=race,init,sync", "--cuda", cuda, rule=rule) == 0
