#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare what `cushim scan` finds in programs of Debian with what their sources look up.

    programs.py CUSHIM FOLDER

Downloads the packages of PROGRAMS, and their sources, into FOLDER by the machine's own apt source,
and prints a line for each. Exit code 1: an entry is found that the source does not have, or the
reverse, and EXPECTED does not explain it. For hand use: it takes some 100 MB.
"""
import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "gen"))

from archive import debian_source  # noqa: E402

# Package, file in it, source package, files of the source, how the source names a symbol.
PROGRAMS = [
    ("libavutil57", "libavutil.so.57*", "nv-codec-headers", "dynlink_loader.h",
     r'LOAD_SYMBOL(?:_OPT)?\s*\([^"]*?"(cu[A-Z]\w+)"'),
    ("libavcodec59", "libavcodec.so.59*", "nv-codec-headers", "dynlink_loader.h",
     r'LOAD_SYMBOL(?:_OPT)?\s*\([^"]*?"(cu[A-Z]\w+)"'),
    ("hashcat", "hashcat", "hashcat", "ext_cuda.c|backend.c",
     r"HC_LOAD_FUNC_CUDA\s*\(cuda, \w+,\s*(cu\w+)"),
    ("libgstreamer-plugins-bad1.0-0", "libgstcuda-1.0.so*", "gst-plugins-bad1.0",
     "gstcudaloader.c|stub/cuda(?:GL)?.h", r"LOAD_SYMBOL\s*\((cu[A-Z]\w+)"),
    ("boinc-client", "boinc", "boinc", "gpu_nvidia.cpp", r'dlsym\(cudalib, "(cu[A-Z]\w+)"'),
    ("blender", "blender", "blender", "extern/cuew/src/cuew.c",
     r"CUDA_LIBRARY_FIND(?:_CHECKED)?\((cu[A-Z]\w+)\)"),
]
# What sets them apart, and why: {package: (only in the source, only found)}.
EXPECTED = {
    # For Windows alone.
    "libavutil57": (r"cu\w*D3D11", None), "libavcodec59": (r"cu\w*D3D11", None),
    "libgstreamer-plugins-bad1.0-0": (r"cu\w*D3D11", None),
    # Names without suffix in error messages.
    "hashcat": (None, r"cu\w+"),
}


def run(*command, folder):
    """Output of a command; apt fails for a part of a source that is not needed here."""
    return subprocess.run([str(word) for word in command], cwd=folder, capture_output=True,
                          text=True, check=False).stdout


def source_options(folder):
    """apt options by which sources come from where this machine's packages do."""
    lines = {**debian_source(), "types": "deb-src", "enabled": "yes"}
    (folder / "source.sources").write_text(
        "".join(f"{key.title()}: {value}\n" for key, value in lines.items()), encoding="utf-8")
    (folder / "lists/partial").mkdir(parents=True, exist_ok=True)
    return [f"-oDir::Etc::SourceList={folder}/source.sources", "-oDir::Etc::SourceParts=/dev/null",
            f"-oDir::State::Lists={folder}/lists", "-oAPT::Sandbox::User=root"]


def names_in_source(folder, options, source, files, pattern):
    """Symbols that the source's files look up; None without the source."""
    if not list(folder.glob(f"{source}_*.orig.tar.*")):
        run("apt-get", *options, "source", "--tar-only", "--download-only", source, folder=folder)
    names, meant = set(), {}
    for archive in folder.glob(f"{source}_*.orig.tar.*[zx2]"):
        with tarfile.open(archive) as tar:
            for member in tar:
                if member.isfile() and re.search(rf"(?:^|/)(?:{files})$", member.name):
                    text = tar.extractfile(member).read().decode(errors="replace")
                    names |= set(re.findall(pattern, text, re.S))
                    meant |= dict(re.findall(r"#define (cu[A-Z]\w+)\s+(cu[A-Z]\w+_v\d)", text))
    return {meant.get(name, name) for name in names} or None


def names_found(command, folder, package, file):
    """{symbol: how} that the command finds in the package's file."""
    if not list(folder.glob(f"{package}_*.deb")):
        run("apt-get", "-oAPT::Sandbox::User=root", "download", package, folder=folder)
    for archive in folder.glob(f"{package}_*.deb"):
        run("dpkg-deb", "-x", archive, folder / package, folder=folder)
    paths = [path for path in (folder / package).rglob(file)
             if path.is_file() and not path.is_symlink()]
    found = {}
    for path in paths:
        answer = json.loads(run(command, "scan", "--json", path, folder=folder))
        found |= {row["symbol"]: row["how"] for one in answer["files"] for row in one["entries"]}
    return found


def unexplained(names, pattern):
    """Those that a pattern does not explain."""
    return sorted(name for name in names if not (pattern and re.match(pattern, name)))


def main():
    command, folder = Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    options = source_options(folder)
    run("apt-get", *options, "update", folder=folder)
    wrong = 0
    for package, file, source, files, pattern in PROGRAMS:
        found = names_found(command, folder, package, file)
        there = names_in_source(folder, options, source, files, pattern)
        if not found or not there:
            print(f"{package}: not compared: {'no source' if found else 'no package'}")
            wrong += 1
            continue
        less, more = EXPECTED.get(package, (None, None))
        lacking = unexplained(there - set(found), less)
        added = unexplained(set(found) - there, more)
        wrong += bool(lacking or added)
        print(f"{package}: found {len(found)}, in {source} {len(there)}, both "
              f"{len(there & set(found))}; not found {lacking}, not in the source {added}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
