# SPDX-License-Identifier: MIT
"""tools/quickstart: what it says while it builds and at the end; a failure is passed on."""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def quickstart(folder, code):
    """In a tree in which the demo ends with a code, and nothing takes time."""
    (folder / "tools").mkdir()
    (folder / "build/tools").mkdir(parents=True)
    shutil.copy(ROOT / "tools/quickstart", folder / "tools")
    for name, text in [("tools/setup", "echo setup"), ("tools/configure", "echo unseen"),
                       ("ninja", "echo ninja"),
                       ("build/tools/cushim", f'echo "cushim $*"; exit {code}')]:
        (folder / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    done = subprocess.run(["sh", "tools/quickstart", "--simulated"], cwd=folder, text=True,
                          env={"PATH": f"{folder}:/usr/bin:/bin"}, capture_output=True)
    return done.returncode, done.stdout.splitlines()


def test_says_what_it_does(tmp_path):
    code, lines = quickstart(tmp_path, 0)
    assert code == 0 and lines[:4] == [
        "setup", "quickstart: building, in a minute or two", "ninja", "cushim demo --simulated"]
    assert "sh tools/install" in lines[4] and "docs/guide.md" in lines[5]
    assert (ROOT / "tools/install").exists() and (ROOT / "docs/guide.md").exists()


def test_a_failure_is_passed_on(tmp_path):
    code, lines = quickstart(tmp_path, 3)
    assert code == 3 and lines[-1] == "cushim demo --simulated"
