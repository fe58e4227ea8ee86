#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Build the test framework cmocka for a platform that Debian has no package of it for.

Usage: cmocka.py FOLDER COMPILER [OPTION...]. The source is Debian's, fetched by apt once and kept
beside FOLDER. What pkg-config needs is FOLDER/cmocka.pc. Nothing is installed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "gen"))

from archive import opened, release  # noqa: E402
from fetching import Unavailable, locked  # noqa: E402

# Its CMakeLists.txt would look for these; each platform of the tests has them.
FOUND = ["INTTYPES_H", "MALLOC_H", "SIGNAL_H", "STRINGS_H", "SIGLONGJMP", "STRSIGNAL",
         "STRUCT_TIMESPEC", "CLOCK_REALTIME", "GCC_THREAD_LOCAL_STORAGE"]


def fetch(folder):
    """The source, unpacked into a new folder in one step."""
    if folder.exists():
        return
    with opened([release()], component="main", kind="deb-src") as (suite,), \
            tempfile.TemporaryDirectory() as work:
        suite.source("cmocka")
        archive = next((suite.folder / "download").glob("*.orig.tar.*[!c]"))
        unpacked = Path(work, "unpacked")
        unpacked.mkdir()
        subprocess.run(["tar", "-xf", archive, "-C", unpacked, "--strip-components=1"], check=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(unpacked, folder)


def build(source, folder, compiler):
    """A static library and its pkg-config file, the file last."""
    if (folder / "cmocka.pc").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(source / "include" / "cmocka.h", folder)
    subprocess.run([*compiler, "-O1", "-fPIC", "-w", *[f"-DHAVE_{name}" for name in FOUND],
                    f"-I{source / 'include'}", "-c", source / "src" / "cmocka.c",
                    "-o", folder / "cmocka.o"], check=True)
    subprocess.run(["ar", "rcs", folder / "libcmocka.a", folder / "cmocka.o"], check=True)
    text = (f"Name: cmocka\nDescription: built by cmocka.py\nVersion: 1\n"
            f"Cflags: -I{folder}\nLibs: {folder}/libcmocka.a\n")
    made = folder / f"cmocka.pc.{os.getpid()}"
    made.write_text(text, encoding="utf-8")
    made.rename(folder / "cmocka.pc")


def main():
    """Fetch and build what is missing."""
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder = Path(sys.argv[1]).resolve()
    source = folder.parent / "cmocka-source"
    try:
        with locked(folder.parent):
            fetch(source)
            build(source, folder, sys.argv[2:])
    except Unavailable as failure:
        sys.exit(f"cmocka.py: the source of cmocka is not to be had: {failure}")


if __name__ == "__main__":
    main()
