/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "instance.h"
#include "lock.h"
#include "unavailable.h"

/* Five times today's table: room for any header that this library will meet. */
#define MOST_SLOTS 4096

static char message[] =
    "libcushim is older than the header that this program was built with; build "
    "against the headers of the library that is used, or install its newer "
    "release";

/* As large a table as a newer header may expect. */
static union {
    struct cushim_api known;
    struct {
        size_t size;
        CUresult(CUDAAPI *slots[MOST_SLOTS])(void);
    } all;
} table;

static struct cushim_lock table_lock;

static struct cushim mismatched = {
    .table = &table.known,
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

struct cushim *cushim_mismatched(size_t table_size)
{
    cushim_lock_take(&table_lock);
    if (!table.known.size) {
        for (size_t i = 0; i < MOST_SLOTS; i++)
            table.all.slots[i] = unknown_entry;
        table.known = cushim_no_driver_api;
    }
    table.known.size = table_size;
    cushim_lock_release(&table_lock);
    cushim_set_last_error("%s", message);
    return &mismatched;
}
