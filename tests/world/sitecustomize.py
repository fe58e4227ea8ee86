# SPDX-License-Identifier: MIT
"""What the environment's WORLD_WITHOUT names is not there for the suite's packages. Every Python
of a suite, also one that a test starts, imports this file.

    nvJitLink  it makes machine code, which only a GPU runs; without it the driver links PTX
    cubin      NVRTC's machine code: whoever asks for it gets the PTX of the same program
    cudart     the three functions of the CUDA runtime that cuda.core calls are the driver's
"""
import os


def hide_linker():
    """No nvJitLink for cuda.core, wherever a toolkit lies."""
    from cuda import pathfinder
    load = pathfinder.load_nvidia_dynamic_lib

    def load_others(libname):
        """As before, but for one library."""
        if libname == "nvJitLink":
            raise pathfinder.DynamicLibNotFoundError("hidden from these tests")
        return load(libname)

    pathfinder.load_nvidia_dynamic_lib = load_others


def hide_machine_code():
    """NVRTC's PTX in place of its machine code."""
    try:
        from cuda.bindings import nvrtc
    except ImportError:  # before release 12.8
        from cuda import nvrtc
    nvrtc.nvrtcGetCUBIN, nvrtc.nvrtcGetCUBINSize = nvrtc.nvrtcGetPTX, nvrtc.nvrtcGetPTXSize


def hide_runtime():
    """The driver's functions in place of the runtime's."""
    from cuda.bindings import driver, runtime
    runtime.cudaDeviceSynchronize = driver.cuCtxSynchronize
    runtime.cudaGetDeviceCount = driver.cuDeviceGetCount
    runtime.cudaDeviceGetPCIBusId = driver.cuDeviceGetPCIBusId


HIDE = {"nvJitLink": hide_linker, "cubin": hide_machine_code, "cudart": hide_runtime}
for word in os.environ.get("WORLD_WITHOUT", "").split():
    try:
        HIDE[word]()
    except ImportError:  # pip, before the packages are there
        pass
