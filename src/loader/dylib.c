/* SPDX-License-Identifier: MIT */
#include "loader/dylib.h"

#include <stdlib.h>

#include "loader/text.h"

enum cushim_status cushim_dylib_open(struct cushim_dylib *library, const char *path, char *message,
                                     size_t size)
{
    void *handle = NULL;
    enum cushim_status status = cushim_platform_open(path, &handle, message, size);
    if (status == CUSHIM_OK)
        *library = (struct cushim_dylib){.handle = handle};
    return status;
}

bool cushim_dylib_describe(struct cushim_dylib *library, const char *symbol)
{
    char path[4096] = "";
    cushim_platform_describe(library->handle, cushim_dylib_symbol(library, symbol), path,
                             sizeof path, &library->base);
    library->path = *path ? cushim_text_copy(path) : NULL;
    return library->path || !*path;
}

void *cushim_dylib_symbol(const struct cushim_dylib *library, const char *symbol)
{
    return library->resolver ? library->resolver(library->user, symbol)
                             : cushim_platform_symbol(library->handle, symbol);
}

bool cushim_dylib_has(const struct cushim_dylib *library, const void *address)
{
    return !library->handle || cushim_platform_has(library->handle, address);
}

static const void *dylib_home(const char *symbol)
{
    return cushim_platform_object(cushim_platform_symbol(NULL, symbol));
}

/* Who hooks dlsym puts his own in front of the C library's, where dlinfo still is. */
bool cushim_dylib_is_hooked(const struct cushim_dylib *library)
{
    return library->resolver || dylib_home("dlsym") != dylib_home("dlinfo");
}

void cushim_dylib_close(struct cushim_dylib *library, bool unload)
{
    free(library->path);
    if (library->handle && unload)
        cushim_platform_close(library->handle);
    *library = (struct cushim_dylib){.handle = NULL};
}
