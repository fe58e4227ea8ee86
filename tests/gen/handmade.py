# SPDX-License-Identifier: MIT
"""Small toolkits of our own for the scanner's tests, and the scanner run on them."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
GEN = HERE.parents[1] / "gen"
NEEDS_CLANG = pytest.mark.skipif(importlib.util.find_spec("clang") is None, reason="libclang's "
                                 "Python bindings (python3-clang) are not installed")
FILES = ("entries", "types", "levels", "typedefs")


def toolkits(case, folder, releases=None):
    """A copy of a case's headers, of all or of some releases."""
    for release in sorted((HERE / "headers" / case).iterdir()):
        if releases is None or release.name in releases:
            shutil.copytree(release, folder / release.name, symlinks=True)
    return folder


def edit(file, *changes):
    """Replace texts that a file must hold once; a link to another platform's becomes a file."""
    text = file.read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, f"{text.count(old)} times in {file}: {old}"
        text = text.replace(old, new)
    file.unlink()
    file.write_text(text, encoding="utf-8")


def line_of(file, text):
    """Number of the first line that holds TEXT."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def scan(headers, registry, *options):
    """The finished scan.py, run as a maintainer would."""
    registry.mkdir(exist_ok=True)
    return subprocess.run([sys.executable, GEN / "scan.py", headers, "--registry", registry,
                           *options], capture_output=True, text=True, check=False)


def scanned(headers, registry, *options):
    """The registry's text after a scan that must succeed."""
    done = scan(headers, registry, *options)
    assert done.returncode == 0, done.stderr
    return registry_text(registry)


def registry_text(registry):
    """name -> text of what scan.py writes."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(registry.iterdir())}
