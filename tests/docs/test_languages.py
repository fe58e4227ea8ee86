# SPDX-License-Identifier: MIT
"""The programs of docs/languages.md: built as the page has it, run with drivers and without."""

import os
import re
from pathlib import Path

import pytest
from pages import ROOT, fenced
from runner import BUILD, CLI, HERE, NOWHERE, SIM, environment, run

PAGE = ROOT / "docs/languages.md"
PROGRAMS = {block.language: block.text for block in fenced(PAGE) if block.language}
COMPILERS = {"rust": ("rustc", "--version"), "go": ("go", "version")}
FILES = {"rust": "first.rs", "go": "first.go"}
pytestmark = pytest.mark.in_all  # needs compilers of 'setup all'
GOOD = "1024 numbers, all of them 7\n"


def compiler_folder(name, question):
    """The first folder of PATH with a compiler that works; rustup without a toolchain does not."""
    for folder in os.get_exec_path():
        program = Path(folder) / name
        if os.access(program, os.X_OK) and run([program, question], HERE,
                                               environment()).returncode == 0:
            return folder
    return None


def test_the_programs_are_there():
    assert list(PROGRAMS) == list(COMPILERS)


@pytest.fixture(name="program", params=COMPILERS, scope="module")
def program_fixture(request, tmp_path_factory):
    """The built program; pkg-config is one that knows this build, which is not installed."""
    language = request.param
    compiler = compiler_folder(*COMPILERS[language])
    if not compiler:
        pytest.skip(f"{COMPILERS[language][0]} is not installed")
    folder = tmp_path_factory.mktemp("a folder")
    (folder / FILES[language]).write_text(PROGRAMS[language], encoding="utf-8")
    library = (BUILD / "src").resolve()
    if not list(library.glob("libcushim.so")):
        pytest.skip("built without the shared library")
    flags = f"-I{ROOT}/include -I{BUILD.resolve()}/gen"
    (folder / "pkg-config").write_text(
        "#!/bin/sh\ncase $1 in\n"
        f"--variable=libdir) echo '{library}' ;;\n--cflags) echo '{flags}' ;;\n"
        f"--libs) echo '-L{library} -lcushim' ;;\n*) exit 1 ;;\nesac\n", encoding="utf-8")
    (folder / "pkg-config").chmod(0o755)
    section = re.search(rf"^## {language.title()}\n(.*?)^```", PAGE.read_text(encoding="utf-8"),
                        re.M | re.S)[1]
    lines = "".join(re.findall(r"^    (.*\n)", section, re.M)).replace("./first\n", "")
    variables = environment(GOCACHE=str(folder / "cache"), GOPATH=str(folder / "go"))
    variables["PATH"] = f"{folder}:{compiler}:{variables['PATH']}"
    done = run(["sh", "-euc", lines], folder, variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "first"


def start(program, **variables):
    """The finished program, with the library of this build."""
    return run([program], program.parent,
               environment(LD_LIBRARY_PATH=str((BUILD / "src").resolve()), **variables))


def test_without_a_driver(program):
    done = start(program, CUSHIM_LIBCUDA=NOWHERE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"on the CPU, because {NOWHERE}: ")


@pytest.mark.parametrize("version", ["9.0", "11.2", "13.0"])
def test_on_simulated_drivers(program, version):
    """Right numbers, and all is given back: by the log, as Go's programs leave no summary."""
    if not SIM:
        pytest.skip("built without the simulated driver")
    log = program.parent / f"calls-{version}.txt"
    done = run([CLI, "sim", "--log", log, "--cuda", version, "--", program], program.parent,
               environment(LD_LIBRARY_PATH=str((BUILD / "src").resolve()),
                           CUSHIM_SIM_DIR=str((BUILD / "src/sim").resolve())))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == GOOD
    calls = log.read_text(encoding="utf-8")
    for pair in (("cuMemAlloc_v2", "cuMemFree_v2"),
                 ("cuDevicePrimaryCtxRetain", r"cuDevicePrimaryCtxRelease(?:_v2)?")):
        assert [len(re.findall(rf"\b{name}\(", calls)) for name in pair] == [1, 1], calls


def test_a_failure_has_a_sentence(program):
    if not SIM:
        pytest.skip("built without the simulated driver")
    done = start(program, CUSHIM_LIBCUDA=str((BUILD / f"src/sim/libcuda-sim-{SIM}.so").resolve()),
                 CUSHIM_SIM_FAULT="cuMemAlloc:error=OUT_OF_MEMORY", CUSHIM_SIM_SUMMARY="0")
    assert done.returncode == 0, done.stderr
    assert "on the CPU, because cushim_memory_alloc" in done.stdout
