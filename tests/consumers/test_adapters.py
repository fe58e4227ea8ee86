# SPDX-License-Identifier: MIT
"""Source written for other loaders: nv-codec-headers' functions, cuew's names, types of its own."""

import shutil
from pathlib import Path

import pytest
from adopt import HERE, NO_DRIVER, ROOT, assert_keeps_to_itself, run

ADAPTERS = HERE / "adapters"
FFNVCODEC = Path("/usr/include/ffnvcodec/dynlink_loader.h")
NO_DEVICE = """
int cuInit(unsigned flags) { (void)flags; return 100; }
int cuDriverGetVersion(int *version) { *version = 12040; return 0; }
int cuDeviceGetCount(int *count) { *count = 0; return 0; }
int cuGetErrorName(int error, const char **name)
{
    *name = error == 100 ? "CUDA_ERROR_NO_DEVICE" : "";
    return 0;
}
"""


@pytest.fixture(name="simulated", scope="module")
def simulated_fixture(build):
    """What makes programs use the simulated driver."""
    driver = next(build.path.glob("src/sim/**/libcuda-sim-12.4.so"), None)
    if not driver:
        pytest.skip("built without the simulated driver")
    return {"CUSHIM_LIBCUDA": str(driver), "CUSHIM_SIM_GPU": ""}


@pytest.fixture(name="no_device")
def no_device_fixture(tmp_path):
    """A driver that finds no device, and has two functions."""
    source = tmp_path / "driver.c"
    source.write_text(NO_DEVICE, encoding="utf-8")
    run("cc", "-shared", "-fPIC", source, "-o", tmp_path / "libcuda.so.1")
    return {"CUSHIM_LIBCUDA": str(tmp_path / "libcuda.so.1")}


def loader(header):
    """The option that names the loader's header."""
    return f"-DLOADER=<{header}>"


@pytest.fixture(name="filter_program", scope="module", params=["c11", "gnu99", "two files"])
def filter_program_fixture(request, build, installed, tmp_path_factory):
    """The program in FFmpeg's manner, with the installed header or beside the two files."""
    folder = tmp_path_factory.mktemp("ffmpeg")
    options = ["-Wall", "-Wextra", "-Werror", loader("cushim/dynlink_loader.h")]
    if request.param == "two files":
        shutil.copytree(build.path / "src/packaging/two-files", folder / "cushim")
        run("cc", *options, "-I.", ADAPTERS / "ffmpeg.c", "cushim/cushim.c", "-o", "program",
            "-ldl", "-pthread", cwd=folder)
        return folder / "program"
    return installed.compile(folder / "program", ADAPTERS / "ffmpeg.c",
                             libraries=[installed.static],
                             options=[f"-std={request.param}", *options])


def test_dynlink_loader(filter_program, simulated):
    """It copies a picture and runs its PTX."""
    shown = run(filter_program, ROOT / "kernels/vecadd.ptx", env=simulated)
    lines = shown.splitlines()
    assert lines[0].startswith("[hwupload] debug: ") and "CUDA 12.4" in lines[0]
    assert lines[1:] == ["external memory", "sum 2 4 6 8", "copied 7", "end 0"]
    assert_keeps_to_itself(filter_program)


def test_dynlink_loader_without_a_driver(filter_program):
    """The load fails with the reason, through the project's own logging."""
    lines = run(filter_program, env={"CUSHIM_LIBCUDA": NO_DRIVER}).splitlines()
    assert lines[0].startswith("[hwupload] error: ") and NO_DRIVER in lines[0]
    assert lines[1:] == ["[hwupload] error: Could not dynamically load CUDA", "end -1"]


def test_dynlink_loader_without_a_device(filter_program, no_device):
    """The load succeeds, though this driver lacks nearly all; cuInit fails by name."""
    lines = run(filter_program, env=no_device).splitlines()
    assert lines[1].startswith("[hwupload] error: s->cu->cuInit(0) failed -> CUDA_ERROR_NO_DEVICE:")
    assert lines[-1] == "end -5"


def test_library_handle(installed, simulated, tmp_path):
    """The member lib is the driver's library: what is looked up in it is what the table has."""
    source = tmp_path / "use.c"
    source.write_text(
        "#include <cushim/dynlink_loader.h>\nint main(void)\n{ CudaFunctions *cu = NULL;\n"
        "if (cuda_load_functions(&cu, NULL) < 0) return 3;\n"
        "void *init = cu->lib ? dlsym(cu->lib, \"cuInit\") : NULL;\n"
        "int same = init == (void *)cu->cuInit, failed = cu->cuInit(0);\n"
        "tcuModuleGetGlobal *global = cu->cuModuleGetGlobal;\n"
        "cuda_free_functions(&cu);\n"
        "failed |= !cushim_load(NULL)->cuInit || cushim_load(NULL)->cuInit(0) || !global;\n"
        "return !same || failed; }\n", encoding="utf-8")
    installed.compile(tmp_path / "use", source, libraries=[installed.static],
                      options=["-Wall", "-Wextra", "-Werror"])
    run(tmp_path / "use", env=simulated)
    run(tmp_path / "use", env={"CUSHIM_LIBCUDA": NO_DRIVER}, code=3)


def test_dynlink_loader_in_cxx(installed, tmp_path):
    """The header in C++, where member's types come from decltype."""
    source = tmp_path / "use.cpp"
    source.write_text(
        "#include <cushim/dynlink_loader.h>\nint main()\n{ CudaFunctions *cu = nullptr;\n"
        "if (cuda_load_functions(&cu, nullptr) < 0) return 3;\n"
        "tcuCtxCreate_v2 *create = cu->cuCtxCreate; CUcontext context = nullptr;\n"
        "create(&context, 0, 0); cuda_free_functions(&cu); return cu ? 1 : 0; }\n",
        encoding="utf-8")
    for standard in ("c++11", "c++20"):
        installed.compile(tmp_path / "use", source, compiler="c++", libraries=[installed.static],
                          options=[f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic",
                                   "-Werror"])
        run(tmp_path / "use", env={"CUSHIM_LIBCUDA": NO_DRIVER}, code=3)


def test_beside_nv_codec_headers(installed, simulated, tmp_path):
    """The real headers after ours: they leave CUDA to it, and load the other two libraries."""
    if not FFNVCODEC.exists():
        pytest.skip("libffmpeg-nvenc-dev is not installed")
    program = installed.compile(
        tmp_path / "program", ADAPTERS / "ffmpeg.c", libraries=[installed.static],
        options=["-Wall", "-Werror", loader("cushim/dynlink_loader.h"), "-DOTHERS",
                 "-DAFTER=<ffnvcodec/dynlink_loader.h>"])
    lines = run(program, env=simulated).splitlines()
    assert [line for line in lines if line.startswith(("copied", "others", "end"))] == [
        "copied 7", "others absent", "end 0"]


def test_the_source_is_nv_codec_headers_own(tmp_path):
    """The same program compiles with the real header alone, so its idioms are real."""
    if not FFNVCODEC.exists():
        pytest.skip("libffmpeg-nvenc-dev is not installed")
    run("cc", "-Wall", loader("ffnvcodec/dynlink_loader.h"), "-DOTHERS", ADAPTERS / "ffmpeg.c",
        "-o", tmp_path / "program", "-ldl")


def test_types_of_nv_codec_headers(installed, simulated, tmp_path):
    """Its dynlink_cuda.h first: an #error that names the way out, and the way."""
    if not FFNVCODEC.exists():
        pytest.skip("libffmpeg-nvenc-dev is not installed")
    source = tmp_path / "types.c"
    source.write_text(
        "#include <ffnvcodec/dynlink_cuda.h>\n#include <cushim/cushim.h>\n"
        "int main(void)\n{ const struct cushim_api *cu = cushim_load(NULL);\n"
        "CUcontext context = NULL; CUDA_MEMCPY2D copy = {0}; CUdeviceptr p = 0;\n"
        "if (cu->cuInit(0) || cu->cuCtxCreate_v2(&context, 0, 0)) return 1;\n"
        "if (cu->cuMemAlloc_v2(&p, 64) || cu->cuMemcpy2D_v2(&copy)) return 2;\n"
        "return cu->cuMemFree_v2(p); }\n", encoding="utf-8")
    said = run("cc", "-c", source, "-o", tmp_path / "types.o", "-I", installed.include, code=1)
    assert "define CUSHIM_FOREIGN_TYPES" in said
    program = installed.compile(tmp_path / "types", source, libraries=[installed.static],
                                options=["-DCUSHIM_FOREIGN_TYPES", "-Wall", "-Wextra", "-Werror"])
    run(program, env=simulated)


@pytest.fixture(name="render_program", scope="module")
def render_program_fixture(installed, tmp_path_factory):
    """The program in Cycles' manner."""
    return installed.compile(
        tmp_path_factory.mktemp("cycles") / "program", ADAPTERS / "cycles.cpp", compiler="c++",
        options=["-std=c++11", "-Wall", "-Wextra", "-Werror"], libraries=[installed.dropin])


@pytest.fixture(name="toolkit_folder")
def toolkit_folder_fixture(tmp_path):
    """A folder that looks like a toolkit's, for CUDA_BIN_PATH."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "include").mkdir()
    (tmp_path / "bin/nvcc").write_text("", encoding="utf-8")
    (tmp_path / "include/cuda.h").write_text("/* x */\n#define CUDA_VERSION 12040\n",
                                             encoding="utf-8")
    return tmp_path / "bin"


def test_cuew(render_program, simulated, toolkit_folder):
    """It finds the driver and the compiler, and its checked macro names an error."""
    shown = run(render_program, env={**simulated, "CUDA_BIN_PATH": str(toolkit_folder)})
    assert shown.splitlines() == [
        "nothing -3, nvrtc -1, both -1", "CUEW initialization succeeded",
        f"compiler {toolkit_folder}/nvcc of 124",
        "an argument has a value this call does not accept in cuMemFree(12345)", "copy 1"]
    assert_keeps_to_itself(render_program)


def test_cuew_finds_the_compiler_in_path(render_program, no_device, toolkit_folder):
    """The folders of PATH come last; an empty one is no folder."""
    (toolkit_folder.parent / "include/cuda.h").unlink()
    shown = run(render_program, env={**no_device, "PATH": f"::/nonexistent:{toolkit_folder}",
                                     "CUDA_BIN_PATH": "/nonexistent"})
    usual = "/usr/local/cuda/bin/nvcc"
    assert f"compiler {usual if Path(usual).exists() else f'{toolkit_folder}/nvcc of 0'}" in shown
    assert "Failed to initialize CUDA runtime (the driver found no CUDA device" in shown


@pytest.mark.parametrize("way", ["installed", "two files"])
def test_cuew_with_opengl(way, build, installed, tmp_path):
    """The functions for OpenGL are among cuew's names, with one include, and are linked."""
    source = tmp_path / "use.c"
    source.write_text(
        "#include <cushim/cuew.h>\nint main(void)\n{ CUgraphicsResource resource = NULL;\n"
        "GLuint buffer = 1;\n"
        "return cuGraphicsGLRegisterBuffer(&resource, buffer, 0) == CUDA_ERROR_NOT_INITIALIZED\n"
        "? 0 : 1; }\n", encoding="utf-8")
    if way == "two files":
        shutil.copytree(build.path / "src/packaging/two-files", tmp_path / "cushim")
        run("cc", "-Wall", "-Werror", "-DCUSHIM_DROPIN", "-I.", source, "cushim/cushim.c", "-o",
            "use", "-ldl", "-pthread", cwd=tmp_path)
    else:
        installed.compile(tmp_path / "use", source, libraries=[installed.dropin],
                          options=["-Wall", "-Wextra", "-Werror"])
    run(tmp_path / "use", env={"CUSHIM_LIBCUDA": NO_DRIVER})


def test_cuew_without_a_driver(render_program):
    """As without libcuda there."""
    shown = run(render_program, env={"CUSHIM_LIBCUDA": NO_DRIVER})
    assert shown.splitlines()[1:] == ["CUEW initialization failed: Error opening the library"]
