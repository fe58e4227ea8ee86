/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "instance.h"
#include "unavailable.h"

static char message[] =
    "libcushim is older than the header that this program was built with; build "
    "against the headers of the library that is used, or install its newer "
    "release";

static struct cushim_instance mismatched = {
    .status = CUSHIM_ERROR_HEADER_MISMATCH,
    .message = message,
    .permanent = true,
};

/* Entries that this library does not know have no type here. In every calling convention that
 * CUDA has, a function may be called with more arguments than it looks at. */
static CUresult CUDAAPI unknown_entry(void)
{
    cushim_set_last_error("%s", message);
    return CUDA_ERROR_NOT_INITIALIZED;
}

const struct cushim_api *cushim_mismatched(size_t table_size)
{
    cushim_set_last_error("%s", message);
    struct cushim_api *table = calloc(1, table_size);
    if (!table)
        return NULL;
    CUresult(CUDAAPI * unknown)(void) = unknown_entry;
    for (size_t at = sizeof *table; at + sizeof unknown <= table_size; at += sizeof unknown)
        memcpy((char *)table + at, &unknown, sizeof unknown);
    *table = cushim_no_driver_api;
    table->size = table_size;
    table->instance = &mismatched;
    return table;
}
