/* SPDX-License-Identifier: MIT */
/* A device test of several parts, each in a process of its own: the program is run again for each.
 * For a driver that is asked about a context that is gone may fall over, and what one part leaves
 * behind would be the next one's. */
#ifndef TESTS_DEVICE_PARTS_H
#define TESTS_DEVICE_PARTS_H

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cushim/context.h>

#include "device.h"

struct part {
    const char *name;
    void (*run)(void);
    bool may_crash; /* in the driver: shown, and no failure */
};

static const struct cushim_api *cu; /* set where a part runs */
static const struct cushim_api *table;

/* The code of a call that has to fail, and its sentence. */
static inline CUresult shown(const char *what, CUresult code)
{
    const char *name = cushim_error_name(code);
    printf("  %-44s %s%s%s\n", what, code ? name ? name : "?" : "success", code ? "; " : "",
           code ? cushim_last_error() : "");
    return code;
}

#define SHOW(call) shown(#call, (cushim_last_error_clear(), (call)))

static inline CUcontext current(void)
{
    CUcontext context = NULL;
    CALL(cu->cuCtxGetCurrent(&context));
    return context;
}

static inline CUcontext create(void)
{
    CUcontext context = NULL;
    CALL(cushim_context_create(cu, 0, NULL, &context));
    CHECK(context);
    return context;
}

static inline int run_part(const struct part *part, const char *program, const char *number)
{
    int status = 0;
    pid_t child = fork(); /* before any use of CUDA here */
    CHECK(child >= 0);
    if (child == 0) {
        execl("/proc/self/exe", program, number, (char *)NULL);
        _exit(126);
    }
    CHECK(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77))
        return WEXITSTATUS(status);
    if (WIFSIGNALED(status))
        printf("  ended by signal %d\n", WTERMSIG(status));
    printf("  FAILED%s\n", part->may_crash ? ", as it may" : "");
    return !part->may_crash;
}

/* What main does with its arguments. */
static inline int run_parts(const struct part *parts, size_t part_count, int count,
                            char **arguments)
{
    int failed = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (count == 2) {
        table = device_or_skip();
        cu = cushim_load(NULL);
        parts[strtoul(arguments[1], NULL, 10)].run();
        return 0;
    }
    for (size_t i = 0; i < part_count; i++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", i);
        printf("%s:\n", parts[i].name);
        fflush(stdout);
        int result = run_part(&parts[i], arguments[0], number);
        if (result == 77)
            return 77;
        failed += result;
    }
    printf("%d failed\n", failed);
    return failed != 0;
}

#endif
