/* SPDX-License-Identifier: MIT */
/* Functions, and what fits on a multiprocessor. */
#include "conform.h"

static void attributes_of(const char *name)
{
    CUfunction function = conform_kernel(name);
    for (int attribute = -1; attribute < 19; attribute++) {
        int value = -77;
        EACH(cu->cuFuncGetAttribute(&value, (CUfunction_attribute)attribute, function),
             "%s attribute %d", name, attribute);
        /* What the assembler makes of a kernel is its own; that it uses some is enough. */
        if (attribute == CU_FUNC_ATTRIBUTE_NUM_REGS)
            VALUE("some=%d", value > 0 && value < 256);
        else if (attribute != CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)
            VALUE("value=%d", value);
    }
}

static void attributes_empty(void)
{
    attributes_of("empty");
}

static void attributes_static(void)
{
    attributes_of("statically");
}

static void attributes_bounded(void)
{
    attributes_of("bounded");
}

static void attributes_required(void)
{
    attributes_of("required");
}

static void attribute_misuse(void)
{
    CUfunction function = conform_kernel("empty");
    int value = -77;
    CALL(cu->cuFuncGetAttribute(NULL, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
    CALL(cu->cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, NULL));
    CALL(cu->cuFuncGetAttribute(&value, (CUfunction_attribute)99, NULL));
    CALL(cu->cuFuncSetAttribute(NULL, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0));
    CALL(cu->cuFuncSetCacheConfig(NULL, CU_FUNC_CACHE_PREFER_L1));
    CALL(cu->cuFuncSetSharedMemConfig(NULL, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE));
}

static void set(CUfunction function, int attribute, int wanted)
{
    int value = -77;
    EACH(cu->cuFuncSetAttribute(function, (CUfunction_attribute)attribute, wanted),
         "set attribute %d to %d", attribute, wanted);
    cu->cuFuncGetAttribute(&value, (CUfunction_attribute)attribute, function);
    if (attribute != CU_FUNC_ATTRIBUTE_NUM_REGS && attribute != CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)
        VALUE("value=%d", value);
}

static void set_each(void)
{
    CUfunction function = conform_kernel("empty");
    for (int attribute = 0; attribute < 18; attribute++)
        set(function, attribute, 1);
}

static void set_dynamic(void)
{
    static const int sizes[] = {0,      1,      100,    49152,   49153, 65536,
                                232448, 232449, 240000, 1 << 20, -1};
    CUfunction function = conform_kernel("dynamically");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        set(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, sizes[i]);
}

static void set_dynamic_static(void)
{
    CUfunction function = conform_kernel("statically");
    set(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 48128);
    set(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 231424);
    set(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 231425);
    set(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448);
}

static void set_carveout(void)
{
    CUfunction function = conform_kernel("empty");
    for (int value = -2; value<103; value += value> 1 && value < 98 ? 49 : 1)
        set(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, value);
}

static void set_cluster(void)
{
    CUfunction function = conform_kernel("empty");
    set(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 2);
    set(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 0);
    set(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, -1);
    set(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    set(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 0);
    set(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 2);
    for (int policy = -1; policy < 4; policy++)
        set(function, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, policy);
}

static void caches(void)
{
    CUfunction function = conform_kernel("empty");
    for (int config = -1; config < 6; config++)
        EACH(cu->cuFuncSetCacheConfig(function, (CUfunc_cache)config), "cache config %d", config);
    for (int config = -1; config < 5; config++)
        EACH(cu->cuFuncSetSharedMemConfig(function, (CUsharedconfig)config), "banks %d", config);
}

static void parameters(void)
{
    static const char *const names[] = {"empty", "store", "params"};
    for (int i = 0; i < 3; i++) {
        CUfunction function = conform_kernel(names[i]);
        for (size_t index = 0; index < 6; index++) {
            size_t offset = 77, size = 77;
            EACH(cu->cuFuncGetParamInfo(function, index, &offset, &size), "%s parameter %zu",
                 names[i], index);
            VALUE("offset=%zu size=%zu", offset, size);
        }
    }
    size_t offset = 77, size = 77;
    CALL(cu->cuFuncGetParamInfo(conform_kernel("params"), 1, &offset, NULL));
    VALUE("offset=%zu", offset);
    CALL(cu->cuFuncGetParamInfo(conform_kernel("params"), 1, NULL, &size));
    CALL(cu->cuFuncGetParamInfo(conform_kernel("params"), SIZE_MAX, &offset, &size));
    CALL(cu->cuFuncGetParamInfo(NULL, 0, &offset, &size));
}

static void names(void)
{
    CUfunction function = conform_kernel("params");
    const char *name = NULL;
    CUmodule module = NULL;
    CUfunctionLoadingState state = (CUfunctionLoadingState)77;
    CALL(cu->cuFuncGetName(&name, function));
    VALUE("name=%s", name ? name : "NULL");
    CALL(cu->cuFuncGetName(NULL, function));
    CALL(cu->cuFuncGetName(&name, NULL));
    CALL(cu->cuFuncGetModule(&module, function));
    VALUE("same=%d", module == conform_module());
    CALL(cu->cuFuncGetModule(NULL, function));
    CALL(cu->cuFuncGetModule(&module, NULL));
    CALL(cu->cuFuncIsLoaded(&state, function));
    CALL(cu->cuFuncLoad(function));
    CALL(cu->cuFuncIsLoaded(&state, function));
    VALUE("state=%d", (int)state);
    CALL(cu->cuFuncIsLoaded(NULL, function));
    CALL(cu->cuFuncIsLoaded(&state, NULL));
    CALL(cu->cuFuncLoad(NULL));
}

static void old_setters(void)
{
    CUfunction function = conform_kernel("store");
    CALL(cu->cuFuncSetBlockShape(function, 32, 1, 1));
    CALL(cu->cuFuncSetBlockShape(function, 0, 1, 1));
    CALL(cu->cuFuncSetBlockShape(function, 2048, 1, 1));
    CALL(cu->cuFuncSetBlockShape(function, -1, 1, 1));
    CALL(cu->cuFuncSetBlockShape(NULL, 32, 1, 1));
    CALL(cu->cuFuncSetSharedSize(function, 1024));
    CALL(cu->cuFuncSetSharedSize(NULL, 1024));
    CALL(cu->cuParamSetSize(function, 12));
    CALL(cu->cuParamSeti(function, 8, 77));
    CALL(cu->cuParamSetSize(NULL, 12));
    CALL(cu->cuParamSetf(NULL, 8, 1.0f));
    CALL(cu->cuParamSetv(function, 0, NULL, 8));
    CALL(cu->cuParamSetSize(function, 100000));
}

static void old_launch(void)
{
    CUfunction function = conform_kernel("store");
    CUdeviceptr a = conform_memory(64);
    CALL(cu->cuFuncSetBlockShape(function, 1, 1, 1));
    CALL(cu->cuParamSetv(function, 0, &a, 8));
    CALL(cu->cuParamSeti(function, 8, 77));
    CALL(cu->cuParamSetSize(function, 12));
    CALL(cu->cuLaunch(function));
    CALL(cu->cuCtxSynchronize());
    VALUE("word=%u", conform_read(a));
    CALL(cu->cuParamSeti(function, 8, 78));
    CALL(cu->cuLaunchGrid(function, 2, 2));
    CALL(cu->cuLaunchGridAsync(function, 2, 2, NULL));
    CALL(cu->cuLaunchGrid(function, 0, 2));
    CALL(cu->cuLaunch(NULL));
    CALL(cu->cuCtxSynchronize());
    VALUE("word=%u", conform_read(a));
}

static void blocks_of(const char *name)
{
    static const int blocks[] = {-1,  0,   1,   31,  32,   33,   64,  100,
                                 128, 256, 512, 768, 1024, 1025, 2048};
    static const size_t shared[] = {0, 1024, 16384, 49152, 49153, 100000, 232448, 300000};
    CUfunction function = conform_kernel(name);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        int count = -77;
        EACH(cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(&count, function, blocks[i], 0),
             "%s with blocks of %d", name, blocks[i]);
        VALUE("count=%d", count);
    }
    for (size_t i = 1; i < sizeof shared / sizeof *shared; i++) {
        int count = -77;
        EACH(cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(&count, function, 128, shared[i]),
             "%s with %zu bytes", name, shared[i]);
        VALUE("count=%d", count);
    }
}

static void occupancy_empty(void)
{
    blocks_of("empty");
}

static void occupancy_static(void)
{
    blocks_of("statically");
}

static void occupancy_bounded(void)
{
    blocks_of("bounded");
    blocks_of("required");
}

static void occupancy_misuse(void)
{
    CUfunction function = conform_kernel("empty");
    int count = -77, block = -77;
    size_t size = 77;
    CALL(cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, function, 128, 0));
    CALL(cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(&count, NULL, 128, 0));
    for (unsigned flags = 0; flags < 4; flags++)
        EACH(cu->cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&count, function, 128, 0,
                                                                      flags),
             "occupancy with flags %u", flags);
    CALL(cu->cuOccupancyMaxPotentialBlockSize(NULL, &block, function, NULL, 0, 0));
    CALL(cu->cuOccupancyMaxPotentialBlockSize(&count, NULL, function, NULL, 0, 0));
    CALL(cu->cuOccupancyMaxPotentialBlockSize(&count, &block, NULL, NULL, 0, 0));
    CALL(cu->cuOccupancyMaxPotentialBlockSizeWithFlags(&count, &block, function, NULL, 0, 0, 8));
    CALL(cu->cuOccupancyAvailableDynamicSMemPerBlock(&size, NULL, 1, 128));
}

static size_t CUDA_CB quarter(int block)
{
    return (size_t)block * 64;
}

static void potential(void)
{
    static const char *const kernels[] = {"empty", "statically", "bounded", "required"};
    for (int i = 0; i < 4; i++) {
        CUfunction function = conform_kernel(kernels[i]);
        for (int limit = 0; limit < 300; limit = limit ? limit * 16 : 1) {
            int grid = -77, block = -77;
            EACH(cu->cuOccupancyMaxPotentialBlockSize(&grid, &block, function, NULL, 0, limit),
                 "%s limit %d", kernels[i], limit);
            VALUE("grid=%d block=%d", grid, block);
        }
        int grid = -77, block = -77;
        EACH(cu->cuOccupancyMaxPotentialBlockSize(&grid, &block, function, NULL, 40000, 0),
             "%s with 40000 bytes", kernels[i]);
        VALUE("grid=%d block=%d", grid, block);
        EACH(cu->cuOccupancyMaxPotentialBlockSize(&grid, &block, function, quarter, 0, 0),
             "%s with 64 bytes a thread", kernels[i]);
        VALUE("grid=%d block=%d", grid, block);
    }
}

static void available(void)
{
    static const char *const kernels[] = {"empty", "statically"};
    for (int i = 0; i < 2; i++) {
        CUfunction function = conform_kernel(kernels[i]);
        for (int count = 0; count < 40; count = count ? count * 2 : 1) {
            size_t size = 77;
            EACH(cu->cuOccupancyAvailableDynamicSMemPerBlock(&size, function, count, 128),
                 "%s %d blocks of 128", kernels[i], count);
            VALUE("size=%zu", size);
        }
        size_t size = 77;
        EACH(cu->cuOccupancyAvailableDynamicSMemPerBlock(&size, function, 1, 0), "%s block of 0",
             kernels[i]);
        EACH(cu->cuOccupancyAvailableDynamicSMemPerBlock(&size, function, 3, 1024),
             "%s 3 blocks of 1024", kernels[i]);
        EACH(cu->cuOccupancyAvailableDynamicSMemPerBlock(&size, function, 1, 1025),
             "%s block of 1025", kernels[i]);
    }
}

static void clusters(void)
{
    CUfunction function = conform_kernel("empty");
    CUlaunchAttribute attribute;
    CUlaunchConfig config;
    int count = -77;
    memset(&config, 0, sizeof config);
    memset(&attribute, 0, sizeof attribute);
    config.gridDimX = 1024;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.blockDimX = 128;
    CALL(cu->cuOccupancyMaxPotentialClusterSize(&count, function, &config));
    VALUE("count=%d", count);
    CALL(cu->cuOccupancyMaxActiveClusters(&count, function, &config));
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    for (unsigned size = 1; size < 20; size += size < 9 ? 1 : 7) {
        attribute.value.clusterDim.x = size;
        EACH(cu->cuOccupancyMaxActiveClusters(&count, function, &config), "clusters of %u", size);
    }
    CALL(cu->cuOccupancyMaxPotentialClusterSize(NULL, function, &config));
    CALL(cu->cuOccupancyMaxPotentialClusterSize(&count, function, NULL));
    CALL(cu->cuOccupancyMaxActiveClusters(&count, NULL, &config));
}

static const struct sequence sequences[] = {S(attributes_empty, PRIMARY),
                                            S(attributes_static, PRIMARY),
                                            S(attributes_bounded, PRIMARY),
                                            S(attributes_required, PRIMARY),
                                            S(attribute_misuse, PRIMARY),
                                            S(set_each, PRIMARY),
                                            S(set_dynamic, PRIMARY),
                                            S(set_dynamic_static, PRIMARY),
                                            S(set_carveout, PRIMARY),
                                            S(set_cluster, PRIMARY),
                                            S(caches, PRIMARY),
                                            S(parameters, PRIMARY),
                                            S(names, PRIMARY),
                                            S(old_setters, PRIMARY),
                                            S(old_launch, PRIMARY),
                                            S(occupancy_empty, PRIMARY),
                                            S(occupancy_static, PRIMARY),
                                            S(occupancy_bounded, PRIMARY),
                                            S(occupancy_misuse, PRIMARY),
                                            S(potential, PRIMARY),
                                            S(available, PRIMARY),
                                            S(clusters, PRIMARY),
                                            {0}};
const struct family function_family = {"function", sequences};
