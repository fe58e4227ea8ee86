#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the PTX of the conformance kernels again, or check that it is what the sources give.

Each kernel of kernels.def is compiled by nvcc and by clang with four levels of optimisation each.
Levels that give the same text share one part of recorded/*.txt, NAME.nvcc-O0-O1.ptx. The build
reads the committed PTX alone; maintainers run this after a change. Kernels written by hand are
NAME.hand.ptx. What holds code of the toolkit's own is not committed: --toolkit makes it.
"""

import argparse
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import pack

FOLDER = pathlib.Path(__file__).resolve().parent
LEVELS = ["O0", "O1", "O2", "O3"]

# Debian 12's clang knows targets up to sm_86 and PTX up to 7.5.
CLANG_NEWEST = 86

# Which compilers make a kernel's PTX, for what is committed and for what is not.
COMMITTED = {"BOTH": ["nvcc", "clang"], "NVCC": ["nvcc"], "HAND": [], "TOOLKIT": []}
TOOLKIT = {"BOTH": [], "NVCC": [], "HAND": [], "TOOLKIT": ["nvcc"]}

KERNEL = re.compile(r"^KERNEL\((\w+),\s*(\w+),\s*(\d+)(a?),", re.MULTILINE)


def read_kernels():
    """(name, from, arch, suffix) of each line of kernels.def."""
    return KERNEL.findall((FOLDER / "kernels.def").read_text())


def strip(ptx):
    """Drop comments, blank lines and indentation: half of the text, and no code."""
    kept = []
    for line in ptx.splitlines():
        # No string of the kernels has two slashes: PTX writes strings as numbers.
        line = re.sub(r"\s*//.*", "", line).strip()
        # nvcc's names of static functions hold hashes of where the source lies.
        line = re.sub(r"(_INTERNAL_)[0-9a-f]{8}(_\d+_\w+?_cu_)[0-9a-f]{8}", r"\g<1>0\g<2>0", line)
        line = re.sub(r"(_INTERNAL_)[0-9a-f]{8}_", r"\g<1>0_", line)
        if line:
            kept.append(line)
    return "\n".join(kept) + "\n"


def nvcc_command(nvcc, source, arch, level):
    # -Xcicc: the device's optimiser. nvcc's own -O is the host's.
    return [nvcc, "-ptx", f"-arch=compute_{arch}", "-Xcicc", f"-{level}", "-fmad=false",
            "-std=c++17", "-include", "conform.h", source]


def clang_command(clang, source, arch, level):
    return [clang, "-x", "cuda", "--cuda-device-only", f"--cuda-gpu-arch=sm_{arch}",
            "-Xclang", "-target-feature", "-Xclang", "+ptx75",
            "--cuda-path=/var/empty", "-nocudainc", "-nocudalib", "-ffp-contract=off",
            "-include", "conform.h", f"-{level}", "-Wall", "-Werror", "-Wno-unused-function",
            "-S", source]


def compile_one(command):
    # Not to a pipe: nvcc reads what it wrote.
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "out.ptx"
        done = subprocess.run([*command, "-o", target], cwd=FOLDER, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise RuntimeError(" ".join(command) + "\n" + done.stdout + done.stderr)
        return strip(target.read_text())


def variants(kernel, compilers, origins):
    """{file name: text} of one kernel."""
    name, origin, arch, suffix = kernel
    files = {}
    for compiler, make in (("nvcc", nvcc_command), ("clang", clang_command)):
        if not compilers.get(compiler) or compiler not in origins[origin]:
            continue
        if compiler == "clang" and (int(arch) > CLANG_NEWEST or suffix):
            continue
        texts = {}
        for level in LEVELS:
            text = compile_one(make(compilers[compiler], name + ".cu", arch + suffix, level))
            texts.setdefault(text, []).append(level)
        for text, levels in texts.items():
            files[f"{name}.{'-'.join([compiler, *levels])}.ptx"] = text.encode("utf-8")
    return files


def compare(kernel, made, compilers, write):
    """Bring what is recorded up to date for one kernel, or count what is not."""
    recorded = pack.read(kernel[0])
    # What another compiler made stays where that is not there; and so does what a GPU gave.
    kept = {name: data for name, data in recorded.items()
            if not name.endswith(".ptx") or not compilers.get(name.split(".")[1].split("-")[0])}
    wanted = kept | made
    stale = sorted(name for name in recorded.keys() | wanted.keys()
                   if recorded.get(name) != wanted.get(name))
    for name in stale:
        if name not in wanted:
            print(f"{name}: no source gives it", file=sys.stderr)
        else:
            print(f"{name}: {'written' if write else 'not what its source gives'}",
                  file=sys.stdout if write else sys.stderr)
    if write and stale:
        pack.write(kernel[0], wanted)
    return len(stale)


def make_folder(folder, made):
    """Write the files of a kernel that is not committed."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in made.items():
        (folder / name).write_bytes(data)


def assemble(ptxas, paths):
    """Number of files that ptxas refuses for sm_90."""
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = {path: pool.submit(subprocess.run,
                                  [ptxas, "-c", "--gpu-name", "sm_90", "-o", "/dev/null", path],
                                  stderr=subprocess.PIPE, text=True) for path in paths}
        for path, job in jobs.items():
            if job.result().returncode:
                print(f"{path.name}: {job.result().stderr}", file=sys.stderr)
                wrong += 1
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    parser.add_argument("--clang", default=shutil.which("clang"))
    parser.add_argument("--check", action="store_true",
                        help="write nothing; exit 1 if a file differs from what its source gives. "
                        "A compiler that is not there is passed over")
    parser.add_argument("--assemble", metavar="PTXAS",
                        help="only compile what is recorded with this ptxas")
    parser.add_argument("--toolkit", metavar="FOLDER", type=pathlib.Path,
                        help="make the kernels that are not committed, in this folder")
    parser.add_argument("name", nargs="*", help="kernels (default: all)")
    options = parser.parse_args()

    if options.assemble:
        with tempfile.TemporaryDirectory() as folder:
            pack.unpack(pathlib.Path(folder))
            paths = [path for path in sorted(pathlib.Path(folder, "ptx").glob("*.ptx"))
                     if not options.name or path.name.split(".")[0] in options.name]
            return assemble(options.assemble, paths) != 0
    compilers = {"nvcc": options.nvcc if pathlib.Path(options.nvcc).exists() else None,
                 "clang": options.clang}
    origins = TOOLKIT if options.toolkit else COMMITTED
    kernels = [kernel for kernel in read_kernels()
               if (origins[kernel[1]] or not options.toolkit and kernel[1] == "TOOLKIT")
               and (not options.name or kernel[0] in options.name)]
    stale = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [(kernel, pool.submit(variants, kernel, compilers, origins)) for kernel in kernels]
        for kernel, job in jobs:
            try:
                if options.toolkit:
                    make_folder(options.toolkit, job.result())
                else:
                    stale += compare(kernel, job.result(), compilers, not options.check)
            except RuntimeError as error:
                print(f"{kernel[0]}: {error}", file=sys.stderr)
                stale += 1
    return options.check and stale != 0


if __name__ == "__main__":
    sys.exit(main())
