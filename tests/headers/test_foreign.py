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


@pytest.mark.parametrize("name", ["cuMemAlloc", "cuCtxCreate", "cuMemcpyHtoD"])
def test_no_name_of_several_abis(name):
    """Without cuda.h's macros a plain name would be the first ABI, so it does not compile."""
    text = (HEADERS["few"] + "#define CUSHIM_FOREIGN_TYPES\n#include <cushim/cushim.h>\n"
            "int use(const struct cushim_api *cu);\nint use(const struct cushim_api *cu)\n"
            "{ return cu->%s != NULL; }\n")
    assert not toolkits.check("gcc", "c11", text % f"{name}_v2", *STRICT)
    assert f"no member named '{name}'" in toolkits.check("gcc", "c11", text % name, *STRICT)
