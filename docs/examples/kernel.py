# SPDX-License-Identifier: MIT
import array
import ctypes

import cushim

PTX = """
.version 6.0
.target sm_50
.address_size 64

.visible .entry scale(.param .u64 values, .param .f32 factor, .param .u32 count)
{
    .reg .pred %beyond;
    .reg .b32 %i, %block, %size, %count;
    .reg .f32 %value, %factor;
    .reg .b64 %at, %base;
    mov.u32 %block, %ctaid.x;
    mov.u32 %size, %ntid.x;
    mov.u32 %i, %tid.x;
    mad.lo.s32 %i, %block, %size, %i;
    ld.param.u32 %count, [count];
    setp.ge.u32 %beyond, %i, %count;
    @%beyond ret;
    ld.param.u64 %base, [values];
    ld.param.f32 %factor, [factor];
    mad.wide.u32 %at, %i, 4, %base;
    ld.f32 %value, [%at];
    mul.f32 %value, %value, %factor;
    st.f32 [%at], %value;
    ret;
}
"""
numbers = array.array("f", range(1000))
cu = cushim.load()
try:
    with cu.device(0) as gpu:
        memory = gpu.memory(numbers)
        scale = gpu.module(PTX).kernel("scale")
        scale(4, 256, memory, ctypes.c_float(2), ctypes.c_uint(len(numbers)))
        memory.read(numbers)
    print("on the GPU:", numbers[999])
except cushim.Error as error:
    print("on the CPU, because", error)
