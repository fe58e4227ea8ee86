/* SPDX-License-Identifier: MIT */
/* Arguments: mostly such as a program would give, some that no program should. What a driver cannot
 * check (the size of host memory) is right. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fuzz_api_kernels.h"
#include "fuzz_api_state.h"

enum {
    KINDS = 64,
    KEPT = 64,
    RECENT = 6,
    ELEMENT_COUNT = 8,
    AREA_OFFSETS = 1 << 20,
    ALIGNMENT = 128
};
#define AREA_BYTES ((size_t)1 << 29) /* more than all device memory of the test */

static struct {
    uint64_t values[KEPT];
    unsigned count; /* all that there ever were */
} pools[KINDS];
static pthread_mutex_t pools_lock = PTHREAD_MUTEX_INITIALIZER;

/* --- Numbers --- */

uint64_t fuzz_next(struct fuzz *f) /* splitmix64 */
{
    uint64_t value = (f->random += 0x9e3779b97f4a7c15u);
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

unsigned fuzz_below(struct fuzz *f, unsigned limit)
{
    return (unsigned)(fuzz_next(f) % limit);
}

static bool one_in(struct fuzz *f, unsigned limit)
{
    return fuzz_below(f, limit) == 0;
}

static uint64_t hostile(struct fuzz *f)
{
    static const uint64_t values[] = {UINT64_MAX,        INT32_MAX,         UINT32_MAX,
                                      UINT64_C(1) << 31, UINT64_C(1) << 32, UINT64_C(1) << 46,
                                      UINT64_C(1) << 62, INT64_MAX,         UINT64_MAX - 255,
                                      UINT32_MAX - 7,    UINT64_C(1) << 63, 0xffff};
    return one_in(f, 4) ? fuzz_next(f) >> fuzz_below(f, 64)
                        : values[fuzz_below(f, sizeof values / sizeof *values)];
}

uint64_t fuzz_number(struct fuzz *f, enum fuzz_class which)
{
    static const uint64_t near[] = {0, 1, 2, 3, 4, 8, 16, 17, 64, 100, 256};
    static const uint64_t bytes[] = {0,    1,     4,       16,      64,      100,          256,
                                     4096, 65536, 1 << 20, 2 << 20, 4 << 20, (2 << 20) + 1};
    switch (which) {
    case FUZZ_SMALL:
        return fuzz_below(f, ELEMENT_COUNT + 1);
    case FUZZ_NEAR:
        return near[fuzz_below(f, sizeof near / sizeof *near)];
    case FUZZ_BYTES:
        return one_in(f, 16) ? hostile(f) : bytes[fuzz_below(f, sizeof bytes / sizeof *bytes)];
    case FUZZ_SHAPE:
        return one_in(f, 24) ? hostile(f) : near[fuzz_below(f, sizeof near / sizeof *near)];
    case FUZZ_FLAGS:
        return one_in(f, 12) ? hostile(f) : one_in(f, 3) ? fuzz_below(f, 64) : fuzz_below(f, 3);
    case FUZZ_ANY:
        break;
    }
    return one_in(f, 10)  ? hostile(f)
           : one_in(f, 3) ? bytes[fuzz_below(f, sizeof bytes / sizeof *bytes)]
                          : fuzz_below(f, 6);
}

float fuzz_float(struct fuzz *f)
{
    static const float values[] = {
        0, 1, -1, 0.5f, 1e30f, -1e30f, __builtin_nanf(""), __builtin_inff()};
    return values[fuzz_below(f, sizeof values / sizeof *values)];
}

int fuzz_device(struct fuzz *f)
{
    return one_in(f, 12) ? (int)hostile(f) : (int)fuzz_below(f, one_in(f, 8) ? 3 : 2);
}

int64_t fuzz_pick(struct fuzz *f, const int64_t *values, size_t count)
{
    return one_in(f, 20) ? (int64_t)hostile(f) : values[fuzz_below(f, (unsigned)count)];
}

int fuzz_operation(struct fuzz *f)
{
    static const int values[] = {
        CU_STREAM_MEM_OP_WRITE_VALUE_32, CU_STREAM_MEM_OP_WRITE_VALUE_64,
        CU_STREAM_MEM_OP_BARRIER,        CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES,
        CU_STREAM_MEM_OP_WAIT_VALUE_32,  CU_STREAM_MEM_OP_WAIT_VALUE_64};
    return values[fuzz_below(f, f->waits ? 6 : 4)];
}

/* --- Handles --- */

void fuzz_remember(int kind, uint64_t value)
{
    pthread_mutex_lock(&pools_lock);
    pools[kind].values[pools[kind].count++ % KEPT] = value;
    pthread_mutex_unlock(&pools_lock);
}

void fuzz_learn(struct fuzz *f, int kind, const void *output)
{
    uint64_t value;
    if (!output)
        return;
    memcpy(&value, output, sizeof value);
    for (unsigned i = 0; i < f->block_count; i++)
        if ((uintptr_t)f->blocks[i] == value) /* nothing was written there */
            return;
    /* A driver believes in an address of the host, also in one that it has freed. */
    if (kind == fuzz_kind_CUdeviceptr_v2 && f->frees && !sim_address_is_device(value))
        kind = fuzz_kind_host;
    if (value)
        fuzz_remember(kind, value);
}

/* Of those that there are, one of the last `among`. */
static uint64_t remembered(struct fuzz *f, int kind, unsigned among)
{
    uint64_t value = 0;
    pthread_mutex_lock(&pools_lock);
    unsigned count = pools[kind].count < KEPT ? pools[kind].count : KEPT;
    if (count)
        value = pools[kind]
                    .values[(pools[kind].count - 1 - fuzz_below(f, count < among ? count : among)) %
                            KEPT];
    pthread_mutex_unlock(&pools_lock);
    return value;
}

static uint64_t device_pointer(struct fuzz *f)
{
    uint64_t value = remembered(f, fuzz_kind_CUdeviceptr_v2, one_in(f, 3) ? KEPT : RECENT);
    return one_in(f, 3) ? value + fuzz_number(f, FUZZ_NEAR) : value;
}

uint64_t fuzz_device_memory(struct fuzz *f)
{
    uint64_t value = device_pointer(f);
    return sim_address_is_device(value) ? value : 0;
}

uint64_t fuzz_handle(struct fuzz *f, int kind)
{
    unsigned dice = fuzz_below(f, 100);
    if (kind == fuzz_kind_CUdeviceptr_v2)
        return dice < 96 ? device_pointer(f) : 0;
    if (dice < 65)
        return remembered(f, kind, RECENT);
    if (dice < 88)
        return remembered(f, kind, KEPT);
    if (dice < 92)
        return remembered(f, (int)fuzz_below(f, (unsigned)fuzz_kind_count), KEPT);
    if (dice < 94)
        return remembered(f, kind, KEPT) + 8;
    if (dice < 97)
        return fuzz_below(f, 3); /* of streams, two of these mean something */
    return dice < 98 ? hostile(f) : 0;
}

/* --- Memory --- */

void *fuzz_block(struct fuzz *f, size_t size)
{
    void *block;
    if (f->block_count == FUZZ_BLOCKS || posix_memalign(&block, ALIGNMENT, size ? size : 1) != 0)
        return NULL;
    f->blocks[f->block_count++] = block;
    return memset(block, 0, size);
}

void *fuzz_filled(struct fuzz *f, size_t size, unsigned count, void (*fill)(struct fuzz *, void *))
{
    char *block = one_in(f, 24) ? NULL : fuzz_block(f, size * count);
    for (unsigned i = 0; block && i < count; i++)
        fill(f, block + i * size);
    return block;
}

void *fuzz_handles(struct fuzz *f, size_t size, unsigned count, int kind)
{
    char *block = one_in(f, 24) ? NULL : fuzz_block(f, size * count < 8 ? 8 : size * count);
    for (unsigned i = 0; block && i < count; i++) {
        uint64_t value = fuzz_handle(f, kind);
        memcpy(block + i * size, &value, size);
    }
    return block;
}

void *fuzz_numbers(struct fuzz *f, size_t size, unsigned count, enum fuzz_class which)
{
    char *block = one_in(f, 24) ? NULL : fuzz_block(f, size * count);
    for (unsigned i = 0; block && i < count; i++) {
        uint64_t value = fuzz_number(f, which);
        memcpy(block + i * size, &value, size);
    }
    return block;
}

void fuzz_fill_numbers(struct fuzz *f, void *memory, size_t size, size_t each)
{
    for (size_t at = 0; at + each <= size; at += each) {
        uint64_t value = fuzz_number(f, FUZZ_ANY);
        memcpy((char *)memory + at, &value, each);
    }
}

static char *area_memory;

static void area_make(void)
{
    area_memory = mmap(NULL, AREA_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static char *area(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, area_make);
    return area_memory;
}

void *fuzz_area(struct fuzz *f)
{
    return one_in(f, 24) ? NULL : area() + fuzz_below(f, AREA_OFFSETS) / 64 * 64;
}

/* Where host memory is used as a device's, it is memory that stays. */
void *fuzz_host_pointer(struct fuzz *f)
{
    uint64_t known = f->frees && one_in(f, 2) ? remembered(f, fuzz_kind_host, KEPT) : 0;
    return known ? (void *)(uintptr_t)known
                 : area() + (size_t)fuzz_below(f, 16) * 65536 + (one_in(f, 4) ? 12 : 0);
}

const char *fuzz_name(struct fuzz *f)
{
    static const char *const names[] = {"store",   "spin", "sample", "nothing", "data",
                                        "counted", "tex",  "surf",   "",        "0000:01:00.0",
                                        "cuInit",  "none", "managed"};
    return one_in(f, 24) ? NULL : names[fuzz_below(f, sizeof names / sizeof *names)];
}

const char *fuzz_path(struct fuzz *f)
{
    static const char *const paths[] = {"/dev/null", "/", "/nonexistent/file", "",
                                        "/proc/self/comm"};
    return one_in(f, 24) ? NULL : paths[fuzz_below(f, sizeof paths / sizeof *paths)];
}

void *fuzz_image(struct fuzz *f, size_t *size)
{
    const char *text = fuzz_kernels[fuzz_below(f, fuzz_kernel_count)];
    if (size)
        *size = strlen(text) + fuzz_below(f, 2);
    return one_in(f, 24) ? NULL : (void *)(uintptr_t)text;
}

void **fuzz_pointers(struct fuzz *f)
{
    void **block = one_in(f, 24) ? NULL : fuzz_block(f, ELEMENT_COUNT * sizeof *block);
    for (unsigned i = 0; block && i < ELEMENT_COUNT; i++)
        block[i] = fuzz_block(f, 64);
    return block;
}

/* Kernels of fuzz_api_kernels.h take an address, a number, and an object of a texture. */
static void fill_argument(struct fuzz *f, void *argument)
{
    uint64_t value = one_in(f, 30)  ? hostile(f)
                     : one_in(f, 4) ? remembered(f, fuzz_kind_CUtexObject_v1, RECENT)
                                    : remembered(f, fuzz_kind_CUdeviceptr_v2, RECENT);
    if (argument)
        memcpy(argument, &value, sizeof value);
}

void **fuzz_params(struct fuzz *f)
{
    void **params = fuzz_pointers(f);
    for (unsigned i = 0; params && i < ELEMENT_COUNT; i++)
        fill_argument(f, params[i]);
    return params;
}

void **fuzz_extra(struct fuzz *f)
{
    void **extra = one_in(f, 4) ? fuzz_block(f, 5 * sizeof *extra) : NULL;
    size_t *size = extra ? fuzz_block(f, sizeof *size) : NULL;
    uint64_t *buffer = size ? fuzz_block(f, ELEMENT_COUNT * sizeof *buffer) : NULL;
    if (!buffer)
        return NULL;
    for (unsigned i = 0; i < ELEMENT_COUNT; i++)
        fill_argument(f, &buffer[i]);
    *size = fuzz_below(f, ELEMENT_COUNT + 1) * sizeof *buffer;
    extra[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
    extra[1] = buffer;
    extra[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
    extra[3] = size;
    return extra; /* ends with CU_LAUNCH_PARAM_END, which is 0 */
}

void fuzz_jit(struct fuzz *f, CUjit_option *options, void **values)
{
    for (unsigned i = 0; options && values && i < ELEMENT_COUNT; i++) {
        switch (options[i]) {
        case CU_JIT_INFO_LOG_BUFFER:
        case CU_JIT_ERROR_LOG_BUFFER:
            values[i] = fuzz_area(f);
            break;
        case CU_JIT_GLOBAL_SYMBOL_NAMES:
        case CU_JIT_GLOBAL_SYMBOL_ADDRESSES:
        case CU_JIT_REFERENCED_KERNEL_NAMES:
        case CU_JIT_REFERENCED_VARIABLE_NAMES:
            options[i] = CU_JIT_LTO; /* arrays, whose length is another option's */
            break;
        default:
            values[i] = (void *)(uintptr_t)fuzz_number(f, FUZZ_NEAR);
        }
    }
}
