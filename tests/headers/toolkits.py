# SPDX-License-Identifier: MIT
"""The toolkits, compilers and standards that the header tests combine, and how they compile."""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import modes
import pytest

ROOT = Path(__file__).resolve().parents[2]
SHIM = ROOT / "gen" / "shim"
PUBLIC = ROOT / "include"
GENERATED = Path(os.environ.get("CUSHIM_GENERATED", ROOT / "build" / "gen"))
C = ("c99", "c11", "c17")
CXX = ("c++11", "c++17", "c++20")
STANDARDS = C + CXX
IN_ALL, BY_HAND = pytest.mark.in_all, pytest.mark.by_hand
# What a test of every toolkit is compiled in. CI takes every second release, one in one language
# with one compiler, the next in the other. Without a toolkit, it takes every standard.
ON_WINDOWS = (pytest.param("c11", marks=BY_HAND), "c++17")
COMPILERS = {"linux": {"gcc": ("gcc", "g++"), "clang": ("clang", "clang++")},
             "windows": {"mingw": ("x86_64-w64-mingw32-gcc", "x86_64-w64-mingw32-g++")}}
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
PER_THREAD = "-DCUDA_API_PER_THREAD_DEFAULT_STREAM"
COMPANIONS = {"linux": ["cudaGL.h", "cudaEGL.h", "cudaVDPAU.h", "cudaProfiler.h"],
              "windows": ["cudaGL.h", "cudaProfiler.h", "cudaD3D9.h", "cudaD3D10.h",
                          "cudaD3D11.h"]}
# What a program includes before the companions, as NVIDIA's manual says.
SYSTEM = {"linux": ["GL/gl.h", "EGL/egl.h", "EGL/eglext.h", "vdpau/vdpau.h"],
          "windows": ["GL/gl.h", "d3d9.h", "D3D10_1.h", "D3D11_1.h"]}
STAND_INS = {"linux": ["GL", "EGL", "vdpau"],
             "windows": ["GL", "d3d9.h", "D3D10_1.h", "D3D11_1.h", "rpcsal.h"]}


def cache():
    """The folder that gen/fetch.py fills."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("CUSHIM_CACHE") or Path(home) / "cushim")


NONE = f"no toolkit headers in {cache() / 'headers'}: run gen/fetch.py"


class Toolkit:
    """The headers of one release on one platform."""

    def __init__(self, folder, platform):
        self.folder = folder / platform
        self.platform = platform
        self.release = folder.name
        major, minor = map(int, folder.name.split("."))
        self.version = major * 1000 + minor * 10
        self.companions = [name for name in COMPANIONS[platform] if (self.folder / name).exists()]

    def includes(self, *parts, prefix=""):
        """#include lines: "cuda", the "companions", or the "typedefs" of both."""
        names = {"cuda": ["cuda.h"], "companions": self.companions,
                 "typedefs": [name.replace(".h", "Typedefs.h")
                              for name in ["cuda.h", *self.companions]]}
        system = SYSTEM[self.platform] if {"companions", "typedefs"} & set(parts) else []
        return "".join(f"#include <{name}>\n" for name in system) + "".join(
            f"#include <{prefix}{name}>\n" for part in parts for name in names[part])


def toolkits(platform="linux"):
    """What the cache holds, oldest first."""
    root = cache() / "headers"
    found = [Toolkit(folder, platform) for folder in root.glob("*.*")
             if (folder / platform / "cuda.h").is_file()]
    return sorted(found, key=lambda toolkit: toolkit.version)


def known_toolkits(platform):
    """The cached ones and, for the count of what is left out, those that were not fetched."""
    found = {toolkit.release: toolkit for toolkit in toolkits(platform)}
    names = [f"{major}.{minor}" for major, minor in modes.releases()] if modes.QUICK else []
    for name in names:
        if name not in modes.release_ends():
            found.setdefault(name, Toolkit(cache() / "headers" / name, platform))
    return sorted(found.values(), key=lambda toolkit: toolkit.version)


def each_toolkit(platform="linux"):
    """Parameters for a test of every toolkit; without any, one that says so and is skipped."""
    known = known_toolkits(platform)[::-1]
    found = [pytest.param(toolkit, id=toolkit.release,
                          marks=[BY_HAND] if platform == "windows" and age % 4 else [])
             for age, toolkit in enumerate(known)][::-1]
    return found or [pytest.param(None, id="none", marks=pytest.mark.skip(NONE))]


def each_platform():
    """Parameters for a test that asks a compiler of each platform."""
    return ["linux", pytest.param("windows", marks=IN_ALL)]


def each_compiler(platform="linux"):
    """Parameters for a test with every compiler, by the name the report shows."""
    return [pytest.param(name, id=name, marks=[] if shutil.which(pair[0]) and shutil.which(pair[1])
                         else pytest.mark.skip(f"{' or '.join(pair)} is not installed"))
            for name, pair in COMPILERS[platform].items()]


def each_pair(*standards):
    """Parameters "toolkit, compiler, standard" for a test of every toolkit on Linux.

    In CI gcc takes the C of one release, and clang the C++ of the next; both take the newest. `sh
    tests/run` takes these two languages as well.
    """
    few = ("c11", [name for name in standards if name in CXX][-1])
    found = []
    for age, kit in enumerate(reversed(each_toolkit())):
        for number, compiler in enumerate(each_compiler()):
            for standard in standards:
                marks = [*kit.marks, *compiler.marks, *([] if standard in few else [IN_ALL])]
                if standard != few[number] or age > 0 and age % 4 != 2 * number:
                    marks.append(BY_HAND)
                found.append(pytest.param(*kit.values, *compiler.values, standard, marks=marks,
                                          id=f"{kit.id}-{compiler.id}-{standard}"))
    return found


def stand_ins(folder, platform):
    """A folder with stand-ins for the graphics systems' headers, and for nothing else."""
    target = Path(folder) / f"stand-ins-{platform}"
    target.mkdir()
    for name in STAND_INS[platform]:
        copy = shutil.copytree if (SHIM / name).is_dir() else shutil.copy
        copy(SHIM / name, target / name)
    return target


def driver(compiler, standard):
    """The program that compiles a standard."""
    pairs = {name: pair for names in COMPILERS.values() for name, pair in names.items()}
    return pairs[compiler][standard.startswith("c++")]


def run(command, text):
    """Run a compiler on TEXT; its exit code, output and messages."""
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run([*command, "-"], input=text, capture_output=True, text=True,
                          check=False, env=os.environ | {"LC_ALL": "C"})
    return done.returncode, done.stdout, done.stderr


def arguments(compiler, standard, *options):
    """The command for a translation unit on standard input, with the project's headers."""
    language = "c++" if standard.startswith("c++") else "c"
    return [driver(compiler, standard), "-x", language, f"-std={standard}",
            f"-I{GENERATED}", f"-I{PUBLIC}", *map(str, options)]


def check(compiler, standard, text, *options):
    """Compile TEXT without writing anything: messages, empty where all is well."""
    code, _, errors = run(arguments(compiler, standard, "-fsyntax-only", *options), text)
    return errors or (f"exit code {code}" if code else "")


def check_all(jobs):
    """Run {name: (compiler, standard, text, options...)} on all cores; fail with what was said."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(jobs, pool.map(lambda job: check(*job), jobs.values())))
    wrong = {name: errors for name, errors in found.items() if errors}
    if wrong:
        shown = [f"{name}: {shorten(errors)}" for name, errors in wrong.items()]
        pytest.fail("\n".join(shown), pytrace=False)


def undefined(compiler, standard, text, folder, *options):
    """The functions of the driver that TEXT, compiled, calls; and messages."""
    target = Path(folder, "undefined.o")
    _, _, errors = run(arguments(compiler, standard, "-c", "-o", target, *options), text)
    if errors:
        return set(), errors
    shown = subprocess.run(["nm", "-u", target], capture_output=True, text=True, check=True).stdout
    return {word for word in shown.split() if word.startswith("cu")}, ""


def shorten(errors):
    """The first few lines that say what is wrong."""
    lines = [line for line in errors.splitlines() if "error" in line] or errors.splitlines()
    return "\n    ".join(["", *lines[:8], *([f"... {len(lines)} errors"] if lines[8:] else [])])


def preprocess(text, *options, compiler="gcc", standard="c11"):
    """TEXT after the preprocessor, without line marks."""
    code, output, errors = run(arguments(compiler, standard, "-E", "-P", *options), text)
    if code:
        pytest.fail(shorten(errors), pytrace=False)
    return output
