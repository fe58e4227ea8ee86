/* SPDX-License-Identifier: MIT */
/*
 * `cushim symbols --audit`: does cuGetProcAddress give what the library exports?
 *
 * Each entry of the driver's release is asked of cuGetProcAddress itself, with its own version and
 * kind of stream, and compared with the exported symbol.
 */
#include "command.h"
#include "driver.h"
#include "names.h"
#include "output.h"
#include "symbols.h"

#include <stdio.h>

/* cuGetProcAddress came with this release. */
enum { PROC_SINCE = 11030 };

struct routes {
    const struct cushim_api *proc;  /* whose cuGetProcAddress is asked */
    const struct cushim_api *dlsym; /* exported symbols alone */
};

struct pair {
    struct cushim_entry entry;
    struct cushim_slot proc;
    struct cushim_slot dlsym;
};

/* What the driver's own cuGetProcAddress answers about an entry. */
static struct cushim_slot ask(const struct cushim_api *cu, size_t index,
                              const struct cushim_entry *entry)
{
    struct cushim_slot slot = {.state = cushim_slot_at(cu, index).state};
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    cuuint64_t flags = entry->stream == CUSHIM_STREAM_LEGACY
                           ? CU_GET_PROC_ADDRESS_LEGACY_STREAM
                           : CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    void *found = NULL;
    if (entry->since > cushim_driver_version(cu))
        return slot;
    CUresult result =
        cushim_driver_version(cu) >= 12000
            ? cu->cuGetProcAddress_v2(entry->name, &found, entry->since, flags, &status)
            : cu->cuGetProcAddress_v1(entry->name, &found, entry->since, flags);
    if (result == CUDA_SUCCESS && status == CU_GET_PROC_ADDRESS_SUCCESS && found)
        return (struct cushim_slot){CUSHIM_STATE_AVAILABLE, CUSHIM_VIA_PROC, found};
    if (slot.state == CUSHIM_STATE_AVAILABLE)
        slot.state = CUSHIM_STATE_ABSENT;
    return slot;
}

/* How the routes disagree about an entry, in a few words; NULL where they agree. */
static const char *disagreement(const struct routes *routes, const struct pair *pair)
{
    if (cushim_driver_version(routes->proc) < PROC_SINCE ||
        pair->proc.address == pair->dlsym.address)
        return NULL;
    if (!pair->dlsym.address)
        return "only cuGetProcAddress has it";
    return pair->proc.address ? "different addresses"
                              : "exported, but cuGetProcAddress does not give it";
}

/* The next entry to compare, from *index on, which moves behind it; false at the end. */
static bool next_pair(const struct symbols_options *options, const struct routes *routes,
                      size_t *index, struct pair *pair)
{
    while (cushim_entry_at(*index, &pair->entry)) {
        pair->proc = ask(routes->proc, *index, &pair->entry);
        pair->dlsym = cushim_slot_at(routes->dlsym, *index);
        (*index)++;
        if (options->missing && pair->proc.state == CUSHIM_STATE_AVAILABLE &&
            pair->dlsym.state == CUSHIM_STATE_AVAILABLE)
            continue;
        if (symbols_wanted(options, &pair->entry))
            return true;
    }
    return false;
}

static json_t *route_json(const struct cushim_api *cu, const struct cushim_slot *slot)
{
    json_t *object = json_object();

    symbols_slot_json(object, cu, slot);
    return object;
}

static size_t audit_json(const struct symbols_options *options, const struct routes *routes)
{
    struct pair pair;
    json_t *root = json_object();
    json_t *differences = json_array();
    size_t compared = 0;
    size_t found;

    for (size_t i = 0; next_pair(options, routes, &i, &pair); compared++) {
        const char *reason = disagreement(routes, &pair);
        json_t *object;

        if (!reason)
            continue;
        object = symbols_entry_json(&pair.entry);
        output_json_set(object, "reason", json_string(reason));
        output_json_set(object, "proc", route_json(routes->proc, &pair.proc));
        output_json_set(object, "dlsym", route_json(routes->dlsym, &pair.dlsym));
        output_json_append(differences, object);
    }
    found = json_array_size(differences);
    output_json_set(root, "driver", driver_json(routes->proc));
    output_json_set(root, "compared", json_integer((json_int_t)compared));
    output_json_set(root, "differences", differences);
    output_json_print(root);
    return found;
}

static void add_row(struct output_table *table, const struct routes *routes,
                    const struct pair *pair, const char *reason)
{
    char since[VERSION_TEXT_SIZE], proc[OFFSET_TEXT_SIZE], dlsym[OFFSET_TEXT_SIZE];
    const char *by_proc = driver_offset(proc, routes->proc, &pair->proc);
    const char *by_dlsym = driver_offset(dlsym, routes->dlsym, &pair->dlsym);

    output_table_add(table, OUTPUT_PLAIN, pair->entry.symbol);
    output_table_add(table, OUTPUT_PLAIN, version_text(since, pair->entry.since));
    output_table_add(table, OUTPUT_PLAIN, by_proc ? by_proc : "-");
    output_table_add(table, OUTPUT_PLAIN, by_dlsym ? by_dlsym : "-");
    output_table_add(table, OUTPUT_BAD, reason);
}

static size_t audit_text(const struct symbols_options *options, const struct routes *routes)
{
    static const char *const titles[] = {"SYMBOL", "SINCE", "PROC", "DLSYM", "DIFFERENCE"};
    struct output_table table = {.columns = sizeof titles / sizeof titles[0]};
    struct pair pair;
    size_t compared = 0, found = 0;

    for (size_t i = 0; next_pair(options, routes, &i, &pair); compared++) {
        const char *reason = disagreement(routes, &pair);

        if (!reason)
            continue;
        for (size_t j = 0; found == 0 && j < table.columns; j++)
            output_table_add(&table, OUTPUT_TITLE, titles[j]);
        add_row(&table, routes, &pair, reason);
        found++;
    }

    driver_print(routes->proc);
    output_table_print(&table, "");
    if (cushim_status(routes->proc) != CUSHIM_OK)
        return found; /* stubs were compared with stubs */
    printf("%zu %s compared, %zu ", compared, compared == 1 ? "entry" : "entries", found);
    output_text(found == 0 ? OUTPUT_GOOD : OUTPUT_BAD, found == 1 ? "difference" : "differences");
    if (cushim_driver_version(routes->proc) < PROC_SINCE)
        printf(" (this driver has no cuGetProcAddress)");
    putchar('\n');
    return found;
}

int symbols_audit(const struct symbols_options *options)
{
    const struct cushim_api *proc = driver_open(options->driver, CUSHIM_ORDER_DEFAULT);
    const struct cushim_api *dlsym = driver_open(options->driver, CUSHIM_ORDER_SYMBOLS);
    struct routes routes = {proc, dlsym};
    int result = COMMAND_OK;

    if ((options->json ? audit_json : audit_text)(options, &routes) != 0)
        result = COMMAND_FAILED;
    if (!driver_found(proc, "cushim symbols"))
        result = COMMAND_NO_DRIVER;

    cushim_close(dlsym);
    cushim_close(proc);
    return result;
}
