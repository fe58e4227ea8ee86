/* SPDX-License-Identifier: MIT */
#include "loader/instance.h"
#include "loader/last_error.h"
#include "loader/registry.h"

/* The ABI that a question means: the newest of the name up to the version. */
struct proc_wanted {
    const char *name;
    int version;
    bool per_thread;
    size_t entry; /* CUSHIM_ENTRY_COUNT: the registry does not know the name so early */
    int first;    /* the name's first release; 0: the registry does not have it at all */
};

static bool proc_is_of(size_t index, const struct proc_wanted *wanted, bool per_thread)
{
    return (cushim_registry_stream(index) != CUSHIM_STREAM_LEGACY) == per_thread &&
           cushim_registry_is_name(index, wanted->name);
}

CUSHIM_COLD static void proc_find_entry(struct proc_wanted *wanted, bool per_thread)
{
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        if (!proc_is_of(i, wanted, per_thread))
            continue;
        int since = cushim_registry_since(i);
        wanted->first = wanted->first && wanted->first < since ? wanted->first : since;
        bool newer =
            wanted->entry == CUSHIM_ENTRY_COUNT || since > cushim_registry_since(wanted->entry);
        if (since <= wanted->version && newer)
            wanted->entry = i;
    }
}

/* The entry's own address: a plain slot of a per-thread instance holds its twin's. */
static void *proc_address_of(const struct cushim_api *cu, size_t index)
{
    enum cushim_via via;
    if (cu->instance->uses_twins && cushim_registry_has_twin(index))
        return cushim_lookup_entry(&cu->instance->found.lookup, index, &via);
    return cushim_slot_at(cu, index).address;
}

/* Whether an address is that of an entry that the registry knows, and that was not asked for. */
static bool proc_is_other_entry(const struct cushim_api *cu, const struct proc_wanted *wanted,
                                const void *address)
{
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++)
        if (i != wanted->entry && proc_address_of(cu, i) == address)
            return true;
    return false;
}

CUSHIM_COLD static void *proc_refuse(const struct cushim_api *cu, const struct proc_wanted *wanted,
                                     enum cushim_proc_status status, enum cushim_proc_status *why)
{
    char symbol[CUSHIM_SYMBOL_SIZE], text[CUSHIM_SENTENCE];
    int asked = wanted->version, have = cushim_driver_version(cu);
    *why = status;
    if (status == CUSHIM_PROC_NO_DRIVER)
        cushim_last_error_set("%s is not available: %s", wanted->name, cushim_message(cu));
    else if (wanted->entry < CUSHIM_ENTRY_COUNT)
        cushim_last_error_set("%s", cushim_reason(cu, cushim_registry_symbol(wanted->entry, symbol),
                                                  NULL, text, sizeof text));
    else if (wanted->first > asked)
        cushim_last_error_set("%s is not available as of CUDA %d.%d: it came with CUDA %d.%d",
                              wanted->name, CUSHIM_RELEASE(asked), CUSHIM_RELEASE(wanted->first));
    else
        cushim_last_error_set("%s is not available as of CUDA %d.%d: the driver, of CUDA %d.%d, "
                              "does not have it",
                              wanted->name, CUSHIM_RELEASE(asked), CUSHIM_RELEASE(have));
    return NULL;
}

/* Ask the driver about what the registry cannot know. */
static void *proc_ask_beyond(const struct cushim_api *cu, const struct proc_wanted *wanted,
                             enum cushim_proc_status *why)
{
    void *found = cushim_lookup_ask(&cu->instance->found.lookup, wanted->name, wanted->version,
                                    wanted->per_thread);
    if (!found)
        return proc_refuse(cu, wanted, CUSHIM_PROC_NOT_FOUND, why);
    bool exact = cushim_slot_at(cu, wanted->entry).address == found;
    if (!exact && proc_is_other_entry(cu, wanted, found))
        return proc_refuse(cu, wanted, wanted->first ? CUSHIM_PROC_NEWER : CUSHIM_PROC_NOT_FOUND,
                           why);
    *why = exact ? CUSHIM_PROC_EXACT : CUSHIM_PROC_UNVERIFIED;
    return found;
}

CUSHIM_COLD void *cushim_proc(const struct cushim_api *cu, const char *name, int version,
                              enum cushim_stream stream, enum cushim_proc_status *why)
{
    enum cushim_proc_status ignored;
    struct proc_wanted wanted = {name, version, stream != CUSHIM_STREAM_LEGACY, CUSHIM_ENTRY_COUNT,
                                 0};
    why = why ? why : &ignored;
    if (!cu || !name) {
        cushim_last_error_set("cushim_proc: the %s is NULL", cu ? "name" : "table");
        *why = CUSHIM_PROC_NOT_FOUND;
        return NULL;
    }
    if (!cushim_driver_version(cu))
        return proc_refuse(cu, &wanted, CUSHIM_PROC_NO_DRIVER, why);
    if (wanted.per_thread)
        proc_find_entry(&wanted, true);
    if (wanted.entry == CUSHIM_ENTRY_COUNT)
        proc_find_entry(&wanted, false);
    /* All ABIs of a driver that is no newer than the registry are in the registry. */
    bool told =
        version <= CUSHIM_REGISTRY_VERSION || cushim_driver_version(cu) <= CUSHIM_REGISTRY_VERSION;
    if (!wanted.first || !told)
        return proc_ask_beyond(cu, &wanted, why);
    enum cushim_state state = cushim_slot_at(cu, wanted.entry).state;
    if (state == CUSHIM_STATE_NEWER)
        return proc_refuse(cu, &wanted, CUSHIM_PROC_NEWER, why);
    if (state != CUSHIM_STATE_AVAILABLE)
        return proc_refuse(cu, &wanted, CUSHIM_PROC_NOT_FOUND, why);
    *why = CUSHIM_PROC_EXACT;
    return proc_address_of(cu, wanted.entry);
}
