# SPDX-License-Identifier: MIT
"""Running the command `cushim`, and the drivers to run it on."""

import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "drivers"))

import real_drivers  # noqa: E402
from real_drivers import ROOT, newest_drivers, nm_exports, registry  # noqa: E402, F401

CLI = os.environ.get("CUSHIM_CLI", "cushim")
FAKE_GPU = os.environ.get("CUSHIM_FAKE_GPU", "")
FAKES = Path(os.environ.get("CUSHIM_FAKES", "."))
FATBINS = Path(os.environ.get("CUSHIM_FATBINS", "."))
DRIVERS = newest_drivers()
SIM_DRIVERS = sorted(Path(os.environ.get("CUSHIM_SIM_FOLDER", "/nonexistent"))
                     .glob("libcuda-sim-*.so"),
                     key=lambda path: [int(part) for part in path.stem.split("-")[-1].split(".")])
# The simulated NVML, of the same devices as the newest of them.
SIM_NVML = SIM_DRIVERS[-1].with_name("libnvidia-ml-sim.so") if SIM_DRIVERS else None
COMMANDS = ("info", "symbols", "features", "compat", "demo")
READERS = ("scan", "newer", "diff") if "CUSHIM_READERS" in os.environ else ()

OK, FAILED, USAGE, NO_DRIVER, SYSTEM, INPUT = range(6)


def environment(**variables):
    """This process's, without what changes the command's ways; then what the test sets."""
    ours = ("CUSHIM_LIB", "CUSHIM_SIM_", "CUSHIM_FACTS", "CUDA_", "FAKE_", "NO_COLOR",
            "ARGP_HELP_FMT", "POSIXLY_CORRECT", "XDG_CONFIG_HOME")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**clean, "TERM": "xterm", "LC_ALL": "C", **variables}


class Result:
    """What a finished command left."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def rows(self):
        """Its output with each folded row of a table as one line."""
        return re.sub(r"\n {8,}", " ", self.out)

    def json(self):
        """Its output as JSON; no name appears twice in an object."""
        def unique(pairs):
            names = [name for name, _ in pairs]
            assert len(names) == len(set(names)), f"twice in one object: {names}"
            return dict(pairs)
        return json.loads(self.out, object_pairs_hook=unique)


def run(*arguments, stdout=subprocess.PIPE, user=None, program=CLI, **variables):
    """Run `cushim ARGUMENTS` with its output in a pipe. Another user runs a copy, who may not enter
    root's home, in which the build may be."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        if user is not None:
            os.chmod(folder, 0o755)
            program = shutil.copy(program, folder)
        done = subprocess.run([program, *map(str, arguments)], stdin=subprocess.DEVNULL,
                              stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=60,
                              check=False, user=user, env=environment(**variables))
    return Result(done.returncode, done.stdout, done.stderr)


def run_on_small_disk(size, *arguments):
    """The same, with nothing but a disk of this size for temporary files."""
    root = [] if os.geteuid() == 0 else ["--map-root-user"]
    done = subprocess.run(["unshare", *root, "--mount", "sh", "-c",
                           f'mount -t tmpfs -o size={size} none "$TMPDIR" && exec "$@"', "sh",
                           CLI, *map(str, arguments)], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=60, check=False,
                          env=environment())
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip("no mount namespace is allowed here")
    return Result(done.returncode, done.stdout, done.stderr)


def run_on_terminal(*arguments, columns=0, errors=False, **variables):
    """The same with its output on a terminal, of so many columns, and so are its errors."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 0, columns, 0, 0))
    with subprocess.Popen([CLI, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=theirs,
                          stderr=theirs if errors else subprocess.PIPE, text=True,
                          env=environment(**variables)) as process:
        os.close(theirs)
        chunks = []
        try:
            while chunk := os.read(ours, 65536):
                chunks.append(chunk)
        except OSError:  # how Linux says that the other side was closed
            pass
        err = "" if errors else process.stderr.read()
        code = process.wait(timeout=60)
    os.close(ours)
    return Result(code, b"".join(chunks).decode().replace("\r\n", "\n"), err)


def report_page(folder):
    """The page of `cushim report` with a fake driver and a simulated one, measured in a folder."""
    words = []
    for name, driver in (("fake", FAKE_GPU), ("new", SIM_DRIVERS[-1] if SIM_DRIVERS else FAKE_GPU)):
        (folder / name).write_text(run("symbols", "--json", "--driver", driver).out)
        words.append(f"{name}={folder / name}")
    result = run("report", "--html", folder / "page.html", *words)
    assert (result.code, result.out, result.err) == (OK, "", "")
    return folder / "page.html"


def fake(name):
    """Path of a fake driver of tests/fakes."""
    return FAKES / f"fake_{name}.so"


def each_branch(metafunc):
    """For pytest_generate_tests: the cases of real_drivers.each_branch."""
    if "branch" in metafunc.fixturenames:
        metafunc.parametrize("branch", real_drivers.each_branch())


def real_driver(branch):
    """A driver of the cache; the test is skipped where it is not there."""
    if branch not in DRIVERS:
        pytest.skip(f"driver {branch} is not in the cache; tests/drivers/fetch.py fetches it")
    return DRIVERS[branch]


def run_on(driver, command, *arguments, **variables):
    """Run a subcommand on a real driver."""
    libraries = {"LD_LIBRARY_PATH": str(driver.path.parent)} if driver.needs else {}
    return run(command, "--driver", driver.path, *arguments, **libraries, **variables)
