# SPDX-License-Identifier: MIT
"""Headers that contradict each other stop the compiler with one clear line."""

import re

import pytest

import toolkits

CUSHIM = "#include <cushim/cushim.h>\n"
UNKNOWN = "CUSHIM_CUDA_VERSION is no release that cushim knows"
USE = """
CUresult use(const struct cushim_api *cu, CUdeviceptr *memory);
CUresult use(const struct cushim_api *cu, CUdeviceptr *memory)
{
    return cu->cuMemAlloc(memory, 4096);
}
"""


def refused(compiler, standard, text, *options, use=USE):
    """The errors of a compilation that must fail: exactly one, and it is an #error."""
    errors = toolkits.check(compiler, standard, text + use, *toolkits.WARNINGS, *options)
    lines = [line for line in errors.splitlines() if re.match(r".*?: (fatal )?error: ", line)]
    assert len(lines) == 1, errors
    match = re.search(r'error: (?:#error )?"(.*)"', lines[0])
    assert match, errors
    return match[1]


def each_language(test):
    """The compilers, in C and C++."""
    return pytest.mark.parametrize("compiler, standard", [
        ("gcc", "c99"), ("clang", "c++20")])(test)


@pytest.mark.parametrize("level", [
    "0", "-1", "10000", "10020", "10990", "11001", "12004", "12070", "12345", "13990", "99000",
    "1100000", "abc"])
@each_language
def test_unknown_level(level, compiler, standard):
    """A level that is no release, with no toolkit."""
    said = refused(compiler, standard, CUSHIM, f"-DCUSHIM_CUDA_VERSION={level}")
    ends = re.fullmatch(UNKNOWN + r", from 11000 to (\d+)", said)
    assert ends and not toolkits.check(compiler, standard, CUSHIM + USE, *toolkits.WARNINGS,
                                       f"-DCUSHIM_CUDA_VERSION={ends[1]}")


@pytest.mark.parametrize("header", ["cuda.h", "cudaGL.h", "api.h"])
def test_unknown_level_of_each_header(header):
    """The same where another header comes first."""
    assert UNKNOWN in refused("gcc", "c11", f"#include <cushim/{header}>\n" + CUSHIM,
                              "-DCUSHIM_CUDA_VERSION=12345")


@each_language
@pytest.mark.parametrize("toolkit", toolkits.each_toolkit())
def test_contradicts_toolkit(toolkit, compiler, standard):
    """A level other than that of the cuda.h that came before; the same level is no mistake."""
    text = "#include <cuda.h>\n" + CUSHIM
    where = ["-I", toolkit.folder]
    other = 12040 if toolkit.version != 12040 else 11080
    for level in (other, 99000):
        said = refused(compiler, standard, text, *where, f"-DCUSHIM_CUDA_VERSION={level}")
        assert said == "CUSHIM_CUDA_VERSION contradicts CUDA_VERSION of the cuda.h before " \
                       "cushim's headers"
    assert not toolkits.check(compiler, standard, text + USE, *toolkits.WARNINGS, *where,
                              f"-DCUSHIM_CUDA_VERSION={toolkit.version}")


@each_language
@pytest.mark.parametrize("toolkit", toolkits.each_toolkit())
def test_ours_after_nvidias(toolkit, compiler, standard):
    """Our cuda.h after NVIDIA's would define everything twice."""
    text = "#include <cuda.h>\n#include <cushim/cuda.h>\n" + CUSHIM
    assert refused(compiler, standard, text, "-I", toolkit.folder) == \
        "cushim/cuda.h stands in for NVIDIA's cuda.h: include one of the two"


@each_language
def test_cuda_version_without_header(compiler, standard):
    """CUDA_VERSION from a command line or another project's header, and no cuda.h."""
    assert "CUDA_VERSION is defined before cushim/cuda.h" in refused(
        compiler, standard, CUSHIM, "-DCUDA_VERSION=12040")


OURS = ("typedef enum cudaError_enum { CUDA_SUCCESS = 0 } CUresult;\ntypedef int CUdevice;\n"
        "typedef struct CUctx_st *CUcontext;\ntypedef struct CUstream_st *CUstream;\n"
        "typedef unsigned long long CUdeviceptr;\n")


@each_language
@pytest.mark.parametrize("macro", [
    "CUDAAPI", "CUDA_CB", "cuMemAlloc cuMemAlloc_v2", "CU_IPC_HANDLE_SIZE 64",
    "CUDAAPI\n#define CUDA_VERSION 10000",
    "__cuda_cuda_h__", "__cuda_cuda_h__\n#define CUDA_VERSION 12040"], ids=repr)
def test_partial_header_of_a_project(compiler, standard, macro, tmp_path):
    """It declares some types itself: one error that names the two ways out, and no other."""
    (tmp_path / "cuda.h").write_text(f"#define {macro}\n{OURS}")
    said = refused(compiler, standard, "#include <cuda.h>\n" + CUSHIM, "-I", tmp_path, use="")
    assert "not NVIDIA's cuda.h" in said and "leave it out" in said
    assert "define CUSHIM_FOREIGN_TYPES" in said and "docs/adopt.md" in said


FOREIGN = "#define CUSHIM_FOREIGN_TYPES\n"


@each_language
@pytest.mark.parametrize("text", [
    "#include <cushim/cuda.h>\n" + FOREIGN + "#include <cushim/api.h>\n" + CUSHIM,
    OURS + FOREIGN + "#include <cushim/cuda.h>\n" + CUSHIM], ids=["too late", "with cuda.h"])
def test_foreign_types_and_ours(compiler, standard, text):
    """The mode is for programs whose types all come from a header of their own."""
    assert refused(compiler, standard, text, use="").startswith("CUSHIM_FOREIGN_TYPES ")


@each_language
def test_old_toolkit(compiler, standard, tmp_path):
    """A cuda.h older than CUDA 11.0: here a stand-in, because only its version is looked at."""
    (tmp_path / "cuda.h").write_text(
        "#define __cuda_cuda_h__\n#define CUDA_VERSION 10020\n#define CUDAAPI\n"
        "#define CU_PARAM_TR_DEFAULT -1\n"
        "#include <stddef.h>\ntypedef int CUresult;\ntypedef unsigned long long CUdeviceptr;\n"
        "struct cushim_api { CUresult (*cuMemAlloc)(CUdeviceptr *memory, size_t bytes); };\n")
    assert "older than CUDA 11.0" in refused(
        compiler, standard, "#include <cuda.h>\n" + CUSHIM, "-I", tmp_path)
