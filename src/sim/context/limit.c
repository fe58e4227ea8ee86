/* SPDX-License-Identifier: MIT */
/* Limits of a context, and its preferences for caches: kept, clamped as a real device does, and of
 * no effect on how fast anything runs. */
#include "context/context.h"

#define KNOWN_LIMITS 10 /* numbered from 0 */
#define STACK_MAX (512 << 10)
#define PRINTF_MIN (512 << 10)
#define PRINTF_MAX ((size_t)2 << 30)
#define HEAP_MIN ((size_t)4 << 20)
#define PENDING_MIN 32
#define FETCH_MAX 128

static size_t attribute(const struct sim_context *context, int number)
{
    return (size_t)sim_device_value(context->device, number);
}

static size_t persisting_step(const struct sim_context *context)
{
    return attribute(context, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE) / 16;
}

void sim_limit_reset(struct sim_context *context)
{
    size_t multiprocessors = attribute(context, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    size_t most = attribute(context, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
    size_t *limits = context->limits;
    limits[CU_LIMIT_STACK_SIZE] = 1024;
    limits[CU_LIMIT_PRINTF_FIFO_SIZE] = multiprocessors << 16;
    limits[CU_LIMIT_MALLOC_HEAP_SIZE] = (size_t)8 << 20;
    limits[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2;
    limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
    limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
    limits[CU_LIMIT_PERSISTING_L2_CACHE_SIZE] = most ? 3 * persisting_step(context) : 0;
    limits[CU_LIMIT_SHMEM_SIZE] =
        attribute(context, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    limits[CU_LIMIT_CIG_ENABLED] = 0;
}

/* What the simulated version does not know is a wrong value, what the device lacks is another. */
static CUresult check(const struct sim_context *context, CUlimit limit)
{
    int count = sim_config.cuda >= 12050   ? KNOWN_LIMITS
                : sim_config.cuda >= 11000 ? CU_LIMIT_PERSISTING_L2_CACHE_SIZE + 1
                : sim_config.cuda >= 10000 ? CU_LIMIT_MAX_L2_FETCH_GRANULARITY + 1
                                           : CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT + 1;
    SIM_REFUSE((int)limit < 0 || (int)limit >= count);
    SIM_FAIL(UNSUPPORTED_LIMIT, limit == CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED ||
                                    (limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH &&
                                     sim_device_architecture(context->device) >= 90) ||
                                    (limit == CU_LIMIT_PERSISTING_L2_CACHE_SIZE &&
                                     sim_device_architecture(context->device) < 80));
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
    SIM_FIND(struct sim_context *, context, sim_current(&context));
    SIM_REFUSE(!pvalue);
    SIM_TRY(check(context, limit));
    *pvalue = context->limits[limit];
    return CUDA_SUCCESS;
}

static size_t clamp(size_t value, size_t low, size_t high)
{
    return value < low ? low : value > high ? high : value;
}

CUresult sim_cuCtxSetLimit(CUlimit limit, size_t value)
{
    SIM_FIND(struct sim_context *, context, sim_current(&context));
    SIM_TRY(check(context, limit));
    switch ((int)limit) {
    case CU_LIMIT_STACK_SIZE:
        SIM_REFUSE(value > STACK_MAX);
        value = sim_rounded_up(value, 16);
        break;
    case CU_LIMIT_PRINTF_FIFO_SIZE:
        value = clamp(value, PRINTF_MIN, PRINTF_MAX);
        break;
    case CU_LIMIT_MALLOC_HEAP_SIZE:
        SIM_REFUSE(context->heap);
        value = clamp(value, HEAP_MIN, context->device->profile->heap_max);
        break;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
        value = value < PENDING_MIN ? PENDING_MIN : value;
        break;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
        SIM_REFUSE(value > FETCH_MAX);
        break;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
        SIM_REFUSE(value > attribute(context, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE));
        value = sim_rounded_up(value, persisting_step(context));
        break;
    case CU_LIMIT_SHMEM_SIZE: /* to be read only */
    case CU_LIMIT_CIG_ENABLED:
        return CUDA_ERROR_NOT_PERMITTED;
    default:
        break;
    }
    context->limits[limit] = value;
    return CUDA_SUCCESS;
}

SIM_TELL_AFTER(cuCtxGetCacheConfig, pconfig, struct sim_context *context, sim_current(&context),
               context->cache)

SIM_SET(cuCtxSetCacheConfig, struct sim_context *, context, sim_current(&context),
        (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL, context->cache = config)

/* No device since sm_50 can change its banks: what is asked for is checked and forgotten. */
SIM_TELL_AFTER(cuCtxGetSharedMemConfig, pConfig, struct sim_context *context, sim_current(&context),
               context->shared_config)

SIM_WITH(cuCtxSetSharedMemConfig, struct sim_context *, context, sim_current(&context),
         SIM_VALID((unsigned)config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE))

/* The multiprocessor's scheduler has six levels. */
CUresult sim_cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    SIM_TRY(sim_current_check());
    SIM_PUT(leastPriority, SIM_PRIORITY_LEAST);
    SIM_PUT(greatestPriority, sim_stream_priority_greatest());
    return CUDA_SUCCESS;
}
