/* SPDX-License-Identifier: MIT */
#include "call/call.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>

#define PATIENCE_S 2

static bool registered, text_wanted;
static char *report_path;
static pid_t owner;          /* the process that the counts are of */
static uint64_t answered[2]; /* its calls that succeeded, that failed */
static char missed[80];      /* the first entry that it called and the driver lacks */

void sim_summary_call(CUresult result, const char *lacking)
{
    if (!registered)
        return;
    if (owner != getpid()) { /* a child begins anew */
        owner = getpid();
        answered[0] = answered[1] = 0;
        missed[0] = '\0';
    }
    answered[result != CUDA_SUCCESS]++;
    if (lacking && !*missed)
        snprintf(missed, sizeof missed, "%s", lacking);
}

/* A child has what its parent made in its memory, but can neither use nor destroy it. */
static void count(struct sim_count *leaked, struct sim_count *taken)
{
    *leaked = *taken = (struct sim_count){.bytes = 0};
    if (!sim_device_initialized())
        return;
    *leaked = sim_live_count(false);
    *taken = sim_live_taken;
}

static void say_text(const struct sim_count *leaked, const struct sim_count *taken)
{
    char prefix[80], line_prefix[100], *text = NULL, *rest = NULL;
    const struct rule *rule;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return;
    snprintf(prefix, sizeof prefix, "cushim sim: process %ld ", (long)owner);
    fprintf(
        memory, "%s(%s): CUDA %d.%d, %d device%s; %" PRIu64 " calls succeeded, %" PRIu64 " failed",
        prefix, program_invocation_short_name, sim_config.cuda / 1000, sim_config.cuda % 1000 / 10,
        sim_config.devices, sim_config.devices == 1 ? "" : "s", answered[0], answered[1]);
    fprintf(memory, *missed ? ", of them %s, which the driver lacks\n" : "%s\n", missed);
    for (size_t i = 0; (rule = sim_fault_at(i)); i++)
        if (sim_fault_can_be_seen(rule) && rule->fired > 0)
            fprintf(memory, "cushim sim: process %ld had the fault %s %" PRIu64 " time%s\n",
                    (long)owner, rule->text, rule->fired, rule->fired == 1 ? "" : "s");
    snprintf(line_prefix, sizeof line_prefix, "%sleaked ", prefix);
    if (sim_live_is_empty(leaked) && sim_live_is_empty(taken))
        fprintf(memory, "%snothing\n", line_prefix);
    sim_live_print(leaked, memory, line_prefix, "");
    snprintf(line_prefix, sizeof line_prefix, "%sleft ", prefix);
    sim_live_print(taken, memory, line_prefix, " to the end of a context");
    if (fclose(memory) == 0)
        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            sim_report_say(line);
    free(text);
}

static void put_string(FILE *file, const char *text)
{
    putc('"', file);
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\')
            fprintf(file, "\\%c", byte);
        else if (byte < ' ' || byte > '~')
            fprintf(file, "\\u%04x", byte);
        else
            putc(byte, file);
    }
    putc('"', file);
}

/* What made the first of each kind. */
static void write_origins(FILE *memory, const char *key, const struct sim_count *count)
{
    const char *comma = "";
    fprintf(memory, ", \"%s\": {", key);
    for (int kind = 0; kind <= SIM_KIND_COUNT; kind++) {
        if (!count->origins[kind])
            continue;
        fprintf(memory, "%s\"%s\": ", comma, sim_kinds_name((enum sim_kind)kind));
        put_string(memory, count->origins[kind]);
        comma = ", ";
    }
    putc('}', memory);
}

/* In one write: other processes append to the same file. */
static void write_report(const struct sim_count *leaked, const struct sim_count *taken)
{
    const struct sim_launch_findings found = sim_launch_prepare_findings();
    const struct rule *rule;
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return;
    fprintf(memory, "{\"process\": %ld, \"program\": ", (long)owner);
    put_string(memory, program_invocation_short_name);
    fprintf(memory,
            ", \"cuda\": \"%d.%d\", \"devices\": %d, \"succeeded\": %" PRIu64
            ", \"failed\": %" PRIu64 ", \"leaked\": ",
            sim_config.cuda / 1000, sim_config.cuda % 1000 / 10, sim_config.devices, answered[0],
            answered[1]);
    sim_live_json(leaked, memory);
    fputs(", \"left_to_context\": ", memory);
    sim_live_json(taken, memory);
    if (sim_callers_wanted) {
        write_origins(memory, "leaked_by", leaked);
        write_origins(memory, "left_to_context_by", taken);
        fputs(", \"faults_of_kernels_by\": ", memory);
        put_string(memory, found.origin ? found.origin : "");
    }
    fputs(", \"rules\": [", memory);
    for (size_t i = 0; (rule = sim_fault_at(i)); i++) {
        fprintf(memory, "%s{\"rule\": ", i ? ", " : "");
        put_string(memory, rule->text);
        if (sim_fault_can_be_seen(rule))
            fprintf(memory, ", \"fired\": %" PRIu64 "}", rule->fired);
        else
            fputs(", \"fired\": null}", memory);
    }
    fprintf(memory, "], \"found_in_kernels\": %llu, \"faults_of_kernels\": %llu}\n", found.notes,
            found.faults);
    int file = open(report_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fclose(memory) != 0 || file < 0 || write(file, text, size) != (ssize_t)size)
        sim_report_say("cushim sim: the summary cannot be written");
    if (file >= 0)
        close(file);
    free(text);
}

size_t sim_summary_left(char *text, size_t size)
{
    struct sim_count left = {.bytes = 0};
    char *whole = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&whole, &length);
    if (!memory)
        return 0;
    sim_lock_enter();
    if (sim_device_initialized())
        left = sim_live_count(true);
    fprintf(memory, "{\"found_in_kernels\": %llu, \"left\": ", sim_launch_prepare_findings().notes);
    sim_live_json(&left, memory);
    sim_lock_leave();
    putc('}', memory);
    if (fclose(memory) != 0 || length >= size)
        length = 0;
    else
        memcpy(text, whole, length + 1);
    free(whole);
    return length;
}

/* A call that another thread is in may take for ever; a callback that ends the process may hold the
 * lock itself. */
static bool lock_for_a_while(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    return pthread_mutex_timedlock(&sim_lock_mutex, &until) == 0;
}

void sim_summary_end(void)
{
    struct sim_count leaked, taken;
    if (!registered || owner != getpid())
        return; /* a child that called nothing */
    bool locked = lock_for_a_while();
    count(&leaked, &taken);
    if (text_wanted)
        say_text(&leaked, &taken);
    if (report_path)
        write_report(&leaked, &taken);
    if (locked)
        sim_lock_leave();
}

/* A blank tells that a process called the driver, if it leaves nothing else: JSON may begin so. */
static void begin_report(const char *report)
{
    int file = report ? open(report, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (file < 0)
        return;
    if (write(file, " ", 1) != 1)
        sim_report_say("cushim sim: the summary cannot be written");
    close(file);
}

void sim_summary_at_end(bool text, const char *report)
{
    if (!text && !report)
        return;
    registered = true;
    begin_report(report);
    text_wanted = text;
    free(report_path);
    report_path = report ? strdup(report) : NULL;
    owner = getpid();
}
