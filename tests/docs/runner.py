# SPDX-License-Identifier: MIT
"""Compiles a block of a page and runs it, on a machine as the test wants it."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "drivers")]

from real_drivers import newest_drivers  # noqa: E402

BUILD = Path(os.environ.get("MESON_BUILD_ROOT", "build"))
CLI = os.environ.get("CUSHIM_CLI", "cushim")
FAKE_GPU = os.environ.get("CUSHIM_FAKE_GPU", "")
SIM = os.environ.get("CUSHIM_DOCS_SIM")  # the newest version that is simulated
NOWHERE = "/nonexistent/libcuda.so.1"
LANGUAGES = {"c": ("cc", "c", "-std=c11"), "diff": ("cc", "c", "-std=c11"),
             "cpp": ("c++", "cpp", "-std=c++11"), "c++": ("c++", "cpp", "-std=c++11")}
WHOLE = ("program", "tests, sim")
# What a framework for tests is included by, and what it is linked with.
FRAMEWORKS = {"gtest/gtest.h": ["-lgtest", "-lgtest_main"], "catch2/catch.hpp": []}
MAIN = """
int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    int ready = prelude_enter(cu);
    show(cu);
    prelude_leave();
    return ready ? 0 : 77;
}
"""


def environment(**variables):
    """This process's without what changes the driver, and what the test sets."""
    ours = ("CUSHIM_", "CUDA_", "FAKE_")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**clean, "LC_ALL": "C", **variables}


def run(command, cwd, env):
    """A finished process, with its output."""
    return subprocess.run(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, timeout=120, check=False)


def source(block):
    """The source file of a block."""
    if block.kind in WHOLE:
        return block.text
    head = '#include "prelude.h"\n' + ("#include <cushim/sim.h>\n" if "sim" in block.kind else "")
    includes = "".join(re.findall(r"^#include.*\n", block.code(), re.M))
    body = re.sub(r"^#include.*\n", "", block.code(), flags=re.M)
    show = "static void show(const struct cushim_api *cu)\n{\n    (void)cu;\n    {\n" # may hide it
    if block.kind == "declarations":
        name = re.findall(r"(\w+)\(const struct cushim_api \*cu\)", body)[-1]
        return f"{head}{includes}{body}{show}        {name}(cu);\n    }}\n}}\n{MAIN}"
    return f"{head}{includes}{show}{textwrap.indent(body, '        ')}    }}\n}}\n{MAIN}"


def compile_block(block, folder):
    """The program, in the folder; the test fails with the compiler's words."""
    if block.language not in LANGUAGES:
        pytest.fail(f"{block.name()}: no test knows how to compile {block.language or 'this'}")
    compiler, suffix, standard = LANGUAGES[block.language]
    file, program = folder / f"block.{suffix}", folder / "program"
    file.write_text(source(block), encoding="utf-8")
    libraries = ["cushim-sim", "cushim"] if "sim" in block.kind else ["cushim"]
    objects = [next(BUILD.glob(f"src/**/lib{name}.a")) for name in libraries]
    extra = [] if block.kind in WHOLE else ["-Wno-unused", "-Wno-missing-field-initializers"]
    compiler = os.environ.get("CXX" if suffix == "cpp" else "CC", compiler).split()[-1]
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    command = [compiler, standard, "-Wall", "-Wextra", "-Werror", *extra, "-I", HERE,
               "-I", HERE.parents[1] / "include", "-I", BUILD / "gen",
               f'-DSAXPY_PTX="{HERE.parents[1]}/kernels/saxpy.ptx"', file, "-o", program,
               *objects, "-ldl", "-pthread"]
    if "sim" in block.kind:
        command += ["-lm", *sim_libraries(), *framework(block, compiler)]
    done = run(command, folder, environment())
    assert done.returncode == 0, f"{block.name()}: {done.stderr}"
    return program


def framework(block, compiler):
    """What its framework is linked with; the test is skipped where it is not installed."""
    words = []
    for header, libraries in FRAMEWORKS.items():
        if f"<{header}>" in block.text:
            found = subprocess.run([compiler, "-x", "c++", "-E", "-", "-o", "/dev/null"], text=True,
                                   input=f"#include <{header}>\n", capture_output=True, check=False)
            if found.returncode != 0:
                pytest.skip(f"{header} is not installed")
            words += libraries
    return words


def sim_libraries():
    """What the simulated driver was linked with, to read compressed fatbins."""
    found = [run(["pkg-config", "--libs", name], HERE, environment())
             for name in ("libzstd", "liblz4")]
    return [word for done in found if done.returncode == 0 for word in done.stdout.split()]


def searched_driver():
    """What the search finds on this machine: True if there is a driver."""
    done = run([CLI, "info"], HERE, environment())
    return done.returncode == 0


def without_device():
    """(name, environment) of drivers that find no device: one of ours, and NVIDIA's."""
    yield "fake", {"CUSHIM_LIBCUDA": FAKE_GPU, "FAKE_DEVICES": "-1"}
    for branch, driver in newest_drivers().items():
        folder = {"LD_LIBRARY_PATH": str(driver.path.parent)} if driver.needs else {}
        yield branch, {"CUSHIM_LIBCUDA": str(driver.path), **folder}
