/* SPDX-License-Identifier: MIT */
/* Memory of another process, by handles of 64 bytes: cuIpcGetMemHandle and its kin. */
#include "partner.h"

#define LAZY CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
#define BIG ((size_t)4 << 20)

struct package { /* what goes to the partner */
    CUipcMemHandle big, inner, small;
    CUdeviceptr address;
};

static unsigned word_at(CUdeviceptr address)
{
    unsigned value = 0;
    CALL(cu->cuMemcpyDtoH(&value, address, sizeof value));
    VALUE("%#x", value);
    return value;
}

static void describe(CUdeviceptr a)
{
    CUdeviceptr base = 0, start = 0;
    size_t size = 0, range = 0;
    CUcontext context = NULL;
    unsigned type = 0, capable = 0, managed = 0, sync = 7;
    int ordinal = -5;
    CALL(cu->cuMemGetAddressRange(&base, &size, a));
    VALUE("base=%d size=%zu", base == a, size);
    CALL(cu->cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, a));
    VALUE("own=%d", context == ctx);
    CALL(cu->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a));
    VALUE("%u", type);
    CALL(cu->cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, a));
    VALUE("%d", ordinal);
    CALL(cu->cuPointerGetAttribute(&capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, a));
    VALUE("%u", capable & 255);
    CALL(cu->cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, a));
    VALUE("%u", managed & 255);
    CALL(cu->cuPointerGetAttribute(&sync, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, a));
    VALUE("%u", sync & 255);
    CALL(cu->cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, a));
    CALL(cu->cuPointerGetAttribute(&range, CU_POINTER_ATTRIBUTE_RANGE_SIZE, a));
    VALUE("start=%d size=%zu", start == a, range);
}

static void open_partner(void)
{
    struct package p;
    CUipcMemHandle again;
    CUdeviceptr a = 1, b = 1, c = 1, d = 1;
    partner_take(&p, sizeof p);
    CALL(cu->cuIpcOpenMemHandle(&a, p.big, 0));
    VALUE("written=%d", a != 1);
    CALL(cu->cuIpcOpenMemHandle(NULL, p.big, LAZY));
    CALL(cu->cuIpcOpenMemHandle(&a, p.big, LAZY | 2));
    CALL(cu->cuIpcOpenMemHandle(&a, p.big, LAZY));
    describe(a);
    word_at(a);
    word_at(a + BIG - 4);
    CALL(cu->cuMemsetD32(a + 4, 0xabcd, 1));
    CALL(cu->cuIpcOpenMemHandle(&b, p.big, LAZY));
    VALUE("same=%d", a == b);
    CALL(cu->cuIpcOpenMemHandle(&c, p.inner, LAZY));
    VALUE("same=%d", c == a);
    CALL(cu->cuIpcOpenMemHandle(&d, p.small, LAZY));
    word_at(d);
    describe(d);
    CALL(cu->cuIpcGetMemHandle(&again, a));
    VALUE("equal=%d", memcmp(&again, &p.big, sizeof again) == 0);
    CALL(cu->cuMemFree(a));
    CALL(cu->cuMemFreeAsync(a, NULL));
    CALL(cu->cuIpcCloseMemHandle(a + 8));
    CALL(cu->cuIpcCloseMemHandle(a));
    word_at(a);
    CALL(cu->cuIpcCloseMemHandle(a));
    CALL(cu->cuIpcCloseMemHandle(a));
    CALL(cu->cuIpcCloseMemHandle(a));
    CALL(cu->cuMemGetAddressRange(NULL, NULL, a));
    word_at(d);
    CALL(cu->cuIpcCloseMemHandle(d));
    CALL(cu->cuIpcOpenMemHandle(&a, p.big, LAZY));
    word_at(a);
    CALL(cu->cuIpcCloseMemHandle(a));
    CALL(cu->cuCtxSynchronize());
    partner_turn();
}

static void memory_open(void)
{
    struct package p;
    CUdeviceptr small, a;
    partner_begin(open_partner);
    a = conform_memory(BIG);
    (void)conform_memory(1000);
    small = conform_memory(1000);
    MUST(cu->cuMemsetD32(a, 0x11112222, BIG / 4));
    MUST(cu->cuMemsetD32(small, 0x33334444, 250));
    CALL(cu->cuIpcGetMemHandle(&p.big, a));
    CALL(cu->cuIpcGetMemHandle(&p.inner, a + 4096));
    VALUE("equal=%d", memcmp(&p.big, &p.inner, sizeof p.big) == 0);
    CALL(cu->cuIpcGetMemHandle(&p.inner, a));
    VALUE("equal=%d", memcmp(&p.big, &p.inner, sizeof p.big) == 0);
    CALL(cu->cuIpcGetMemHandle(&p.inner, a + 4096));
    CALL(cu->cuIpcGetMemHandle(&p.small, small));
    p.address = a;
    MUST(cu->cuCtxSynchronize());
    partner_give(&p, sizeof p);
    partner_take(&p.big, 1);
    word_at(a + 4);
    CALL(cu->cuMemFree(a));
    CALL(cu->cuCtxSynchronize());
}

/* Freed by its owner while it is open. */
static void freed_partner(void)
{
    CUipcMemHandle handle;
    CUdeviceptr a = 0, b = 0;
    partner_take(&handle, sizeof handle);
    CALL(cu->cuIpcOpenMemHandle(&a, handle, LAZY));
    partner_turn();
    word_at(a);
    CALL(cu->cuIpcOpenMemHandle(&b, handle, LAZY));
    CALL(cu->cuIpcCloseMemHandle(a));
    CALL(cu->cuIpcOpenMemHandle(&b, handle, LAZY));
    partner_turn();
}

static void memory_freed(void)
{
    CUipcMemHandle handle;
    size_t total;
    partner_begin(freed_partner);
    CUdeviceptr a = conform_memory(64 << 20);
    MUST(cu->cuMemsetD32(a, 0x55, 16 << 20));
    MUST(cu->cuIpcGetMemHandle(&handle, a));
    partner_give(&handle, sizeof handle);
    partner_take(&handle, 1);
    CALL(cu->cuMemFree(a));
    CALL(cu->cuMemcpyDtoH(&total, a, 8));
    partner_turn();
}

/* Freed before anybody opened it, and memory of the same size in its place. */
static void late_partner(void)
{
    CUipcMemHandle handle;
    CUdeviceptr a = 0;
    partner_take(&handle, sizeof handle);
    CALL(cu->cuIpcOpenMemHandle(&a, handle, LAZY));
    partner_turn();
}

static void memory_late(void)
{
    CUipcMemHandle handle;
    partner_begin(late_partner);
    CUdeviceptr a = conform_memory(64 << 20);
    MUST(cu->cuIpcGetMemHandle(&handle, a));
    MUST(cu->cuMemFree(a));
    partner_give(&handle, sizeof handle);
    partner_take(&handle, 1);
}

/* The owner is gone. */
static void orphan_partner(void)
{
    CUipcMemHandle handle, other;
    CUdeviceptr a = conform_memory(BIG), b = conform_memory(BIG);
    MUST(cu->cuMemsetD32(a, 0x77, BIG / 4));
    MUST(cu->cuCtxSynchronize());
    MUST(cu->cuIpcGetMemHandle(&handle, a));
    MUST(cu->cuIpcGetMemHandle(&other, b));
    partner_give(&handle, sizeof handle);
    partner_give(&other, sizeof other);
    partner_turn();
}

static void memory_orphan(void)
{
    CUipcMemHandle handle, other;
    CUdeviceptr a = 0, b = 0;
    partner_begin(orphan_partner);
    partner_take(&handle, sizeof handle);
    partner_take(&other, sizeof other);
    CALL(cu->cuIpcOpenMemHandle(&a, handle, LAZY));
    partner_kill();
    NOTE("the owner is killed");
    word_at(a);
    CALL(cu->cuIpcOpenMemHandle(&b, other, LAZY));
    CALL(cu->cuIpcOpenMemHandle(&b, handle, LAZY));
    CALL(cu->cuIpcCloseMemHandle(a));
    CALL(cu->cuIpcOpenMemHandle(&b, handle, LAZY));
    CALL(cu->cuCtxSynchronize());
}

/* Handles that nobody gave out, of other kinds, and contexts. */
static void wrong_partner(void)
{
    CUipcMemHandle handle, bad;
    CUipcEventHandle event;
    CUdeviceptr a = 0, b = 0;
    CUcontext other = NULL;
    CUevent opened = NULL;
    partner_take(&handle, sizeof handle);
    partner_take(&event, sizeof event);
    memset(&bad, 0, sizeof bad);
    CALL(cu->cuIpcOpenMemHandle(&a, bad, LAZY));
    memset(&bad, 0xff, sizeof bad);
    CALL(cu->cuIpcOpenMemHandle(&a, bad, LAZY));
    memcpy(&bad, &event, sizeof bad);
    CALL(cu->cuIpcOpenMemHandle(&a, bad, LAZY));
    memcpy(&event, &handle, sizeof event);
    CALL(cu->cuIpcOpenEventHandle(&opened, event));
    CALL(cu->cuIpcOpenMemHandle(&a, handle, LAZY));
    MUST(cu->cuCtxCreate_v2(&other, 0, dev));
    CALL(cu->cuIpcOpenMemHandle(&b, handle, LAZY));
    VALUE("same=%d", a == b);
    word_at(b);
    CALL(cu->cuIpcCloseMemHandle(a));
    CALL(cu->cuCtxDestroy(other));
    CALL(cu->cuCtxSetCurrent(ctx));
    word_at(a);
    CALL(cu->cuIpcCloseMemHandle(a));
    CALL(cu->cuIpcCloseMemHandle(b));
    CALL(cu->cuCtxSetCurrent(NULL));
    CALL(cu->cuIpcOpenMemHandle(&a, handle, LAZY));
    CALL(cu->cuIpcCloseMemHandle(a));
    CALL(cu->cuIpcOpenMemHandle(NULL, handle, 0));
    partner_turn();
}

static void memory_wrong(void)
{
    CUipcMemHandle handle;
    CUipcEventHandle event;
    CUevent shared = NULL;
    partner_begin(wrong_partner);
    CUdeviceptr a = conform_memory(BIG);
    MUST(cu->cuMemsetD32(a, 0x99, BIG / 4));
    MUST(cu->cuCtxSynchronize());
    MUST(cu->cuEventCreate(&shared, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    MUST(cu->cuIpcGetMemHandle(&handle, a));
    MUST(cu->cuIpcGetEventHandle(&event, shared));
    partner_give(&handle, sizeof handle);
    partner_give(&event, sizeof event);
    partner_take(&handle, 1);
}

/* A context that ends with open memory, and a process. */
static void ended_partner(void)
{
    CUipcMemHandle handle;
    CUdeviceptr a = 0, b = 0;
    CUcontext other = NULL;
    partner_take(&handle, sizeof handle);
    MUST(cu->cuCtxCreate_v2(&other, 0, dev));
    CALL(cu->cuIpcOpenMemHandle(&a, handle, LAZY));
    CALL(cu->cuCtxDestroy(other));
    CALL(cu->cuCtxSetCurrent(ctx));
    CALL(cu->cuMemGetAddressRange(NULL, NULL, a));
    CALL(cu->cuIpcCloseMemHandle(a));
    CALL(cu->cuIpcOpenMemHandle(&b, handle, LAZY));
    word_at(b);
    CALL(cu->cuMemsetD32(b, 0x1234, 1));
    CALL(cu->cuCtxSynchronize());
    partner_turn();
}

static void memory_ended(void)
{
    CUipcMemHandle handle;
    partner_begin(ended_partner);
    CUdeviceptr a = conform_memory(BIG);
    MUST(cu->cuMemsetD32(a, 0x99, BIG / 4));
    MUST(cu->cuCtxSynchronize());
    MUST(cu->cuIpcGetMemHandle(&handle, a));
    partner_give(&handle, sizeof handle);
    partner_take(&handle, 1);
    partner_kill();
    NOTE("the partner is killed");
    word_at(a);
    CALL(cu->cuMemFree(a));
}

/* What has no handle. */
static void memory_kinds(void)
{
    CUipcMemHandle handle;
    CUdeviceptr a = 0, pitched = 0;
    size_t size = 0;
    void *host = NULL;
    CALL(cu->cuMemAllocManaged(&a, 4096, CU_MEM_ATTACH_GLOBAL));
    CALL(cu->cuIpcGetMemHandle(&handle, a));
    CALL(cu->cuMemAllocAsync(&a, 4096, NULL));
    CALL(cu->cuIpcGetMemHandle(&handle, a));
    CALL(cu->cuMemHostAlloc(&host, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    CALL(cu->cuIpcGetMemHandle(&handle, (CUdeviceptr)(uintptr_t)host));
    CALL(cu->cuModuleGetGlobal(&a, &size, conform_module(), "table"));
    CALL(cu->cuIpcGetMemHandle(&handle, a));
    CALL(cu->cuModuleGetGlobal(&a, &size, conform_module(), "counter"));
    CALL(cu->cuIpcGetMemHandle(&handle, a));
    CALL(cu->cuMemAllocPitch(&pitched, &size, 100, 100, 4));
    CALL(cu->cuIpcGetMemHandle(&handle, pitched));
    CALL(cu->cuMemFree(pitched));
    CALL(cu->cuIpcGetMemHandle(&handle, pitched));
    a = conform_memory(1000);
    CALL(cu->cuIpcGetMemHandle(&handle, a + 999));
    CALL(cu->cuIpcGetMemHandle(&handle, a + 1000));
    CALL(cu->cuIpcOpenMemHandle(&pitched, handle, LAZY));
    CALL(cu->cuIpcCloseMemHandle(a));
}

static const struct sequence sequences[] = {
    S(memory_open, BARE), S(memory_freed, BARE), S(memory_orphan, BARE),   S(memory_wrong, BARE),
    S(memory_late, BARE), S(memory_ended, BARE), S(memory_kinds, PRIMARY), {NULL, NULL, BARE},
};
const struct family share_memory_family = {"share_memory", sequences};
