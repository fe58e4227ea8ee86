/* SPDX-License-Identifier: MIT */
#include "quota.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include <cushim/cushim.h>

#define QUOTA ((size_t)1 << 30)
#define THUNK_SIZE 16
#define THUNK_COUNT 4096

typedef CUresult(CUDAAPI *alloc_fn)(CUdeviceptr *, size_t);
typedef CUresult(CUDAAPI *async_fn)(CUdeviceptr *, size_t, CUstream);
typedef CUresult(CUDAAPI *proc_v1_fn)(const char *, void **, int, cuuint64_t);
typedef CUresult(CUDAAPI *proc_v2_fn)(const char *, void **, int, cuuint64_t,
                                      CUdriverProcAddressQueryResult *);
typedef CUresult(CUDAAPI *context_fn)(CUcontext *, CUctxCreateParams *, unsigned, CUdevice);

/* The driver's own functions. */
static struct {
    alloc_fn alloc;
    async_fn async, async_ptsz;
    proc_v1_fn proc_v1;
    proc_v2_fn proc_v2;
    context_fn context;
} driver;

static CUresult CUDAAPI alloc(CUdeviceptr *address, size_t bytes)
{
    return bytes > QUOTA ? CUDA_ERROR_OUT_OF_MEMORY : driver.alloc(address, bytes);
}

static CUresult CUDAAPI async(CUdeviceptr *address, size_t bytes, CUstream stream)
{
    return bytes > QUOTA ? CUDA_ERROR_OUT_OF_MEMORY : driver.async(address, bytes, stream);
}

#ifndef QUOTA_ONE_WRAPPER
static CUresult CUDAAPI async_ptsz(CUdeviceptr *address, size_t bytes, CUstream stream)
{
    return bytes > QUOTA ? CUDA_ERROR_OUT_OF_MEMORY : driver.async_ptsz(address, bytes, stream);
}
#endif

#ifdef QUOTA_LACKING
static CUresult CUDAAPI context(CUcontext *created, CUctxCreateParams *params, unsigned flags,
                                CUdevice device)
{
    return driver.context(created, params, flags, device);
}
#endif

static CUresult CUDAAPI proc_v1(const char *name, void **found, int version, cuuint64_t flags);
static CUresult CUDAAPI proc_v2(const char *name, void **found, int version, cuuint64_t flags,
                                CUdriverProcAddressQueryResult *status);

/* One entry that the interposer has. */
struct row {
    const char *symbol, *name;
    int since;
    bool per_thread, everywhere; /* everywhere: there is one form for both kinds of stream */
    bool by_symbol;              /* a look-up by symbol meets it */
    void *driver;                /* address of the pointer to the driver's function */
    void (*own)(void);
};

#ifdef QUOTA_ENTRIES
#define ENTRIES true
#else
#define ENTRIES false
#endif
#if defined(QUOTA_ENTRIES) || defined(QUOTA_ASYNC)
#define ASYNC true
#else
#define ASYNC false
#endif
#ifdef QUOTA_PROC
#define PROC true
#else
#define PROC false
#endif
#define OWN(function) (void (*)(void))(function)

static const struct row rows[] = {
    {"cuMemAlloc_v2", "cuMemAlloc", 3020, false, true, ENTRIES, &driver.alloc, OWN(alloc)},
    {"cuMemAllocAsync", "cuMemAllocAsync", 11020, false, false, ASYNC, &driver.async, OWN(async)},
#ifdef QUOTA_ONE_WRAPPER
    {"cuMemAllocAsync_ptsz", "cuMemAllocAsync", 11020, true, false, false, &driver.async_ptsz,
     OWN(async)},
#else
    {"cuMemAllocAsync_ptsz", "cuMemAllocAsync", 11020, true, false, ASYNC, &driver.async_ptsz,
     OWN(async_ptsz)},
#endif
    {"cuGetProcAddress_v2", "cuGetProcAddress", 12000, false, true, PROC, &driver.proc_v2,
     OWN(proc_v2)},
    {"cuGetProcAddress", "cuGetProcAddress", 11030, false, true, PROC, &driver.proc_v1,
     OWN(proc_v1)},
#ifdef QUOTA_LACKING
    {"cuCtxCreate_v4", "cuCtxCreate", 12050, false, true, ENTRIES, &driver.context, OWN(context)},
#endif
};

#define ROW_COUNT (sizeof rows / sizeof *rows)

#ifdef QUOTA_THUNKS
/* A jump to a function: movabs $function, %rax; jmp *%rax. The same one for the same function. */
static void *quota_thunk(void *function)
{
    static unsigned char *thunks;
    static void *targets[THUNK_COUNT];
    if (!thunks)
        thunks = mmap(NULL, (size_t)THUNK_SIZE * THUNK_COUNT, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t i = 0;
    while (i < THUNK_COUNT - 1 && targets[i] && targets[i] != function)
        i++;
    unsigned char *thunk = thunks + i * THUNK_SIZE;
    targets[i] = function;
    memcpy(thunk, "\x48\xb8", 2);
    memcpy(thunk + 2, &function, sizeof function);
    memcpy(thunk + 2 + sizeof function, "\xff\xe0", 2);
    return thunk;
}
#else
static void *quota_thunk(void *function)
{
    return function;
}
#endif

static void *quota_own(const struct row *row, void *found)
{
    void *own = NULL;
    memcpy(row->driver, &found, sizeof found);
    memcpy(&own, &row->own, sizeof own);
    return own;
}

void *quota_symbol(const char *symbol, void *found)
{
#ifdef QUOTA_LACKING
    bool lacking = true;
#else
    bool lacking = false;
#endif
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].by_symbol && (found || lacking) && strcmp(rows[i].symbol, symbol) == 0)
            return quota_thunk(quota_own(&rows[i], found));
    return found ? quota_thunk(found) : NULL;
}

/* What cuGetProcAddress answers: the newest form that is not newer than the version. */
static void *quota_answer(const char *name, void *found, int version, cuuint64_t flags)
{
    bool per_thread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const struct row *row = &rows[i];
        bool same = row->per_thread == per_thread || row->everywhere;
        if (strcmp(row->name, name) != 0 || version < row->since || !same)
            continue;
        void *own = quota_own(row, found);
#ifdef QUOTA_ONE_WRAPPER
        if (row->per_thread && !driver.async) /* what the one wrapper calls */
            memcpy(&driver.async, &found, sizeof found);
#endif
        return quota_thunk(own);
    }
    return quota_thunk(found);
}

static CUresult CUDAAPI proc_v1(const char *name, void **found, int version, cuuint64_t flags)
{
    CUresult result = driver.proc_v1(name, found, version, flags);
    if (result == CUDA_SUCCESS && *found)
        *found = quota_answer(name, *found, version, flags);
    return result;
}

static CUresult CUDAAPI proc_v2(const char *name, void **found, int version, cuuint64_t flags,
                                CUdriverProcAddressQueryResult *status)
{
    CUresult result = driver.proc_v2(name, found, version, flags, status);
    if (result == CUDA_SUCCESS && *found)
        *found = quota_answer(name, *found, version, flags);
    return result;
}

int quota_is_driver(const char *symbol)
{
    return strncmp(symbol, "cu", 2) == 0 && symbol[2] >= 'A' && symbol[2] <= 'Z';
}
