/* SPDX-License-Identifier: MIT */
/*
 * `cushim report`: a page of every entry and feature against every release and measured driver.
 */
#include "command.h"
#include "names.h"
#include "output.h"

#include <cushim/feature.h>

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* report.html, with this in it for the data. */
extern const char report_page[];
#define DATA_MARK "@DATA@"

enum { MOST_DRIVERS = 32, MOST_RELEASES = 128 };

struct options {
    const char *html;
    char *measured[MOST_DRIVERS];
    int count;
};

/* A driver that `cushim symbols --json` has measured. */
struct driver {
    char name[64];
    int version;
    json_t *root;
    json_t *states; /* symbol to state */
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case 'h':
        options->html = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (options->count == MOST_DRIVERS)
            argp_error(state, "more than %d files", MOST_DRIVERS);
        options->measured[options->count++] = argument;
        return 0;
    case ARGP_KEY_END:
        if (!options->html)
            argp_error(state, "--html is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option argp_options[] = {
    {.name = "html", .key = 'h', .arg = "FILE", .doc = "Write the page there; - is stdout"},
    {0},
};

static const struct argp parser = {
    .options = argp_options,
    .parser = parse_option,
    .args_doc = "[[NAME=]MEASURED.json...]",
    .doc = "Write one self-contained page with every entry and feature of the CUDA driver API "
           "against every release, and against the drivers measured in the files given, each the "
           "output of 'cushim symbols --json'. It searches, filters and sorts without a network."
           "\v" COMMAND_EXIT_CODES,
};

static int compare_numbers(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Every release that brought an entry, ascending. */
static int releases(int list[MOST_RELEASES])
{
    struct cushim_entry entry;
    int count = 0;

    for (size_t i = 0; cushim_entry_at(i, &entry); i++) {
        bool known = false;
        for (int k = 0; k < count; k++)
            known |= list[k] == entry.since;
        if (!known && count < MOST_RELEASES)
            list[count++] = entry.since;
    }
    qsort(list, (size_t)count, sizeof *list, compare_numbers);
    return count;
}

/* Read one measured driver; false after saying what is wrong with its file. */
static bool read_driver(struct driver *driver, char *word, const char *command)
{
    char *equals = strchr(word, '='), version[VERSION_TEXT_SIZE];
    const char *path = equals ? equals + 1 : word;
    json_error_t error;
    json_t *symbols, *row;
    size_t i;

    driver->root = json_load_file(path, 0, &error);
    symbols = json_object_get(driver->root, "symbols");
    driver->version = (int)json_integer_value(
        json_object_get(json_object_get(driver->root, "driver"), "version"));
    if (!json_is_array(symbols) || driver->version <= 0) {
        fprintf(stderr, "%s: %s: %s\n", command, path,
                !driver->root ? error.text : "not the output of 'cushim symbols --json'");
        return false;
    }
    driver->states = json_object();
    json_array_foreach(symbols, i, row)
    {
        const char *symbol = json_string_value(json_object_get(row, "symbol"));
        json_t *state = json_object_get(row, "state");
        if (symbol && json_is_string(state))
            json_object_set(driver->states, symbol, state);
    }
    if (equals)
        snprintf(driver->name, sizeof driver->name, "%.*s", (int)(equals - word), word);
    else
        snprintf(driver->name, sizeof driver->name, "CUDA %s",
                 version_text(version, driver->version));
    return true;
}

static bool exports(const struct driver *driver, const char *symbol)
{
    const char *state = json_string_value(json_object_get(driver->states, symbol));

    return state && strcmp(state, "available") == 0;
}

static json_t *entries_json(const struct driver *drivers, int count)
{
    json_t *rows = json_array();
    struct cushim_entry entry;

    for (size_t i = 0; cushim_entry_at(i, &entry); i++) {
        json_t *row = json_object(), *there = json_array();
        output_json_set(row, "name", json_string(entry.symbol));
        output_json_set(row, "since", json_integer(entry.since));
        output_json_set(row, "group", json_string(entry.header));
        output_json_set(row, "stream", json_string(stream_name(entry.stream)));
        for (int k = 0; k < count; k++)
            output_json_append(there, json_boolean(exports(&drivers[k], entry.symbol)));
        output_json_set(row, "drivers", there);
        output_json_append(rows, row);
    }
    return rows;
}

/* Whether a driver has what a feature takes of it; a device may lack it all the same. */
static bool has_feature(const struct driver *driver, const struct cushim_feature_facts *facts)
{
    struct cushim_entry entry;
    size_t index;

    if (facts->since > driver->version)
        return false;
    for (size_t i = 0; cushim_feature_entry(facts->feature, i, &index); i++) {
        if (!cushim_entry_at(index, &entry) || !exports(driver, entry.symbol))
            return false;
    }
    return true;
}

static json_t *features_json(const struct driver *drivers, int count)
{
    struct cushim_feature_facts facts = {.size = sizeof facts};
    json_t *rows = json_array();

    for (size_t i = 0; cushim_feature_list(i, &facts); i++) {
        json_t *row = json_object(), *there = json_array();
        output_json_set(row, "name", json_string(facts.name));
        output_json_set(row, "since", json_integer(facts.since));
        output_json_set(row, "group", json_string(facts.group));
        output_json_set(row, "text", json_string(facts.text));
        for (int k = 0; k < count; k++)
            output_json_append(there, json_boolean(has_feature(&drivers[k], &facts)));
        output_json_set(row, "drivers", there);
        output_json_append(rows, row);
    }
    return rows;
}

static json_t *page_data(const struct driver *drivers, int count)
{
    json_t *root = json_object(), *list = json_array(), *measured = json_array();
    int numbers[MOST_RELEASES], known = releases(numbers);

    for (int i = 0; i < known; i++)
        output_json_append(list, json_integer(numbers[i]));
    for (int i = 0; i < count; i++) {
        json_t *driver = json_object();
        output_json_set(driver, "name", output_json_text(drivers[i].name));
        output_json_set(driver, "version", json_integer(drivers[i].version));
        output_json_append(measured, driver);
    }
    output_json_set(root, "cushim", json_string(CUSHIM_VERSION_TEXT));
    output_json_set(root, "newest", json_integer(cushim_registry_version()));
    output_json_set(root, "releases", list);
    output_json_set(root, "drivers", measured);
    output_json_set(root, "entries", entries_json(drivers, count));
    output_json_set(root, "features", features_json(drivers, count));
    return root;
}

/* The page with the data in it, in which no "<" may end its element. */
static void write_page(FILE *file, json_t *data)
{
    const char *mark = strstr(report_page, DATA_MARK);
    char *text = json_dumps(data, JSON_COMPACT | JSON_PRESERVE_ORDER);

    if (!text)
        output_no_memory();
    fwrite(report_page, 1, (size_t)(mark - report_page), file);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '<')
            fputs("\\u003c", file);
        else
            fputc(*c, file);
    }
    fputs(mark + strlen(DATA_MARK), file);
    free(text);
}

static int write_file(const char *path, json_t *data, const char *command)
{
    bool to_stdout = strcmp(path, "-") == 0, good;
    FILE *file = to_stdout ? stdout : fopen(path, "we");

    if (file)
        write_page(file, data);
    if (to_stdout)
        return COMMAND_OK;
    good = file && !ferror(file);
    if (file)
        good = fclose(file) == 0 && good;
    if (!good)
        fprintf(stderr, "%s: %s: %s\n", command, path, strerror(errno));
    return good ? COMMAND_OK : COMMAND_SYSTEM;
}

int command_report(int argc, char **argv)
{
    struct driver drivers[MOST_DRIVERS] = {0};
    struct options options = {0};
    int result = COMMAND_OK;

    if (argp_parse(&parser, argc, argv, 0, NULL, &options) != 0)
        return COMMAND_USAGE;
    for (int i = 0; i < options.count && result == COMMAND_OK; i++) {
        if (!read_driver(&drivers[i], options.measured[i], argv[0]))
            result = COMMAND_INPUT;
    }
    if (result == COMMAND_OK) {
        json_t *data = page_data(drivers, options.count);
        result = write_file(options.html, data, argv[0]);
        json_decref(data);
    }
    for (int i = 0; i < options.count; i++) {
        json_decref(drivers[i].states);
        json_decref(drivers[i].root);
    }
    return result;
}
