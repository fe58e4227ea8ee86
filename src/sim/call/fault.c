/* SPDX-License-Identifier: MIT */
/* The rules in force, and what they do to a call. */
#include "call/call.h"

#include <errno.h>

#define MAX_RULES 64

static struct rule rules[MAX_RULES];
static size_t count;
static struct {
    const char *meant;
    int version;
} wrong[SIM_ENTRY_COUNT]; /* by the entry that was given instead */

static const char *driver_symbol(size_t entry, char text[SIM_RULE_SYMBOL])
{
    (void)text;
    return sim_entries[entry].symbol;
}

static size_t driver_name_length(size_t entry)
{
    return strlen(sim_entries[entry].name);
}

const struct sim_rule_family sim_fault_rules = {
    .count = &sim_entry_count,
    .symbol = driver_symbol,
    .name_length = driver_name_length,
    .errors = cushim_errors,
    .error_count = &cushim_error_count,
    .error_strings = cushim_error_strings,
    .error_prefix = "CUDA_ERROR_",
    .all = "*",
    .driver = true,
    .names = "names are those of cuda.h, *, out-of-memory, device-lost, missing, wrong-abi, "
             "late, reorder and early",
};

static _Thread_local char last[sizeof rules->text]; /* the rule of this thread's last call */

const char *sim_fault_last(void)
{
    return *last ? last : NULL;
}

static bool refuse_memory(size_t bytes)
{
    bool refused = false;
    for (size_t i = 0; i < count; i++) {
        bool now = rules[i].kind == RULE_MEMORY && bytes > rules[i].bytes - rules[i].allocated;
        rules[i].fired += now;
        refused |= now;
        if (now)
            memcpy(last, rules[i].text, sizeof last);
    }
    for (size_t i = 0; i < count && !refused; i++)
        if (rules[i].kind == RULE_MEMORY)
            rules[i].allocated += bytes;
    return refused;
}

static bool has(int kind)
{
    for (size_t i = 0; i < count; i++)
        if ((int)rules[i].kind == kind)
            return true;
    return false;
}

static void begin_late(void)
{
    const struct rule *late = NULL;
    for (size_t i = 0; i < count; i++)
        if (rules[i].kind >= RULE_EARLY && (!late || rules[i].kind > late->kind))
            late = &rules[i];
    if (late)
        sim_late_begin(true, late->kind == RULE_REORDER, late->from, late->before, late->last);
    else
        sim_late_begin(false, false, 0, 0, 0);
}

bool sim_fault_add(const char *text, char *error, size_t size)
{
    bool good = true;
    char ignored[8], *copy = strdup(text), *rest = NULL;
    if (!copy) {
        snprintf(error, size, "no memory");
        return false;
    }
    for (char *rule = strtok_r(copy, ";", &rest); rule; rule = strtok_r(NULL, ";", &rest)) {
        char *why = good ? error : ignored; /* of the first that cannot be used */
        size_t room = good ? size : sizeof ignored;
        bool used =
            count < MAX_RULES && sim_rule_parse(&sim_fault_rules, rule, &rules[count], why, room);
        if (count == MAX_RULES)
            snprintf(why, room, "more than %d rules", MAX_RULES);
        count += used;
        good &= used;
    }
    free(copy);
    sim_memory_hooks.refuses = refuse_memory;
    begin_late();
    return good;
}

bool sim_fault_check(const char *text, char *error, size_t size)
{
    size_t before = count;
    bool good = sim_fault_add(text, error, size);
    count = before;
    begin_late();
    return good;
}

bool sim_fault_entry(const char *name, char *error, size_t size)
{
    return sim_rule_entry(&sim_fault_rules, name, error, size);
}

void sim_fault_clear(void)
{
    count = 0;
    begin_late();
}

const struct rule *sim_fault_at(size_t i)
{
    return i < count ? &rules[i] : NULL;
}

bool sim_fault_can_be_seen(const struct rule *rule)
{
    return rule->kind < RULE_MISSING;
}

static void sleep_ms(uint64_t milliseconds)
{
    struct timespec time = {(time_t)(milliseconds / 1000), (long)(milliseconds % 1000) * 1000000};
    sim_lock_leave();
    while (nanosleep(&time, &time) != 0 && errno == EINTR)
        ;
    sim_lock_enter();
}

/* Calls that ask no device anything. */
static bool about_none(const struct sim_entry *entry)
{
    static const char *const general[] = {
        "cuInit",         "cuDriverGetVersion", "cuGetProcAddress", "cuGetErrorName",
        "cuDeviceGet",    "cuGetErrorString",   "cuDeviceGetCount", "cuCtxGetCurrent",
        "cuCtxGetDevice", "cuCtxSetCurrent",    "cuCtxPushCurrent", "cuCtxPopCurrent"};
    for (size_t i = 0; i < sizeof general / sizeof *general; i++)
        if (strcmp(entry->name, general[i]) == 0)
            return true;
    return false;
}

/* A device that the call is about: that of an argument, else the current context's. */
static bool about_device(const struct sim_call *call, int64_t device)
{
    const struct sim_entry *entry = call->entry;
    if (about_none(entry))
        return false;
    for (unsigned i = 0; i < entry->parameter_count; i++) {
        const char *name = entry->parameters[i].name;
        if (entry->parameters[i].size == sizeof(int) && entry->parameters[i].kind != 'f' &&
            (strcmp(name, "dev") == 0 || strcmp(name, "device") == 0))
            return *(const int *)call->arguments[i] == device;
    }
    const struct sim_context *context = sim_current_any();
    return context && sim_object(SIM_CONTEXT, context) && context->device->ordinal == device;
}

/* What loaders call, such as cushim's, and owners around what they destroy: a test counts its
 * program's calls. */
static bool is_looking(const struct sim_entry *entry)
{
    return strcmp(entry->name, "cuGetProcAddress") == 0 ||
           strcmp(entry->name, "cuDriverGetVersion") == 0 ||
           strcmp(entry->name, "cuThreadExchangeStreamCaptureMode") == 0;
}

static bool names(const struct rule *rule, const struct sim_entry *entry)
{
    if (strcmp(rule->name, "*") == 0)
        return !is_looking(entry);
    return sim_rule_names(rule, entry->symbol, strlen(entry->name));
}

static bool hits(struct rule *rule, const struct sim_call *call)
{
    if (rule->kind != RULE_CALL || !names(rule, call->entry) ||
        (rule->device >= 0 && !about_device(call, rule->device)))
        return false;
    return sim_rule_count(rule);
}

static bool lost(struct rule *rule, const struct sim_call *call)
{
    if (rule->kind != RULE_LOST || is_looking(call->entry))
        return false;
    rule->seen++;
    return rule->seen >= rule->call && about_device(call, rule->device);
}

/* What ends an object. With its device lost, or by a rule for all calls, it fails and is done: no
 * program can do more, and what is not released is what it forgot. */
bool sim_fault_is_release(const char *name)
{
    static const char *const words[] = {"Destroy",    "Free",       "Unload", "Release",
                                        "Unregister", "Unmap",      "Close",  "Detach",
                                        "Reset",      "EndCapture", "Trim"};
    if (strncmp(name, "cuGraphAdd", strlen("cuGraphAdd")) == 0)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i]))
            return true;
    return false;
}

bool sim_fault_before(struct sim_call *call)
{
    bool answered = false;
    last[0] = '\0';
    for (size_t i = 0; i < count; i++) { /* all of them: each counts its calls */
        struct rule *rule = &rules[i];
        bool gone = lost(rule, call);
        if (!gone && !hits(rule, call))
            continue;
        CUresult error = (CUresult)rule->error;
        bool all = gone || strcmp(rule->name, "*") == 0;
        bool after = rule->after || (all && sim_fault_is_release(call->entry->name)) ||
                     strcmp(call->entry->name, "cuStreamEndCapture") == 0; /* it ends in any case */
        rule->fired++;
        if (error != CUDA_SUCCESS && !answered)
            memcpy(last, rule->text, sizeof last);
        if (rule->slow)
            sleep_ms(rule->slow); /* the rules may be others afterwards */
        if (error == CUDA_SUCCESS || answered)
            continue;
        if (after) {
            call->forced = error;
            continue;
        }
        call->result = error;
        answered = true;
    }
    return answered;
}

bool sim_fault_missing(const struct sim_entry *entry)
{
    for (size_t i = 0; i < count; i++)
        if (rules[i].kind == RULE_MISSING && strcmp(rules[i].name, entry->symbol) == 0)
            return true;
    return false;
}

bool sim_fault_traps(void)
{
    return has(RULE_WRONG_ABI);
}

void sim_fault_wrong(const struct sim_entry *entry, const char *meant, int version)
{
    wrong[entry - sim_entries].meant = meant;
    wrong[entry - sim_entries].version = version;
}

void sim_fault_trap(size_t number)
{
    const struct sim_entry *entry = &sim_entries[number];
    char line[400];
    sim_lock_enter();
    if (wrong[number].meant)
        snprintf(line, sizeof line,
                 "cushim: wrong ABI called: cuGetProcAddress(\"%s\", %d) of this CUDA %d.%d "
                 "driver gave %s, and the caller means %s",
                 entry->name, wrong[number].version, sim_config.cuda / 1000,
                 sim_config.cuda % 1000 / 10, entry->symbol, wrong[number].meant);
    else
        snprintf(line, sizeof line,
                 "cushim: wrong ABI called: the symbol %s has the parameters of CUDA %d.%d; "
                 "source that calls %s means others with every toolkit since",
                 entry->symbol, entry->since / 1000, entry->since % 1000 / 10, entry->name);
    struct sim_report_line called = {.used = 0};
    sim_report_put(&called, "cushim: it was called");
    const size_t words = called.used;
    called.used += sim_callers_put(called.text + words, sizeof called.text - 1 - words, &called);
    sim_lock_leave();
    sim_report_say(line);
    if (called.used > words && sim_report_has_log())
        sim_report_log(&called);
    abort();
}
