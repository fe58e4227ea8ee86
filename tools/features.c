/* SPDX-License-Identifier: MIT */
/*
 * `cushim features`: what this driver, and a device, can do.
 */
#include "command.h"
#include "driver.h"
#include "facts_file.h"
#include "management.h"
#include "names.h"
#include "output.h"

#include <cushim/feature.h>

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { REASON_SIZE = 256 };

static struct options {
    const char *driver; /* NULL: search */
    const char *glob;   /* NULL: all */
    int device;
    bool missing;
    bool json;
} given = {.device = CUSHIM_NO_DEVICE};

static const struct option_row option_rows[] = {
    COMMAND_OPTION_DRIVER(given.driver),
    {.name = "device",
     .number = &given.device,
     .high = INT_MAX,
     .value = "N",
     .doc = "Start the driver (cuInit) and ask this device too; without it, the driver alone"},
    {.name = "missing", .flag = &given.missing, .doc = "Only features that are not supported"},
    {.name = "name",
     .text = &given.glob,
     .value = "GLOB",
     .doc = "Only features whose name or group matches, such as 'graph*'"},
    FACTS_OPTION,
    COMMAND_OPTION_JSON(given.json),
    {0},
};

/* The feature of a file that was taken last; NULL: it is one that the build knows. */
static const struct facts_feature *added;

/* A feature of a file, behind the others; false at the end. */
static bool take_added(size_t index, struct cushim_feature_facts *facts)
{
    struct cushim_feature_facts known = {.size = sizeof known};
    size_t count = 0;

    while (cushim_feature_list(count, &known))
        count++;
    if (index - count >= facts_added.features)
        return false;
    added = &facts_added.feature[index - count];
    *facts = (struct cushim_feature_facts){.size = sizeof *facts,
                                           .name = added->name,
                                           .group = added->group,
                                           .text = added->text,
                                           .since = added->since,
                                           .entry_count = added->count};
    return true;
}

static enum cushim_support judge_added(const struct cushim_api *cu, char reason[REASON_SIZE])
{
    char since[VERSION_TEXT_SIZE];

    snprintf(reason, REASON_SIZE, "%s: there is no driver", added->name);
    if (cushim_status(cu) != CUSHIM_OK)
        return CUSHIM_UNSUPPORTED_NO_DRIVER;
    snprintf(reason, REASON_SIZE, "%s: it came with CUDA %s", added->name,
             version_text(since, added->since));
    if (cushim_driver_version(cu) < added->since)
        return CUSHIM_UNSUPPORTED_DRIVER;
    for (size_t i = 0; i < added->count; i++) {
        struct cushim_entry entry;
        snprintf(reason, REASON_SIZE, "%s: the driver lacks %s", added->name,
                 cushim_entry_at(added->entry[i], &entry) ? entry.symbol : "an entry");
        if (cushim_slot_at(cu, added->entry[i]).state != CUSHIM_STATE_AVAILABLE)
            return CUSHIM_UNSUPPORTED_ABSENT;
    }
    snprintf(reason, REASON_SIZE, "%s: %s", added->name, added->text);
    return CUSHIM_SUPPORTED;
}

/* The next feature asked for, from *index on, which moves behind it; false at the end. */
static bool next_feature(const struct options *options, const struct cushim_api *cu, size_t *index,
                         struct cushim_feature_facts *facts, enum cushim_support *support,
                         char reason[REASON_SIZE])
{
    facts->size = sizeof *facts;
    for (;; (*index)++) {
        added = NULL;
        if (!cushim_feature_list(*index, facts) && !take_added(*index, facts))
            return false;
        if (options->glob && fnmatch(options->glob, facts->name, 0) != 0 &&
            fnmatch(options->glob, facts->group, 0) != 0)
            continue;
        if (added)
            *support = judge_added(cu, reason);
        else
            cushim_feature_reason(cu, options->device, facts->feature, support, reason,
                                  REASON_SIZE);
        if (!options->missing || *support != CUSHIM_SUPPORTED) {
            (*index)++;
            return true;
        }
    }
}

static json_t *entries_json(const struct cushim_feature_facts *facts)
{
    json_t *entries = json_array();
    struct cushim_entry entry;
    size_t index = 0;

    for (size_t i = 0; i < facts->entry_count; i++) {
        if (added)
            index = added->entry[i];
        else
            cushim_feature_entry(facts->feature, i, &index);
        if (cushim_entry_at(index, &entry))
            output_json_append(entries, json_string(entry.symbol));
    }
    return entries;
}

static json_t *feature_json(const struct cushim_feature_facts *facts, enum cushim_support support,
                            const char *reason)
{
    json_t *object = json_object();

    output_json_set(object, "feature", json_string(facts->name));
    output_json_set(object, "group", json_string(facts->group));
    output_json_set(object, "text", json_string(facts->text));
    output_json_set(object, "since", json_integer(facts->since));
    output_json_set(object, "answer", json_string(cushim_support_name(support)));
    output_json_set(object, "reason", output_json_text(reason));
    output_json_set(object, "entries", entries_json(facts));
    output_json_set(object, "attribute", output_json_text(facts->attribute_name));
    output_json_set(object, "capability", json_integer(facts->capability));
    output_json_set(object, "platform", output_json_text(facts->platform));
    return object;
}

/* What NVML tells of the device that was asked; false if none was, or there is no NVML. */
static bool read_management(const struct options *options, const struct cushim_api *cu,
                            struct management_facts *facts)
{
    CUdevice device;
    const char *why;

    if (options->device == CUSHIM_NO_DEVICE ||
        cu->cuDeviceGet(&device, options->device) != CUDA_SUCCESS || !management_start(&why))
        return false;
    management_read(cu, device, facts);
    return true;
}

static void print_json(const struct options *options, const struct cushim_api *cu)
{
    struct management_facts management;
    struct cushim_feature_facts facts;
    enum cushim_support support;
    char reason[REASON_SIZE];
    json_t *root = json_object();
    json_t *features = json_array();
    bool asked = options->device != CUSHIM_NO_DEVICE;

    for (size_t i = 0; next_feature(options, cu, &i, &facts, &support, reason);)
        output_json_append(features, feature_json(&facts, support, reason));
    output_json_set(root, "driver", driver_json(cu));
    output_json_set(root, "device", asked ? json_integer(options->device) : json_null());
    output_json_set(root, "features", features);
    output_json_set(root, "nvml",
                    read_management(options, cu, &management) ? management_json(&management)
                                                              : json_null());
    output_json_print(root);
}

static enum output_style support_style(enum cushim_support support)
{
    switch (support) {
    case CUSHIM_SUPPORTED:
        return OUTPUT_GOOD;
    case CUSHIM_UNSUPPORTED_DRIVER:
    case CUSHIM_SUPPORT_UNDECIDED:
        return OUTPUT_WARNING;
    case CUSHIM_UNSUPPORTED_PLATFORM:
        return OUTPUT_DIM;
    default:
        return OUTPUT_BAD;
    }
}

static void print_text(const struct options *options, const struct cushim_api *cu)
{
    static const char *const titles[] = {"FEATURE", "SINCE", "ANSWER", "WHAT, OR WHY NOT"};
    struct output_table table = {.columns = sizeof titles / sizeof titles[0]};
    struct cushim_feature_facts facts;
    enum cushim_support support;
    char reason[REASON_SIZE];
    size_t shown = 0, supported = 0;

    for (size_t i = 0; i < table.columns; i++)
        output_table_add(&table, OUTPUT_TITLE, titles[i]);
    for (size_t i = 0; next_feature(options, cu, &i, &facts, &support, reason); shown++) {
        char since[VERSION_TEXT_SIZE];
        const char *why = reason + strlen(facts.name) + strlen(": ");

        output_table_add(&table, OUTPUT_PLAIN, facts.name);
        output_table_add(&table, OUTPUT_PLAIN, version_text(since, facts.since));
        output_table_add(&table, support_style(support), cushim_support_name(support));
        output_table_add(&table, support == CUSHIM_SUPPORTED ? OUTPUT_PLAIN : OUTPUT_DIM,
                         support == CUSHIM_SUPPORTED ? facts.text : why);
        supported += support == CUSHIM_SUPPORTED;
    }

    driver_print(cu);
    output_table_print(&table, "");
    printf("%zu feature%s shown, %zu of these supported\n", shown, output_plural(shown), supported);
    struct management_facts management;
    char text[MANAGEMENT_TEXT_SIZE];
    if (read_management(options, cu, &management))
        printf("By NVML: %s\n", management_words(text, &management));
}

static int run(const char *title, char **words)
{
    const struct cushim_api *cu;
    bool found, usable;

    (void)words;
    cu = driver_open(given.driver, CUSHIM_ORDER_DEFAULT);
    found = driver_found(cu, title);
    usable =
        found && (given.device == CUSHIM_NO_DEVICE || driver_has_device(cu, given.device, title));
    if (given.json)
        print_json(&given, cu);
    else if (found || given.glob) /* else none is supported */
        print_text(&given, cu);
    cushim_close(cu);
    return usable ? COMMAND_OK : COMMAND_NO_DRIVER;
}

const struct command command_features = {
    .name = "features",
    .summary = "what the driver, and a device, can do",
    .doc = "List what the driver, and a device, can do: each feature with the release that brought "
           "it and, where it is missing, why. Never touches the GPU unless --device is given.",
    .notes = "Answers:\n"
             "  supported  the driver has it, and so has the device\n"
             "  device     the driver has it, the device does not\n"
             "  driver     the driver is older than the release that brought it\n"
             "  absent     the driver is new enough, but lacks an entry of it\n"
             "  platform   it exists on another platform only\n"
             "  undecided  a device decides: --device asks one\n"
             "  failed     the device could not be asked\n"
             "  no-driver  there is no driver at all\n\n",
    .options = option_rows,
    .hint = "; names go behind --name",
    .run = run,
};
