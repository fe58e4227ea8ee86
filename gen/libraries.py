# SPDX-License-Identifier: MIT
"""The libraries that a registry describes, and what the generators must know of each."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent / "registry"


@dataclass(frozen=True)
class Library:
    """What differs between two libraries of the driver; the rest of gen/ is for all of them."""

    name: str
    registry: Path  # folder of the .jsonl files
    cache: str  # folder of the headers below the cache
    packages: tuple  # wheels with the headers; the first is in every release
    needed: tuple  # headers that a release always has
    wanted: re.Pattern  # a wheel's members to keep; the group is the header's name
    platforms: tuple  # whose headers differ
    pairs: tuple  # headers with entry points, each with the one that has their typedefs, or None
    internal: str  # shows every ABI
    expected: tuple  # system headers that the headers expect their caller to have included
    symbol: re.Pattern  # of an entry
    constant: re.Pattern  # of a macro that may be one
    not_constants: frozenset  # what a caller defines, or what only steers the headers themselves
    functions: frozenset  # macros with arguments, which emitters write by hand; None: no matter
    version: str  # macro with the release; None if the folder's name has to do
    result: str  # type that entries return, but for those whose line names another
    call: str  # calling convention
    callback: str
    level: str  # macro that chooses the release whose meaning plain names have


CUDA = Library(
    name="cuda",
    registry=ROOT,
    cache="headers",
    packages=("nvidia-cuda-runtime", "nvidia-cuda-profiler-api"),
    needed=("cuda.h", "cudaTypedefs.h"),
    wanted=re.compile(r"(?:.*/)?include/(cuda\.h|cuda[A-Z]\w*\.h|cuda_vdpau_interop\.h)"),
    platforms=("linux", "windows"),
    pairs=tuple((header, header.replace(".h", "Typedefs.h"))
                for header in ("cuda.h", "cudaGL.h", "cudaEGL.h", "cudaVDPAU.h", "cudaProfiler.h",
                               "cudaD3D9.h", "cudaD3D10.h", "cudaD3D11.h")),
    # Two companions say the second macro where they mean the first.
    internal=("#define __CUDA_API_VERSION_INTERNAL 1\n"
              "#define __CUDA_API_VERSION_INTERNAL_ODR 1\n"),
    expected=("vdpau/vdpau.h", "d3d9.h", "D3D10_1.h", "D3D11_1.h"),
    symbol=re.compile(r"cu[A-Z]"),
    constant=re.compile(r"^CU(DA)?_?[A-Za-z0-9]\w*$"),
    not_constants=frozenset({"CUDAAPI", "CUDA_CB", "CUDA_VERSION",
                             "CUDA_API_PER_THREAD_DEFAULT_STREAM"}),
    functions=None,
    version="CUDA_VERSION",
    result="CUresult",
    call="CUDAAPI ",
    callback="CUDA_CB ",
    level="CUSHIM_CUDA_VERSION",
)
NVML = Library(
    name="nvml",
    registry=ROOT / "nvml",
    cache="headers-nvml",
    packages=("nvidia-nvml-dev",),
    needed=("nvml.h",),
    wanted=re.compile(r"(?:.*/)?include/(nvml\.h)"),
    platforms=("linux",),  # the header is the same one everywhere
    pairs=(("nvml.h", None),),
    internal="#define NVML_NO_UNVERSIONED_FUNC_DEFS 1\n",
    expected=(),
    symbol=re.compile(r"nvml[A-Z]"),
    constant=re.compile(r"^(NVML_|nvml|MAX_|INVALID_)\w+$"),
    not_constants=frozenset({"NVML_NO_UNVERSIONED_FUNC_DEFS"}),
    functions=frozenset({
        "DEPRECATED", "NVML_255_MASK_BIT_GET", "NVML_255_MASK_BIT_GET_PTR", "NVML_255_MASK_BIT_SET",
        "NVML_255_MASK_BIT_SET_PTR", "NVML_CUDA_DRIVER_VERSION_MAJOR",
        "NVML_CUDA_DRIVER_VERSION_MINOR", "NVML_DEVICE_PCI_BUS_ID_FMT_ARGS",
        "NVML_GPU_FABRIC_HEALTH_GET", "NVML_GPU_FABRIC_HEALTH_TEST",
        "NVML_NVLINK_ERROR_COUNTER_BER_GET", "NVML_POWER_SMOOTHING_IDX_FROM_FIELD_VAL",
        "NVML_POWER_SMOOTHING_IDX_FROM_FIELD_VAL_DEPRECATED", "NVML_STRUCT_VERSION"}),
    version=None,
    result="nvmlReturn_t",
    call="",
    callback="",
    level="CUSHIM_NVML_VERSION",
)
LIBRARIES = {library.name: library for library in (CUDA, NVML)}
