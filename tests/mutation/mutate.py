#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Change one thing in the library or the drop-in at a time, and see whether the tests notice.

    mutate.py BUILD [--count N] [--seed S] [--files NAME...]

BUILD is a folder of Meson's in which the suites unit and faults are built. A mutant has one
operator, constant, condition or statement of the library or the drop-in changed. It is
compiled and put before the library in each test that concerns its file. A mutant that they let live
meets all other programs of the two suites, the quickest first, and then those that concern its file
once more, with mutant and library compiled for AddressSanitizer and UndefinedBehaviorSanitizer, as
tests/run all runs the suite unit too. A mutant with the object code of the original is none.
equivalent.txt lists those that mean the same, each with its reason. The last lines count. The exit
code is 1 if fewer than 95 % are killed."""

import argparse
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# For one test, in all and of a processor; a mutant that takes more, and ten times as much as the
# test takes, is killed.
SECONDS, PROCESSOR_SECONDS = 90, 15
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
ROOMS = ("src/loader", "src/helpers", "src/nvml", "src/dropin")
LIBRARIES = ("src/libcushim.a", "src/libcushim-dropin.a")
TESTS = {  # the first to ask
    "load": "dropin", "log": "dropin",
    "dylib": "close locate load nvml",
    "elf_file": "elf_file faults_odd loader_bounds locate search",
    "find": "options search report locate wrapper faults_load loader_bounds",
    "init": "init foreign faults_odd",
    "instance": "report loader_bounds answers load resolve search faults_odd",
    "last_error": "report loader_bounds rare resolve error",
    "lookup": "resolve answers wrapper locate options faults_load",
    "nvml_device": "nvml_device", "nvml_entry": "nvml", "nvml_find": "nvml faults_nvml",
    "nvml_usage": "nvml_device", "nvml_link": "nvml_device",
    "nvml_load": "nvml faults_nvml", "nvml_stubs": "nvml",
    "open": "close options within load handshake faults_odd foreign proc loader_bounds locate",
    "platform_posix": "loader_bounds faults_words faults_odd search options locate user",
    "proc": "proc answers", "registry": "proc loader_bounds answers resolve report",
    "require": "require", "resolve": "resolve answers proc", "text": "sizes report error",
    "status": "report init", "stubs": "resolve report load",
    "error_name": "error report", "compat": "compat rare feature_bounds sizes",
    "context": "context rare scope silent sizes abis", "copy": "memory",
    "device": "device rare silent sizes feature_bounds", "error": "error rare scope memory sizes",
    "feature": "feature feature_bounds rare silent sizes",
    "image": "image module_image module rare sizes faults_helpers",
    "jit": "jit module module_image module_library rare silent sizes faults_helpers",
    "launch": "launch launch_extras launch_params launch_bounds silent sizes",
    "launch_check": "launch launch_extras launch_params launch_bounds silent",
    "link": "module module_image rare sizes abis faults_helpers",
    "memory": "memory rare silent sizes abis",
    "module": "module rare module_library names silent faults_helpers",
    "scope": "scope rare context",
    "stream": "stream stream_capture rare silent abis",
}
SWAPS = [(r" == ", " != "), (r" != ", " == "), (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "),
         (r" >= ", " > "), (r" && ", " || "), (r" \|\| ", " && "), (r" \+ ", " - "),
         (r" - ", " + "), (r" \* (?=\d|sizeof)", " + "), (r" % ", " / "), (r" & (?=[A-Z])", " | "),
         (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"\+\+", "--"),
         (r"(?<![\w.\"])(\d+)(?![\w.\"xX])", lambda found: str(int(found[1]) + 1)),
         (r"return CUDA_SUCCESS;", "return CUDA_ERROR_UNKNOWN;"),
         (r"return NULL;", "return (void *)1;"),
         (r"\b(if|while) \((.*)\)( \{)?$", r"\1 (!(\2))\3")]
STATEMENT = re.compile(r"^\s+(?!return|break|continue|goto|case|default|static|const|struct|char|"
                       r"size_t|int |unsigned|bool |enum |CU\w+ \*?\w|void |else|for|while|if|do|"
                       r"\})[\w*(][^;{}]*(\)|=[^;]*);$")


# No result depends on such a line.
ONLY_FASTER = re.compile(r"__builtin_prefetch|\bahead\b|_fetch_name\(")


def code_lines(text):
    """Numbers of the lines that hold code, and nothing of comments, the preprocessor or fetching
    ahead."""
    comment = macro = False
    for number, line in enumerate(text.splitlines()):
        was_macro, macro = macro, (macro or line.startswith("#")) and line.endswith("\\")
        begins = "/*" in line or line.lstrip().startswith("*")
        if not (comment or was_macro or begins or line.startswith("#")) and \
                line.startswith(" ") and not ONLY_FASTER.search(line):
            yield number, line
        comment = (comment or "/*" in line) and "*/" not in line


def mutants(path):
    """Every mutant of a file: line number, what the line becomes."""
    text = path.read_text(encoding="utf-8")
    for number, line in code_lines(text):
        strings = [found.span() for found in re.finditer(r'"(?:\\.|[^"\\])*"', line)]
        for pattern, by in SWAPS:
            for found in re.finditer(pattern, line):
                if any(begin < found.end() and found.start() < end for begin, end in strings
                       if not pattern.startswith(r"\b(if")):
                    continue
                yield number, line[:found.start()] + found.expand(by) + line[found.end():] \
                    if isinstance(by, str) else \
                    line[:found.start()] + by(found) + line[found.end():]
        if STATEMENT.match(line):
            yield number, re.match(r"\s*", line)[0] + ";"


class Unit:
    """What a build has: commands that compile the library's files, objects of the tests."""

    def __init__(self, build):
        self.build = Path(build).resolve()
        rows = json.loads((self.build / "compile_commands.json").read_text())
        self.commands = {}
        for row in rows:
            if row["output"].startswith(tuple(f"{library}.p/" for library in LIBRARIES)):
                words = [word for word in shlex.split(row["command"]) if word != "ccache"]
                source = (self.build / row["file"]).resolve()
                self.commands[source] = words
        self.tests, self.seconds, self.sanitized = {}, {}, {}
        for row in json.loads((self.build / "meson-info/intro-tests.json").read_text()):
            program = Path(row["cmd"][0])
            if program.parent in (self.build / "tests/unit", self.build / "tests/faults"):
                self.tests[program.name.removeprefix("test_")] = row | {"link": self.link(program)}

    def link(self, program):
        """The command that links a test."""
        name = str(program.relative_to(self.build))
        shown = subprocess.run(["ninja", "-t", "commands", name], cwd=self.build, check=True,
                               text=True, capture_output=True).stdout
        words = [word for word in shlex.split(shown.splitlines()[-1]) if word != "ccache"]
        at = words.index("-o")
        assert words[at + 1] == name, words
        return words[:at] + words[at + 2:]

    @lru_cache(maxsize=None)
    def symbols(self, program):
        """What is defined in an object or a program, by name; of an object what others see."""
        words = ["nm", "--defined-only", *(["-g"] if program.suffix else []), program]
        shown = subprocess.run(words, check=True, text=True, capture_output=True).stdout
        return {line.split()[-1] for line in shown.splitlines()}

    @lru_cache(maxsize=None)
    def tests_with(self, source):
        """Names of the tests whose program the linker gives a source's object. The others have no
        line of it."""
        with tempfile.TemporaryDirectory() as name:
            whole = Path(name) / f"{source.stem}.o"
            whole.write_bytes(self.original(source))
            own = self.symbols(whole)
        return [name for name, row in self.tests.items()
                if own & self.symbols(Path(row["cmd"][0]))]

    def compile(self, source, text, output, options=()):
        """Compile a text as if it were the source's; whether that succeeded."""
        changed = output.with_suffix(".c")
        changed.write_text(text, encoding="utf-8")
        words, old = [], self.commands[source]
        skip = 0
        for index, word in enumerate(old):
            if skip:
                skip -= 1
            elif word in ("-MQ", "-MF", "-o"):
                skip = 1
            elif word in ("-MD", "-g", "-Werror", "-c") or index == len(old) - 1:
                continue
            else:
                words.append(word)
        last = ["-w", "-g0", "-iquote", source.parent, "-c", changed, "-o", output]
        return subprocess.run([*words, *options, *last], cwd=self.build, check=False,
                              capture_output=True).returncode == 0

    @lru_cache(maxsize=None)
    def original(self, source):
        """The object of a source as it is."""
        with tempfile.TemporaryDirectory() as name:
            output = Path(name) / f"{source.stem}.o"
            assert self.compile(source, source.read_text(encoding="utf-8"), output), source
            return output.read_bytes()

    def measure(self):
        """Run each test without a mutant, and sort them by what they take; those that fail."""
        source = ROOT / "src/loader/error_name.c"
        broken = []
        with tempfile.TemporaryDirectory() as name:
            whole = Path(name) / "error_name.o"
            whole.write_bytes(self.original(source))
            for test in self.tests:
                begin = time.monotonic()
                if self.kills(test, [whole], Path(name)):
                    broken.append(test)
                self.seconds[test] = time.monotonic() - begin
        self.tests = {test: self.tests[test] for test in sorted(self.tests, key=self.seconds.get)}
        return broken

    @lru_cache(maxsize=None)
    def is_sound(self, test):
        """Whether a test succeeds with the library as it is under the sanitizers."""
        with tempfile.TemporaryDirectory() as name:
            return not self.kills(test, [], Path(name), sanitized=True)

    def sanitize(self, folder, pool):
        """Make both libraries once more, for the sanitizers."""
        def make(source):
            output = folder / source.parent.name / f"{source.stem}.o"
            output.parent.mkdir(exist_ok=True)
            text = source.read_text(encoding="utf-8")
            assert self.compile(source, text, output, SANITIZE), source
            return source.parent.name == "dropin", output
        objects = list(pool.map(make, self.commands))
        for number, library in enumerate(LIBRARIES):
            archive = folder / Path(library).name
            subprocess.run(["ar", "rcs", archive, *(path for of, path in objects if of == number)],
                           check=True)
            self.sanitized[library] = archive

    def kills(self, test, mutant, folder, sanitized=False):
        """Whether a test fails with the mutant in it."""
        program, row = folder / f"test_{test}", self.tests[test]
        linker, *rest = row["link"]
        if sanitized:
            rest = [*SANITIZE, *(self.sanitized.get(word, word) for word in rest)]
        subprocess.run([linker, "-o", program, "-rdynamic", *mutant, *rest], cwd=self.build,
                       check=True, capture_output=True)
        env = {name: value for name, value in os.environ.items() if not name.startswith("CUSHIM_")}
        most = 10 * self.seconds.get(test, 0)
        limited = ["sh", "-c", 'ulimit -t "$0"; exec "$@"',
                   str(int(max(PROCESSOR_SECONDS, most))), program, *row["cmd"][1:]]
        # What a killed test leaves goes with the folder, and its children with its session. A test
        # of another user's process reads there.
        folder.chmod(0o755)
        env |= row["env"] | {"TMPDIR": str(folder)}
        with subprocess.Popen(limited, cwd=self.build, env=env,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True) as running:
            try:
                return running.wait(max(SECONDS, most)) != 0
            except subprocess.TimeoutExpired:
                return True
            finally:
                try:
                    os.killpg(running.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass


def judge(unit, path, number, line):
    """What became of a mutant: a test's name, "none" (no mutant) or "" (it lives)."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    lines[number] = line
    with tempfile.TemporaryDirectory() as name:
        mutant = Path(name) / f"{path.stem}.o"
        if not unit.compile(path, "\n".join(lines) + "\n", mutant) or \
                mutant.read_bytes() == unit.original(path):
            return "none"
        able = unit.tests_with(path)
        first = [test for test in TESTS[path.stem].split() if test in able]
        for test in first + [test for test in able if test not in first]:
            if unit.kills(test, [mutant], Path(name)):
                return test
        unit.compile(path, "\n".join(lines) + "\n", mutant, SANITIZE)
        for test in first:
            if unit.is_sound(test) and unit.kills(test, [mutant], Path(name), sanitized=True):
                return f"{test} with sanitizers"
    return ""


def equivalents():
    """Lines "file | line of code | what it became | reason"."""
    rows = (HERE / "equivalent.txt").read_text(encoding="utf-8").splitlines()
    return {tuple(row.split(" | ")[:3]) for row in rows if row and not row.startswith("#")}


def main():
    """Choose mutants, judge them, and count."""
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--count", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", nargs="*", default=[])
    given = parser.parse_args()
    unit = Unit(given.build)
    broken = unit.measure()
    assert not broken, f"these fail without a mutant: {broken}; is the build up to date?"
    every = [(path, *mutant) for room in ROOMS
             for path in sorted((ROOT / room).glob("*.c"))
             if path in unit.commands and (not given.files or path.name in given.files)
             for mutant in mutants(path)]
    random.Random(given.seed).shuffle(every)
    known, made = equivalents(), 0
    rooms = {room: {"killed": 0, "survived": 0, "equivalent": 0} for room in ROOMS}
    print(f"{len(every)} mutants are possible", flush=True)
    with ThreadPoolExecutor(2) as pool, tempfile.TemporaryDirectory() as folder:
        unit.sanitize(Path(folder), pool)
        # Some are none, so that a few more are tried, in the same order each time.
        for start in range(0, len(every), 20):
            some = every[start:start + 20] if made < given.count else []
            for (path, number, line), test in zip(some, pool.map(
                    lambda mutant: judge(unit, *mutant), some)):
                if test == "none" or made == given.count:
                    continue
                made += 1
                was = path.read_text(encoding="utf-8").splitlines()[number].strip()
                same = (path.name, was, line.strip()) in known
                kind = "killed" if test else "equivalent" if same else "survived"
                rooms[str(path.parent.relative_to(ROOT))][kind] += 1
                print(f"{kind} {path.name}:{number + 1} {test}\n    - {was}\n    + {line.strip()}",
                      flush=True)
    for room, results in rooms.items():
        print(f"{room}: {results}")
    killed, survived = (sum(results[kind] for results in rooms.values())
                        for kind in ("killed", "survived"))
    judged = killed + survived
    print(f"{made} mutants: {killed} of {judged} killed, {100 * killed / max(1, judged):.1f} %")
    return 0 if killed >= 0.95 * judged else 1


if __name__ == "__main__":
    sys.exit(main())
