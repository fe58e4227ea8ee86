/* SPDX-License-Identifier: MIT */
/* What a context is: its memory, its beginning and its end. */
#include "context/context.h"

static uint64_t next_id = 1, next_serial = 1;

CUresult sim_life_open(struct sim_context *context, unsigned flags)
{
    SIM_TRY(sim_context_remember(context));
    __atomic_store_n(&context->closing, false, __ATOMIC_RELAXED);
    context->flags = flags;
    context->id = next_id++;
    context->attached = 1;
    context->sticky = CUDA_SUCCESS;
    context->cache = CU_FUNC_CACHE_PREFER_NONE;
    context->shared_config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    context->dumps = sim_coredump_process;
    context->legacy = context->per_thread = NULL;
    SIM_TRY(sim_stream_make(context, CU_STREAM_DEFAULT, 0, &context->legacy));
    sim_limit_reset(context);
    sim_object_add(&context->object, SIM_CONTEXT, context);
    return CUDA_SUCCESS;
}

/* Gone for every other thread at once; then what is left of its work is waited for. */
void sim_life_close(struct sim_context *context)
{
    sim_object_remove(&context->object);
    __atomic_store_n(&context->closing, true, __ATOMIC_RELAXED);
    (void)sim_stream_wait_context(context);
    sim_live_take(context);
    sim_kinds_end(context);
    sim_ticket_release(context->awaited);
    context->awaited = NULL;
    sim_peer_forget(context);
}

CUresult sim_life_begin(struct sim_device *device, unsigned flags, bool primary,
                        struct sim_context **context)
{
    SIM_TRY(device->failed);
    SIM_NEW(struct sim_context, made);
    made->references = 1;
    made->serial = next_serial++;
    made->device = device;
    made->primary = primary;
    made->api_version = 3020;
    SIM_TRY_OR(sim_life_open(made, flags), sim_context_release(made));
    *context = made;
    return CUDA_SUCCESS;
}

void sim_life_end(struct sim_context *context)
{
    sim_life_close(context);
    sim_context_release(context);
}
