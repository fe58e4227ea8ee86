# SPDX-License-Identifier: MIT
"""Fetches the drivers that the other tests need, and says which ones are there."""

import os
import subprocess
import sys
from pathlib import Path

import modes
import pytest
from real_drivers import REQUIRED, newest_drivers


@pytest.fixture(scope="module")
def fetched():
    """What fetch.py printed, once for all tests here: a line for each driver."""
    script = Path(__file__).with_name("fetch.py")
    few = ["--few"] if modes.QUICK else []
    done = subprocess.run([sys.executable, str(script), *few], capture_output=True, text=True,
                          check=False, timeout=1500)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.mark.parametrize("branch", REQUIRED)
def test_required_driver_is_there(fetched, branch):
    """Each of the drivers that the project promises to be tested on."""
    if branch in newest_drivers():
        return
    reason = next((line for line in fetched.splitlines() if line.startswith(branch)),
                  f"{branch} unavailable")
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(f"driver {reason}")
