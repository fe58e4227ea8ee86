/* SPDX-License-Identifier: MIT */
#include "loader/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/last_error.h"
#include "loader/registry.h"
#include "loader/status.h"
#include "loader/text.h"

#define WORDS 1024

void cushim_find_log(const struct cushim_options *options, enum cushim_log_level level,
                     const char *line)
{
    if (options->log)
        options->log(options->user, level, line);
}

static void find_fail(struct cushim_find *find, enum cushim_status status, const char *path,
                      const char *cause)
{
    find->status = status;
    find->message = cushim_text_format("%s: %s%s", path, cause, cushim_status_advice(status));
}

/* Returns false for want of memory. */
static bool find_record(struct cushim_find *find, const struct cushim_candidate *candidate,
                        enum cushim_status status, const char *words,
                        const struct cushim_options *options)
{
    char *path = cushim_text_copy(candidate->path), *message = cushim_text_copy(words);
    bool recorded = path && message;
    if (recorded) {
        find->attempts[find->attempt_count++] = (struct cushim_attempt){
            sizeof(struct cushim_attempt), path, message, candidate->source, status};
    } else {
        free(path);
        free(message);
    }
    if (options->log) {
        char line[WORDS];
        snprintf(line, sizeof line, "%s: %s%s%s", candidate->path, cushim_status_name(status),
                 *words ? ": " : "", words);
        cushim_find_log(options, CUSHIM_LOG_DEBUG, line);
    }
    return recorded;
}

static enum cushim_status find_check_version(struct cushim_find *find, int *version, char *words,
                                             size_t size)
{
    CUresult(CUDAAPI * get_version)(int *) = NULL;
    void *symbol = cushim_lookup_version(&find->library);
    memcpy(&get_version, &symbol, sizeof symbol);
    if (!get_version) {
        snprintf(words, size, "not a CUDA driver: it has no cuDriverGetVersion");
        return CUSHIM_ERROR_NOT_CUDA;
    }
    CUresult result = get_version(version);
    if (result == CUDA_ERROR_STUB_LIBRARY) {
        snprintf(words, size, "the toolkit's stub for linking, not a driver");
        return CUSHIM_ERROR_STUB;
    }
    if (result != CUDA_SUCCESS) {
        snprintf(words, size, "its cuDriverGetVersion fails with error %d", (int)result);
        return CUSHIM_ERROR_VERSION_FAILED;
    }
    if (*version <= 0) {
        snprintf(words, size, "its cuDriverGetVersion returns version %d", *version);
        return CUSHIM_ERROR_VERSION_INVALID;
    }
    return CUSHIM_OK;
}

/* Whether what was opened is a driver. A caller's own resolver may have as little as it likes. */
static enum cushim_status find_check(struct cushim_find *find, const struct cushim_options *options,
                                     char *words, size_t size)
{
    int version = 0;
    enum cushim_status status = find_check_version(find, &version, words, size);
    if (status != CUSHIM_OK)
        return status;
    cushim_lookup_start(&find->lookup, &find->library, version, options->order);
    size_t lacking = options->resolver ? CUSHIM_ENTRY_COUNT : cushim_lookup_lacks(&find->lookup);
    if (lacking == CUSHIM_ENTRY_COUNT)
        return CUSHIM_OK;
    char symbol[CUSHIM_SYMBOL_SIZE];
    snprintf(words, size, "it has no %s, which every driver of CUDA %d.%d has",
             cushim_registry_symbol(lacking, symbol), CUSHIM_RELEASE(version));
    return CUSHIM_ERROR_INCOMPLETE;
}

static enum cushim_status find_no_memory(char *words, size_t size)
{
    snprintf(words, size, "out of memory");
    return CUSHIM_ERROR_OUT_OF_MEMORY;
}

/* Keep the library if it is a driver. A driver in use has a path and is the last attempt, so one
 * for which there is no memory is not used. */
static enum cushim_status find_keep(struct cushim_find *find,
                                    const struct cushim_candidate *candidate,
                                    enum cushim_status status, const struct cushim_options *options,
                                    char *words, size_t size)
{
    if (status == CUSHIM_OK && !cushim_dylib_describe(&find->library, "cuInit"))
        status = find_no_memory(words, size);
    const char *told = status == CUSHIM_OK && find->library.path ? find->library.path : words;
    if (!find_record(find, candidate, status, told, options) && status == CUSHIM_OK)
        status = find_no_memory(words, size);
    if (status != CUSHIM_OK) {
        cushim_dylib_close(&find->library, true);
        find->lookup.version = 0;
    }
    return status;
}

static enum cushim_status find_try(struct cushim_find *find,
                                   const struct cushim_candidate *candidate,
                                   const struct cushim_options *options, char *words, size_t size)
{
    *words = '\0';
    enum cushim_status status = cushim_dylib_open(&find->library, candidate->path, words, size);
    if (status == CUSHIM_OK)
        status = find_check(find, options, words, size);
    return find_keep(find, candidate, status, options, words, size);
}

static void find_exactly(struct cushim_find *find, const struct cushim_candidate *candidate,
                         const struct cushim_options *options)
{
    char words[WORDS] = "empty, which hides the driver";
    bool variable = candidate->source == CUSHIM_SOURCE_ENVIRONMENT;
    enum cushim_status status = CUSHIM_ERROR_EMPTY_PATH;
    if (*candidate->path)
        status = find_try(find, candidate, options, words, sizeof words);
    else
        find_record(find, candidate, status, words, options);
    if (status == CUSHIM_OK)
        return;
    find->status = status;
    find->message = cushim_text_format("%s%s: %s%s",
                                       !variable          ? ""
                                       : *candidate->path ? "CUSHIM_LIBCUDA="
                                                          : "CUSHIM_LIBCUDA",
                                       *candidate->path || variable ? candidate->path : "path",
                                       words, cushim_status_advice_exact(status, variable));
}

static void find_search(struct cushim_find *find, const struct cushim_options *options)
{
    /* Of several failures, report that of the first candidate that was there. */
    enum cushim_status status = CUSHIM_ERROR_NOT_FOUND;
    char words[WORDS], cause[WORDS] = "", subject[WORDS] = "no CUDA driver";
    if (options->allow_compat && cushim_platform_compat.path &&
        find_try(find, &cushim_platform_compat, options, words, sizeof words) == CUSHIM_OK)
        return;
    for (const struct cushim_candidate *candidate = cushim_platform_candidates; candidate->path;
         candidate++) {
        enum cushim_status now = find_try(find, candidate, options, words, sizeof words);
        if (now == CUSHIM_OK)
            return;
        if (status != CUSHIM_ERROR_NOT_FOUND)
            continue;
        if (now != CUSHIM_ERROR_NOT_FOUND) {
            status = now;
            snprintf(subject, sizeof subject, "%s", candidate->path);
            memcpy(cause, words, sizeof cause);
        } else if (candidate->source == CUSHIM_SOURCE_SYSTEM) {
            memcpy(cause, words, sizeof cause);
        }
    }
    find_fail(find, status, subject, cause);
}

static void find_by_resolver(struct cushim_find *find, const struct cushim_options *options)
{
    static const struct cushim_candidate candidate = {"the caller's resolver",
                                                      CUSHIM_SOURCE_RESOLVER};
    char words[WORDS] = "";
    find->library.resolver = options->resolver;
    find->library.user = options->user;
    enum cushim_status status = find_check(find, options, words, sizeof words);
    status = find_keep(find, &candidate, status, options, words, sizeof words);
    if (status != CUSHIM_OK)
        find_fail(find, status, candidate.path, words);
}

void cushim_find(struct cushim_find *find, const struct cushim_options *options)
{
    struct cushim_candidate exact = {options->path, CUSHIM_SOURCE_OPTION};
    if (!exact.path) {
        exact.path = cushim_platform_env("CUSHIM_LIBCUDA");
        exact.source = CUSHIM_SOURCE_ENVIRONMENT;
    }
    if (options->resolver)
        find_by_resolver(find, options);
    else if (exact.path)
        find_exactly(find, &exact, options);
    else
        find_search(find, options);
}

void cushim_find_close(struct cushim_find *find, bool unload)
{
    for (size_t i = 0; i < find->attempt_count; i++) {
        free((char *)(uintptr_t)find->attempts[i].path);
        free((char *)(uintptr_t)find->attempts[i].message);
    }
    free(find->message);
    cushim_dylib_close(&find->library, unload);
}
