/* SPDX-License-Identifier: MIT */
/* After a kernel went wrong: what each later call says, and how far the damage reaches. */
#include "conform.h"

static const char assert_ptx[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n,"
    " .param .b64 s);\n"
    ".global .align 1 .b8 text[2] = {120, 0};\n"
    ".visible .entry failing()\n{\n .reg .b64 a;\n mov.u64 a, text;\n cvta.global.u64 a, a;\n"
    " .param .b64 m;\n .param .b64 f;\n .param .b32 l;\n .param .b64 n;\n .param .b64 s;\n"
    " st.param.b64 [m], a;\n st.param.b64 [f], a;\n st.param.b32 [l], 7;\n"
    " st.param.b64 [n], a;\n st.param.b64 [s], 1;\n"
    " call __assertfail, (m, f, l, n, s);\n ret;\n}\n";

static void read_from(CUdeviceptr address)
{
    void *values[] = {&address};
    MUST(cu->cuLaunchKernel(conform_kernel("wild"), 1, 1, 1, 1, 1, 1, 0, NULL, values, NULL));
}

static void later_calls(void)
{
    CUdeviceptr address = 0;
    CUstream stream = NULL;
    CUevent event = NULL;
    CUmodule module = NULL;
    CUgraph graph = NULL;
    void *host = NULL;
    size_t one = 0, two = 0;
    unsigned word = 0;
    int count = 0;
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuStreamSynchronize(NULL));
    CALL(cu->cuStreamQuery(NULL));
    CALL(cu->cuMemAlloc(&address, 16));
    CALL(cu->cuMemHostAlloc(&host, 16, 0));
    CALL(cu->cuMemGetInfo(&one, &two));
    CALL(cu->cuMemcpyHtoD(4096, &word, 4));
    CALL(cu->cuMemsetD8(4096, 1, 1));
    CALL(cu->cuStreamCreate(&stream, 0));
    CALL(cu->cuEventCreate(&event, 0));
    CALL(cu->cuModuleLoadData(&module, conform_ptx));
    CALL(cu->cuGraphCreate(&graph, 0));
    CALL(cu->cuDeviceGetCount(&count));
    CALL(cu->cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_WARP_SIZE, dev));
    CALL(cu->cuCtxGetDevice(&count));
    CALL(cu->cuCtxGetLimit(&one, CU_LIMIT_STACK_SIZE));
    CALL(cu->cuCtxGetStreamPriorityRange(&count, &count));
    CALL(cu->cuCtxSynchronize());
}

static void illegal_address(void)
{
    read_from(0x10);
    later_calls();
}

static void null_address(void)
{
    read_from(0);
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuCtxSynchronize());
}

static void misaligned(void)
{
    read_from(conform_memory(64) + 1);
    later_calls();
}

static void trap(void)
{
    CUfunction function = conform_kernel("trapping");
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    later_calls();
}

static void failed_assertion(void)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    CALL(cu->cuModuleLoadData(&module, assert_ptx));
    CALL(cu->cuModuleGetFunction(&function, module, "failing"));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    later_calls();
}

static void existing_objects(void)
{
    CUdeviceptr a = conform_memory(64);
    CUstream stream = conform_stream();
    CUevent event = conform_event(), second = conform_event();
    CUfunction function = conform_kernel("empty");
    void *host = NULL;
    unsigned word = 0;
    int value = 0;
    MUST(cu->cuMemHostAlloc(&host, 64, 0));
    MUST(cu->cuEventRecord(event, stream));
    MUST(cu->cuCtxSynchronize());
    read_from(0x10);
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuMemcpyDtoH(&word, a, 4));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    CALL(cu->cuLaunchKernel(function, 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    CALL(cu->cuEventQuery(event));
    CALL(cu->cuEventRecord(second, stream));
    CALL(cu->cuEventSynchronize(event));
    CALL(cu->cuStreamQuery(stream));
    CALL(cu->cuStreamWaitEvent(stream, event, 0));
    CALL(cu->cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    CALL(cu->cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a));
    CALL(cu->cuMemGetAddressRange(NULL, NULL, a));
    CALL(cu->cuMemFree(a));
    CALL(cu->cuMemFreeHost(host));
    CALL(cu->cuEventDestroy(event));
    CALL(cu->cuStreamDestroy(stream));
}

static void misuse_after(void)
{
    CUdeviceptr address = 0;
    read_from(0x10);
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuMemAlloc(NULL, 16));
    CALL(cu->cuMemAlloc(&address, 0));
    CALL(cu->cuMemFree(0));
    CALL(cu->cuMemFree(12345));
    CALL(cu->cuMemcpyHtoD(4096, NULL, 0));
    CALL(cu->cuStreamDestroy(NULL));
    CALL(cu->cuModuleGetFunction(NULL, NULL, NULL));
    CALL(cu->cuCtxGetCurrent(NULL));
}

static void other_context(void)
{
    CUcontext other = conform_context();
    CUdeviceptr address = 0, fine = conform_memory(64);
    CUcontext more = NULL;
    MUST(cu->cuCtxSetCurrent(ctx));
    read_from(0x10);
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuCtxSetCurrent(other));
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuMemAlloc(&address, 16));
    CALL(cu->cuMemsetD32(fine, 3, 1));
    CALL(cu->cuCtxCreate_v2(&more, 0, dev));
    CALL(cu->cuCtxSetCurrent(ctx));
    CALL(cu->cuMemAlloc(&address, 16));
}

static void own_context(void)
{
    CUcontext made = conform_context();
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUdeviceptr bad = 0x10, address = 0;
    void *values[] = {&bad};
    CUcontext again = NULL;
    MUST(cu->cuModuleLoadData(&module, conform_ptx));
    MUST(cu->cuModuleGetFunction(&function, module, "wild"));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, values, NULL));
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuCtxDestroy(made));
    CALL(cu->cuCtxCreate_v2(&again, 0, dev));
    CALL(cu->cuMemAlloc(&address, 16));
    CALL(cu->cuCtxSynchronize());
}

static void primary_reset(void)
{
    CUdeviceptr address = 0;
    CUcontext now = NULL;
    read_from(0x10);
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuDevicePrimaryCtxReset(dev));
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuMemAlloc(&address, 16));
    CALL(cu->cuDevicePrimaryCtxRetain(&now, dev));
    VALUE("same=%d", now == ctx);
    CALL(cu->cuCtxSetCurrent(now));
    CALL(cu->cuMemAlloc(&address, 16));
    CALL(cu->cuCtxSynchronize());
}

static void primary_release(void)
{
    CUdeviceptr address = 0;
    CUcontext now = NULL;
    read_from(0x10);
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuDevicePrimaryCtxRetain(&now, dev));
    CALL(cu->cuDevicePrimaryCtxRelease(dev));
    CALL(cu->cuDevicePrimaryCtxRelease(dev));
    CALL(cu->cuDevicePrimaryCtxRetain(&now, dev));
    CALL(cu->cuMemAlloc(&address, 16));
    CALL(cu->cuCtxSynchronize());
}

static void launch_errors_do_not_stick(void)
{
    CUfunction function = conform_kernel("empty");
    CUdeviceptr address = 0;
    CALL(cu->cuLaunchKernel(function, 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 1 << 20, NULL, NULL, NULL));
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuMemAlloc(&address, (size_t)1 << 45));
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuMemAlloc(&address, 16));
}

static int called, status_seen;

static void CUDA_CB note_status(CUstream stream, CUresult status, void *data)
{
    (void)stream;
    (void)data;
    called++;
    status_seen = (int)status;
}

static void CUDA_CB note_host(void *data)
{
    (void)data;
    called += 10;
}

static void callbacks_after(void)
{
    read_from(0x10);
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuStreamAddCallback(NULL, note_status, NULL, 0));
    CALL(cu->cuLaunchHostFunc(NULL, note_host, NULL));
    CALL(cu->cuStreamSynchronize(NULL));
    VALUE("called=%d status=%d", called, status_seen);
}

static void graph_after(void)
{
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec executable = NULL;
    CUdeviceptr bad = 0x10;
    void *values[] = {&bad};
    CUDA_KERNEL_NODE_PARAMS params;
    memset(&params, 0, sizeof params);
    params.func = conform_kernel("wild");
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = values;
    MUST(cu->cuGraphCreate(&graph, 0));
    MUST(cu->cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    CALL(cu->cuGraphInstantiateWithFlags(&executable, graph, 0));
    CALL(cu->cuGraphLaunch(executable, NULL));
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuGraphLaunch(executable, NULL));
    CALL(cu->cuGraphExecDestroy(executable));
    CALL(cu->cuGraphDestroy(graph));
}

static const struct sequence sequences[] = {S(illegal_address, PRIMARY),
                                            S(null_address, PRIMARY),
                                            S(misaligned, PRIMARY),
                                            S(trap, PRIMARY),
                                            S(failed_assertion, PRIMARY),
                                            S(existing_objects, PRIMARY),
                                            S(misuse_after, PRIMARY),
                                            S(other_context, PRIMARY),
                                            S(own_context, PRIMARY),
                                            S(primary_reset, PRIMARY),
                                            S(primary_release, PRIMARY),
                                            S(launch_errors_do_not_stick, PRIMARY),
                                            S(callbacks_after, PRIMARY),
                                            S(graph_after, PRIMARY),
                                            {0}};
const struct family sticky_family = {"sticky", sequences};
