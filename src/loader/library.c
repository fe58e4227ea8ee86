/* SPDX-License-Identifier: MIT */
#include "loader/library.h"

#include <stdlib.h>
#include <string.h>

#include "loader/registry.h"

enum cushim_status cushim_library_open(struct cushim_shared_library *library,
                                       const struct cushim_candidate *candidate, char *message,
                                       size_t size)
{
    void *handle = NULL;
    enum cushim_status status = cushim_platform_open(candidate, &handle, message, size);
    if (status == CUSHIM_OK)
        *library = (struct cushim_shared_library){.handle = handle};
    return status;
}

/* Not by a format: a load that succeeds needs none, and the first of a process is slow. */
char *cushim_library_copy(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

bool cushim_library_describe(struct cushim_shared_library *library)
{
    char path[4096] = "";
    cushim_platform_describe(library->handle, cushim_library_symbol(library, "cuInit"), path,
                             sizeof path, &library->base);
    library->path = *path ? cushim_library_copy(path) : NULL;
    return library->path || !*path;
}

void *cushim_library_symbol(const struct cushim_shared_library *library, const char *symbol)
{
    return library->resolver ? library->resolver(library->user, symbol)
                             : cushim_platform_symbol(library->handle, symbol);
}

bool cushim_library_is_function(const struct cushim_shared_library *library, const void *address)
{
    return library->resolver || cushim_platform_is_code(address);
}

void cushim_library_exports(const struct cushim_shared_library *library, void **addresses)
{
    char symbol[CUSHIM_SYMBOL_SIZE];
    if (library->handle && cushim_platform_exports(library->handle, addresses))
        return;
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++)
        if (!addresses[i])
            addresses[i] = cushim_library_symbol(library, cushim_registry_symbol(i, symbol));
}

void cushim_library_close(struct cushim_shared_library *library, bool unload)
{
    free(library->path);
    if (library->handle && unload)
        cushim_platform_close(library->handle);
    *library = (struct cushim_shared_library){.handle = NULL};
}
