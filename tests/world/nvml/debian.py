#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Debian's programs for NVML on the simulated one: nvtop, lstopo and nvidia-smi.

    python3 tests/world/nvml/debian.py build/tools/cushim

apt fetches them into a temporary folder; nothing is installed. Two devices are simulated, and
load.py uses the first. The exit code is 1 if one does not show them, and 77 if apt has none.
"""

import argparse
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "drivers"))

from fetch import Suite, Unavailable, debian_source  # noqa: E402

PACKAGES = {"contrib": ["nvtop", "libhwloc-contrib-plugins"], "non-free": ["nvidia-smi"],
            "main": ["hwloc-nox", "libhwloc15", "libhwloc-plugins"]}
NAME = "NVIDIA H200"


def fetch(folder):
    """Unpack the packages."""
    for component, names in PACKAGES.items():
        suite = Suite("bookworm", debian_source(), folder / component, component=component)
        suite.update()
        for package in suite.packages:
            if package["package"] in names:
                suite.download(package, folder / "root")


def on_terminal(command, seconds):
    """What a program writes to a terminal, without what moves the cursor."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ["TERM"] = "xterm"
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
    text, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                text += os.read(terminal, 65536)
            except OSError:  # it has ended
                break
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    plain = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[()][A-B0]|\x1b[=>78]", b"", text)
    return plain.decode("utf-8", "replace")


def output(*command):
    """What a program prints."""
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stdout


def show(root):
    """In the simulated system: the programs one after the other; what is wrong with them."""
    libraries = root / "usr/lib/x86_64-linux-gnu"
    os.environ["LD_LIBRARY_PATH"] += f":{libraries}"
    os.environ["HWLOC_PLUGINS_PATH"] = str(libraries / "hwloc")
    wrong = []
    with subprocess.Popen([sys.executable, HERE / "load.py"], stdout=subprocess.PIPE,
                          text=True) as load:
        assert load.stdout.readline() == "ready\n"
        text = on_terminal([str(root / "usr/bin/nvtop"), "-d", "5"], 4)
        shown = [word for word in (NAME, "0.098Gi", str(load.pid)) if word in text]
        print("nvtop shows", *shown)
        wrong += [] if len(shown) == 3 else ["nvtop"]
        text = output(root / "usr/bin/lstopo-no-graphics")
        shown = re.findall(r'"(nvml\d)"', text)
        print("lstopo shows", *shown)
        wrong += [] if shown == ["nvml0", "nvml1"] else ["lstopo"]
        text = output(root / "usr/lib/nvidia/current/nvidia-smi")
        print("nvidia-smi prints", " ".join(text.split()))
        load.kill()
    return wrong


def main():
    """Fetch and run; with --inside, as `cushim sim` starts it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("cushim", type=Path, help="the command, or with --inside the packages")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        return 1 if show(options.cushim) else 0
    with tempfile.TemporaryDirectory() as folder:
        try:
            fetch(Path(folder))
        except Unavailable as reason:
            print(reason)
            return 77
        return subprocess.run([options.cushim, "sim", "--quiet", "--profile", "hopper", "--cuda",
                               "12.2", "--devices", "2", "--", sys.executable, __file__, "--inside",
                               Path(folder) / "root"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
