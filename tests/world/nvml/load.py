# SPDX-License-Identifier: MIT
"""A program for monitors to see: 100 MiB of the first device, and kernels until it is ended."""

import ctypes
import sys

PTX = b"""
.version 6.0
.target sm_50
.address_size 64
.visible .entry spin(.param .u64 n)
{
    .reg .u64 %i, %n;
    .reg .pred %p;
    ld.param.u64 %n, [n];
    mov.u64 %i, 0;
again:
    add.u64 %i, %i, 1;
    setp.lt.u64 %p, %i, %n;
    @%p bra again;
    ret;
}
"""


def check(result):
    """End with a driver's code that is not success."""
    if result != 0:
        sys.exit(f"CUDA answers {result}")


def main():
    """Work until somebody ends this process."""
    cuda = ctypes.CDLL("libcuda.so.1")
    context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    memory, turns = ctypes.c_uint64(), ctypes.c_uint64(2000000)
    parameters = (ctypes.c_void_p * 1)(ctypes.addressof(turns))
    check(cuda.cuInit(0))
    check(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0))
    check(cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(100 << 20)))
    check(cuda.cuModuleLoadData(ctypes.byref(module), PTX))
    check(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"spin"))
    print("ready", flush=True)
    while True:
        check(cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, parameters, None))
        check(cuda.cuCtxSynchronize())


if __name__ == "__main__":
    main()
