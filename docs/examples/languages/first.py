# SPDX-License-Identifier: MIT
import contextlib
import ctypes

import cushim

ADDRESS, SIZE, NUMBER = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int


def call(cu, name, release, *arguments):
    """A function of the driver, as the release declares it; each argument is one of ctypes."""
    kinds = [ADDRESS if isinstance(value, type(ctypes.byref(NUMBER()))) else type(value)
             for value in arguments]
    code = ctypes.CFUNCTYPE(NUMBER, *kinds)(cu.proc(name, release))(*arguments)
    if code:
        raise cushim.Error(f"{name} returned {code}")


def on_gpu(cu, numbers):
    if not cu.init():
        raise cushim.Error(cu.message)
    context, memory = ADDRESS(), ADDRESS()
    device = NUMBER(0)
    with contextlib.ExitStack() as later:
        call(cu, "cuDevicePrimaryCtxRetain", 7000, ctypes.byref(context), device)
        later.callback(call, cu, "cuDevicePrimaryCtxRelease", 7000, device)
        call(cu, "cuCtxSetCurrent", 4000, context)
        call(cu, "cuMemAlloc", 3020, ctypes.byref(memory), SIZE(ctypes.sizeof(numbers)))
        later.callback(call, cu, "cuMemFree", 3020, memory)
        call(cu, "cuMemsetD32", 3020, memory, ctypes.c_uint(7), SIZE(len(numbers)))
        call(cu, "cuMemcpyDtoH", 3020, ctypes.byref(numbers), memory,
             SIZE(ctypes.sizeof(numbers)))


values = (NUMBER * 1024)()
try:
    on_gpu(cushim.load(), values)
except cushim.Error as error:
    print("on the CPU, because", error)
else:
    assert all(value == 7 for value in values)
    print(len(values), "numbers, all of them 7")
