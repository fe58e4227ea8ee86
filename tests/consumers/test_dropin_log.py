# SPDX-License-Identifier: MIT
"""CUSHIM_LOG: the drop-in reports why there is no CUDA, and is silent unless it is asked."""

import os
import shutil
import subprocess

import pytest
from adopt import HERE, NO_DRIVER, environment, run

NO_DEVICE = """
int cuInit(unsigned flags) { (void)flags; return 100; }
int cuDriverGetVersion(int *version) { *version = 12040; return 0; }
int cuDeviceGetCount(int *count) { *count = 0; return 0; }
int cuGetErrorName(int error, const char **name) { *name = ""; return error * 0; }
"""
MISSING = ("cushim: cuMemAllocAsync is not available: it came with CUDA 11.2, and the driver, of "
           "CUDA 10.2, is older")


@pytest.fixture(name="program", scope="module")
def program_fixture(installed, tmp_path_factory):
    """A program that calls what an old driver lacks."""
    folder = tmp_path_factory.mktemp("log")
    return installed.compile(folder / "log", HERE / "log.c", libraries=[installed.dropin],
                             options=["-w", "-I", installed.cuda_headers])


@pytest.fixture(name="two_files", scope="module")
def two_files_fixture(build, tmp_path_factory):
    """The same with cushim.c, and with the drop-in's functions in C."""
    folder = tmp_path_factory.mktemp("two-files")
    shutil.copytree(build.path / "src/packaging/two-files", folder, dirs_exist_ok=True)
    (folder / "cuda.h").write_text('#include "cushim.h"\n', encoding="utf-8")
    run("cc", "-w", "-DCUSHIM_DROPIN", "-I.", HERE / "log.c", "cushim.c", "-o", "log", "-ldl",
        "-pthread", cwd=folder)
    return folder / "log"


def library(folder, text):
    """A libcuda.so.1 of one source file."""
    source = folder / "driver.c"
    source.write_text(text, encoding="utf-8")
    run("cc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", source, "-o",
        folder / "libcuda.so.1")
    return folder / "libcuda.so.1"


@pytest.fixture(name="old_driver")
def old_driver_fixture(tmp_path):
    """A driver of CUDA 10.2 with five functions."""
    return library(tmp_path, (HERE / "driver.c").read_text(encoding="utf-8"))


def output(program, driver, *arguments, level=None):
    """(what a program prints, the lines of its standard error)."""
    env = {"CUSHIM_LIBCUDA": str(driver), **({"CUSHIM_LOG": level} if level is not None else {})}
    done = subprocess.run([program, *arguments], env=environment(env), text=True,
                          capture_output=True, check=True, timeout=60)
    return done.stdout, done.stderr.splitlines()


@pytest.mark.parametrize("level", [None, "", "0"], ids=repr)
def test_silent_by_default(program, old_driver, level):
    """And also if the variable is empty or 0."""
    assert output(program, old_driver, level=level)[1] == []
    assert output(program, NO_DRIVER, level=level)[1] == []


@pytest.mark.parametrize("way", ["program", "two_files"])
@pytest.mark.parametrize("arguments", [[], ["init"]], ids=["missing first", "init first"])
def test_reports(request, way, old_driver, arguments):
    """The load's sentence and each unavailable entry once; the results are as without."""
    program = request.getfixturevalue(way)
    quiet, _ = output(program, old_driver, *arguments)
    for _ in range(50):  # the first calls come from several threads
        shown, lines = output(program, old_driver, *arguments, level="1")
        assert shown == quiet and "missing 36 36 36 36\nagain 36\ninit 0\n" in shown
        assert len(lines) == 3, lines
        assert lines[0].startswith(f"cushim: {old_driver}") and lines.count(MISSING) == 1, lines
        assert lines[2].startswith("cushim: cuMemFreeAsync is not available: it came with CUDA ")


def test_without_a_driver(program):
    """The sentence that cushim_message has, then what is called."""
    shown, lines = output(program, NO_DRIVER, "init", level="1")
    assert "init 100 100\nmissing 3 3 3 3\n" in shown
    assert shown.endswith("name CUDA_ERROR_NOT_INITIALIZED, version 0\n")
    assert lines[0].startswith("cushim: ") and NO_DRIVER in lines[0] and ";" in lines[0]
    assert lines[1:] == [f"cushim: {symbol} is not available: there is no CUDA driver"
                         for symbol in ("cuMemAllocAsync", "cuMemFreeAsync")]


def test_why_init_fails(program, tmp_path):
    """Once, with what to do, though the program asks twice and then again."""
    driver = library(tmp_path, NO_DEVICE)
    quiet, _ = output(program, driver, "init")
    shown, lines = output(program, driver, "init", level="1")
    assert shown == quiet and "init 100 100\n" in shown
    about = [line for line in lines if "cuInit returned 100" in line]
    assert len(about) == 1 and "nvidia-smi" in about[0], lines


def test_second_level(program, old_driver):
    """What was tried."""
    _, lines = output(program, old_driver, level="2")
    assert lines[0] == f"cushim: tried {old_driver}: in use"
    _, lines = output(program, NO_DRIVER, level="2")
    assert lines[0].startswith(f"cushim: tried {NO_DRIVER}: ") and "in use" not in lines[0]


def test_ignored_in_a_set_uid_program(program, tmp_path):
    """Like CUSHIM_LIBCUDA. The same copy without the bit reports."""
    if os.getuid() != 0:
        pytest.skip("only root can make a set-uid program of another user")
    copy = tmp_path / "log"
    shutil.copy(program, copy)
    assert output(copy, NO_DRIVER, level="1")[1]
    os.chown(copy, 65534, 65534)
    copy.chmod(0o4755)
    assert output(copy, NO_DRIVER, level="2")[1] == []
