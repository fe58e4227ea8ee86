# SPDX-License-Identifier: MIT
"""What the measurements share: a table of results, and how instructions are counted."""

import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

# Where the drivers to measure with are listed.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "drivers"))


@dataclass
class Table:
    """A title, what was measured and how, and rows of text; `failures` break a promise."""

    title: str
    text: str
    head: tuple
    rows: list = field(default_factory=list)
    failures: list = field(default_factory=list)


def output(*command, environment=None):
    """What a program prints; an exception where it fails."""
    return subprocess.run([str(word) for word in command], env=environment, check=True,
                          capture_output=True, text=True).stdout


def instructions(function, *command, environment=None):
    """How many instructions a function and what it calls execute, by callgrind."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder, "callgrind.out")
        output("valgrind", "--tool=callgrind", f"--toggle-collect={function}",
               f"--callgrind-out-file={record}", *command, environment=environment)
        return int(re.search(r"^(?:summary|totals): (\d+)", record.read_text(), re.M)[1])


def quartiles(values):
    """The lower and the upper one, as text."""
    low, _, high = statistics.quantiles(values) if len(values) > 1 else values * 3
    return f"{low:.2f} to {high:.2f}"


def short(driver):
    """A driver in a table."""
    return f"{driver.version} ({driver.cuda // 1000}.{driver.cuda % 1000 // 10})"
