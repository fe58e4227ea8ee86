#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the verdicts of `cushim scan` against labelled wheels and Debian packages.

    corpus.py CUSHIM [PACKAGE...] [--all] [--cache FOLDER]

packages.jsonl pins each one by name, version and SHA-256. "debian" names the component of Debian 12
that has it; the others are wheels. Its cells say what happens with drivers on GPUs, and how that is
known without cushim:

    run        what is in it was run on the real driver
    exports    nm or strings, of it and of the real driver
    cuobjdump  NVIDIA's tool lists the code; binary compatibility as its programming guide has it
    vendor     a statement of the vendor

A verdict "runs" or "limits" is false where the truth is "fails"; "fails" is false where it is
"works". Wheels are fetched by pip and packages by apt, into a cache outside of the work tree.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "gen"))

from archive import opened, run  # noqa: E402
from fetching import Unavailable  # noqa: E402

PLATFORMS = ["manylinux_2_28", "manylinux_2_27", "manylinux_2_25", "manylinux_2_24",
             "manylinux_2_17", "manylinux2014", "manylinux_2_12", "manylinux2010", "manylinux1"]
KINDS = ("right", "false runs", "false fails", "other code", "unknown")


class Missing(Exception):
    """A wheel or a package could not be had."""


def packages():
    """The lines of packages.jsonl."""
    text = (HERE / "packages.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def cache_folder():
    """Where wheels are kept, as tests/drivers/fetch.py has it for drivers."""
    base = os.environ.get("CUSHIM_CACHE") or \
        Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cushim"
    return Path(base) / "wheels"


def digest(path):
    """SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() \
            if hasattr(hashlib, "file_digest") else hashlib.sha256(file.read()).hexdigest()


def wheel_of(package, cache):
    """The path of the wheel, which is fetched if it is not there; of a package, its folder."""
    if "debian" in package:
        return folder_of(package, cache)
    folder = Path(cache) / f"{package['package']}-{package['version']}"
    if not list(folder.glob("*.whl")):
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                   "--only-binary=:all:", "--python-version",
                   package.get("python", "3.11"), "--dest", folder,
                   *(f"--platform={platform}_x86_64" for platform in PLATFORMS),
                   f"{package['package']}=={package['version']}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Missing((done.stderr.strip() or "pip failed").splitlines()[-1])
    wheel, = folder.glob("*.whl")
    if digest(wheel) != package["sha256"]:
        raise Missing(f"{wheel} is not the file that is pinned")
    return wheel


def folder_of(package, cache):
    """Where a Debian package was unpacked, or is now."""
    ready = Path(cache) / f"debian-{package['package']}-{package['version']}"
    if ready.is_dir():
        return ready
    Path(cache).mkdir(parents=True, exist_ok=True)
    try:
        with opened(["bookworm"], cache, component=package["debian"]) as (suite,), \
                tempfile.TemporaryDirectory(dir=cache) as work:
            suite.update()
            archive = suite.download(package["package"], package["version"])
            if digest(archive) != package["sha256"]:
                raise Missing(f"{archive.name} is not the file that is pinned")
            run("dpkg-deb", "-x", str(archive), f"{work}/unpacked")
            Path(work, "unpacked").rename(ready)
    except Unavailable as failure:
        raise Missing(str(failure)) from failure
    return ready


def questions(package):
    """{(driver, GPU or None): cell}; no cell is there twice."""
    found = {}
    for cell in package["cells"]:
        for driver in cell["drivers"]:
            for gpu in cell["gpus"] or [None]:
                assert (driver, gpu) not in found, f"{package['package']}: {driver}, {gpu} twice"
                found[driver, gpu] = cell
    return found


def ask(cushim, wheel, asked):
    """{(driver, GPU): verdict} of `cushim scan`."""
    drivers = list(dict.fromkeys(driver for driver, _ in asked))
    gpus = list(dict.fromkeys(gpu for _, gpu in asked if gpu))
    answers = {}
    for some in ([gpus] if gpus else []) + ([[]] if any(gpu is None for _, gpu in asked) else []):
        words = [cushim, "scan", "--json", "--drivers", ",".join(drivers)]
        words += ["--gpus", ",".join(some)] if some else []
        done = subprocess.run([*words, wheel], capture_output=True, text=True, check=False,
                              env={**os.environ, "TMPDIR": "/var/tmp"})
        if done.returncode not in (0, 1):
            raise Missing(f"cushim scan ended with {done.returncode}: {done.stderr}")
        verdicts = json.loads(done.stdout)["verdicts"]
        places = [(driver, gpu) for driver in drivers for gpu in some or [None]]
        assert len(verdicts) == len(places), "GPUs of the corpus are named one by one"
        answers.update(zip(places, verdicts))
    return {place: answers[place] for place in asked}


def judge(cell, verdict):
    """One of KINDS."""
    if verdict["verdict"] == "unknown":
        return "unknown"
    if cell["truth"] == "works":
        return "false fails" if verdict["verdict"] == "fails" else "right"
    if verdict["verdict"] != "fails":
        return "false runs"
    return "right" if verdict["code"] == cell.get("code", verdict["code"]) else "other code"


def examine(cushim, package, cache):
    """Counts by kind, and a line for each cell that is wrong."""
    asked = questions(package)
    answers = ask(cushim, wheel_of(package, cache), asked)
    counts, lines = dict.fromkeys(KINDS, 0), []
    for (driver, gpu), verdict in answers.items():
        cell = asked[driver, gpu]
        kind = judge(cell, verdict)
        counts[kind] += 1
        if kind not in ("right", "unknown"):
            lines.append(f"{package['package']} {package['version']}, driver {driver}, GPU {gpu}: "
                         f"{kind}: {cell['truth']} {cell.get('code', '')} ({cell['how']}: "
                         f"{cell['source']}), and the verdict is {verdict['verdict']} "
                         f"{verdict['code']} ({verdict['rule']}, {verdict['file']})")
    return counts, lines


def main():
    """Print a table; 1 if a verdict is false."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("cushim")
    parser.add_argument("package", nargs="*", help="those alone")
    parser.add_argument("--all", action="store_true", help="the large ones too")
    parser.add_argument("--cache", default=cache_folder())
    options = parser.parse_args()
    total, wrong = dict.fromkeys(KINDS, 0), []
    print(f"{'package':28}" + "".join(f"{kind:>13}" for kind in KINDS))
    for package in packages():
        if package["package"] not in options.package if options.package else \
                not (options.all or package["small"]):
            continue
        try:
            counts, lines = examine(options.cushim, package, options.cache)
        except Missing as error:
            print(f"{package['package']}: {error}", file=sys.stderr)
            wrong.append(str(error))
            continue
        wrong += lines
        total = {kind: total[kind] + counts[kind] for kind in KINDS}
        print(f"{package['package']:28}" + "".join(f"{counts[kind]:13}" for kind in KINDS))
    print(f"{'all':28}" + "".join(f"{total[kind]:13}" for kind in KINDS))
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
