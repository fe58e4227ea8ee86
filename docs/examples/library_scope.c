/* SPDX-License-Identifier: MIT */
/* Code of a library: it works in the context that was current when it was opened, whichever thread
 * calls it and whatever is current there, and leaves the caller's stack as it found it. */
#include <stdio.h>
#include <stdlib.h>

#include <cushim/context.h>
#include <cushim/error.h>
#include <cushim/memory.h>

/* ---- the library */

struct table {
    const struct cushim_api *cu;
    CUcontext context; /* the caller's, who must not destroy it before the library is closed */
    CUdeviceptr memory;
    size_t count;
};

static CUresult table_open(const struct cushim_api *cu, size_t count, struct table *table)
{
    struct table opened = {.cu = cu, .count = count};
    CUresult code = cu->cuCtxGetCurrent(&opened.context);
    if (code == CUDA_SUCCESS && !opened.context)
        code = CUDA_ERROR_INVALID_CONTEXT;
    if (code == CUDA_SUCCESS)
        code = cushim_memory_alloc(cu, count * sizeof(uint32_t), &opened.memory);
    if (code == CUDA_SUCCESS)
        *table = opened;
    return code;
}

/* Push, work, pop on every path. */
static CUresult table_set(const struct table *table, uint32_t value, uint32_t *last)
{
    CUcontext context = NULL;
    CUdeviceptr at = table->memory + (table->count - 1) * sizeof value;
    CUresult code = table->cu->cuCtxPushCurrent(table->context);
    if (code != CUDA_SUCCESS)
        return code;
    code = cushim_fill_32(table->cu, table->memory, value, table->count);
    if (code == CUDA_SUCCESS)
        code = cushim_copy_to_host(table->cu, last, at, sizeof *last);
    CUresult popped = table->cu->cuCtxPopCurrent(&context);
    return code != CUDA_SUCCESS ? code : popped;
}

/* The same with a scope, which also puts right what the work between leaves on the stack. */
static CUresult table_close(struct table *table)
{
    struct cushim_scope scope;
    CUresult code = cushim_scope_enter(table->cu, table->context, &scope);
    if (code == CUDA_SUCCESS)
        code = cushim_memory_free(table->cu, table->memory);
    return cushim_scope_leave(&scope, code);
}

/* ---- its caller */

static bool is_current(const struct cushim_api *cu, CUcontext wanted)
{
    CUcontext current = NULL;
    return CUSHIM_CHECK(cu->cuCtxGetCurrent(&current)) && current == wanted;
}

static bool call(const struct cushim_api *cu, CUcontext mine, CUcontext other)
{
    struct table table = {0};
    CUcontext popped = NULL;
    uint32_t last = 0;
    if (!CUSHIM_CHECK(cu->cuCtxPushCurrent(mine)))
        return false;
    bool good = CUSHIM_CHECK(table_open(cu, 1000, &table)) && is_current(cu, mine);
    good &= CUSHIM_CHECK(cu->cuCtxPopCurrent(&popped));
    if (!table.memory)
        return false;

    /* No context is current here, and then another one. */
    good = good && CUSHIM_CHECK(table_set(&table, 7, &last)) && last == 7 && is_current(cu, NULL);
    good = good && CUSHIM_CHECK(cu->cuCtxPushCurrent(other)) &&
           CUSHIM_CHECK(table_set(&table, 8, &last)) && last == 8 && is_current(cu, other) &&
           CUSHIM_CHECK(cu->cuCtxPopCurrent(&popped));
    return CUSHIM_CHECK(table_close(&table)) && good && is_current(cu, NULL);
}

int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    CUcontext mine = NULL, other = NULL;
    CUresult code = cu->cuInit(0);
    if (code != CUDA_SUCCESS) {
        printf("skipped: cuInit: %s\n", cushim_error_string(code));
        return 77;
    }
    bool good = CUSHIM_CHECK(cushim_context_create(cu, 0, NULL, &mine)) &&
                CUSHIM_CHECK(cushim_context_create(cu, 0, NULL, &other)) && call(cu, mine, other);
    good &= CUSHIM_CHECK(cushim_context_destroy(cu, other));
    good &= CUSHIM_CHECK(cushim_context_destroy(cu, mine));
    puts(good ? "the library worked in its own context each time" : "not so");
    return good ? 0 : 1;
}
