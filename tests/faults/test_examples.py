# SPDX-License-Identifier: MIT
"""Some of what examples.py does whole: driver calls of the examples fail, a few in each."""

import os

import pytest
from examples import Examples

EXAMPLES = Examples(os.environ["MESON_BUILD_ROOT"], os.environ["SIMULATED"])
FAULTS = 4


def test_all_are_here():
    """The folder has the examples, the fault rules name calls."""
    assert len(EXAMPLES.names) > 20


@pytest.mark.parametrize("name", [name for name in EXAMPLES.names if name != "runtime_mix"])
def test_example(name):
    """Ends by itself, and says so if it did not do its work."""
    usual = EXAMPLES.run(name)
    assert usual[0] == 0, usual
    for rule in EXAMPLES.some_faults(name, FAULTS):
        assert EXAMPLES.check(name, rule, usual[1]) is None, f"{name}, {rule}"
