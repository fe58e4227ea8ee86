/* SPDX-License-Identifier: MIT */
/* What has to be refused: by name of helper, argument and value; with the current context as it was
 * and no object of the driver's more or less. The instance is that of live.h. */
#ifndef TESTS_DEVICE_REFUSE_H
#define TESTS_DEVICE_REFUSE_H

#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cushim/context.h>

#include "device.h"
#include "live.h"

static const struct cushim_api *cu;
static unsigned refusals, wrong; /* as they should be, and not */

/* The sentence begins with the helper of the call and has all these words. */
static inline bool refuse_named(const char *call, const char *sentence, const char *const words[])
{
    size_t length = strcspn(call, "(");
    if (strncmp(call, "CUSHIM_LAUNCH", length) == 0) {
        call = "cushim_launch_check";
        length = strlen(call);
    }
    bool named = strncmp(sentence, call, length) == 0 && strncmp(sentence + length, ": ", 2) == 0;
    for (int i = 0; words[i]; i++)
        named = named && strstr(sentence, words[i]);
    return named;
}

/* `live` is what there was; NULL in a forked child, where no context can be asked for. */
static inline void refuse_check(CUresult code, const char *call, int line, const struct live *live,
                                CUcontext was, const char *const words[])
{
    char sentence[1024];
    snprintf(sentence, sizeof sentence, "%s", cushim_last_error());
    printf("  %d %s\n", (int)code, sentence);
    if (code == CUDA_SUCCESS || !refuse_named(call, sentence, words)) {
        fprintf(stderr, "line %d: %s: %d: %s\n", line, call, (int)code, sentence);
        wrong++;
    }
    refusals++;
    if (!live)
        return;
    CUcontext now = NULL;
    OK(cu->cuCtxGetCurrent(&now));
    if (now != was || !live_same(live)) {
        fprintf(stderr, "line %d: %s: left something, or another context current\n", line, call);
        wrong++;
    }
}

#define REFUSED(call, ...)                                                                         \
    do {                                                                                           \
        const struct live live_ = live_now();                                                      \
        CUcontext was_ = NULL;                                                                     \
        OK(cu->cuCtxGetCurrent(&was_));                                                            \
        cushim_last_error_clear();                                                                 \
        CUresult refused_ = (call);                                                                \
        refuse_check(refused_, #call, __LINE__, &live_, was_,                                      \
                     (const char *const[]){__VA_ARGS__, NULL});                                    \
    } while (0)

#define REFUSED_IN_CHILD(call, ...)                                                                \
    do {                                                                                           \
        cushim_last_error_clear();                                                                 \
        CUresult refused_ = (call);                                                                \
        refuse_check(refused_, #call, __LINE__, NULL, NULL,                                        \
                     (const char *const[]){__VA_ARGS__, NULL});                                    \
    } while (0)

/* Run a part in a process of its own, before any use of CUDA here: what it leaves is not the next
 * one's. Its exit code. */
static inline int refuse_run(const char *name, void (*part)(void))
{
    int status = 0;
    printf("%s:\n", name);
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        device_or_skip();
        cu = live_open();
        CHECK(cu && cushim_init(cu) == CUSHIM_OK);
        const struct live nothing = live_now();
        part();
        CHECK(live_same(&nothing));
        CHECK(refusals > 0 && wrong == 0 && live_calls() > 0);
        cushim_close(cu);
        printf("  %u refused, %lu calls counted, nothing left\n", refusals, live_calls());
        fflush(stdout);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status))
        printf("  ended by signal %d\n", WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* A part that is to be refused in the child of a process that uses CUDA; `part` says nothing of
 * contexts and counts. */
static inline void refuse_in_child(void (*part)(void))
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(30); /* an error, and no hang */
        part();
        fflush(stdout);
        _exit(wrong != 0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    refusals++;
}

struct refuse_part {
    const char *name;
    void (*run)(void);
};

static inline int refuse_all(const struct refuse_part *parts, size_t count)
{
    int failed = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < count; i++) {
        int code = refuse_run(parts[i].name, parts[i].run);
        if (code == 77)
            return 77;
        if (code)
            printf("  FAILED\n");
        failed += code != 0;
    }
    return failed != 0;
}

#endif
