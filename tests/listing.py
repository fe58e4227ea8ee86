#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""List the tests of a build folder, each pytest program by its cases: listing.py BUILD

A line begins with "both" where `sh tests/run` takes the test, and with "all" where only `sh
tests/run all` does. Exit code 1 if `sh tests/run all` lacks something that `sh tests/run` has, or
the other way round.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import summary


def collect(row, quick):
    """{case: "both" or "all"} of a pytest program, as one of the modes collects it."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("CI", "CUSHIM_TESTS")}
    environment |= row["env"] | ({"CUSHIM_TESTS": summary.QUICK} if quick else {})
    done = subprocess.run([*row["cmd"], "--collect-only"], text=True, capture_output=True,
                          check=False, env=environment, cwd=row["workdir"])
    lines = [line.split("\t", 1) for line in done.stdout.splitlines() if "\t" in line]
    if done.returncode != 0 or not lines:
        sys.exit(f"{row['name']}: {done.stdout}{done.stderr}")
    return {name: mode for mode, name in lines}


def cases(row, chosen):
    """The lines of one test."""
    if "--tap" not in row["cmd"]:
        return {row["name"]: "both" if chosen else "all"}, set()
    of_quick, of_all = collect(row, True), collect(row, False)
    return ({f"{row['name']}: {name}": mode if chosen else "all"
             for name, mode in of_quick.items()}, set(of_quick) ^ set(of_all))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = sys.argv[1]
    quick, tests = summary.quick_names(build), summary.all_tests(build)
    os.chdir(build)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda item: cases(item[1][1], item[0] in quick), tests.items()))
    lines = [f"{mode} {name}" for modes, _ in found for name, mode in modes.items()]
    different = sorted(name for _, names in found for name in names)
    print("\n".join(lines))
    for name in different:
        print(f"in one mode alone: {name}")
    count = sum(line.startswith("both ") for line in lines)
    print(f"'sh tests/run' takes {count}, and 'sh tests/run all' takes these and "
          f"{len(lines) - count} more")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
