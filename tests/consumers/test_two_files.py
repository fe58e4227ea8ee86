# SPDX-License-Identifier: MIT
"""cushim.h and cushim.c in a folder of their own, with a compiler and nothing else."""

import argparse
import re
import shutil
import sys

import pytest
from adopt import (HERE, NO_DRIVER, ROOT, assert_keeps_to_itself, exports, facts, need, run,
                   with_driver)

sys.path.insert(0, str(ROOT / "gen"))

import amalgamate  # noqa: E402

WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
MORE = ["-Wshadow", "-Wstrict-prototypes", "-Wmissing-prototypes", "-Wundef", "-Wvla"]
MINGW = "x86_64-w64-mingw32-gcc"
NOTHING = {"CUSHIM_LIBCUDA": NO_DRIVER}


@pytest.fixture
def folder(build, tmp_path):
    """A project's folder with the two files in it, and in a folder of their own below it."""
    (tmp_path / "cushim").mkdir()
    for name in ("cushim.h", "cushim.c"):
        shutil.copy(build.path / "src/packaging/two-files" / name, tmp_path)
        shutil.copy(build.path / "src/packaging/two-files" / name, tmp_path / "cushim")
    return tmp_path


@pytest.mark.parametrize("options", [[], ["-DCUSHIM_DROPIN"], ["-DCUSHIM_HELPERS"]], ids=str)
@pytest.mark.parametrize("compiler", ["gcc", "clang", MINGW])
def test_compiles_alone(folder, compiler, options):
    """No name of one source clashes with that of another, and no compiler has a remark."""
    need(compiler)
    run(compiler, *WARNINGS, *MORE, *options, "-c", "cushim.c", cwd=folder)


def test_first_lines_say_what_it_is(folder):
    """Licence and origin travel with both files, and they include nothing but each other."""
    for name in ("cushim.h", "cushim.c"):
        text = (folder / name).read_text(encoding="utf-8")
        assert text.count("SPDX-License-Identifier: MIT") == 1
        assert "Permission is hereby granted" in text and "gen/two_files.py" in text
        own = re.findall(r'#\s*include\s+("[^"]+"|<cushim.*>)', text)
        assert own == (['"cushim.h"'] if name == "cushim.c" else [])


def test_sources_that_include_the_helpers_headers(folder):
    """The page's loop makes them, for programs that were written for an installed library."""
    page = (ROOT / "docs/adopt.md").read_text(encoding="utf-8")
    loop = re.search(r"^    for header in .*?\n    done\n", page, re.M | re.S)[0]
    run("sh", "-euc", loop, cwd=folder)
    made = {file.name for file in (folder / "cushim").glob("*.h")} - {"cushim.h"}
    cmake = (ROOT / "src/packaging/two-files/CMakeLists.txt.in").read_text(encoding="utf-8")
    assert made == {f"{name}.h" for name in
                    re.search(r"foreach\(header (.*)\)", cmake)[1].split()}
    for name in ("all_contexts", "vector_add"):
        shutil.copy(ROOT / f"docs/examples/{name}.c", folder)
        own = re.findall(r'#include "(\w+_ptx\.h)"', (folder / f"{name}.c").read_text("utf-8"))
        for header in own:
            run(sys.executable, ROOT / "kernels/embed.py",
                ROOT / "kernels" / header.replace("_ptx.h", ".ptx"), folder / header)
        run("cc", *WARNINGS, "-I.", "-DCUSHIM_HELPERS", f"{name}.c", "cushim/cushim.c", "-o", name,
            "-ldl", "-pthread", cwd=folder)


def test_project_of_its_own(folder, driver):
    """make, then run without a driver and with one."""
    need("make")
    shutil.copy(HERE / "app.c", folder)
    shutil.copy(HERE / "two-files/Makefile", folder)
    for name in ("cushim.h", "cushim.c"):
        (folder / name).unlink()
    run("make", "CFLAGS=-std=c11", cwd=folder)
    assert facts(run(folder / "app", env=NOTHING))["status"] == "not-found"
    shown = facts(run(folder / "app", env=with_driver(NOTHING, driver)))
    assert (shown["status"], shown["driver"]) == ("ok", str(driver.cuda))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_as_small_as_the_static_library(build, folder, compiler):
    """By `cc -O2` alone, which keeps all functions of cushim.c. Of clang's own output a twentieth
    more: its smallest is larger than gcc's."""
    need(compiler)
    if build.options["optimization"] not in ("2", "3", "s"):
        pytest.skip("this build is not optimised")
    (folder / "program.c").write_text(
        "#include <stdio.h>\n#include <cushim/cushim.h>\nint main(void)\n{\n"
        "    const struct cushim_api *cu = cushim_load(NULL);\n    int count = 0;\n"
        "    if (cushim_init(cu) != CUSHIM_OK)\n        puts(cushim_message(cu));\n"
        "    return cu->cuDeviceGetCount(&count) == CUDA_SUCCESS ? count : 0;\n}\n",
        encoding="utf-8")
    run(compiler, "-O2", "-I.", "program.c", "cushim.c", "-o", "copied", "-ldl", "-pthread",
        cwd=folder)
    run(compiler, "-O2", "-I", ROOT / "include", "-I", build.path / "gen", "program.c",
        build.path / "src/libcushim.a", "-o", "linked", "-ldl", "-pthread", cwd=folder)
    copied, linked = (sum(map(int, run("size", folder / name).splitlines()[1].split()[:2]))
                      for name in ("copied", "linked"))
    assert copied <= linked * (1.0 if compiler == "gcc" else 1.05)


def test_helpers_on_request(folder):
    """cushim.h declares them, and the linker names what -DCUSHIM_HELPERS would have brought."""
    (folder / "help.c").write_text(
        "#include \"cushim.h\"\nint main(void)\n{\n    CUdeviceptr memory = 0;\n"
        "    return cushim_memory_alloc(cushim_load(NULL), 1, &memory) != CUDA_ERROR_NO_DEVICE &&\n"
        "           CUSHIM_CHECK(CUDA_ERROR_UNKNOWN);\n}\n", encoding="utf-8")
    run("cc", *WARNINGS, "-DCUSHIM_HELPERS", "help.c", "cushim.c", "-o", "help", "-ldl", "-pthread",
        cwd=folder)
    run(folder / "help", env=NOTHING)
    assert re.search(r"undefined reference to .cushim_memory_alloc", run(
        "cc", "help.c", "cushim.c", "-o", "help", "-ldl", "-pthread", cwd=folder, code=1))


OWNERS = """
int main()
{
    try {
        cushim::unique_device gpu(cushim_load(nullptr));
        cushim::unique_stream stream(gpu);
    } catch (const cushim::call_error &error) {
        return error.code() == CUDA_ERROR_NO_DEVICE ? 0 : 1;
    }
    return 2;
}
"""


@pytest.mark.parametrize("standard", ["c++11", "c++20"])
def test_owners_on_request(folder, standard):
    """cushim.h holds those of C++, also after it was there without them."""
    need("g++")
    run("cc", *WARNINGS, "-DCUSHIM_HELPERS", "-c", "cushim.c", cwd=folder)
    text = '#include "cushim.h"\n#define CUSHIM_OWNERS\n#include "cushim.h"\n' + OWNERS
    (folder / "own.cpp").write_text(text, encoding="utf-8")
    run("g++", f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-I.", "own.cpp", "cushim.o",
        "-o", "own", "-ldl", "-pthread", cwd=folder)
    run(folder / "own", env=NOTHING)


@pytest.mark.parametrize("helpers", ["", "set(CUSHIM_HELPERS OFF)\n"], ids=["", "OFF"])
def test_owners_by_cmake(build, folder, helpers):
    """<cushim/cushim.hpp> is there as from an installation, unless the project wants no helpers."""
    need("cmake", "g++")
    shutil.copy(build.path / "src/packaging/two-files/CMakeLists.txt", folder / "cushim")
    (folder / "own.cpp").write_text("#include <cushim/cushim.hpp>\n" + OWNERS, encoding="utf-8")
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(own LANGUAGES C CXX)\n"
        f"{helpers}add_subdirectory(cushim)\nadd_executable(own own.cpp)\n"
        "target_link_libraries(own PRIVATE cushim::cushim)\n", encoding="utf-8")
    run("cmake", "-S", folder, "-B", folder / "made")
    said = run("cmake", "--build", folder / "made", code=2 if helpers else 0)
    assert bool(re.search("undefined reference to .cushim_", said)) == bool(helpers)
    if not helpers:
        run(folder / "made/own", env=NOTHING)


def test_unused_helpers_by_cmake(build, folder):
    """With --gc-sections they take next to no place."""
    need("cmake")
    shutil.copy(build.path / "src/packaging/two-files/CMakeLists.txt", folder / "cushim")
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(a LANGUAGES C)\n"
        f"add_subdirectory(cushim)\nadd_executable(a {HERE}/app.c)\n"
        "target_link_libraries(a PRIVATE cushim::cushim -Wl,--gc-sections)\n", encoding="utf-8")
    sizes = []
    for helpers in ("ON", "OFF"):
        run("cmake", "-S", folder, "-B", folder / helpers, f"-DCUSHIM_HELPERS={helpers}",
            "-DCMAKE_BUILD_TYPE=Release")
        run("cmake", "--build", folder / helpers)
        sizes.append(sum(map(int, run("size", folder / helpers / "a").splitlines()[1].split()[:2])))
    assert sizes[0] <= sizes[1] * 1.2, sizes


@pytest.mark.parametrize("way", ["CUSHIM_EXPORT_SET", "BUILD_INTERFACE"])
def test_exported_library(build, way, tmp_path):
    """A static library that links cushim, installed and exported, and a program that finds it."""
    need("cmake")
    library, program = tmp_path / "library", tmp_path / "program"
    shutil.copytree(build.path / "src/packaging/two-files", library / "cushim")
    (library / "mine.c").write_text(
        "#include <cushim/cushim.h>\nint mine(void);\nint mine(void)\n"
        "{ return cushim_status(cushim_load(NULL)); }\n", encoding="utf-8")
    linked = "cushim::cushim" if way == "CUSHIM_EXPORT_SET" else "$<BUILD_INTERFACE:cushim::cushim>"
    (library / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(mine LANGUAGES C)\n" +
        ("set(CUSHIM_EXPORT_SET mine)\n" if way == "CUSHIM_EXPORT_SET" else "") +
        "add_subdirectory(cushim)\nadd_library(mine STATIC mine.c)\n"
        f"target_link_libraries(mine PRIVATE {linked})\n"
        "install(TARGETS mine EXPORT mine ARCHIVE DESTINATION lib)\n"
        "install(EXPORT mine DESTINATION lib/cmake/mine FILE mine-config.cmake)\n",
        encoding="utf-8")
    run("cmake", "-S", library, "-B", library / "made",
        f"-DCMAKE_INSTALL_PREFIX={tmp_path / 'prefix'}")
    run("cmake", "--build", library / "made", "--target", "install")
    if way == "BUILD_INTERFACE":
        return  # the program brings cushim itself
    program.mkdir()
    (program / "main.c").write_text("int mine(void);\nint main(void) { return mine(); }\n",
                                    encoding="utf-8")
    (program / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(main LANGUAGES C)\n"
        "find_package(Threads)\nfind_package(mine REQUIRED)\nadd_executable(main main.c)\n"
        "target_link_libraries(main PRIVATE mine)\n", encoding="utf-8")
    run("cmake", "-S", program, "-B", program / "made",
        f"-DCMAKE_PREFIX_PATH={tmp_path / 'prefix'}")
    run("cmake", "--build", program / "made")
    run(program / "made/main", env=NOTHING, code=3)


def test_every_slot_whatever_the_project_chose(folder, drivers):
    """The project's own macros change its calls, not the table."""
    run("cc", *WARNINGS, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM",
        "-DCUSHIM_CUDA_VERSION=11040", "-D_GNU_SOURCE", "-I.", HERE / "slots.c", "cushim.c",
        "-o", "slots", "-ldl", "-pthread", cwd=folder)
    for driver in drivers:
        shown = facts(run(folder / "slots", env=with_driver(NOTHING, driver)))
        assert re.fullmatch(r"[1-9]\d\d 0", shown["slots"]), driver.version


@pytest.mark.parametrize("language", ["c", "c++"])
@pytest.mark.parametrize("toolkit", ["11.8", "13.0"], indirect=True)
def test_after_a_toolkits_header(folder, toolkit, language):
    """The project's cuda.h stays the one in use, and its names lead to the table's members."""
    need("g++")
    major, minor = toolkit.parent.name.split(".")
    (folder / "after.c").write_text(
        "#include <cuda.h>\n#include \"cushim.h\"\n"
        f"#if CUDA_VERSION != {int(major) * 1000 + int(minor) * 10}\n#error other\n#endif\n"
        "CUresult use(const struct cushim_api *cu, CUdeviceptr *memory);\n"
        "CUresult use(const struct cushim_api *cu, CUdeviceptr *memory)\n"
        "{ return cu->cuMemAlloc_v2 == cu->cuMemAlloc ? cu->cuMemAlloc(memory, 1) : "
        "CUDA_ERROR_UNKNOWN; }\n", encoding="utf-8")
    run("g++" if language == "c++" else "cc", "-x", language, "-Wall", "-Wextra", "-Werror",
        "-I", toolkit, "-c", "after.c", cwd=folder)


def test_companions_on_request(folder):
    """The types of cudaGL.h and the others, for projects without a toolkit."""
    (folder / "gl.c").write_text("#include \"cushim.h\"\nint main(void)\n"
                                 "{ CUeglFrame frame; return CU_GL_DEVICE_LIST_ALL == 1 "
                                 "? (int)sizeof frame * 0 : 1; }\n", encoding="utf-8")
    run("cc", *WARNINGS, "-DCUSHIM_COMPANIONS", "gl.c", "-o", "gl", cwd=folder)
    run(folder / "gl")
    run("cc", "gl.c", "-o", "gl", cwd=folder, code=1)


def test_typedefs_on_request(folder):
    """The types of cudaTypedefs.h, and with companions theirs, also after the header was there."""
    (folder / "cudaTypedefs.h").write_text("#define CUSHIM_TYPEDEFS\n#include \"cushim.h\"\n",
                                           encoding="utf-8")
    (folder / "types.c").write_text(
        "#include \"cushim.h\"\n#ifdef LATER\n#include <cudaTypedefs.h>\n#endif\n"
        "#ifdef CUSHIM_COMPANIONS\nextern PFN_cuGLInit_v2000 gl;\n#endif\n"
        "int main(void)\n{ struct cushim_api api = {0}; PFN_cuMemAlloc_v3020 f = "
        "api.cuMemAlloc_v2; return f != 0; }\n", encoding="utf-8")
    for options in (["-DCUSHIM_TYPEDEFS"], ["-DLATER"], ["-DLATER", "-DCUSHIM_COMPANIONS"]):
        run("cc", *WARNINGS, *MORE, *options, "-I.", "types.c", "-o", "types", cwd=folder)
        run(folder / "types")
    run("cc", "-I.", "types.c", "-o", "types", cwd=folder, code=1)
    run("cc", *WARNINGS, *MORE, "-DCUSHIM_TYPEDEFS", "-c", "cushim.c", cwd=folder)


@pytest.mark.parametrize("language", ["c", "c++"])
@pytest.mark.parametrize("toolkit", ["11.8", "13.0"], indirect=True)
def test_typedefs_after_a_toolkits_header(folder, toolkit, language):
    """They are the toolkit's own then, and the companions' with its headers."""
    need("g++")
    (folder / "after.c").write_text(
        "#define CUSHIM_TYPEDEFS\n#define CUSHIM_COMPANIONS\n#include <cuda.h>\n"
        "#include \"cushim.h\"\nextern PFN_cuMemAlloc_v3020 allocate;\n", encoding="utf-8")
    run("g++" if language == "c++" else "cc", "-x", language, "-Wall", "-Wextra", "-Werror",
        "-I", toolkit, "-c", "after.c", cwd=folder)


def test_drop_in(folder, driver):
    """-DCUSHIM_DROPIN for cushim.c, and one line as <cuda.h>, serve source written for -lcuda."""
    for header in ("cuda.h", "cudaProfiler.h"):
        (folder / header).write_text("#include \"cushim.h\"\n", encoding="utf-8")
    run("cc", "-DCUSHIM_DROPIN", "-DCUSHIM_COMPANIONS", "-I.", HERE / "legacy.c",
        "cushim.c", "-o", "legacy", "-rdynamic", "-ldl", "-pthread", cwd=folder)
    assert_keeps_to_itself(folder / "legacy")
    shown = facts(run(folder / "legacy", env=NOTHING))
    assert (shown["version"], shown["init"], shown["after"]) == ("0 0", "100", "3")
    shown = facts(run(folder / "legacy", env=with_driver(NOTHING, driver)))
    assert shown["version"] == f"0 {driver.cuda}"


def test_plugin_keeps_its_copy_to_itself(folder):
    """Two plug-ins, or one and its program, may have cushim of two releases."""
    shutil.copy(HERE / "app.c", folder)
    run("cc", "-I.", "-shared", "-fPIC", "app.c", "cushim.c", "-o", "plugin.so",
        cwd=folder)
    assert_keeps_to_itself(folder / "plugin.so")
    assert exports(folder / "plugin.so") == ["main"]


def test_links_for_windows(folder):
    """An .exe needs the system's own libraries alone."""
    need(MINGW)
    shutil.copy(HERE / "app.c", folder)
    run(MINGW, *WARNINGS, "-I.", "app.c", "cushim.c", "-o", "app.exe", cwd=folder)


@pytest.mark.parametrize("text, says", [
    ("#ifdef SOMETHING\n#include <math.h>\n#endif\n",
     r"bad\.c:2: a system header under a condition other than _WIN32"),
    ("\n\n#include \"nowhere.h\"\n", r"bad\.c:3: no nowhere\.h in the folders given"),
    ("#include <cushim/nowhere.h>\n", r"bad\.c:1: no cushim/nowhere\.h in the folders given"),
], ids=["condition", "header", "public-header"])
def test_sources_that_cannot_be_joined(tmp_path, text, says):
    """Refused with file and line."""
    source = tmp_path / "bad.c"
    source.write_text(text, encoding="utf-8")
    with pytest.raises(amalgamate.AmalgamateError, match=says):
        amalgamate.sources(amalgamate.Joiner([tmp_path]), argparse.Namespace(
            sources=[source], posix=[], windows=[], helpers=[], dropin=[]))
