#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Count what Meson's test runs recorded, name what was skipped, and judge skips in CI.

Usage: summary.py BUILD...
"""

import os
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

# Those that every machine can run.
SUITES = {"unit", "cli", "headers", "consumers", "drivers", "sim"}
NEEDS_GPU = "device"


def cases(build):
    """(suite, test, outcome, reason) of every case in a build folder's record."""
    record = Path(build) / "meson-logs" / "testlog.junit.xml"
    if not record.exists():
        sys.exit(f"{record}: no such file: the tests did not run")
    for suite in ET.parse(record).getroot().iter("testsuite"):
        for case in suite.iter("testcase"):
            skipped = case.find("skipped")
            failed = case.find("failure") is not None or case.find("error") is not None
            outcome = "failed" if failed else "skipped" if skipped is not None else "passed"
            yield suite.get("name"), case.get("name"), outcome, \
                (skipped.get("message") or skipped.text or "") if skipped is not None else ""


def main():
    count = {"passed": 0, "failed": 0, "skipped": 0}
    ran, bad = set(), []
    for build in sys.argv[1:]:
        for suite, test, outcome, reason in cases(build):
            count[outcome] += 1
            # Meson writes its suite into the one or the other: "cushim:unit / NAME".
            words = set(re.findall(r"cushim:(\w+) / ", f"{suite} {test}"))
            if outcome != "skipped":
                ran |= words
            else:
                print(f"skipped: {test} {reason}".rstrip())
                if NEEDS_GPU not in words:
                    bad.append(f"{suite}: {test}")
            if outcome == "failed":
                print(f"failed: {suite}: {test}")
    if os.environ.get("CI"):
        bad += [f"suite {suite}" for suite in sorted(SUITES - ran)]
        for name in bad:
            print(f"should have run, and did not: {name}")
        count["failed"] += len(bad)
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    sys.exit(1 if count["failed"] else 0)


if __name__ == "__main__":
    main()
