/* SPDX-License-Identifier: MIT */
/* Launches: shapes, shared memory, parameters given in each way and in wrong ones. */
#include "conform.h"

static void shape(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz)
{
    CUfunction function = conform_kernel("empty");
    EACH(cu->cuLaunchKernel(function, gx, gy, gz, bx, by, bz, 0, NULL, NULL, NULL),
         "launch grid %ux%ux%u block %ux%ux%u", gx, gy, gz, bx, by, bz);
}

static void grids(void)
{
    shape(1, 1, 1, 1, 1, 1);
    shape(0, 1, 1, 1, 1, 1);
    shape(1, 0, 1, 1, 1, 1);
    shape(1, 1, 0, 1, 1, 1);
    shape(65536, 1, 1, 32, 1, 1);
    shape(0x80000000, 1, 1, 1, 1, 1);
    shape(1, 65535, 1, 1, 1, 1);
    shape(1, 65536, 1, 1, 1, 1);
    shape(1, 1, 65535, 1, 1, 1);
    shape(1, 1, 65536, 1, 1, 1);
    shape(0xffffffff, 1, 1, 1, 1, 1);
    CALL(cu->cuCtxSynchronize());
}

static void blocks(void)
{
    shape(1, 1, 1, 0, 1, 1);
    shape(1, 1, 1, 1, 0, 1);
    shape(1, 1, 1, 1, 1, 0);
    shape(1, 1, 1, 1024, 1, 1);
    shape(1, 1, 1, 1025, 1, 1);
    shape(1, 1, 1, 1, 1024, 1);
    shape(1, 1, 1, 1, 1025, 1);
    shape(1, 1, 1, 1, 1, 64);
    shape(1, 1, 1, 1, 1, 65);
    shape(1, 1, 1, 32, 32, 1);
    shape(1, 1, 1, 33, 32, 1);
    shape(1, 1, 1, 1024, 1024, 64);
    shape(1, 1, 1, 65536, 65536, 1);
    CALL(cu->cuCtxSynchronize());
}

static void bounded_blocks(void)
{
    CUfunction bounded = conform_kernel("bounded"), required = conform_kernel("required");
    CALL(cu->cuLaunchKernel(bounded, 1, 1, 1, 128, 1, 1, 0, NULL, NULL, NULL));
    CALL(cu->cuLaunchKernel(bounded, 1, 1, 1, 129, 1, 1, 0, NULL, NULL, NULL));
    CALL(cu->cuLaunchKernel(bounded, 1, 1, 1, 64, 2, 1, 0, NULL, NULL, NULL));
    CALL(cu->cuLaunchKernel(bounded, 1, 1, 1, 16, 16, 1, 0, NULL, NULL, NULL));
    CALL(cu->cuLaunchKernel(required, 1, 1, 1, 32, 2, 1, 0, NULL, NULL, NULL));
    CALL(cu->cuLaunchKernel(required, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    CALL(cu->cuLaunchKernel(required, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
    CALL(cu->cuCtxSynchronize());
}

static void shared(void)
{
    CUfunction function = conform_kernel("dynamically");
    CUdeviceptr a = conform_memory(64);
    void *values[] = {&a};
    static const unsigned sizes[] = {16,    100,    1024,   49152,     49153,
                                     65536, 232448, 232449, 0xffffffff};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CUresult code =
            EACH(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, sizes[i], NULL, values, NULL),
                 "launch with %u bytes", sizes[i]);
        if (code == CUDA_SUCCESS)
            VALUE("seen=%u", conform_read(a));
    }
    CALL(cu->cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 100000, NULL, values, NULL));
    VALUE("seen=%u", conform_read(a));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 100001, NULL, values, NULL));
    CALL(cu->cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1000));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 2000, NULL, values, NULL));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 49153, NULL, values, NULL));
    CALL(cu->cuCtxSynchronize());
}

static void shared_static(void)
{
    CUfunction function = conform_kernel("statically");
    CUdeviceptr a = conform_memory(64);
    void *values[] = {&a};
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, values, NULL));
    VALUE("word=%u", conform_read(a));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 48128, NULL, values, NULL));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 48129, NULL, values, NULL));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 49152, NULL, values, NULL));
    CALL(cu->cuCtxSynchronize());
}

static void parameters(void)
{
    CUfunction function = conform_kernel("store");
    CUdeviceptr a = conform_memory(64);
    unsigned value = 123;
    void *values[] = {&a, &value};
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, values, NULL));
    VALUE("word=%u", conform_read(a));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    CALL(cu->cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, values, NULL));
    CALL(cu->cuLaunchKernel(NULL, 0, 1, 1, 1, 1, 1, 0, NULL, values, NULL));
    CALL(cu->cuLaunchKernel(conform_kernel("empty"), 1, 1, 1, 1, 1, 1, 0, NULL, values, NULL));
    CALL(cu->cuCtxSynchronize());
}

struct packed {
    CUdeviceptr address;
    unsigned value;
};

static void packed_with(struct packed *buffer, size_t wanted)
{
    size_t size = wanted;
    CUfunction function = conform_kernel("store");
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    EACH(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), "packed, %zu bytes",
         wanted);
}

static void packed(void)
{
    struct packed buffer[4] = {{conform_memory(64), 124}};
    packed_with(buffer, 12);
    VALUE("word=%u", conform_read(buffer->address));
    packed_with(buffer, 16);
    packed_with(buffer, 11);
    packed_with(buffer, 8);
    packed_with(buffer, 13);
    packed_with(buffer, 0);
    packed_with(buffer, 20);
    packed_with(buffer, 5000);
    packed_with(NULL, 12);
    CALL(cu->cuCtxSynchronize());
}

static void packed_misuse(void)
{
    CUfunction function = conform_kernel("store");
    struct packed buffer = {conform_memory(64), 125};
    size_t size = 12;
    void *values[] = {&buffer.address, &buffer.value};
    void *good[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                    CU_LAUNCH_PARAM_END};
    void *swapped[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer,
                       CU_LAUNCH_PARAM_END};
    void *no_size[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_END};
    void *no_buffer[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    void *bad_key[] = {(void *)9, &buffer, CU_LAUNCH_PARAM_END};
    void *nothing[] = {CU_LAUNCH_PARAM_END};
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, values, good));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, swapped));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, no_size));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, no_buffer));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, bad_key));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, nothing));
    CALL(cu->cuLaunchKernel(conform_kernel("empty"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, nothing));
    CALL(cu->cuLaunchKernel(conform_kernel("empty"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, good));
    CALL(cu->cuLaunchKernel(conform_kernel("empty"), 1, 1, 1, 1, 1, 1, 0, NULL, values, good));
    CALL(cu->cuCtxSynchronize());
}

static void counted(void)
{
    CUfunction function = conform_kernel("count");
    CUdeviceptr a = conform_memory(64);
    void *values[] = {&a};
    MUST(cu->cuMemsetD32(a, 0, 1));
    CALL(cu->cuLaunchKernel(function, 5, 4, 3, 8, 4, 2, 0, NULL, values, NULL));
    VALUE("count=%u", conform_read(a));
    CALL(cu->cuLaunchKernel(function, 1000, 1, 1, 256, 1, 1, 0, conform_stream(), values, NULL));
    CALL(cu->cuCtxSynchronize());
    VALUE("count=%u", conform_read(a));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_PER_THREAD, values, NULL));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_LEGACY, values, NULL));
    CALL(cu->cuLaunchKernel_ptsz(function, 1, 1, 1, 1, 1, 1, 0, NULL, values, NULL));
    CALL(cu->cuCtxSynchronize());
    VALUE("count=%u", conform_read(a));
}

static void other_context(void)
{
    CUfunction function = conform_kernel("empty");
    CUstream mine = conform_stream();
    conform_context();
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, mine, NULL, NULL));
    CUstream other = conform_stream();
    MUST(cu->cuCtxSetCurrent(ctx));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, other, NULL, NULL));
    MUST(cu->cuCtxSetCurrent(NULL));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, mine, NULL, NULL));
}

static void cooperative(void)
{
    CUfunction function = conform_kernel("empty");
    CALL(cu->cuLaunchCooperativeKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL));
    CALL(cu->cuLaunchCooperativeKernel(function, 132, 1, 1, 1024, 1, 1, 0, NULL, NULL));
    CALL(cu->cuLaunchCooperativeKernel(function, 264, 1, 1, 1024, 1, 1, 0, NULL, NULL));
    CALL(cu->cuLaunchCooperativeKernel(function, 265, 1, 1, 1024, 1, 1, 0, NULL, NULL));
    CALL(cu->cuLaunchCooperativeKernel(function, 100000, 1, 1, 1024, 1, 1, 0, NULL, NULL));
    CALL(cu->cuLaunchCooperativeKernel(function, 0, 1, 1, 32, 1, 1, 0, NULL, NULL));
    CALL(cu->cuLaunchCooperativeKernel(function, 1, 1, 1, 2048, 1, 1, 0, NULL, NULL));
    CALL(cu->cuLaunchCooperativeKernel(NULL, 1, 1, 1, 32, 1, 1, 0, NULL, NULL));
    CALL(cu->cuCtxSynchronize());
}

static CUlaunchConfig one_block(void)
{
    CUlaunchConfig config;
    memset(&config, 0, sizeof config);
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    return config;
}

static void extended(void)
{
    CUfunction function = conform_kernel("empty");
    CUlaunchConfig config = one_block();
    CALL(cu->cuLaunchKernelEx(&config, function, NULL, NULL));
    CALL(cu->cuLaunchKernelEx(NULL, function, NULL, NULL));
    CALL(cu->cuLaunchKernelEx(&config, NULL, NULL, NULL));
    config.numAttrs = 1;
    CALL(cu->cuLaunchKernelEx(&config, function, NULL, NULL));
    config = one_block();
    config.gridDimX = 0;
    CALL(cu->cuLaunchKernelEx(&config, function, NULL, NULL));
    config = one_block();
    config.blockDimX = 1025;
    CALL(cu->cuLaunchKernelEx(&config, function, NULL, NULL));
    config = one_block();
    config.sharedMemBytes = 49153;
    CALL(cu->cuLaunchKernelEx(&config, function, NULL, NULL));
    CALL(cu->cuCtxSynchronize());
}

static void extended_attributes(void)
{
    CUfunction function = conform_kernel("empty");
    for (int id = 0; id < 19; id++) {
        CUlaunchAttribute attribute;
        CUlaunchConfig config = one_block();
        memset(&attribute, 0, sizeof attribute);
        attribute.id = (CUlaunchAttributeID)id;
        config.attrs = &attribute;
        config.numAttrs = 1;
        EACH(cu->cuLaunchKernelEx(&config, function, NULL, NULL), "attribute %d, all zero", id);
    }
    CALL(cu->cuCtxSynchronize());
}

static void extended_values(void)
{
    CUfunction function = conform_kernel("empty");
    CUlaunchAttribute attribute;
    CUlaunchConfig config = one_block();
    memset(&attribute, 0, sizeof attribute);
    config.attrs = &attribute;
    config.numAttrs = 1;
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
    CALL(cu->cuLaunchKernelEx(&config, function, NULL, NULL));
    config.gridDimX = 100000;
    config.blockDimX = 1024;
    CALL(cu->cuLaunchKernelEx(&config, function, NULL, NULL));
    attribute.value.cooperative = 0;
    CALL(cu->cuLaunchKernelEx(&config, function, NULL, NULL));
    attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
    attribute.value.priority = -2;
    CALL(cu->cuLaunchKernelEx(&config, function, NULL, NULL));
    attribute.value.priority = -100;
    CALL(cu->cuLaunchKernelEx(&config, function, NULL, NULL));
    attribute.value.priority = 100;
    CALL(cu->cuLaunchKernelEx(&config, function, NULL, NULL));
    CALL(cu->cuCtxSynchronize());
}

static void cluster(unsigned grid, unsigned x, unsigned y, unsigned z)
{
    CUfunction function = conform_kernel("empty");
    CUlaunchAttribute attribute;
    CUlaunchConfig config = one_block();
    memset(&attribute, 0, sizeof attribute);
    config.attrs = &attribute;
    config.numAttrs = 1;
    config.gridDimX = grid;
    config.gridDimY = 8;
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = x;
    attribute.value.clusterDim.y = y;
    attribute.value.clusterDim.z = z;
    EACH(cu->cuLaunchKernelEx(&config, function, NULL, NULL), "grid %ux8x1 cluster %ux%ux%u", grid,
         x, y, z);
}

static void clusters(void)
{
    cluster(16, 1, 1, 1);
    cluster(16, 2, 1, 1);
    cluster(16, 8, 1, 1);
    cluster(16, 16, 1, 1);
    cluster(16, 3, 1, 1);
    cluster(15, 3, 1, 1);
    cluster(16, 2, 2, 1);
    cluster(16, 2, 8, 1);
    cluster(16, 0, 1, 1);
    cluster(16, 1, 1, 2);
    cluster(32, 32, 1, 1);
    CALL(cu->cuFuncSetAttribute(conform_kernel("empty"),
                                CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    cluster(16, 16, 1, 1);
    cluster(32, 32, 1, 1);
    CALL(cu->cuCtxSynchronize());
}

static const struct sequence sequences[] = {S(grids, PRIMARY),
                                            S(blocks, PRIMARY),
                                            S(bounded_blocks, PRIMARY),
                                            S(shared, PRIMARY),
                                            S(shared_static, PRIMARY),
                                            S(parameters, PRIMARY),
                                            S(packed, PRIMARY),
                                            S(packed_misuse, PRIMARY),
                                            S(counted, PRIMARY),
                                            S(other_context, PRIMARY),
                                            S(cooperative, PRIMARY),
                                            S(extended, PRIMARY),
                                            S(extended_attributes, PRIMARY),
                                            S(extended_values, PRIMARY),
                                            S(clusters, PRIMARY),
                                            {0}};
const struct family launch_family = {"launch", sequences};
