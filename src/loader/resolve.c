/* SPDX-License-Identifier: MIT */
#include "loader/resolve.h"

#include <string.h>

#include "loader/registry.h"
#include "loader/stubs.h"
#include "loader/table.h"

/* A table in the making; a slot is NULL until it is known to stay empty. */
struct resolve {
    struct cushim_resolution *result;
    const struct cushim_lookup *lookup;
};

static void *resolve_found(const struct resolve *work, size_t index)
{
    return cushim_table_slot(&work->result->table, index);
}

/* ---- an answer that several entries have */

/* Buckets for all addresses, by open addressing. Drivers' functions lie at equal distances, so the
 * product with the golden ratio spreads them. */
#define RESOLVE_BUCKET_BITS 11
#define RESOLVE_BUCKETS (1 << RESOLVE_BUCKET_BITS)
_Static_assert(CUSHIM_ENTRY_COUNT < RESOLVE_BUCKETS / 2, "buckets stay half empty");

/* Whether any two entries have one address. */
static bool resolve_has_contested(const struct resolve *work)
{
    uint16_t buckets[RESOLVE_BUCKETS] = {0}; /* of an index and 1 */
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        const void *found = resolve_found(work, i);
        if (!found)
            continue;
        uint64_t spread = (uint64_t)(uintptr_t)found * UINT64_C(0x9E3779B97F4A7C15);
        size_t at = (size_t)(spread >> (64 - RESOLVE_BUCKET_BITS));
        for (; buckets[at]; at = (at + 1) % RESOLVE_BUCKETS)
            if (resolve_found(work, buckets[at] - 1u) == found)
                return true;
        buckets[at] = (uint16_t)(i + 1);
    }
    return false;
}

/* Whether two entries are one ABI, for the legacy default stream and for each thread's. */
static bool resolve_are_twins(size_t one, size_t other)
{
    size_t legacy = cushim_registry_stream(one) == CUSHIM_STREAM_LEGACY ? one : other;
    return cushim_registry_has_twin(legacy) &&
           cushim_registry_twin(legacy) == (legacy == one ? other : one);
}

static bool resolve_are_of_one_name(size_t one, size_t other)
{
    char name[CUSHIM_SYMBOL_SIZE];
    return cushim_registry_is_name(other, cushim_registry_name(one, name));
}

/*
 * Whether an answer that is another entry's, too, is this entry's own. An exported function is its
 * symbol's alone. A driver that lacks an ABI answers with an older one. A hook often has one
 * function for all ABIs of a name and both default streams, and means the newest ABI that there is.
 * What names share is nobody's.
 *
 * @param symbol  what dlsym returns for the entry
 */
static bool resolve_is_own(const struct resolve *work, size_t index, const void *symbol)
{
    const void *answer = resolve_found(work, index);
    if (symbol == answer)
        return true;
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        if (i == index || resolve_found(work, i) != answer)
            continue;
        bool newer = cushim_registry_since(i) > cushim_registry_since(index);
        const void *other = cushim_lookup_symbol(work->lookup, i);
        bool own = resolve_are_twins(i, index)
                       ? symbol || cushim_registry_stream(index) == CUSHIM_STREAM_LEGACY
                       : resolve_are_of_one_name(i, index) && other != answer &&
                             (newer ? !other : !!symbol);
        if (!own)
            return false;
    }
    return true;
}

/* Real drivers have no answer that is two entries': ten were measured. */
static void resolve_settle(struct resolve *work)
{
    struct cushim_resolution *result = work->result;
    bool lost[CUSHIM_ENTRY_COUNT]; /* all are compared before the first one changes */
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++)
        lost[i] = result->via[i] == CUSHIM_VIA_PROC &&
                  !resolve_is_own(work, i, cushim_lookup_symbol(work->lookup, i));
    for (size_t i = CUSHIM_ENTRY_COUNT; i-- > 0;) {
        if (!lost[i])
            continue;
        void *symbol = cushim_lookup_symbol(work->lookup, i);
        cushim_table_set(&result->table, i, symbol);
        result->via[i] = symbol ? CUSHIM_VIA_DLSYM : CUSHIM_VIA_NONE;
    }
}

/* ---- the table */

/* Whether a legacy entry is there and has a twin. */
static bool resolve_has_twin(const struct cushim_resolution *result, size_t index)
{
    return cushim_registry_has_twin(index) && result->via[index] != CUSHIM_VIA_NONE;
}

/* Legacy slots take their per-thread twins: all that the driver has, or none. */
static void resolve_use_twins(struct cushim_resolution *result)
{
    bool any = false, all = true;
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++)
        if (resolve_has_twin(result, i)) {
            any = true;
            all = all && result->via[cushim_registry_twin(i)] != CUSHIM_VIA_NONE;
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

void cushim_resolve(struct cushim_resolution *resolution, const struct cushim_lookup *lookup,
                    bool per_thread_default_stream)
{
    struct resolve work = {resolution, lookup};
    resolution->table.size = sizeof resolution->table;
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT && lookup->version; i++) {
        enum cushim_via via;
        cushim_table_set(&resolution->table, i, cushim_lookup_entry(lookup, i, &via));
        resolution->via[i] = (uint8_t)via;
    }
    if (lookup->version && resolve_has_contested(&work))
        resolve_settle(&work);
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++)
        if (resolution->via[i] == CUSHIM_VIA_NONE)
            cushim_stubs_set(&resolution->table, i, cushim_stubs_missing(lookup->version, i));
    cushim_stubs_answer(&resolution->table);
    if (lookup->version > CUSHIM_REGISTRY_VERSION)
        resolution->remarks |= CUSHIM_REMARK_NEWER_THAN_REGISTRY;
    if (lookup->interposed)
        resolution->remarks |= CUSHIM_REMARK_INTERPOSED;
    if (lookup->version && per_thread_default_stream)
        resolve_use_twins(resolution);
}
