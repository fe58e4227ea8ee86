#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Configure and build for another platform, run tests there, and print their results as TAP.

Each case of each test is one result, so that what did not run is seen.
"""

import argparse
import fcntl
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from summary import failure_words  # noqa: E402

CASE = re.compile(r"(not )?ok\b\s*\d*\s*(?:- )?([^#]*)(#.*)?", re.I)
PLAN = re.compile(r"1\.\.\d+")


def tap_results(record):
    """(passed, name, remark) for each case of one of Meson's records."""
    name = record["name"].rpartition(" / ")[2]
    lines = (record.get("stdout") or "").splitlines()
    results = []
    for case in (found for line in lines if (found := CASE.match(line))):
        results.append((not case[1], f"{name}: {case[2].strip()}", (case[3] or "").strip()))
    if record["result"] == "SKIP" and not results:
        return [(True, name, f"# SKIP {(lines or ['no reason'])[-1]}")]
    complete = any(PLAN.match(line) for line in lines) or not results
    good = record["result"] in ("OK", "EXPECTEDFAIL", "SKIP") and complete
    if not results:
        return [(good, name, "")]
    if not good and all(result[0] for result in results):
        results.append((False, f"{name}: ended as {record['result']}", ""))
    return results


def report(folder):
    """Print all records; the number that failed and that passed."""
    lines = (folder / "meson-logs" / "testlog.json").read_text(encoding="utf-8").splitlines()
    count = failed = 0
    for record in map(json.loads, lines):
        results = tap_results(record)
        short = failure_words(record)
        for passed, name, remark in results:
            count += 1
            failed += not passed
            print(f"{'ok' if passed else 'not ok'} {count} - {name} {remark}".rstrip())
            if not passed: # behind the first that failed, where the outer summary looks
                print("".join(f"# {line}\n" for line in short), end="")
                short = []
        if not all(result[0] for result in results):
            words = (record.get("stdout") or "") + (record.get("stderr") or "")
            print("".join(f"# {line}\n" for line in words.splitlines()), end="")
    return count, failed


def wanted(folder, suites, names):
    """(Meson's names, files to build) of the tests asked for, and the libraries themselves."""
    def introspect(what):
        return json.loads(subprocess.run(["meson", "introspect", what, folder], text=True,
                                         capture_output=True, check=True).stdout)
    tests = [test for test in introspect("--tests")
             if any(f"cushim:{suite}" in test["suite"] for suite in suites)
             and (not names or test["name"] in names)]
    needed = {depend for test in tests for depend in test["depends"]}
    libraries = ("static library", "shared library")
    files = [name for target in introspect("--targets") for name in target["filename"]
             if target["id"] in needed or target["installed"] and target["type"] in libraries
             or name.endswith("two-files/cushim.c")]
    return [test["name"] for test in tests], files


def run(*command):
    """Run a step; what it says is shown if it fails, and ends this run."""
    done = subprocess.run(command, cwd=ROOT, text=True, errors="replace", check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        print("".join(f"# {line}\n" for line in done.stdout.splitlines()), end="")
        print(f"not ok 1 - {Path(command[0]).name} {command[1]}\n1..1")
        sys.exit(1)


def main():
    """Setup, build, run, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", action="append", default=[],
                        help="of Meson's tests; default: unit")
    parser.add_argument("--test", action="append", default=[], help="of these suites; default: all")
    parser.add_argument("--build", action="append", default=[],
                        help="a file to build; then no test is run")
    parser.add_argument("--emulate", metavar="ROOT",
                        help="run the tests in tests/platforms/emulate, with these libraries")
    parser.add_argument("folder", type=Path, help="of the build, after --")
    parser.add_argument("setup", nargs="*", help="arguments of meson setup")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "a", encoding="utf-8") as lock:  # held to the end
        fcntl.flock(lock, fcntl.LOCK_EX)
        work(folder, options)


def work(folder, options):
    """In a folder that nobody else builds in now."""
    run("sh", ROOT / "tools" / "configure", folder, *options.setup)
    if options.build:
        run("ninja", "-C", folder, f"-j{os.cpu_count()}", *options.build)
        return
    names, files = wanted(folder, options.suite or ["unit"], options.test)
    if not names:
        sys.exit("nested.py: no such test")
    run("ninja", "-C", folder, f"-j{os.cpu_count()}",
        *[os.path.relpath(name, folder) for name in files])
    (folder / "meson-logs" / "testlog.json").unlink(missing_ok=True)
    chosen = [f"--suite={suite}" for suite in options.suite or ["unit"]]
    emulator = [ROOT / "tests/platforms/emulate", options.emulate] if options.emulate else []
    subprocess.run([*emulator, "meson", "test", "-C", folder, "--no-rebuild", "--quiet",
                    *(["--timeout-multiplier=10"] if emulator else []), *chosen, *names],
                   cwd=ROOT, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    count, failed = report(folder)
    print(f"1..{count}")
    print(f"# {folder.name}: {count - failed} of {count} passed")
    sys.exit(1 if failed or not count else 0)


if __name__ == "__main__":
    main()
