#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Configure and build for another platform, run tests there, and print their results as TAP.

Usage: nested.py FOLDER OPTION... -- ARGUMENT...: options of "meson setup", arguments of
"meson test". Each case of each test is one result, so that what did not run is seen.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
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
        for passed, name, remark in results:
            count += 1
            failed += not passed
            print(f"{'ok' if passed else 'not ok'} {count} - {name} {remark}".rstrip())
        if not all(result[0] for result in results):
            words = (record.get("stdout") or "") + (record.get("stderr") or "")
            print("".join(f"# {line}\n" for line in words.splitlines()), end="")
    return count, failed


def main():
    """Setup, build, run, report."""
    if "--" not in sys.argv:
        sys.exit(__doc__)
    cut = sys.argv.index("--")
    folder, options, arguments = Path(sys.argv[1]), sys.argv[2:cut], sys.argv[cut + 1:]
    log = folder / "meson-logs" / "testlog.json"
    log.unlink(missing_ok=True)
    steps = [["sh", ROOT / "tools" / "configure", folder, *options],
             ["meson", "test", "-C", folder, "--quiet", *arguments]]
    for step in steps:
        done = subprocess.run(step, cwd=ROOT, text=True, errors="replace", check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0 and not log.exists():
            print("".join(f"# {line}\n" for line in done.stdout.splitlines()), end="")
            print("not ok 1 - build\n1..1")
            sys.exit(1)
    count, failed = report(folder)
    print(f"1..{count}")
    print(f"# {folder.name}: {count - failed} of {count} passed")
    sys.exit(1 if failed or not count else 0)


if __name__ == "__main__":
    main()
