#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Read and write recorded/: a text file for each heading of kernels.def, with a part for each file
of its kernels, as tests/parts.py has them; kernels.txt is of those that are not listed there.

    pack.py FOLDER [STAMP]      # makes the files, FOLDER/ptx/* and FOLDER/golden/*

PTX and what a kernel prints stand as they are, what a kernel computes (NAME.bin) as numbers. Meson
has the build do it, with STAMP as the output; STAMP.d then lists what was read.
"""

import functools
import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

import parts  # noqa: E402 pylint: disable=wrong-import-position

RECORDED = HERE / "recorded"
OTHERS = "kernels"
BANNER = """// SPDX-License-Identifier: MIT
// What compilers made of kernels (build.py), and what a GPU gave for it (settle.py); do not edit.
"""


@functools.lru_cache(None)
def headings():
    """{kernel: heading}, as kernels.def has them."""
    found, heading = {}, None
    for line in (HERE / "kernels.def").read_text(encoding="utf-8").splitlines():
        match = re.match(r"/\* == (\w+) == \*/|KERNEL\((\w+)", line)
        heading = match and match[1] or heading
        if match and match[2]:
            found[match[2]] = heading
    return found


def path_of(kernel, folder=RECORDED):
    """The text file that has a kernel's parts."""
    return folder / f"{headings().get(kernel, OTHERS)}.txt"


def is_of(kernel, name):
    """Whether a file is one of a kernel's."""
    return name.split(".")[0] == kernel


def read_all(path):
    """{file name: bytes} of a text file; none where it is not there."""
    return parts.read(path) if path.exists() else {}


def read(kernel, folder=RECORDED):
    """{file name: bytes} of a kernel."""
    return {name: data for name, data in read_all(path_of(kernel, folder)).items()
            if is_of(kernel, name)}


def write(kernel, files, folder=RECORDED):
    """Write what a kernel has: by kernels, and PTX first."""
    path = path_of(kernel, folder)
    others = {name: data for name, data in read_all(path).items() if not is_of(kernel, name)}
    order = sorted((others | files).items(), key=lambda item: (
        item[0].split(".")[0], not item[0].endswith(".ptx"), item[0]))
    if order:
        parts.write(path, dict(order), BANNER)
    elif path.exists():
        path.unlink()


def kernels():
    """The names of all that have something recorded."""
    return sorted({name.split(".")[0] for path in RECORDED.glob("*.txt")
                   for name in read_all(path)})


def unpack(folder):
    """Make all files, and those that are written by hand; what was there before goes."""
    for name in ("ptx", "golden"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)
    for path in RECORDED.glob("*.txt"):
        for name, data in read_all(path).items():
            (folder / ("ptx" if name.endswith(".ptx") else "golden") / name).write_bytes(data)
    for path in HERE.glob("*.hand.ptx"):
        shutil.copy(path, folder / "ptx")


def depfile(stamp):
    """What ninja is to look at; the folders too, as files come and go."""
    paths = [stamp, Path(__file__).resolve(), Path(parts.__file__), HERE, HERE / "kernels.def",
             RECORDED, *HERE.glob("*.hand.ptx"), *RECORDED.glob("*.txt")]
    names = [re.sub(r"([ #\\])", r"\\\1", str(path)).replace("$", "$$") for path in paths]
    return f"{names[0]}: {' '.join(names[1:])}\n"


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    unpack(Path(sys.argv[1]))
    if len(sys.argv) == 3:
        Path(sys.argv[2] + ".d").write_text(depfile(sys.argv[2]), encoding="utf-8")
        Path(sys.argv[2]).write_text("", encoding="utf-8")


if __name__ == "__main__":
    main()
