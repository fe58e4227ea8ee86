/* SPDX-License-Identifier: MIT */
#include "test_memory_fake.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA = 4 << 20, UNIT = 512, BLOCKS = 512 };

struct memory_fake memory_fake;

/* Memory of all kinds: the first free place is taken, so that an address comes back soon. */
static _Alignas(512) unsigned char arena[ARENA];
static struct block {
    uintptr_t base;
    size_t size;
    unsigned long long id;
    bool managed;
} blocks[BLOCKS];
static unsigned long long last_id;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- what every call does first */

CUresult fake_called(const char *symbol)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    if (memory_fake.calls < FAKE_LOG)
        memory_fake.log[memory_fake.calls] = symbol;
    memory_fake.calls++;
    bool scripted = memory_fake.fails &&
                    (strcmp(memory_fake.fails, "*") == 0 || strcmp(symbol, memory_fake.fails) == 0);
    if (scripted && memory_fake.after-- <= 0)
        result = memory_fake.code;
    pthread_mutex_unlock(&lock);
    return result;
}

/* ---- blocks */

static struct block *block_at(uintptr_t address)
{
    for (size_t i = 0; i < BLOCKS; i++)
        if (blocks[i].size && address - blocks[i].base < blocks[i].size)
            return &blocks[i];
    return NULL;
}

static CUresult block_make(uintptr_t *address, size_t size)
{
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    size_t whole = (size + UNIT - 1) / UNIT * UNIT, at = 0;
    while (size <= ARENA && at + whole <= ARENA && result != CUDA_SUCCESS) {
        struct block *other = NULL, *unused = NULL;
        for (size_t i = 0; i < BLOCKS; i++) {
            if (!blocks[i].size)
                unused = &blocks[i];
            else if (blocks[i].base < (uintptr_t)arena + at + whole &&
                     blocks[i].base + blocks[i].size > (uintptr_t)arena + at)
                other = &blocks[i];
        }
        if (other) {
            at = (other->base + other->size - (uintptr_t)arena + UNIT - 1) / UNIT * UNIT;
        } else if (!unused) {
            break;
        } else {
            *unused = (struct block){(uintptr_t)arena + at, size, ++last_id, false};
            *address = unused->base;
            memory_fake.blocks++;
            result = CUDA_SUCCESS;
        }
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static CUresult block_free(uintptr_t address)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    struct block *block = block_at(address);
    if (block && block->base == address) {
        block->size = 0;
        memory_fake.blocks--;
        result = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static CUresult device_make(CUdeviceptr *address, size_t size)
{
    uintptr_t found;
    CUresult result = block_make(&found, size);
    if (result == CUDA_SUCCESS)
        *address = found;
    return result;
}

static CUresult fake_cuMemAlloc_v2(CUdeviceptr *address, size_t size)
{
    CALLED();
    return device_make(address, size);
}

static CUresult fake_cuMemAllocManaged(CUdeviceptr *address, size_t size, unsigned flags)
{
    CALLED();
    (void)flags;
    CUresult result = device_make(address, size);
    if (result == CUDA_SUCCESS)
        block_at(*address)->managed = true;
    return result;
}

static CUresult fake_cuMemFree_v2(CUdeviceptr address)
{
    CALLED();
    return block_free(address);
}

static CUresult fake_cuMemAllocAsync(CUdeviceptr *address, size_t size, CUstream stream)
{
    CALLED();
    memory_fake.stream = stream;
    return memory_fake.pools ? device_make(address, size) : CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult fake_cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    CALLED();
    memory_fake.stream = stream;
    return block_free(address);
}

/* ---- queries */

static CUresult fake_cuInit(unsigned flags)
{
    assert_int_equal(flags, 0);
    return CUDA_SUCCESS;
}

static CUresult fake_cuCtxGetDevice(CUdevice *device)
{
    CALLED();
    *device = 0;
    return CUDA_SUCCESS;
}

static CUresult fake_cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    CALLED();
    if (device != 0)
        return CUDA_ERROR_INVALID_DEVICE;
    *value = attribute == CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED ? memory_fake.pools : -1;
    return CUDA_SUCCESS;
}

static CUresult fake_cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    CALLED();
    *free_bytes = 1234;
    *total_bytes = 5678;
    return CUDA_SUCCESS;
}

/* A boolean is one byte: the least that a driver might write. */
static CUresult fake_cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes,
                                            void **data, CUdeviceptr address)
{
    CALLED();
    memory_fake.pointer_attributes = count;
    const struct block *block = block_at(address);
    for (unsigned i = 0; i < count && !block; i++)
        if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
            *(int *)data[i] = CU_DEVICE_INVALID; /* as drivers do */
    for (unsigned i = 0; i < count && block; i++) {
        switch (attributes[i]) {
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            *(unsigned *)data[i] = CU_MEMORYTYPE_DEVICE;
            break;
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
            *(size_t *)data[i] = block->size;
            break;
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
            *(unsigned char *)data[i] = block->managed;
            break;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            *(int *)data[i] = 0;
            break;
        case CU_POINTER_ATTRIBUTE_BUFFER_ID:
            *(unsigned long long *)data[i] = block->id;
            break;
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
            *(CUdeviceptr *)data[i] = block->base;
            break;
        default:
            break;
        }
    }
    return CUDA_SUCCESS;
}

/* ---- order */

static CUresult fake_cuStreamSynchronize(CUstream stream)
{
    CALLED();
    memory_fake.stream = stream;
    return CUDA_SUCCESS;
}

static CUresult fake_cuMemPrefetchAsync(CUdeviceptr address, size_t size, CUdevice device,
                                        CUstream stream)
{
    CALLED();
    memory_fake.prefetched = address;
    memory_fake.prefetched_bytes = size;
    memory_fake.device = device;
    memory_fake.stream = stream;
    return CUDA_SUCCESS;
}

static CUresult fake_cuMemPrefetchAsync_v2(CUdeviceptr address, size_t size, CUmemLocation location,
                                           unsigned flags, CUstream stream)
{
    CALLED();
    assert_int_equal(flags, 0);
    memory_fake.prefetched = address;
    memory_fake.prefetched_bytes = size;
    memory_fake.location = location;
    memory_fake.stream = stream;
    return CUDA_SUCCESS;
}

/* ---- copies and fills */

static CUresult fake_cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t size)
{
    CALLED();
    memcpy((void *)(uintptr_t)dst, src, size);
    return CUDA_SUCCESS;
}

static CUresult fake_cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t size,
                                          CUstream stream)
{
    CALLED();
    memory_fake.stream = stream;
    memcpy((void *)(uintptr_t)dst, src, size);
    return CUDA_SUCCESS;
}

static CUresult fake_cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t size)
{
    CALLED();
    memcpy(dst, (const void *)(uintptr_t)src, size);
    return CUDA_SUCCESS;
}

static CUresult fake_cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t size, CUstream stream)
{
    CALLED();
    memory_fake.stream = stream;
    memcpy(dst, (const void *)(uintptr_t)src, size);
    return CUDA_SUCCESS;
}

static CUresult fake_cuMemsetD32_v2(CUdeviceptr dst, unsigned value, size_t count)
{
    CALLED();
    for (size_t i = 0; i < count; i++)
        memcpy((void *)(uintptr_t)(dst + 4 * i), &value, sizeof value);
    return CUDA_SUCCESS;
}

static CUresult fake_cuMemsetD32Async(CUdeviceptr dst, unsigned value, size_t count,
                                      CUstream stream)
{
    CALLED();
    memory_fake.stream = stream;
    for (size_t i = 0; i < count; i++)
        memcpy((void *)(uintptr_t)(dst + 4 * i), &value, sizeof value);
    return CUDA_SUCCESS;
}

/* ---- the driver as a whole */

static int version;

static CUresult fake_cuDriverGetVersion(int *its_version)
{
    *its_version = version;
    return CUDA_SUCCESS;
}

static const struct fake_entry entries[] = {
    ENTRY(cuInit),
    ENTRY(cuDriverGetVersion),
    ENTRY(cuMemAlloc_v2),
    ENTRY(cuMemAllocManaged),
    ENTRY(cuMemFree_v2),
    ENTRY(cuMemAllocAsync),
    ENTRY(cuMemFreeAsync),
    ENTRY(cuCtxGetDevice),
    ENTRY(cuDeviceGetAttribute),
    ENTRY(cuMemGetInfo_v2),
    ENTRY(cuPointerGetAttributes),
    ENTRY(cuStreamSynchronize),
    ENTRY(cuMemPrefetchAsync),
    ENTRY(cuMemPrefetchAsync_v2),
    ENTRY(cuMemcpyHtoD_v2),
    ENTRY(cuMemcpyHtoDAsync_v2),
    ENTRY(cuMemcpyDtoH_v2),
    ENTRY(cuMemcpyDtoHAsync_v2),
    ENTRY(cuMemsetD32_v2),
    ENTRY(cuMemsetD32Async),
    {NULL, NULL},
};

static void *resolve(void *user, const char *symbol)
{
    (void)user;
    for (const char *const *missing = memory_fake.missing; *missing; missing++)
        if (strcmp(*missing, symbol) == 0)
            return NULL;
    for (const struct fake_entry *entry = entries; entry->symbol; entry++)
        if (strcmp(entry->symbol, symbol) == 0) {
            void *address;
            memcpy(&address, &entry->function, sizeof address);
            return address;
        }
    return NULL;
}

const struct cushim_api *fake_open_without(int its_version, const char *const missing[])
{
    struct cushim_options options = defaults();
    memory_fake = (struct memory_fake){.pools = 1};
    for (size_t i = 0; missing && missing[i]; i++)
        memory_fake.missing[i] = missing[i];
    version = its_version;
    options.resolver = resolve;
    const struct cushim_api *cu = cushim_open(&options);
    assert_non_null(cu);
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    return cu;
}

const struct cushim_api *fake_open(int its_version)
{
    return fake_open_without(its_version, NULL);
}

void fake_close(const struct cushim_api *cu)
{
    assert_int_equal(memory_fake.blocks, 0);
    cushim_close(cu);
}

void fake_fail(const char *symbol, CUresult code, int after)
{
    memory_fake.fails = symbol;
    memory_fake.code = code;
    memory_fake.after = after;
}

void fake_forget(void)
{
    memory_fake.calls = 0;
}

void assert_calls(const char *const symbols[])
{
    unsigned count = 0;
    for (; symbols[count]; count++) {
        if (count >= memory_fake.calls)
            fail_msg("no call of %s", symbols[count]);
        assert_string_equal(memory_fake.log[count], symbols[count]);
    }
    if (memory_fake.calls > count)
        fail_msg("a call of %s too many", memory_fake.log[count]);
}

void assert_refused(CUresult result, CUresult code, const char *const parts[])
{
    const char *sentence = cushim_last_error();
    if (result != code)
        fail_msg("%d, not %d: %s", (int)result, (int)code, sentence);
    for (size_t i = 0; parts[i]; i++)
        assert_contains(sentence, parts[i]);
    if (memory_fake.calls)
        fail_msg("refused after a call of %s: %s", memory_fake.log[0], sentence);
}

void assert_ok(CUresult result, const char *call)
{
    if (result != CUDA_SUCCESS)
        fail_msg("%s: %d: %s", call, (int)result, cushim_last_error());
}
