#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the sequences on a driver and compare what they record with what a real driver recorded.

    compare.py --program build/.../sim-conformance --library build/.../libcuda.so.1 \\
        [--golden golden/h200-13.0.txt] [--differences differences.txt] [--jobs N] \\
        [--only PREFIX] [--output FILE] [-- COMMAND PREFIX...]

A line of the golden file is a result: its key is the first word (family/name.step). Results equal
the recorded ones, or are listed in the file of differences, one line each: the key, a space, the
reason. Fails where fewer than 99 % of all results are equal, where a difference is not listed, and
where a listed one is none any more.
"""
import argparse
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def results(lines):
    """Key to the rest of its line."""
    table = {}
    for line in lines:
        line = line.rstrip("\n")
        if not line.strip():
            continue
        key, _, rest = line.partition(" ")
        if "/" not in key or "." not in key:
            raise SystemExit(f"compare: not a result: {line!r}")
        if key in table:
            raise SystemExit(f"compare: twice: {key}")
        table[key] = rest
    return table


def reasons(path):
    """Key to the reason why it may differ."""
    table = {}
    if not os.path.exists(path):
        return table
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            key, _, reason = line.partition(" ")
            if not reason.strip():
                raise SystemExit(f"{path}:{number}: {key} has no reason")
            if key in table:
                raise SystemExit(f"{path}:{number}: {key} is listed twice")
            table[key] = reason.strip()
    return table


def run(options):
    command = options.prefix + [options.program, "--jobs", str(options.jobs)]
    if options.library:
        command += ["--library", options.library]
    if options.only:
        command += ["--only", options.only]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, encoding="utf-8",
                          errors="replace")
    if done.returncode != 0:
        raise SystemExit(f"compare: {command[0]} ended with {done.returncode}")
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(done.stdout)
    return results(done.stdout.splitlines())


def compare(golden, seen, accepted, whole=True):
    """The keys that differ, those among them that nobody accepted, and stale accepted ones."""
    differing = sorted(key for key in golden.keys() | seen.keys()
                       if golden.get(key) != seen.get(key))
    unlisted = [key for key in differing if key not in accepted]
    known = golden.keys() | seen.keys()
    stale = sorted(key for key in accepted
                   if key not in differing and (whole or key in known))
    return differing, unlisted, stale


def tell(golden, seen, accepted, whole, most):
    differing, unlisted, stale = compare(golden, seen, accepted, whole)
    equal = sum(golden[key] == seen.get(key) for key in golden)
    part = 100 * equal / len(golden) if golden else 0.0
    for key in unlisted[:most]:
        print(f"differs: {key}")
        print(f"    recorded: {golden.get(key, '(nothing)')}")
        print(f"    here:     {seen.get(key, '(nothing)')}")
    if len(unlisted) > most:
        print(f"... and {len(unlisted) - most} more")
    for key in stale:
        print(f"listed as a difference, but is none: {key}")
    print(f"{equal} of {len(golden)} results equal ({part:.2f} %), {len(differing)} differ, "
          f"{len(differing) - len(unlisted)} of them listed")
    return part >= 99 and not unlisted and not stale


def main(arguments):
    parser = argparse.ArgumentParser(description="Compare a driver with a recorded one.")
    parser.add_argument("--program", required=True)
    parser.add_argument("--library")
    parser.add_argument("--golden", default=os.path.join(HERE, "golden", "h200-13.0.txt"))
    parser.add_argument("--differences", default=os.path.join(HERE, "differences.txt"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--output")
    parser.add_argument("--most", type=int, default=1000, help="differences to print")
    parser.add_argument("prefix", nargs="*", help="command to run the program under")
    options = parser.parse_args(arguments)
    with open(options.golden, encoding="utf-8") as file:
        golden = results(file)
    golden = {key: rest for key, rest in golden.items() if key.startswith(options.only)}
    if not golden:
        raise SystemExit("compare: nothing recorded to compare with")
    good = tell(golden, run(options), reasons(options.differences), not options.only,
                options.most)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
