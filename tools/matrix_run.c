/* SPDX-License-Identifier: MIT */
#include "matrix.h"

#include "command.h"
#include "matrix_stream.h"
#include "names.h"
#include "sim_check.h"
#include "output.h"
#include "progress.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 256, MOST_HUNG = 2, POLL_MS = 5, KILL_SECONDS = 2, TELL_SECONDS = 15 };

struct job {
    pid_t pid; /* 0: free */
    bool over;
    int status;
    size_t number;
    double begin, asked; /* asked to end at; 0: not */
    struct matrix_stream output, errors;
    struct matrix_told told;
};

/* A signal that asks to end; 0: none. */
static volatile sig_atomic_t stopped;

static void stop(int number)
{
    stopped = number;
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void file_of(char path[PATH_MAX], const struct matrix_plan *plan, size_t number,
                    const char *kind)
{
    snprintf(path, PATH_MAX, "%s/%zu.%s", plan->folder, number, kind);
}

/* Programs print its name if they cannot open the driver. */
static void folder_of(char path[PATH_MAX], const struct matrix_plan *plan, const char *driver,
                      size_t number)
{
    file_of(path, plan, number, strcmp(driver, MATRIX_NO_DRIVER) == 0 ? "no-driver" : "driver");
}

static const char *const links[] = {"libcuda.so.1", "libcuda.so"};

/* A folder with the names by which programs open the driver. */
static bool place_driver(const struct matrix_plan *plan, const struct matrix_case *one,
                         size_t number)
{
    char folder[PATH_MAX], path[PATH_MAX + 16];
    bool good;

    folder_of(folder, plan, one->driver, number);
    good = mkdir(folder, 0700) == 0;
    for (size_t i = 0; good && i < sizeof links / sizeof links[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, links[i]);
        good = symlink(one->driver, path) == 0;
    }
    return good;
}

static void take_away(const struct matrix_plan *plan, const char *driver, size_t number)
{
    char folder[PATH_MAX], path[PATH_MAX + 16];

    folder_of(folder, plan, driver, number);
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, links[i]);
        unlink(path);
    }
    rmdir(folder);
}

#define NOT_STARTED "cushim matrix: it cannot be started: "

static _Noreturn void give_up(int errors)
{
    dprintf(errors, NOT_STARTED "%s\n", strerror(errno));
    _exit(127);
}

/* In the new process: output to pipes, no input, a group of its own. */
static void settle(const int to[2], pid_t parent)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(127);
    if (nothing < 0 || dup2(to[0], 1) < 0 || dup2(to[1], 2) < 0 || dup2(nothing, 0) < 0)
        give_up(to[1]);
}

/* cushim's table has each ABI by its own name. Drivers before 11.3 have no cuGetProcAddress, and so
 * cushim looks up plain symbols there, as programs do that mean another ABI. */
static bool is_of_the_table(const char *fault, const struct matrix_case *one)
{
    return strcmp(fault, "wrong-abi") == 0 && version_parse(one->cuda) < 11030 &&
           matrix_missing_has_cushim();
}

/* Become `cushim sim` with the case's settings. */
static _Noreturn void become_simulated(const struct matrix_plan *plan,
                                       const struct matrix_case *one, size_t number)
{
    char *words[MOST_ARGUMENTS], log[PATH_MAX], summary[PATH_MAX], check[256];
    int count = 0;

    file_of(log, plan, number, "log");
    snprintf(check, sizeof check, "--check=%s", plan->checks ? plan->checks : "");
    words[count++] = "cushim";
    words[count++] = "sim";
    words[count++] = "--quiet";
    if (plan->check) {
        words[count++] = plan->checks ? check : "--check";
    } else if (plan->fault_count > 0) {
        file_of(summary, plan, number, "json");
        words[count++] = "--summary";
        words[count++] = summary;
    }
    words[count++] = "--cuda";
    words[count++] = (char *)one->cuda;
    words[count++] = "--log";
    words[count++] = log;
    if (plan->profile) {
        words[count++] = "--profile";
        words[count++] = (char *)plan->profile;
    }
    if (plan->memory) {
        words[count++] = "--memory";
        words[count++] = (char *)plan->memory;
    }
    if (one->devices || plan->devices) {
        words[count++] = "--devices";
        words[count++] = (char *)(one->devices ? one->devices : plan->devices);
    }
    for (int i = 0; i < plan->fault_count && count < MOST_ARGUMENTS - 10; i++) {
        if (is_of_the_table(plan->faults[i], one))
            continue;
        words[count++] = "--fault";
        words[count++] = (char *)plan->faults[i];
    }
    if (one->fault[0] != '\0') {
        words[count++] = "--fault";
        words[count++] = (char *)one->fault;
    }
    words[count++] = "--";
    for (char **word = plan->program; *word && count < MOST_ARGUMENTS - 1; word++)
        words[count++] = *word;
    words[count] = NULL;
    setenv("CUSHIM_SIM_CALLERS", "1", 1);
    execv("/proc/self/exe", words);
    give_up(STDERR_FILENO);
}

/* Become the program with a real driver in front of its library search. */
static _Noreturn void become_real(const struct matrix_plan *plan, const char *driver, size_t number)
{
    char search[2 * PATH_MAX + 8], copy[PATH_MAX], folder[PATH_MAX];
    const char *old = secure_getenv("LD_LIBRARY_PATH");

    folder_of(folder, plan, driver, number);
    /* Old drivers need a library that lies beside them. */
    snprintf(copy, sizeof copy, "%s", driver);
    snprintf(search, sizeof search, "%s:%s%s%s", folder, dirname(copy),
             old && *old != '\0' ? ":" : "", old ? old : "");
    unsetenv("CUSHIM_LIBCUDA");
    bool absent = strcmp(driver, MATRIX_NO_DRIVER) == 0; /* cushim would go on to other places */
    if ((!absent || setenv("CUSHIM_LIBCUDA", "", 1) == 0) &&
        setenv("LD_LIBRARY_PATH", search, 1) == 0)
        execvp(plan->program[0], plan->program);
    fprintf(stderr, "%s: %s\n", plan->program[0], strerror(errno));
    _exit(127);
}

/* False with errno. */
static bool launch(struct job *job, const struct matrix_plan *plan, const struct matrix_case *one)
{
    pid_t self = getpid(), pid = -1;
    int to[2] = {-1, -1};

    if (matrix_stream_open(&job->output, &to[0]) && matrix_stream_open(&job->errors, &to[1]) &&
        (!one->driver || place_driver(plan, one, job->number))) {
        fflush(NULL);
        pid = fork();
    }
    if (pid == 0) {
        settle(to, self);
        if (one->driver)
            become_real(plan, one->driver, job->number);
        become_simulated(plan, one, job->number);
    }
    int error = errno;
    for (int i = 0; i < 2; i++) {
        if (to[i] >= 0)
            close(to[i]);
    }
    errno = error;
    if (pid > 0)
        setpgid(pid, pid);
    job->pid = pid > 0 ? pid : 0;
    return pid > 0;
}

static bool start(struct job *job, const struct matrix_plan *plan, struct matrix_case *one,
                  size_t number)
{
    *job = (struct job){.number = number, .begin = now(), .output.from = -1, .errors.from = -1};
    if (launch(job, plan, one))
        return true;
    snprintf(one->errors, sizeof one->errors, NOT_STARTED "%s\n", strerror(errno));
    one->lacks = true;
    if (job->output.from >= 0)
        close(job->output.from);
    if (job->errors.from >= 0)
        close(job->errors.from);
    if (one->driver)
        take_away(plan, one->driver, number);
    return false;
}

/* Before the program began: nothing came of it. That the system's loader finds no entry of the
 * driver in it is an answer: the program fails. */
static void judge_start(struct matrix_case *one)
{
    bool own = strncmp(one->errors, NOT_STARTED, strlen(NOT_STARTED)) == 0;
    bool refused = one->code >= COMMAND_USAGE && one->code <= COMMAND_SYSTEM &&
                   strncmp(one->errors, "cushim sim: ", 12) == 0;
    bool absent = one->code == 127 && !strstr(one->errors, ": undefined symbol: cu");

    if (one->calls > 0 || (!own && !refused && !absent))
        return;
    one->end = MATRIX_NOT_RUN;
    one->lacks = own || one->code == COMMAND_SYSTEM;
}

/* Whether a rule made a call fail: one of the run's own, or one of --fault, and the program told
 * the error. */
static bool is_ruled(const struct matrix_case *one)
{
    return one->ruled && (one->fault[0] != '\0' || (one->fired[0] != '\0' && !one->silent));
}

/* `signal` ended the program under `cushim sim`. A rule that never fired is no finding where the
 * program stopped by itself. */
static void judge(struct matrix_case *one, const struct matrix_plan *plan, int status, int signal,
                  const struct job *job)
{
    const char *check = one->check;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    bool ruled = is_ruled(one);
    bool found = check[0] != '\0' && (code == COMMAND_CHECK || !strstr(check, " never fired")) &&
                 !(plan->exits && ruled && code != COMMAND_CHECK);

    one->spoiled = found && code != 0 && code != COMMAND_CHECK && (ruled || code == plan->degrade);
    one->seconds = now() - job->begin;
    one->code = code;
    if (WIFSIGNALED(status))
        signal = WTERMSIG(status);
    if (job->asked > 0) {
        one->end = MATRIX_HANGS;
    } else if (signal != 0) {
        one->end = MATRIX_CRASHES;
        one->code = signal;
    } else if (code == 0) {
        one->end = MATRIX_PASSES;
    } else if (found) {
        one->end = MATRIX_FAILS;
    } else if (code == plan->degrade) {
        one->end = MATRIX_DEGRADES;
    } else {
        one->end = ruled && !plan->falls_back ? MATRIX_NOTICES : MATRIX_FAILS;
    }
    one->fell = ruled && plan->falls_back && one->end == MATRIX_FAILS && code != 0;
}

/* Ask a program that takes too long to end, then make it. */
static void hurry(struct job *job, double timeout)
{
    double time = now();

    if (job->asked == 0 && (stopped || time - job->begin > timeout)) {
        job->asked = time;
        kill(-job->pid, SIGTERM);
    } else if (job->asked > 0 && time - job->asked > (double)KILL_SECONDS) {
        kill(-job->pid, SIGKILL);
    }
}

/* The first of what the check found, and how much more there is. */
static void note_check(struct matrix_case *one, const struct matrix_told *told)
{
    const char *words = told->check;
    char more[40] = "";
    int process = 0;

    sscanf(words, "process %*d%*[: ]%n", &process);
    words += process;
    if (told->found > 1)
        snprintf(more, sizeof more, ", and %u more finding%s", told->found - 1,
                 output_plural(told->found - 1));
    snprintf(one->check, sizeof one->check, "%.*s%s", (int)(sizeof one->check - sizeof more), words,
             more);
}

/* A rule of --fault-each that never fired is no finding: how often a program polls differs from run
 * to run. True: the check found nothing else. */
static bool forgive_rule(const struct matrix_case *one, struct matrix_told *told)
{
    char words[sizeof one->fault + 32];

    snprintf(words, sizeof words, "the rule %s never fired", one->fault);
    if (one->fault[0] == '\0' || !strstr(one->errors, words))
        return false;
    if (--told->found == 0)
        told->check[0] = '\0';
    return told->found == 0;
}

/* The first rule of --fault that never fired, of a run that passes: the check, which it has not,
 * finds it, too. */
static void note_rules(struct matrix_case *one, const struct matrix_plan *plan, size_t number)
{
    char summary[PATH_MAX], own[sizeof one->fault + 32];
    json_t *whole, *problem;
    size_t i;

    file_of(summary, plan, number, "json");
    whole = json_load_file(summary, 0, NULL);
    snprintf(own, sizeof own, "the rule %s never fired", one->fault);
    json_array_foreach(json_object_get(whole, "problems"), i, problem)
    {
        const char *words = json_string_value(problem);
        if (one->end == MATRIX_PASSES && strncmp(words, "the rule ", 9) == 0 &&
            one->check[0] == '\0' && strcmp(words, own) != 0)
            snprintf(one->check, sizeof one->check, "%s", words);
    }
    json_decref(whole);
    unlink(summary);
}

/* Whether its first process has ended, and what was asked to end with it. */
static bool is_over(struct job *job)
{
    if (!job->over)
        job->over = waitpid(job->pid, &job->status, WNOHANG) == job->pid;
    return job->over && (job->asked == 0 || now() - job->asked > (double)KILL_SECONDS ||
                         kill(-job->pid, 0) != 0);
}

/* Of a call for a device that is not there: how many there are. */
static void note_devices(struct matrix_case *one, const char *devices)
{
    static const char words[] = ": 101 CUDA_ERROR_INVALID_DEVICE";
    size_t length = strlen(one->call), end = sizeof words - 1;
    const int count = devices ? atoi(devices) : 1;

    /* The program may see fewer by that variable. */
    if (!one->ruled && !secure_getenv("CUDA_VISIBLE_DEVICES") && length >= end &&
        strcmp(one->call + length - end, words) == 0)
        snprintf(one->call + length, sizeof one->call - length, ", there %s %d device%s",
                 count == 1 ? "is" : "are", count, output_plural((size_t)count));
}

/* Whether the job is over; then its case is filled. */
static bool finish(struct job *job, struct matrix_plan *plan, struct matrix_case *cases,
                   struct matrix_used *used)
{
    struct matrix_case *one = &cases[job->number];
    char path[PATH_MAX];

    matrix_stream_read(&job->output, one->output, &job->told);
    matrix_stream_read(&job->errors, one->errors, &job->told);
    if (!is_over(job)) {
        hurry(job, plan->timeout);
        return false;
    }
    kill(-job->pid, SIGKILL); /* what it left behind */
    matrix_stream_end(&job->output, one->output, &job->told);
    matrix_stream_end(&job->errors, one->errors, &job->told);
    file_of(path, plan, job->number, "log");
    int number = matrix_log(path, one, plan->survived, used ? &used[job->number] : NULL);
    note_devices(one, one->devices ? one->devices : plan->devices);
    if (forgive_rule(one, &job->told) && WIFEXITED(job->status) &&
        WEXITSTATUS(job->status) == COMMAND_CHECK)
        job->status = 0;
    note_check(one, &job->told);
    judge(one, plan, job->status, number, job);
    if ((one->end == MATRIX_FAILS || one->end == MATRIX_CRASHES) && job->told.wants_runtime)
        one->end = MATRIX_UNKNOWN;
    unlink(path);
    judge_start(one);
    if (one->untried && (one->end == MATRIX_PASSES || one->code == COMMAND_CHECK)) {
        one->ruled = false; /* as if none had failed */
        one->fired[0] = '\0';
    }
    if (!plan->check && plan->fault_count > 0)
        note_rules(one, plan, job->number);
    if (one->driver || job->told.log_ended)
        one->calls = -1;
    else if (one->end == MATRIX_PASSES && one->calls == 0)
        one->end = MATRIX_UNUSED;
    else if (one->end == MATRIX_PASSES && plan->strict && (one->missed || one->fired[0] != '\0'))
        one->end = one->silent ? MATRIX_FAILS : MATRIX_NOTICES;
    if (one->end == MATRIX_PASSES && plan->strict && one->check[0] != '\0') {
        one->end = MATRIX_FAILS;
        one->code = COMMAND_CHECK; /* as with the check */
    }
    if (one->end == MATRIX_CRASHES && one->code == SIGABRT && is_ruled(one) && !one->silent &&
        !plan->falls_back) { /* it told the error, and called abort */
        one->end = MATRIX_NOTICES;
        one->code += 128;
    }
    if (one->code != 0 && !one->silent) /* it kept the error, told it, and ended so */
        one->went_on[0] = '\0';
    if (one->end <= MATRIX_DEGRADES && plan->strict && one->went_on[0] != '\0')
        one->end = MATRIX_FAILS;
    if (one->driver)
        take_away(plan, one->driver, job->number);
    job->pid = 0;
    return true;
}

/* Until one of them prints something, for a moment. */
static void wait_for(const struct job *jobs, int count)
{
    struct pollfd ends[2 * MATRIX_JOBS];

    for (int i = 0; i < count; i++) {
        bool runs = jobs[i].pid != 0;
        ends[2 * i] = (struct pollfd){.fd = runs ? jobs[i].output.from : -1, .events = POLLIN};
        ends[2 * i + 1] = (struct pollfd){.fd = runs ? jobs[i].errors.from : -1, .events = POLLIN};
    }
    poll(ends, 2 * (nfds_t)count, POLL_MS);
}

static char *make_folder(void)
{
    const char *base = secure_getenv("TMPDIR");
    char path[PATH_MAX], *copy;

    snprintf(path, sizeof path, "%s/cushim-matrix-XXXXXX", base && *base != '\0' ? base : "/tmp");
    if (!mkdtemp(path)) {
        fprintf(stderr, "cushim matrix: %s: %s\n", path, strerror(errno));
        return NULL;
    }
    copy = realpath(path, NULL);
    if (!copy)
        output_no_memory();
    return copy;
}

/* A bar of the runs from the first one on. A log has a line of all now and then. */
static void tell(struct matrix_plan *plan, size_t from, size_t done, size_t count)
{
    double time = now();

    progress_set(NULL, (unsigned)(done - from), (unsigned)(count - from));
    if (plan->told == 0)
        plan->told = time;
    if (plan->quiet || progress_has_bar() || time - plan->told < (double)TELL_SECONDS)
        return;
    fprintf(stderr, "cushim matrix: %zu of %zu runs, %zu failed so far\n", done, count,
            plan->failed);
    plan->told = time;
}

bool matrix_run(struct matrix_plan *plan, struct matrix_case *cases, size_t from, size_t count,
                struct matrix_used *used)
{
    static const int heeded[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = stop}, before[3];
    struct job *jobs = calloc((size_t)plan->jobs, sizeof *jobs);
    size_t next = from, done = from, hung = 0;
    bool given_up = false;

    if (!jobs)
        output_no_memory();
    plan->folder = make_folder();
    if (!plan->folder) {
        free(jobs);
        return false;
    }
    for (size_t i = 0; i < sizeof heeded / sizeof heeded[0]; i++) {
        sigaction(heeded[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) /* as nohup has it */
            sigaction(heeded[i], &action, NULL);
    }
    progress_begin(from == 0 ? "cushim matrix: drivers" : "cushim matrix: failing calls");
    while (done < count) {
        for (int i = 0; i < plan->jobs; i++) {
            if (jobs[i].pid != 0 && finish(&jobs[i], plan, cases, used)) {
                done++;
                hung += cases[jobs[i].number].end == MATRIX_HANGS;
                plan->failed += cases[jobs[i].number].end > MATRIX_UNUSED;
            }
            if (jobs[i].pid == 0 && next < count) {
                cases[next].end = MATRIX_NOT_RUN;
                cases[next].left_out = given_up |= hung == done - from && hung >= MOST_HUNG;
                done += stopped || given_up || !start(&jobs[i], plan, &cases[next], next);
                next++;
            }
        }
        tell(plan, from, done, count);
        wait_for(jobs, plan->jobs);
    }
    progress_end();
    for (size_t i = 0; i < sizeof heeded / sizeof heeded[0]; i++)
        sigaction(heeded[i], &before[i], NULL);
    rmdir(plan->folder);
    free(plan->folder);
    plan->folder = NULL;
    free(jobs);
    if (stopped)
        raise(stopped);
    return true;
}
