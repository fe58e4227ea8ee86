# SPDX-License-Identifier: MIT
import contextlib
import ctypes

import cushim

ADDRESS, SIZE, NUMBER = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int


def on_gpu(cu, numbers):
    if not cu.init():
        raise cushim.Error(cu.message)
    context, memory = ADDRESS(), ADDRESS()
    device = NUMBER(0)
    with contextlib.ExitStack() as later:
        cu.call("cuDevicePrimaryCtxRetain", 7000, ctypes.byref(context), device)
        later.callback(cu.call, "cuDevicePrimaryCtxRelease", 7000, device)
        cu.call("cuCtxSetCurrent", 4000, context)
        cu.call("cuMemAlloc", 3020, ctypes.byref(memory), SIZE(ctypes.sizeof(numbers)))
        later.callback(cu.call, "cuMemFree", 3020, memory)
        cu.call("cuMemsetD32", 3020, memory, ctypes.c_uint(7), SIZE(len(numbers)))
        cu.call("cuMemcpyDtoH", 3020, ctypes.byref(numbers), memory,
                SIZE(ctypes.sizeof(numbers)))


values = (NUMBER * 1024)()
try:
    on_gpu(cushim.load(), values)
except cushim.Error as error:
    print("on the CPU, because", error)
else:
    assert all(value == 7 for value in values)
    print(len(values), "numbers, all of them 7")
