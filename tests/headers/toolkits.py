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
ON_WINDOWS = (pytest.param("c11", marks=BY_HAND), "c++17")
COMPILERS = {"linux": {"gcc": ("gcc", "g++"), "clang": ("clang", "clang++")},
             "windows": {"mingw": ("x86_64-w64-mingw32-gcc", "x86_64-w64-mingw32-g++")}}
# CI takes a C and a C++ of each compiler, together the oldest and the newest of both.
IN_CI = {"gcc": ("c99", "c++20"), "clang": ("c17", "c++11"), "mingw": ("c11", "c++17")}
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


def each_release(kits, none):
    """Parameters for a test of each of KITS; without any, one that says so and is skipped.

    CI takes the oldest and the newest of each major release.
    """
    ends = [*{kit.version // 1000: kit for kit in kits}.values(),
            *{kit.version // 1000: kit for kit in reversed(kits)}.values()]
    found = [pytest.param(kit, id=kit.release, marks=[] if kit in ends else [BY_HAND])
             for kit in kits]
    return found or [pytest.param(None, id="none", marks=pytest.mark.skip(none))]


def each_toolkit(platform="linux"):
    """Parameters for a test of every toolkit."""
    return each_release(known_toolkits(platform), NONE)


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

    In CI gcc takes the C of one release, and clang the C++ of the next. `sh tests/run` takes these
    two languages of all that it has.
    """
    few = ("c11", [name for name in standards if name in CXX][-1])
    kits = each_toolkit()
    in_ci = [kit for kit in kits if BY_HAND not in kit.marks]
    found = []
    for kit in kits:
        for number, compiler in enumerate(each_compiler()):
            for standard in standards:
                marks = [*kit.marks, *compiler.marks, *([] if standard in few else [IN_ALL])]
                if standard != few[number] or kit not in in_ci[number::2]:
                    marks.append(BY_HAND)
                found.append(pytest.param(*kit.values, *compiler.values, standard, marks=marks,
                                          id=f"{kit.id}-{compiler.id}-{standard}"))
    return found


def each_language():
    """Parameters "compiler, standard" for a test without a toolkit."""
    return [pytest.param(*compiler.values, standard, id=f"{compiler.id}-{standard}",
                         marks=[*compiler.marks, *([] if standard in IN_CI[compiler.id]
                                                   else [BY_HAND])])
            for compiler in each_compiler() + each_compiler("windows") for standard in STANDARDS]


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
