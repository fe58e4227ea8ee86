# SPDX-License-Identifier: MIT
"""docs/adopt.md: projects that are not edited, and the commands of the page."""

import re
import shutil

import pytest
from adopt import HERE, NO_DRIVER, ROOT, assert_keeps_to_itself, facts, need, needed, run

PAGE = (ROOT / "docs/adopt.md").read_text(encoding="utf-8")
NOTHING = {"CUSHIM_LIBCUDA": NO_DRIVER}


def commands(heading, first, page=PAGE):
    """The block of indented lines of a section that begins with a word."""
    section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", page, re.M | re.S)[1]
    blocks = re.findall(r"(?:^    \S.*\n)+(?:^        .*\n)*", section, re.M)
    block = next(block for block in blocks if block.strip().startswith(first))
    return re.sub(r"^    ", "", block, flags=re.M)


def prefix(installed):
    """The installation as the page has it: libraries in lib."""
    if not (installed.prefix / "lib/libcushim-dropin.a").exists():
        for library in installed.libraries.glob("libcushim*.a"):
            (installed.prefix / "lib" / library.name).symlink_to(library)
    return {"PREFIX": str(installed.prefix), **installed.env}


@pytest.fixture(name="toolkit_root")
def toolkit_root_fixture(installed, tmp_path):
    """A folder that FindCUDAToolkit takes for a toolkit; its libcuda is a stub that nobody has."""
    root = tmp_path / "toolkit"
    for folder in ("bin", "include", "lib64/stubs"):
        (root / folder).mkdir(parents=True)
    nvcc = root / "bin/nvcc"
    nvcc.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 12.4, V12.4.131'\n",
                    encoding="utf-8")
    nvcc.chmod(0o755)
    shutil.copytree(installed.cuda_headers, root / "include", dirs_exist_ok=True)
    (root / "include/cuda_runtime.h").write_text("", encoding="utf-8")
    (root / "empty.c").write_text("int nothing;\n", encoding="utf-8")
    run("cc", "-shared", root / "empty.c", "-o", root / "lib64/libcudart.so")
    (root / "stub.c").write_text("int cuInit(unsigned flags) { return (int)flags; }\n",
                                 encoding="utf-8")
    run("cc", "-shared", "-Wl,-soname,libcuda.so.1", root / "stub.c", "-o",
        root / "lib64/stubs/libcuda.so")
    return root


def check(program):
    """No libcuda is needed, and without one the program runs."""
    assert_keeps_to_itself(program)
    assert facts(run(program, env=NOTHING))["init"] == "100"


def test_a_program_that_keeps_libcuda(build, installed, tmp_path):
    """Without a toolkit, the simulated driver stands for the stub."""
    if not build.options["sim"]:
        pytest.skip("built without the simulated driver")
    shutil.copy(HERE / "legacy.c", tmp_path / "program.c")
    env = prefix(installed)
    library = next(installed.prefix.rglob("libcuda-sim-13.5.so"))
    if library.parent != installed.prefix / "lib/cushim/sim":
        (installed.prefix / "lib/cushim").mkdir(parents=True, exist_ok=True)
        (installed.prefix / "lib/cushim/sim").symlink_to(library.parent)
    blocks = re.findall(r"(?:^    \S.*\n)(?:^        .*\n)*", PAGE, re.M)
    run("sh", "-euc", next(block for block in blocks if "libcuda-sim" in block), cwd=tmp_path,
        env=env)
    assert "libcuda.so.1" in needed(tmp_path / "program")


def old_project(folder, more=""):
    """A project with find_package(CUDAToolkit), which knows nothing of cushim."""
    project = folder / "project"
    project.mkdir()
    shutil.copy(HERE / "legacy.c", project)
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.17)\nproject(old LANGUAGES C)\n"
        "find_package(CUDAToolkit REQUIRED)\nadd_executable(old legacy.c)\n"
        f"{more}target_link_libraries(old PRIVATE CUDA::cuda_driver)\n", encoding="utf-8")
    return project


def test_cmake_without_an_edited_line(installed, toolkit_root, tmp_path):
    """A project with find_package(CUDAToolkit); without the variable it needs libcuda."""
    need("cmake")
    project = old_project(
        tmp_path, "target_compile_definitions(old PRIVATE CUSHIM_CUDA_VERSION=12040)\n"
        f"target_include_directories(old PRIVATE {installed.include})\n")
    env = {**prefix(installed), "CUDAToolkit_ROOT": str(toolkit_root)}
    text = commands("Without an edited line", "cmake -S project -B build -DCUDA")
    assert text.count("\n") == 2
    run("sh", "-euc", text, cwd=tmp_path, env=env)
    check(tmp_path / "build/old")
    found = re.search(r"^CUDA_cuda_driver_LIBRARY:.*=(.*)$",
                      (tmp_path / "build/CMakeCache.txt").read_text(encoding="utf-8"), re.M)[1]
    assert found.endswith("libcushim-dropin.a")
    run("cmake", "-S", project, "-B", tmp_path / "plain", env=env)
    assert "stubs/libcuda.so" in (tmp_path / "plain/CMakeCache.txt").read_text(encoding="utf-8")


def test_cmake_without_a_toolkit(installed, tmp_path):
    """The page's FindCUDAToolkit.cmake; nvcc is nowhere."""
    need("cmake")
    old_project(tmp_path)
    (tmp_path / "FindCUDAToolkit.cmake").write_text(
        re.search(r"```cmake\n(find_package\(cushim.*?)```", PAGE, re.S)[1], encoding="utf-8")
    run("sh", "-euc", commands("Without an edited line", "cmake -S project -B build -DCMAKE"),
        cwd=tmp_path, env=prefix(installed))
    run("cmake", "--build", tmp_path / "build")
    check(tmp_path / "build/old")


def autotools(folder, check_cuda, libraries=""):
    """A project with configure.ac and Makefile.am."""
    folder.mkdir()
    shutil.copy(HERE / "legacy.c", folder)
    (folder / "configure.ac").write_text(
        "AC_INIT([old], [1.0])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\n"
        f"{check_cuda}\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n", encoding="utf-8")
    (folder / "Makefile.am").write_text(
        f"bin_PROGRAMS = old\nold_SOURCES = legacy.c\n{libraries}", encoding="utf-8")
    run("autoreconf", "-i", cwd=folder)


def test_autotools_without_an_edited_line(installed, tmp_path):
    """A project with AC_CHECK_LIB and -lcuda."""
    need("autoreconf", "automake", "make")
    autotools(tmp_path / "project",
              "AC_CHECK_LIB([cuda], [cuInit], [], [AC_MSG_ERROR([no libcuda])])")
    text = commands("Without an edited line", "mkdir")
    flags = re.search(r'`(CPPFLAGS="[^`]*")`', PAGE)[1]
    run("sh", "-euc", text.replace("./configure ", f"./configure {flags} "),
        cwd=tmp_path / "project", env=prefix(installed))
    check(tmp_path / "project/old")


def test_autotools_with_pkg_config(installed, tmp_path):
    """The line for a configure.ac of one's own."""
    need("autoreconf", "automake", "make", "pkg-config")
    line = commands("Without an edited line", "PKG_CHECK_MODULES").strip()
    autotools(tmp_path / "project", line,
              "old_CFLAGS = $(CUDA_CFLAGS)\nold_LDADD = $(CUDA_LIBS)\n")
    run("./configure", f"CPPFLAGS=-I{installed.cuda_headers} -I{installed.include}",
        f"PKG_CONFIG={installed.pkg_config}", cwd=tmp_path / "project", env=installed.env)
    run("make", cwd=tmp_path / "project")
    check(tmp_path / "project/old")


def test_releases_that_can_be_chosen(installed, tmp_path):
    """The page has the oldest and the newest; what lies beyond does not compile."""
    oldest, newest = map(int, re.search(r"from (\d+) to (\d+); others", PAGE).groups())
    (tmp_path / "a.c").write_text("#include <cushim/cushim.h>\nint main(void) { return 0; }\n",
                                  encoding="utf-8")
    for level, code in ((oldest, 0), (newest, 0), (oldest - 10, 1), (newest + 10, 1)):
        said = run("cc", f"-DCUSHIM_CUDA_VERSION={level}", "-I", installed.prefix / "include", "-c",
                   "a.c", cwd=tmp_path, code=code)
        assert code == 0 or f"from {oldest} to {newest}" in said


def test_context_of_four_arguments(installed, tmp_path):
    """The page's command; without its definition the same source does not compile."""
    need("pkg-config")
    (tmp_path / "program.c").write_text(
        "#include <cuda.h>\nint main(void)\n{ CUcontext context = 0;\n"
        "return cuCtxCreate(&context, 0, 0, 0) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1; }\n",
        encoding="utf-8")
    text = commands("The trap of cuCtxCreate", "cc").replace("pkg-config", installed.pkg_config)
    run("sh", "-euc", text, cwd=tmp_path, env=installed.env)
    run(tmp_path / "program", env=NOTHING)
    said = run("sh", "-euc", text.replace("-DCUSHIM_CUDA_VERSION=13000 ", ""), cwd=tmp_path,
               env=installed.env, code=1)
    assert "cuCtxCreate_v2" in said and "too many arguments" in said


def test_preloaded_functions_are_not_asked(installed, tmp_path):
    """A hook in front of a program with -lcuda is not in front of one with cushim; named, it is."""
    run("cc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", HERE / "driver.c", "-o",
        tmp_path / "libcuda.so.1")
    (tmp_path / "hook.c").write_text(
        "int cuInit(unsigned flags) { return flags ? 1 : 77; }\n"
        "int cuDriverGetVersion(int *version) { *version = 10020; return 0; }\n"
        "int cuDeviceGetCount(int *count) { *count = 0; return 0; }\n"
        "int cuGetErrorName(int code, const char **name) { *name = \"\"; return code * 0; }\n",
        encoding="utf-8")
    hook = tmp_path / "hook.so"
    run("cc", "-shared", "-fPIC", tmp_path / "hook.c", "-o", hook)
    (tmp_path / "init.c").write_text(
        "#include <cuda.h>\nint main(void) { return (int)cuInit(0); }\n", encoding="utf-8")
    options = ["-I", installed.cuda_headers, tmp_path / "init.c"]
    linked = installed.compile(tmp_path / "linked", options=options,
                               libraries=[tmp_path / "libcuda.so.1"])
    assert "libcuda.so.1" in needed(linked)
    ours = installed.compile(tmp_path / "ours", options=options, libraries=[installed.dropin])
    there = {"LD_LIBRARY_PATH": str(tmp_path)}
    run(linked, env={**there, "LD_PRELOAD": str(hook)}, code=77)
    run(ours, env={**there, "LD_PRELOAD": str(hook)})
    run(ours, env={**there, "CUSHIM_LIBCUDA": str(hook)}, code=77)


def test_windows(build, tmp_path):
    """The page's two commands make an .exe that needs the system's libraries alone. So does source
    with <cuda.h>, by the one line of adopt.md."""
    need("x86_64-w64-mingw32-gcc", "x86_64-w64-mingw32-objdump")
    (tmp_path / "cushim").mkdir()
    for name in ("cushim.h", "cushim.c"):
        shutil.copy(build.path / "src/packaging/two-files" / name, tmp_path / "cushim")
    line = re.search(r"`cuda.h` of one line, `(.*?)`", PAGE)[1]
    (tmp_path / "cuda.h").write_text(f"{line}\n", encoding="utf-8")
    page = (ROOT / "docs/windows.md").read_text(encoding="utf-8")
    text = commands("Link", "x86_64", page).replace("app.c", "-Werror app.c")
    assert text.count("-Werror") == 1
    for header in ("cushim/cushim.h", "cuda.h"):
        (tmp_path / "app.c").write_text(
            f"#include <{header}>\nint main(void) {{ return cuInit(0) == CUDA_SUCCESS; }}\n",
            encoding="utf-8")
        run("sh", "-euc", text, cwd=tmp_path)
        shown = run("x86_64-w64-mingw32-objdump", "-p", tmp_path / "app.exe")
        assert set(re.findall(r"DLL Name: (\S+)", shown)) <= {"KERNEL32.dll", "msvcrt.dll"}
