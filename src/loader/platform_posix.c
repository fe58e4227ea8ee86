/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* secure_getenv, dlinfo, dladdr */
#endif
#include "loader/platform.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader/dlopen_note.h"
#include "loader/elf_file.h"
#include "loader/text.h"

#define DRIVER "libcuda.so.1"

/* The folder in which Debian and its relatives keep this processor's libraries. */
#if defined(__x86_64__)
#define MULTIARCH "/usr/lib/x86_64-linux-gnu"
#elif defined(__aarch64__)
#define MULTIARCH "/usr/lib/aarch64-linux-gnu"
#elif defined(__powerpc64__)
#define MULTIARCH "/usr/lib/powerpc64le-linux-gnu"
#elif defined(__i386__)
#define MULTIARCH "/usr/lib/i386-linux-gnu"
#endif

#ifdef __ELF__
CUSHIM_DLOPEN_NOTE(platform_note, "cuda", "CUDA driver", DRIVER);
#endif

const struct cushim_candidate cushim_platform_candidates[] = {
    {DRIVER, CUSHIM_SOURCE_SYSTEM},
#ifdef MULTIARCH
    {MULTIARCH "/" DRIVER, CUSHIM_SOURCE_LIST},
#endif
    {"/usr/lib64/" DRIVER, CUSHIM_SOURCE_LIST},
    {"/usr/lib/wsl/lib/" DRIVER, CUSHIM_SOURCE_LIST},
    {"/run/opengl-driver/lib/" DRIVER, CUSHIM_SOURCE_LIST},
#ifdef MULTIARCH
#if defined(__aarch64__)
    {MULTIARCH "/tegra/" DRIVER, CUSHIM_SOURCE_LIST},
    {MULTIARCH "/nvidia/" DRIVER, CUSHIM_SOURCE_LIST},
#endif
    {MULTIARCH "/nvidia/current/" DRIVER, CUSHIM_SOURCE_LIST},
    {MULTIARCH "/GL/default/lib/" DRIVER, CUSHIM_SOURCE_LIST},
#endif
    {NULL, CUSHIM_SOURCE_LIST},
};
_Static_assert(sizeof cushim_platform_candidates / sizeof *cushim_platform_candidates <
                   CUSHIM_MAX_ATTEMPTS,
               "all attempts are recorded, one at the compatibility driver among them");
const struct cushim_candidate cushim_platform_compat = {"/usr/local/cuda/compat/" DRIVER,
                                                        CUSHIM_SOURCE_COMPAT};

const char *cushim_platform_env(const char *name)
{
    return secure_getenv(name);
}

/* ---- why dlopen failed; nothing of this runs before it did */

enum { PLATFORM_ERRORS = 134 }; /* Linux has no larger one */

/* The error of the system that a sentence of its loader tells in the C library's words, in
 * whichever language it has them; 0: none. */
static int platform_error_in(const char *words)
{
    char buffer[128];
    for (int error = 1; error < PLATFORM_ERRORS; error++)
        if (strstr(words, cushim_elf_file_words(error, buffer, sizeof buffer)))
            return error;
    return 0;
}

/*
 * A message of the system's loader names the object that it is about, and a colon follows. C
 * libraries word and translate the rest, and some put words before the name.
 */
static bool platform_is_about(const char *words, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(words, name); at; at = strstr(at + 1, name))
        if (at[length] == ':' && (at == words || at[-1] == ' '))
            return true;
    return false;
}

static bool platform_is_about_a_bare_name(const char *words)
{
    const char *colon = strchr(words, ':');
    const char *start = colon;
    while (start && start > words && start[-1] != ' ')
        start--;
    return start && start < colon && !memchr(start, '/', (size_t)(colon - start));
}

/* What is wrong with a file that the system's loader did not take. */
static enum cushim_status platform_examine(const char *path)
{
    char ignored[256];
    return cushim_elf_file_map(path, ignored, sizeof ignored);
}

/* The file that a failed search stopped at: one that the words name, or the first in the folders of
 * the search that the C library tells. The loader's cache has others. */
static bool platform_locate(const char *name, const char *words, char *path, size_t size)
{
    size_t length = strcspn(words, ":");
    const char *last = memrchr(words, '/', length);
    if (last && strncmp(last + 1, name, length - (size_t)(last + 1 - words)) == 0 &&
        length < size) {
        memcpy(path, words, length);
        path[length] = '\0';
        return true;
    }
    bool found = false;
#ifdef __GLIBC__
    void *self = dlopen(NULL, RTLD_LAZY);
    Dl_serinfo count, *folders = NULL;
    if (self && dlinfo(self, RTLD_DI_SERINFOSIZE, &count) == 0)
        folders = calloc(1, count.dls_size);
    if (folders && dlinfo(self, RTLD_DI_SERINFOSIZE, folders) == 0 &&
        dlinfo(self, RTLD_DI_SERINFO, folders) == 0)
        for (unsigned i = 0; i < folders->dls_cnt && !found; i++)
            found = (size_t)snprintf(path, size, "%s/%s", folders->dls_serpath[i].dls_name, name) <
                        size &&
                    access(path, F_OK) == 0;
    free(folders);
    if (self)
        dlclose(self);
#endif
    return found;
}

static enum cushim_status platform_explain(const char *path, const char *words)
{
    int error = platform_error_in(words);
    if (error == ENOMEM)
        return CUSHIM_ERROR_OUT_OF_MEMORY;
    if (platform_examine("/") == CUSHIM_ERROR_NO_DESCRIPTORS)
        return CUSHIM_ERROR_NO_DESCRIPTORS;
    void *self = dlopen(NULL, RTLD_LAZY);
    if (!self) /* a program without dlopen, as musl makes them with -static */
        return CUSHIM_ERROR_NO_DLOPEN;
    dlclose(self);
    /* What is found is named by its path from then on. */
    bool missing = !error || error == ENOENT;
    if (!platform_is_about(words, path) && platform_is_about_a_bare_name(words))
        return missing ? CUSHIM_ERROR_DEPENDENCY : CUSHIM_ERROR_OPEN_FAILED;
    char file[4096];
    enum cushim_status status = CUSHIM_OK;
    if (strchr(path, '/'))
        status = platform_examine(path);
    else if (error != ENOENT && platform_locate(path, words, file, sizeof file))
        status = platform_examine(file);
    else if (missing && platform_is_about_a_bare_name(words))
        status = CUSHIM_ERROR_NOT_FOUND;
    return status == CUSHIM_OK ? CUSHIM_ERROR_OPEN_FAILED : status;
}

enum cushim_status cushim_platform_open(const char *path, void **handle, char *message, size_t size)
{
    if (strchr(path, '/')) {
        enum cushim_status status = cushim_elf_file_inspect(path, message, size);
        if (status != CUSHIM_OK)
            return status;
    }
    errno = ENOENT; /* glibc reports what is left there if it found no folder to look into */
    void *found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (found) {
        *handle = found;
        return CUSHIM_OK;
    }
    const char *words = dlerror();
    snprintf(message, size, "%s", words ? words : "dlopen reported no reason");
    enum cushim_status status = platform_explain(path, message);
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

/* The system's loader writes a library's map behind its own lock, which ThreadSanitizer does not
 * know. */
#if defined(__clang__) || defined(__GNUC__) && __GNUC__ >= 8
#define READS_MAP __attribute__((no_sanitize("thread")))
#else
#define READS_MAP
#endif

/* Byte by byte, because a function of the C library would be checked. */
READS_MAP static void platform_read_map(const struct link_map *map, char *path, size_t size,
                                        const void **base)
{
    size_t length = 0;
    *base = (const void *)(uintptr_t)map->l_addr;
    for (const char *c = map->l_name; *c && length + 1 < size; c++)
        path[length++] = *c;
    path[length] = '\0';
}

void cushim_platform_describe(void *handle, void *symbol, char *path, size_t size,
                              const void **base)
{
    struct link_map *map = NULL;
    Dl_info info;
    if (handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0) {
        platform_read_map(map, path, size, base);
    } else if (!handle && symbol && dladdr(symbol, &info)) {
        *base = info.dli_fbase;
        snprintf(path, size, "%s", info.dli_fname ? info.dli_fname : "");
    }
    /* Now, because the current folder and links may be others later. */
    char *real = realpath(path, NULL);
    if (real && strlen(real) < size)
        strcpy(path, real); /* no format, whose first use in a process is slow */
    free(real);
}

/* dladdr also looks for the name of the address, through all symbols of the library. glibc has a
 * call without that since 2.35. */
const void *cushim_platform_object(const void *address)
{
#ifdef DLFO_EH_SEGMENT_TYPE
    int (*find)(void *, struct dl_find_object *);
    struct dl_find_object object;
    void *symbol = dlsym(RTLD_DEFAULT, "_dl_find_object");
    memcpy(&find, &symbol, sizeof symbol);
    if (find)
        return find((void *)(uintptr_t)address, &object) == 0 ? object.dlfo_map_start : NULL;
#endif
    Dl_info info;
    return dladdr(address, &info) ? info.dli_fbase : NULL;
}

READS_MAP bool cushim_platform_has(void *handle, const void *address)
{
    struct link_map *map = NULL;
    const void *object = cushim_platform_object(address);
    return object && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 &&
           object == cushim_platform_object(map->l_ld);
}

long cushim_platform_process(void)
{
    return (long)getpid();
}
