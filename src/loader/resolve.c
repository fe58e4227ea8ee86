/* SPDX-License-Identifier: MIT */
#include "loader/resolve.h"

#include <string.h>

#include "loader/registry.h"
#include "loader/stubs.h"
#include "loader/table.h"

typedef CUresult(CUDAAPI *proc_v1_fn)(const char *, void **, int, cuuint64_t);
typedef CUresult(CUDAAPI *proc_v2_fn)(const char *, void **, int, cuuint64_t,
                                      CUdriverProcAddressQueryResult *);

#define PROC_SINCE 11030 /* the first release that has it */

/* The driver's own look-up, in whichever form it has. */
struct resolve_proc {
    proc_v1_fn v1;
    proc_v2_fn v2;
};

/* A table in the making. */
struct resolve {
    struct cushim_resolution *result;
    const struct cushim_shared_library *library;
    int version;
    enum cushim_order order;
    struct resolve_proc proc;
    void *exported[CUSHIM_ENTRY_COUNT];
};

static struct resolve_proc resolve_find_proc(const struct cushim_shared_library *library,
                                             int version)
{
    struct resolve_proc proc = {NULL, NULL};
    if (version < PROC_SINCE)
        return proc;
    void *v1 = cushim_library_symbol(library, "cuGetProcAddress");
    void *v2 = cushim_library_symbol(library, "cuGetProcAddress_v2");
    if (cushim_library_is_function(library, v1))
        memcpy(&proc.v1, &v1, sizeof v1);
    if (cushim_library_is_function(library, v2))
        memcpy(&proc.v2, &v2, sizeof v2);
    return proc;
}

/* The driver answers with the newest ABI that it has, up to the version. */
static void *resolve_ask(const struct resolve_proc *proc, const char *name, int version,
                         bool per_thread)
{
    cuuint64_t flags = per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                  : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    void *found = NULL;
    if (proc->v2) {
        CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
        CUresult result = proc->v2(name, &found, version, flags, &status);
        return result == CUDA_SUCCESS && status == CU_GET_PROC_ADDRESS_SUCCESS ? found : NULL;
    }
    if (proc->v1 && proc->v1(name, &found, version, flags) == CUDA_SUCCESS)
        return found;
    return NULL;
}

void *cushim_resolve_ask(const struct cushim_shared_library *library, int driver_version,
                         const char *name, int version, bool per_thread)
{
    struct resolve_proc proc = resolve_find_proc(library, driver_version);
    return resolve_ask(&proc, name, version, per_thread);
}

/* Whether the order asks about an entry. An older driver would answer with an older ABI and call
 * that a success, so it is not asked. */
static bool resolve_asks(const struct resolve *work, size_t index)
{
    if ((!work->proc.v1 && !work->proc.v2) || work->order == CUSHIM_ORDER_DLSYM_ONLY ||
        cushim_registry_since(index) > work->version || cushim_registry_is_elsewhere(index))
        return false;
    if (!work->exported[index] || work->order == CUSHIM_ORDER_PROC)
        return true;
    return work->order == CUSHIM_ORDER_DEFAULT &&
           (cushim_entries[index].flags & (CUSHIM_ENTRY_SEVERAL | CUSHIM_ENTRY_TWIN) ||
            cushim_registry_stream(index) != CUSHIM_STREAM_LEGACY);
}

static bool resolve_is_exported(const struct resolve *work, const void *address)
{
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++)
        if (work->exported[i] == address)
            return true;
    return false;
}

/*
 * The address of exactly one ABI symbol, or NULL; *via is the route that gave it. What a library
 * exports is the truth, and every answer of the driver is compared with it. An answer about what
 * it does not export counts if it is code, and no other entry's.
 */
static void *resolve_find(struct resolve *work, size_t index, enum cushim_via *via)
{
    char name[CUSHIM_SYMBOL_SIZE];
    void *exported = work->exported[index], *asked = NULL;
    *via = exported ? CUSHIM_VIA_DLSYM : CUSHIM_VIA_NONE;
    if (!resolve_asks(work, index))
        return exported;
    asked =
        resolve_ask(&work->proc, cushim_registry_name(index, name), cushim_registry_since(index),
                    cushim_registry_stream(index) != CUSHIM_STREAM_LEGACY);
    bool older = asked && !exported && resolve_is_exported(work, asked); /* as all drivers do */
    bool good = exported ? asked == exported : asked && !older && cushim_platform_is_code(asked);
    if (good) {
        *via = CUSHIM_VIA_PROC;
    } else if ((exported || (asked && !older)) &&
               !(work->result->remarks & CUSHIM_REMARK_PROC_FAILED)) {
        work->result->remarks |= CUSHIM_REMARK_PROC_FAILED;
        work->result->denied = index;
    }
    return good ? asked : exported;
}

static enum cushim_state resolve_missing(const struct resolve *work, size_t index)
{
    if (!work->version)
        return CUSHIM_STATE_NO_DRIVER;
    if (cushim_registry_is_elsewhere(index))
        return CUSHIM_STATE_PLATFORM;
    return cushim_registry_since(index) > work->version ? CUSHIM_STATE_NEWER : CUSHIM_STATE_ABSENT;
}

static void resolve_entry(struct resolve *work, size_t index)
{
    enum cushim_via via = CUSHIM_VIA_NONE;
    void *found = work->version ? resolve_find(work, index, &via) : NULL;
    if (found)
        cushim_table_set(&work->result->table, index, found);
    work->result->state[index] =
        (uint8_t)(found ? CUSHIM_STATE_AVAILABLE : resolve_missing(work, index));
    work->result->via[index] = (uint8_t)via;
}

static bool resolve_is_unconfirmed(const struct resolve *work, size_t index)
{
    return !work->exported[index] && work->result->state[index] == CUSHIM_STATE_AVAILABLE;
}

/* One function for two entries that nothing else confirms is wrong for one of them at least. */
static void resolve_compare_unconfirmed(const struct resolve *work)
{
    for (size_t i = 1; i < CUSHIM_ENTRY_COUNT; i++)
        for (size_t j = 0; resolve_is_unconfirmed(work, i) && j < i; j++)
            if (resolve_is_unconfirmed(work, j) && cushim_table_slot(&work->result->table, i) ==
                                                       cushim_table_slot(&work->result->table, j)) {
                work->result->remarks |= CUSHIM_REMARK_PROC_FAILED;
                work->result->denied = i;
                return;
            }
}

/* A look-up that was wrong once is not believed about what nothing else confirms. */
static void resolve_withdraw(const struct resolve *work)
{
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++)
        if (resolve_is_unconfirmed(work, i)) {
            work->result->state[i] = (uint8_t)resolve_missing(work, i);
            work->result->via[i] = CUSHIM_VIA_NONE;
        }
}

static enum cushim_state resolve_state(const void *user, size_t index)
{
    const struct cushim_resolution *result = user;
    return (enum cushim_state)result->state[index];
}

/* Whether a legacy entry is there and has a twin. */
static bool resolve_has_twin(const struct cushim_resolution *result, size_t index)
{
    return cushim_entries[index].flags & CUSHIM_ENTRY_TWIN &&
           result->state[index] == CUSHIM_STATE_AVAILABLE;
}

/* Legacy slots take their per-thread twins: all that the driver has, or none. */
static void resolve_use_twins(struct cushim_resolution *result)
{
    bool any = false, all = true;
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++)
        if (resolve_has_twin(result, i)) {
            any = true;
            all = all && result->state[cushim_registry_twin(i)] == CUSHIM_STATE_AVAILABLE;
        }
    if (!any || !all) {
        result->remarks |= CUSHIM_REMARK_NO_PER_THREAD_STREAM;
        return;
    }
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++)
        if (resolve_has_twin(result, i)) {
            size_t twin = cushim_registry_twin(i);
            cushim_table_set(&result->table, i, cushim_table_slot(&result->table, twin));
            result->via[i] = result->via[twin];
        }
}

void cushim_resolve(struct cushim_resolution *resolution,
                    const struct cushim_shared_library *library, int version,
                    const struct cushim_options *options)
{
    struct resolve work = {resolution, library, version, options->order, {NULL, NULL}, {NULL}};
    resolution->table.size = sizeof resolution->table;
    if (version) {
        cushim_library_exports(library, work.exported);
        work.proc = resolve_find_proc(library, version);
    }
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++)
        resolve_entry(&work, i);
    if (!(resolution->remarks & CUSHIM_REMARK_PROC_FAILED))
        resolve_compare_unconfirmed(&work);
    if (resolution->remarks & CUSHIM_REMARK_PROC_FAILED)
        resolve_withdraw(&work);
    cushim_stubs_fill(&resolution->table, resolve_state, resolution);
    if (version > CUSHIM_REGISTRY_VERSION)
        resolution->remarks |= CUSHIM_REMARK_NEWER_THAN_REGISTRY;
    if (version && options->per_thread_default_stream)
        resolve_use_twins(resolution);
}
