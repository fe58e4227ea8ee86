/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* secure_getenv */
#endif
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#ifdef _WIN32
#include <direct.h>
#include <sys/utime.h>
#include <windows.h>
#endif
#ifndef _WIN32
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>
#endif

#include "module_internal.h"

#define MODULE_HASH_DIGITS 32
#define MODULE_OLD 3600 /* seconds after which an unfinished file is nobody's */

/* ---- what differs between systems */

#ifdef _WIN32

static FILE *module_open_read(const char *path, char *why, size_t size)
{
    struct _stat64 about;
    if (_stat64(path, &about) == 0 && !(about.st_mode & _S_IFREG)) {
        snprintf(why, size, "not a file");
        errno = EISDIR;
        return NULL;
    }
    FILE *file = fopen(path, "rb");
    if (!file)
        snprintf(why, size, "%s", strerror(errno));
    return file;
}

static FILE *module_open_new(const char *path)
{
    return fopen(path, "wbx");
}

static int module_make_one(const char *path)
{
    return _mkdir(path);
}

static int module_replace(const char *from, const char *to)
{
    return MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING) ? 0 : -1;
}

void cushim_file_touch(const char *path)
{
    _utime(path, NULL);
}

bool cushim_file_cache_folder(char *path, size_t size)
{
    const char *local = getenv("LOCALAPPDATA");
    return local && local[0] && (size_t)snprintf(path, size, "%s/cushim/cubin", local) < size;
}

#endif
#ifndef _WIN32

/* Without waiting for who writes into a pipe. */
static FILE *module_open_read(const char *path, char *why, size_t size)
{
    struct stat about;
    int number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (number < 0 || fstat(number, &about) != 0) {
        snprintf(why, size, "%s", strerror(errno));
    } else if (!S_ISREG(about.st_mode)) {
        snprintf(why, size, S_ISDIR(about.st_mode) ? "a folder, not a file" : "not a regular file");
        errno = EISDIR;
    } else {
        FILE *file = fdopen(number, "rb");
        if (file)
            return file;
        snprintf(why, size, "%s", strerror(errno));
    }
    const int error = errno;
    if (number >= 0)
        close(number);
    errno = error;
    return NULL;
}

static FILE *module_open_new(const char *path)
{
    int number = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *file = number >= 0 ? fdopen(number, "wb") : NULL;
    if (number >= 0 && !file)
        close(number);
    return file;
}

static int module_make_one(const char *path)
{
    return mkdir(path, 0700);
}

static int module_replace(const char *from, const char *to)
{
    return rename(from, to);
}

void cushim_file_touch(const char *path)
{
    utimensat(AT_FDCWD, path, NULL, 0);
}

/* A relative $XDG_CACHE_HOME is to be ignored, says its specification. */
bool cushim_file_cache_folder(char *path, size_t size)
{
    const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    if (cache && cache[0] == '/')
        return (size_t)snprintf(path, size, "%s/cushim/cubin", cache) < size;
    return home && home[0] == '/' &&
           (size_t)snprintf(path, size, "%s/.cache/cushim/cubin", home) < size;
}

#endif

/* ---- reading */

static bool module_read_all(FILE *file, struct cushim_bytes *whole, char *why, size_t size)
{
    size_t capacity = (size_t)64 << 10, bytes = 0;
    char *data = malloc(capacity);
    while (data) {
        const size_t room = capacity - bytes - 1, got = fread(data + bytes, 1, room, file);
        bytes += got;
        if (got < room)
            break;
        char *more = capacity < SIZE_MAX / 2 ? realloc(data, 2 * capacity) : NULL;
        if (!more)
            free(data);
        data = more;
        capacity *= 2;
    }
    if (!data || ferror(file)) {
        snprintf(why, size, data ? "reading it failed" : "no memory for it");
        free(data);
        return false;
    }
    data[bytes] = 0;
    *whole = (struct cushim_bytes){data, bytes};
    return true;
}

/* 0, or what errno was. */
static int module_file_read(const char *path, struct cushim_bytes *whole, char *why, size_t size)
{
    errno = 0;
    FILE *file = module_open_read(path, why, size);
    if (!file)
        return errno ? errno : EIO;
    const bool good = module_read_all(file, whole, why, size);
    fclose(file);
    return good ? 0 : EIO;
}

void cushim_file_what(char *text, size_t size, const char *argument, const char *path)
{
    const size_t length = strlen(path), most = 180;
    char head[64];
    snprintf(head, sizeof head, "%.60s", argument);
    snprintf(text, size, "%s: %s%s", head, length > most ? "..." : "",
             length > most ? path + length - most : path);
}

CUresult cushim_file_load(const char *helper, const char *what, const char *path,
                          struct cushim_bytes *file)
{
    char why[200] = "", place[256];
    if (!path)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper, "%s: NULL", what);
    if (!path[0])
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper, "%s: an empty string", what);
    const int error = module_file_read(path, file, why, sizeof why);
    if (!error)
        return CUDA_SUCCESS;
    cushim_file_what(place, sizeof place, what, path);
    return cushim_refuse(error == ENOENT || error == ENOTDIR ? CUDA_ERROR_FILE_NOT_FOUND
                                                             : CUDA_ERROR_OPERATING_SYSTEM,
                         helper, "%s: %s", place, why);
}

bool cushim_file_read(const char *path, struct cushim_bytes *file, char *why, size_t size)
{
    const int error = module_file_read(path, file, why, size);
    if (error == ENOENT)
        why[0] = 0;
    return !error;
}

/* ---- writing */

bool cushim_file_make_folder(const char *path, char *why, size_t size)
{
    char part[4096];
    const size_t length = strlen(path);
    if (length >= sizeof part) {
        snprintf(why, size, "its name has %zu characters", length);
        return false;
    }
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != 0)
            continue;
        memcpy(part, path, i);
        part[i] = 0;
        struct stat about;
        if (stat(part, &about) != 0)
            module_make_one(part);
    }
    /* Perhaps another process made it, or its parents cannot be looked into: what counts is that it
     * is there. */
    struct stat about;
    if (stat(path, &about) == 0 && (about.st_mode & S_IFMT) == S_IFDIR)
        return true;
    snprintf(why, size, "it cannot be made: %s", strerror(errno));
    return false;
}

static bool module_write_parts(FILE *file, const struct cushim_bytes parts[], size_t count)
{
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        good = !parts[i].bytes || fwrite(parts[i].data, 1, parts[i].bytes, file) == parts[i].bytes;
    return fclose(file) == 0 && good;
}

bool cushim_file_write(const char *path, const struct cushim_bytes parts[], size_t count, char *why,
                       size_t size)
{
    static atomic_uint number;
    char name[4200];
    FILE *file = NULL;
    errno = 0;
    /* Processes of several containers may have one number and one cache. */
    for (int tries = 0; !file && tries < 16; tries++) {
        snprintf(name, sizeof name, "%.4095s.%ld-%lx-%u.tmp", path, (long)getpid(),
                 (unsigned long)time(NULL), atomic_fetch_add(&number, 1));
        file = module_open_new(name);
        if (!file && errno != EEXIST)
            break;
    }
    if (file && module_write_parts(file, parts, count) && module_replace(name, path) == 0)
        return true;
    snprintf(why, size, "%s", errno ? strerror(errno) : "writing failed");
    if (file)
        remove(name);
    return false;
}

/* ---- trimming */

struct module_old_file {
    char name[MODULE_HASH_DIGITS + 8];
    unsigned long long bytes;
    long long used;
};

struct module_old_files {
    struct module_old_file *files;
    size_t count, capacity;
    unsigned long long bytes;
};

/* What follows the digits of a name; NULL where it does not begin with them. */
static const char *module_after_digits(const char *name)
{
    return strspn(name, "0123456789abcdef") == MODULE_HASH_DIGITS ? name + MODULE_HASH_DIGITS
                                                                  : NULL;
}

static void module_note_file(struct module_old_files *old, const char *folder, const char *name)
{
    char path[4400];
    struct stat about;
    const char *after = module_after_digits(name);
    const size_t length = strlen(name);
    if (!after || strncmp(after, ".cubin", 6) != 0)
        return;
    snprintf(path, sizeof path, "%.4095s/%.256s", folder, name);
    if (stat(path, &about) != 0)
        return;
    if (after[6] && strcmp(name + length - 4, ".tmp") == 0 &&
        (long long)time(NULL) - (long long)about.st_mtime > MODULE_OLD)
        remove(path);
    if (after[6])
        return;
    if (old->count == old->capacity) {
        size_t capacity = 2 * old->capacity + 64;
        struct module_old_file *files = realloc(old->files, capacity * sizeof *files);
        if (!files)
            return;
        old->files = files;
        old->capacity = capacity;
    }
    struct module_old_file *file = &old->files[old->count++];
    memcpy(file->name, name, length + 1);
    file->bytes = (unsigned long long)about.st_size;
    file->used = (long long)about.st_mtime;
    old->bytes += file->bytes;
}

#ifdef _WIN32
static void module_list_files(struct module_old_files *old, const char *folder)
{
    char pattern[4200];
    WIN32_FIND_DATAA found;
    snprintf(pattern, sizeof pattern, "%.4095s/*.*", folder);
    HANDLE search = FindFirstFileA(pattern, &found);
    if (search == INVALID_HANDLE_VALUE)
        return;
    do
        module_note_file(old, folder, found.cFileName);
    while (FindNextFileA(search, &found));
    FindClose(search);
}
#endif
#ifndef _WIN32
static void module_list_files(struct module_old_files *old, const char *folder)
{
    DIR *open = opendir(folder);
    for (struct dirent *entry = open ? readdir(open) : NULL; entry; entry = readdir(open))
        module_note_file(old, folder, entry->d_name);
    if (open)
        closedir(open);
}
#endif

static int module_by_use(const void *a, const void *b)
{
    const long long x = ((const struct module_old_file *)a)->used;
    const long long y = ((const struct module_old_file *)b)->used;
    return x < y ? -1 : x > y;
}

void cushim_file_trim(const char *folder, unsigned long long limit)
{
    struct module_old_files old = {0};
    char path[4400];
    module_list_files(&old, folder);
    if (old.bytes > limit)
        qsort(old.files, old.count, sizeof *old.files, module_by_use);
    for (size_t i = 0; i < old.count && old.bytes > limit; i++) {
        snprintf(path, sizeof path, "%.4095s/%s", folder, old.files[i].name);
        /* Another process may have removed it. */
        remove(path);
        old.bytes -= old.files[i].bytes;
    }
    free(old.files);
}
