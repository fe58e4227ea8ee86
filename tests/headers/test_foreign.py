# SPDX-License-Identifier: MIT
"""CUSHIM_FOREIGN_TYPES: the types are those of a header of the project's own, not cushim's."""

import re

import pytest

import toolkits

# What such headers look like: a part of the types, some by other means than NVIDIA's.
HEADERS = {
    "few": """
typedef enum cudaError_enum { CUDA_SUCCESS = 0, CUDA_ERROR_UNKNOWN = 999 } CUresult;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef unsigned long long CUdeviceptr;
""",
    "pointers": """
#define CUDAAPI
#define CUDA_VERSION 10000
typedef enum { CUDA_SUCCESS = 0, CUDA_ERROR_UNKNOWN = 999 } CUresult;
typedef int CUdevice;
typedef void *CUcontext;
typedef void *CUstream;
typedef unsigned long long CUdeviceptr;
typedef void *CUarray;
typedef enum { CU_MEMORYTYPE_HOST = 1 } CUmemorytype;
""",
    "macros": """
#define __cuda_cuda_h__
#define CUDA_VERSION 11020
#define cuMemAlloc cuMemAlloc_v2
typedef enum cudaError_enum { CUDA_SUCCESS = 0, CUDA_ERROR_UNKNOWN = 999 } CUresult;
typedef int CUdevice_v1;
typedef CUdevice_v1 CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef unsigned long long CUdeviceptr_v2;
typedef CUdeviceptr_v2 CUdeviceptr;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef enum CUjit_option_enum { CU_JIT_TARGET = 9 } CUjit_option;
typedef struct CUDA_MEMCPY2D_st { unsigned long long WidthInBytes; } CUDA_MEMCPY2D_v2;
typedef CUDA_MEMCPY2D_v2 CUDA_MEMCPY2D;
#define NEEDS_CUDA_MEMCPY2D
""",
}
USE = """
#define CUSHIM_FOREIGN_TYPES
#include <cushim/cushim.h>
#include <cushim/error.h>
CUresult use(const struct cushim_api *cu, CUdeviceptr *memory, CUstream stream);
CUresult use(const struct cushim_api *cu, CUdeviceptr *memory, CUstream stream)
{
    CUcontext context;
    CUresult result = cu->cuCtxCreate_v2(&context, 0, (CUdevice)0);
    if (result == CUDA_SUCCESS && CUSHIM_HAS(cu, cuMemAllocAsync))
        result = cu->cuMemAllocAsync(memory, 4096, stream);
#ifdef NEEDS_CUDA_MEMCPY2D
    CUDA_MEMCPY2D copy = {1};
    if (result == CUDA_SUCCESS)
        result = cu->cuMemcpy2D_v2(&copy);
    if (result == CUDA_SUCCESS)
        result = cu->cuMemAlloc(memory, 4096);
#endif
    return CUSHIM_CHECK(cu->cuMemAlloc_v2(memory, 4096)) ? result : CUDA_ERROR_UNKNOWN;
}
"""
STRICT = [*toolkits.WARNINGS, "-pedantic", "-Wshadow", "-Wundef"]


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("compiler, standard", [
    ("gcc", "c99"), ("gcc", "c11"), ("clang", "c17"), ("gcc", "c++11"), ("clang", "c++20")])
def test_types_of_the_project(header, compiler, standard):
    """It compiles without a warning, with types that are the project's own."""
    errors = toolkits.check(compiler, standard, HEADERS[header] + USE, *STRICT)
    assert not errors, errors


def test_same_layout():
    """The library's table and the caller's are one."""
    sizes = []
    for head in ("#include <cushim/cushim.h>\n", HEADERS["few"] +
                 "#define CUSHIM_FOREIGN_TYPES\n#include <cushim/cushim.h>\n"):
        text = head + ("int a[sizeof(struct cushim_api)], *b = &a;\n"
                       "int c[offsetof(struct cushim_api, cuMemFreeAsync_ptsz)], *d = &c;\n")
        said = toolkits.check("gcc", "c11", text, "-Werror")
        sizes.append(re.findall(r"int \(\*\)\[(\d+)\]", said))
    assert sizes[0] == sizes[1] and len(sizes[0]) >= 2


# A plain name with several ABIs, and the one that it means at a level.
MEANT = [("cuMemAlloc", 12000, "cuMemAlloc_v2"), ("cuMemAdvise", 12000, "cuMemAdvise_v1"),
         ("cuMemAdvise", 13000, "cuMemAdvise_v2"), ("cuCtxCreate", 12000, "cuCtxCreate_v2"),
         ("cuCtxCreate", 13000, "cuCtxCreate_v4"),
         ("cuDevicePrimaryCtxRelease", 12000, "cuDevicePrimaryCtxRelease_v2"),
         ("cuGraphInstantiate", 11080, "cuGraphInstantiate_v2"),
         ("cuGraphInstantiate", 12000, "cuGraphInstantiateWithFlags"),
         ("cuStreamWaitValue32", 11080, "cuStreamWaitValue32_v1"),
         ("cuStreamWaitValue32", 12000, "cuStreamWaitValue32_v2")]


@pytest.mark.parametrize("compiler, standard", [("gcc", "c11"), ("clang", "c++17")])
@pytest.mark.parametrize("name, level, symbol", MEANT)
def test_plain_name(name, level, symbol, compiler, standard):
    """It is the slot that it means at the level, without a macro; 12.0's if none was chosen."""
    head = HEADERS["few"] + "#define CUSHIM_FOREIGN_TYPES\n#include <cushim/cushim.h>\n"
    text = (head + "typedef char same[offsetof(struct cushim_api, %s) == "
            "offsetof(struct cushim_api, %s) ? 1 : -1];\n"
            f"#ifdef {name}\n#error a macro\n#endif\n") % (name, symbol)
    assert not toolkits.check(compiler, standard, text, *STRICT, f"-DCUSHIM_CUDA_VERSION={level}")
    said = toolkits.check(compiler, standard, text, *STRICT)
    assert bool(said) == (level != 12000), said


@pytest.mark.parametrize("compiler, standard", [("gcc", "c11"), ("clang", "c++17")])
@pytest.mark.parametrize("name", sorted({name for name, *_ in MEANT}))
def test_hint(name, compiler, standard):
    """The compiler's hint for a misspelt name is the name, and never an older ABI of it."""
    text = (HEADERS["few"] + "#define CUSHIM_FOREIGN_TYPES\n#include <cushim/cushim.h>\n"
            "int use(const struct cushim_api *cu);\nint use(const struct cushim_api *cu)\n"
            f"{{ return cu->{name[:-2]}{name[-1]} != NULL; }}\n")
    said = toolkits.check(compiler, standard, text)
    assert re.search(rf"did you mean .{name}.\?", said), said
    assert "_v1" not in said.split("did you mean")[1].splitlines()[0]


def test_unknown_level():
    """A level that is no release is refused here too."""
    text = HEADERS["few"] + "#define CUSHIM_FOREIGN_TYPES\n#include <cushim/cushim.h>\n"
    assert "is no release that cushim knows" in toolkits.check(
        "gcc", "c11", text, "-DCUSHIM_CUDA_VERSION=12345")
