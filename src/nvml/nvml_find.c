/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "nvml/find.h"

#include <stdio.h>
#include <string.h>
#ifndef _WIN32
#include <dlfcn.h>
#endif

#include "loader/dlopen_note.h"
#include "loader/status.h"
#include "loader/text.h"

#ifdef _WIN32
#define NVML_LIBRARY "nvml.dll"
#else
#define NVML_LIBRARY "libnvidia-ml.so.1"
#endif
#define NVML_VARIABLE "CUSHIM_LIBNVIDIA_ML"
#define NVML_PATH_SIZE 4096

#ifdef __ELF__
CUSHIM_DLOPEN_NOTE(nvml_find_note, "nvml", "NVIDIA's library for management", NVML_LIBRARY);
#endif

struct nvml_find {
    struct cushim_dylib *library;
    enum cushim_status status;    /* of the first candidate that was there */
    char subject[NVML_PATH_SIZE]; /* its path */
    char words[1024];             /* what was wrong with it */
};

/* Whether a file lies in a toolkit's folder of stubs, which are for linking: such a library has all
 * symbols, and to call one of them prints a warning. */
static bool nvml_find_is_stub(const char *path)
{
    const char *name = path ? strrchr(path, '/') : NULL;
    return name && name - path >= 6 && strncmp(name - 6, "/stubs", 6) == 0;
}

static enum cushim_status nvml_find_check(const struct cushim_dylib *library, char *words,
                                          size_t size)
{
    if (!cushim_dylib_symbol(library, "nvmlInit") ||
        !cushim_dylib_symbol(library, "nvmlErrorString")) {
        snprintf(words, size, "not NVML: it has no nvmlInit");
        return CUSHIM_ERROR_NOT_CUDA;
    }
    if (nvml_find_is_stub(library->path)) {
        snprintf(words, size, "the toolkit's stub for linking, not the driver's NVML");
        return CUSHIM_ERROR_STUB;
    }
    return CUSHIM_OK;
}

static enum cushim_status nvml_find_try(struct nvml_find *find, const char *path)
{
    struct cushim_dylib library;
    char words[sizeof find->words] = "";
    enum cushim_status status = cushim_dylib_open(&library, path, words, sizeof words);
    if (status == CUSHIM_OK) {
        if (cushim_dylib_describe(&library, "nvmlInit")) {
            status = nvml_find_check(&library, words, sizeof words);
        } else {
            snprintf(words, sizeof words, "out of memory");
            status = CUSHIM_ERROR_OUT_OF_MEMORY;
        }
        if (status == CUSHIM_OK)
            *find->library = library;
        else
            cushim_dylib_close(&library, true);
    }
    bool first = find->status == CUSHIM_OK ||
                 (find->status == CUSHIM_ERROR_NOT_FOUND && status != CUSHIM_ERROR_NOT_FOUND);
    if (status != CUSHIM_OK && first) {
        find->status = status;
        snprintf(find->subject, sizeof find->subject, "%s", path);
        memcpy(find->words, words, sizeof words);
    }
    return status;
}

/* The file of NVML's in the folder of another; false if there is no folder, or no room. */
static bool nvml_find_beside(const char *file, char path[NVML_PATH_SIZE])
{
    const char *slash = strrchr(file, '/');
    return slash && snprintf(path, NVML_PATH_SIZE, "%.*s/" NVML_LIBRARY, (int)(slash - file),
                             file) < NVML_PATH_SIZE;
}

/* The path of the libcuda that this process has loaded, by whichever way. */
static bool nvml_find_loaded_driver(char path[NVML_PATH_SIZE])
{
    *path = '\0';
#if !defined(_WIN32) && defined(RTLD_NOLOAD)
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    const void *base;
    if (driver) {
        cushim_platform_describe(driver, NULL, path, NVML_PATH_SIZE, &base);
        dlclose(driver);
    }
#endif
    return *path;
}

static enum cushim_status nvml_find_search(struct nvml_find *find)
{
    char path[NVML_PATH_SIZE], driver[NVML_PATH_SIZE];
    if (nvml_find_try(find, NVML_LIBRARY) == CUSHIM_OK)
        return CUSHIM_OK;
    if (nvml_find_loaded_driver(driver) && nvml_find_beside(driver, path) &&
        nvml_find_try(find, path) == CUSHIM_OK)
        return CUSHIM_OK;
    for (const struct cushim_candidate *at = cushim_platform_candidates; at->path; at++)
        if (nvml_find_beside(at->path, path) && nvml_find_try(find, path) == CUSHIM_OK)
            return CUSHIM_OK;
    return find->status;
}

/* `exact`: of a file that the program names, or the user in the variable. */
static const char *nvml_find_advice(enum cushim_status status, bool exact, bool variable)
{
    if (exact && (status == CUSHIM_ERROR_NOT_FOUND || status == CUSHIM_ERROR_STUB))
        status = CUSHIM_ERROR_NOT_A_FILE;
    switch (status) {
    case CUSHIM_ERROR_NOT_FOUND:
        return "; install NVIDIA's driver with its " NVML_LIBRARY
               ", or name that file in " NVML_VARIABLE;
    case CUSHIM_ERROR_EMPTY_PATH:
    case CUSHIM_ERROR_NOT_A_FILE:
    case CUSHIM_ERROR_NOT_A_LIBRARY:
    case CUSHIM_ERROR_NOT_CUDA:
        return variable ? "; unset it, or give the path of a " NVML_LIBRARY
                        : "; give the path of a " NVML_LIBRARY;
    default:
        return cushim_status_advice(status);
    }
}

enum cushim_status cushim_nvml_find(const char *path, struct cushim_dylib *library, char **message)
{
    struct nvml_find find = {.library = library, .status = CUSHIM_OK};
    const char *exact = path ? path : cushim_platform_env(NVML_VARIABLE);
    bool variable = exact && !path;
    enum cushim_status status;
    if (exact && !*exact) {
        status = CUSHIM_ERROR_EMPTY_PATH;
        snprintf(find.subject, sizeof find.subject, "%s", path ? "path" : NVML_VARIABLE);
        snprintf(find.words, sizeof find.words, "empty, which hides NVML");
    } else {
        status = exact ? nvml_find_try(&find, exact) : nvml_find_search(&find);
    }
    /* The system's words may begin with the path. */
    bool named = strncmp(find.words, find.subject, strlen(find.subject)) == 0;
    if (status == CUSHIM_OK)
        *message = cushim_text_format("NVML is %s", library->path ? library->path : "loaded");
    else
        *message = cushim_text_format("%s%s%s%s%s", variable && *exact ? NVML_VARIABLE "=" : "",
                                      named ? "" : find.subject, named ? "" : ": ", find.words,
                                      nvml_find_advice(status, exact, variable));
    return status;
}
