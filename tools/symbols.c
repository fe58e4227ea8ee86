/* SPDX-License-Identifier: MIT */
/*
 * `cushim symbols`: every entry of the registry, and what this driver has for it.
 */
#include "symbols.h"

#include "command.h"
#include "driver.h"
#include "names.h"
#include "output.h"

#include <argp.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

static enum cushim_order parse_order(const char *argument, struct argp_state *state)
{
    if (strcmp(argument, "both") == 0)
        return CUSHIM_ORDER_DEFAULT;
    if (strcmp(argument, "symbols") == 0)
        return CUSHIM_ORDER_SYMBOLS;
    argp_error(state, "no order '%s'; there are both and symbols", argument);
    return CUSHIM_ORDER_DEFAULT;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct symbols_options *options = state->input;

    switch (key) {
    case 'd':
        options->driver = argument;
        return 0;
    case 'm':
        options->missing = true;
        return 0;
    case 's':
        options->since = version_parse(argument);
        if (options->since == 0)
            argp_error(state, "'%s' is not a CUDA release such as 12.4", argument);
        return 0;
    case 'n':
        options->glob = argument;
        return 0;
    case 'o':
        options->order = parse_order(argument, state);
        options->order_given = true;
        return 0;
    case 'a':
        options->audit = true;
        return 0;
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "no argument expected, but there is '%s'; names go behind --name",
                   argument);
        return 0;
    case ARGP_KEY_END:
        if (options->audit && options->order_given)
            argp_error(state, "--audit compares two orders: --order does not go with it");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option argp_options[] = {
    COMMAND_OPTION_DRIVER,
    {.name = "missing", .key = 'm', .doc = "Only entries that are not available"},
    {.name = "since",
     .key = 's',
     .arg = "X.Y",
     .doc = "Only entries that this CUDA release or a later one introduced"},
    {.name = "name",
     .key = 'n',
     .arg = "GLOB",
     .doc = "Only entries whose symbol or name matches, such as 'cuMem*'"},
    {.name = "order",
     .key = 'o',
     .arg = "both|symbols",
     .doc = "Routes to take: both (default), or the exported symbols alone, without "
            "cuGetProcAddress"},
    {.name = "audit",
     .key = 'a',
     .doc = "List the entries for which the two routes disagree; exit 1 if there are any"},
    COMMAND_OPTION_JSON,
    {0},
};

static const struct argp parser = {
    .options = argp_options,
    .parser = parse_option,
    .doc = "List every entry of the CUDA driver API: the release that introduced it, whether this "
           "driver has it, by which route it was found and where it lies in the library. Never "
           "touches the GPU."
           "\v"
           "States:\n"
           "  available  the driver has it\n"
           "  newer      its release is newer than the driver\n"
           "  absent     the driver is new enough, but does not export it\n"
           "  platform   it exists on another platform only\n"
           "  no-driver  there is no driver at all\n"
           "\n" COMMAND_EXIT_CODES,
};

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

int command_symbols(int argc, char **argv)
{
    struct symbols_options options = {.order = CUSHIM_ORDER_DEFAULT};
    const struct cushim_api *cu;
    bool found;

    if (argp_parse(&parser, argc, argv, 0, NULL, &options) != 0)
        return COMMAND_USAGE;
    if (options.audit)
        return symbols_audit(&options);

    cu = driver_open(options.driver, options.order);
    if (options.json)
        print_json(&options, cu);
    else
        print_text(&options, cu);
    found = driver_found(cu, argv[0]);
    cushim_close(cu);
    return found ? COMMAND_OK : COMMAND_NO_DRIVER;
}
