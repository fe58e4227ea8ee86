#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which instructions the simulated driver accepts, and which NVIDIA's assembler does.

    python3 tests/sim/accept/accept.py build/tools/cushim
    python3 tests/sim/accept/accept.py build/tools/cushim --count 1000 --seed 7

Random instructions (grammar.py) are given to ptxas and to the simulated driver, each for a few
targets and versions of PTX. pip fetches ptxas, once for each folder of --work. Each difference that
known.txt does not explain is printed, and the exit code is then 1. It is 77 if there is no ptxas.
"""
import argparse
import collections
import concurrent.futures
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import grammar

HERE = Path(__file__).resolve().parent
BATCH = 400  # instructions that ptxas gets at once


class Case:
    """A target, a version of PTX, and whose verdicts are compared."""

    def __init__(self, wheel, cuda, profile, version, target):
        self.wheel, self.cuda, self.profile = wheel, cuda, profile
        self.version, self.target = version, target

    def __str__(self):
        return f"PTX {self.version} for {self.target}"


CASES = [
    Case("nvidia-cuda-nvcc-cu11==11.8.89", "11.8", "ampere", "7.8", "sm_80"),
    Case("nvidia-cuda-nvcc-cu12==12.4.131", "12.4", "hopper", "8.4", "sm_90a"),
    Case("nvidia-cuda-nvcc-cu12==12.9.86", "12.9", "blackwell120", "8.8", "sm_120"),
]


def fetch(wheel, work):
    """The ptxas of a wheel; None if pip has it not."""
    folder = work / wheel
    found = list(folder.rglob("ptxas"))
    if found:
        return found[0]
    done = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                           "--disable-pip-version-check", "--only-binary", ":all:", "-d",
                           folder / "wheel", wheel], check=False)
    wheels = list((folder / "wheel").glob("*.whl"))
    if done.returncode != 0 or not wheels:
        return None
    with zipfile.ZipFile(wheels[0]) as archive:
        name = next(one for one in archive.namelist() if one.endswith("/bin/ptxas"))
        ptxas = Path(archive.extract(name, folder))
    ptxas.chmod(0o755)
    wheels[0].unlink()
    return ptxas


# What ptxas crashes at; and what is no whole statement, so that it names a later line.
ALONE = re.compile(r"\.v8\.\S*16 |\.noftz\.bf16\S* _|^\^.*\[[]0]? *\].*=|\.pred .*=|^[^;]*[^;}]$")


def stands_alone(instruction):
    """Is it by itself in a module?"""
    return bool(ALONE.search(instruction)) or instruction.count("{") != instruction.count("}")


def assemble_part(ptxas, case, instructions):
    """What ptxas says of each instruction of one module."""
    verdicts, left = [""] * len(instructions), list(range(len(instructions)))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "t.ptx"
        while left:
            text, places = grammar.module(case.version, case.target,
                                          [instructions[i] for i in left])
            at = dict(zip(places, left))
            file.write_text(text, encoding="ascii")
            done = subprocess.run([ptxas, "-O0", f"-arch={case.target}", file, "-o", os.devnull],
                                  text=True, capture_output=True, check=False)
            if done.returncode == 0:
                return verdicts
            found = re.findall(r", line (\d+); (?:error|fatal) *: (.*)", done.stderr) or \
                re.findall(r"on line '(\d+)' (which is conflicting.*)", done.stderr)
            refused = {at[int(line)]: words for line, words in reversed(found) if int(line) in at}
            if not refused:  # it does not name a line: halves until it is one
                if len(left) == 1:
                    verdicts[left[0]] = done.stderr.strip().split("\n")[0] or "failed"
                    return verdicts
                for part in (left[:len(left) // 2], left[len(left) // 2:]):
                    for i, verdict in zip(part, assemble_part(ptxas, case,
                                                              [instructions[i] for i in part])):
                        verdicts[i] = verdict
                return verdicts
            for i, words in refused.items():
                verdicts[i] = words
            left = [i for i in left if i not in refused]
    return verdicts


def assemble(ptxas, case, instructions):
    """What ptxas says of each instruction: "" if it takes it, else its words."""
    verdicts = {}
    parts = [[one] for one in instructions if stands_alone(one)]
    parts.append([one for one in instructions if not stands_alone(one)])
    for part in parts:
        verdicts |= zip(part, assemble_part(ptxas, case, part))
    return [verdicts[one] for one in instructions]


def load_all(version, target):
    """Under the simulated driver: read instructions, write what it says of each."""
    driver = ctypes.CDLL("libcuda.so.1")
    context, module, log = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.create_string_buffer(4096)
    assert driver.cuInit(0) == 0
    assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert driver.cuCtxSetCurrent(context) == 0
    options = (ctypes.c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER and its size
    for line in sys.stdin:
        text, _ = grammar.module(version, target, [line.strip()])
        log.value = b""
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        code = driver.cuModuleLoadDataEx(ctypes.byref(module), text.encode(), 2, options, values)
        words = log.value.decode().split("\n")[0]
        if code == 0:
            driver.cuModuleUnload(module)
        # What it knows and lacks is accepted; the manual lists it.
        print(json.dumps("" if code == 0 or "not simulated" in words else words or str(code)))


def simulate(options, case, instructions):
    """What the simulated driver says of each."""
    done = subprocess.run(
        [options.cushim.resolve(), "sim", "--quiet", "--cuda", case.cuda, "--profile",
         case.profile, "--", sys.executable, __file__, "--load", case.version, case.target],
        input="\n".join(instructions) + "\n", text=True, stdout=subprocess.PIPE, check=True)
    verdicts = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(verdicts) == len(instructions)
    return verdicts


def read_known():
    """Differences with a reason: pattern of "case: side: instruction: words", reason."""
    pairs = []
    for line in (HERE / "known.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            pattern, reason = line.split("   ")
            pairs.append((re.compile(pattern), reason.strip()))
    return pairs


def compare(case, ptxas, options):
    """Differences of one case that have no reason."""
    source = grammar.Grammar(f"{options.seed} {case}")
    # Every ninth is a declaration or directive.
    instructions = sorted({source.declaration() if options.declarations or i % 9 == 8 else
                           source.instruction()
                           for i in range(options.count)})
    source.random.shuffle(instructions)
    parts = [instructions[i:i + BATCH] for i in range(0, len(instructions), BATCH)]
    ours = simulate(options, case, instructions)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        theirs = [one for part in pool.map(lambda part: assemble(ptxas, case, part), parts)
                  for one in part]
    # A line that ptxas names is not always the one that it means.
    theirs = [its if bool(mine) == bool(its) else assemble(ptxas, case, [instruction])[0]
              for instruction, mine, its in zip(instructions, ours, theirs)]
    counts, reasons, unknown = collections.Counter(), collections.Counter(), []
    for instruction, mine, its in zip(instructions, ours, theirs):
        if bool(mine) == bool(its):
            counts["refused" if mine else "accepted"] += 1
            continue
        side = "too strict" if mine else "too lax"
        line = f"{case}: {side}: {instruction}: {mine or its}"
        reason = next((why for pattern, why in options.known if pattern.search(line)), None)
        if reason:
            reasons[reason] += 1
        else:
            unknown.append(line)
    print(f"{case}: {len(instructions)} instructions, {counts['accepted']} accepted by both, "
          f"{counts['refused']} refused by both, {sum(reasons.values())} known differences, "
          f"{len(unknown)} others", flush=True)
    for reason, count in reasons.most_common():
        print(f"    {count} {reason}")
    for line in unknown[:options.show]:
        print("   ", line)
    return len(unknown)


def main():
    """The cases that can be had."""
    if sys.argv[1:2] == ["--load"]:
        return load_all(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("cushim", type=Path, help="the command")
    parser.add_argument("--count", type=int, default=40000, help="instructions of each case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=50, help="how many differences are printed")
    parser.add_argument("--case", help="a pattern of cases")
    parser.add_argument("--declarations", action="store_true", help="nothing else")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "ptxas")
    options = parser.parse_args()
    options.known = read_known()
    others, missing = 0, []
    for case in CASES:
        if options.case and not re.search(options.case, str(case)):
            continue
        ptxas = fetch(case.wheel, options.work)
        if ptxas:
            others += compare(case, ptxas, options)
        else:
            missing.append(case.wheel)
    if missing:
        print(f"pip could not fetch {', '.join(missing)}")
    return 1 if others else 77 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
