#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn a kernel into a C header that holds its PTX as a NUL-terminated string.

vecadd.ptx becomes `static const char vecadd_ptx[]`. Written as character codes, because C
compilers limit the length of a string literal. A .cu file is compiled by clang first, without a
CUDA toolkit. Installed as cushim-embed; standard library only.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

PER_LINE = 20
HERE = pathlib.Path(__file__).resolve().parent
TABLE = "drivers.jsonl"  # which release reads which PTX: installed beside this file
TABLES = [HERE / TABLE, HERE.parent / "gen" / "registry" / TABLE]

# PTX 3.2 is CUDA 5.5's and sm_20 the oldest target that LLVM writes, so that any driver with
# 64-bit PTX compiles the result for its own GPU. An empty --cuda-path keeps an installed toolkit
# from raising the version.
ISA, TARGET = "3.2", "sm_20"


def command(isa=ISA, target=TARGET):
    """The compiler's options, without the source."""
    return ["-x", "cuda", "--cuda-device-only", f"--cuda-gpu-arch={target}",
            "-Xclang", "-target-feature", "-Xclang", "+ptx" + isa.replace(".", ""),
            "--cuda-path=/var/empty", "-nocudainc", "-nocudalib",
            "-include", str(HERE / "cuda_subset.h"),
            "-O2", "-Wall", "-Werror", "-S", "-o", "-"]


def strip_comments(ptx):
    """Drop the compiler's banner and remarks, and the blank lines that they leave."""
    kept = []
    for line in ptx.splitlines():
        line = re.sub(r"//.*", "", line).rstrip()
        if line or (kept and kept[-1]):
            kept.append(line)
    return "\n".join(kept).rstrip("\n") + "\n"


def compile_kernel(clang, source, isa=ISA, target=TARGET):
    """PTX of a .cu file."""
    done = subprocess.run([clang, *command(isa, target), source.name], cwd=source.parent or None,
                          check=True, stdout=subprocess.PIPE, text=True)
    return strip_comments(done.stdout)


def embed(source, data):
    """Text of the header that holds `data`."""
    licence = re.search(rb"SPDX-License-Identifier: ([\w.+() -]*\w)", source.read_bytes())
    codes = [str(byte) for byte in data] + ["0"]
    rows = [", ".join(codes[i:i + PER_LINE]) for i in range(0, len(codes), PER_LINE)]
    mark = "SPDX-" "License-Identifier"
    return "\n".join([
        *([f"/* {mark}: {licence[1].decode('ascii')} */"] if licence else []),
        f"/* Generated from {source.name} by {pathlib.Path(sys.argv[0]).name}; do not edit. */",
        "",
        f"static const char {source.stem}_ptx[] = {{",
        *(f"    {row}," for row in rows),
        "};",
        "",
    ])


def check(path, data):
    """Refuse what is no PTX text, with file and line."""
    if b".version" not in data:
        sys.exit(f"{path}: no PTX, it has no .version line")
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.isascii() or b"\0" in line:
            sys.exit(f"{path}:{number}: a byte that is not ASCII text")


def directive(path, data, name, pattern):
    """(line, number) of .version or .target: 6.0 -> 60, sm_90a -> 90."""
    for number, line in enumerate(data.decode("ascii").splitlines(), 1):
        match = re.match(rf"\s*\.{name}\s+{pattern}", line)
        if match:
            return number, int("".join(match.groups()))
    sys.exit(f"{path}: it has no .{name} line")


def releases():
    """The table's rows, oldest release first."""
    table = next((path for path in TABLES if path.exists()), None)
    if not table:
        sys.exit(f"{TABLES[0]}: not found, so --oldest cannot be checked")
    rows = map(json.loads, table.read_text(encoding="utf-8").splitlines())
    return [row for row in rows if "ptx" in row and "release" in row]


def shown(release):
    """12040 -> 12.4"""
    return f"{release // 1000}.{release % 1000 // 10}"


def check_oldest(path, data, oldest):
    """Refuse what a driver of that release does not read."""
    major, minor = map(int, oldest.split("."))
    wanted, rows = major * 1000 + minor * 10, releases()
    newest = rows[-1]["release"]
    line, version = directive(path, data, "version", r"(\d+)\.(\d)")
    since = next((row["release"] for row in rows if row["ptx"] >= version), None)
    if since is None or since > max(wanted, rows[0]["release"]):
        first = f"from CUDA {shown(since)} on" if since else f"newer than CUDA {shown(newest)}"
        sys.exit(f"{path}:{line}: drivers {first} read .version {version // 10}.{version % 10}, "
                 f"and --oldest is {oldest}")
    line, target = directive(path, data, "target", r"sm_(\d+)")
    since = next((row["release"] for row in rows if target in row.get("targets", [])), None)
    if since and since > max(wanted, rows[0]["release"]):
        sys.exit(f"{path}:{line}: drivers from CUDA {shown(since)} on know the target sm_{target}, "
                 f"and --oldest is {oldest}")


def main():
    parser = argparse.ArgumentParser(prog="cushim-embed",
                                     description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("input", type=pathlib.Path, help="a .ptx file, or a .cu file for clang")
    parser.add_argument("output", type=pathlib.Path, help="the header to write")
    parser.add_argument("--oldest", metavar="RELEASE",
                        help="refuse PTX that drivers of this CUDA release (10.2) do not read")
    parser.add_argument("--clang", default="clang", help="compiler for .cu (default: clang)")
    parser.add_argument("--isa", default=ISA, metavar="X.Y",
                        help=f".version of the PTX that clang makes (default: {ISA})")
    parser.add_argument("--target", default=TARGET, metavar="sm_NN",
                        help=f"its .target (default: {TARGET})")
    options = parser.parse_args()
    path = options.input
    if not re.fullmatch(r"[A-Za-z_]\w*", path.stem, re.ASCII):
        sys.exit(f"{path}: the file's name does not make a C identifier")
    if options.oldest and not re.fullmatch(r"\d+\.\d", options.oldest):
        parser.error(f"--oldest {options.oldest}: a release is written as 10.2")
    try:
        data = path.read_bytes()
        if path.suffix == ".cu":
            data = compile_kernel(options.clang, path.resolve(), options.isa,
                                  options.target).encode("utf-8")
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"{path}: {error}")
    check(path, data)
    if options.oldest:
        check_oldest(path, data, options.oldest)
    options.output.write_text(embed(path, data), encoding="utf-8")


if __name__ == "__main__":
    main()
