# SPDX-License-Identifier: MIT
"""`cushim sim`: programs that end in every way."""

import os
import re
import signal
import subprocess
import time

import pytest
from command import CLI, SYSTEM, environment, run, run_on_small_disk
from simulated import PROGRAM, nothing_is_left, sim  # noqa: F401


def test_exit_code():
    assert run("sim", "--", "sh", "-c", "exit 7").code == 7


def test_arguments_are_the_programs():
    result = run("sim", "--quiet", "echo", "--cuda", "-x", "--", "y")
    assert result.out == "--cuda -x -- y\n"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGABRT, signal.SIGTERM])
def test_ended_by_signal(number):
    result = sim("killed", int(number))
    assert result.code == 128 + number
    assert f"was ended by signal {int(number)} (" in result.err
    assert sim("killed", int(number), options=("--quiet",)).err == ""


@pytest.mark.parametrize("program", ["/nonexistent/program", "/etc/passwd", "/"])
def test_cannot_be_run(program):
    result = run("sim", "--", program)
    assert result.code == 127 and result.err.startswith(f"cushim sim: {program}: ")


@pytest.mark.parametrize("handler", [False, True])
def test_interrupt_of_an_endless_kernel(handler):
    """It ends with the place where it was. Without a handler the process ends with it."""
    with subprocess.Popen([CLI, "sim", "--", PROGRAM, "spins", str(int(handler))], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=environment()) as command:
        command.stdout.readline()
        time.sleep(0.3)
        command.send_signal(signal.SIGINT)
        out, err = command.communicate(timeout=30)
    assert re.search(r"kernel 'k', block \(0,0,0\), thread \(0,0,0\), PTX line [78], \w+: the "
                     r"launch was stopped here", err)
    if handler:
        assert out.startswith("heard\n") and "702" in out + err
    else:
        assert (command.returncode, out) == (128 + signal.SIGINT, "")


def start_waiting():
    """`cushim sim` with a program that waits, and the program's process."""
    command = subprocess.Popen([CLI, "sim", "--quiet", "--", PROGRAM, "waits"], text=True,
                               stdout=subprocess.PIPE, env=environment())
    return command, int(command.stdout.readline())


def gone(process):
    """Whether it ends within some seconds."""
    for _ in range(200):
        try:
            with open(f"/proc/{process}/stat", encoding="ascii") as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_are_passed_on(number):
    command, _ = start_waiting()
    command.send_signal(number)
    out, _ = command.communicate(timeout=30)
    assert (command.returncode, out) == (9, f"signal {int(number)}\n")


def test_killed_itself():
    """The program goes with it, and the folder too."""
    command, program = start_waiting()
    command.kill()
    command.wait(timeout=30)
    assert gone(program)
    command.stdout.close()
    folder = os.environ["TMPDIR"]
    for _ in range(200):
        if not os.listdir(folder):
            break
        time.sleep(0.05)


def test_counts_have_room_on_a_full_disk():
    """A disk that fills while the program runs makes no fault of it, and hides none."""
    fill = 'head -c 9000000 /dev/zero >"$TMPDIR/fill" 2>/dev/null; '
    for mode, code in (("leak clean", 0), ("leak", 5)):
        result = run_on_small_disk("8m", "sim", "--quiet", "--check", "--", "sh", "-c",
                                   f'{fill}"{PROGRAM}" {mode}; code=$?; rm "$TMPDIR/fill"; '
                                   'exit $code')
        assert (result.code, "leaked" in result.err) == (code, code == 5), result.err
    cut = run("sim", "--quiet", "--check", "--", "sh", "-c",
              'printf "{\\n" >>"$CUSHIM_SIM_REPORT"')
    assert (cut.code, cut.err) == \
        (SYSTEM, "cushim sim: the count of a process could not be written whole\n")
