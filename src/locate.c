/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instance.h"

#define WORDS 1024

static char *format_string(const char *format, ...) CUSHIM_PRINTF(1, 2);

static char *format_string(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (!text)
        return NULL;
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

static void fail(struct cushim_instance *cu, enum cushim_status status, const char *path,
                 const char *cause)
{
    cu->status = status;
    cu->message = format_string("%s: %s%s", path, cause, cushim_advice(status));
}

static void record(struct cushim_instance *cu, const struct cushim_candidate *candidate,
                   enum cushim_status status, const char *words,
                   const struct cushim_options *options)
{
    cushim_log(options, CUSHIM_LOG_DEBUG, "%s: %s%s%s", candidate->path, cushim_status_name(status),
               *words ? ": " : "", words);
    if (cu->attempt_count == CUSHIM_MAX_ATTEMPTS)
        return;
    char *path = format_string("%s", candidate->path), *message = format_string("%s", words);
    if (!path || !message) {
        free(path);
        free(message);
        return;
    }
    cu->attempts[cu->attempt_count++] =
        (struct cushim_attempt){path, candidate->source, status, message};
}

/* Whether what was opened is a driver, asked of the only function that answers before cuInit. */
static enum cushim_status check_driver(struct cushim_instance *cu, char *words, size_t size)
{
    CUresult(CUDAAPI * get_version)(int *) = NULL;
    void *symbol = cushim_symbol(cu, "cuDriverGetVersion");
    memcpy(&get_version, &symbol, sizeof symbol);
    if (!get_version || !cushim_symbol(cu, "cuInit")) {
        snprintf(words, size, "not a CUDA driver: it has no %s",
                 get_version ? "cuInit" : "cuDriverGetVersion");
        return CUSHIM_ERROR_NOT_CUDA;
    }
    int version = 0;
    CUresult result = get_version(&version);
    if (result == CUDA_ERROR_STUB_LIBRARY) {
        snprintf(words, size, "the toolkit's stub for linking, not a driver");
        return CUSHIM_ERROR_STUB;
    }
    if (result != CUDA_SUCCESS) {
        snprintf(words, size, "its cuDriverGetVersion fails with error %d", (int)result);
        return CUSHIM_ERROR_VERSION_FAILED;
    }
    if (version <= 0) {
        snprintf(words, size, "its cuDriverGetVersion says %d", version);
        return CUSHIM_ERROR_VERSION_INVALID;
    }
    cu->driver_version = version;
    return CUSHIM_OK;
}

static void describe(struct cushim_instance *cu)
{
    char path[4096] = "";
    cushim_platform_describe(cu->handle, cushim_symbol(cu, "cuInit"), path, sizeof path, &cu->base);
    cu->path = *path ? format_string("%s", path) : NULL;
}

/* Open one candidate and keep it if it is a driver. */
static enum cushim_status attempt(struct cushim_instance *cu,
                                  const struct cushim_candidate *candidate,
                                  const struct cushim_options *options, char *words, size_t size)
{
    *words = '\0';
    enum cushim_status status = cushim_platform_open(candidate, &cu->handle, words, size);
    if (status == CUSHIM_OK) {
        cushim_exports_read(&cu->exports, cu->handle);
        status = check_driver(cu, words, size);
        if (status == CUSHIM_OK) {
            describe(cu);
            snprintf(words, size, "%s", cu->path ? cu->path : "");
        } else {
            cushim_platform_close(cu->handle);
            cu->handle = NULL;
        }
    }
    record(cu, candidate, status, words, options);
    return status;
}

static void use_exactly(struct cushim_instance *cu, const struct cushim_candidate *candidate,
                        const struct cushim_options *options)
{
    const char *setting =
        candidate->source == CUSHIM_SOURCE_ENVIRONMENT ? "CUSHIM_LIBCUDA" : "path";
    char words[WORDS];
    if (!*candidate->path) {
        snprintf(words, sizeof words, "set, but empty");
        record(cu, candidate, CUSHIM_ERROR_EMPTY_PATH, words, options);
        fail(cu, CUSHIM_ERROR_EMPTY_PATH, setting, words);
        return;
    }
    enum cushim_status status = attempt(cu, candidate, options, words, sizeof words);
    if (status != CUSHIM_OK)
        fail(cu, status, candidate->path, words);
}

static void search(struct cushim_instance *cu, const struct cushim_options *options)
{
    /* Of several failures the telling one is that of a candidate that was there. */
    enum cushim_status status = CUSHIM_ERROR_NOT_FOUND;
    const char *path = "no CUDA driver";
    char words[WORDS], telling[WORDS] = "";
    const struct cushim_candidate *candidate = cushim_platform_candidates;
    if (options->allow_compat && cushim_platform_compat.path) {
        if (attempt(cu, &cushim_platform_compat, options, words, sizeof words) == CUSHIM_OK)
            return;
    }
    for (; candidate->path; candidate++) {
        enum cushim_status now = attempt(cu, candidate, options, words, sizeof words);
        if (now == CUSHIM_OK)
            return;
        bool first = status == CUSHIM_ERROR_NOT_FOUND &&
                     (now != CUSHIM_ERROR_NOT_FOUND || candidate->source == CUSHIM_SOURCE_SYSTEM);
        if (first) {
            status = now;
            path = now == CUSHIM_ERROR_NOT_FOUND ? path : candidate->path;
            memcpy(telling, words, sizeof telling);
        }
    }
    fail(cu, status, path, telling);
}

static void use_resolver(struct cushim_instance *cu, const struct cushim_options *options)
{
    static const struct cushim_candidate candidate = {"the caller's resolver",
                                                      CUSHIM_SOURCE_RESOLVER};
    char words[WORDS] = "";
    cu->resolver = options->resolver;
    cu->user = options->user;
    enum cushim_status status = check_driver(cu, words, sizeof words);
    record(cu, &candidate, status, words, options);
    if (status == CUSHIM_OK)
        describe(cu);
    else
        fail(cu, status, candidate.path, words);
}

void cushim_locate(struct cushim_instance *cu, const struct cushim_options *options)
{
    struct cushim_candidate exact = {options->path, CUSHIM_SOURCE_OPTION};
    if (!exact.path) {
        exact.path = cushim_platform_env_path();
        exact.source = CUSHIM_SOURCE_ENVIRONMENT;
    }
    if (options->resolver)
        use_resolver(cu, options);
    else if (exact.path)
        use_exactly(cu, &exact, options);
    else
        search(cu, options);
}
