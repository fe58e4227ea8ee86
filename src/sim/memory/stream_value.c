/* SPDX-License-Identifier: MIT */
/* Words of memory that a stream writes, or waits for. */
#include "memory/memory.h"

#include "ptx/ptx.h"

#define COUNT_MAX 256
#define POLL_NS 20000

struct batch {
    struct sim_context *context; /* retained */
    unsigned count;
    CUstreamBatchMemOpParams items[];
};

static bool is_64(CUstreamBatchMemOpType operation)
{
    return operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
           operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

/* The members of a wait and of a write lie at the same places. */
static CUdeviceptr address_of(const CUstreamBatchMemOpParams *item)
{
    return item->waitValue.address;
}

static bool load(const CUstreamBatchMemOpParams *item, uint64_t *value)
{
    bool wide = is_64(item->operation);
    const char *host = sim_range_host(address_of(item), wide ? 8 : 4, false);
    if (!host)
        return false;
    *value = wide ? __atomic_load_n((const uint64_t *)(const void *)host, __ATOMIC_ACQUIRE)
                  : __atomic_load_n((const uint32_t *)(const void *)host, __ATOMIC_ACQUIRE);
    return true;
}

static bool store(const CUstreamBatchMemOpParams *item)
{
    bool wide = is_64(item->operation);
    char *host = sim_range_host(address_of(item), wide ? 8 : 4, true);
    if (!host)
        return false;
    if (wide)
        __atomic_store_n((uint64_t *)(void *)host, item->writeValue.value64, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint32_t *)(void *)host, item->writeValue.value, __ATOMIC_RELEASE);
    ptx_memory_written(host, wide ? 8 : 4);
    return true;
}

static bool satisfied(const CUstreamBatchMemOpParams *item, uint64_t found)
{
    bool wide = is_64(item->operation);
    uint64_t mask = wide ? UINT64_MAX : UINT32_MAX;
    uint64_t wanted = wide ? item->waitValue.value64 : item->waitValue.value;
    switch (item->waitValue.flags & 3U) {
    case CU_STREAM_WAIT_VALUE_GEQ: /* cyclic: the difference, as a signed number, is not negative */
        return ((found - wanted) & mask) <= mask >> 1;
    case CU_STREAM_WAIT_VALUE_EQ:
        return found == wanted;
    case CU_STREAM_WAIT_VALUE_AND:
        return (found & wanted) != 0;
    default:
        return (~(found | wanted) & mask) != 0;
    }
}

static CUresult wait_for(const struct batch *batch, const CUstreamBatchMemOpParams *item)
{
    uint64_t found;
    for (;;) {
        SIM_FAIL(ILLEGAL_ADDRESS, !load(item, &found));
        if (satisfied(item, found))
            return CUDA_SUCCESS;
        if (__atomic_load_n(&batch->context->closing, __ATOMIC_RELAXED))
            return CUDA_SUCCESS; /* nobody will be told */
        sim_ticket_yield();
        nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    }
}

static CUresult run(void *user)
{
    const struct batch *batch = user;
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; i < batch->count && result == CUDA_SUCCESS; i++) {
        const CUstreamBatchMemOpParams *item = &batch->items[i];
        switch ((int)item->operation) {
        case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        case CU_STREAM_MEM_OP_WAIT_VALUE_64:
            result = wait_for(batch, item);
            break;
        case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        case CU_STREAM_MEM_OP_WRITE_VALUE_64:
            result = store(item) ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
            break;
        default: /* a barrier: what came before is in memory already */
            break;
        }
    }
    return result;
}

static CUresult check_address(const CUstreamBatchMemOpParams *item)
{
    return SIM_VALID(address_of(item) % (is_64(item->operation) ? 8 : 4) == 0);
}

/* A stream's word is there when it is named; a node's may come later. */
static bool is_there(const CUstreamBatchMemOpParams *item)
{
    bool write = item->operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 ||
                 item->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
    return (int)item->operation == CU_STREAM_MEM_OP_BARRIER ||
           sim_range_host(address_of(item), is_64(item->operation) ? 8 : 4, write);
}

static CUresult check(const struct sim_context *context, const CUstreamBatchMemOpParams *item)
{
    switch ((int)item->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        SIM_REFUSE(item->waitValue.flags & ~(3U | CU_STREAM_WAIT_VALUE_FLUSH));
        SIM_FAIL(NOT_SUPPORTED, item->waitValue.flags & CU_STREAM_WAIT_VALUE_FLUSH &&
                                    !sim_device_value(context->device,
                                                      CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES));
        return check_address(item);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return item->writeValue.flags ? CUDA_ERROR_INVALID_VALUE : check_address(item);
    case CU_STREAM_MEM_OP_BARRIER:
        return item->memoryBarrier.flags > CU_STREAM_MEMORY_BARRIER_TYPE_GPU
                   ? CUDA_ERROR_INVALID_VALUE
                   : CUDA_SUCCESS;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static void drop(void *user)
{
    struct batch *batch = user;
    sim_context_release(batch->context);
    free(batch);
}

CUresult sim_stream_value_prepare(struct sim_context *context, unsigned count,
                                  const CUstreamBatchMemOpParams *params, unsigned flags,
                                  struct sim_item *item)
{
    SIM_REFUSE(count > COUNT_MAX || flags != 0 || (count && !params));
    for (unsigned i = 0; i < count; i++)
        SIM_TRY(check(context, &params[i]));
    SIM_MADE(struct batch *, batch, malloc(sizeof *batch + count * sizeof *params));
    batch->context = sim_context_retain(context);
    batch->count = count;
    if (count)
        memcpy(batch->items, params, count * sizeof *params);
    *item = (struct sim_item){.run = run, .user = batch, .drop = drop};
    item->params.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    item->params.memOp.ctx = (CUcontext)context;
    item->params.memOp.count = count;
    item->params.memOp.paramArray = batch->items;
    item->params.memOp.flags = flags;
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamBatchMemOp_v2(CUstream handle, unsigned int count,
                                   CUstreamBatchMemOpParams *paramArray, unsigned int flags)
{
    SIM_FIND(struct sim_stream *, stream, sim_stream(handle, &stream));
    SIM_FIND(struct sim_item, item,
             sim_stream_value_prepare(stream->object.context, count, paramArray, flags, &item));
    for (unsigned i = 0; i < count; i++)
        SIM_TRY_OR(SIM_VALID(is_there(&paramArray[i])), sim_item_drop(&item));
    return sim_stream_submit(stream, &item);
}

static CUresult one(CUstream stream, CUstreamBatchMemOpType operation, CUdeviceptr address,
                    uint64_t value, unsigned flags)
{
    CUstreamBatchMemOpParams params;
    memset(&params, 0, sizeof params);
    params.operation = operation;
    params.waitValue.address = address;
    params.waitValue.flags = flags;
    if (is_64(operation))
        params.waitValue.value64 = value;
    else
        params.waitValue.value = (cuuint32_t)value;
    return sim_cuStreamBatchMemOp_v2(stream, 1, &params, 0);
}

SIM_ENTRY(cuStreamWaitValue32_v2, one(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, addr, value, flags))
SIM_ENTRY(cuStreamWaitValue64_v2, one(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, addr, value, flags))
SIM_ENTRY(cuStreamWriteValue32_v2, one(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, addr, value, flags))
SIM_ENTRY(cuStreamWriteValue64_v2, one(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, addr, value, flags))

CUresult sim_stream_value_old(CUstream handle)
{
    SIM_FIND(struct sim_stream *, stream, sim_stream(handle, &stream));
    return CUDA_ERROR_NOT_SUPPORTED;
}
