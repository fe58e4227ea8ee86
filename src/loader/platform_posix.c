/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* secure_getenv, dlinfo, dladdr, madvise */
#endif
#include "loader/platform.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader/elf.h"
#include "loader/elf_file.h"

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
/*
 * A note for packagers: this library or program opens a driver if there is one. The format is that
 * of "Package metadata for dlopen" of systemd's file formats; priorities are its words.
 */
#define NOTE                                                                                       \
    "[{\"feature\":\"cuda\",\"description\":\"CUDA driver\",\"priority\":\"suggested\","           \
    "\"soname\":[\"" DRIVER "\"]}]"
static const struct {
    ElfW(Nhdr) header;
    char owner[sizeof "FDO"];
    char text[sizeof NOTE];
} platform_note __attribute__((used, aligned(4), section(".note.dlopen"))) = {
    {sizeof "FDO", sizeof NOTE, 0x407c0c0a}, "FDO", NOTE};
#undef NOTE
#endif

const struct cushim_candidate cushim_platform_candidates[] = {
    {DRIVER, CUSHIM_SOURCE_PROCESS},
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

/* What the search would make of a file. */
enum platform_verdict { PLATFORM_PASSES_OVER, PLATFORM_OPENS, PLATFORM_DIES };

static enum platform_verdict platform_judge(const char *path)
{
    struct stat info;
    char ignored[256];
    if (stat(path, &info) != 0)
        return PLATFORM_PASSES_OVER;
    switch (cushim_elf_file_inspect(path, ignored, sizeof ignored)) {
    case CUSHIM_OK:
        return PLATFORM_OPENS;
    case CUSHIM_ERROR_TRUNCATED:
    case CUSHIM_ERROR_OPEN_FAILED:
        return PLATFORM_DIES;
    default:
        return PLATFORM_PASSES_OVER;
    }
}

bool cushim_platform_search_is_unsafe(const char *name, char *path, size_t size)
{
    const char *folders = secure_getenv("LD_LIBRARY_PATH");
    enum platform_verdict verdict = PLATFORM_PASSES_OVER;
    while (folders && *folders && !verdict) {
        size_t length = strcspn(folders, ":;");
        if ((size_t)snprintf(path, size, "%.*s/%s", length ? (int)length : 1,
                             length ? folders : ".", name) < size)
            verdict = platform_judge(path);
        folders += length;
        if (*folders)
            folders++;
    }
#ifdef MULTIARCH
    if (!verdict && snprintf(path, size, MULTIARCH "/%s", name) < (int)size)
        verdict = platform_judge(path);
#endif
    return verdict == PLATFORM_DIES;
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

/* Why dlopen failed, for a file that passed inspection or a name that the system searched for. */
static enum cushim_status platform_classify(const char *path, const char *words, int error)
{
    if (error == ENOMEM)
        return CUSHIM_ERROR_OUT_OF_MEMORY;
    char ignored[256];
    if (cushim_elf_file_inspect("/", ignored, sizeof ignored) == CUSHIM_ERROR_NO_DESCRIPTORS)
        return CUSHIM_ERROR_NO_DESCRIPTORS;
    void *self = dlopen(NULL, RTLD_LAZY);
    if (!self) /* a program without dlopen, as musl makes them with -static */
        return CUSHIM_ERROR_NO_DLOPEN;
    dlclose(self);
    if (strchr(path, '/'))
        return !platform_is_about(words, path) && platform_is_about_a_bare_name(words)
                   ? CUSHIM_ERROR_DEPENDENCY
                   : CUSHIM_ERROR_OPEN_FAILED;
    if (platform_is_about(words, path))
        return CUSHIM_ERROR_NOT_FOUND;
    return platform_is_about_a_bare_name(words) ? CUSHIM_ERROR_DEPENDENCY
                                                : CUSHIM_ERROR_OPEN_FAILED;
}

/* A damaged library's names are in what the system reports of it, and may end up in a terminal. */
static void platform_make_printable(char *words)
{
    for (; *words; words++)
        if ((unsigned char)*words < ' ' || *words == 127)
            *words = '?';
}

enum cushim_status cushim_platform_open(const struct cushim_candidate *candidate, void **handle,
                                        char *message, size_t size)
{
    if (strchr(candidate->path, '/')) {
        enum cushim_status status = cushim_elf_file_inspect(candidate->path, message, size);
        if (status != CUSHIM_OK)
            return status;
    }
    int only_found = candidate->source == CUSHIM_SOURCE_PROCESS ? RTLD_NOLOAD : 0;
    errno = 0;
    void *found = dlopen(candidate->path, RTLD_NOW | RTLD_LOCAL | only_found);
    int error = errno;
    if (found) {
        *handle = found;
        return CUSHIM_OK;
    }
    const char *words = dlerror();
    if (only_found) {
        snprintf(message, size, "not loaded in this process");
        return CUSHIM_ERROR_NOT_FOUND;
    }
    snprintf(message, size, "%s", words ? words : "dlopen reported no reason");
    enum cushim_status status = platform_classify(candidate->path, message, error);
    platform_make_printable(message);
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

bool cushim_platform_exports(void *handle, void **addresses)
{
    return cushim_elf_exports(handle, addresses);
}

void cushim_platform_describe(void *handle, void *symbol, char *path, size_t size,
                              const void **base)
{
    Dl_info info;
    if (handle) {
        cushim_elf_describe(handle, path, size, base);
    } else if (dladdr(symbol, &info)) {
        *base = info.dli_fbase;
        snprintf(path, size, "%s", info.dli_fname ? info.dli_fname : "");
    }
}

char *cushim_platform_real_path(const char *path)
{
    return realpath(path, NULL);
}

bool cushim_platform_is_code(const void *address)
{
    return cushim_elf_is_code(address);
}

/* A page that the kernel empties in a child; NULL if it cannot. */
static _Atomic int *platform_make_page(void)
{
#ifdef MADV_WIPEONFORK
    void *page =
        mmap(NULL, sizeof(_Atomic int), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return NULL;
    if (madvise(page, sizeof(_Atomic int), MADV_WIPEONFORK) == 0)
        return page;
    munmap(page, sizeof(_Atomic int));
#endif
    return NULL;
}

/* Process numbers alone do not tell: a child in a new namespace may have its parent's. */
void cushim_platform_mark(struct cushim_mark *mark)
{
    _Atomic int *page = atomic_load(&mark->page), *made = page ? NULL : platform_make_page();
    if (made && atomic_compare_exchange_strong(&mark->page, &page, made))
        page = made;
    else if (made)
        munmap((void *)made, sizeof *made);
    if (page)
        atomic_store(page, 1);
    atomic_store(&mark->process, (long)getpid());
}

bool cushim_platform_is_child(struct cushim_mark *mark)
{
    _Atomic int *page = atomic_load(&mark->page);
    long process = atomic_load(&mark->process);
    /* Both are asked: emulators say that they empty pages, and do not. */
    return (page && !atomic_load(page)) || (process && process != (long)getpid());
}
