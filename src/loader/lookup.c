/* SPDX-License-Identifier: MIT */
#include "loader/lookup.h"

#include <string.h>

#include "loader/registry.h"
#include "loader/table.h"

#define PROC_V1_SINCE 11030
#define PROC_V2_SINCE 12000

static void lookup_set_v1(struct cushim_lookup *lookup)
{
    void *found = cushim_dylib_symbol(lookup->library, "cuGetProcAddress");
    memcpy(&lookup->proc_v1, &found, sizeof found);
}

static void lookup_set_v2(struct cushim_lookup *lookup)
{
    void *found = cushim_dylib_symbol(lookup->library, "cuGetProcAddress_v2");
    memcpy(&lookup->proc_v2, &found, sizeof found);
}

void *cushim_lookup_version(const struct cushim_dylib *library)
{
    void *found = cushim_dylib_symbol(library, "cuDriverGetVersion");
    if (found)
        return found;
    struct cushim_lookup lookup = {.library = library};
    lookup_set_v1(&lookup);
    if (!lookup.proc_v1)
        lookup_set_v2(&lookup);
    return cushim_lookup_ask(&lookup, "cuDriverGetVersion", PROC_V1_SINCE, false);
}

/* Entries of which a tool hooks some if it hooks any. Every driver has the first few, from their
 * release on. */
static const uint16_t lookup_core[] = {CUSHIM_INDEX(cuInit),         CUSHIM_INDEX(cuDeviceGetCount),
                                       CUSHIM_INDEX(cuGetErrorName), CUSHIM_INDEX(cuDeviceGet),
                                       CUSHIM_INDEX(cuMemAlloc_v2),  CUSHIM_INDEX(cuLaunchKernel)};
enum { LOOKUP_LEAST = 3, LOOKUP_CORE = sizeof lookup_core / sizeof *lookup_core };

static bool lookup_is_there(const struct cushim_lookup *lookup, size_t index)
{
    return cushim_registry_since(index) <= lookup->version && !cushim_registry_is_elsewhere(index);
}

static void *lookup_ask_entry(const struct cushim_lookup *lookup, size_t index)
{
    if (!lookup->proc_v1 && !lookup->proc_v2)
        return NULL;
    char name[CUSHIM_SYMBOL_SIZE];
    return cushim_lookup_ask(lookup, cushim_registry_name(index, name),
                             cushim_registry_since(index),
                             cushim_registry_stream(index) != CUSHIM_STREAM_LEGACY);
}

static bool lookup_is_own(const struct cushim_lookup *lookup)
{
    const void *proc;
    if (lookup->proc_v2)
        memcpy(&proc, &lookup->proc_v2, sizeof proc);
    else
        memcpy(&proc, &lookup->proc_v1, sizeof proc);
    return cushim_dylib_has(lookup->library, proc);
}

/* Whether the driver's answer is not the entry's symbol, which may be missing unless `exported`. */
static bool lookup_differs(const struct cushim_lookup *lookup, size_t index, bool exported)
{
    const void *asked = lookup_is_there(lookup, index) ? lookup_ask_entry(lookup, index) : NULL;
    const void *symbol = asked ? cushim_lookup_symbol(lookup, index) : NULL;
    return asked != symbol && (symbol || exported);
}

/* A look-up that is in the library itself, and gives what the library exports, is the driver's. All
 * entries are compared if another than the system finds what the library exports. */
static bool lookup_is_interposed(const struct cushim_lookup *lookup)
{
    if (!lookup->proc_v1 && !lookup->proc_v2)
        return false;
    bool interposed = !lookup_is_own(lookup);
    for (size_t i = 0; i < LOOKUP_CORE && !interposed; i++)
        interposed = lookup_differs(lookup, lookup_core[i], true);
    if (!interposed && cushim_dylib_is_hooked(lookup->library))
        for (size_t i = 0; i < CUSHIM_ENTRY_COUNT && !interposed; i++)
            interposed = lookup_differs(lookup, i, false);
    return interposed;
}

/* The driver is where the first entry is that both routes agree about. Else the library stands
 * before the driver and passes its look-up on: the driver is where an answer without a symbol is,
 * or any answer of the library's own look-up. */
static const void *lookup_find_driver(const struct cushim_lookup *lookup)
{
    const void *unnamed = NULL, *any = NULL;
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        const void *asked = lookup_is_there(lookup, i) ? lookup_ask_entry(lookup, i) : NULL;
        const void *symbol = asked ? cushim_lookup_symbol(lookup, i) : NULL;
        if (asked && asked == symbol)
            return cushim_platform_object(asked);
        if (asked && !symbol && !unnamed)
            unnamed = asked;
        any = any ? any : asked;
    }
    if (!unnamed && lookup_is_own(lookup))
        unnamed = any;
    return unnamed ? cushim_platform_object(unnamed) : NULL;
}

void cushim_lookup_start(struct cushim_lookup *lookup, const struct cushim_dylib *library,
                         int version, enum cushim_order order)
{
    *lookup = (struct cushim_lookup){.library = library, .version = version};
    if (order == CUSHIM_ORDER_SYMBOLS)
        return;
    if (version >= PROC_V2_SINCE)
        lookup_set_v2(lookup);
    if (version >= PROC_V1_SINCE && !lookup->proc_v2)
        lookup_set_v1(lookup);
    lookup->interposed = lookup_is_interposed(lookup);
    if (lookup->interposed)
        lookup->driver = lookup_find_driver(lookup);
}

void *cushim_lookup_ask(const struct cushim_lookup *lookup, const char *name, int version,
                        bool per_thread)
{
    cuuint64_t flags = per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                  : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    void *found = NULL;
    if (lookup->proc_v2) {
        CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
        CUresult result = lookup->proc_v2(name, &found, version, flags, &status);
        return result == CUDA_SUCCESS && status == CU_GET_PROC_ADDRESS_SUCCESS ? found : NULL;
    }
    if (lookup->proc_v1 && lookup->proc_v1(name, &found, version, flags) == CUDA_SUCCESS)
        return found;
    return NULL;
}

void *cushim_lookup_symbol(const struct cushim_lookup *lookup, size_t index)
{
    char symbol[CUSHIM_SYMBOL_SIZE];
    return cushim_dylib_symbol(lookup->library, cushim_registry_symbol(index, symbol));
}

void *cushim_lookup_entry(const struct cushim_lookup *lookup, size_t index, enum cushim_via *via)
{
    *via = CUSHIM_VIA_NONE;
    if (!lookup_is_there(lookup, index))
        return NULL;
    void *asked = lookup_ask_entry(lookup, index);
    void *symbol = asked && !lookup->interposed ? NULL : cushim_lookup_symbol(lookup, index);
    /* Of two different answers, the driver's own is not the tool's. */
    if (asked && symbol && asked != symbol && lookup->driver &&
        cushim_platform_object(asked) == lookup->driver)
        asked = NULL;
    if (asked || symbol)
        *via = asked ? CUSHIM_VIA_PROC : CUSHIM_VIA_DLSYM;
    return asked ? asked : symbol;
}

size_t cushim_lookup_lacks(const struct cushim_lookup *lookup)
{
    for (size_t i = 0; i < LOOKUP_LEAST; i++) {
        enum cushim_via via;
        if (lookup_is_there(lookup, lookup_core[i]) &&
            !cushim_lookup_entry(lookup, lookup_core[i], &via))
            return lookup_core[i];
    }
    return CUSHIM_ENTRY_COUNT;
}
