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

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALL_SIZE = KNOWN_NAME_SIZE + 96 };

static struct options {
    const char *driver; /* NULL: search */
    int level;          /* 0: all that the registry knows */
    bool json;
} given;

/* An exported symbol that is not known. */
struct unknown {
    char symbol[KNOWN_NAME_SIZE];
    char name[KNOWN_NAME_SIZE];
    enum cushim_stream stream;
    int since; /* 0: this build does not know it */
    bool private;
    bool newest; /* ABI of its name: what cuGetProcAddress gives for the driver's own version */
};

struct list {
    struct unknown *item;
    size_t count;
};

static const struct option_row option_rows[] = {
    {.name = "driver",
     .text = &given.driver,
     .value = "PATH",
     .values = VALUES_FILES,
     .doc = "Read this library, and execute nothing of it; without it, the one that a program here "
            "gets"},
    {.name = "level",
     .release = &given.level,
     .value = "X.Y",
     .values = VALUES_RELEASES,
     .doc = "List what is newer than this CUDA release, known to this build or not"},
    COMMAND_OPTION_JSON(given.json),
    {0},
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

/* The number of an ABI: 3 of "cuCtxCreate_v3" and "cuGraphLaunch_v3_ptsz", 1 of "cuInit". */
static long abi_of(const char *symbol)
{
    const char *mark = NULL;

    for (const char *at = symbol; (at = strstr(at, "_v")); at++) {
        if (at[2] >= '0' && at[2] <= '9')
            mark = at;
    }
    return mark ? strtol(mark + 2, NULL, 10) : 1;
}

static bool is_later_abi(const char *symbol, const struct unknown *than)
{
    char name[KNOWN_NAME_SIZE];
    enum cushim_stream stream;

    known_split(symbol, name, &stream);
    return stream == than->stream && strcmp(name, than->name) == 0 &&
           abi_of(symbol) > abi_of(than->symbol);
}

static void mark_newest(struct list *list, const struct subject *driver)
{
    struct cushim_entry entry;

    for (size_t k = 0; k < list->count; k++) {
        struct unknown *item = &list->item[k];
        item->newest = !item->private;
        for (size_t i = 0; item->newest && cushim_entry_at(i, &entry); i++)
            item->newest = !driver->has[i] || !is_later_abi(entry.symbol, item);
        for (size_t i = 0; item->newest && i < driver->unknown_count; i++)
            item->newest = !is_later_abi(driver->unknown[i], item);
    }
}

static const char *stream_constant(enum cushim_stream stream)
{
    return stream == CUSHIM_STREAM_LEGACY ? "CUSHIM_STREAM_LEGACY"
           : stream == CUSHIM_STREAM_PTSZ ? "CUSHIM_STREAM_PTSZ"
                                          : "CUSHIM_STREAM_PTDS";
}

/* How a program reaches an entry: a known ABI by its own release; an unknown one by the driver's,
 * for which cuGetProcAddress gives the newest ABI; any other by its symbol alone. */
static const char *call_of(char call[CALL_SIZE], const struct unknown *item)
{
    char number[16] = "";

    if (item->private || (item->since == 0 && !item->newest)) {
        snprintf(call, CALL_SIZE, "by dlsym alone");
        return call;
    }
    if (item->since > 0)
        snprintf(number, sizeof number, "%d", item->since);
    snprintf(call, CALL_SIZE, "cushim_proc(cu, \"%s\", %s, %s, &why)", item->name,
             item->since > 0 ? number : "cushim_driver_version(cu)", stream_constant(item->stream));
    return call;
}

static void print_text(const struct list *list, const struct subject *driver)
{
    struct output_table table = {.columns = 4};
    char version[VERSION_TEXT_SIZE], call[CALL_SIZE];
    size_t private = 0;

    output_text(OUTPUT_TITLE, driver->text);
    printf(", exports of CUDA %s\n", version_text(version, driver->release));
    for (size_t i = 0; i < list->count; i++) {
        const struct unknown *item = &list->item[i];
        output_table_add(&table, OUTPUT_PLAIN, item->symbol);
        output_table_add(&table, OUTPUT_PLAIN,
                         item->since > 0 ? version_text(version, item->since) : "-");
        output_table_add(&table, item->private ? OUTPUT_DIM : OUTPUT_GOOD,
                         item->private ? "private" : "public");
        output_table_add(&table, OUTPUT_DIM, call_of(call, item));
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
        output_json_set(object, "newest", json_boolean(item->newest));
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

static int run(const char *title, char **words)
{
    static struct subject driver;
    struct list list = {0};
    char *found = NULL, newest[VERSION_TEXT_SIZE];
    int result;

    (void)words;
    if (given.level > cushim_registry_version())
        options_refuse("--level: no CUDA release after %s is known",
                       version_text(newest, cushim_registry_version()));
    driver_refuse_release(given.driver);
    if (!given.driver) {
        found = find_driver(title);
        if (!found)
            return COMMAND_NO_DRIVER;
    }
    result = subject_read_file(&driver, found ? found : given.driver, title);
    if (result == COMMAND_OK) {
        collect(&list, &driver, given.level);
        mark_newest(&list, &driver);
        if (given.json)
            print_json(&list, &driver, given.level > 0 ? given.level : cushim_registry_version());
        else
            print_text(&list, &driver);
        subject_release(&driver);
    }
    free(list.item);
    free(found);
    return result;
}

const struct command command_newer = {
    .name = "newer",
    .summary = "what a driver exports that this build does not know",
    .doc = "List the entry points that a driver exports and this build of cushim does not know, "
           "read from its symbol table, and how to reach each from C.",
    .notes = "Private ones are exported beside the documented API; no header declares them.\n\n",
    .options = option_rows,
    .run = run,
};
