/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "instance.h"

/* The ABI that a question means: the newest of the name up to the version. */
struct wanted {
    const char *name;
    int version;
    bool per_thread;
    size_t entry; /* CUSHIM_ENTRY_COUNT: the registry does not know the name so early */
    bool known;   /* the registry has the name at all */
};

static bool is_of(size_t index, const struct wanted *wanted, bool per_thread)
{
    const struct cushim_entry_data *entry = &cushim_entries[index];
    return (entry->stream != CUSHIM_STREAM_LEGACY) == per_thread &&
           strcmp(cushim_strings + entry->name, wanted->name) == 0;
}

static void find_entry(struct wanted *wanted, bool per_thread)
{
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        if (!is_of(i, wanted, per_thread))
            continue;
        wanted->known = true;
        int since = cushim_entries[i].since;
        bool newer =
            wanted->entry == CUSHIM_ENTRY_COUNT || since > cushim_entries[wanted->entry].since;
        if (since <= wanted->version && newer)
            wanted->entry = i;
    }
}

/* The entry's own address: a plain slot of a per-thread instance holds its twin's. */
static void *address_of(const struct cushim_api *cu, size_t index)
{
    void *exported = cushim_symbol(cu->instance, cushim_entry_symbol(index));
    return exported ? exported : cushim_slot_at(cu, index).address;
}

/* Whether an address is that of an entry that the registry knows, and that was not asked for. */
static bool is_other_entry(const struct cushim_api *cu, const struct wanted *wanted,
                           const void *address)
{
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++)
        if (i != wanted->entry && address_of(cu, i) == address)
            return true;
    return false;
}

static void *refuse(const struct cushim_api *cu, const struct wanted *wanted,
                    enum cushim_proc_status status, enum cushim_proc_status *why)
{
    int asked = wanted->version, have = cu->instance->driver_version;
    *why = status;
    if (status == CUSHIM_PROC_NO_DRIVER)
        cushim_set_last_error("%s is not available: %s", wanted->name, cushim_message(cu));
    else if (wanted->entry < CUSHIM_ENTRY_COUNT)
        cushim_set_last_error("%s", cushim_reason(cu, cushim_entry_symbol(wanted->entry), NULL));
    else
        cushim_set_last_error("%s is not available as of CUDA %d.%d: the driver, of CUDA %d.%d, "
                              "does not have it",
                              wanted->name, asked / 1000, asked % 1000 / 10, have / 1000,
                              have % 1000 / 10);
    return NULL;
}

/* Ask the driver about what the registry cannot know. */
static void *ask_beyond(const struct cushim_api *cu, const struct wanted *wanted,
                        enum cushim_proc_status *why)
{
    void *found = cushim_ask(cu->instance, wanted->name, wanted->version, wanted->per_thread);
    if (!found)
        return refuse(cu, wanted, CUSHIM_PROC_NOT_FOUND, why);
    bool exact =
        wanted->entry < CUSHIM_ENTRY_COUNT && cushim_slot_at(cu, wanted->entry).address == found;
    if (!exact && is_other_entry(cu, wanted, found))
        return refuse(cu, wanted, wanted->known ? CUSHIM_PROC_NEWER : CUSHIM_PROC_NOT_FOUND, why);
    *why = exact ? CUSHIM_PROC_EXACT : CUSHIM_PROC_UNVERIFIED;
    return found;
}

void *cushim_proc(const struct cushim_api *cu, const char *name, int version,
                  enum cushim_stream stream, enum cushim_proc_status *why)
{
    enum cushim_proc_status ignored;
    struct wanted wanted = {name, version, stream != CUSHIM_STREAM_LEGACY, CUSHIM_ENTRY_COUNT,
                            false};
    why = why ? why : &ignored;
    if (!cu->instance->driver_version)
        return refuse(cu, &wanted, CUSHIM_PROC_NO_DRIVER, why);
    if (wanted.per_thread)
        find_entry(&wanted, true);
    if (wanted.entry == CUSHIM_ENTRY_COUNT)
        find_entry(&wanted, false);
    /* All ABIs of a driver that is no newer than the registry are in the registry. */
    bool told = version <= CUSHIM_REGISTRY_VERSION ||
                cu->instance->driver_version <= CUSHIM_REGISTRY_VERSION;
    if (!wanted.known || !told)
        return ask_beyond(cu, &wanted, why);
    enum cushim_state state = cushim_slot_at(cu, wanted.entry).state;
    if (state == CUSHIM_STATE_NEWER)
        return refuse(cu, &wanted, CUSHIM_PROC_NEWER, why);
    if (state != CUSHIM_STATE_AVAILABLE)
        return refuse(cu, &wanted, CUSHIM_PROC_NOT_FOUND, why);
    *why = CUSHIM_PROC_EXACT;
    return address_of(cu, wanted.entry);
}
