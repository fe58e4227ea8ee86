#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Read and write recorded/: one text file for each kernel, with a part for each file of it.

    pack.py FOLDER [STAMP]      # makes the files, FOLDER/ptx/* and FOLDER/golden/*

A part begins with a line "==== NAME". PTX and what a kernel prints stand as they are. What a kernel
computes (NAME.bin) stands as words of 32 bits, as hexadecimal numbers, eight a line. Meson has the
build do it, with STAMP as the output; STAMP.d then lists what was read.
"""

import re
import shutil
import struct
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECORDED = HERE / "recorded"
BANNER = """// SPDX-License-Identifier: MIT
// What compilers made of {name} (build.py), and what a GPU gave for it (settle.py); do not edit.
"""
MARK = "==== "


def to_text(name, data):
    """The text of a part."""
    if not name.endswith(".bin"):
        text = data.decode("utf-8")
        if text and not text.endswith("\n") or ("\n" + text).find("\n" + MARK) >= 0:
            raise ValueError(f"{name}: cannot be a part of a text file")
        return text
    words = [f"{word:08x}" for word, in struct.iter_unpack("<I", data)]
    return "".join(" ".join(words[at:at + 8]) + "\n" for at in range(0, len(words), 8))


def to_data(name, text):
    """The bytes of the file that a part stands for."""
    if not name.endswith(".bin"):
        return text.encode("utf-8")
    return b"".join(struct.pack("<I", int(word, 16)) for word in text.split())


def read(kernel, folder=RECORDED):
    """{file name: bytes} of a kernel."""
    path = folder / f"{kernel}.txt"
    if not path.exists():
        return {}
    texts, name = {}, None
    # Not splitlines: what a kernel prints may hold other characters that end a line there.
    for line in path.read_bytes().decode("utf-8").split("\n")[:-1]:
        if line.startswith(MARK):
            name = line.removeprefix(MARK)
            if name in texts or name.split(".")[0] != kernel:
                raise ValueError(f"{path}: twice, or of another kernel: {name}")
            texts[name] = []
        elif name:
            texts[name].append(line + "\n")
    return {name: to_data(name, "".join(lines)) for name, lines in texts.items()}


def write(kernel, files, folder=RECORDED):
    """Write what a kernel has; PTX first."""
    order = sorted(files, key=lambda name: (not name.endswith(".ptx"), name))
    text = BANNER.format(name=kernel) + "".join(
        f"{MARK}{name}\n{to_text(name, files[name])}" for name in order)
    path = folder / f"{kernel}.txt"
    if files:
        path.write_bytes(text.encode("utf-8"))
    elif path.exists():
        path.unlink()


def kernels():
    """The names of all that have something recorded."""
    return sorted(path.stem for path in RECORDED.glob("*.txt"))


def unpack(folder):
    """Make all files, and those that are written by hand; what was there before goes."""
    for name in ("ptx", "golden"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)
    for kernel in kernels():
        for name, data in read(kernel).items():
            (folder / ("ptx" if name.endswith(".ptx") else "golden") / name).write_bytes(data)
    for path in HERE.glob("*.hand.ptx"):
        shutil.copy(path, folder / "ptx")


def depfile(stamp):
    """What ninja is to look at; the folders too, as files come and go."""
    paths = [stamp, Path(__file__).resolve(), HERE, RECORDED, *HERE.glob("*.hand.ptx"),
             *RECORDED.glob("*.txt")]
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
