# SPDX-License-Identifier: MIT
"""No crash, hang or leak, however a process begins, forks and ends: on the simulated driver, on a
fake one and without any. CUSHIM_PROCESSES=all runs everything under valgrind, too, in minutes."""

import os
import shutil
import subprocess

import pytest

PROGRAM = os.environ["PROGRAM"]
DRIVERS = {"simulated": os.environ["SIMULATED"], "fake": os.environ["FAKE"],
           "none": "/nonexistent/libcuda.so.1"}
DRIVERS = {name: path for name, path in DRIVERS.items() if path}
MODES = subprocess.run([PROGRAM], check=True, capture_output=True, text=True).stdout.split()
if os.environ["SANITIZER"] != "none":  # its allocator's locks stay held in a child of threads
    MODES.remove("fork-within-loads")
# LeakSanitizer of gcc 12 itself crashes while other threads run, and does not look into the storage
# of a main thread that ended, where glibc keeps the words of dlerror. Valgrind sees these as well.
NO_LEAKS = ["exit-from-thread", "exit-beside-work", "main-ends-first"]
WHOLE = os.environ.get("CUSHIM_PROCESSES") == "all"
# Valgrind takes seconds for each: in the bounded form it sees those that end in an odd way.
# What threads had that the child lacks is lost there: not "fork-within-loads".
UNDER_VALGRIND = [] if os.environ["SANITIZER"] != "none" else \
    [(driver, mode) for driver in DRIVERS for mode in MODES
     if mode != "fork-within-loads"] if WHOLE else \
    [(driver, mode) for driver, mode in (("simulated", "exit-from-thread"),
                                         ("none", "nothing-closed"), ("fake", "fork-after-init"))
     if driver in DRIVERS]
VALGRIND = ["valgrind", "-q", "--leak-check=full", "--show-leak-kinds=definite,indirect",
            "--errors-for-leak-kinds=definite,indirect", "--error-exitcode=9",
            "--trace-children=yes", "--fair-sched=yes"]


def run(driver, mode, *before):
    """One process, which says "done" at its end."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("CUSHIM_", "CUDA_", "LD_"))}
    env |= {"CUSHIM_LIBCUDA": DRIVERS[driver], "CUSHIM_SIM_SUMMARY": "0",
            "CUSHIM_SIM_MEMORY": "64M", "CUSHIM_SIM_WORKERS": "2"}
    if mode in NO_LEAKS:
        env["ASAN_OPTIONS"] = "detect_leaks=0"
    done = subprocess.run([*before, PROGRAM, mode], env=env, check=False, timeout=200,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"{driver}, {mode}: {done.returncode}\n{done.stdout}"
    assert done.stdout == "done\n", f"{driver}, {mode}\n{done.stdout}"


def test_modes():
    """The program lists what it can do."""
    assert len(MODES) > 10 and {mode for _, mode in UNDER_VALGRIND} <= set(MODES)


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("mode", MODES)
def test_process(driver, mode):
    """Ends with 0 and says no more than it should; in a sanitized build nothing leaks."""
    run(driver, mode)


if UNDER_VALGRIND:
    @pytest.mark.in_all
    @pytest.mark.parametrize("driver, mode", UNDER_VALGRIND)
    def test_valgrind(driver, mode):
        """No wrong access, and nothing lost."""
        if not shutil.which("valgrind"):
            pytest.skip("valgrind is not installed")
        run(driver, mode, *VALGRIND)
