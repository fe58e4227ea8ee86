# SPDX-License-Identifier: MIT
"""The command on a driver for another processor: what tests/platforms/driver runs."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "drivers"))

from real_drivers import FOREIGN, foreign_driver, nm_exports, registry  # noqa: E402

COMMAND = shlex.split(os.environ["CUSHIM_COMMAND"])
DRIVER = foreign_driver(Path(FOREIGN))


def cushim(*arguments):
    """What the command prints about the driver."""
    done = subprocess.run([*COMMAND, *arguments, "--driver", str(DRIVER.path)], text=True,
                          capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_symbols_are_those_of_the_file():
    """Every entry of the registry, and for each that is available the file's own address."""
    shown = json.loads(cushim("symbols", "--json"))
    assert shown["driver"]["version"] == DRIVER.cuda
    symbols = {row["symbol"]: row for row in shown["symbols"]}
    assert list(symbols) == [entry["symbol"] for entry in registry()]
    exports = nm_exports(DRIVER.path)
    available = {name: int(row["offset"], 16) for name, row in symbols.items()
                 if row["state"] == "available"}
    assert available == {name: exports[name] for name in exports if name in symbols}
    assert len(available) > 500


def test_audit_agrees():
    """Both routes find the same address for each entry."""
    shown = json.loads(cushim("symbols", "--audit", "--json"))
    assert (shown["compared"], shown["differences"]) == (len(registry()), [])


def test_info():
    """It says which file it has opened, and how many entries that one has."""
    shown = json.loads(cushim("info", "--json"))
    assert shown["driver"]["version"] == DRIVER.cuda
    assert Path(shown["driver"]["path"]) == DRIVER.path
    known = {entry["symbol"] for entry in registry()} & set(nm_exports(DRIVER.path))
    assert f"{len(known)} of {len(registry())} entries" in shown["driver"]["message"]
