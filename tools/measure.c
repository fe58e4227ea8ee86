/* SPDX-License-Identifier: MIT */
/*
 * `cushim measure`: what this machine's driver and GPUs are, in a file that its owner can send.
 */
#include "command.h"
#include "driver.h"
#include "kernel_module.h"
#include "known.h"
#include "names.h"
#include "output.h"
#ifdef HAVE_ELF
#include "subject.h"
#endif

#include <cushim/feature.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORM = 1, NAME_SIZE = 128, MOST_GPUS = 64 };

static struct options {
    const char *driver, *name;
    bool no_init;
} given;

static const struct option_row option_rows[] = {
    COMMAND_OPTION_DRIVER(given.driver),
    {.name = "no-init", .flag = &given.no_init, .doc = "Leave the GPUs out, and touch none"},
    {.name = "name",
     .text = &given.name,
     .value = "NAME",
     .doc = "Name what was measured; without it the driver's version and the first GPU"},
    {0},
};

/* The driver's version by its file's name; else the kernel module's; "" if neither is known. */
static void read_version(char version[NAME_SIZE], const struct cushim_api *cu)
{
    static const char name[] = "libcuda.so.";
    char target[PATH_MAX];
    struct kernel_module module;
    const char *found = NULL;

    version[0] = '\0';
    if (cushim_path(cu) && realpath(cushim_path(cu), target))
        found = strstr(target, name);
    if (found && strchr(found + strlen(name), '.')) {
        snprintf(version, NAME_SIZE, "%s", found + strlen(name));
        return;
    }
    kernel_module_read(&module, "");
    if (!given.driver && kernel_module_version(&module))
        snprintf(version, NAME_SIZE, "%s", kernel_module_version(&module));
}

/* Each kind of GPU once: its name and its compute capability, and nothing else of it. */
static json_t *gpus_json(const struct cushim_api *cu)
{
    json_t *array = json_array();
    int count = 0;

    if (cu->cuDeviceGetCount(&count) != CUDA_SUCCESS)
        count = 0;
    for (int i = 0; i < count && i < MOST_GPUS; i++) {
        char name[NAME_SIZE] = "";
        int major = 0, minor = 0;
        CUdevice device;
        bool known = false;
        json_t *object, *other;
        size_t k;
        if (cu->cuDeviceGet(&device, i) != CUDA_SUCCESS ||
            cu->cuDeviceGetName(name, sizeof name, device) != CUDA_SUCCESS ||
            cu->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                                     device) != CUDA_SUCCESS ||
            cu->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                     device) != CUDA_SUCCESS)
            continue;
        json_array_foreach(array, k, other)
        {
            known |= strcmp(json_string_value(json_object_get(other, "gpu")), name) == 0;
        }
        if (known)
            continue;
        object = json_object();
        output_json_set(object, "gpu", output_json_text(name));
        output_json_set(object, "capability", json_integer(10 * major + minor));
        output_json_append(array, object);
    }
    return array;
}

static json_t *symbols_json(const struct cushim_api *cu)
{
    json_t *array = json_array();
    struct cushim_entry entry;

    for (size_t i = 0; cushim_entry_at(i, &entry); i++) {
        if (cushim_slot_at(cu, i).state == CUSHIM_STATE_AVAILABLE)
            output_json_append(array, json_string(entry.symbol));
    }
    return array;
}

/* What the driver's file exports and this build does not know. */
static json_t *unknown_json(const struct cushim_api *cu, const char *title)
{
    json_t *array = json_array();
#ifdef HAVE_ELF
    static struct subject subject;

    if (cushim_path(cu) && subject_read_file(&subject, cushim_path(cu), title) == COMMAND_OK) {
        for (size_t i = 0; i < subject.unknown_count; i++) {
            if (!known_private(subject.unknown[i]))
                output_json_append(array, output_json_text(subject.unknown[i]));
        }
        subject_release(&subject);
    }
#else
    (void)cu, (void)title;
#endif
    return array;
}

static json_t *features_json(const struct cushim_api *cu)
{
    struct cushim_feature_facts facts = {.size = sizeof facts};
    json_t *array = json_array();

    for (size_t i = 0; cushim_feature_list(i, &facts); i++) {
        json_t *object = json_object();
        enum cushim_support support = cushim_feature(cu, 0, facts.feature);
        output_json_set(object, "feature", json_string(facts.name));
        output_json_set(object, "answer", json_string(cushim_support_name(support)));
        output_json_append(array, object);
    }
    return array;
}

/* One element of a list a line, so that two files can be compared. */
static void print(FILE *file, const json_t *root)
{
    const char *name, *before = "{";
    json_t *value, *inner;
    size_t i;

    json_object_foreach((json_t *)root, name, value)
    {
        fprintf(file, "%s\"%s\": ", before, name);
        before = ",\n ";
        if (!json_is_array(value)) {
            json_dumpf(value, file, JSON_ENCODE_ANY);
            continue;
        }
        fputc('[', file);
        json_array_foreach(value, i, inner)
        {
            fputs(i > 0 ? ",\n  " : "\n  ", file);
            json_dumpf(inner, file, JSON_ENCODE_ANY);
        }
        fputc(']', file);
    }
    fputs("}\n", file);
}

static json_t *measure(const struct cushim_api *cu, bool devices, const char *title)
{
    json_t *root = json_object(), *driver = json_object();
    json_t *gpus = devices ? gpus_json(cu) : json_array();
    char version[NAME_SIZE], name[2 * NAME_SIZE + 1];
    char text[VERSION_TEXT_SIZE], release[VERSION_TEXT_SIZE + 8];
    const char *gpu = json_string_value(json_object_get(json_array_get(gpus, 0), "gpu"));

    read_version(version, cu);
    snprintf(release, sizeof release, "CUDA %s", version_text(text, cushim_driver_version(cu)));
    snprintf(name, sizeof name, "%s%s%s", version[0] ? version : release, gpu ? " " : "",
             gpu ? gpu : "");
    output_json_set(root, "name", output_json_text(given.name ? given.name : name));
    output_json_set(root, "measured", json_integer(FORM));
    output_json_set(root, "cushim", json_string(CUSHIM_VERSION_TEXT));
    output_json_set(driver, "version", json_integer(cushim_driver_version(cu)));
    output_json_set(driver, "linux", output_json_text(version[0] ? version : NULL));
    output_json_set(root, "driver", driver);
    output_json_set(root, "gpus", gpus);
    output_json_set(root, "unknown", unknown_json(cu, title));
    output_json_set(root, "symbols", symbols_json(cu));
    if (gpu)
        output_json_set(root, "features", features_json(cu));
    return root;
}

static int write_to(const char *path, const json_t *root, const char *title)
{
    FILE *file = path ? fopen(path, "we") : stdout;
    bool good;

    if (file)
        print(file, root);
    good = file && !ferror(file);
    if (file && path)
        good = fclose(file) == 0 && good;
    if (!good)
        fprintf(stderr, "%s: %s: %s\n", title, path ? path : "stdout", strerror(errno));
    return good ? COMMAND_OK : COMMAND_SYSTEM;
}

static int run(const char *title, char **words)
{
    const struct cushim_api *cu = driver_open(given.driver, CUSHIM_ORDER_DEFAULT);
    int result = COMMAND_NO_DRIVER;
    json_t *root;

    if (driver_found(cu, title)) {
        bool devices = !given.no_init && cushim_init(cu) == CUSHIM_OK;
        if (!devices && !given.no_init)
            fprintf(stderr, "%s: without GPUs: %s\n", title, cushim_message(cu));
        root = measure(cu, devices, title);
        result = write_to(words[0], root, title);
        json_decref(root);
    }
    cushim_close(cu);
    return result;
}

const struct command command_measure = {
    .name = "measure",
    .summary = "write what this driver and these GPUs are to a file, to send it",
    .synopsis = "[FILE]",
    .doc = "Write one file about this machine's driver and GPUs, or print it: the driver's "
           "version, the entries that it has, names and compute capabilities of the GPUs, and the "
           "features of the first one. It has no path, no name of a machine or a user, no serial "
           "number and no UUID. 'cushim report' and --facts read it.",
    .options = option_rows,
    .most = 1,
    .values = VALUES_FILES,
    .run = run,
};
