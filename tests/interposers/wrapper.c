/* SPDX-License-Identifier: MIT */
/*
 * Stand-in, found in place of the driver: it exports WRAPPER_ROWS, and reaches the driver at
 * INTERPOSED_DRIVER.
 *
 *   WRAPPER_NAMESPACE  the driver is in a namespace of its own (dlmopen)
 *   WRAPPER_PASSES     its cuGetProcAddress is the driver's, and knows nothing of the wrapper
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <cushim/cushim.h>

#include "quota.h"

/* Each exported function jumps to its target. The two arrays are in the rows' order. */
extern __attribute__((visibility("hidden"))) void *wrapper_targets[];
extern __attribute__((visibility("hidden"))) void *const wrapper_exports[];
__asm__(".pushsection .data.rel.ro, \"aw\"\n"
        ".globl wrapper_exports\n.hidden wrapper_exports\n.balign 8\nwrapper_exports:\n"
        ".popsection");
#define ROW(index, symbol)                                                                         \
    __asm__(".pushsection .text\n.globl " #symbol "\n.type " #symbol ", @function\n"               \
            ".Lrow" #index ":\n" #symbol ":\njmp *wrapper_targets + 8 * " #index "(%rip)\n"        \
            ".popsection\n.pushsection .data.rel.ro, \"aw\"\n.quad .Lrow" #index "\n.popsection");
#include WRAPPER_ROWS
#undef ROW

static const char *const symbols[] = {
#define ROW(index, symbol) #symbol,
#include WRAPPER_ROWS
};
#define ROW_COUNT (sizeof symbols / sizeof *symbols)

void *wrapper_targets[ROW_COUNT];
static void *originals[ROW_COUNT]; /* the driver's functions */

#ifndef WRAPPER_PASSES
/* The quota's cuGetProcAddress, with the driver's behind it. */
static CUresult(CUDAAPI *driver_proc_v1)(const char *, void **, int, cuuint64_t);
static CUresult(CUDAAPI *driver_proc_v2)(const char *, void **, int, cuuint64_t,
                                         CUdriverProcAddressQueryResult *);

/* The answer, or the wrapper's own function where the answer is the driver's. */
static void *wrapper_own(void *found)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (found && originals[i] == found)
            return wrapper_exports[i];
    return found;
}

static CUresult CUDAAPI proc_v1(const char *name, void **found, int version, cuuint64_t flags)
{
    CUresult result = driver_proc_v1(name, found, version, flags);
    if (result == CUDA_SUCCESS)
        *found = wrapper_own(*found);
    return result;
}

static CUresult CUDAAPI proc_v2(const char *name, void **found, int version, cuuint64_t flags,
                                CUdriverProcAddressQueryResult *status)
{
    CUresult result = driver_proc_v2(name, found, version, flags, status);
    if (result == CUDA_SUCCESS)
        *found = wrapper_own(*found);
    return result;
}

#endif

/* What an exported function jumps to: the quota's function, or the driver's. */
static void *wrapper_target(const char *symbol, void *found)
{
    void *target = quota_symbol(symbol, found);
#ifdef WRAPPER_PASSES
    return strncmp(symbol, "cuGetProcAddress", strlen("cuGetProcAddress")) == 0 ? found : target;
#else
    __typeof__(proc_v1) *v1 = proc_v1;
    __typeof__(proc_v2) *v2 = proc_v2;
    if (found && strcmp(symbol, "cuGetProcAddress") == 0) {
        memcpy(&driver_proc_v1, &target, sizeof target);
        memcpy(&target, &v1, sizeof v1);
    } else if (found && strcmp(symbol, "cuGetProcAddress_v2") == 0) {
        memcpy(&driver_proc_v2, &target, sizeof target);
        memcpy(&target, &v2, sizeof v2);
    }
    return target;
#endif
}

__attribute__((constructor)) static void wrapper_open(void)
{
    const char *path = getenv("INTERPOSED_DRIVER");
#ifdef WRAPPER_NAMESPACE
    void *driver = dlmopen(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL);
#else
    void *driver = dlopen(path, RTLD_NOW | RTLD_LOCAL);
#endif
    for (size_t i = 0; driver && i < ROW_COUNT; i++) {
        originals[i] = dlsym(driver, symbols[i]);
        wrapper_targets[i] = wrapper_target(symbols[i], originals[i]);
    }
}
