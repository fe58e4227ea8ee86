#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Static analysis of the library and the command: run.py BUILD [TOOL...]; BUILD is Meson's.

TOOLS are gcc (-fanalyzer), cppcheck, clang (--analyze) and tidy (clang-tidy, whose checks are in
.clang-tidy); all four if none is named. CI runs the first, the others take minutes. Each finding
is one of exceptions.txt, which has the reason, or the run fails. It also fails for an exception of
these tools that matches no finding any more."""

import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ROOMS = ["src/loader", "src/helpers", "src/dropin", "tools"]
# The command: it has one thread, so that its functions need not be safe in several.
ONE_THREAD = "--checks=-concurrency-mt-unsafe"
TOOLS = ["-DHAVE_ELF", "-DHAVE_ARCHIVE", "-DHAVE_ZSTD", "-DHAVE_LZ4", "-DHAVE_SIM",
         '-DSIM_LIBRARY_FOLDER="/nowhere"', "-Itools", "-Ikernels", "-Isrc/sim", "-Isrc"]
FINDING = re.compile(r"^(?:\./)?((?:src|include|tools)/[\w./]+):(\d+):\d+: "
                     r"(?:warning|error|style|performance|portability): (.*) \[([\w.,+=-]+)\]$",
                     re.M)
# "clang" and "tidy" are of one release: newer ones have other checks.
COMMANDS = {
    "gcc": ["gcc", "-O1", "-c", "-o", "/dev/null", "-fanalyzer", "-fdiagnostics-plain-output"],
    "cppcheck": ["cppcheck", "--quiet", "--enable=warning,performance,portability",
                 "--inconclusive", "--library=posix",
                 f"--library={HERE / 'cushim.cfg'}", "--suppress=missingIncludeSystem",
                 "--platform=unix64",
                 "--template={file}:{line}:{column}: {severity}: {message} [{id}]",
                 "-D__x86_64__", "-D__linux__", "-D__ELF__", "-D__GNUC__=12"],
    "clang": ["clang", "--analyze", "--analyzer-output", "text", "-Xclang",
              "-analyzer-checker=core,unix,deadcode,nullability,optin.portability"],
    "tidy": ["clang-tidy", "--quiet", f"--config-file={HERE / '.clang-tidy'}"],
}


def gcc_release():
    """12, for example."""
    return subprocess.run(["gcc", "-dumpversion"], check=True, capture_output=True,
                          text=True).stdout.split(".")[0].strip()


class Exceptions:
    """Lines "tool | file | check | text of the source line | reason". "gcc12" is gcc, and no other
    release of it than 12."""

    def __init__(self, tools):
        self.rows = []
        for number, line in enumerate((HERE / "exceptions.txt").read_text().splitlines(), 1):
            if line and not line.startswith("#"):
                words = [word.strip() for word in line.split(" | ")]
                assert len(words) == 5 and all(words), f"exceptions.txt:{number}: five parts"
                if words[0] in tools + ([f"gcc{gcc_release()}"] if "gcc" in tools else []):
                    self.rows.append(words)
        self.used = set()

    def has(self, tool, path, check, text):
        """Whether a finding is one of them."""
        for index, (its_tool, its_path, its_check, its_text, _) in enumerate(self.rows):
            if (tool, path) == (its_tool.rstrip("0123456789"), its_path) and \
                    its_check in check and its_text in text:
                self.used.add(index)
                return True
        return False

    def unused(self):
        """Those that matched nothing."""
        return [row for index, row in enumerate(self.rows) if index not in self.used]


def sources():
    """What is analysed: what a Linux build compiles."""
    return [path for room in ROOMS for path in sorted((ROOT / room).glob("*.c"))
            if "windows" not in path.name]


def findings(tool, path, build):
    """What a tool finds in a file; the tool's own failure is one, too."""
    name = str(path.relative_to(ROOT))
    flags = ["-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-Iinclude", f"-I{build / 'gen'}",
             f"-I{build / 'gen/cushim'}", 
             *([*TOOLS, f"-I{build / 'kernels'}"] if path.parent.name == "tools" else
               ["-Isrc", "-Isrc/dropin"])]
    standard = ["--std=c11"] if tool == "cppcheck" else ["-std=c11"]
    one = [ONE_THREAD] if path.parent.name == "tools" else []
    command = [*COMMANDS[tool], *one, name, "--", *standard, *flags] if tool == "tidy" else \
        [*COMMANDS[tool], *standard, *flags, name]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    found = set(FINDING.findall((done.stdout + done.stderr).replace(f"{ROOT}/", "")))
    if done.returncode and not found:
        found.add((name, "0", (done.stdout + done.stderr)[-2000:], "failed"))
    return found


def main():
    """Print what is no exception, and exceptions of no use."""
    build = Path(sys.argv[1]).resolve()
    tools = sys.argv[2:] or list(COMMANDS)
    for tool in tools:
        if not shutil.which(COMMANDS[tool][0]):
            print(f"{COMMANDS[tool][0]} is not installed")
            return 77
    exceptions = Exceptions(tools)
    wrong = 0
    with ThreadPoolExecutor(2) as pool:
        for tool in tools:
            paths = sources()
            together = set().union(*pool.map(
                lambda path, tool=tool: findings(tool, path, build), paths))
            for name, line, message, check in sorted(together):
                text = (ROOT / name).read_text().splitlines()[int(line) - 1]
                if not exceptions.has(tool, name, check, text):
                    print(f"{tool}: {name}:{line}: {message} [{check}]\n    {text.strip()}")
                    wrong += 1
            print(f"{tool}: {len(paths)} files, {len(together)} findings", flush=True)
    for row in exceptions.unused():
        print("exceptions.txt: of no use any more: " + " | ".join(row))
        wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
