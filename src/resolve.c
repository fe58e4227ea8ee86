/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "instance.h"
#include "unavailable.h"

typedef CUresult(CUDAAPI *proc_v1_fn)(const char *, void **, int, cuuint64_t);
typedef CUresult(CUDAAPI *proc_v2_fn)(const char *, void **, int, cuuint64_t,
                                      CUdriverProcAddressQueryResult *);

#define PROC_SINCE 11030 /* the first release that has it */

/* The driver's own look-up, in whichever form it has. */
struct proc {
    proc_v1_fn v1;
    proc_v2_fn v2;
    bool failed; /* it denied or contradicted an exported symbol */
};

#define FIRST_SLOT (sizeof(size_t) + sizeof(struct cushim_instance *))

static size_t slot_offset(size_t index)
{
    return FIRST_SLOT + index * sizeof(void (*)(void));
}

_Static_assert(sizeof(struct cushim_api) ==
                   FIRST_SLOT + CUSHIM_ENTRY_COUNT * sizeof(void (*)(void)),
               "after its two first members, the table is pointers, without a gap");

static void set_slot(struct cushim_instance *cu, size_t index, const void *pointer)
{
    memcpy((char *)&cu->own + slot_offset(index), pointer, sizeof(void *));
}

static const void *slot(const struct cushim_api *table, size_t index)
{
    return (const char *)table + slot_offset(index);
}

void *cushim_symbol(const struct cushim_instance *cu, const char *symbol)
{
    if (cu->resolver)
        return cu->resolver(cu->user, symbol);
    void *address;
    if (cushim_exports_find(&cu->exports, symbol, &address))
        return address;
    return cushim_platform_symbol(cu->handle, symbol);
}

static struct proc find_proc(const struct cushim_instance *cu, enum cushim_order order)
{
    struct proc proc = {NULL, NULL, false};
    if (order == CUSHIM_ORDER_DLSYM_ONLY || cu->driver_version < PROC_SINCE)
        return proc;
    void *v1 = cushim_symbol(cu, "cuGetProcAddress");
    void *v2 = cushim_symbol(cu, "cuGetProcAddress_v2");
    memcpy(&proc.v1, &v1, sizeof v1);
    memcpy(&proc.v2, &v2, sizeof v2);
    return proc;
}

/* The driver answers with the newest ABI that it has, up to the version. */
static void *ask(const struct proc *proc, const char *name, int version, bool per_thread)
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

static void *ask_entry(const struct proc *proc, const struct cushim_entry_data *entry)
{
    return ask(proc, cushim_strings + entry->name, entry->since,
               entry->stream != CUSHIM_STREAM_LEGACY);
}

void *cushim_ask(const struct cushim_instance *cu, const char *name, int version, bool per_thread)
{
    struct proc proc = find_proc(cu, cu->order);
    return ask(&proc, name, version, per_thread);
}

static bool is_elsewhere(const struct cushim_entry_data *entry)
{
    return entry->platform != CUSHIM_ANYWHERE && entry->platform != cushim_platform_id;
}

/*
 * The address of exactly one ABI symbol, or NULL; *via says which route gave it. What a library
 * exports is the truth. The driver's answer is compared with it where the name has several ABIs
 * and a wrong one would matter most, and wherever somebody else than the system answers for the
 * symbols; one contradiction, and the answers no longer count.
 */
static void *find(const struct cushim_instance *cu, size_t index, struct proc *proc,
                  enum cushim_order order, enum cushim_via *via)
{
    const struct cushim_entry_data *entry = &cushim_entries[index];
    /* An older driver would answer with an older ABI and call that a success. */
    bool can_ask =
        (proc->v1 || proc->v2) && cu->driver_version >= entry->since && !is_elsewhere(entry);
    bool ask_first = can_ask && order == CUSHIM_ORDER_PROC;
    void *asked = ask_first ? ask_entry(proc, entry) : NULL;
    *via = CUSHIM_VIA_PROC;
    if (asked && !entry->several && cu->exports.same_as_dlsym)
        return asked;
    void *exported = cushim_symbol(cu, cushim_strings + entry->symbol);
    if (asked && asked == exported)
        return asked;
    /* A caller's resolver may know little more than cuGetProcAddress itself. */
    if (!exported && cu->resolver && can_ask)
        return ask_first ? asked : ask_entry(proc, entry);
    proc->failed |= ask_first && exported;
    *via = CUSHIM_VIA_DLSYM;
    return exported;
}

static enum cushim_state missing_state(const struct cushim_instance *cu, size_t index)
{
    const struct cushim_entry_data *entry = &cushim_entries[index];
    if (is_elsewhere(entry))
        return CUSHIM_STATE_PLATFORM;
    return entry->since > cu->driver_version ? CUSHIM_STATE_NEWER : CUSHIM_STATE_ABSENT;
}

static void fill(struct cushim_instance *cu, size_t index, struct proc *proc,
                 enum cushim_order order)
{
    enum cushim_via via = CUSHIM_VIA_NONE;
    void *found = find(cu, index, proc, order, &via);
    if (found) {
        set_slot(cu, index, &found);
        cu->state[index] = CUSHIM_STATE_AVAILABLE;
        cu->via[index] = (uint8_t)via;
        return;
    }
    enum cushim_state state = missing_state(cu, index);
    cu->state[index] = (uint8_t)state;
    cu->via[index] = CUSHIM_VIA_NONE;
    set_slot(cu, index,
             slot(state == CUSHIM_STATE_NEWER ? &cushim_newer_api : &cushim_absent_api, index));
}

/* Legacy slots take their per-thread twins: all that the driver has, or none. */
static void use_twins(struct cushim_instance *cu)
{
    bool any = false;
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        size_t twin = cushim_entries[i].twin;
        if (twin == CUSHIM_NO_TWIN || cu->state[i] != CUSHIM_STATE_AVAILABLE)
            continue;
        any = true;
        if (cu->state[twin] != CUSHIM_STATE_AVAILABLE) {
            any = false;
            break;
        }
    }
    if (!any) {
        cu->remarks |= CUSHIM_REMARK_NO_PER_THREAD_STREAM;
        return;
    }
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        size_t twin = cushim_entries[i].twin;
        if (twin != CUSHIM_NO_TWIN && cu->state[i] == CUSHIM_STATE_AVAILABLE) {
            set_slot(cu, i, slot(&cu->own, twin));
            cu->via[i] = cu->via[twin];
        }
    }
}

void cushim_resolve(struct cushim_instance *cu, const struct cushim_options *options)
{
    struct proc proc = find_proc(cu, options->order);
    cu->order = options->order;
    cu->own.size = sizeof cu->own;
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT && !proc.failed; i++)
        fill(cu, i, &proc, options->order);
    if (proc.failed) {
        cu->remarks |= CUSHIM_REMARK_PROC_FAILED;
        cu->order = CUSHIM_ORDER_DLSYM_ONLY;
        proc = find_proc(cu, cu->order);
        for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++)
            fill(cu, i, &proc, cu->order);
    }
    if (cu->driver_version > CUSHIM_REGISTRY_VERSION)
        cu->remarks |= CUSHIM_REMARK_NEWER_THAN_REGISTRY;
    if (options->per_thread_default_stream)
        use_twins(cu);
}

struct cushim_slot cushim_slot_at(const struct cushim_api *api, size_t index)
{
    const struct cushim_instance *cu = api->instance;
    struct cushim_slot result = {CUSHIM_STATE_UNKNOWN, CUSHIM_VIA_NONE, NULL};
    if (index >= CUSHIM_ENTRY_COUNT)
        return result;
    if (!cu->driver_version) {
        result.state = CUSHIM_STATE_NO_DRIVER;
        return result;
    }
    result.state = (enum cushim_state)cu->state[index];
    result.via = (enum cushim_via)cu->via[index];
    if (result.state == CUSHIM_STATE_AVAILABLE)
        memcpy(&result.address, slot(&cu->own, index), sizeof result.address);
    return result;
}
