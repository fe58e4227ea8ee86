#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Count what Meson's test runs recorded, and what they should have recorded.

Usage: summary.py BUILD=SUITES...

SUITES are the suites that were to run in the build folder, with commas between, or "all". Each
test that Meson lists in them has to have a record, and each of the suites has to have a test. Only
what needs a GPU may be skipped. The last lines are what failed, with its words, and the count: they
are all that somebody sees of a run elsewhere.
"""

import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ALL = ["bench", "cli", "consumers", "counting", "device", "docs", "drivers", "faults", "gen",
       "headers", "interposers", "layouts", "platforms", "sim", "style", "threads", "unit", "world"]
NEEDS_GPU = "device"
# Reasons that no package of Debian removes: tests that a GPU would disturb, and NVIDIA's compiler.
ELSEWHERE = ("there is a GPU", "no nvcc", "no mount namespace is allowed here")
PASSED = ("OK", "EXPECTEDFAIL")
CASE = re.compile(r"(not )?ok\b[^#]*(?:#\s*(SKIP|TODO)\w*\b\s*(.*))?", re.I)
PLAN = re.compile(r"1\.\.\d+")
SHOWN = 10  # lines of a test that failed


@dataclass
class Test:
    """One of Meson's tests: its suites without the project's name, and what became of it."""
    name: str
    suites: list
    tap: bool = False
    outcome: str = ""  # Meson's word
    passed: int = 0
    failed: int = 0
    skipped: list = field(default_factory=list)  # reasons
    words: list = field(default_factory=list)  # of what failed

    def count(self, record):
        """Take over a record, each case of a TAP program counted by itself."""
        self.outcome = record["result"]
        lines = (record.get("stdout") or "").splitlines() if self.tap else []
        for line in lines:
            self.count_case(CASE.match(line))
        planned = [line for line in lines if PLAN.match(line)]
        # Whatever the cases were: a crash, a wrong plan or an unexpected status is a failure. Meson
        # itself takes a program without a plan for complete.
        if self.outcome == "SKIP":
            self.skipped = self.skipped or [last_line(record)]
        elif self.outcome not in PASSED or (self.tap and len(planned) != 1):
            self.failed = self.failed or 1
        elif not self.tap:
            self.passed = 1
        if self.failed:
            self.words = failure_words(record, self.tap)

    def count_case(self, case):
        """One line of TAP."""
        if not case:
            return
        if (case[2] or "").upper() == "SKIP":
            self.skipped.append(case[3])
        elif is_failure(case):
            self.failed += 1
        else:
            self.passed += 1


def is_failure(case):
    """Whether a line of TAP is a case that should have passed, or one that should not have."""
    word = (case[2] or "").upper()
    return word != "SKIP" and bool(case[1]) != (word == "TODO")


def failed_cases(lines):
    """Each case that failed, and the lines behind it, or before it if there are none."""
    marks = [at for at, line in enumerate(lines) if CASE.match(line) or PLAN.match(line)]
    failed = []
    for number, at in enumerate(marks):
        case = CASE.match(lines[at])
        if not case or not is_failure(case):
            continue
        end = marks[number + 1] if number + 1 < len(marks) else len(lines)
        start = marks[number - 1] + 1 if number else 0
        failed.append((lines[at], lines[at + 1:end], lines[start:at]))
    room = max(2, SHOWN // len(failed) - 1) if failed else 0
    return [line for case, behind, before in failed
            for line in (case, *(shortened(behind, room) or ends(before, room)))]


def shortened(lines, room):
    """The ends of the lines; of pytest's many those that it marks."""
    marked = [line for line in lines if line.startswith("# E ")]
    return ends(marked if marked and len(lines) > room else lines, room)


def ends(lines, room):
    """The lines; of many the first, which often have the cause, and the last."""
    if len(lines) <= room:
        return lines
    first = room // 2
    return [*lines[:first], "...", *lines[len(lines) - (room - first - 1):]]


def failure_words(record, tap=True):
    """What a test that failed said of it, in a few lines."""
    out, errors = ([line.rstrip() for line in (record.get(stream) or "").splitlines()
                    if line.strip()] for stream in ("stdout", "stderr"))
    cases = failed_cases(out) if tap else []
    if cases:
        return cases[:SHOWN]
    errors = ends(errors, SHOWN // 2 if out else SHOWN)
    return ends(out, SHOWN - len(errors)) + errors


def last_line(record):
    """What a program said before it ended with 77."""
    lines = (record.get("stdout") or record.get("stderr") or "").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def wanted_tests(build, suites):
    """By the name that Meson records, every test of the build folder that was to run."""
    shown = subprocess.run(["meson", "introspect", "--tests", build], text=True,
                           capture_output=True, check=False)
    if shown.returncode != 0:
        sys.exit(f"{build}: no build folder: {shown.stdout}{shown.stderr}")
    tests = {}
    rows = json.loads(shown.stdout)
    several = len({suite for row in rows for suite in row["suite"]}) > 1
    for row in rows:
        parts = [suite.partition(":") for suite in row["suite"]]
        test = Test(row["name"], [part[2] for part in parts], row["protocol"] == "tap")
        # Meson's own wording: "PROJECT:SUITE+SUITE / NAME", in a project of several suites.
        words = "+".join(test.suites)
        name = f"{parts[0][0]}{':' if words else ''}{words} / {row['name']}"
        if suites == ["all"] or set(suites) & set(test.suites):
            tests[name if several else row["name"]] = test
    return tests


def read_records(build):
    """What Meson wrote down, a line for each test."""
    record = Path(build) / "meson-logs" / "testlog.json"
    if not record.exists():
        sys.exit(f"{record}: no such file: the tests did not run")
    return [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]


def judge(build, suites):
    """(passed, failed, skipped) of a build folder, and the lines about what failed; what did not
    run is printed."""
    tests = wanted_tests(build, suites)
    absent = []
    for record in read_records(build):
        if record["name"] in tests:
            tests[record["name"]].count(record)
    failed, lines = 0, []
    for name, test in tests.items():
        failed += test.failed
        if test.failed:
            lines.append(f"failed: {build}: {name}: {test.failed} ({test.outcome})")
            lines += [f"    {line}"[:200] for line in test.words]
        for reason in test.skipped:
            print(f"skipped: {build}: {name}: {reason}")
            if NEEDS_GPU not in test.suites and reason not in ELSEWHERE:
                absent.append(f"{name}: {reason}")
        if not test.outcome:
            absent.append(name)
    there = {suite for test in tests.values() for suite in test.suites}
    wanted = set(ALL if suites == ["all"] else suites)
    absent += [f"suite {suite}" for suite in sorted(wanted - there)]
    if suites == ["all"]:
        absent += [f"suite {suite}, which summary.py does not know" for suite in there - wanted]
    for name in absent:
        print(f"should have run, and did not: {build}: {name}")
    return (sum(test.passed for test in tests.values()), failed + len(absent),
            sum(len(test.skipped) for test in tests.values())), lines


def main():
    if len(sys.argv) < 2 or not all("=" in argument for argument in sys.argv[1:]):
        sys.exit(__doc__)
    counts, lines = [], []
    for argument in sys.argv[1:]:
        build, _, suites = argument.rpartition("=")
        count, more = judge(build, suites.split(","))
        counts.append(count)
        lines += more
    for line in lines:
        print(line)
    passed, failed, skipped = (sum(column) for column in zip(*counts))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
