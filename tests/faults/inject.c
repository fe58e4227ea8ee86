/* SPDX-License-Identifier: MIT */
#include "inject.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const inject_names[INJECT_KINDS] = {"allocate", "open",  "read",  "map",
                                                "dlopen",   "dlsym", "dlinfo"};

static _Thread_local struct {
    bool counts, on;
    enum inject_kind kind;
    unsigned first, calls;
} inject;

/* Addresses of blocks that are live, in no order. */
static void *inject_live[4096];

void inject_begin(enum inject_kind kind, unsigned first, bool on)
{
    memset(inject_live, 0, sizeof inject_live);
    inject.kind = kind;
    inject.first = first;
    inject.on = on;
    inject.calls = 0;
    inject.counts = true;
}

enum inject_kind inject_kind(void)
{
    return inject.kind;
}

unsigned inject_end(void)
{
    inject.counts = false;
    return inject.calls;
}

int inject_blocks(void)
{
    int blocks = 0;
    for (size_t i = 0; i < sizeof inject_live / sizeof *inject_live; i++)
        blocks += !!inject_live[i];
    return blocks;
}

static bool inject_fails(enum inject_kind kind, int error)
{
    if (!inject.counts || kind != inject.kind)
        return false;
    inject.calls++;
    if (inject.first && (inject.on ? inject.calls >= inject.first : inject.calls == inject.first)) {
        errno = error;
        return true;
    }
    return false;
}

static void *inject_add(void *block)
{
    for (size_t i = 0; inject.counts && block && i < sizeof inject_live / sizeof *inject_live; i++)
        if (!inject_live[i]) {
            inject_live[i] = block;
            break;
        }
    return block;
}

static void inject_remove(void *block)
{
    for (size_t i = 0; block && i < sizeof inject_live / sizeof *inject_live; i++)
        if (inject_live[i] == block)
            inject_live[i] = NULL;
}

/* FAULT=KIND:FIRST[:on] does it for a whole program, whose calls are written to FAULT_CALLS. */
__attribute__((constructor)) static void inject_start(void)
{
    const char *rule = getenv("FAULT");
    char name[16], on[4] = "";
    unsigned first;
    if (!rule || sscanf(rule, "%15[a-z]:%u:%3s", name, &first, on) < 2)
        return;
    for (enum inject_kind kind = 0; kind < INJECT_KINDS; kind++)
        if (strcmp(name, inject_names[kind]) == 0)
            inject_begin(kind, first, *on != '\0');
}

__attribute__((destructor)) static void inject_report(void)
{
    const char *path = getenv("FAULT_CALLS");
    unsigned calls = inject_end();
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%u", calls);
        fclose(file);
    }
}

/* Declares the real function, and begins the one that stands before it. A program that does not
 * wrap the name has no such real one. */
#define WRAP(type, name, ...)                                                                      \
    __attribute__((weak)) type __real_##name(__VA_ARGS__);                                         \
    type __wrap_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)

WRAP(void *, malloc, size_t size)
{
    return inject_fails(INJECT_ALLOCATE, ENOMEM) ? NULL : inject_add(__real_malloc(size));
}

WRAP(void *, calloc, size_t count, size_t size)
{
    return inject_fails(INJECT_ALLOCATE, ENOMEM) ? NULL : inject_add(__real_calloc(count, size));
}

WRAP(void *, realloc, void *block, size_t size)
{
    if (inject_fails(INJECT_ALLOCATE, ENOMEM))
        return NULL;
    inject_remove(block);
    return inject_add(__real_realloc(block, size));
}

WRAP(char *, strdup, const char *text)
{
    return inject_fails(INJECT_ALLOCATE, ENOMEM) ? NULL : inject_add(__real_strdup(text));
}

WRAP(char *, realpath, const char *path, char *resolved)
{
    return inject_fails(INJECT_ALLOCATE, ENOMEM) ? NULL
                                                 : inject_add(__real_realpath(path, resolved));
}

WRAP(void, free, void *block)
{
    inject_remove(block);
    __real_free(block);
}

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (inject_fails(INJECT_OPEN, EMFILE) || inject_fails(INJECT_BROKEN, EIO) ||
        (!(flags & O_CLOEXEC) && inject_fails(INJECT_INHERITED, EIO)))
        return -1;
    return __real_open64(path, flags, mode);
}

WRAP(FILE *, fopen64, const char *path, const char *mode)
{
    return inject_fails(INJECT_OPEN, EMFILE) ? NULL : __real_fopen64(path, mode);
}

WRAP(FILE *, fdopen, int descriptor, const char *mode)
{
    return inject_fails(INJECT_ALLOCATE, ENOMEM) ? NULL : __real_fdopen(descriptor, mode);
}

WRAP(DIR *, opendir, const char *path)
{
    return inject_fails(INJECT_OPEN, EMFILE) ? NULL : __real_opendir(path);
}

WRAP(ssize_t, read, int descriptor, void *bytes, size_t size)
{
    return inject_fails(INJECT_READ, EIO) ? -1 : __real_read(descriptor, bytes, size);
}

WRAP(ssize_t, pread64, int descriptor, void *bytes, size_t size, off64_t at)
{
    if (inject_fails(INJECT_END, EINTR)) /* a number that an earlier call left */
        return 0;
    if (inject_fails(INJECT_SHORT, 0) && size > 100)
        size = 100;
    return inject_fails(INJECT_READ, EIO) || inject_fails(INJECT_SIGNAL, EINTR)
               ? -1
               : __real_pread64(descriptor, bytes, size, at);
}

static _Thread_local FILE *inject_broken;

WRAP(size_t, fread, void *bytes, size_t size, size_t count, FILE *file)
{
    if (inject_fails(INJECT_READ, EIO)) {
        inject_broken = file;
        return 0;
    }
    return __real_fread(bytes, size, count, file);
}

WRAP(int, ferror, FILE *file)
{
    return inject_broken == file || __real_ferror(file);
}

WRAP(int, fclose, FILE *file)
{
    inject_broken = inject_broken == file ? NULL : inject_broken;
    return __real_fclose(file);
}

WRAP(int, fstat64, int descriptor, struct stat64 *info)
{
    return inject_fails(INJECT_READ, EIO) ? -1 : __real_fstat64(descriptor, info);
}

WRAP(int, stat64, const char *path, struct stat64 *info)
{
    return inject_fails(INJECT_READ, EIO) ? -1 : __real_stat64(path, info);
}

WRAP(void *, mmap64, void *at, size_t size, int rights, int flags, int descriptor, off64_t offset)
{
    return inject_fails(INJECT_MAP, ENOMEM)
               ? MAP_FAILED
               : __real_mmap64(at, size, rights, flags, descriptor, offset);
}

WRAP(int, madvise, void *at, size_t size, int advice)
{
    return inject_fails(INJECT_MAP, ENOMEM) ? -1 : __real_madvise(at, size, advice);
}

/* The system's loader has its words for what failed, once. */
static _Thread_local char inject_text[512];
static _Thread_local const char *inject_words;

WRAP(void *, dlopen, const char *path, int flags)
{
    if (!inject_fails(INJECT_DLOPEN, ENOMEM))
        return __real_dlopen(path, flags);
    snprintf(inject_text, sizeof inject_text,
             "%s: cannot create shared object descriptor: Cannot allocate memory",
             path ? path : "");
    inject_words = inject_text;
    return NULL;
}

WRAP(void *, dlsym, void *handle, const char *symbol)
{
    if (!inject_fails(INJECT_DLSYM, ENOMEM))
        return __real_dlsym(handle, symbol);
    inject_words = "undefined symbol";
    return NULL;
}

WRAP(char *, dlerror, void)
{
    const char *words = inject_words;
    inject_words = NULL;
    return words ? (char *)words : __real_dlerror();
}

WRAP(int, dlinfo, void *handle, int request, void *answer)
{
    return inject_fails(INJECT_DLINFO, ENOMEM) ? -1 : __real_dlinfo(handle, request, answer);
}

WRAP(int, dladdr, const void *address, Dl_info *info)
{
    return inject_fails(INJECT_DLINFO, ENOMEM) ? 0 : __real_dladdr(address, info);
}

WRAP(int, dl_iterate_phdr, int (*take)(struct dl_phdr_info *, size_t, void *), void *data)
{
    return inject_fails(INJECT_DLINFO, ENOMEM) ? 0 : __real_dl_iterate_phdr(take, data);
}
