/* SPDX-License-Identifier: MIT */
/* The system's loader takes files of one device and inode for one library; a file in memory has
 * its own. */
#include "thin/thin.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

static bool copy_file(const char *from, int to)
{
    int in = open(from, O_RDONLY | O_CLOEXEC);
    ssize_t written = -1;
    do
        written = in < 0 ? -1 : sendfile(to, in, NULL, 1 << 30);
    while (written > 0);
    if (in >= 0)
        close(in);
    return written == 0;
}

void *sim_copy_open(const char *path)
{
    char name[4096];
    void *open_already, *handle = NULL;
    int file = memfd_create("libcushim-sim-engine.so", MFD_CLOEXEC);
    if (file < 0 || !copy_file(path, file)) {
        if (file >= 0)
            close(file);
        return NULL;
    }
    /* The loader also takes equal names for one library, and an earlier copy's may be of a
     * descriptor of this number, closed since. */
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    while ((open_already = dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) && strlen(name) < 4000) {
        dlclose(open_already);
        memmove(name + 2, name, strlen(name) + 1);
        memcpy(name, "/.", 2);
    }
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    close(file);
    return handle;
}
