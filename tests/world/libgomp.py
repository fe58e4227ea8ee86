#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""OpenMP and OpenACC programs of GCC's offloading on the simulated driver.

    python3 tests/world/libgomp.py build/tools/cushim
    python3 tests/world/libgomp.py build/tools/cushim --source gcc-12.2.0/libgomp/testsuite

Runs the tests in gcc/ beside this file, or libgomp's own, with their target regions on the device,
where nothing else will do. What fails is compiled and run for the host alone: what fails there too
does not count. The exit code is 0 if each failure is one of known.txt, 77 without a compiler that
offloads, and 1 otherwise.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import dejagnu
import run as world

HERE = Path(__file__).resolve().parent
ALWAYS = {
    "c", "c++", "fpic", "large_long_double", "lp64", "lto", "pthread", "run_expensive_tests",
    "shared", "size32plus", "sync_int_long", "tls", "tls_runtime", "weak_undefined", "alias",
    "__OPTIMIZE__",
}
DEVICE = {
    "offload_device", "offload_device_nonshared_as", "offload_device_nvptx",
    "offload_target_nvptx", "offload_target_any",
}
REGIONS = re.compile(r"omp(_| +.*)target|acc_|(pragma|[!c]\$) *acc|on_device|function-not-offl")
NVIDIA = {"openacc_nvidia_accel_present", "openacc_nvidia_accel_selected"}


@dataclass(frozen=True)
class Suite:
    """A folder of tests."""
    compiler: str
    language: str
    patterns: tuple  # of sources, from the top folder
    openacc: bool = False

    def flags(self, device):
        """Options of each of its tests."""
        flags = ["-fopenacc" if self.openacc else "-fopenmp", "-fdiagnostics-color=never"]
        if self.openacc:
            flags += ["-DACC_DEVICE_TYPE_nvidia=1", "-DACC_MEM_SHARED=0"] if device else \
                ["-DACC_DEVICE_TYPE_host=1", "-DACC_MEM_SHARED=1"]
        flags += ["-foffload=nvptx-none" if device else "-foffload=disable"]
        if device and self.language == "Fortran":
            flags += ["-foffload-options=nvptx-none=-lgfortran"]
        return flags + (["-O2"] if self.openacc or self.language == "Fortran" else [])

    def targets(self, device):
        """The effective targets that hold for it."""
        targets = ALWAYS - ({"c"} if self.compiler != "gcc" else {"c++"})
        if device:
            targets |= DEVICE | (NVIDIA if self.openacc else set())
        elif self.openacc:
            targets |= {"openacc_host_selected"}
        return targets


SUITES = {
    "libgomp.c": Suite("gcc", "C", ("libgomp.c/**/*.c", "libgomp.c-c++-common/*.c")),
    "libgomp.c++": Suite("g++", "C++", ("libgomp.c++/*.C", "libgomp.c-c++-common/*.c")),
    "libgomp.fortran": Suite("gfortran", "Fortran", ("libgomp.fortran/*.[fF]*",)),
    "libgomp.oacc-c": Suite("gcc", "C", ("libgomp.oacc-c/*.c", "libgomp.oacc-c-c++-common/*.c"),
                            True),
    "libgomp.oacc-c++": Suite("g++", "C++",
                              ("libgomp.oacc-c++/*.C", "libgomp.oacc-c-c++-common/*.c"), True),
    "libgomp.oacc-fortran": Suite("gfortran", "Fortran", ("libgomp.oacc-fortran/*.[fF]*",), True),
}


def tool_path():
    """PATH without a ptxas: GCC's assembler would ask it, and newer ones lack GCC 12's target."""
    return os.pathsep.join(folder for folder in os.environ["PATH"].split(os.pathsep)
                           if not (Path(folder) / "ptxas").exists())


def call(command, folder, seconds, variables):
    """Exit code and text of a command; after its time it and what it started are ended."""
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True,
                          env=os.environ | {"PATH": tool_path(), "LC_ALL": "C"} | variables
                          ) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            return None, output.decode(errors="replace") + f"\nnot done in {seconds} seconds"
    return process.returncode, output.decode(errors="replace")


def outcome(name, source, device, options):
    """(passed, failed or skipped, why) of a test."""
    suite = SUITES[name]
    flags = suite.flags(device)
    test = dejagnu.read(source.read_text(encoding="latin-1"), suite.targets(device), flags)
    if test.do != "run" or test.skip:
        return "skipped", test.skip or f"dg-do {test.do}"
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        top = options.source
        command = [
            options.prefix + suite.compiler + options.suffix, *flags,
            *(test.options if test.options is not None else ["-O2"]), *test.more,
            f"-I{top.parent}", f"-I{top.parent.parent / 'include'}",
            f"-I{top / 'libgomp.oacc-c-c++-common'}", str(source),
            *(str(source.parent / more) for more in test.sources), "-o", "test", "-lm",
            # Where only the device's part needs libgomp, some linkers would leave it out.
            "-Wl,--no-as-needed"]
        if suite.language == "Fortran":
            command += ["-lquadmath"]
        code, text = call(command, folder, options.seconds, {})
        if code != 0:
            return "failed", "compiler: " + text
        for extra in ("libgomp.oacc-c-c++-common/subr.ptx",):
            if (top / extra).exists():
                shutil.copy(top / extra, folder)
        variables = {"OMP_TARGET_OFFLOAD": "MANDATORY" if device else "DISABLED"}
        if suite.openacc:
            variables = {"ACC_DEVICE_TYPE": "nvidia" if device else "host"}
        variables |= test.variables
        # GCC's C library for devices reads strings by whole words.
        start = [options.cushim.resolve(), "sim", "--quiet", "--profile", options.profile,
                 "--grain", "512", "--"]
        code, text = call([*(start if device else []), "./test"], folder, options.seconds,
                          variables)
    return verdict(test, code, text)


def verdict(test, code, text):
    """The outcome of a program that ended with `code` and wrote `text`."""
    problem = ""
    if code is None or (code != 0) != test.fails:
        problem = text + f"\nended with {code}"
    elif test.output and not dejagnu.matches(test.output, text):
        problem = text + f"\nno {test.output!r} in the output"
    if problem and test.known:
        return "skipped", "GCC knows that it fails"
    return ("failed", problem) if problem else ("passed", "")


def judge(name, source, options):
    """The outcome on the device; a failure that the host has as well is none of it."""
    device = outcome(name, source, True, options)
    if device[0] == "failed":
        host = outcome(name, source, False, options)
        if host[0] == "failed":
            return "host", host[1]
    return device


def tests_of(name, options):
    """The sources of a suite that are wanted."""
    found = sorted({path for pattern in SUITES[name].patterns
                    for path in options.source.glob(pattern)})
    return [path for path in found
            if (not options.match or re.search(options.match, title(name, path, options)))
            and (not options.regions or REGIONS.search(path.read_text(encoding="latin-1")))]


def title(name, source, options):
    """A test's name in the reports."""
    return f"{name}::{source.relative_to(options.source)}"


def cause(text):
    """The line of an output that tells most."""
    lines = [line for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if re.search(r"libgomp:|error|cushim|ptxas", line)]
    return (telling or lines or ["nothing was written"])[-1].strip()[:160]


def lacks(options):
    """Why nothing can be tried, or nothing."""
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        source = Path(folder) / "try.c"
        source.write_text("int main(void)\n{\n#pragma omp target\n    ;\n    return 0;\n}\n")
        for compiler in sorted({SUITES[name].compiler for name in options.suite}):
            command = options.prefix + compiler + options.suffix
            if not shutil.which(command, path=tool_path()):
                return f"there is no {command}"
        code, text = call([options.prefix + "gcc" + options.suffix, "-fopenmp",
                           "-foffload=nvptx-none", str(source), "-o", "try"], folder, 300, {})
        return "" if code == 0 else "gcc does not offload to nvptx-none: " + cause(text)


def report(name, results, options):
    """Print one suite as it goes; the names of failures that nobody expected."""
    counts, known, unknown = collections.Counter(), world.read_known("libgomp"), []
    for source, (what, text) in results:
        counts[what] += 1
        if what == "failed":
            test = title(name, source, options)
            why, expected = world.cause_of(test, "", known)
            print(f"    {'known' if expected else 'not expected'}: {test}: "
                  f"{why if expected else cause(text)}", flush=True)
            if not expected:
                unknown.append(test)
        if options.verbose and what != "passed":
            print(f"{what}: {source.name}: {text}", flush=True)
    print(f"| {name} | {counts['passed']} passed | {counts['failed']} failed | {counts['host']} "
          f"fail on the host too | {counts['skipped']} skipped |", flush=True)
    return unknown


def main():
    """The suites that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("cushim", type=Path, help="the command")
    parser.add_argument("suite", nargs="*", default=list(SUITES), help=", ".join(SUITES))
    parser.add_argument("--source", type=Path, default=HERE / "gcc", help="a folder of such tests")
    parser.add_argument("--match", help="a pattern of names")
    parser.add_argument("--regions", action="store_true",
                        help="only tests in whose source is something for a device")
    parser.add_argument("--profile", default="small")
    parser.add_argument("--prefix", default="", help="what the compilers' names begin with")
    parser.add_argument("--suffix", default="", help="what they end with, such as -12")
    parser.add_argument("--seconds", type=int, default=300, help="for each command")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--work", type=Path, help="where tests are compiled")
    parser.add_argument("--verbose", action="store_true", help="what failed tests wrote")
    options = parser.parse_args()
    options.source = options.source.resolve()
    unknown, tried = [], 0
    reason = lacks(options)
    if reason:
        print(f"skipped: {reason}")
        return 77
    for name in options.suite:
        sources = tests_of(name, options)
        if not sources:
            continue
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            results = zip(sources, pool.map(lambda one, suite=name: judge(suite, one, options),
                                            sources))
            unknown += report(name, results, options)
        tried += len(sources)
    return 1 if unknown or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
