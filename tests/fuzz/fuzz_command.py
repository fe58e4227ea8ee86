#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Odd command lines, odd JSON for `cushim report`, odd lines in the registry:
fuzz_command.py CUSHIM [--count N] [--seed S]. The command ends with one of its exit codes and
writes a sentence for each that is not 0; the registry's reader accepts a line or names it."""

import argparse
import contextlib
import copy
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "gen"))
import registry  # noqa: E402

COMMANDS = ["info", "symbols", "features", "compat", "report", "scan", "newer", "diff", "sim",
            "matrix"]
OPTIONS = ["--json", "--driver", "--init", "--audit", "--help", "--usage", "--version", "--since",
           "--list", "--cuda", "--devices", "--fault", "--memory", "--check", "--quiet", "--width",
           "--", "-", "-j", "-V", "-?", "--driver=", "--cuda=12.4", "--fault=cuInit", "--summary"]
WORDS = ["", " ", "12.4", "0", "-1", "99999999999999999999", "%s%n", "\x1b[31m", "caf\xe9",
         "a" * 5000, "/", "/dev/null", ".", "=", "x=", "=x", "cuInit", "cuMemAlloc:call=1,error=2",
         "12.4.5", "1e9", "nan", "../../etc", "--", "/nonexistent/libcuda.so.1"]
ENDS = range(0, 6)  # of the command; cushim sim ends as its program does: 126 and 127, too
VALUES = [None, True, 0, -1, 2**31, 2**63 - 1, 1.5, "", "x" * 3000, [], {}, [[]], {"symbol": []},
          "available", "\u0000", "<script>", "\ud83d\ude00"]


def run(command, env):
    """Exit code and standard error of one call."""
    done = subprocess.run(command, env=env, check=False, timeout=60, stdin=subprocess.DEVNULL,
                          capture_output=True)
    code, error = done.returncode, done.stderr.decode(errors="replace")
    ends = [*ENDS, 126, 127] if command[1:2] == ["sim"] else ENDS
    if code not in ends or "Sanitizer" in error or "runtime error" in error:
        raise SystemExit(f"{command}: {code}\n{error}")
    if code and not (error + done.stdout.decode(errors="replace")).strip():
        raise SystemExit(f"{command}: {code}, without a word")
    return code


def line(chance):
    """A command line that somebody might mistype, or mean."""
    words = [chance.choice(COMMANDS)] if chance.random() < 0.95 else []
    for _ in range(chance.randrange(5)):
        words.append(chance.choice(chance.choice((OPTIONS, WORDS))))
    return words


def places(value, found):
    """Every object and list within a value."""
    if isinstance(value, (dict, list)):
        found.append(value)
        for inner in value.values() if isinstance(value, dict) else value:
            places(inner, found)
    return found


def document(chance, good):
    """A document with up to three odd values, or cut off, or of odd bytes."""
    changed = json.loads(good)
    for _ in range(chance.randrange(1, 4)):
        place = chance.choice(places(changed, []) or [{}])
        key = chance.choice(list(place) or ["x"]) if isinstance(place, dict) else \
            chance.randrange(len(place)) if place else None
        if key is not None:
            place[key] = copy.deepcopy(chance.choice(VALUES))
    text = json.dumps(changed).encode()
    if chance.random() < 0.3:
        text = text[:chance.randrange(len(text))]
    if chance.random() < 0.3:
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice((b"\xff", b"\0", b"{" * 3000, b"\"")) + text[at + 1:]
    return text


def small(text):
    """A measured driver with two symbols: what matters is how values are read."""
    rows = json.loads(text)
    rows["symbols"] = rows["symbols"][:2]
    return json.dumps(rows)


def fuzz_registry(chance, folder, count):
    """Lines of each file with odd values: they are read, or refused with file and line."""
    for number in range(count):
        name = chance.choice(["entries", "types", "levels", "typedefs", "errors", "features"])
        lines = (ROOT / f"gen/registry/{name}.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [document(chance, chance.choice(lines)) for _ in range(2)]
        (folder / f"{name}.jsonl").write_bytes(b"\n".join(rows) + b"\n")
        try:
            registry.read(folder, name)
        except registry.RegistryError as error:
            if not str(error).startswith(f"{folder / name}.jsonl:"):
                raise SystemExit(f"registry, {number}: {error}") from None


def main():
    """Everything, from one seed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("--count", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    chance = random.Random(given.seed)
    command = str(Path(given.command).resolve())
    env = {name: value for name, value in os.environ.items() if not name.startswith("CUSHIM_")}
    env |= {"LC_ALL": "C", "CUSHIM_LIBCUDA": os.environ["CUSHIM_FAKE"]}
    good = small(subprocess.run([command, "symbols", "--json"], env=env, check=True,
                                capture_output=True, text=True).stdout)
    ends = {}
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name) if \
            hasattr(contextlib, "chdir") else contextlib.nullcontext():
        folder = Path(name)
        for _ in range(given.count):
            if chance.random() < 0.6:
                words = line(chance)
            else:
                (folder / "a.json").write_bytes(document(chance, good))
                words = ["report", chance.choice(["", "x="]) + str(folder / "a.json")]
            code = run([command, *words], env)
            ends[code] = ends.get(code, 0) + 1
        fuzz_registry(chance, folder, given.count * 10)
    print(f"{given.count} commands, ends {ends}; {given.count * 10} files of the registry")


if __name__ == "__main__":
    main()
