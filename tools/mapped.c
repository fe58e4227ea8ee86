/* SPDX-License-Identifier: MIT */
#include "mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

static struct mapped *open_files;

bool mapped_descriptor(struct mapped *mapped, int descriptor, const char **problem)
{
    struct stat facts;
    void *data = NULL;

    *mapped = (struct mapped){0};
    if (fstat(descriptor, &facts) != 0) {
        *problem = strerror(errno);
        close(descriptor);
        return false;
    }
    if (!S_ISREG(facts.st_mode)) {
        *problem = S_ISDIR(facts.st_mode) ? "a folder, not a file" : "not a regular file";
        close(descriptor);
        return false;
    }
    if (facts.st_size > 0)
        data = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED)
        *problem = strerror(errno);
    close(descriptor);
    if (data == MAP_FAILED)
        return false;
    *mapped = (struct mapped){data, (size_t)facts.st_size, open_files};
    open_files = mapped;
    return true;
}

bool mapped_open(struct mapped *mapped, const char *path, const char **problem)
{
    /* A pipe must not make it wait. */
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    *mapped = (struct mapped){0};
    if (descriptor >= 0)
        return mapped_descriptor(mapped, descriptor, problem);
    *problem = strerror(errno);
    return false;
}

void mapped_close(struct mapped *mapped)
{
    struct mapped **place = &open_files;

    while (*place && *place != mapped)
        place = &(*place)->next;
    if (*place)
        *place = mapped->next;
    if (mapped->data)
        munmap((void *)(uintptr_t)mapped->data, mapped->size);
    *mapped = (struct mapped){0};
}

void mapped_passed(const void *data, size_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)data;
    uintptr_t first = (begin + page - 1) / page * page, end = (begin + size) / page * page;

    for (const struct mapped *file = open_files; file; file = file->next) {
        uintptr_t at = (uintptr_t)file->data;
        /* The pages are the file's and were not written: they are read again if need be. */
        if (begin >= at && size <= file->size && begin - at <= file->size - size && end > first)
            madvise((void *)first, end - first, MADV_DONTNEED);
    }
}

int mapped_temporary(const char **problem)
{
    const char *asked = secure_getenv("TMPDIR");
    const char *folder = asked && *asked == '/' ? asked : "/var/tmp";
    char path[PATH_SIZE];
    int descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (descriptor < 0 && snprintf(path, sizeof path, "%s/cushim.XXXXXX", folder) < PATH_SIZE) {
        descriptor = mkostemp(path, O_CLOEXEC); /* a file system without nameless files */
        if (descriptor >= 0)
            unlink(path);
    }
    if (descriptor < 0)
        *problem = "too large for the memory, and no temporary file can be made; TMPDIR may name "
                   "a folder";
    return descriptor;
}
