/* SPDX-License-Identifier: MIT */
#include "facts_file.h"

#include "known.h"
#include "output.h"

#include <cushim/feature.h>

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef _WIN32
#define LIST_MARK ";" /* a path has colons there */
#else
#define LIST_MARK ":"
#endif

/* The form of files that this build reads; a number in the file says which it has. */
enum { FORM = 1, MOST_MEMBERS = 6, REASON_SIZE = 160 };

struct option_list facts_files;

/* Room for one more at the end of a list. */
static void *grow(void *list, size_t count, size_t size)
{
    void *more = realloc(list, (count + 1) * size);

    if (!more)
        output_no_memory();
    return more;
}

#define APPEND(list, count, ...)                                                                   \
    do {                                                                                           \
        facts_added.list = grow(facts_added.list, facts_added.count, sizeof *facts_added.list);    \
        facts_added.list[facts_added.count++] = __VA_ARGS__;                                       \
    } while (0)

static char *copy(const char *text)
{
    char *more = text ? strdup(text) : NULL;

    if (text && !more)
        output_no_memory();
    return more;
}

/* ---- one fact */

__attribute__((format(printf, 2, 3))) static bool refuse(char reason[REASON_SIZE],
                                                         const char *format, ...)
{
    va_list values;

    va_start(values, format);
    vsnprintf(reason, REASON_SIZE, format, values);
    va_end(values);
    return false;
}

static const char *text_of(const json_t *row, const char *name)
{
    const char *text = json_string_value(json_object_get(row, name));

    return text && *text != '\0' ? text : NULL;
}

static int number_of(const json_t *row, const char *name)
{
    json_int_t number = json_integer_value(json_object_get(row, name));

    return number > 0 && number < 1000000 ? (int)number : 0;
}

/* "625.10.01": two or three numbers. */
static bool is_driver(const char *text)
{
    return text && strspn(text, "0123456789.") == strlen(text) && strchr(text, '.') &&
           text[0] != '.' && text[strlen(text) - 1] != '.';
}

static bool add_target(int capability, int release, char reason[REASON_SIZE])
{
    int known = facts_capability_release(capability);

    if (capability < 10 || capability > 999)
        return refuse(reason, "%d is no compute capability such as 90", capability);
    if (known > 0)
        return known <= release || refuse(reason, "%d is known from CUDA %d.%d on", capability,
                                          known / 1000, known % 1000 / 10);
    APPEND(target, targets, (struct facts_target){capability, release});
    return true;
}

static bool add_gpu(const json_t *row, char reason[REASON_SIZE])
{
    const char *name = text_of(row, "gpu");
    int capability = number_of(row, "capability"), found[1];

    if (!name || capability < 10)
        return refuse(reason, "gpu is a name, and capability a number such as 90");
    if (facts_capabilities(name, found, 1) > 0)
        return found[0] == capability ||
               refuse(reason, "%s is known, with capability %d", name, found[0]);
    APPEND(gpu, gpus, (struct facts_gpu){copy(name), capability});
    return true;
}

static bool add_architecture(const json_t *row, char reason[REASON_SIZE])
{
    const char *name = text_of(row, "architecture");
    json_t *capabilities = json_object_get(row, "capabilities"), *value;
    int last = number_of(row, "last");
    size_t i;

    if (!name || json_array_size(capabilities) == 0)
        return refuse(reason, "architecture is a name, and capabilities a list such as [90]");
    json_array_foreach(capabilities, i, value)
    {
        int capability = (int)json_integer_value(value);
        const struct facts_architecture *known = facts_architecture(capability);
        if (capability < 10 || capability > 999)
            return refuse(reason, "a capability is no number such as 90");
        if (known && (strcmp(known->name, name) != 0 || known->last != last))
            return refuse(reason, "%d is known, of %s", capability, known->name);
        if (!known)
            APPEND(architecture, architectures,
                   (struct facts_architecture){capability, last, copy(name), false});
    }
    return true;
}

static bool add_runtime(const json_t *row, char reason[REASON_SIZE])
{
    const char *library = text_of(row, "runtime");
    int release = number_of(row, "release"), known;

    if (!library || (!strstr(library, ".so") && !strstr(library, ".dll")) || release < 1000)
        return refuse(reason, "runtime is a library such as libcudart.so.12, and release a number");
    known = facts_runtime_release(library);
    if (known > 0)
        return known == release || refuse(reason, "%s is known, of %d", library, known);
    APPEND(runtime, runtimes, (struct facts_runtime){copy(library), release});
    return true;
}

static bool add_release(const json_t *row, char reason[REASON_SIZE])
{
    int release = number_of(row, "release"), ptx = number_of(row, "ptx"),
        branch = number_of(row, "branch"), known = facts_release_branch(release);
    json_t *value;
    size_t i;

    if (release < 1000 || branch < 100 || branch > 999)
        return refuse(reason, "release is a number such as 13060, and branch one such as 625");
    if (known > 0 && (known != branch || facts_release_ptx(release) != ptx))
        return refuse(reason, "release %d is known, with branch %d and PTX %d", release, known,
                      facts_release_ptx(release));
    if (known == 0)
        APPEND(release, releases, (struct facts_release){release, ptx, branch});
    json_array_foreach(json_object_get(row, "targets"), i, value)
    {
        if (!add_target((int)json_integer_value(value), release, reason))
            return false;
    }
    return true;
}

static bool add_toolkit(const json_t *row, char reason[REASON_SIZE])
{
    int release = number_of(row, "toolkit"), update = number_of(row, "update");
    const char *driver = text_of(row, "linux"), *windows = text_of(row, "windows");
    struct cushim_toolkit known = {.size = sizeof known};

    if (release < 1000 || !is_driver(driver) || (windows && !is_driver(windows)))
        return refuse(reason, "toolkit is a number such as 13060, linux a driver such as 625.10");
    for (size_t i = 0; facts_toolkit_at(i, &known); i++) {
        if (known.release == release && known.update == update)
            return (known.linux_driver && strcmp(known.linux_driver, driver) == 0) ||
                   refuse(reason, "that toolkit is known, with another driver");
    }
    APPEND(toolkit, toolkits, (struct facts_toolkit){release, update, copy(driver), copy(windows)});
    return true;
}

static bool add_family(const json_t *row, char reason[REASON_SIZE])
{
    int major = number_of(row, "family");
    const char *driver = text_of(row, "linux"), *windows = text_of(row, "windows"), *known;

    if (major < 11 || major > 99 || !is_driver(driver) || (windows && !is_driver(windows)))
        return refuse(reason, "family is a number such as 14, linux a driver such as 640.10");
    if (facts_family_floor(major, &known, NULL))
        return strcmp(known, driver) == 0 ||
               refuse(reason, "family %d is known, with driver %s", major, known);
    APPEND(family, families, (struct facts_family){major, copy(driver), copy(windows)});
    return true;
}

static bool add_feature(const json_t *row, char reason[REASON_SIZE])
{
    const char *name = text_of(row, "feature"), *group = text_of(row, "group"),
               *text = text_of(row, "text");
    json_t *entries = json_object_get(row, "entries"), *value;
    struct facts_feature feature = {.since = number_of(row, "since")};
    enum cushim_feature known;
    size_t i;

    if (!name || !group || !text || feature.since < 1000 || json_array_size(entries) == 0 ||
        json_array_size(entries) > FACTS_ENTRIES)
        return refuse(reason, "feature, group and text are texts, since is a number such as 13060, "
                              "entries has up to 16 symbols");
    json_array_foreach(entries, i, value)
    {
        const char *symbol = json_string_value(value);
        feature.entry[i] = symbol ? known_symbol(symbol) : KNOWN_NONE;
        if (feature.entry[i] == KNOWN_NONE)
            return refuse(reason, "'%.64s' is no entry that this build knows",
                          symbol ? symbol : "");
    }
    feature.count = json_array_size(entries);
    if (cushim_feature_find(name, &known))
        return refuse(reason, "feature %.64s is known", name);
    for (i = 0; i < facts_added.features; i++) {
        if (strcmp(facts_added.feature[i].name, name) == 0)
            return true;
    }
    feature.name = copy(name);
    feature.group = copy(group);
    feature.text = copy(text);
    APPEND(feature, features, feature);
    return true;
}

/* What a line is, by its first member, and which others it may have. */
static const struct {
    const char *member[MOST_MEMBERS];
    bool (*add)(const json_t *row, char reason[REASON_SIZE]);
} kinds[] = {
    {{"feature", "group", "text", "since", "entries"}, add_feature},
    {{"gpu", "capability"}, add_gpu},
    {{"architecture", "capabilities", "last"}, add_architecture},
    {{"runtime", "release"}, add_runtime},
    {{"toolkit", "update", "linux", "windows"}, add_toolkit},
    {{"family", "linux", "windows"}, add_family},
    {{"release", "ptx", "branch", "targets"}, add_release},
};

static bool add_row(const json_t *row, char reason[REASON_SIZE])
{
    const size_t count = sizeof kinds / sizeof kinds[0];
    const char *name;
    json_t *value;
    size_t kind = 0;

    while (kind < count && !json_object_get(row, kinds[kind].member[0]))
        kind++;
    if (kind == count)
        return refuse(reason, "none of the kinds of facts");
    json_object_foreach((json_t *)row, name, value)
    {
        bool known = strcmp(name, "source") == 0;
        for (size_t i = 0; i < MOST_MEMBERS && kinds[kind].member[i]; i++)
            known |= strcmp(name, kinds[kind].member[i]) == 0;
        if (!known)
            return refuse(reason, "'%.32s' is no member of such a fact", name);
    }
    if (!text_of(row, "source"))
        return refuse(reason, "no source: who says so");
    return kinds[kind].add(row, reason);
}

/* ---- files */

/* What `cushim measure` wrote: a driver's release, and the GPUs that it has. */
static bool add_measured(const json_t *root, char reason[REASON_SIZE])
{
    const json_t *driver = json_object_get(root, "driver");
    const char *version = text_of(driver, "linux");
    int release = number_of(driver, "version"), branch = version ? atoi(version) : 0;
    json_t *gpu;
    size_t i;

    if (release < 1000)
        return refuse(reason, "driver.version is no release");
    if (is_driver(version) && branch > facts_newest_branch() && facts_release_branch(release) == 0)
        APPEND(release, releases, (struct facts_release){release, 0, branch});
    json_array_foreach(json_object_get(root, "gpus"), i, gpu)
    {
        if (!add_gpu(gpu, reason) || !add_target(number_of(gpu, "capability"), release, reason))
            return false;
    }
    return true;
}

static bool complain(const char *command, const char *path, long line, const char *reason)
{
    char place[24] = "";

    if (line > 0)
        snprintf(place, sizeof place, ":%ld", line);
    fprintf(stderr, "%s: %s%s: %s\n", command, path, place, reason);
    return false;
}

/* The first line says which form the file has; each other one is a fact. */
static bool read_lines(FILE *file, const char *path, const char *command)
{
    char *text = NULL, reason[REASON_SIZE] = "";
    size_t room = 0;
    long line = 0;
    bool good = true;

    for (ssize_t length; good && (length = getline(&text, &room, file)) > 0; line++) {
        json_error_t error;
        if (strspn(text, " \t\r\n") == (size_t)length && line > 0)
            continue;
        json_t *row = json_loadb(text, (size_t)length, 0, &error);
        int form = number_of(row, "facts");
        if (!json_is_object(row))
            good = refuse(reason, "%.120s", row ? "no JSON object" : error.text);
        else if (line > 0)
            good = add_row(row, reason);
        else if (form == 0)
            good = refuse(reason, "no file of facts: it does not begin with {\"facts\": %d}", FORM);
        else if (form != FORM)
            good = refuse(reason, "facts of form %d, and this build reads form %d", form, FORM);
        if (!good)
            complain(command, path, line + 1, reason);
        json_decref(row);
    }
    if (good && line == 0)
        good = complain(command, path, 0, "an empty file");
    free(text);
    return good;
}

static bool read_file(const char *path, const char *command)
{
    FILE *file = fopen(path, "re");
    char reason[REASON_SIZE] = "";
    json_error_t error;
    json_t *root;
    bool good;

    if (!file)
        return complain(command, path, 0, strerror(errno));
    root = json_loadf(file, JSON_DISABLE_EOF_CHECK, &error);
    rewind(file);
    if (!json_object_get(root, "measured"))
        good = read_lines(file, path, command);
    else if (number_of(root, "measured") != FORM)
        good = complain(command, path, 0, "measured in a form that this build does not read");
    else
        good = add_measured(root, reason) || complain(command, path, 0, reason);
    json_decref(root);
    fclose(file);
    return good;
}

/* The user's own file, if it is there. */
static bool read_own(const char *command)
{
    const char *folder = secure_getenv("XDG_CONFIG_HOME"), *home = secure_getenv("HOME");
    char path[PATH_MAX];

    if (folder && *folder == '/')
        snprintf(path, sizeof path, "%s/cushim/facts.jsonl", folder);
    else if (home && *home == '/')
        snprintf(path, sizeof path, "%s/.config/cushim/facts.jsonl", home);
    else
        return true;
    return access(path, R_OK) != 0 || read_file(path, command);
}

bool facts_file_read_all(const char *command)
{
    const char *next = secure_getenv("CUSHIM_FACTS");
    char path[PATH_MAX];

    if (!read_own(command))
        return false;
    while (next && *next != '\0') {
        size_t length = strcspn(next, LIST_MARK);
        snprintf(path, sizeof path, "%.*s", (int)length, next);
        if (length > 0 && !read_file(path, command))
            return false;
        next += length + (next[length] != '\0');
    }
    for (size_t i = 0; i < facts_files.count; i++) {
        if (!read_file(facts_files.item[i], command))
            return false;
    }
    return true;
}
