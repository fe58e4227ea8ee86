# SPDX-License-Identifier: MIT
"""The programs of docs/examples/languages: built as docs/languages.md has it, run with drivers and
without."""

import os
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from pages import ROOT
from runner import BUILD, CLI, HERE, NOWHERE, SIM, environment, run

PAGE = ROOT / "docs/languages.md"
PROGRAMS = {file.name: file for file in (ROOT / "docs/examples/languages").iterdir()}
# file -> section, its compiler and a question that a working one answers, what it prints if it is
# well, and what it says of memory that it does not get
GOOD = "1024 numbers, all of them 7\n"
LANGUAGES = {
    "first.py": ("Python", ("python3", "--version"), GOOD,
                 "call: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY"),
    "first.rs": ("Rust", ("rustc", "--version"), GOOD, "cushim_memory_alloc"),
    "table.rs": ("Rust with bindgen", ("bindgen", "--version"), "1 devices, driver of CUDA ", ""),
    "first.go": ("Go", ("go", "version"), GOOD, "cushim_memory_alloc"),
    "first.f90": ("Fortran", ("gfortran", "--version"), GOOD, "cushim_memory_alloc"),
}
pytestmark = pytest.mark.in_all  # needs compilers of 'setup all'


def compiler_folder(name, question):
    """The first folder of PATH with a compiler that works; rustup without a toolchain does not."""
    for folder in os.get_exec_path():
        program = Path(folder) / name
        if os.access(program, os.X_OK) and run([program, question], HERE,
                                               environment()).returncode == 0:
            return folder
    return None


def test_the_programs_are_there():
    assert set(PROGRAMS) == set(LANGUAGES)


def module(folder):
    """The module of Python as the wheel has it, and its program as a command."""
    shutil.copytree(ROOT / "python/cushim", folder / "cushim", ignore=lambda *_: ["__pycache__"])
    (folder / "cushim/libcushim.so.0").symlink_to((BUILD / "src/libcushim.so.0").resolve())
    (folder / "first").write_text('#!/bin/sh\nexec python3 -B "${0%/*}/first.py"\n',
                                  encoding="utf-8")
    (folder / "first").chmod(0o755)


@pytest.fixture(name="program", params=LANGUAGES, scope="module")
def program_fixture(request, tmp_path_factory):
    """The built program; pkg-config is one that knows this build, which is not installed."""
    section, question, _, _ = LANGUAGES[request.param]
    compiler = compiler_folder(*question)
    if not compiler:
        pytest.skip(f"{question[0]} is not installed")
    folder = tmp_path_factory.mktemp("a folder")
    shutil.copy(PROGRAMS[request.param], folder)
    library = (BUILD / "src").resolve()
    if not list(library.glob("libcushim.so")):
        pytest.skip("built without the shared library")
    flags = f"-I{ROOT}/include -I{BUILD.resolve()}/gen"
    (folder / "pkg-config").write_text(
        "#!/bin/sh\ncase $1 in\n"
        f"--variable=libdir) echo '{library}' ;;\n"
        f"--variable=includedir) echo '{ROOT}/include' ;;\n--cflags) echo '{flags}' ;;\n"
        f"--libs) echo '-L{library} -lcushim' ;;\n*) exit 1 ;;\nesac\n", encoding="utf-8")
    (folder / "pkg-config").chmod(0o755)
    if request.param.endswith(".py"):
        module(folder)
    else:
        text = re.search(rf"^## {section}\n(.*?)(?=^```|^## |\Z)", PAGE.read_text(encoding="utf-8"),
                         re.M | re.S)[1]
        lines = "".join(re.findall(r"^    (?!\./)(.*\n)", text, re.M))
        variables = environment(GOCACHE=str(folder / "cache"), GOPATH=str(folder / "go"))
        variables["PATH"] = f"{folder}:{compiler}:{variables['PATH']}"
        done = run(["sh", "-euc", lines], folder, variables)
        assert done.returncode == 0, done.stdout + done.stderr
    return SimpleNamespace(path=folder / request.param.partition(".")[0],
                           good=LANGUAGES[request.param][2], failure=LANGUAGES[request.param][3],
                           search={} if section.startswith("Rust") else  # finds it by itself
                           {"LD_LIBRARY_PATH": str(library)})


def test_sizes_of_an_old_bindgen(tmp_path):
    """The page's option makes them usize, which bindgen does by itself from the page's version."""
    folder = compiler_folder("bindgen", "--version")
    if not folder:
        pytest.skip("bindgen is not installed")
    bindgen = Path(folder) / "bindgen"
    version = re.search(r"(\d+)\.(\d+)", run([bindgen, "--version"], HERE, environment()).stdout)
    *since, option = re.search(r"Before (\d+)\.(\d+), helpers need\s`(--\S+)`",
                               PAGE.read_text(encoding="utf-8")).groups()
    options = [option] if list(map(int, version.groups())) < list(map(int, since)) else []
    done = run([bindgen, *options, "--allowlist-function", "cushim_memory_alloc",
                ROOT / "include/cushim/memory.h", "--", f"-I{ROOT}/include",
                f"-I{BUILD.resolve()}/gen"], tmp_path, environment())
    assert re.search(r"fn cushim_memory_alloc\([^)]*bytes: usize", done.stdout), done.stderr


def test_cargo(tmp_path):
    """The page's edition and build.rs, in a project of the example."""
    folder = compiler_folder("cargo", "--version")
    library = (BUILD / "src").resolve()
    if not folder or not list(library.glob("libcushim.so")):
        pytest.skip("no cargo, or built without the shared library")
    page = PAGE.read_text(encoding="utf-8")
    build = re.search(r"```rust\n(fn main.*?)```", page, re.S)[1]
    edition = re.search(r'`(edition = "\d+")`', page)[1]
    assert build.count('"/usr/local/lib"') == 1
    (tmp_path / "src").mkdir()
    shutil.copy(PROGRAMS["first.rs"], tmp_path / "src/main.rs")
    (tmp_path / "build.rs").write_text(build.replace("/usr/local/lib", str(library)),
                                       encoding="utf-8")
    (tmp_path / "Cargo.toml").write_text(
        f'[package]\nname = "app"\nversion = "0.1.0"\n{edition}\n', encoding="utf-8")
    variables = environment(CUSHIM_LIBCUDA=NOWHERE)
    variables["PATH"] = f"{folder}:{variables['PATH']}"
    done = run([Path(folder) / "cargo", "run", "--quiet", "--offline"], tmp_path, variables)
    assert done.stdout.startswith("on the CPU, because "), done.stdout + done.stderr


def start(program, **variables):
    """The finished program, with the library of this build."""
    return run([program.path], program.path.parent, environment(**program.search, **variables))


def test_without_a_driver(program):
    done = start(program, CUSHIM_LIBCUDA=NOWHERE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"on the CPU, because CUSHIM_LIBCUDA={NOWHERE}: ")


@pytest.mark.parametrize("version", ["9.0", "11.2", "13.0"])
def test_on_simulated_drivers(program, version):
    """Right numbers, and all is given back: by the log, as Go's programs leave no summary."""
    if not SIM:
        pytest.skip("built without the simulated driver")
    log = program.path.parent / f"calls-{version}.txt"
    done = run([CLI, "sim", "--log", log, "--cuda", version, "--", program.path],
               program.path.parent, environment(CUSHIM_SIM_DIR=str((BUILD / "src/sim").resolve()),
                                                **program.search))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(program.good)
    calls = log.read_text(encoding="utf-8")
    for pair in (("cuMemAlloc_v2", "cuMemFree_v2"),
                 ("cuDevicePrimaryCtxRetain", r"cuDevicePrimaryCtxRelease(?:_v2)?")):
        expected = [1, 1] if program.good == GOOD else [0, 0]
        assert [len(re.findall(rf"\b{name}\(", calls)) for name in pair] == expected, calls


def test_a_failure_has_a_sentence(program):
    if not SIM:
        pytest.skip("built without the simulated driver")
    done = start(program, CUSHIM_LIBCUDA=str((BUILD / f"src/sim/libcuda-sim-{SIM}.so").resolve()),
                 CUSHIM_SIM_FAULT="cuMemAlloc:error=OUT_OF_MEMORY", CUSHIM_SIM_SUMMARY="0")
    assert done.returncode == 0, done.stderr
    expected = f"on the CPU, because {program.failure}" if program.failure else program.good
    assert done.stdout.startswith(expected)
