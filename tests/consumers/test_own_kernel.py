# SPDX-License-Identifier: MIT
"""docs/own-kernel.md: its commands and build files, on five simulated versions and on none."""

import os
import re
import shutil

import pytest
from adopt import HERE, NO_DRIVER, ROOT, need, run

PAGE = (ROOT / "docs/own-kernel.md").read_text(encoding="utf-8")
SOURCES = HERE / "own-kernel"


def commands(first):
    """The page's block of commands that begins with a word."""
    blocks = re.findall(r"(?:^    \S.*\n)(?:^    .*\n)*", PAGE, re.M)
    block = next(block for block in blocks if block.strip().startswith(first))
    return re.sub(r"^    ", "", block, flags=re.M)


def fenced(first):
    """The page's fenced block that begins with a word."""
    return next(block for block in re.findall(r"^```\n(.*?)^```", PAGE, re.M | re.S)
                if block.startswith(first))


@pytest.fixture(name="project")
def project_fixture(tmp_path):
    """A folder with the kernel and a program."""
    for name in ("add.cu", "app.c"):
        shutil.copy(SOURCES / name, tmp_path)
    assert fenced('extern "C"') in (tmp_path / "add.cu").read_text(encoding="utf-8")
    return tmp_path


@pytest.fixture(name="env")
def env_fixture(build, installed):
    """PATH with what is installed, and with the command of the build."""
    folders = [str(installed.prefix / "bin"), str(build.path / "tools"), os.environ["PATH"]]
    return {**installed.env, "PATH": ":".join(folders)}


def check(program, build, env):
    """On the CPU without a driver, on the device of each version of the page."""
    assert run(program, env=env) == "CPU 1000\n"
    matrix = commands("cushim matrix").replace("./program", f"./{program.name}")
    driver = next(build.path.glob("src/sim/**/libcuda-sim-13.0.so"), None)
    command = build.path / "tools/cushim"
    if not driver or not command.exists():
        pytest.skip("built without the simulated driver")
    shown = run("sh", "-euc", matrix, cwd=program.parent, env={
        **env, "CUSHIM_SIM_DIR": str(driver.parent)})
    assert shown.endswith("5 runs: 5 passes\n")


def test_commands(project, build, installed, env):
    """clang's way, from the installed tool."""
    need("clang", "python3")
    run("sh", "-euc", commands("cushim-embed"), cwd=project, env=env)
    header = (project / "add_ptx.h").read_text(encoding="utf-8")
    assert header.startswith("/* SPDX-License-Identifier: MIT */\n/* Generated from add.cu")
    installed.compile(project / "app", project / "app.c", libraries=[installed.static],
                      options=["-Wall", "-Wextra", "-Werror"])
    check(project / "app", build, env)


def test_nvcc(project, build, env):
    """nvcc's way: its own version would be refused, the target's is not."""
    if not build.options["toolkit"]:
        pytest.skip("no nvcc")
    env = {**env, "PATH": f"{build.options['toolkit']}/bin:{env['PATH']}"}
    run("sh", "-euc", commands("cushim-embed --with nvcc"), cwd=project, env=env)
    assert (project / "add_ptx.h").exists()
    by_hand = "nvcc -ptx add.cu -o own.ptx && cushim-embed --oldest 10.2 own.ptx o.h"
    said = run("sh", "-euc", by_hand, cwd=project, env=env, code=1)
    assert re.match(r"own\.ptx:\d+: drivers from CUDA 1\d\.\d on read \.version ", said)


WEIGH = """#include <cstdio>
#include <vector>
#include <cushim/cushim.hpp>
#include "weigh_ptx.h"
int main()
{{
    const struct cushim_api *cu = cushim_load(nullptr);
    std::vector<float> weights = {{1, 2, 3, 4}}, x(1000, 1.0f);
    try {{
        cushim::unique_device gpu(cu);
        cushim::unique_stream stream(gpu);
        {cpp}
        cushim::unique_memory<float> memory(gpu, x);
        auto weigh = [&](CUmodule) {{
            stream.launch(code.function("weigh"), cushim_launch_1d(1000, 128, nullptr), memory,
                          1000u);
        }};
        weigh(code.get());
        {{
            CUmodule module = code.get();
            CUdeviceptr address = 0;
            std::size_t bytes = 0;
            float weights[] = {{5, 5, 5, 5}};
            stream.synchronize();
            {c}
        }}
        weigh(code.get());
        stream.copy(x, memory);
        stream.synchronize();
        std::printf("%g %g\\n", x[0], x[999]);
    }} catch (const cushim::call_error &error) {{
        std::puts(error.what());
    }}
}}
"""


@pytest.mark.parametrize("version", ["9.0", "13.5"])
def test_constant_memory(version, tmp_path, build, installed, env):
    """The page's variable, filled by both of the page's ways."""
    need("clang", "c++")
    driver = next(build.path.glob(f"src/sim/**/libcuda-sim-{version}.so"), None)
    if not driver:
        pytest.skip("built without the simulated driver")
    (tmp_path / "weigh.cu").write_text(fenced("__constant__"), encoding="utf-8")
    run("cushim-embed", "--oldest", "9.0", "weigh.cu", "weigh_ptx.h", cwd=tmp_path, env=env)
    (tmp_path / "weigh.cpp").write_text(
        WEIGH.format(cpp=fenced("cushim::unique_module"), c=fenced("cu->cuModuleGetGlobal")),
        encoding="utf-8")
    installed.compile(tmp_path / "weigh", tmp_path / "weigh.cpp", libraries=[installed.static],
                      compiler="c++")
    assert run(tmp_path / "weigh", env={**env, "CUSHIM_LIBCUDA": str(driver),
                                        "CUSHIM_SIM_SUMMARY": "0"}) == "5 20\n"


@pytest.mark.parametrize("version, target, oldest, words", [
    ("9.0", "sm_75", "10.2", "drivers from CUDA 13.0 on read .version 9.0"),
    ("6.3", "sm_75", "9.0", "drivers from CUDA 10.0 on read .version 6.3"),
    ("6.0", "sm_90a", "11.4", "drivers from CUDA 11.8 on know the target sm_90"),
    ("99.0", "sm_50", "13.0", "drivers newer than CUDA 13."),
    ("6.3", "sm_75", "10.0", ""), ("3.2", "sm_20", "6.5", ""), ("4.1", "sm_20", "6.0", "")])
def test_oldest(version, target, oldest, words, tmp_path, env):
    """PTX that is too new for a release is refused with file and line."""
    (tmp_path / "a.ptx").write_text(f"// made\n.version {version}\n.target {target}, debug\n",
                                    encoding="utf-8")
    said = run("cushim-embed", "--oldest", oldest, "a.ptx", "a.h", cwd=tmp_path, env=env,
               code=1 if words else 0)
    assert words in said and (not words or re.match(r"a\.ptx:[23]: ", said))
    assert (tmp_path / "a.h").exists() == (not words)


def test_the_trap(project, build, installed, env):
    """A version that is too new: an old driver refuses, the program tells, and uses the CPU."""
    need("clang")
    driver = next(build.path.glob("src/sim/**/libcuda-sim-10.2.so"), None)
    if not driver:
        pytest.skip("built without the simulated driver")
    run("cushim-embed", "--isa", "7.0", "--target", "sm_20", "add.cu", "add_ptx.h", cwd=project,
        env=env)
    installed.compile(project / "app", project / "app.c", libraries=[installed.static])
    shown = run(project / "app", env={**env, "CUSHIM_LIBCUDA": str(driver),
                                      "CUSHIM_SIM_SUMMARY": "0"})
    assert "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" in shown and shown.endswith("CPU 1000\n")


def test_meson(project, build, installed, env):
    """The page's lines, with cushim installed."""
    need("meson", "ninja", "pkg-config", "clang")
    (project / "meson.build").write_text("project('app', 'c')\n" + fenced("cushim ="),
                                         encoding="utf-8")
    wrapper = project / "pkg-config"
    wrapper.write_text(f"#!/bin/sh\nexec {installed.pkg_config} \"$@\"\n", encoding="utf-8")
    wrapper.chmod(0o755)
    env = {**env, "PKG_CONFIG": str(wrapper)}
    run("meson", "setup", "build", cwd=project, env=env)
    run("ninja", "-C", "build", cwd=project, env=env)
    check(project / "build/app", build, env)


def test_cmake(project, build, installed, env):
    """The page's lines; a kernel that is too new ends the build."""
    need("cmake", "clang")
    text = ("cmake_minimum_required(VERSION 3.13)\nproject(app LANGUAGES C)\n"
            "find_package(cushim REQUIRED)\n" + fenced("add_executable"))
    (project / "CMakeLists.txt").write_text(text, encoding="utf-8")
    run("cmake", "-S", project, "-B", project / "made", f"-DCMAKE_PREFIX_PATH={installed.prefix}",
        env=env)
    run("cmake", "--build", project / "made", env=env)
    check(project / "made/app", build, env)
    run("cushim-embed", "add.cu", "add_ptx.h", cwd=project, env=env)  # and of a .ptx file
    values = (project / "add_ptx.h").read_text("utf-8").partition("{")[2].partition("}")[0]
    (project / "add.ptx").write_bytes(bytes(map(int, re.findall(r"\d+", values))).rstrip(b"\0"))
    (project / "add_ptx.h").unlink()
    (project / "CMakeLists.txt").write_text(text.replace("add.cu", "add.ptx"), encoding="utf-8")
    run("cmake", "--build", project / "made", env=env)
    check(project / "made/app", build, env)
    (project / "CMakeLists.txt").write_text(text.replace("10.2)", "10.2 ISA 7.0)"),
                                            encoding="utf-8")
    said = run("cmake", "--build", project / "made", env=env, code=2)
    assert "drivers from CUDA 11.0 on read .version 7.0" in said


TREE = f"""cmake_minimum_required(VERSION 3.13)
project(p C)
{{before}}
include("{ROOT}/src/packaging/kernel/cushim-kernel.cmake")
add_library(l STATIC l.c)
cushim_embed(l {{arguments}})
"""


@pytest.mark.parametrize("arguments, words", [
    ("k.cu CLANG clang-of-nobody", "clang-of-nobody is not found"), ("k.cu WITH nvcc", ""),
    ("k.cu -DX=1", "-DX=1 is no .cu and no .ptx file. The arguments are TARGET FILE... OLDEST "
                   "DEFINES INCLUDES STD ISA ARCH WITH CLANG, such as DEFINES N=4"),
    ("DEFINES X=1 OLDEST 10.2", "l gets no .cu and no .ptx file")])
def test_cmake_looks_at_configure(arguments, words, tmp_path):
    """A compiler that is missing, or a wrong argument, is told before anything is built."""
    (tmp_path / "CMakeLists.txt").write_text(TREE.format(before="", arguments=arguments),
                                             encoding="utf-8")
    (tmp_path / "l.c").write_text("int l;\n", encoding="utf-8")
    (tmp_path / "k.cu").write_text("", encoding="utf-8")
    said = run("cmake", "-S", tmp_path, "-B", tmp_path / "b", code=1 if words else 0)
    assert ("cushim_embed: " + words if words else "") in " ".join(said.split())


def test_cmake_arguments(tmp_path):
    """Each that the page names comes to the compiler."""
    need("cmake", "clang")
    named = re.search(r"^It also takes `(.*)`", PAGE, re.M)[1]
    arguments = dict(re.findall(r"([A-Z]+) (\S+)", named))
    function = (ROOT / "src/packaging/kernel/cushim-kernel.cmake").read_text(encoding="utf-8")
    known = re.search(r"PARSE_ARGV 1 embed \"\" \"OLDEST;(.*?)\" \"(.*?)\"", function).groups()
    assert set(arguments) == set(";".join(known).split(";"))
    arguments.update(WITH="clang", CLANG=shutil.which("clang"), DEFINES='N=4 "WORD=\\"a b\\""')
    folder = tmp_path / arguments["INCLUDES"]
    folder.mkdir()
    (folder / "its.h").write_text("static_assert(__cplusplus == 201703 && N == 4 &&\n"
                                  "              sizeof WORD == N, \"\");\n", encoding="utf-8")
    (tmp_path / "l.c").write_text('#include "k_ptx.h"\n', encoding="utf-8")
    (tmp_path / "k.cu").write_text(
        '#include <its.h>\nextern "C" __global__ void k() {}\n', encoding="utf-8")
    (tmp_path / "CMakeLists.txt").write_text(TREE.format(before="", arguments="k.cu " + " ".join(
        map(" ".join, arguments.items()))), encoding="utf-8")
    run("cmake", "-S", tmp_path, "-B", tmp_path / "b")
    run("cmake", "--build", tmp_path / "b")
    codes = (tmp_path / "b/l-kernels/k_ptx.h").read_text("utf-8").partition("{")[2]
    ptx = bytes(map(int, re.findall(r"\d+", codes.partition("}")[0]))).decode("ascii")
    assert f".version {arguments['ISA']}\n.target {arguments['ARCH']}" in ptx


@pytest.mark.parametrize("way", ["Ninja", "Unix Makefiles", "Ninja, CMake 3.13",
                                 "Unix Makefiles, CMake 3.13", "meson"])
def test_changed_header(way, tmp_path, env):
    """A kernel is made again if a header has changed that it includes, and only then."""
    need("clang", *(["meson", "ninja"] if way == "meson" else ["cmake"]),
         *(["ninja"] if "Ninja" in way else []))
    header, made = tmp_path / "scale.h", tmp_path / "b"
    header.write_text("#define SCALE 4\n", encoding="utf-8")
    (tmp_path / "add.cu").write_text(
        '#include "scale.h"\nextern "C" __global__ void add(int *x) { x[0] *= SCALE; }\n', "utf-8")
    (tmp_path / "l.c").write_text('#include "add_ptx.h"\n', encoding="utf-8")
    if way == "meson":
        lines = fenced("cushim =").partition("\n")[2].replace("executable", "static_library")
        (tmp_path / "meson.build").write_text(
            "project('p', 'c')\ncushim = declare_dependency()\n" + lines.replace("app.c", "l.c"),
            encoding="utf-8")
        run("meson", "setup", made, cwd=tmp_path, env=env)
    else:
        generator, _, old = way.partition(", CMake ")
        (tmp_path / "CMakeLists.txt").write_text(TREE.format(
            before=f"set(CMAKE_VERSION {old})" if old else "", arguments="add.cu"), "utf-8")
        run("cmake", "-S", tmp_path, "-B", made, "-G", generator)
    build = ["ninja", "-C", made] if way == "meson" else ["cmake", "--build", made]
    run(*build, env=env)
    first, *others = made.rglob("add_ptx.h")
    before, time = first.read_bytes(), first.stat().st_mtime_ns
    assert not others
    run(*build, env=env)
    assert first.stat().st_mtime_ns == time
    header.write_text("#define SCALE 5\n", encoding="utf-8")
    os.utime(header, ns=(time + 2 * 10**9, time + 2 * 10**9))
    run(*build, env=env)
    assert first.read_bytes() != before


def test_subproject(project, build, env):
    """The same generator with cushim's source below the project; and one of PTX alone, for a
    program that reads a file."""
    need("meson", "ninja", "clang")
    text = "project('app', 'c')\n" + fenced("cushim =")
    other = text[text.index("embed ="):].replace("embed", "ptx").replace("-ptx", "-embed")
    (project / "meson.build").write_text(
        text + other.replace("@_ptx.h", "@.ptx").replace("'app', ", "'other', ") +
        "custom_target('k', input: 'add.cu', output: 'k.ptx', build_by_default: true,\n"
        "  command: [find_program('cushim-embed'), '@INPUT@', '@OUTPUT@'])\n", encoding="utf-8")
    (project / "subprojects").mkdir()
    (project / "subprojects/cushim").symlink_to(ROOT)
    run("meson", "setup", "build", "--wrap-mode=forcefallback", cwd=project)
    run("ninja", "-C", "build", "app", cwd=project)
    assert run(project / "build/app", env={"CUSHIM_LIBCUDA": NO_DRIVER}) == "CPU 1000\n"
    run("ninja", "-C", "build", "k.ptx", "other.p/add.ptx", cwd=project)
    for made in ("k.ptx", "other.p/add.ptx"):
        assert re.search(r"^\.version .*^\.visible \.entry add\(",
                         (project / "build" / made).read_text("utf-8"), re.M | re.S)
