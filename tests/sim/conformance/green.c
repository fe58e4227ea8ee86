/* SPDX-License-Identifier: MIT */
/* Contexts over a part of a device, and descriptions of tensors. */
#include "conform.h"

static void split(void)
{
    CUdevResource all, parts[16], rest;
    unsigned count = 16;
    memset(&all, 0, sizeof all);
    memset(parts, 0, sizeof parts);
    CALL(cu->cuDeviceGetDevResource(dev, &all, CU_DEV_RESOURCE_TYPE_SM));
    VALUE("sms=%u", all.sm.smCount);
    CALL(cu->cuDevSmResourceSplitByCount(NULL, &count, &all, NULL, 0, 16));
    VALUE("count=%u", count);
    count = 2;
    CALL(cu->cuDevSmResourceSplitByCount(parts, &count, &all, &rest, 0, 16));
    VALUE("count=%u sms=%u rest=%u", count, parts[0].sm.smCount, rest.sm.smCount);
    count = 2;
    CALL(cu->cuDevSmResourceSplitByCount(parts, &count, &all, NULL, 0, 1000));
    CALL(cu->cuDevSmResourceSplitByCount(parts, NULL, &all, NULL, 0, 16));
    CALL(cu->cuDevSmResourceSplitByCount(parts, &count, NULL, NULL, 0, 16));
}

static void create(void)
{
    CUdevResource all, part;
    CUdevResourceDesc description = NULL;
    CUgreenCtx green = NULL;
    CUcontext context = NULL;
    CUstream stream = NULL;
    unsigned count = 1;
    MUST(cu->cuDeviceGetDevResource(dev, &all, CU_DEV_RESOURCE_TYPE_SM));
    MUST(cu->cuDevSmResourceSplitByCount(&part, &count, &all, NULL, 0, 16));
    CALL(cu->cuDevResourceGenerateDesc(&description, &part, 1));
    CALL(cu->cuGreenCtxCreate(&green, description, dev, CU_GREEN_CTX_DEFAULT_STREAM));
    CALL(cu->cuCtxFromGreenCtx(&context, green));
    CALL(cu->cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    CALL(cu->cuMemsetD32Async(conform_memory(64), 1, 1, stream));
    CALL(cu->cuStreamSynchronize(stream));
    CALL(cu->cuStreamDestroy(stream));
    CALL(cu->cuGreenCtxDestroy(green));
    CALL(cu->cuGreenCtxCreate(&green, description, dev, 0));
    CALL(cu->cuGreenCtxCreate(&green, NULL, dev, CU_GREEN_CTX_DEFAULT_STREAM));
    CALL(cu->cuGreenCtxCreate(NULL, description, dev, CU_GREEN_CTX_DEFAULT_STREAM));
}

static CUresult encode(CUtensorMap *map, unsigned rank, CUdeviceptr address, cuuint64_t stride,
                       unsigned box)
{
    const cuuint64_t sizes[] = {64, 64, 64, 64, 64, 64};
    const cuuint64_t strides[] = {stride, stride * 64, stride * 4096, stride * 8192,
                                  stride * 16384};
    const cuuint32_t boxes[] = {box, 8, 1, 1, 1, 1}, steps[] = {1, 1, 1, 1, 1, 1};
    return cu->cuTensorMapEncodeTiled(
        map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, rank, (void *)(uintptr_t)address, sizes, strides,
        boxes, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static void tensors(void)
{
    static CUtensorMap map __attribute__((aligned(64)));
    CUdeviceptr a = conform_memory(1 << 20);
    CALL(encode(&map, 2, a, 256, 8));
    CALL(encode(&map, 0, a, 256, 8));
    CALL(encode(&map, 6, a, 256, 8));
    CALL(encode(&map, 2, a + 4, 256, 8));
    CALL(encode(&map, 2, a, 255, 8));
    CALL(encode(&map, 2, a, 256, 0));
    CALL(encode(&map, 2, a, 256, 257));
    CALL(encode(NULL, 2, a, 256, 8));
    CALL(encode(&map, 2, 0, 256, 8));
    CALL(cu->cuTensorMapReplaceAddress(&map, (void *)(uintptr_t)(a + 64)));
    CALL(cu->cuTensorMapReplaceAddress(&map, (void *)(uintptr_t)(a + 4)));
}

static void coredump(void)
{
    bool enabled = true;
    size_t size = sizeof enabled;
    CALL(cu->cuCoredumpGetAttribute(CU_COREDUMP_ENABLE_ON_EXCEPTION, &enabled, &size));
    VALUE("enabled=%d size=%zu", enabled, size);
    CALL(cu->cuCoredumpGetAttributeGlobal(CU_COREDUMP_ENABLE_ON_EXCEPTION, &enabled, &size));
    VALUE("enabled=%d", enabled);
    CALL(cu->cuCoredumpGetAttributeGlobal((CUcoredumpSettings)99, &enabled, &size));
    CALL(cu->cuCoredumpGetAttributeGlobal(CU_COREDUMP_ENABLE_ON_EXCEPTION, &enabled, NULL));
}

static const struct sequence sequences[] = {
    S(split, PRIMARY), S(create, PRIMARY), S(tensors, PRIMARY), S(coredump, PRIMARY), {0}};
const struct family green_family = {"green", sequences};
