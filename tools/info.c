/* SPDX-License-Identifier: MIT */
/*
 * `cushim info`: which driver a program gets here, why that one, and what it has.
 */
#include "command.h"
#include "compat.h"
#include "devices.h"
#include "driver.h"
#include "facts.h"
#include "kernel_module.h"
#include "management.h"
#include "names.h"
#include "output.h"

#include <stdio.h>

static struct options {
    const char *driver; /* NULL: search */
    bool init;
    bool json;
} given;

/* All that is known before anything touches the GPU. */
struct facts {
    const struct cushim_api *cu;
    struct cushim_attempt used; /* size 0 without a driver */
    struct kernel_module module;
    size_t states[CUSHIM_STATE_UNKNOWN + 1]; /* number of entries in each */
};

static const struct option_row option_rows[] = {
    COMMAND_OPTION_DRIVER(given.driver),
    {.name = "init", .flag = &given.init, .doc = "Start the driver (cuInit) and list its devices"},
    COMMAND_OPTION_JSON(given.json),
    {0},
};

static void collect(struct facts *facts, const struct cushim_api *cu)
{
    struct cushim_entry entry;

    *facts = (struct facts){.cu = cu};
    struct cushim_attempt attempt = {.size = sizeof attempt};
    for (size_t i = 0; cushim_attempt_at(cu, i, &attempt); i++)
        if (attempt.status == CUSHIM_OK)
            facts->used = attempt;
    kernel_module_read(&facts->module, "");
    for (size_t i = 0; cushim_entry_at(i, &entry); i++)
        facts->states[cushim_slot_at(cu, i).state]++;
}

static json_t *attempts_json(const struct facts *facts)
{
    json_t *attempts = json_array();

    struct cushim_attempt attempt = {.size = sizeof attempt};

    for (size_t i = 0; cushim_attempt_at(facts->cu, i, &attempt); i++) {
        json_t *object = json_object();

        output_json_set(object, "path", output_json_text(attempt.path));
        output_json_set(object, "source", json_string(source_name(attempt.source)));
        output_json_set(object, "status", json_string(cushim_status_name(attempt.status)));
        output_json_set(object, "message", output_json_text(attempt.message));
        output_json_append(attempts, object);
    }
    return attempts;
}

static json_t *table_json(const struct facts *facts)
{
    json_t *table = json_object();

    output_json_set(table, "registry_version", json_integer(cushim_registry_version()));
    output_json_set(table, "entries", json_integer((json_int_t)cushim_entry_count()));
    for (int state = 0; state < CUSHIM_STATE_UNKNOWN; state++) {
        output_json_set(table, state_name((enum cushim_state)state),
                        json_integer((json_int_t)facts->states[state]));
    }
    return table;
}

static json_t *remarks_json(const struct facts *facts)
{
    json_t *remarks = json_array();

    for (const struct remark_words *words = remark_words; words->name; words++) {
        if (cushim_remarks(facts->cu) & words->remark)
            output_json_append(remarks, json_string(words->name));
    }
    return remarks;
}

static json_t *nvml_json(void)
{
    const struct cushim_nvml *nvml = cushim_nvml_load(NULL);
    json_t *object = json_object();

    output_json_set(object, "status", json_string(cushim_status_name(cushim_nvml_status(nvml))));
    output_json_set(object, "message", output_json_text(cushim_nvml_message(nvml)));
    output_json_set(object, "entries", json_integer(CUSHIM_NVML_ENTRY_COUNT));
    output_json_set(object, "available", json_integer((json_int_t)management_entries()));
    return object;
}

static json_t *facts_json(const struct facts *facts)
{
    json_t *root = json_object();
    json_t *driver = driver_json(facts->cu);
    json_t *module = json_object();

    output_json_set(driver, "message", output_json_text(cushim_message(facts->cu)));
    output_json_set(driver, "source",
                    output_json_text(facts->used.size ? source_name(facts->used.source) : NULL));

    output_json_set(driver, "ptx",
                    json_integer(facts_release_ptx(cushim_driver_version(facts->cu))));

    output_json_set(module, "version", output_json_text(kernel_module_version(&facts->module)));
    output_json_set(module, "file", output_json_text(facts->module.file));

    output_json_set(root, "cushim", json_string(CUSHIM_VERSION_TEXT));
    output_json_set(root, "driver", driver);
    output_json_set(root, "attempts", attempts_json(facts));
    output_json_set(root, "kernel_module", module);
    output_json_set(root, "table", table_json(facts));
    output_json_set(root, "remarks", remarks_json(facts));
    output_json_set(root, "nvml", nvml_json());
    return root;
}

static void print_driver(const struct facts *facts)
{
    const char *path = cushim_path(facts->cu);
    const char *module = kernel_module_version(&facts->module);
    char version[VERSION_TEXT_SIZE], runs[COMPAT_SUMMARY_SIZE];

    output_text(OUTPUT_TITLE, "Driver");
    putchar('\n');
    if (!facts->used.size) {
        output_field("none", OUTPUT_BAD, cushim_message(facts->cu));
    } else {
        output_field("path", OUTPUT_GOOD, path ? path : facts->used.path);
        output_field("why this one", OUTPUT_PLAIN, source_reason(facts->used.source));
        output_field("CUDA version", OUTPUT_PLAIN,
                     version_text(version, cushim_driver_version(facts->cu)));
        output_field("runs", OUTPUT_PLAIN, compat_summary(runs, cushim_driver_version(facts->cu)));
    }
    if (module)
        output_field("kernel module", OUTPUT_PLAIN, module);
    else if (KERNEL_MODULES)
        output_field("kernel module", OUTPUT_WARNING, "none is loaded");
}

static void print_attempts(const struct facts *facts)
{
    struct output_table table = {.columns = 4};

    output_text(OUTPUT_TITLE, "Candidates, in the order in which they were tried");
    putchar('\n');
    struct cushim_attempt attempt = {.size = sizeof attempt};
    for (size_t i = 0; cushim_attempt_at(facts->cu, i, &attempt); i++) {
        bool good = attempt.status == CUSHIM_OK;

        output_table_add(&table, good ? OUTPUT_GOOD : OUTPUT_WARNING,
                         cushim_status_name(attempt.status));
        output_table_add(&table, OUTPUT_PLAIN, source_name(attempt.source));
        output_table_add(&table, OUTPUT_PLAIN, attempt.path ? attempt.path : "-");
        output_table_add(&table, OUTPUT_DIM, attempt.message ? attempt.message : "");
    }
    output_table_print(&table, "  ");
}

static void print_table(const struct facts *facts)
{
    static const char *const meanings[CUSHIM_STATE_UNKNOWN] = {
        [CUSHIM_STATE_NEWER] = "their release is newer than the driver",
        [CUSHIM_STATE_ABSENT] = "the driver is new enough, but does not export them",
        [CUSHIM_STATE_PLATFORM] = "they exist on another platform only",
    };
    struct output_table table = {.columns = 3};
    char text[64];

    snprintf(text, sizeof text, "Entries known to cushim %s, up to CUDA ", CUSHIM_VERSION_TEXT);
    output_text(OUTPUT_TITLE, text);
    output_text(OUTPUT_TITLE, version_text(text, cushim_registry_version()));
    putchar('\n');
    for (int state = 0; state < CUSHIM_STATE_UNKNOWN; state++) {
        if (state != CUSHIM_STATE_AVAILABLE && facts->states[state] == 0)
            continue;
        output_table_add(&table, OUTPUT_PLAIN, state_name((enum cushim_state)state));
        if (state == CUSHIM_STATE_AVAILABLE) {
            snprintf(text, sizeof text, "%zu of %zu", facts->states[state], cushim_entry_count());
        } else {
            snprintf(text, sizeof text, "%zu", facts->states[state]);
        }
        output_table_add(&table, OUTPUT_PLAIN, text);
        output_table_add(&table, OUTPUT_DIM, meanings[state] ? meanings[state] : "");
    }
    output_table_print(&table, "  ");
}

static void print_nvml(void)
{
    const struct cushim_nvml *nvml = cushim_nvml_load(NULL);
    bool good = cushim_nvml_status(nvml) == CUSHIM_OK;
    char text[64];

    output_text(OUTPUT_TITLE, "NVML, for monitors and schedulers");
    putchar('\n');
    output_field(good ? "library" : "none", good ? OUTPUT_GOOD : OUTPUT_WARNING,
                 cushim_nvml_message(nvml));
    if (!good)
        return;
    snprintf(text, sizeof text, "%zu of %d", management_entries(), CUSHIM_NVML_ENTRY_COUNT);
    output_field("entries", OUTPUT_PLAIN, text);
}

static void print_facts(const struct facts *facts)
{
    print_driver(facts);
    print_attempts(facts);
    print_table(facts);
    print_nvml();
    if (cushim_remarks(facts->cu) == 0)
        return;
    output_text(OUTPUT_TITLE, "Remarks");
    putchar('\n');
    for (const struct remark_words *words = remark_words; words->name; words++) {
        if (cushim_remarks(facts->cu) & words->remark) {
            fputs("  ", stdout);
            output_text(OUTPUT_WARNING, words->sentence);
            putchar('\n');
        }
    }
}

static int run(const char *title, char **words)
{
    struct facts facts;
    const struct cushim_api *cu;
    json_t *root = NULL;
    int result;

    (void)title, (void)words;
    cu = driver_open(given.driver, CUSHIM_ORDER_DEFAULT);
    collect(&facts, cu);
    if (given.json)
        root = facts_json(&facts);
    else
        print_facts(&facts);

    result = cushim_status(cu) == CUSHIM_OK ? COMMAND_OK : COMMAND_NO_DRIVER;
    if (given.init)
        result = devices_report(cu, root);
    else if (given.json)
        output_json_set(root, "init", json_null());
    if (root)
        output_json_print(root);

    cushim_close(cu);
    return result;
}

const struct command command_info = {
    .name = "info",
    .summary = "which driver a program here gets, and why that one",
    .doc = "Report which CUDA driver a program here gets and why that one, every candidate that "
           "was tried, the versions of driver and kernel module, and how much of the CUDA driver "
           "API the driver has. Never touches the GPU unless --init is given.",
    .options = option_rows,
    .run = run,
};
