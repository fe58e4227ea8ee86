#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make small files of each kind that `cushim scan` reads, to fuzz from: scan_corpus.py FOLDER
[FILE]."""

import random
import subprocess
import sys
import zipfile
from pathlib import Path

import corpus
from cubins import alone

SOURCE = """
extern int cuInit(unsigned), cuMemAlloc_v2(void *, unsigned long);
const char *const names[] = {"libcuda.so.1", "cuMemAllocAsync", "cuGetProcAddress_v2"};
int use(void) { return cuInit(0) + cuMemAlloc_v2(0, 1); }
"""

CALLS = r"""
#define CUSHIM_CUDA_VERSION 13000
static const char *const needed[] = {"cuCtxGetId", NULL}; // CUSHIM_HAS(cu, cuGraphCreate)
int main(void) { return cushim_require(cu, CUSHIM_CUDA_VERSION, &needed[0]) ||
    cushim_require(cu, (11020), (const char *[]){"cuGreenCtxCreate"}) || puts(R"x(")x") }
int call(void) { if (cushim_has(cu, "cuMemAllocAsync")) cu . cuMemAllocAsync /* */ (0, 1'0, 0);
    return cu->cuCtxCreate(0) + table.cuMemcpy_v1(PRIuPTR"\\"); }
"""


def run(*command):
    """Run a command that must succeed."""
    subprocess.run([str(word) for word in command], check=True)


def main():
    """An object, a library, the same stripped of its section headers, an archive, a wheel, PE; and
    each of them damaged. With a second argument, write it when the files are there."""
    folder = Path(sys.argv[1])
    fatbins = {name: data for name, data in corpus.parts.read(corpus.source("fatbin")).items()
               if name.endswith(".fatbin")}
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "a.c"
    source.write_text(SOURCE, encoding="utf-8")
    run("cc", "-c", source, "-o", folder / "a.o")
    run("cc", "-shared", "-nostdlib", "-fPIC", source, "-o", folder / "a.so")
    whole = bytearray((folder / "a.so").read_bytes())
    whole[40:48] = bytes(8)
    whole[58:64] = bytes(6)
    (folder / "headless.so").write_bytes(whole)
    run("ar", "rcs", folder / "a.a", folder / "a.o")
    with zipfile.ZipFile(folder / "a.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.write(folder / "a.o", "a/a.o")
        for name, data in fatbins.items():
            wheel.writestr(name, data)
    for name, data in fatbins.items():
        (folder / name).write_bytes(data)
    (folder / "a.cubin").write_bytes(alone(90, abi=8, note=130, compat=bytes([2, 9, 1, 0])))
    (folder / "b.cubin").write_bytes(alone(80) + alone(86) + alone(80, kernel=".text.b"))
    try:
        (folder / "nvcuda.def").write_text("LIBRARY nvcuda.dll\nEXPORTS\ncuInit\ncuMemAlloc_v2\n")
        run("x86_64-w64-mingw32-dlltool", "-d", folder / "nvcuda.def", "-l", folder / "nvcuda.a")
        run("x86_64-w64-mingw32-gcc", "-shared", "-nostdlib", "-s", "-e", "use", source,
            folder / "nvcuda.a", "-o", folder / "w.dll")
    except (OSError, subprocess.CalledProcessError):
        print("no Windows compiler: no PE file in the corpus", file=sys.stderr)
    source.unlink()
    (folder / "calls.c").write_text(CALLS, encoding="utf-8")
    damage(folder)


def damage(folder):
    """Hostile ones, always the same: each file cut off, with odd numbers, and with odd headers."""
    chance = random.Random(1)
    for path in sorted(folder.glob("[!~]*")):
        whole = path.read_bytes()
        for part in (0, 1, 4, 20, 63, 64, 120, len(whole) // 2, len(whole) - 1):
            (folder / f"~{path.name}-{part}").write_bytes(whole[:part])
        for number in range(12):
            changed = bytearray(whole)
            for _ in range(1 + number % 3):
                # Headers are at the start of most; an odd number is at the edge of its range.
                at = chance.randrange(min(len(whole), 400 if number % 2 else len(whole)))
                odd = chance.choice((b"\0" * 4, b"\xff" * 8, b"\x7f", b"\x80", b"\xff" * 2, b"\1"))
                changed[at:at + len(odd)] = odd
            (folder / f"~{path.name}~{number}").write_bytes(changed)


if __name__ == "__main__":
    main()
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text("made\n", encoding="utf-8")
