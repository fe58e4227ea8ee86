/* SPDX-License-Identifier: MIT */
/*
 * Opens a path again and again, and lets one more call of a function fail each time: malloc,
 * calloc, realpath and dlinfo, as --wrap has them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cushim.h"

enum { MALLOC, CALLOC, REALPATH, DLINFO, FUNCTIONS };

static int function, number, calls[FUNCTIONS];

static int fails(int of)
{
    errno = ENOMEM;
    return ++calls[of] == number && of == function;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return fails(MALLOC) ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return fails(CALLOC) ? NULL : __real_calloc(count, size);
}

char *__real_realpath(const char *path, char *real);
char *__wrap_realpath(const char *path, char *real);
char *__wrap_realpath(const char *path, char *real)
{
    return fails(REALPATH) ? NULL : __real_realpath(path, real);
}

int __real_dlinfo(void *handle, int request, void *info);
int __wrap_dlinfo(void *handle, int request, void *info);
int __wrap_dlinfo(void *handle, int request, void *info)
{
    return fails(DLINFO) ? -1 : __real_dlinfo(handle, request, info);
}

static int bad;

static void check(const struct cushim_api *cu, const char *path)
{
    const char *message = cu ? cushim_message(cu) : cushim_last_error();
    if (*message == '\0' || strstr(message, "resolver") || strstr(message, "(null)")) {
        printf("%s, call %d of function %d: \"%s\"\n", path, number, function, message);
        bad++;
    }
    if (!cu)
        return;
    for (size_t i = 0; i < cushim_entry_count(); i++) {
        void *slot;
        memcpy(&slot, (const char *)&cu->cuArray3DCreate_v1 + i * sizeof slot, sizeof slot);
        bad += !slot;
    }
    bad += (cushim_status(cu) == CUSHIM_OK) != (cushim_driver_version(cu) > 0);
    (void)cushim_path(cu);
    (void)cushim_init(cu);
    cushim_close(cu);
}

int main(int count, char **arguments)
{
    int failed = 0;
    for (int i = 1; i < count; i++)
        for (function = 0; function < FUNCTIONS; function++)
            for (number = 1, calls[function] = 1; calls[function] >= number - 1; number++) {
                const char *path = strcmp(arguments[i], "-") == 0 ? NULL : arguments[i];
                struct cushim_options options = {.size = sizeof options, .path = path};
                memset(calls, 0, sizeof calls);
                cushim_last_error_clear();
                check(cushim_open(&options), arguments[i]);
                failed += calls[function] >= number;
                if (calls[function] < number)
                    break;
            }
    /* The process-wide one: without memory it is one without a driver, and the next load loads. */
    function = CALLOC, number = 1, calls[CALLOC] = 0;
    bad += cushim_status(cushim_load(NULL)) != CUSHIM_ERROR_OUT_OF_MEMORY;
    bad += !strstr(cushim_last_error(), "memory");
    bad += cushim_status(cushim_load(NULL)) == CUSHIM_ERROR_OUT_OF_MEMORY;
    printf("failures %d\nbad %d\n", failed, bad);
    return bad != 0;
}
