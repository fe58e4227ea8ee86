# SPDX-License-Identifier: MIT
"""What monitors look at: two devices, of which another process uses the first."""

import subprocess
import sys
import time
from pathlib import Path

import pynvml
import pytest

TOOLS = Path(sys.executable).parent


@pytest.fixture(scope="session", name="load")
def load_fixture():
    """The number of a process that has 100 MiB of device 0, and whose kernels keep it busy."""
    program = Path(__file__).with_name("load.py")
    with subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        pynvml.nvmlInit()
        device = pynvml.nvmlDeviceGetHandleByIndex(0)
        until = time.monotonic() + 60
        while pynvml.nvmlDeviceGetUtilizationRates(device).gpu == 0:
            assert time.monotonic() < until, "no kernel was seen"
            time.sleep(0.1)
        pynvml.nvmlShutdown()
        yield process.pid
        process.kill()


@pytest.fixture(scope="session", name="tool")
def tool_fixture():
    """A function: what a program of the environment prints."""
    def tool(*command):
        done = subprocess.run([TOOLS / command[0], *command[1:]], capture_output=True, text=True,
                              timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout
    return tool
