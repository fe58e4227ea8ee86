/* SPDX-License-Identifier: MIT */
/*
 * `cushim compat`: which driver runs a toolkit's programs, and which toolkits a driver serves.
 */
#include "compat.h"

#include "command.h"
#include "driver.h"
#include "facts_file.h"
#include "names.h"
#include "output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 512 };

static struct options {
    const char *subject; /* a release, a driver's version or its file; NULL: `driver` */
    const char *driver;  /* NULL: search */
    bool json;
} given;

static const struct option_row option_rows[] = {
    COMMAND_OPTION_DRIVER(given.driver),
    FACTS_OPTION,
    COMMAND_OPTION_JSON(given.json),
    {0},
};

const char *compat_ptx(char text[COMPAT_PTX_SIZE], int release)
{
    int ptx = facts_release_ptx(release);

    if (ptx == 0)
        return NULL;
    snprintf(text, COMPAT_PTX_SIZE, "%d.%d", ptx / 10, ptx % 10);
    return text;
}

const char *compat_summary(char text[COMPAT_SUMMARY_SIZE], int release)
{
    char own[VERSION_TEXT_SIZE], ptx[COMPAT_PTX_SIZE], family[64] = "", jit[64] = "";

    if (facts_family_floor(release / 1000, NULL, NULL))
        snprintf(family, sizeof family, ", with limits all of %d.x", release / 1000);
    if (compat_ptx(ptx, release))
        snprintf(jit, sizeof jit, "; PTX up to %s", ptx);
    snprintf(text, COMPAT_SUMMARY_SIZE, "programs of CUDA up to %s%s%s%s",
             version_text(own, release), family, jit,
             cushim_release_has_compat(release)
                 ? "; a cuda-compat package adds later ones on data center GPUs"
                 : "");
    return text;
}

/* The toolkits of a release: "550.54.14, Update 1: 550.54.15". Empty where none is known. */
static const char *shipped(char text[TEXT_SIZE], int release, bool windows)
{
    struct cushim_toolkit toolkit = {.size = sizeof toolkit};
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; facts_toolkit_at(i, &toolkit) && length < TEXT_SIZE; i++) {
        const char *driver = windows ? toolkit.windows_driver : toolkit.linux_driver;
        char update[32] = "";
        if (toolkit.release != release || !driver)
            continue;
        if (toolkit.update > 0)
            snprintf(update, sizeof update, "Update %d: ", toolkit.update);
        length += (size_t)snprintf(text + length, TEXT_SIZE - length, "%s%s%s",
                                   length > 0 ? ", " : "", update, driver);
    }
    return text;
}

/* The oldest driver that runs the release's programs, and whether with limits. */
static const char *oldest(int release, bool windows, bool *limited)
{
    struct cushim_toolkit toolkit = {.size = sizeof toolkit};
    const char *linux_driver, *windows_driver;

    *limited = facts_family_floor(release / 1000, &linux_driver, &windows_driver);
    if (*limited)
        return windows ? windows_driver : linux_driver;
    for (size_t i = 0; facts_toolkit_at(i, &toolkit); i++) {
        if (toolkit.release == release)
            return windows ? toolkit.windows_driver : toolkit.linux_driver;
    }
    return NULL;
}

static void print_release(int release)
{
    char version[VERSION_TEXT_SIZE], text[TEXT_SIZE], ptx[COMPAT_PTX_SIZE];
    bool limited;

    printf("CUDA %s\n", version_text(version, release));
    for (int windows = 0; windows < 2; windows++) {
        const char *drivers = shipped(text, release, windows);
        output_field(windows ? "Windows" : "Linux", OUTPUT_PLAIN,
                     drivers[0] != '\0' ? drivers : "no driver is known to ship with it");
        drivers = oldest(release, windows, &limited);
        if (!drivers)
            continue;
        snprintf(text, sizeof text, "%s%s", drivers,
                 limited ? ", without what came after that driver's own release" : "");
        output_field("  runs from", OUTPUT_GOOD, text);
    }
    if (cushim_release_has_compat(release)) {
        snprintf(text, sizeof text,
                 "package cuda-compat-%d-%d, on Linux and data center GPUs, some RTX and Jetson",
                 release / 1000, release % 1000 / 10);
        output_field("before that", OUTPUT_PLAIN, text);
    }
    output_field("newest PTX", OUTPUT_PLAIN, compat_ptx(ptx, release) ? ptx : "not known");
}

static json_t *release_json(int release)
{
    static const char *const systems[] = {"linux", "windows"};
    struct cushim_toolkit toolkit = {.size = sizeof toolkit};
    json_t *root = json_object();
    json_t *toolkits = json_array();
    json_t *floor = json_object();
    bool limited = false;

    for (size_t i = 0; facts_toolkit_at(i, &toolkit); i++) {
        json_t *object;
        if (toolkit.release != release)
            continue;
        object = json_object();
        output_json_set(object, "update", json_integer(toolkit.update));
        output_json_set(object, "linux", output_json_text(toolkit.linux_driver));
        output_json_set(object, "windows", output_json_text(toolkit.windows_driver));
        output_json_append(toolkits, object);
    }
    for (int i = 0; i < 2; i++)
        output_json_set(floor, systems[i], output_json_text(oldest(release, i == 1, &limited)));
    output_json_set(floor, "limited", json_boolean(limited));
    output_json_set(root, "release", json_integer(release));
    output_json_set(root, "toolkits", toolkits);
    output_json_set(root, "runs_from", floor);
    output_json_set(root, "compat_package", json_boolean(cushim_release_has_compat(release)));
    output_json_set(root, "ptx", json_integer(facts_release_ptx(release)));
    return root;
}

/* A driver that is judged: by its version where that is known. */
struct driver {
    const char *name;
    const char *version; /* NULL: not known */
    int release;
    bool newer; /* than all that this build knows */
    bool windows;
};

static enum cushim_runs runs_with(const struct driver *driver, int release)
{
    if (!driver->version)
        return cushim_release_runs(driver->release, release);
    return driver->windows ? facts_driver_runs_windows(driver->version, release)
                           : facts_driver_runs(driver->version, release);
}

/* The first and the last release known that a driver serves in one of the ways; false: none. */
static bool range(const struct driver *driver, enum cushim_runs runs, int *first, int *last)
{
    const struct facts_branch *known;

    *first = *last = 0;
    for (size_t i = 0; (known = facts_branch_at(i)); i++) {
        if (runs_with(driver, known->release) != runs)
            continue;
        if (*first == 0 || known->release < *first)
            *first = known->release;
        if (known->release > *last)
            *last = known->release;
    }
    if (runs == CUSHIM_RUNS && *first != 0 && *last < driver->release)
        *last = driver->release; /* its own release, of which no driver is known */
    return *first != 0;
}

static void print_range(const char *name, enum output_style style, const struct driver *driver,
                        enum cushim_runs runs, const char *remark)
{
    char text[TEXT_SIZE], from[VERSION_TEXT_SIZE], to[VERSION_TEXT_SIZE];
    int first, last;

    if (!range(driver, runs, &first, &last))
        return;
    version_text(from, first);
    version_text(to, last);
    if (runs == CUSHIM_RUNS_NOT)
        snprintf(text, sizeof text, "CUDA %s and later%s", from, remark);
    else if (runs == CUSHIM_RUNS)
        snprintf(text, sizeof text, "CUDA %s and earlier%s", to, remark);
    else
        snprintf(text, sizeof text, "CUDA %s%s%s%s", from, first == last ? "" : " to ",
                 first == last ? "" : to, remark);
    output_field(name, style, text);
}

static void print_driver(const struct driver *driver)
{
    char version[VERSION_TEXT_SIZE], ptx[COMPAT_PTX_SIZE] = "", text[TEXT_SIZE];
    int release = driver->release;

    output_text(OUTPUT_TITLE, driver->name);
    fputs(driver->windows ? " on Windows" : "", stdout);
    printf(driver->newer ? ", newer than this build knows: at least CUDA %s\n" : ", CUDA %s\n",
           version_text(version, release));
    print_range("runs", OUTPUT_GOOD, driver, CUSHIM_RUNS, "");
    print_range("with limits", OUTPUT_WARNING, driver, CUSHIM_RUNS_LIMITED,
                ": without their new entries and PTX");
    print_range("runs not", OUTPUT_BAD, driver, CUSHIM_RUNS_NOT,
                cushim_release_has_compat(release) && !driver->windows
                    ? ", but with a cuda-compat package on data center GPUs"
                    : "");
    if (driver->newer)
        snprintf(text, sizeof text, "at least up to %s", compat_ptx(ptx, release) ? ptx : "?");
    else
        snprintf(text, sizeof text, "up to %s; a later one ends with error 222",
                 compat_ptx(ptx, release) ? ptx : "?");
    output_field("PTX", OUTPUT_PLAIN, ptx[0] != '\0' ? text : "not known");
}

static json_t *driver_compat_json(const struct driver *driver)
{
    static const struct {
        const char *name;
        enum cushim_runs runs;
    } ways[] = {{"runs", CUSHIM_RUNS}, {"limited", CUSHIM_RUNS_LIMITED}, {"not", CUSHIM_RUNS_NOT}};
    json_t *root = json_object();

    output_json_set(root, "driver", output_json_text(driver->name));
    output_json_set(root, "release", json_integer(driver->release));
    output_json_set(root, "newer", json_boolean(driver->newer));
    output_json_set(root, "windows", json_boolean(driver->windows));
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        json_t *object = json_array();
        int first, last;
        if (range(driver, ways[i].runs, &first, &last)) {
            output_json_append(object, json_integer(first));
            output_json_append(object, json_integer(last));
        }
        output_json_set(root, ways[i].name, object);
    }
    output_json_set(root, "ptx", json_integer(facts_release_ptx(driver->release)));
    return root;
}

static void report(const struct options *options, const struct driver *driver)
{
    if (options->json)
        output_json_print(driver_compat_json(driver));
    else
        print_driver(driver);
}

/* For the driver in a file, or the one found. */
static int report_found(const struct options *options, const char *command)
{
    const char *path = options->subject ? options->subject : options->driver;
    const struct cushim_api *cu = driver_open(path, CUSHIM_ORDER_DEFAULT);
    bool found = driver_found(cu, command);

    if (found)
        report(options,
               &(struct driver){.name = cushim_path(cu), .release = cushim_driver_version(cu)});
    cushim_close(cu);
    return found ? COMMAND_OK : COMMAND_NO_DRIVER;
}

static int run(const char *title, char **words)
{
    int release;

    given.subject = words[0];
    if (given.subject && given.driver)
        options_refuse("--driver does not go with '%s'", given.subject);
    if (!given.subject || strchr(given.subject, '/'))
        return report_found(&given, title);
    char version[FACTS_DRIVER_SIZE];
    if (facts_driver_version(given.subject, version)) {
        struct driver driver = {given.subject, version, facts_driver_release(version),
                                atoi(version) > facts_newest_branch(),
                                facts_driver_is_windows(version)};
        if (driver.release == 0) {
            fprintf(stderr, "%s: no release is known for driver %s\n", title, given.subject);
            return COMMAND_FAILED;
        }
        report(&given, &driver);
        return COMMAND_OK;
    }
    release = version_parse(given.subject);
    if (release == 0) {
        fprintf(stderr,
                "%s: '%s' is no CUDA release such as 12.4, no driver's branch or version such as "
                "550.163.01, and no path\n",
                title, given.subject);
        return COMMAND_USAGE;
    }
    if (facts_release_ptx(release) == 0) {
        char newest[VERSION_TEXT_SIZE];
        fprintf(stderr,
                "%s: nothing is known of CUDA %s; the newest one whose driver is known is %s\n",
                title, given.subject, version_text(newest, facts_newest_release()));
        return COMMAND_FAILED;
    }
    if (given.json)
        output_json_print(release_json(release));
    else
        print_release(release);
    return COMMAND_OK;
}

const struct command command_compat = {
    .name = "compat",
    .summary = "which driver runs which toolkit's programs",
    .synopsis = "[X.Y|DRIVER]",
    .doc = "Report which drivers run the programs of a CUDA release (X.Y), or which releases a "
           "driver serves: by its version on Linux, such as 550.163.01, or in NVIDIA's table for "
           "Windows, such as 551.61, by its branch, 550, by the path of its library, or the one "
           "that a program here gets. Never touches the GPU.",
    .notes = "The facts are from NVIDIA's tables; gen/registry/drivers.jsonl names each\n"
             "source.\n\n",
    .options = option_rows,
    .most = 1,
    .values = VALUES_DRIVERS,
    .run = run,
};
