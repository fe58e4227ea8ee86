# SPDX-License-Identifier: MIT
"""docs/simulated-entries.md has what src/sim/missing.def marks, and the code uses every mark."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SIM = ROOT / "src" / "sim"


def test_page_of_entries(tmp_path):
    file = tmp_path / "entries.md"
    subprocess.run([sys.executable, ROOT / "gen" / "emit.py", "sim_entries.md", file], check=True)
    assert file.read_text(encoding="utf-8") == \
        (ROOT / "docs" / "simulated-entries.md").read_text(encoding="utf-8"), \
        "renew it: the command is in the file"


def test_marks_are_used():
    """A behaviour that refuses nothing any more has no line. The compiler finds the rest: a mark
    without a line, an entry that has neither behaviour nor line, or both."""
    marks = re.findall(r"^PARTLY\((\w+), (\w+),", (SIM / "missing.def").read_text("utf-8"), re.M)
    code = "".join(file.read_text(encoding="utf-8") for file in SIM.glob("*/*.c"))
    unused = [mark for mark in marks if f"SIM_LACK_{mark[0]}_{mark[1]}" not in code]
    assert marks and not unused
