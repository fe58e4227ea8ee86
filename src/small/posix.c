/* SPDX-License-Identifier: MIT */
/* The system under the small loader: dlopen, and its own words if it fails. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* secure_getenv, dlinfo, dladdr */
#endif
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader/platform.h"
#include "loader/text.h"

const char *cushim_platform_env(const char *name)
{
    return secure_getenv(name);
}

/* The C library's message names the object that it is about, and ends with the reason. */
static enum cushim_status posix_explain(const char *path, const char *words)
{
    const char *reason = strerror(ENOENT);
    size_t length = strlen(words), end = strlen(reason);
    if (length < end || strcmp(words + length - end, reason) != 0)
        return CUSHIM_ERROR_OPEN_FAILED;
    return strstr(words, path) ? CUSHIM_ERROR_NOT_FOUND : CUSHIM_ERROR_DEPENDENCY;
}

enum cushim_status cushim_platform_open(const char *path, void **handle, char *message, size_t size)
{
    errno = ENOENT; /* glibc reports what is left there if it found no folder to look into */
    void *found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (found) {
        *handle = found;
        return CUSHIM_OK;
    }
    const char *words = dlerror();
    snprintf(message, size, "%s", words ? words : "dlopen reported no reason");
    enum cushim_status status = posix_explain(path, message);
    cushim_text_make_printable(message);
    return status;
}

void cushim_platform_close(void *handle)
{
    dlclose(handle);
}

void *cushim_platform_symbol(void *handle, const char *symbol)
{
    return dlsym(handle, symbol);
}

void cushim_platform_describe(void *handle, void *symbol, char *path, size_t size,
                              const void **base)
{
    struct link_map *map = NULL;
    (void)symbol;
    if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return;
    *base = (const void *)(uintptr_t)map->l_addr;
    char *real = realpath(map->l_name, NULL);
    snprintf(path, size, "%s", real ? real : map->l_name);
    free(real);
}

const void *cushim_platform_object(const void *address)
{
    Dl_info info;
    return dladdr(address, &info) ? info.dli_fbase : NULL;
}

bool cushim_platform_has(void *handle, const void *address)
{
    struct link_map *map = NULL;
    const void *object = cushim_platform_object(address);
    if (!object || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return false;
    /* The first is so for a library whose addresses begin at 0, as all do. */
    return (uintptr_t)object == (uintptr_t)map->l_addr ||
           object == cushim_platform_object(map->l_ld);
}

long cushim_platform_process(void)
{
    return (long)getpid();
}
