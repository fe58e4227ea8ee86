/* SPDX-License-Identifier: MIT */
/* Preloaded: open or pread fails for files called libcuda*, with the error FAIL_OPEN or FAIL_READ.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int number_of(const char *variable)
{
    const char *value = getenv(variable);
    return value ? atoi(value) : 0;
}

int open(const char *path, int flags, ...)
{
    static int (*real)(const char *, int, ...);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "open");
    if (number_of("FAIL_OPEN") && strstr(path, "libcuda")) {
        errno = number_of("FAIL_OPEN");
        return -1;
    }
    return real(path, flags, 0);
}

ssize_t pread(int file, void *buffer, size_t size, off_t offset)
{
    static ssize_t (*real)(int, void *, size_t, off_t);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pread");
    if (number_of("FAIL_READ")) {
        errno = number_of("FAIL_READ");
        return -1;
    }
    return real(file, buffer, number_of("SHORT_READ") && size > 7 ? 7 : size, offset);
}
