/* SPDX-License-Identifier: MIT */
/*
 * `cushim sim`: runs a program under a simulated driver. The program gets a folder with a
 * libcuda.so.1 of the version asked for in front of its library search, and the settings through
 * CUSHIM_SIM_* variables.
 */
#include "command.h"
#include "sim_check.h"
#include "sim_folder.h"
#include "sim_library.h"
#include "core/config.h"
#include "nvml/nvml_rule.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOST "device-lost"

static struct options {
    const char *cuda, *devices, *profile, *memory, *log, *workers, *time_limit, *grain, *summary;
    struct option_list faults;
    const char *checks; /* of kernels */
    bool list, quiet, check;
    char **program; /* ends with NULL */
} given;

static volatile sig_atomic_t child;

static const struct option_row option_rows[] = {
    {.name = "cuda",
     .text = &given.cuda,
     .value = "X.Y",
     .values = VALUES_SIMULATED,
     .doc = "CUDA version of the driver (default: the newest)"},
    {.name = "devices",
     .text = &given.devices,
     .value = "N",
     .doc = "How many devices, 0 to 64 (default: 1)"},
    {.name = "profile",
     .text = &given.profile,
     .value = "NAME",
     .values = VALUES_PROFILES,
     .doc = "Which simulated device (default: ampere, or the newest that the version knows)"},
    {.name = "memory",
     .text = &given.memory,
     .value = "SIZE",
     .doc = "Memory of each device; K, M, G or T behind"},
    {.name = "fault",
     .list = &given.faults,
     .value = "RULE",
     .values = VALUES_FAULTS,
     .doc = "Make calls fail, e.g. cuMemAlloc:call=3,error=2; may be repeated"},
    {.name = "log",
     .text = &given.log,
     .value = "FILE",
     .values = VALUES_FILES,
     .doc = "Append every call to FILE; - is standard error"},
    {.name = "workers",
     .text = &given.workers,
     .value = "N",
     .doc = "CPU threads that run a kernel (default: all)"},
    {.name = "time-limit",
     .text = &given.time_limit,
     .value = "MS",
     .doc = "A kernel that takes longer ends with LAUNCH_TIMEOUT"},
    {.name = "grain",
     .text = &given.grain,
     .value = "BYTES",
     .doc =
         "Let kernels use blocks up to a multiple of so many bytes, at most 512, as hardware does"},
    {.name = "check",
     .flag = &given.check,
     .text = &given.checks,
     .value = "WHAT",
     .doc = "End with 5 if something was not released, or a rule never fired; with race, init or "
            "sync, or several with commas between, also if kernels have such faults"},
    {.name = "summary",
     .text = &given.summary,
     .value = "FILE",
     .values = VALUES_FILES,
     .doc = "Write what each process did, leaked and left as JSON to FILE"},
    {.name = "quiet",
     .flag = &given.quiet,
     .doc = "No summary, and no reports of kernels but those of --check=WHAT, on standard error"},
    {.name = "list",
     .flag = &given.list,
     .doc = "List the versions and profiles, and do nothing else"},
    {0},
};

static void take_environment(void)
{
    const char *rules = sim_setting(NULL, "CUSHIM_SIM_FAULT");

    given.cuda = sim_setting(given.cuda, "CUSHIM_SIM_CUDA");
    given.devices = sim_setting(given.devices, "CUSHIM_SIM_DEVICES");
    given.profile = sim_setting(given.profile, "CUSHIM_SIM_PROFILE");
    given.memory = sim_setting(given.memory, "CUSHIM_SIM_MEMORY");
    given.workers = sim_setting(given.workers, "CUSHIM_SIM_WORKERS");
    given.time_limit = sim_setting(given.time_limit, "CUSHIM_SIM_TIME_LIMIT_MS");
    given.grain = sim_setting(given.grain, "CUSHIM_SIM_GRAIN");
    given.checks = sim_setting(given.checks, "CUSHIM_SIM_CHECK");
    given.log = sim_setting(given.log, "CUSHIM_SIM_LOG");
    if (rules && !given.faults.count)
        option_list_add(&given.faults, (char *)rules, false);
}

/* "NAME=value" into the environment; NULL unsets what the caller's environment may hold. */
static int set(const char *name, const char *value)
{
    return !value ? unsetenv(name) : setenv(name, value, 1);
}

/* In front of what the caller has: PATH or PATH:REST. */
static int set_search(const char *folder)
{
    const char *old = secure_getenv("LD_LIBRARY_PATH");
    char *value = NULL;
    int rc = -1;

    if (asprintf(&value, "%s%s%s", folder, old && *old != '\0' ? ":" : "", old ? old : "") >= 0)
        rc = setenv("LD_LIBRARY_PATH", value, 1);
    free(value);
    return rc;
}

/* All rules as one text; freed by the caller. */
static char *join_faults(const struct options *options)
{
    size_t size = 1;
    char *text;

    for (size_t i = 0; i < options->faults.count; i++)
        size += strlen(options->faults.item[i]) + 1;
    text = calloc(1, size);
    for (size_t i = 0; text && i < options->faults.count; i++) {
        strcat(text, options->faults.item[i]);
        strcat(text, ";");
    }
    return text;
}

/* The rules that one of the two libraries has a part in: what is lost is lost for both. */
static int set_faults(const char *name, const char *faults, bool nvml)
{
    char *rules = strdup(faults), *kept = calloc(1, strlen(faults) + 2), *rest = NULL;
    int rc = -1;

    for (char *rule = rules && kept ? strtok_r(rules, ";", &rest) : NULL; rule;
         rule = strtok_r(NULL, ";", &rest))
        if (sim_nvml_rule_is(rule) == nvml || strncmp(rule, LOST, strlen(LOST)) == 0) {
            strcat(kept, rule);
            strcat(kept, ";");
        }
    if (rules && kept)
        rc = set(name, *kept != '\0' ? kept : NULL);
    free(rules);
    free(kept);
    return rc;
}

/* For the simulated NVML: its file, and the version of the library libcuda-sim-12.4.so. */
static int set_nvml(const char *folder, const char *library, const char *faults)
{
    char path[PATH_MAX], version[32];
    int number = sim_library_version(library);

    snprintf(version, sizeof version, "%d.%d", number / 1000, number % 1000 / 10);
    if (snprintf(path, sizeof path, "%s/" SIM_FOLDER_USAGE, folder) >= (int)sizeof path)
        return -1;
    return set_faults("CUSHIM_SIM_NVML_FAULT", faults, true) != 0 ||
           set("CUSHIM_SIM_USAGE", path) != 0 || set("CUSHIM_LIBNVIDIA_ML", NULL) != 0 ||
           set("CUSHIM_SIM_NVML_CUDA", number ? version : NULL) != 0;
}

static int set_environment(const struct options *options, const char *folder, const char *faults,
                           const char *report)
{
    bool reports = options->check || options->summary;
    const char *silence = options->checks ? NULL : "0"; /* what the check finds has its place */
    int rc =
        set("CUSHIM_SIM_REPORT", reports ? report : NULL) != 0 || set_search(folder) != 0 ||
        set("CUSHIM_LIBCUDA", NULL) != 0 || set("CUSHIM_SIM_CUDA", NULL) != 0 ||
        set("CUSHIM_SIM_DEVICES", options->devices) != 0 ||
        set("CUSHIM_SIM_PROFILE", options->profile) != 0 ||
        set("CUSHIM_SIM_MEMORY", options->memory) != 0 ||
        set("CUSHIM_SIM_WORKERS", options->workers) != 0 ||
        set("CUSHIM_SIM_TIME_LIMIT_MS", options->time_limit) != 0 ||
        set("CUSHIM_SIM_GRAIN", options->grain) != 0 || set("CUSHIM_SIM_INTERRUPT", "1") != 0 ||
        (options->check && set("CUSHIM_SIM_CALLERS", "1") != 0) ||
        set("CUSHIM_SIM_CHECK", options->checks) != 0 || set("CUSHIM_SIM_LOG", options->log) != 0 ||
        set_faults("CUSHIM_SIM_FAULT", faults, false) != 0 ||
        set("CUSHIM_SIM_SUMMARY", options->quiet ? silence : "1") != 0;

    return rc ? -1 : 0;
}

/* An absolute path, because the program may change its folder before its first call; freed by the
 * caller. NULL after saying why the log cannot be written. */
static char *log_path(const char *log)
{
    char *path = NULL;
    int file;

    if (strcmp(log, "-") == 0)
        return strdup(log);
    file = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file >= 0) {
        close(file);
        path = realpath(log, NULL);
    }
    if (!path)
        fprintf(stderr, "cushim sim: --log: %s: %s\n", log, strerror(errno));
    return path;
}

/* To the program; but a key of the terminal's has reached it already. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (child > 0 && info->si_code != SI_KERNEL)
        kill((pid_t)child, number);
}

static const int passed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

/* Until the program is there and they can be passed on. */
static void hold_signals(sigset_t *before)
{
    sigset_t held;

    sigemptyset(&held);
    for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++)
        sigaddset(&held, passed[i]);
    sigprocmask(SIG_BLOCK, &held, before);
}

static void pass_signals_on(const sigset_t *before)
{
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO};

    for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++)
        sigaction(passed[i], &action, NULL);
    sigprocmask(SIG_SETMASK, before, NULL);
}

/* In the new process. It ends with the one that the user started and can see. */
static _Noreturn void become(char **program, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent)
        execvp(program[0], program);
    fprintf(stderr, "cushim sim: %s: %s\n", program[0], strerror(errno));
    _exit(127);
}

/* Of a program that a signal ended: on stderr, and as the log's last line. */
static void tell_signal(const struct options *options, long pid, int number)
{
    bool has_file = options->log && strcmp(options->log, "-") != 0;
    int log = has_file ? open(options->log, O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK) : -1;
    const char *program = options->program[0], *name = strsignal(number);

    if (!options->quiet)
        fprintf(stderr, "cushim sim: process %ld (%s) was ended by signal %d (%s)\n", pid, program,
                number, name);
    if (log < 0)
        return;
    dprintf(log, "cushim sim: process %ld (%s) was ended by signal %d (%s)\n", pid, program, number,
            name);
    close(log);
}

/* The program's exit code as a shell says it. */
static int run_program(const struct options *options)
{
    char **program = options->program;
    pid_t self = getpid(), pid;
    sigset_t before;
    int status;

    fflush(NULL);
    hold_signals(&before);
    pid = fork();
    if (pid == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        become(program, self);
    }
    if (pid < 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        fprintf(stderr, "cushim sim: no process can be started: %s\n", strerror(errno));
        return COMMAND_SYSTEM;
    }
    child = (sig_atomic_t)pid;
    pass_signals_on(&before);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    tell_signal(options, (long)pid, WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

/* With the settings in the environment and the library in a folder. */
static int simulate(const struct options *options, const char *faults)
{
    char library[PATH_MAX], report[PATH_MAX];
    struct sim_folder folder;
    int code = sim_library_find(options->cuda, library, sizeof library);

    if (code != COMMAND_OK)
        return code;
    if (!sim_folder_make(library, faults, &folder))
        return COMMAND_SYSTEM;
    if (snprintf(report, sizeof report, "%s/" SIM_FOLDER_REPORT, folder.path) <
            (int)sizeof report &&
        set_environment(options, folder.path, faults, report) == 0 &&
        set_nvml(folder.path, library, faults) == 0) {
        bool counts = options->check || options->summary;
        bool ready = !counts || sim_check_reserve(report);
        code = ready ? run_program(options) : COMMAND_SYSTEM;
        if (counts && ready)
            code = sim_check(report, options->summary, options->check, code);
    } else {
        fputs("cushim sim: no memory\n", stderr);
        code = COMMAND_SYSTEM;
    }
    sim_folder_remove(&folder);
    return code;
}

static int run(const char *title, char **words)
{
    char *faults, *log = NULL;
    int code = COMMAND_USAGE;

    (void)title;
    if (given.list)
        return sim_list();
    if (!words[0])
        options_refuse("no program given");
    given.program = words;
    take_environment();
    faults = join_faults(&given);
    if (!faults) {
        fputs("cushim sim: no memory\n", stderr);
        return COMMAND_SYSTEM;
    }
    if (sim_settings_good("sim", given.cuda, given.devices, given.profile, given.memory,
                          given.workers, given.time_limit, given.grain, given.checks) &&
        sim_faults_good("sim", false, faults) &&
        (!given.log || (given.log = log = log_path(given.log))))
        code = simulate(&given, faults);
    free(log);
    free(faults);
    return code;
}

const struct command command_sim = {
    .name = "sim",
    .summary = "run a program under a simulated driver",
    .synopsis = "[--] PROGRAM [ARGUMENT...]",
    .doc = "Run a program under a simulated CUDA driver: any version, any number of devices, "
           "faults on demand; kernels in PTX run on the CPU.",
    .notes = "Rules for --fault:\n"
             "  NAME[:OPTION,...]            calls of NAME fail: a name, an exported symbol,\n"
             "                               or * for all; of NVML too, nvml* for all;\n"
             "                               options: error=CODE, call=N, from=N, every=N,\n"
             "                               probability=P, seed=S, device=D, slow=MS, after\n"
             "  out-of-memory:after=BYTES    allocations beyond so many bytes fail\n"
             "  device-lost:device=D,call=N  calls about device D fail from the Nth call on\n"
             "  missing:SYMBOL               the driver lacks this entry\n"
             "  wrong-abi                    a call by a wrongly resolved pointer aborts\n"
             "  late                         queued work runs as late as a device may run it\n"
             "  reorder                      and what nothing orders runs in the other order\n"
             "  early                        it is done when the call that queues it returns\n\n",
    .exits = "Exit status: the program's, 128 + N if signal N ended it, 127 if it cannot be\n"
             "run, 5 if it is 0 and --check found something, 2 to 4 with a sentence of\n"
             "cushim sim if it could not begin or count.\n",
    .options = option_rows,
    .most = ANY_NUMBER_OF_WORDS,
    .program = true,
    .run = run,
};
