#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run every device test and every example under compute-sanitizer.

Usage: sanitize.py [--tool TOOL]... [--only PATTERN] [--skip PATTERN] [--jobs N] BUILD

Needs a GPU, a toolkit and a finished build. Prints a line for each program and tool, and exits with
1 where one has something to report, or a program fails.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOOLS = ["memcheck", "racecheck", "initcheck"]
FOUND = 99  # exit code where a tool has found something
SECONDS = 300
# The tests make calls that are to fail, and before CUDA 13.2 a kernel's parameters can only be
# counted by asking for one too many.
OPTIONS = {"memcheck": ["--report-api-errors", "no"]}
# A program that never comes to a driver, and what a tool changes in its program.
UNUSED = "terminated before first instrumented API call"
HELD_UP = {"initcheck": r"^example per_thread_stream_"}  # fills wait for all streams
SUMMARY = re.compile(r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard")


def programs(build, only, skip):
    """(name, command) of the device tests and the examples of a build."""
    tests = json.loads((build / "meson-info" / "intro-tests.json").read_text(encoding="utf-8"))
    for test in tests:
        name = test["name"]
        device = any(suite.endswith(":device") for suite in test["suite"])
        if (device or name.startswith("example ")) and re.search(only, name) \
                and not (skip and re.search(skip, name)):
            yield name, test["cmd"]


def verdict(name, tool, code, output):
    """A word about one run, and whether that is in order."""
    found = [int(match[1] or match[2]) for match in SUMMARY.finditer(output)]
    if code == 77:
        return "skipped", True
    if UNUSED in output:
        return "uses no driver", True
    if not found:
        return f"no summary, exit {code}", False
    if not sum(found) and code == 1 and re.search(HELD_UP.get(tool, "$^"), name):
        return "0 found; its streams held up by the tool", True
    if sum(found) or code:
        return f"{sum(found)} found, exit {code}", False
    return "0 found", True


def check(job):
    """One program under one tool: a line, and whether it is in order."""
    options, name, command, tool = job
    begin = time.monotonic()
    try:
        done = subprocess.run(
            [options.sanitizer, "--tool", tool, "--target-processes", "all", "--error-exitcode",
             str(FOUND), *OPTIONS.get(tool, []), *command], cwd=options.build, text=True,
            errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS)
        code, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as error:
        code, output = 124, (error.stdout or b"").decode(errors="replace")
    if options.logs:
        (options.logs / f"{name.replace(' ', '-')}.{tool}").write_text(output, encoding="utf-8")
    words, good = verdict(name, tool, code, output)
    return f"{tool} {name}: {words}, {time.monotonic() - begin:.1f} s", good


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("build", type=lambda path: Path(path).resolve())
    parser.add_argument("--tool", action="append", choices=[*TOOLS, "synccheck"])
    parser.add_argument("--only", default="", help="names that contain this pattern")
    parser.add_argument("--skip", help="not those")
    parser.add_argument("--jobs", type=int, default=1,
                        help="so many at once; tests that measure free memory need 1")
    parser.add_argument("--logs", type=Path, help="where the output goes")
    parser.add_argument("--sanitizer", default="compute-sanitizer")
    options = parser.parse_args()
    if options.logs:
        options.logs.mkdir(parents=True, exist_ok=True)
    # What the driver compiled before must not be looked at in place of compiling.
    os.environ.setdefault("CUDA_CACHE_DISABLE", "1")
    os.environ["CUSHIM_TEST_TOOL"] = "compute-sanitizer"
    jobs = [(options, name, command, tool) for tool in options.tool or TOOLS
            for name, command in programs(options.build, options.only, options.skip)]
    wrong = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for line, good in pool.map(check, jobs):
            wrong += not good
            print("" if good else "NOT OK: ", line, sep="", flush=True)
    print(f"{len(jobs)} runs, {wrong} not in order")
    return wrong != 0 or not jobs


if __name__ == "__main__":
    sys.exit(main())
