/* SPDX-License-Identifier: MIT */
/* What the sequences share: the kernels, the gate, and objects made without a record. */
#define _POSIX_C_SOURCE 200809L
#include "conform.h"

#include <time.h>

const char conform_ptx[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter = 7;\n"
    ".visible .global .align 4 .b8 bytes[10];\n"
    ".visible .const .align 8 .b8 table[64];\n"
    ".extern .shared .align 16 .b8 dynamic[];\n"
    ".visible .entry empty()\n{\n ret;\n}\n"
    /* store(p, v): *p = v */
    ".visible .entry store(.param .u64 p, .param .u32 v)\n{\n"
    " .reg .u64 a;\n .reg .u32 x;\n"
    " ld.param.u64 a, [p];\n ld.param.u32 x, [v];\n"
    " st.global.u32 [a], x;\n ret;\n}\n"
    /* count(p): adds one for every thread */
    ".visible .entry count(.param .u64 p)\n{\n"
    " .reg .u64 a;\n .reg .u32 x;\n"
    " ld.param.u64 a, [p];\n atom.global.add.u32 x, [a], 1;\n ret;\n}\n"
    ".visible .entry params(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[16],"
    " .param .u16 d)\n{\n ret;\n}\n"
    ".visible .entry statically(.param .u64 p)\n{\n"
    " .shared .align 4 .b8 room[1024];\n .reg .u64 a;\n .reg .u32 x;\n"
    " ld.param.u64 a, [p];\n mov.u32 x, 5;\n st.volatile.shared.u32 [room+1020], x;\n"
    " ld.volatile.shared.u32 x, [room+1020];\n st.global.u32 [a], x;\n ret;\n}\n"
    ".visible .entry dynamically(.param .u64 p)\n{\n"
    " .reg .u64 a;\n .reg .u32 x;\n"
    " ld.param.u64 a, [p];\n mov.u32 x, %dynamic_smem_size;\n"
    " st.volatile.shared.u32 [dynamic], x;\n ld.volatile.shared.u32 x, [dynamic];\n"
    " st.global.u32 [a], x;\n ret;\n}\n"
    ".visible .entry bounded()\n.maxntid 128, 1, 1\n{\n ret;\n}\n"
    ".visible .entry required()\n.reqntid 32, 2, 1\n{\n ret;\n}\n"
    ".visible .entry trapping()\n{\n trap;\n ret;\n}\n"
    /* wild(p): reads what it is told to */
    ".visible .entry wild(.param .u64 p)\n{\n"
    " .reg .u64 a;\n .reg .u32 x;\n"
    " ld.param.u64 a, [p];\n ld.volatile.global.u32 x, [a];\n st.global.u32 [a], x;\n ret;\n}\n";

CUmodule conform_module(void)
{
    static CUmodule module;
    if (!module)
        MUST(cu->cuModuleLoadData(&module, conform_ptx));
    return module;
}

CUfunction conform_kernel(const char *name)
{
    CUfunction function = NULL;
    MUST(cu->cuModuleGetFunction(&function, conform_module(), name));
    return function;
}

CUdeviceptr conform_memory(size_t size)
{
    CUdeviceptr address = 0;
    MUST(cu->cuMemAlloc(&address, size));
    return address;
}

CUstream conform_stream(void)
{
    CUstream stream = NULL;
    MUST(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

CUevent conform_event(void)
{
    CUevent event = NULL;
    MUST(cu->cuEventCreate(&event, CU_EVENT_DEFAULT));
    return event;
}

CUcontext conform_context(void)
{
    CUcontext made = NULL;
    MUST(cu->cuCtxCreate_v2(&made, 0, dev));
    return made;
}

unsigned conform_read(CUdeviceptr address)
{
    unsigned value = 0;
    MUST(cu->cuMemcpyDtoH(&value, address, sizeof value));
    return value;
}

void CUDA_CB gate_wait(void *data)
{
    struct gate *gate = data;
    while (!gate->open)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    gate->passed = 1;
}

void gate_close(struct gate *gate, CUstream stream)
{
    gate->open = gate->passed = 0;
    MUST(cu->cuLaunchHostFunc(stream, gate_wait, gate));
}
