# SPDX-License-Identifier: MIT
"""The command for Windows, under Wine: test_command.py WINE FOLDER COMMAND DRIVER FAKES."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

WINE, FOLDER, COMMAND, DRIVER, FAKES = sys.argv[1:]
NAME = "Драйвер 🚀"


def run(*arguments, code=0, driver=True):
    """Standard output; the exit status is checked."""
    lent = ["--driver", DRIVER] if driver else []
    done = subprocess.run([WINE, *lent, FOLDER, COMMAND, *arguments], capture_output=True,
                          check=False)
    shown = (done.stdout + done.stderr).decode("utf-8").replace("\r\n", "\n")
    assert done.returncode == code, (arguments, done.returncode, shown)
    return shown


def main():
    """Every subcommand, with a driver and without one."""
    shown = run("info", "--init")
    assert "CUDA 13.5, C:\\windows\\system32\\nvcuda.dll" in shown, shown
    assert "MiB" in shown.split("Devices\n")[1], shown
    shown = run("info", code=3, driver=False)
    assert "no driver" in shown and "name its nvcuda.dll in CUSHIM_LIBCUDA" in shown, shown
    assert ".so" not in shown and "ldconfig" not in shown, shown
    shown = run("symbols")
    assert shown.count("\n") > 770, shown
    assert "available  dlsym" in shown, shown[:2000]
    missing = run("symbols", "--missing")
    assert 10 < missing.count("\n") < 100 and "cuD3D11GetDevice" in missing, missing
    shown = run("features", "-i")
    assert "supported             memory-pools: supported" in shown, shown
    assert "fd: it does not exist on Windows" in shown, shown
    run("scan", code=2)
    run(code=2)
    run("--help")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, NAME)
        place.mkdir()
        shutil.copy(Path(FAKES, "fake_v12.dll"), place / "driver.dll")
        shown = run("info", "-d", f"{place}/driver.dll", driver=False)
        assert "CUDA 12.4" in shown and NAME in shown, shown


main()
