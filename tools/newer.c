/* SPDX-License-Identifier: MIT */
/*
 * `cushim newer`: what a driver exports that the registry, or an older release, does not know.
 */
#include "command.h"
#include "driver.h"
#include "known.h"
#include "names.h"
#include "output.h"
#include "subject.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *driver; /* NULL: search */
    int level;          /* 0: all that the registry knows */
    bool json;
};

/* An exported symbol that is not known. */
struct unknown {
    char symbol[KNOWN_NAME_SIZE];
    char name[KNOWN_NAME_SIZE];
    enum cushim_stream stream;
    int since; /* 0: this build does not know it */
    bool private;
};

struct list {
    struct unknown *item;
    size_t count;
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    char newest[VERSION_TEXT_SIZE];

    switch (key) {
    case 'd':
        options->driver = argument;
        return 0;
    case 'l':
        options->level = version_parse(argument);
        if (options->level == 0)
            argp_error(state, "'%s' is not a CUDA release such as 12.4", argument);
        if (options->level > cushim_registry_version())
            argp_error(state, "'%s' is no CUDA release up to %s", argument,
                       version_text(newest, cushim_registry_version()));
        return 0;
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "no argument expected, but there is '%s'", argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option argp_options[] = {
    {.name = "driver",
     .key = 'd',
     .arg = "PATH",
     .doc = "Read this library, and execute nothing of it; without it, the one that a program here "
            "gets"},
    {.name = "level",
     .key = 'l',
     .arg = "X.Y",
     .doc = "List what is newer than this CUDA release, known to this build or not"},
    COMMAND_OPTION_JSON,
    {0},
};

static const struct argp parser = {
    .options = argp_options,
    .parser = parse_option,
    .doc = "List the entry points that a driver exports and this build of cushim does not know, "
           "read from its symbol table, and how to reach each from C."
           "\v"
           "Private ones are exported beside the documented API; no header declares them.\n"
           "\n" COMMAND_EXIT_CODES,
};

static void add(struct list *list, const char *symbol, int since)
{
    struct unknown *item = realloc(list->item, (list->count + 1) * sizeof *item);

    if (!item)
        output_no_memory();
    list->item = item;
    item += list->count++;
    snprintf(item->symbol, sizeof item->symbol, "%s", symbol);
    item->since = since;
    item->private = known_private(symbol);
    known_split(symbol, item->name, &item->stream);
}

static int compare(const void *a, const void *b)
{
    const struct unknown *one = a, *other = b;

    if (one->private != other->private)
        return one->private ? 1 : -1;
    return strcmp(one->symbol, other->symbol);
}

static void collect(struct list *list, const struct subject *driver, int level)
{
    struct cushim_entry entry;

    for (size_t i = 0; level > 0 && cushim_entry_at(i, &entry); i++) {
        if (driver->has[i] && entry.since > level)
            add(list, entry.symbol, entry.since);
    }
    for (size_t i = 0; i < driver->unknown_count; i++)
        add(list, driver->unknown[i], 0);
    if (list->count > 0)
        qsort(list->item, list->count, sizeof *list->item, compare);
}

/* The version to ask for: that of the ABI where it is known, else the driver's own. */
static int version_of(const struct unknown *unknown, int release)
{
    return unknown->since > 0 ? unknown->since : release;
}

static const char *stream_constant(enum cushim_stream stream)
{
    return stream == CUSHIM_STREAM_LEGACY ? "CUSHIM_STREAM_LEGACY"
           : stream == CUSHIM_STREAM_PTSZ ? "CUSHIM_STREAM_PTSZ"
                                          : "CUSHIM_STREAM_PTDS";
}

static void print_text(const struct list *list, const struct subject *driver)
{
    struct output_table table = {.columns = 4};
    char version[VERSION_TEXT_SIZE], call[KNOWN_NAME_SIZE + 96];
    size_t private = 0;

    output_text(OUTPUT_TITLE, driver->text);
    printf(", exports of CUDA %s\n", version_text(version, driver->release));
    for (size_t i = 0; i < list->count; i++) {
        const struct unknown *item = &list->item[i];
        snprintf(call, sizeof call, "cushim_proc(cu, \"%s\", %d, %s, &why)", item->name,
                 version_of(item, driver->release), stream_constant(item->stream));
        output_table_add(&table, OUTPUT_PLAIN, item->symbol);
        output_table_add(&table, OUTPUT_PLAIN,
                         item->since > 0 ? version_text(version, item->since) : "-");
        output_table_add(&table, item->private ? OUTPUT_DIM : OUTPUT_GOOD,
                         item->private ? "private" : "public");
        output_table_add(&table, OUTPUT_DIM, item->private ? "by dlsym alone" : call);
        private += item->private;
    }
    output_table_print(&table, "");
    printf("%zu not known, %zu of these private\n", list->count, private);
}

static void print_json(const struct list *list, const struct subject *driver, int level)
{
    json_t *root = json_object();
    json_t *symbols = json_array();

    for (size_t i = 0; i < list->count; i++) {
        const struct unknown *item = &list->item[i];
        json_t *object = json_object();
        output_json_set(object, "symbol", output_json_text(item->symbol));
        output_json_set(object, "name", output_json_text(item->name));
        output_json_set(object, "stream", json_string(stream_name(item->stream)));
        output_json_set(object, "since", item->since > 0 ? json_integer(item->since) : json_null());
        output_json_set(object, "private", json_boolean(item->private));
        output_json_append(symbols, object);
    }
    output_json_set(root, "driver", output_json_text(driver->path));
    output_json_set(root, "release", json_integer(driver->release));
    output_json_set(root, "level", json_integer(level));
    output_json_set(root, "symbols", symbols);
    output_json_print(root);
}

/* The path of the driver that a program here gets; to be freed. NULL: there is none. */
static char *find_driver(const char *command)
{
    const struct cushim_api *cu = driver_open(NULL, CUSHIM_ORDER_DEFAULT);
    const char *used = cushim_path(cu);
    char *path = NULL;

    if (driver_found(cu, command)) {
        if (!used)
            fprintf(stderr, "%s: which file the driver is, is not known; name it with --driver\n",
                    command);
        else if (!(path = strdup(used)))
            output_no_memory();
    }
    cushim_close(cu);
    return path;
}

int command_newer(int argc, char **argv)
{
    static struct subject driver;
    struct options options = {0};
    struct list list = {0};
    char *found = NULL;
    int result;

    if (argp_parse(&parser, argc, argv, 0, NULL, &options) != 0)
        return COMMAND_USAGE;
    if (!options.driver) {
        found = find_driver(argv[0]);
        if (!found)
            return COMMAND_NO_DRIVER;
    }
    result = subject_read_file(&driver, found ? found : options.driver, argv[0]);
    if (result == COMMAND_OK) {
        collect(&list, &driver, options.level);
        if (options.json)
            print_json(&list, &driver,
                       options.level > 0 ? options.level : cushim_registry_version());
        else
            print_text(&list, &driver);
        subject_release(&driver);
    }
    free(list.item);
    free(found);
    return result;
}
