/* SPDX-License-Identifier: MIT */
#include "sim_check.h"

#include "command.h"
#include "output.h"
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RESERVED = 64 << 10 }; /* a process writes about 500 bytes */

bool sim_check_reserve(const char *report)
{
    int file = open(report, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    bool good = file >= 0 && (fallocate(file, FALLOC_FL_KEEP_SIZE, 0, RESERVED) == 0 ||
                              errno == EOPNOTSUPP || errno == ENOSYS);

    if (!good)
        fprintf(stderr, "cushim sim: no room for the counts at the program's end: %s\n",
                strerror(errno));
    if (file >= 0)
        close(file);
    return good;
}

/* The processes' objects, in the order of their ends; whether one of them is not whole, and whether
 * any process called the driver. */
static json_t *read_report(const char *report, bool *cut, bool *called)
{
    json_t *processes = json_array();
    FILE *file = fopen(report, "re");
    char *line = NULL;
    size_t size = 0;

    while (file && getline(&line, &size, file) > 0) {
        *called = true;
        if (line[strspn(line, " ")] == '\0')
            continue;
        *cut |= json_array_append_new(processes, json_loads(line, 0, NULL)) != 0;
    }
    free(line);
    if (file)
        fclose(file);
    return processes;
}

__attribute__((format(printf, 2, 3))) static void found(json_t *problems, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    json_array_append_new(problems, json_vsprintf(format, list));
    va_end(list);
}

/* "cuX\t/a+0x12...", as the driver has it, becomes "cuX at main.c:42 (main)". Of paths each byte
 * beyond ASCII came as a character of its own. */
static void find_place(json_t *object, const char *key)
{
    json_t *origin = json_object_get(object, key);
    char *bytes = json_is_string(origin) ? strdup(json_string_value(origin)) : NULL;
    char place[PLACE_SIZE], *to = bytes;

    for (const char *from = bytes; from && *from != '\0'; from++) {
        char upper = (char)((from[0] & 3) << 6);
        bool whole = (*from & 0xfc) != 0xc0;
        *to++ = whole ? from[0] : (char)(upper | (*++from & 0x3f));
    }
    if (to)
        *to = '\0';
    place_of(bytes ? strchr(bytes, '\t') : NULL, place);
    if (bytes && bytes[0] != '\0')
        json_object_set_new(object, key,
                            json_sprintf("%.*s%s%s", (int)strcspn(bytes, "\t"), bytes,
                                         place[0] != '\0' ? " at " : "", place));
    free(bytes);
}

static void find_places(json_t *process)
{
    static const char *const keys[] = {"leaked_by", "left_to_context_by"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        json_t *by = json_object_get(process, keys[i]), *value;
        const char *kind;
        json_object_foreach(by, kind, value) find_place(by, kind);
    }
    find_place(process, "faults_of_kernels_by");
}

/* ", made by cuMemAlloc_v2 at main.c:42 (main)"; of several things, what made the first. */
static void put_origin(char text[2 * PLACE_SIZE], const json_t *origin, json_int_t count,
                       const char *verb)
{
    const char *by = json_string_value(origin);

    text[0] = '\0';
    if (by && by[0] != '\0')
        snprintf(text, 2 * PLACE_SIZE, ", %s%s by %s", count == 1 ? "" : "the first ", verb, by);
}

/* "2 libraries" */
static void put_count(char text[128], json_int_t count, const char *kind)
{
    size_t length = strlen(kind);
    bool ies = count != 1 && length > 2 && strcmp(kind + length - 2, "ry") == 0;

    snprintf(text, 128, "%lld %.*s%s", (long long)count, (int)length - ies, kind,
             ies          ? "ies"
             : count == 1 ? ""
                          : "s");
}

/* One problem for each kind that is left. */
static void judge_count(json_t *problems, const json_t *process, const char *key)
{
    long long id = json_integer_value(json_object_get(process, "process"));
    char by[2 * PLACE_SIZE], what[128];
    const char *kind;
    json_t *value, *origins;

    snprintf(by, sizeof by, "%s_by", key);
    origins = json_object_get(process, by);
    json_object_foreach(json_object_get(process, key), kind, value)
    {
        bool memory = json_is_object(value);
        json_int_t count = json_integer_value(memory ? json_object_get(value, "blocks") : value);
        json_int_t bytes = json_integer_value(json_object_get(value, "bytes"));

        put_origin(by, json_object_get(origins, kind), count, "made");
        put_count(what, count, kind);
        if (memory)
            snprintf(what, sizeof what, "%lld byte%s of memory in %lld block%s", (long long)bytes,
                     output_plural((size_t)bytes), (long long)count, output_plural((size_t)count));
        if (strcmp(key, "leaked") == 0)
            found(problems, "process %lld leaked %s%s", id, what, by);
        else
            found(problems, "process %lld left to the end of a context: %s%s%s", id, what, by,
                  !memory && count > 1 ? ": destroy each" : "");
    }
}

/* How often a rule had an effect in all processes: each has the same rules in the same order. */
static void judge_rules(json_t *problems, const json_t *processes)
{
    json_t *first = json_object_get(json_array_get(processes, 0), "rules");
    size_t number, i;
    json_t *rule, *process;

    json_array_foreach(first, number, rule)
    {
        json_int_t fired = 0;
        bool seen = true;

        json_array_foreach(processes, i, process)
        {
            json_t *same = json_array_get(json_object_get(process, "rules"), number);

            seen &= !json_is_null(json_object_get(same, "fired"));
            fired += json_integer_value(json_object_get(same, "fired"));
        }
        if (seen && fired == 0)
            found(problems, "the rule %s never fired",
                  json_string_value(json_object_get(rule, "rule")));
    }
}

/* No process had the rules. One of what is missing needs no call to have its effect. */
static void judge_unused(json_t *problems, const char *rules)
{
    char *copy = strdup(rules ? rules : ""), *rest = NULL;

    for (char *rule = copy ? strtok_r(copy, ";", &rest) : NULL; rule;
         rule = strtok_r(NULL, ";", &rest)) {
        if (strncmp(rule, "missing:", 8) != 0 && strcmp(rule, "wrong-abi") != 0 &&
            strcmp(rule, "early") != 0 && strncmp(rule, "late", 4) != 0 &&
            strncmp(rule, "reorder", 7) != 0)
            found(problems, "the rule %s never fired", rule);
    }
    free(copy);
}

static json_t *judge(const json_t *processes, bool called, int code)
{
    json_t *problems = json_array(), *process;
    size_t i;

    if (!called)
        judge_unused(problems, secure_getenv("CUSHIM_SIM_FAULT"));
    else if (json_array_size(processes) == 0 && code != 127) /* the system's loader ended it */
        found(problems,
              "no process that called the driver left a count at its end; programs of Go, "
              "and those that call _exit or are killed, leave none: --log has their "
              "calls");
    json_array_foreach(processes, i, process)
    {
        json_int_t id = json_integer_value(json_object_get(process, "process"));
        json_int_t faults = json_integer_value(json_object_get(process, "found_in_kernels"));
        json_int_t ended = json_integer_value(json_object_get(process, "faults_of_kernels"));
        char by[2 * PLACE_SIZE];
        find_places(process);
        if (faults)
            found(problems, "process %lld: the checks of kernels found %lld fault%s", (long long)id,
                  (long long)faults, output_plural((size_t)faults));
        put_origin(by, json_object_get(process, "faults_of_kernels_by"), ended, "launched");
        if (ended)
            found(problems, "process %lld: %lld kernel%s ended by a fault%s", (long long)id,
                  (long long)ended, output_plural((size_t)ended), by);
        judge_count(problems, process, "leaked");
        judge_count(problems, process, "left_to_context");
    }
    judge_rules(problems, processes);
    return problems;
}

static int write_summary(const char *path, json_t *processes, json_t *problems, int code)
{
    json_t *whole =
        json_pack("{s:i, s:O, s:O}", "exit", code, "processes", processes, "problems", problems);
    int rc = whole ? json_dump_file(whole, path, JSON_INDENT(2)) : -1;

    json_decref(whole);
    if (rc == 0)
        return code;
    fprintf(stderr, "cushim sim: --summary: %s: %s\n", path, strerror(errno));
    return COMMAND_SYSTEM;
}

int sim_check(const char *report, const char *summary, bool check, int code)
{
    bool cut = false, called = false;
    json_t *processes = read_report(report, &cut, &called), *problems, *problem;
    size_t i;

    if (cut) { /* what is missing there is no fault of the program */
        fputs("cushim sim: the count of a process could not be written whole\n", stderr);
        json_decref(processes);
        return code != 0 ? code : COMMAND_SYSTEM;
    }
    problems = judge(processes, called, code);

    if (check)
        json_array_foreach(problems, i, problem)
            fprintf(stderr, "cushim sim: check: %s\n", json_string_value(problem));
    if (check && code == 0 && json_array_size(problems) > 0)
        code = COMMAND_CHECK;
    if (summary)
        code = write_summary(summary, processes, problems, code);
    json_decref(problems);
    json_decref(processes);
    return code;
}
