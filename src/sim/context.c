/* SPDX-License-Identifier: MIT */
/* What a context is: its memory, its beginning and its end. */
#include <stdlib.h>

#include "context.h"
#include "device_heap.h"
#include "live.h"
#include "work.h"

static uint64_t next_id = 1, next_serial = 1;

struct sim_context *sim_context_retain(struct sim_context *context)
{
    context->references++;
    return context;
}

void sim_context_release(struct sim_context *context)
{
    if (--context->references == 0)
        free(context);
}

void sim_device_fail(struct sim_device *device, CUresult error)
{
    if (device->failed != CUDA_SUCCESS)
        return;
    device->failed = error;
    for (struct sim_object *object = sim_objects(SIM_CONTEXT); object; object = object->next) {
        struct sim_context *context = (struct sim_context *)object;
        if (context->device == device)
            context->sticky = error;
    }
}

CUresult sim_context_open(struct sim_context *context, unsigned flags)
{
    __atomic_store_n(&context->closing, false, __ATOMIC_RELAXED);
    context->flags = flags;
    context->id = next_id++;
    context->attached = 1;
    context->sticky = CUDA_SUCCESS;
    context->cache = CU_FUNC_CACHE_PREFER_NONE;
    context->shared_config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    context->legacy = context->per_thread = NULL;
    CUresult result = sim_context_streams_make(context);
    if (result != CUDA_SUCCESS)
        return result;
    sim_limits_reset(context);
    sim_object_add(&context->object, SIM_CONTEXT, context);
    return CUDA_SUCCESS;
}

/* Gone for every other thread at once; then what is left of its work is waited for. */
void sim_context_close(struct sim_context *context)
{
    sim_object_remove(&context->object);
    __atomic_store_n(&context->closing, true, __ATOMIC_RELAXED);
    (void)sim_context_wait_all(context);
    sim_live_take(context);
    sim_context_clear(context);
    sim_context_streams_free(context);
    sim_peers_forget(context);
}

void sim_context_clear(struct sim_context *context)
{
    sim_modules_clear(context);
    sim_heap_clear(context);
    sim_memory_clear(context);
    sim_events_clear(context);
}

CUresult sim_context_create(struct sim_device *device, unsigned flags, bool primary,
                            struct sim_context **context)
{
    if (device->failed != CUDA_SUCCESS)
        return device->failed;
    struct sim_context *made = calloc(1, sizeof *made);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->references = 1;
    made->serial = next_serial++;
    made->device = device;
    made->primary = primary;
    made->api_version = 3020;
    CUresult result = sim_context_open(made, flags);
    if (result == CUDA_SUCCESS)
        *context = made;
    else
        sim_context_release(made);
    return result;
}

void sim_context_destroy(struct sim_context *context)
{
    sim_context_close(context);
    sim_context_release(context);
}

CUresult sim_context_of(CUcontext handle, struct sim_context **context)
{
    if (!handle)
        return sim_current(context);
    if (sim_in_callback())
        return CUDA_ERROR_NOT_PERMITTED;
    *context = sim_object(SIM_CONTEXT, handle);
    if (!*context)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return (*context)->sticky;
}
