#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold the simulated driver's checks of kernels against compute-sanitizer.

Usage: checks.py [--program PROGRAM] [--sanitizer COMMAND] [--jobs N] [--seconds N] OUT

Runs each kernel of tests/sim/ptx/check_cases.h under the four tools and writes a table to
OUT/checks.md: the kernel, what the checks find in it, what each tool finds. OUT/logs has what the
tools say. PROGRAM is a built device-checks; without it one is built, which takes a C compiler and
Meson. Ends with 0 if all verdicts are the same where a tool looks, with 3 if some differ, with 77
without a device.
"""

import argparse
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sanitize import FOUND, SUMMARY

HERE = Path(__file__).resolve().parent
TOOLS = ["racecheck", "initcheck", "synccheck", "memcheck"]
# What a tool is there for: the word of the checks, and the memory that it looks at.
LOOKS = {"race": ("racecheck", ["shared"]), "init": ("initcheck", ["global"]),
         "sync": ("synccheck", ["shared", "global"])}
SECONDS = 15  # a kernel; one that hangs is an answer, too


def build(folder):
    """Build the program with the tree's own library."""
    library = folder / "lib/libcushim.a"
    with (folder / "build.txt").open("w", encoding="utf-8") as log:
        for command in (
                ["meson", "setup", folder / "cushim", HERE.parents[1], "--prefix", folder,
                 "-Dlibdir=lib", "-Dtests=false", "-Dtools=disabled", "-Dsim=false",
                 "--default-library=static"],
                ["meson", "install", "-C", folder / "cushim"],
                [os.environ.get("CC", "cc"), "-std=c11", "-O1", "-I", folder / "include", "-o",
                 folder / "device-checks", HERE / "checks.c", library, "-ldl", "-lpthread"]):
            if subprocess.run(command, stdout=log, stderr=log, check=False).returncode:
                raise SystemExit((folder / "build.txt").read_text(encoding="utf-8")[-3000:])
    return folder / "device-checks"


def run(command, seconds):
    """The exit code, None if it took too long, and what was printed."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", start_new_session=True) as process:
        try:
            output = process.communicate(timeout=seconds)[0]
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, process.communicate()[0]


def verdict(code, output):
    """A word about one run."""
    found = [int(match[1] or match[2]) for match in SUMMARY.finditer(output)]
    if code is None:
        return "hangs"
    if sum(found):
        return f"{sum(found)} found"
    if not found:
        return f"no summary, exit {code}"
    return "-" if code == 0 else f"fails, exit {code}"


def compare(ours, memory, theirs):
    """Whether the tools' verdicts are those of the checks."""
    if ours == "-":
        return "same" if set(theirs.values()) == {"-"} else "differs"
    tool, looked_at = LOOKS[ours]
    if theirs[tool].endswith("found"):
        return "same"
    return "differs" if memory in looked_at else f"{tool} looks at no {memory} memory"


def main():
    """Build, run, compare."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--program", type=Path)
    parser.add_argument("--sanitizer", default="compute-sanitizer", type=shlex.split)
    parser.add_argument("--jobs", type=int, default=8, help="so many at once")
    parser.add_argument("--seconds", type=int, default=200, help="begin nothing after them")
    options = parser.parse_args()
    begin = time.monotonic()
    os.environ.setdefault("CUDA_CACHE_DISABLE", "1")
    (options.out / "logs").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        program = options.program or build(Path(folder))
        listed = subprocess.run([program, "list"], stdout=subprocess.PIPE, text=True, check=True)
        cases = [line.split("\t") for line in listed.stdout.splitlines()]
        code, output = run([program, cases[0][0]], SECONDS)
        if code:
            print(output, end="")
            return code

        def check(job):
            tool, name = job
            if time.monotonic() - begin > options.seconds:
                return "not run"
            code, output = run([*options.sanitizer, "--tool", tool, "--error-exitcode", str(FOUND),
                                program, name], SECONDS)
            log = options.out / "logs" / f"{name.replace(' ', '-')}.{tool}"
            log.write_text(output, encoding="utf-8")
            return verdict(code, output)

        jobs = [(tool, name) for tool in TOOLS for name, _, _ in cases]
        with ThreadPoolExecutor(options.jobs) as pool:
            results = dict(zip(jobs, pool.map(check, jobs)))
    rows = []
    for name, ours, memory in cases:
        theirs = {tool: results[tool, name] for tool in TOOLS}
        rows.append([name, memory, ours, *theirs.values(), compare(ours, memory, theirs)])
    table = [["kernel", "memory", "checks", *TOOLS, "verdict"], ["---"] * 8, *rows]
    text = "".join("| " + " | ".join(row) + " |\n" for row in table)
    (options.out / "checks.md").write_text(text, encoding="utf-8")
    print(text, end="")
    count = [row[-1] for row in rows]
    print(f"{len(rows)} kernels, {count.count('same')} the same, {count.count('differs')} differ, "
          f"{time.monotonic() - begin:.0f} s")
    return 3 if "differs" in count else 0


if __name__ == "__main__":
    sys.exit(main())
