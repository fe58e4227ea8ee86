/* SPDX-License-Identifier: MIT */
/*
 * `cushim report`: a page of every entry, feature and toolkit against every release and measured
 * driver.
 */
#include "command.h"
#include "facts.h"
#include "known.h"
#include "names.h"
#include "output.h"

#include <cushim/compat.h>
#include <cushim/feature.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* report.html, with this in it for the data. */
extern const char report_page[];
#define DATA_MARK "@DATA@"

enum { MOST_DRIVERS = 32, MOST_RELEASES = 128, TEXT_SIZE = 256 };

static struct options {
    const char *html;
} given;

/* A column: what was measured of a driver, and perhaps of a device. */
struct driver {
    char name[64];
    int version;
    json_t *states;  /* symbol to state; NULL: not measured */
    json_t *answers; /* feature to answer; NULL: not measured */
};

/* What a row has for a driver, as tools/report.html knows it. */
enum mark {
    MARK_YES = 'y',
    MARK_OLDER = 'o',
    MARK_LACKS = 'n',
    MARK_DEVICE_LACKS = 'd',
    MARK_PLATFORM = 'p',
    MARK_LIMITED = 'l',
    MARK_RUNS_NOT = 'x',
    MARK_UNKNOWN = 'u'
};

static const struct option_row option_rows[] = {
    {.name = "html",
     .text = &given.html,
     .value = "FILE",
     .values = VALUES_FILES,
     .doc = "Write the page there; - is stdout"},
    {0},
};

static int compare_numbers(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static int add_release(int list[MOST_RELEASES], int count, int release)
{
    for (int i = 0; i < count; i++) {
        if (list[i] == release)
            return count;
    }
    if (count < MOST_RELEASES)
        list[count++] = release;
    return count;
}

/* Every release that brought an entry, or has a driver branch, ascending. */
static int releases(int list[MOST_RELEASES])
{
    const struct facts_branch *branch;
    struct cushim_entry entry;
    int count = 0;

    for (size_t i = 0; cushim_entry_at(i, &entry); i++)
        count = add_release(list, count, entry.since);
    for (size_t i = 0; (branch = facts_branch_at(i)); i++)
        count = add_release(list, count, branch->release);
    qsort(list, (size_t)count, sizeof *list, compare_numbers);
    return count;
}

/* {first: second} of the rows of an array. A plain text among them is an available symbol. */
static json_t *read_rows(const json_t *rows, const char *first, const char *second)
{
    json_t *found = json_object(), *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        const char *name = json_string_value(json_object_get(row, first));
        json_t *value = json_object_get(row, second);
        if (json_is_string(row))
            output_json_set(found, json_string_value(row), json_string("available"));
        else if (name && json_is_string(value))
            json_object_set(found, name, value);
    }
    return found;
}

/* The column that a file adds to; a new one where none has its name. */
static struct driver *find_driver(struct driver *drivers, int *count, const char *name)
{
    for (int i = 0; i < *count; i++) {
        if (strcmp(drivers[i].name, name) == 0)
            return &drivers[i];
    }
    snprintf(drivers[*count].name, sizeof drivers->name, "%s", name);
    return &drivers[(*count)++];
}

static void take_rows(json_t **place, const json_t *rows, const char *first, const char *second)
{
    if (!json_is_array(rows))
        return;
    json_decref(*place);
    *place = read_rows(rows, first, second);
}

/* Read one measured file; false after saying what is wrong with it. */
static bool read_file(struct driver *drivers, int *count, const char *word, const char *command)
{
    const char *equals = strchr(word, '='), *path = equals ? equals + 1 : word, *own;
    char name[sizeof drivers->name], version[VERSION_TEXT_SIZE];
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    const json_t *symbols = json_object_get(root, "symbols");
    const json_t *features = json_object_get(root, "features");
    int release =
        (int)json_integer_value(json_object_get(json_object_get(root, "driver"), "version"));
    bool good = (json_is_array(symbols) || json_is_array(features)) && release > 0;

    if (!good)
        fprintf(stderr, "%s: %s: %s\n", command, path,
                !root ? error.text : "not the output of 'cushim symbols --json' for a driver");
    own = json_string_value(json_object_get(root, "name"));
    if (equals)
        snprintf(name, sizeof name, "%.*s", (int)(equals - word), word);
    else if (own)
        snprintf(name, sizeof name, "%s", own);
    else
        snprintf(name, sizeof name, "CUDA %s", version_text(version, release));
    if (good) {
        struct driver *driver = find_driver(drivers, count, name);
        driver->version = release;
        take_rows(&driver->states, symbols, "symbol", "state");
        take_rows(&driver->answers, features, "feature", "answer");
    }
    json_decref(root);
    return good;
}

static enum mark entry_mark(const struct driver *driver, size_t index)
{
    struct cushim_entry entry = known_entry(index);
    const char *state = json_string_value(json_object_get(driver->states, entry.symbol));

    if (!driver->states)
        return MARK_UNKNOWN;
    if (state && strcmp(state, "available") == 0)
        return MARK_YES;
    if (!known_on(index, KNOWN_HERE))
        return MARK_PLATFORM;
    return entry.since > driver->version ? MARK_OLDER : MARK_LACKS;
}

/* What a driver has of a feature's entries; a device may lack the feature all the same. */
static enum mark entries_mark(const struct driver *driver, const struct cushim_feature_facts *facts)
{
    size_t index;

    if (facts->platform && strcmp(facts->platform, "linux") != 0)
        return MARK_PLATFORM;
    if (facts->since > driver->version)
        return MARK_OLDER;
    for (size_t i = 0; cushim_feature_entry(facts->feature, i, &index); i++) {
        enum mark mark = entry_mark(driver, index);
        if (mark != MARK_YES)
            return mark;
    }
    return driver->states ? MARK_YES : MARK_UNKNOWN;
}

static enum mark feature_mark(const struct driver *driver, const struct cushim_feature_facts *facts)
{
    static const struct {
        const char *answer;
        enum mark mark;
    } marks[] = {{"supported", MARK_YES},
                 {"device", MARK_DEVICE_LACKS},
                 {"driver", MARK_OLDER},
                 {"absent", MARK_LACKS},
                 {"platform", MARK_PLATFORM}};
    const char *answer = json_string_value(json_object_get(driver->answers, facts->name));

    for (size_t i = 0; answer && i < sizeof marks / sizeof marks[0]; i++) {
        if (strcmp(answer, marks[i].answer) == 0)
            return marks[i].mark;
    }
    return entries_mark(driver, facts);
}

static json_t *entries_json(const struct driver *drivers, int count)
{
    json_t *rows = json_array();
    struct cushim_entry entry;

    for (size_t i = 0; cushim_entry_at(i, &entry); i++) {
        json_t *row = json_object();
        char marks[MOST_DRIVERS + 1] = "";
        for (int k = 0; k < count; k++)
            marks[k] = (char)entry_mark(&drivers[k], i);
        output_json_set(row, "name", json_string(entry.symbol));
        output_json_set(row, "since", json_integer(entry.since));
        output_json_set(row, "group", json_string(entry.header));
        output_json_set(row, "stream", json_string(stream_name(entry.stream)));
        output_json_set(row, "marks", json_string(marks));
        output_json_append(rows, row);
    }
    return rows;
}

static json_t *features_json(const struct driver *drivers, int count)
{
    struct cushim_feature_facts facts = {.size = sizeof facts};
    json_t *rows = json_array();

    for (size_t i = 0; cushim_feature_list(i, &facts); i++) {
        json_t *row = json_object(), *entries = json_array();
        char marks[MOST_DRIVERS + 1] = "";
        size_t index;
        for (int k = 0; k < count; k++)
            marks[k] = (char)feature_mark(&drivers[k], &facts);
        for (size_t k = 0; cushim_feature_entry(facts.feature, k, &index); k++)
            output_json_append(entries, json_integer((json_int_t)index));
        output_json_set(row, "name", json_string(facts.name));
        output_json_set(row, "since", json_integer(facts.since));
        output_json_set(row, "group", json_string(facts.group));
        output_json_set(row, "text", json_string(facts.text));
        output_json_set(row, "entries", entries);
        output_json_set(row, "marks", json_string(marks));
        output_json_append(rows, row);
    }
    return rows;
}

/* The drivers of a toolkit, in a sentence. */
static json_t *toolkit_text(const struct cushim_toolkit *toolkit, const char *floor)
{
    char text[TEXT_SIZE], ptx[32] = "";
    int version = facts_release_ptx(toolkit->release);

    if (version)
        snprintf(ptx, sizeof ptx, "; PTX %d.%d", version / 10, version % 10);
    snprintf(text, sizeof text, "Linux %s, %s%s%s%s%s", toolkit->linux_driver,
             toolkit->windows_driver ? "Windows " : "without a Windows driver",
             toolkit->windows_driver ? toolkit->windows_driver : "",
             floor ? "; programs run from Linux " : "", floor ? floor : "", ptx);
    return json_string(text);
}

/* Each toolkit and update; a mark is whether a driver runs its programs. */
static json_t *toolkits_json(const struct driver *drivers, int count)
{
    struct cushim_toolkit toolkit = {.size = sizeof toolkit};
    json_t *rows = json_array();

    for (size_t i = 0; facts_toolkit_at(i, &toolkit); i++) {
        char name[64], family[16], marks[MOST_DRIVERS + 1] = "", version[VERSION_TEXT_SIZE];
        const char *floor = NULL;
        json_t *row = json_object();
        for (int k = 0; k < count; k++) {
            enum cushim_runs runs = cushim_release_runs(drivers[k].version, toolkit.release);
            marks[k] = (char)(runs == CUSHIM_RUNS           ? MARK_YES
                              : runs == CUSHIM_RUNS_LIMITED ? MARK_LIMITED
                                                            : MARK_RUNS_NOT);
        }
        version_text(version, toolkit.release);
        if (toolkit.update > 0)
            snprintf(name, sizeof name, "CUDA %s Update %d", version, toolkit.update);
        else
            snprintf(name, sizeof name, "CUDA %s", version);
        snprintf(family, sizeof family, "%d.x", toolkit.release / 1000);
        bool limits = facts_family_floor(toolkit.release / 1000, &floor, NULL);
        output_json_set(row, "name", json_string(name));
        output_json_set(row, "since", json_integer(toolkit.release));
        output_json_set(row, "floor",
                        json_integer(limits ? facts_driver_release(floor) : toolkit.release));
        output_json_set(row, "group", json_string(family));
        output_json_set(row, "text", toolkit_text(&toolkit, limits ? floor : NULL));
        output_json_set(row, "entries", json_array());
        output_json_set(row, "marks", json_string(marks));
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
    output_json_set(root, "toolkits", toolkits_json(drivers, count));
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

static int run(const char *title, char **words)
{
    struct driver drivers[MOST_DRIVERS] = {0};
    int result = COMMAND_OK, count = 0;

    if (!given.html)
        options_refuse("--html is missing");
    for (int i = 0; words[i] && result == COMMAND_OK; i++) {
        if (!read_file(drivers, &count, words[i], title))
            result = COMMAND_INPUT;
    }
    if (result == COMMAND_OK) {
        json_t *data = page_data(drivers, count);
        result = write_file(given.html, data, title);
        json_decref(data);
    }
    for (int i = 0; i < count; i++) {
        json_decref(drivers[i].states);
        json_decref(drivers[i].answers);
    }
    return result;
}

const struct command command_report = {
    .name = "report",
    .summary = "a page of every entry and feature, against releases and drivers",
    .synopsis = "[[NAME=]MEASURED.json...]",
    .doc = "Write one self-contained page with every entry and feature of the CUDA driver API "
           "against every release, with the drivers of every toolkit, and against the drivers "
           "measured in the files given, each the "
           "output of 'cushim symbols --json' or 'cushim features --json'; two files of one NAME "
           "make one column. The page searches, filters and sorts without a network.",
    .options = option_rows,
    .most = MOST_DRIVERS,
    .values = VALUES_FILES,
    .run = run,
};
