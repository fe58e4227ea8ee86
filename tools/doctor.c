/* SPDX-License-Identifier: MIT */
/*
 * `cushim doctor`: why CUDA does not work on this machine. It changes nothing.
 */
#include "doctor.h"

#include "command.h"
#include "output.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 25, WIDTH = 100 }; /* columns */

static struct options {
    const char *root; /* NULL: this system */
    bool json, no_init;
} given;

static const struct option_row option_rows[] = {
    {.name = "root",
     .text = &given.root,
     .value = "FOLDER",
     .values = VALUES_FILES,
     .doc = "Examine the system whose files lie below this folder; nothing of it is loaded"},
    {.name = "no-init", .flag = &given.no_init, .doc = "Load no driver, and touch no GPU"},
    COMMAND_OPTION_JSON(given.json),
    {0},
};

void doctor_add(struct doctor *doctor, enum doctor_level level, const char *check,
                const char *format, ...)
{
    struct doctor_finding *more =
        realloc(doctor->finding, (doctor->count + 1) * sizeof *doctor->finding);
    va_list values;

    if (!more)
        output_no_memory();
    doctor->finding = more;
    more += doctor->count++;
    *more = (struct doctor_finding){.level = level, .check = check};
    va_start(values, format);
    vsnprintf(more->text, sizeof more->text, format, values);
    va_end(values);
}

void doctor_fix(struct doctor *doctor, const char *format, ...)
{
    struct doctor_finding *last = &doctor->finding[doctor->count - 1];
    va_list values;

    va_start(values, format);
    vsnprintf(last->fix, sizeof last->fix, format, values);
    va_end(values);
}

static const char *const level_names[] = {"ok", "warning", "error"};

static void print_text(const struct doctor *doctor)
{
    static const enum output_style styles[] = {OUTPUT_GOOD, OUTPUT_WARNING, OUTPUT_BAD};
    size_t counts[3] = {0};

    for (size_t i = 0; i < doctor->count; i++) {
        const struct doctor_finding *finding = &doctor->finding[i];
        char head[64];
        counts[finding->level]++;
        snprintf(head, sizeof head, "%-8s", level_names[finding->level]);
        output_text(styles[finding->level], head);
        printf("%-16s ", finding->check);
        output_text_folded(OUTPUT_PLAIN, finding->text, TEXT, WIDTH);
        if (finding->fix[0] != '\0') {
            printf("%*sfix: ", TEXT, "");
            output_text_folded(OUTPUT_PLAIN, finding->fix, TEXT + 5, WIDTH);
        }
    }
    printf("%zu error%s, %zu warning%s\n", counts[DOCTOR_ERROR],
           output_plural(counts[DOCTOR_ERROR]), counts[DOCTOR_WARNING],
           output_plural(counts[DOCTOR_WARNING]));
}

static void print_json(const struct doctor *doctor)
{
    json_t *root = json_object(), *findings = json_array();

    for (size_t i = 0; i < doctor->count; i++) {
        const struct doctor_finding *finding = &doctor->finding[i];
        json_t *object = json_object();
        output_json_set(object, "check", json_string(finding->check));
        output_json_set(object, "level", json_string(level_names[finding->level]));
        output_json_set(object, "text", output_json_text(finding->text));
        output_json_set(object, "fix", output_json_text(finding->fix[0] ? finding->fix : NULL));
        output_json_append(findings, object);
    }
    output_json_set(root, "findings", findings);
    output_json_print(root);
}

static int run(const char *title, char **words)
{
    static struct doctor doctor;
    int result = COMMAND_OK;

    (void)title, (void)words;
    doctor.root = given.root ? given.root : "";
    doctor.simulated = !given.root && !given.no_init && doctor_simulated();
    doctor_system(&doctor);
    doctor_files(&doctor);
    doctor_compilers(&doctor);
    doctor_environment(&doctor);
    if (!given.root && !given.no_init)
        doctor_driver(&doctor);
    if (given.json)
        print_json(&doctor);
    else
        print_text(&doctor);
    for (size_t i = 0; i < doctor.count; i++) {
        if (doctor.finding[i].level == DOCTOR_ERROR)
            result = COMMAND_FAILED;
    }
    free(doctor.finding);
    return result;
}

const struct command command_doctor = {
    .name = "doctor",
    .summary = "why CUDA does not work on this machine",
    .doc = "Examine the machine: GPUs, kernel module, device nodes, container, driver libraries, "
           "toolkits, compilers, compute cache, environment, and then the driver itself, with a "
           "kernel on "
           "each GPU. Each finding is ok, a warning or an error with its fix. Nothing is changed. "
           "Exits with 1 if there is an error.",
    .options = option_rows,
    .run = run,
};
