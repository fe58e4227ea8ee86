#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Several small files in one text file, each behind a line "==== NAME": read, write, unpack.

    parts.py FILE FOLDER        # makes the files; NAME may have folders in it

Text stands as it is. The bytes of other files stand as hexadecimal numbers: of NAME.bin as words of
32 bits, eight a line, and of what BYTES lists as bytes, 32 a line. "==== NAME -> TARGET" is a link.
"""

import struct
import sys
from pathlib import Path

MARK, LINK = "==== ", " -> "
BYTES = (".fatbin", ".elf")
LICENCE = "# SPDX-License-Identifier" ": MIT\n"  # what such a file begins with


def to_text(name, data):
    """The text of a part."""
    if name.endswith(".bin"):
        words = [f"{word:08x}" for word, in struct.iter_unpack("<I", data)]
        return "".join(" ".join(words[at:at + 8]) + "\n" for at in range(0, len(words), 8))
    if name.endswith(BYTES):
        return "".join(data[at:at + 32].hex(" ", 4) + "\n" for at in range(0, len(data), 32))
    text = data.decode("utf-8")
    if text and not text.endswith("\n") or ("\n" + text).find("\n" + MARK) >= 0:
        raise ValueError(f"{name}: cannot be a part of a text file")
    return text


def to_data(name, text):
    """The bytes of the file that a part stands for."""
    if name.endswith(".bin"):
        return b"".join(struct.pack("<I", int(word, 16)) for word in text.split())
    return bytes.fromhex(text) if name.endswith(BYTES) else text.encode("utf-8")


def read(path):
    """{name: bytes} of a file's parts; of a link its target, as a Path."""
    texts, links, name = {}, {}, None
    # Not splitlines: what a kernel prints may hold other characters that end a line there.
    for line in path.read_bytes().decode("utf-8").split("\n")[:-1]:
        if line.startswith(MARK):
            name, _, target = line.removeprefix(MARK).partition(LINK)
            if name in texts:
                raise ValueError(f"{path}: twice: {name}")
            texts[name] = []
            links |= {name: Path(target)} if target else {}
        elif name:
            texts[name].append(line + "\n")
    return {name: to_data(name, "".join(lines)) for name, lines in texts.items()} | links


def write(path, files, banner=""):
    """Write {name: bytes} in this order, behind a text for readers."""
    path.write_bytes((banner + "".join(
        f"{MARK}{name}{LINK}{data}\n" if isinstance(data, Path)
        else f"{MARK}{name}\n{to_text(name, data)}" for name, data in files.items())
    ).encode("utf-8"))


def unpack(path, folder, wanted=lambda name: True):
    """Make the files of all parts, or of those that are wanted."""
    for name, data in read(path).items():
        if not wanted(name):
            continue
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(data, Path):
            file.symlink_to(data)
        else:
            file.write_bytes(data)
    return folder


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    unpack(Path(sys.argv[1]), Path(sys.argv[2]))
