/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* secure_getenv, dladdr */
#endif
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "entries.h"
#include "inspect.h"
#include "platform.h"

const struct cushim_candidate cushim_platform_candidates[] = {
    {"libcuda.so.1", CUSHIM_SOURCE_PROCESS},
    {"libcuda.so.1", CUSHIM_SOURCE_SYSTEM},
    {"/usr/lib/wsl/lib/libcuda.so.1", CUSHIM_SOURCE_LIST},
    {"/run/opengl-driver/lib/libcuda.so.1", CUSHIM_SOURCE_LIST},
#if defined(__aarch64__)
    {"/usr/lib/aarch64-linux-gnu/tegra/libcuda.so.1", CUSHIM_SOURCE_LIST},
    {"/usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1", CUSHIM_SOURCE_LIST},
    {"/usr/lib/aarch64-linux-gnu/nvidia/current/libcuda.so.1", CUSHIM_SOURCE_LIST},
    {"/usr/lib/aarch64-linux-gnu/GL/default/lib/libcuda.so.1", CUSHIM_SOURCE_LIST},
#else
    {"/usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.1", CUSHIM_SOURCE_LIST},
    {"/usr/lib/x86_64-linux-gnu/GL/default/lib/libcuda.so.1", CUSHIM_SOURCE_LIST},
#endif
    {NULL, CUSHIM_SOURCE_LIST},
};
const struct cushim_candidate cushim_platform_compat = {"/usr/local/cuda/compat/libcuda.so.1",
                                                        CUSHIM_SOURCE_COMPAT};
const int cushim_platform_id = CUSHIM_LINUX_ONLY;

const char *cushim_platform_env_path(void)
{
    return secure_getenv("CUSHIM_LIBCUDA");
}

/* The loader's words for a file that passed inspection, or that its own search looked for. */
static enum cushim_status classify(const char *path, const char *words)
{
    if (strstr(words, "wrong ELF class"))
        return CUSHIM_ERROR_WRONG_CLASS;
    if (!strstr(words, "cannot open shared object file"))
        return CUSHIM_ERROR_OPEN_FAILED;
    /* "NAME: cannot open shared object file": NAME is the library itself or one that it needs. */
    size_t length = strlen(path);
    bool itself = strncmp(words, path, length) == 0 && words[length] == ':';
    return itself ? CUSHIM_ERROR_NOT_FOUND : CUSHIM_ERROR_DEPENDENCY;
}

enum cushim_status cushim_platform_open(const struct cushim_candidate *candidate, void **handle,
                                        char *message, size_t size)
{
    if (strchr(candidate->path, '/')) {
        enum cushim_status status = cushim_inspect(candidate->path, message, size);
        if (status != CUSHIM_OK)
            return status;
    }
    int only_found = candidate->source == CUSHIM_SOURCE_PROCESS ? RTLD_NOLOAD : 0;
    void *found = dlopen(candidate->path, RTLD_NOW | RTLD_LOCAL | only_found);
    if (found) {
        *handle = found;
        return CUSHIM_OK;
    }
    const char *words = dlerror();
    if (only_found || !words) {
        snprintf(message, size, "not loaded in this process");
        return CUSHIM_ERROR_NOT_FOUND;
    }
    snprintf(message, size, "%s", words);
    return classify(candidate->path, words);
}

void cushim_platform_close(void *handle)
{
    dlclose(handle);
}

void *cushim_platform_symbol(void *handle, const char *symbol)
{
    return dlsym(handle, symbol);
}

/* Of a library without a handle, by a symbol of its own: dladdr compares with all of its symbols,
 * which costs more than the rest of a description. */
static const struct link_map *find_map(void *handle, void *symbol)
{
    void *map = NULL;
    Dl_info info;
    if (handle)
        return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map : NULL;
    return dladdr1(symbol, &info, &map, RTLD_DL_LINKMAP) ? map : NULL;
}

void cushim_platform_describe(void *handle, void *symbol, char *path, size_t size,
                              const void **base)
{
    const struct link_map *map = find_map(handle, symbol);
    if (!map)
        return;
    *base = (const void *)(uintptr_t)map->l_addr;
    const char *name = *map->l_name ? map->l_name : "/proc/self/exe";
    char *real = realpath(name, NULL);
    snprintf(path, size, "%s", real ? real : name);
    free(real);
}

long cushim_platform_process_id(void)
{
    return (long)getpid();
}

void cushim_platform_pause(void)
{
    nanosleep(&(struct timespec){0, 50000}, NULL);
}
