/* SPDX-License-Identifier: MIT */
/*
 * `cushim symbols`: every entry of the registry, and what this driver has for it.
 */
#include "symbols.h"

#include "command.h"
#include "driver.h"
#include "names.h"
#include "output.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

static struct symbols_options given;
static const char *order; /* NULL: both routes */

static const struct option_row option_rows[] = {
    COMMAND_OPTION_DRIVER(given.driver),
    {.name = "missing", .flag = &given.missing, .doc = "Only entries that are not available"},
    {.name = "since",
     .release = &given.since,
     .value = "X.Y",
     .values = VALUES_RELEASES,
     .doc = "Only entries that this CUDA release or a later one introduced"},
    {.name = "name",
     .text = &given.glob,
     .value = "GLOB",
     .doc = "Only entries whose symbol or name matches, such as 'cuMem*'"},
    {.name = "order",
     .text = &order,
     .words = "both|symbols",
     .doc = "Routes to take: both (default), or the exported symbols alone, without "
            "cuGetProcAddress"},
    {.name = "audit",
     .flag = &given.audit,
     .doc = "List the entries for which the two routes disagree; exit 1 if there are any"},
    COMMAND_OPTION_JSON(given.json),
    {0},
};

static enum cushim_order order_asked(void)
{
    return order && strcmp(order, "symbols") == 0 ? CUSHIM_ORDER_SYMBOLS : CUSHIM_ORDER_DEFAULT;
}

bool symbols_wanted(const struct symbols_options *options, const struct cushim_entry *entry)
{
    if (entry->since < options->since)
        return false;
    return !options->glob || fnmatch(options->glob, entry->symbol, 0) == 0 ||
           fnmatch(options->glob, entry->name, 0) == 0;
}

json_t *symbols_entry_json(const struct cushim_entry *entry)
{
    json_t *object = json_object();

    output_json_set(object, "symbol", json_string(entry->symbol));
    output_json_set(object, "name", json_string(entry->name));
    output_json_set(object, "since", json_integer(entry->since));
    output_json_set(object, "stream", json_string(stream_name(entry->stream)));
    output_json_set(object, "header", json_string(entry->header));
    return object;
}

void symbols_slot_json(json_t *object, const struct cushim_api *cu, const struct cushim_slot *slot)
{
    char offset[OFFSET_TEXT_SIZE];

    output_json_set(object, "state", json_string(state_name(slot->state)));
    output_json_set(object, "via", json_string(via_name(slot->via)));
    output_json_set(object, "offset", output_json_text(driver_offset(offset, cu, slot)));
}

/* The next entry asked for, from *index on, which moves behind it; false at the end. */
static bool next_entry(const struct symbols_options *options, const struct cushim_api *cu,
                       size_t *index, struct cushim_entry *entry, struct cushim_slot *slot)
{
    while (cushim_entry_at(*index, entry)) {
        *slot = cushim_slot_at(cu, *index);
        (*index)++;
        if (options->missing && slot->state == CUSHIM_STATE_AVAILABLE)
            continue;
        if (symbols_wanted(options, entry))
            return true;
    }
    return false;
}

static void print_json(const struct symbols_options *options, const struct cushim_api *cu)
{
    struct cushim_entry entry;
    struct cushim_slot slot;
    json_t *root = json_object();
    json_t *symbols = json_array();

    for (size_t i = 0; next_entry(options, cu, &i, &entry, &slot);) {
        json_t *object = symbols_entry_json(&entry);
        symbols_slot_json(object, cu, &slot);
        output_json_append(symbols, object);
    }
    output_json_set(root, "driver", driver_json(cu));
    output_json_set(root, "symbols", symbols);
    output_json_print(root);
}

static enum output_style state_style(enum cushim_state state)
{
    switch (state) {
    case CUSHIM_STATE_AVAILABLE:
        return OUTPUT_GOOD;
    case CUSHIM_STATE_NEWER:
        return OUTPUT_WARNING;
    case CUSHIM_STATE_PLATFORM:
        return OUTPUT_DIM;
    default:
        return OUTPUT_BAD;
    }
}

static void print_text(const struct symbols_options *options, const struct cushim_api *cu)
{
    static const char *const titles[] = {"SYMBOL", "SINCE", "STREAM", "HEADER",
                                         "STATE",  "VIA",   "OFFSET"};
    struct output_table table = {.columns = sizeof titles / sizeof titles[0]};
    struct cushim_entry entry;
    struct cushim_slot slot;
    size_t shown = 0, available = 0;

    for (size_t i = 0; i < table.columns; i++)
        output_table_add(&table, OUTPUT_TITLE, titles[i]);
    for (size_t i = 0; next_entry(options, cu, &i, &entry, &slot); shown++) {
        char since[VERSION_TEXT_SIZE], text[OFFSET_TEXT_SIZE];
        const char *offset = driver_offset(text, cu, &slot);

        output_table_add(&table, OUTPUT_PLAIN, entry.symbol);
        output_table_add(&table, OUTPUT_PLAIN, version_text(since, entry.since));
        output_table_add(&table, OUTPUT_PLAIN, stream_name(entry.stream));
        output_table_add(&table, OUTPUT_PLAIN, entry.header);
        output_table_add(&table, state_style(slot.state), state_name(slot.state));
        output_table_add(&table, OUTPUT_PLAIN, via_name(slot.via));
        output_table_add(&table, OUTPUT_PLAIN, offset ? offset : "-");
        available += slot.state == CUSHIM_STATE_AVAILABLE;
    }

    driver_print(cu);
    output_table_print(&table, "");
    printf("%zu of %zu entries shown, %zu of these available\n", shown, cushim_entry_count(),
           available);
}

static int run(const char *title, char **words)
{
    /* Of an entry by its name the registry has the answer, and no driver was asked for. */
    bool by_name = given.glob && !given.driver && !given.missing, found;
    const struct cushim_api *cu;

    (void)words;
    if (given.audit && order)
        options_refuse("--audit compares two orders: --order does not go with it");
    if (given.audit)
        return symbols_audit(&given);

    cu = driver_open(given.driver, order_asked());
    found = by_name || driver_found(cu, title);
    if (given.json)
        print_json(&given, cu);
    else if (found || !given.missing || given.glob || given.since) /* else all are missing */
        print_text(&given, cu);
    cushim_close(cu);
    return found ? COMMAND_OK : COMMAND_NO_DRIVER;
}

const struct command command_symbols = {
    .name = "symbols",
    .summary = "every entry of the CUDA driver API, and why it is missing",
    .doc = "List every entry of the CUDA driver API: the release that introduced it, whether this "
           "driver has it, by which route it was found and where it lies in the library. Never "
           "touches the GPU.",
    .notes = "States:\n"
             "  available  the driver has it\n"
             "  newer      its release is newer than the driver\n"
             "  absent     the driver is new enough, but does not export it\n"
             "  platform   it exists on another platform only\n"
             "  no-driver  there is no driver at all\n"
             "With --name the releases are an answer, and having no driver is no failure.\n\n",
    .options = option_rows,
    .hint = "; names go behind --name",
    .run = run,
};
