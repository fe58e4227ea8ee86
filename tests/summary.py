#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Count what Meson's test runs recorded, and what they should have recorded.

Usage: summary.py [--without BUILD=SUITES]... BUILD=SUITES...

SUITES are the suites that were to run in the build folder, with commas between, or "all", or
"quick" for Meson's test setup of that name. Each test that Meson lists in them has to have a
record, and each of the suites has to have a test. Only what needs a GPU may be skipped. What is
left out on purpose is named and counted: tests outside of the setup, cases for which tests/modes.py
says so, and builds that --without names. The last lines are what failed, with its words, and the
count: they are all that somebody sees of a run elsewhere.
"""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from modes import BY_CI, BY_QUICK, CI

ALL = ["bench", "cli", "consumers", "counting", "device", "docs", "drivers", "faults", "gen",
       "headers", "interposers", "layouts", "long", "platforms", "python", "sim", "style",
       "threads", "unit", "world"]
QUICK = "quick"  # a test setup of Meson's: tests/meson.build
NEEDS_GPU = "device"
# Reasons that no package of Debian removes: tests that a GPU would disturb, NVIDIA's compiler, and
# what a build with sanitizers cannot do, which the other build does.
ELSEWHERE = ("there is a GPU", "no nvcc", "no mount namespace is allowed here",
             "gcc's modules take no path with a blank", "sanitizers need /proc",
             "sanitizers take memory of their own",
             "a plain program cannot open a driver with sanitizers")
ROOT_ONLY = "only root"  # how the reason begins where an ordinary user cannot do what a test needs
PASSED = ("OK", "EXPECTEDFAIL")
CASE = re.compile(r"(not )?ok\b[^#]*(?:#\s*(SKIP|TODO)\w*\b\s*(.*))?", re.I)
PLAN = re.compile(r"1\.\.\d+")
# What pytest, and the compilers and the inner run of a test that builds, say of a failure.
MARKED = re.compile(r"# E |not ok\b|FAILED: |.*(?:\berror: |\b(?:FAIL|TIMEOUT|ERROR)\b)")
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
    left_out: list = field(default_factory=list)  # reasons
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
            self.skipped = self.skipped or ([] if self.left_out else [last_line(record)])
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
            (self.left_out if case[3] in (BY_QUICK, BY_CI) else self.skipped).append(case[3])
        elif is_failure(case):
            self.failed += 1
        else:
            self.passed += 1

    def keep_left_out(self, reasons):
        """What is left out for another reason should have run."""
        self.skipped += [reason for reason in self.left_out if reason not in reasons]
        self.left_out = [reason for reason in self.left_out if reason in reasons]


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
    """The ends of the lines; of many those that tell of a failure, if there are such."""
    marked = [line for line in lines if MARKED.match(line)]
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
    return shortened(out, SHOWN - len(errors)) + errors


def last_line(record):
    """What a program said before it ended with 77."""
    lines = (record.get("stdout") or record.get("stderr") or "").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def meson_output(*arguments):
    """What Meson prints."""
    shown = subprocess.run(["meson", *arguments], text=True, capture_output=True, check=False)
    if shown.returncode != 0:
        sys.exit(f"meson {' '.join(arguments)}: {shown.stdout}{shown.stderr}")
    return shown.stdout


def all_tests(build):
    """Every test of the build folder, by the name that Meson records, and Meson's row of it."""
    if not (Path(build) / "meson-info").is_dir():
        sys.exit(f"{build}: no build folder")
    tests = {}
    rows = json.loads(meson_output("introspect", "--tests", str(build)))
    several = len({suite for row in rows for suite in row["suite"]}) > 1
    for row in rows:
        parts = [suite.partition(":") for suite in row["suite"]]
        test = Test(row["name"], [part[2] for part in parts], row["protocol"] == "tap")
        # Meson's own wording: "PROJECT:SUITE+SUITE / NAME", in a project of several suites.
        words = "+".join(test.suites)
        name = f"{parts[0][0]}{':' if words else ''}{words} / {row['name']}"
        tests[name if several else row["name"]] = (test, row)
    return tests


def quick_names(build):
    """The names of the tests that Meson's setup "quick" has."""
    return set(meson_output("test", "-C", str(build), "--list", "--setup", QUICK).splitlines())


def wanted_tests(build, suites):
    """By name, every test of the build folder that was to run."""
    tests = {name: test for name, (test, _) in all_tests(build).items()}
    if suites == [QUICK]:
        chosen = quick_names(build)
        return {name: test for name, test in tests.items() if name in chosen}
    return {name: test for name, test in tests.items()
            if suites == ["all"] or set(suites) & set(test.suites)}


def read_records(build, suites=()):
    """What Meson wrote down, a line for each test."""
    name = f"testlog-{QUICK}.json" if suites == [QUICK] else "testlog.json"
    record = Path(build) / "meson-logs" / name
    if not record.exists():
        sys.exit(f"{record}: no such file: the tests did not run")
    return [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]


def excused(test, reason):
    """Whether a test may be skipped for this reason."""
    return (NEEDS_GPU in test.suites or reason in ELSEWHERE
            or os.geteuid() != 0 and reason.startswith(ROOT_ONLY))


def absent_tests(build, suites, tests):
    """What should have run and did not."""
    absent = [f"{name}: {reason}" for name, test in tests.items() for reason in test.skipped
              if not excused(test, reason)]
    absent += [name for name, test in tests.items() if not test.outcome]
    whole = suites in (["all"], [QUICK])
    known = all_tests(build).values() if whole else [(test, None) for test in tests.values()]
    there = {suite for test, _ in known for suite in test.suites}
    absent += [f"suite {suite}" for suite in sorted(set(ALL if whole else suites) - there)]
    if whole:
        absent += [f"suite {suite}, which summary.py does not know"
                   for suite in sorted(there - set(ALL))]
    return absent


def judge(build, suites):
    """(passed, failed, skipped) of a build folder, the lines about what failed, and those about
    what was left out; what did not run is printed."""
    tests = wanted_tests(build, suites)
    for record in read_records(build, suites):
        if record["name"] in tests:
            tests[record["name"]].count(record)
    may_lack = {BY_QUICK} if suites == [QUICK] else set()
    for test in tests.values():
        test.keep_left_out(may_lack | ({BY_CI} if CI else set()))
    failed, lines = 0, []
    for name, test in tests.items():
        failed += test.failed
        if test.failed:
            lines.append(f"failed: {build}: {name}: {test.failed} ({test.outcome})")
            lines += [f"    {line}"[:200] for line in test.words]
        for reason in test.skipped:
            print(f"skipped: {build}: {name}: {reason}")
    absent = absent_tests(build, suites, tests)
    for name in absent:
        print(f"should have run, and did not: {build}: {name}")
    return (sum(test.passed for test in tests.values()), failed + len(absent),
            sum(len(test.skipped) for test in tests.values())), lines, LeftOut(build, suites, tests)


class LeftOut:
    """What of a build folder is left out on purpose: whole tests, and cases of others."""

    def __init__(self, build, suites, tests):
        self.build = build
        self.tests = sorted(set(all_tests(build)) - set(tests)) if suites == [QUICK] else []
        self.cases = {name: len(test.left_out) for name, test in tests.items() if test.left_out}
        self.words = {reason for test in tests.values() for reason in test.left_out}
        if self.tests:
            self.words.add(BY_QUICK)

    def show(self):
        """A line for each test."""
        for name in self.tests:
            print(f"left out: {self.build}: {name}")
        for name, count in self.cases.items():
            print(f"left out: {self.build}: {name}: {count} cases")


def show_left_out(parts, builds):
    """What is left out of the folders that ran, and whole builds."""
    for part in parts:
        part.show()
    for build in builds:
        print("left out: the build {} with the suites {}".format(*build.split("=")))
    words = sorted({word for part in parts for word in part.words}) or [BY_CI]
    tests = sum(len(part.tests) for part in parts)
    cases = sum(sum(part.cases.values()) for part in parts)
    if tests or cases or builds:
        print(f"{' and '.join(words)}: {tests} tests, {cases} cases of other tests, "
              f"{len(builds)} builds; 'sh tests/run all' by hand has them")


def main():
    arguments, builds = sys.argv[1:], []
    while arguments[:1] == ["--without"] and len(arguments) > 1:
        builds.append(arguments[1])
        arguments = arguments[2:]
    if not arguments or not all("=" in argument for argument in [*arguments, *builds]):
        sys.exit(__doc__)
    counts, lines, parts = [], [], []
    for argument in arguments:
        build, _, suites = argument.rpartition("=")
        count, more, part = judge(build, suites.split(","))
        counts.append(count)
        lines += more
        parts.append(part)
    show_left_out(parts, builds)
    for line in lines:
        print(line)
    passed, failed, skipped = (sum(column) for column in zip(*counts))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
