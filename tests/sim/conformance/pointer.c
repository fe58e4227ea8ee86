/* SPDX-License-Identifier: MIT */
/* Every pointer attribute of every kind of pointer. */
#define _POSIX_C_SOURCE 200809L
#include "conform.h"

#include <stdlib.h>

/* Says what an answer is without saying where it is. */
static void describe(int attribute, const unsigned char *data, CUdeviceptr base)
{
    uint64_t whole;
    int word;
    memcpy(&whole, data, sizeof whole);
    memcpy(&word, data, sizeof word);
    if (whole == 0x7777777777777777) {
        VALUE("untouched");
        return;
    }
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        VALUE("context=%s", !whole ? "NULL" : whole == (uintptr_t)ctx ? "current" : "other");
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        if (whole)
            VALUE("offset=%lld", (long long)(whole - base));
        else
            VALUE("NULL");
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        VALUE("size=%llu", (unsigned long long)whole);
        break;
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        VALUE("%s", whole ? "some" : "zero");
        break;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        /* Some are written as one byte, some as four. */
        VALUE("value=%d", data[0]);
        break;
    default:
        VALUE("value=%d", word);
        break;
    }
}

static void ask(CUdeviceptr address, CUdeviceptr base)
{
    for (int attribute = -1; attribute < 25; attribute++) {
        unsigned char data[64];
        memset(data, 0x77, sizeof data);
        EACH(cu->cuPointerGetAttribute(data, (CUpointer_attribute)attribute, address),
             "attribute %d", attribute);
        describe(attribute, data, base);
    }
}

static void device(void)
{
    CUdeviceptr a = conform_memory(1000);
    ask(a, a);
}

static void device_inside(void)
{
    CUdeviceptr a = conform_memory(1000);
    ask(a + 500, a);
}

static void host(void)
{
    void *room = NULL;
    MUST(cu->cuMemHostAlloc(&room, 1000, 0));
    ask((CUdeviceptr)(uintptr_t)room + 8, (CUdeviceptr)(uintptr_t)room);
}

static void registered(void)
{
    void *room = NULL;
    if (posix_memalign(&room, 65536, 65536) != 0)
        abort();
    MUST(cu->cuMemHostRegister(room, 65536, 0));
    ask((CUdeviceptr)(uintptr_t)room + 8, (CUdeviceptr)(uintptr_t)room);
}

static void managed(void)
{
    CUdeviceptr a = 0;
    MUST(cu->cuMemAllocManaged(&a, 1000, CU_MEM_ATTACH_GLOBAL));
    ask(a + 8, a);
}

static void plain(void)
{
    static char room[64];
    ask((CUdeviceptr)(uintptr_t)room, (CUdeviceptr)(uintptr_t)room);
}

static void freed(void)
{
    CUdeviceptr a = conform_memory(4 << 20);
    MUST(cu->cuMemFree(a));
    ask(a, a);
}

static void null(void)
{
    ask(0, 0);
}

static void pool(void)
{
    CUdeviceptr a = 0;
    MUST(cu->cuMemAllocAsync(&a, 1000, NULL));
    MUST(cu->cuStreamSynchronize(NULL));
    ask(a + 8, a);
}

static void global(void)
{
    CUdeviceptr a = 0;
    size_t size = 0;
    MUST(cu->cuModuleGetGlobal(&a, &size, conform_module(), "counter"));
    CUmemorytype type = (CUmemorytype)77;
    CUcontext context = NULL;
    CALL(cu->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a));
    VALUE("type=%d", (int)type);
    CALL(cu->cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, a));
    VALUE("current=%d", context == ctx);
}

static void of_other_context(void)
{
    CUcontext other = conform_context(), context = NULL;
    CUdeviceptr a = conform_memory(64);
    MUST(cu->cuCtxSetCurrent(ctx));
    CALL(cu->cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, a));
    VALUE("other=%d", context == other);
    MUST(cu->cuCtxSetCurrent(NULL));
    CALL(cu->cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, a));
    VALUE("other=%d", context == other);
}

static void many(void)
{
    CUdeviceptr a = conform_memory(64), start = 0;
    CUmemorytype type = (CUmemorytype)77;
    CUcontext context = NULL;
    int bad = 77;
    CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_CONTEXT,
                                    CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, (CUpointer_attribute)99};
    void *data[] = {&type, &context, &start, &bad};
    CALL(cu->cuPointerGetAttributes(3, wanted, data, a));
    VALUE("type=%d current=%d start=%d", (int)type, context == ctx, start == a);
    CALL(cu->cuPointerGetAttributes(4, wanted, data, a));
    CALL(cu->cuPointerGetAttributes(0, wanted, data, a));
    CALL(cu->cuPointerGetAttributes(3, NULL, data, a));
    CALL(cu->cuPointerGetAttributes(3, wanted, NULL, a));
    static int mine;
    context = (CUcontext)&mine;
    type = (CUmemorytype)77;
    start = 77;
    CALL(cu->cuPointerGetAttributes(3, wanted, data, (CUdeviceptr)(uintptr_t)&mine));
    VALUE("type=%d null=%d start=%d", (int)type, !context, start == 0);
    type = (CUmemorytype)77;
    CALL(cu->cuPointerGetAttributes(1, wanted, data, 0));
    VALUE("type=%d", (int)type);
}

static void set(void)
{
    CUdeviceptr a = conform_memory(64);
    unsigned value = 1, back = 77;
    CALL(cu->cuPointerSetAttribute(&value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, a));
    CALL(cu->cuPointerGetAttribute(&back, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, a));
    VALUE("value=%u", back & 0xff);
    CALL(cu->cuPointerSetAttribute(&value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, a + 4));
    CALL(cu->cuPointerSetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a));
    CALL(cu->cuPointerSetAttribute(NULL, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, a));
    CALL(cu->cuPointerSetAttribute(&value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 0));
    CALL(cu->cuPointerSetAttribute(&value, (CUpointer_attribute)99, a));
}

static void misuse(void)
{
    CUdeviceptr a = conform_memory(64);
    int value = 77;
    CALL(cu->cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a));
    CALL(cu->cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a + 64));
    CALL(cu->cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)-1));
}

static const struct sequence sequences[] = {S(device, PRIMARY),
                                            S(device_inside, PRIMARY),
                                            S(host, PRIMARY),
                                            S(registered, PRIMARY),
                                            S(managed, PRIMARY),
                                            S(plain, PRIMARY),
                                            S(freed, PRIMARY),
                                            S(null, PRIMARY),
                                            S(pool, PRIMARY),
                                            S(global, PRIMARY),
                                            S(many, PRIMARY),
                                            S(set, PRIMARY),
                                            S(misuse, PRIMARY),
                                            S(of_other_context, PRIMARY),
                                            {0}};
const struct family pointer_family = {"pointer", sequences};
