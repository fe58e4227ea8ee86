/* SPDX-License-Identifier: MIT */
#include "mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool mapped_open(struct mapped *mapped, const char *path, const char **problem)
{
    struct stat facts;
    /* A pipe must not make it wait. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    *mapped = (struct mapped){0};
    if (fd < 0 || fstat(fd, &facts) != 0) {
        *problem = strerror(errno);
        if (fd >= 0)
            close(fd);
        return false;
    }
    if (!S_ISREG(facts.st_mode)) {
        *problem = S_ISDIR(facts.st_mode) ? "a folder, not a file" : "not a regular file";
        close(fd);
        return false;
    }
    mapped->size = (size_t)facts.st_size;
    if (mapped->size > 0) {
        void *data = mmap(NULL, mapped->size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED) {
            *problem = strerror(errno);
            close(fd);
            return false;
        }
        mapped->data = data;
    }
    close(fd);
    return true;
}

void mapped_close(struct mapped *mapped)
{
    if (mapped->data)
        munmap((void *)(unsigned long)mapped->data, mapped->size);
    *mapped = (struct mapped){0};
}
