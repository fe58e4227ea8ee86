# SPDX-License-Identifier: MIT
"""cushim's headers with no toolkit, after the toolkit's and before them: no warning, no error."""

import pytest

import toolkits

OURS = "#include <cushim/cushim.h>\n"
GENERATED = ["api.h", "cuda.h", "cudaGL.h", "cudaEGL.h", "cudaVDPAU.h", "cudaProfiler.h",
             "cudaD3D9.h", "cudaD3D10.h", "cudaD3D11.h"]
GENERATED += [name.replace(".h", "Typedefs.h") for name in GENERATED if name != "api.h"]
ALL = sorted({path.name for path in (toolkits.PUBLIC / "cushim").glob("*.h")} | set(GENERATED))
MODES = {"legacy": [], "per-thread": [toolkits.PER_THREAD]}
LEVELS = [11000, 11040, 11080, 12000, 12040, 13000]
# Ours alone are clean under far more than they are promised to be.
STRICT = [*toolkits.WARNINGS, "-pedantic", "-Wshadow", "-Wconversion", "-Wundef"]
USE = """
CUresult use(const struct cushim_api *cu, CUdeviceptr *memory, CUstream stream);
CUresult use(const struct cushim_api *cu, CUdeviceptr *memory, CUstream stream)
{
    CUresult result = cu->cuMemAlloc(memory, 4096);
    if (result == CUDA_SUCCESS)
        result = cu->cuMemsetD8Async(*memory, 0, 4096, stream);
    if (result == CUDA_SUCCESS)
        result = cu->cuMemFree_v1(0);
    return result == CUDA_SUCCESS ? cu->cuCtxSynchronize_v1() : result;
}
"""
# What the headers of the CUDA runtime say before, or after, those of the driver.
RUNTIME = """
#ifndef CU_UUID_HAS_BEEN_DEFINED
#define CU_UUID_HAS_BEEN_DEFINED
struct CUuuid_st { char bytes[16]; };
typedef struct CUuuid_st CUuuid;
#endif
typedef struct CUuuid_st cudaUUID_t;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUfunc_st *cudaFunction_t;
typedef struct CUgraph_st *cudaGraph_t;
"""


def matrix(toolkit, compiler, standard, shim):
    """The orders in which programs have a toolkit's headers and ours.

    Pedantic about ours only: C99 has no toolkit that bears it, and 13.5 is worse. More
    orders, and the toolkit's headers as a project's own, not the system's, are in test_table.py.
    """
    cuda = toolkit.includes("cuda")
    companions = toolkit.includes("companions", "typedefs")
    options = [*toolkits.WARNINGS, "-pedantic", "-isystem", toolkit.folder, "-isystem", shim]
    toolkits.check_all({
        "after cuda.h": (compiler, standard, cuda + OURS + USE, *options),
        "between, runtime first, per-thread": (
            compiler, standard, RUNTIME + cuda + OURS + companions + USE, *options,
            toolkits.PER_THREAD),
        "before all, runtime last": (
            compiler, standard, OURS + cuda + companions + RUNTIME + USE, *options),
        "before cuda.h, per-thread": (
            compiler, standard, OURS + cuda + USE, *options, toolkits.PER_THREAD)})


@pytest.mark.parametrize("toolkit, compiler, standard", toolkits.each_pair(*toolkits.STANDARDS))
def test_with_toolkit(toolkit, compiler, standard, shim):
    """After, between and before the toolkit's headers on Linux."""
    matrix(toolkit, compiler, standard, shim["linux"])


@pytest.mark.parametrize("standard", toolkits.ON_WINDOWS)
@pytest.mark.parametrize("compiler", toolkits.each_compiler("windows"))
@pytest.mark.parametrize("toolkit", toolkits.each_toolkit("windows"))
def test_with_windows_toolkit(toolkit, compiler, standard, shim):
    """The same with the headers for Windows."""
    matrix(toolkit, compiler, standard, shim["windows"])


@pytest.mark.parametrize("compiler, standard", toolkits.each_language())
def test_without_toolkit(compiler, standard):
    """No toolkit: the newest level, and others."""
    toolkits.check_all({
        f"{level}, {mode}": (compiler, standard, OURS + RUNTIME + USE, *STRICT, *macros,
                             *([f"-DCUSHIM_CUDA_VERSION={level}"] if level else []))
        for level in [None, *LEVELS] for mode, macros in MODES.items()})


@pytest.mark.parametrize("compiler, standard", toolkits.each_language())
def test_each_header_alone(compiler, standard):
    """Every public header compiles as the first and only one, and a second time."""
    toolkits.check_all({
        header: (compiler, standard, 2 * f"#include <cushim/{header}>\n", *STRICT)
        for header in ALL})


@pytest.mark.parametrize("standard", toolkits.ON_WINDOWS)
@pytest.mark.parametrize("compiler", toolkits.each_compiler("windows"))
def test_windows_h(compiler, standard):
    """windows.h, with all its macros, before and after."""
    companions = "".join(f"#include <cushim/{header}>\n" for header in GENERATED)
    toolkits.check_all({
        "before": (compiler, standard, "#include <windows.h>\n" + OURS + companions + USE,
                   *toolkits.WARNINGS),
        "after": (compiler, standard, OURS + companions + "#include <windows.h>\n" + USE,
                  *toolkits.WARNINGS)})
