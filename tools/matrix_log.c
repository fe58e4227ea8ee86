/* SPDX-License-Identifier: MIT */
/* What the simulated driver's log says of a run. */
#include "matrix.h"

#include "known.h"
#include "names.h"
#include "call/fault.h"

#include <cushim/cushim.h>

#include <stdlib.h>
#include <string.h>

enum { THREAD_SIZE = 64 };

/* A line of the log. */
struct call {
    const char *thread, *name, *arguments, *answer;
    const char *callers;             /* "\t/a+0x12...", or empty */
    char stream[MATRIX_STREAM_SIZE]; /* "0x55d1d0f5e2c0", "NULL"; empty: it has none */
    bool missed;                     /* the driver lacks it */
    bool refused;                    /* a helper of cushim's that did not like its arguments */
    bool ruled;                      /* a rule made it fail */
    bool inside;                     /* a callback made it, which may not */
    bool clears;                     /* it sets what its last argument is: nothing */
};

/* Whether a line ends with words, which are taken off. */
static bool ends_with(char *line, const char *words)
{
    size_t length = strlen(line), end = strlen(words);

    if (length < end || strcmp(line + length - end, words) != 0)
        return false;
    line[length - end] = '\0';
    return true;
}

/* The stream among a call's arguments. */
static void read_stream(const char *arguments, char stream[MATRIX_STREAM_SIZE])
{
    static const char begin[] = "hStream=";
    const char *at = strstr(arguments, begin);
    size_t length = at ? strcspn(at + strlen(begin), ",)") : 0;

    snprintf(stream, MATRIX_STREAM_SIZE, "%.*s", (int)length, at ? at + strlen(begin) : "");
}

/* "cuX(...) = 801 CUDA_ERROR_NOT_SUPPORTED, 1 us" of a line of the log as its name and its answer;
 * false where the line has no call. */
static bool read_call(char *line, struct call *call)
{
    char *open = strchr(line, '('), *equals = NULL, *comma, *tab;

    if (!open)
        return false;
    call->callers = "";
    line[strcspn(line, "\n")] = '\0';
    tab = strchr(open, '\t');
    if (tab) {
        *tab = '\0';
        call->callers = tab + 1;
    }
    for (char *at = open; (at = strstr(at, ") = ")); at++)
        equals = at;
    if (!equals)
        return false;
    call->clears = equals - open > 5 && strncmp(equals - 5, "=NULL", 5) == 0;
    call->missed = ends_with(equals, ", the driver lacks it");
    call->refused = ends_with(equals, ", cushim refused it");
    call->ruled = ends_with(equals, ", by a rule");
    call->inside = ends_with(equals, ", in a callback");
    comma = strrchr(equals, ',');
    if (comma)
        *comma = '\0';
    read_stream(open, call->stream);
    *open = *equals = '\0';
    call->arguments = open + 1;
    call->name = strrchr(line, ' ') ? strrchr(line, ' ') + 1 : line;
    call->thread = line;
    if (call->name > line) {
        line[call->name - line - 1] = '\0';
        call->thread = strrchr(line, ' ') ? strrchr(line, ' ') + 1 : line;
    }
    call->clears = call->clears && strstr(call->name, "Set");
    call->answer = equals + strlen(") = ");
    return true;
}

/* Calls by which programs find out what there is, and what a code means; that they fail is no
 * news. */
static bool is_probe(const char *name)
{
    return strncmp(name, "cuGetProcAddress", 16) == 0 || strcmp(name, "cuGetExportTable") == 0 ||
           strcmp(name, "cuGetErrorName") == 0 || strcmp(name, "cuGetErrorString") == 0;
}

bool matrix_log_acts(const char *name)
{
    static const char *const words[] = {"Query",      "TotalMem",    "ComputeCapability",
                                        "CanAccess",  "Occupancy",   "Count",
                                        "Enumerate",  "IsCapturing", "Pop",
                                        "CaptureMode"}; /* as destructors of cushim.hpp set it */
    bool gives = strncmp(name, "cuModule", 8) == 0 || strncmp(name, "cuLibrary", 9) == 0;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strstr(name, words[i]))
            return false;
    }
    return (gives || !strstr(name, "Get")) && strcmp(name, "cuInit") != 0 &&
           !sim_fault_is_release(name);
}

/* The thread that a rule made a call fail for. */
struct followed {
    char thread[THREAD_SIZE]; /* empty: none is followed */
    bool told;                /* the program's words have the error, or may have it */
    bool released;            /* it ended something since */
};

/* Whether it ends what an error leaves behind: an object, a connection, a measurement. */
static bool is_end(const char *name)
{
    static const char *const words[] = {"Disable", "Disconnect", "Stop", "Unbind"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strstr(name, words[i]))
            return true;
    }
    return sim_fault_is_release(name);
}

/* Of that thread the next call, but for the same again, a wait, a release, and one that only asks:
 * a program that takes notice makes none that does work, or told the error before it cleaned up and
 * began anew. One that asks for the error's name takes notice. */
static void follow(struct followed *followed, struct matrix_case *one, const struct call *call)
{
    const char *name = call->name;

    if (strcmp(call->thread, followed->thread) != 0 || strcmp(name, one->fired) == 0 ||
        strstr(name, "Synchronize"))
        return;
    if (strncmp(name, "cuGetError", 10) == 0) {
        followed->thread[0] = '\0';
    } else if (is_end(name)) {
        followed->released = true;
    } else if (matrix_log_acts(name) && !is_probe(name) && !strstr(name, "Current")) {
        followed->thread[0] = '\0';
        if (!(followed->released && followed->told))
            snprintf(one->went_on, sizeof one->went_on, "%s", name);
    }
}

/* Whether the program printed more than there is room for: the begin is not known. */
static bool is_cut(const char words[MATRIX_OUTPUT_SIZE])
{
    return strlen(words) == MATRIX_OUTPUT_SIZE - 1;
}

/* "cuX\t/a+0x12\t..." */
static void keep(char **by, const struct call *call)
{
    free(*by);
    if (call->callers[0] == '\0' || asprintf(by, "%s\t%s", call->name, call->callers) < 0)
        *by = NULL;
}

/* A call that ended in a stub of cushim, unless the program may do without: the first is the reason
 * that comes first. */
static void note_missed(struct matrix_case *one, const struct call *call,
                        const struct option_list *survived, char reason[MATRIX_CALL_SIZE])
{
    const char *name = call->name;
    size_t index = known_symbol(name), older;
    struct cushim_entry entry;
    char since[VERSION_TEXT_SIZE];

    if (one->missed || index == KNOWN_NONE ||
        matrix_survives(survived, name, call->callers, &one->unplaced))
        return;
    keep(&one->missed_by, call);
    entry = known_entry(index);
    one->missed = true;
    snprintf(one->missing, sizeof one->missing, "%s", name);
    one->silent |= !matrix_says(one, entry.name) && !matrix_tells(one, call->answer);
    older = known_newest(entry.name, entry.stream, version_parse(one->cuda));
    if (entry.since > version_parse(one->cuda) && older != KNOWN_NONE)
        snprintf(reason, MATRIX_CALL_SIZE,
                 "%s is not available: it came with CUDA %s; the driver, of CUDA %s, has %s%s",
                 name, version_text(since, entry.since), one->cuda, known_entry(older).symbol,
                 strcmp(known_entry(older).symbol, entry.name) == 0 ? "_v1" : "");
    else if (entry.since > version_parse(one->cuda))
        snprintf(reason, MATRIX_CALL_SIZE,
                 "%s is not available: it came with CUDA %s, and the driver, of CUDA %s, is older",
                 name, version_text(since, entry.since), one->cuda);
    else
        snprintf(reason, MATRIX_CALL_SIZE,
                 "%s is not available: the driver, of CUDA %s, does not export it", name,
                 one->cuda);
}

/* Whether a failure is an answer, which programs ask for. A kernel that is not there is none: its
 * name is misspelt. */
static bool is_answer(const char *name, const char *answer)
{
    static const int answers[] = {CUDA_ERROR_NOT_READY,
                                  CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
                                  CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,
                                  CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE,
                                  CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                                  CUDA_ERROR_NOT_SUPPORTED};
    int code = atoi(answer);

    if (code == CUDA_ERROR_NOT_FOUND)
        return strcmp(name, "cuModuleGetFunction") != 0 && strcmp(name, "cuLibraryGetKernel") != 0;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        if (code == answers[i])
            return true;
    }
    return code == CUDA_SUCCESS;
}

/* A call that failed, by a rule or by itself, unless the program may survive that. */
static void note_failed(struct matrix_case *one, const struct call *call, bool silent,
                        const struct option_list *survived)
{
    const char *name = call->name;

    if (is_probe(name) || matrix_survives(survived, name, call->callers, &one->unplaced))
        return;
    one->silent |= silent;
    if (one->fired[0] != '\0')
        return;
    snprintf(one->fired, sizeof one->fired, "%s", name);
    keep(&one->fired_by, call);
    if (call->refused && call->arguments[0] != '\0') /* it has the reason */
        matrix_put_before(one, call->arguments);
}

/* A time between two events that was asked for before their work was done. */
struct early {
    char events[THREAD_SIZE]; /* empty: none */
    char *by;
};

/* Programs may ask until it is there: what counts is that nobody asked again. */
static void note_early(struct early *early, const struct call *call)
{
    const char *events = strstr(call->arguments, "hStart=");
    int code = atoi(call->answer);

    if (strncmp(call->name, "cuEventElapsedTime", strlen("cuEventElapsedTime")) != 0 || !events)
        return;
    if (code == CUDA_ERROR_NOT_READY && early->events[0] == '\0') {
        snprintf(early->events, sizeof early->events, "%s", events);
        keep(&early->by, call);
    } else if (code == CUDA_SUCCESS && strcmp(early->events, events) == 0) {
        early->events[0] = '\0';
    }
}

/* At the end of the log. */
static void end_early(struct early *early, struct matrix_case *one,
                      const struct option_list *survived)
{
    const char *callers = early->by ? strchr(early->by, '\t') : NULL;
    struct call call = {.name = "cuEventElapsedTime", .callers = callers ? callers + 1 : ""};

    if (early->events[0] != '\0' && !one->ruled) {
        note_failed(one, &call, true, survived);
        if (one->call[0] == '\0') {
            snprintf(one->call, sizeof one->call, "%s: %d %s", call.name, CUDA_ERROR_NOT_READY,
                     cushim_error_name(CUDA_ERROR_NOT_READY));
            keep(&one->call_by, &call);
        }
    }
    free(early->by);
}

/* "cushim sim: process 7 (./a) was ended by signal 11 (Segmentation fault)" */
static int read_signal(const char *line)
{
    static const char words[] = " was ended by signal ";
    const char *at = strncmp(line, "cushim sim: process ", 20) == 0 ? strstr(line, words) : NULL;

    return at ? atoi(at + strlen(words)) : 0;
}

static void note_freed(struct matrix_case *one, const char *by)
{
    free(one->freed_by);
    one->freed_by = strdup(by);
}

/* "cushim: simulated device 0: kernel 'k', ...": the first, unless one ended the kernel. What
 * launched it comes behind it, perhaps after calls of other threads. */
static void note_kernel(struct matrix_case *one, const char *line, const char *freed, bool *told)
{
    static const char begin[] = "cushim: simulated device ";
    static const char launched[] = "cushim: it was launched by ";
    static const char refused[] = "a module was refused", race[] = "race: ";
    const char *words =
        strncmp(line, begin, sizeof begin - 1) == 0 ? strstr(line + sizeof begin - 1, ": ") : NULL;

    if (*told && strncmp(line, launched, sizeof launched - 1) == 0) {
        one->kernel_by = strdup(line + sizeof launched - 1);
        *told = false;
    }
    if (!words)
        return;
    *told = one->kernel[0] == '\0' || strstr(words, "; every later call ");
    if (!*told)
        return;
    words += 2;
    one->refused = strncmp(words, refused, sizeof refused - 1) == 0;
    one->race = strncmp(words, race, sizeof race - 1) == 0;
    snprintf(one->kernel, sizeof one->kernel, "%.*s", (int)strcspn(words, "\n"), words);
    free(one->kernel_by);
    one->kernel_by = NULL;
    if (freed && strstr(words, " was freed"))
        note_freed(one, freed);
}

/* The words behind others that a line begins with, from malloc. */
static bool keep_behind(char **by, const char *line, const char *words)
{
    size_t length = strlen(words);

    if (strncmp(line, words, length) != 0)
        return false;
    free(*by);
    line += length;
    *by = strndup(line, strcspn(line, "\n"));
    return true;
}

/* "cushim: it is late: cuMemcpyDtoHAsync_v2\t/a+0x12" */
static void note_late(struct matrix_case *one, const char *line)
{
    static const char changed[] = "cushim: the host changed what it reads: ";
    static const char chains[] = "cushim: chains of work: ";

    one->changed |= strncmp(line, changed, strlen(changed)) == 0;
    if (strncmp(line, chains, strlen(chains)) == 0 && atol(line + strlen(chains)) > one->chains)
        one->chains = atol(line + strlen(chains));
    if (!keep_behind(&one->late_by, line, "cushim: it is late: ") &&
        !keep_behind(&one->wait_by, line, "cushim: it began at: "))
        keep_behind(&one->first_by, line, "cushim: this one runs behind it: ");
}

/* The call that failed, perhaps for memory that is gone. 600 says that work is not ready. */
static void note_call(struct matrix_case *one, const struct call *call, const char *freed)
{
    const char *name = call->name, *answer = call->answer;
    bool gone = freed && atoi(answer) == CUDA_ERROR_INVALID_VALUE;

    one->last = known_symbol(name);
    if (one->named || strncmp(answer, "0 ", 2) == 0 || strncmp(answer, "600 ", 4) == 0 ||
        is_probe(name))
        return;
    one->named = matrix_says(one, name) || matrix_tells(one, answer);
    if (!one->named && one->call[0] != '\0')
        return;
    snprintf(one->call, sizeof one->call, "%s: %s%s", name, answer,
             gone           ? MATRIX_FREED
             : call->inside ? MATRIX_INSIDE
                            : "");
    keep(&one->call_by, call);
    if (gone)
        note_freed(one, freed);
}

/* Of a program that does nothing on the GPU: whether it does, or which call may be why not. */
static void note_work(struct matrix_case *one, const struct call *call)
{
    static const char *const works[] = {"Launch", "Memcpy", "Memset"};
    int code = atoi(call->answer);

    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        one->works = one->works || strstr(call->name, works[i]);
    if (one->refused_by || call->ruled || code == CUDA_SUCCESS || code == CUDA_ERROR_NOT_READY ||
        is_probe(call->name) ||
        (!matrix_log_acts(call->name) && code != CUDA_ERROR_NOT_INITIALIZED))
        return;
    if (asprintf(&one->refused_by, "%s\t%s", call->name, call->callers) < 0)
        one->refused_by = NULL;
}

/* Whether it is one of the program's own: the default one waits for others, and they for it. */
static bool is_alone(const struct matrix_used *used, const char *stream)
{
    return !used->joined && strlen(stream) > strlen("0x2") && strcmp(stream, "NULL") != 0;
}

/* The place of a stream among those with work; behind them: it has none. */
static size_t place_of_stream(const struct matrix_used *used, const char *stream)
{
    size_t place = 0;

    while (place < used->queued && strcmp(used->streams[place], stream) != 0)
        place++;
    return place;
}

static bool is_idle(const struct matrix_used *used, const char *stream)
{
    return is_alone(used, stream) ? place_of_stream(used, stream) == used->queued
                                  : used->queued == 0;
}

static void note_queued(struct matrix_used *used, const char *stream)
{
    size_t place = place_of_stream(used, stream);

    used->joined = place == MATRIX_STREAMS || !is_alone(used, stream);
    if (place == used->queued && place < MATRIX_STREAMS)
        memcpy(used->streams[used->queued++], stream, MATRIX_STREAM_SIZE);
}

static void note_waited(struct matrix_used *used, const char *stream)
{
    size_t place = place_of_stream(used, stream);

    if (!is_alone(used, stream)) {
        used->queued = 0;
        used->joined = false;
    } else if (place < used->queued) {
        memmove(used->streams[place], used->streams[--used->queued], MATRIX_STREAM_SIZE);
    }
}

/* Returns whether it is a wait for nothing. */
static bool note_used(struct matrix_used *used, const struct call *call)
{
    const char *symbol = call->name;
    size_t index = known_symbol(symbol);
    bool waits = strstr(symbol, "Synchronize"), later = strstr(symbol, "Async");
    bool ready = strncmp(call->answer, "0 ", 2) == 0 && /* asked until the work was done */
                 (strncmp(symbol, "cuStreamQuery", 13) == 0 || strcmp(symbol, "cuEventQuery") == 0);
    bool idle = waits && is_idle(used, call->stream);

    if (index == KNOWN_NONE)
        return idle;
    if ((idle || call->clears) && used->calls[index] < MATRIX_FAULTS)
        used->idle[index] |= 1U << used->calls[index];
    if (used->calls[index]++ == 0)
        used->index[used->count++] = index;
    if (strstr(symbol, "BeginCapture"))
        used->captures++;
    else if (strstr(symbol, "EndCapture"))
        used->captures -= used->captures > 0;
    else if (waits || ready)
        note_waited(used, call->stream);
    else if (strstr(symbol, "Memcpy") && !later)
        note_waited(used, "");
    else if (strstr(symbol, "WaitEvent"))
        used->joined = true;
    else if (used->captures == 0 && matrix_log_acts(symbol) && (later || strstr(symbol, "Launch")))
        note_queued(used, call->stream);
    return idle;
}

/* The wait that a rule of --fault-each made fail tries nothing if in this run it waited for
 * nothing, since threads have another order in each; or if the process calls on: an error of work
 * stays in a device's context, so that the next call returns it, too. That one fails in a run of
 * its own. Nor does a wait of a destructor of cushim.hpp, which has nobody to tell. `process`
 * becomes "7/", that of the wait; empty: it is still to come. */
static void note_wait(struct matrix_case *one, const struct call *call, bool idle,
                      char process[THREAD_SIZE])
{
    const char *name = call->name;
    bool acts = matrix_log_acts(name) && !is_probe(name) && !strstr(name, "Current");

    if (process[0] != '\0' && strncmp(call->thread, process, strlen(process)) == 0) {
        one->untried |= strstr(name, "Synchronize") ? !idle : acts;
    } else if (call->ruled && strstr(one->fault, ",after,") &&
               strncmp(one->fault, name, strcspn(one->fault, ":")) == 0) {
        snprintf(process, THREAD_SIZE, "%.*s/", (int)strcspn(call->thread, "/"), call->thread);
        one->untried = idle || place_is_owner(call->callers);
    }
}

int matrix_log(const char *path, struct matrix_case *one, const struct option_list *survived,
               struct matrix_used *used)
{
    static const char wrong[] = "cushim: wrong ABI called: ";
    static const char called[] = "cushim: it was called\t";
    static const char ended[] = "cushim: it was ended by signal ";
    FILE *file = fopen(path, "re");
    char *line = NULL, *freed = NULL, reason[MATRIX_CALL_SIZE] = "";
    size_t room = 0;
    char process[THREAD_SIZE] = "";
    struct followed followed = {.thread = ""};
    struct matrix_used own = {0};
    struct early early = {.by = NULL};
    int number = 0;
    bool kernel = false; /* the launch of the kernel that is told is still to come */
    bool gone = false;   /* the line before has what freed the memory of this call */

    one->last = KNOWN_NONE;
    while (file && getline(&line, &room, file) > 0) {
        struct call call;
        const char *by = gone ? freed : NULL;
        gone = keep_behind(&freed, line, "cushim: it was freed by ");
        number = read_signal(line);
        if (strncmp(line, wrong, strlen(wrong)) == 0)
            snprintf(reason, sizeof reason, "%.*s", (int)strcspn(line + 8, ";\n"), line + 8);
        if (strncmp(line, called, strlen(called)) == 0 && !one->missed_by &&
            asprintf(&one->missed_by, "wrong ABI called\t%s", line + strlen(called)) < 0)
            one->missed_by = NULL;
        if (strncmp(line, ended, strlen(ended)) == 0) {
            free(one->ended_by);
            one->ended_by = strdup(line + strlen(ended));
        }
        note_kernel(one, line, freed, &kernel);
        if (one->fault[0] != '\0' && !matrix_is_fault(one))
            note_late(one, line);
        if (!read_call(line, &call))
            continue;
        if (call.refused) {
            if (!one->ruled)
                note_failed(one, &call, true, survived);
            continue;
        }
        one->calls++;
        follow(&followed, one, &call);
        if (call.missed) {
            note_missed(one, &call, survived, reason);
            continue;
        }
        note_wait(one, &call, note_used(used ? used : &own, &call), process);
        if (call.ruled) {
            one->ruled = true;
            bool told = matrix_tells(one, call.answer);
            note_failed(one, &call, !told, survived);
            if (one->fault[0] != '\0' && strcmp(one->fired, call.name) == 0) {
                followed =
                    (struct followed){.told = told || is_cut(one->output) || is_cut(one->errors)};
                snprintf(followed.thread, sizeof followed.thread, "%s", call.thread);
            }
        }
        if (!one->ruled && !is_answer(call.name, call.answer) &&
            (matrix_log_acts(call.name) || sim_fault_is_release(call.name)))
            note_failed(one, &call, true, survived);
        note_early(&early, &call);
        note_call(one, &call, by);
        note_work(one, &call);
    }
    end_early(&early, one, survived);
    if (one->untried)
        one->went_on[0] = '\0';
    one->told = reason[0] != '\0';
    if (one->told)
        matrix_put_before(one, reason);
    free(line);
    free(freed);
    if (file)
        fclose(file);
    return number;
}
