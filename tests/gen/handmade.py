# SPDX-License-Identifier: MIT
"""Small toolkits of our own for the scanner's tests, a tiny registry for the generator's, and both
run on them. What they have to make of them are the files golden-*.txt.

To renew those after a wanted change, and read the difference before committing it:
    /usr/bin/python3 handmade.py
"""

import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
GEN = HERE.parents[1] / "gen"
sys.path.insert(0, str(HERE.parent))

import parts  # noqa: E402 pylint: disable=wrong-import-position

CASES = sorted(path.stem.partition("-")[2] for path in HERE.glob("headers-*.txt"))
SCRATCH = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with  # ends with Python
REGISTRY = parts.unpack(HERE / "registry.txt", Path(SCRATCH.name, "registry"))
NEEDS_CLANG = pytest.mark.skipif(importlib.util.find_spec("clang") is None, reason="libclang's "
                                 "Python bindings (python3-clang) are not installed")
FILES = ("entries", "types", "levels", "typedefs")


def toolkits(case, folder, releases=None):
    """A copy of a case's headers, of all or of some releases."""
    parts.unpack(HERE / f"headers-{case}.txt", folder,
                 lambda name: releases is None or name.split("/")[0] in releases)
    return folder


def golden(name):
    """{file: text} that has to be made."""
    return {file: data.decode("utf-8")
            for file, data in parts.read(HERE / f"golden-{name}.txt").items()}


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


def emit(output, file, registry=REGISTRY):
    """The finished emit.py, run as the build does."""
    return subprocess.run([sys.executable, GEN / "emit.py", output, file, "--registry", registry],
                          capture_output=True, text=True, check=False)


def renew(folder):
    """Write the golden files anew."""
    outputs = {}
    for output in golden("emit"):
        assert emit(output, folder / output).returncode == 0
        outputs[output] = (folder / output).read_bytes()
    parts.write(HERE / "golden-emit.txt", outputs, parts.LICENCE)
    for case in CASES:
        made = scanned(toolkits(case, folder / case), folder / f"{case}-registry")
        parts.write(HERE / f"golden-{case}.txt",
                    {f"{name}.jsonl": text.encode("utf-8") for name, text in made.items()},
                    parts.LICENCE)


if __name__ == "__main__":
    renew(Path(SCRATCH.name))
