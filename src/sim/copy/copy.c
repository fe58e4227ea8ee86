/* SPDX-License-Identifier: MIT */
/* Copies on their way through a stream, and done. */
#include "copy/copy.h"

#include <stdlib.h>
#include <string.h>

#include "memory/memory.h"
#include "queue/queue.h"

/* Pageable memory up to this size is read before the call returns, as real drivers do. */
#define STAGED ((size_t)64 << 10)

struct job { /* a copy that outlives its call */
    struct sim_copy copy;
    char staged[];
};

/* Where `*size` bytes of the side lie, or the part of them that lies in one place. */
static char *piece(const struct sim_side *side, uint64_t address, bool write, size_t *size)
{
    struct sim_allocation found;
    if (side->kind == SIM_SIDE_HOST)
        return (char *)(uintptr_t)address;
    if (!sim_range_copy(address, &found) ||
        (side->kind == SIM_SIDE_ARRAY) != (found.kind == SIM_MEMORY_ARRAY))
        return NULL;
    if (side->kind == SIM_SIDE_DEVICE && found.kind != SIM_MEMORY_POOL_HOST &&
        !(write ? found.writable : found.readable))
        return NULL;
    size_t here = found.usable - (size_t)(address - found.address);
    if (*size > here)
        *size = here;
    return found.host + (address - found.address);
}

/* Bytes from the box's first to its last. */
static size_t span(const struct sim_copy *copy, const struct sim_side *side)
{
    return (copy->depth - 1) * side->slice + (copy->height - 1) * side->row + copy->width;
}

static CUresult row(const struct sim_copy *copy, uint64_t to, uint64_t from)
{
    size_t left = copy->width;
    while (left) {
        size_t size = left;
        char *target = piece(&copy->to, to, true, &size);
        char *source = piece(&copy->from, from, false, &size);
        if (!target || !source)
            return CUDA_ERROR_ILLEGAL_ADDRESS;
        memmove(target, source, size);
        to += size;
        from += size;
        left -= size;
    }
    return CUDA_SUCCESS;
}

CUresult sim_copy_run(void *user)
{
    const struct sim_copy *copy = user;
    size_t to_size = span(copy, &copy->to), from_size = span(copy, &copy->from);
    size_t to_here = to_size, from_here = from_size;
    char *to = piece(&copy->to, copy->to.address, true, &to_here);
    char *from = piece(&copy->from, copy->from.address, false, &from_here);
    bool whole = to && from && to_here == to_size && from_here == from_size;
    for (size_t z = 0; z < copy->depth; z++) {
        for (size_t y = 0; y < copy->height; y++) {
            size_t to_at = z * copy->to.slice + y * copy->to.row;
            size_t from_at = z * copy->from.slice + y * copy->from.row;
            if (whole) {
                memmove(to + to_at, from + from_at, copy->width);
                continue;
            }
            CUresult result = row(copy, copy->to.address + to_at, copy->from.address + from_at);
            if (result != CUDA_SUCCESS)
                return result;
        }
    }
    return CUDA_SUCCESS;
}

/* Rows without gaps on both sides are one long row. */
static void flatten(struct sim_copy *copy)
{
    if (copy->height > 1 && copy->to.row == copy->width && copy->from.row == copy->width) {
        copy->width *= copy->height;
        copy->height = 1;
    }
    if (copy->height == 1 && copy->depth > 1 && copy->to.slice == copy->width &&
        copy->from.slice == copy->width) {
        copy->width *= copy->depth;
        copy->depth = 1;
    }
}

static bool is_pageable(const struct sim_side *side)
{
    return side->kind == SIM_SIDE_HOST && !sim_range_find(side->address);
}

/* Memory of a device: a copy from there to there waits for nobody, whatever the entry. */
static bool on_device(const struct sim_side *side)
{
    if (side->kind == SIM_SIDE_ARRAY)
        return true;
    return side->kind == SIM_SIDE_DEVICE && sim_address_is_device(side->address);
}

static void drop(void *user)
{
    free(user);
}

/* The same copy, of memory of its own: from a staged copy of the source if `stage`. */
static struct job *job_make(const struct sim_copy *copy, bool stage)
{
    size_t size = stage ? span(copy, &copy->from) : 0;
    struct job *job = malloc(sizeof *job + size);
    if (!job)
        return NULL;
    job->copy = *copy;
    if (stage) {
        memcpy(job->staged, (const char *)(uintptr_t)copy->from.address, size);
        job->copy.from.address = (uint64_t)(uintptr_t)job->staged;
    }
    return job;
}

/* A side of a plain range, as a graph shows it. */
static CUmemorytype shown_type(const struct sim_side *side)
{
    return side->kind == SIM_SIDE_HOST ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

static CUDA_MEMCPY3D_v2 shown(const struct sim_copy *copy)
{
    return (CUDA_MEMCPY3D_v2){.srcMemoryType = shown_type(&copy->from),
                              .srcHost = (const void *)(uintptr_t)copy->from.address,
                              .srcDevice = copy->from.address,
                              .srcPitch = copy->width,
                              .srcHeight = 1,
                              .dstMemoryType = shown_type(&copy->to),
                              .dstHost = (void *)(uintptr_t)copy->to.address,
                              .dstDevice = copy->to.address,
                              .dstPitch = copy->width,
                              .dstHeight = 1,
                              .WidthInBytes = copy->width,
                              .Height = 1,
                              .Depth = 1};
}

static CUresult item_make(struct sim_context *context, const struct sim_copy *copy,
                          const CUDA_MEMCPY3D_v2 *parameters, bool stage, struct sim_item *item)
{
    struct job *job = job_make(copy, stage);
    if (!job)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *item = (struct sim_item){.run = sim_copy_run, .user = job, .drop = drop};
    item->params.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    item->params.memcpy.copyCtx = (CUcontext)context;
    item->params.memcpy.copyParams = parameters ? *parameters : shown(copy);
    return CUDA_SUCCESS;
}

static CUresult submit_async(struct sim_stream *stream, const struct sim_copy *copy,
                             const CUDA_MEMCPY3D_v2 *parameters)
{
    struct sim_item item;
    bool capturing = sim_capture_active(stream);
    bool stage = !capturing && is_pageable(&copy->from) && span(copy, &copy->from) <= STAGED;
    /* A call whose pageable memory cannot be set aside returns when the copy is done. */
    bool wait = !capturing && (is_pageable(&copy->to) || (is_pageable(&copy->from) && !stage));
    CUresult result = item_make(stream->object.context, copy, parameters, stage && !wait, &item);
    if (result != CUDA_SUCCESS)
        return result;
    return wait ? sim_stream_submit_wait(stream, &item) : sim_stream_submit(stream, &item);
}

CUresult sim_copy_refused(CUstream handle, CUresult code)
{
    struct sim_stream *stream;
    CUresult result = sim_stream(handle, &stream);
    return result == CUDA_SUCCESS ? sim_capture_refused(stream, code) : result;
}

CUresult sim_copy_submit(CUstream handle, const struct sim_copy *copy,
                         const CUDA_MEMCPY3D_v2 *parameters, bool wait)
{
    struct sim_stream *stream;
    struct sim_copy flat = *copy;
    CUresult result = sim_stream(handle, &stream);
    if (result != CUDA_SUCCESS || copy->width == 0 || copy->height == 0 || copy->depth == 0)
        return result;
    flatten(&flat);
    if (!wait || (on_device(&flat.to) && on_device(&flat.from)))
        return submit_async(stream, &flat, parameters);
    struct sim_item item = {.params.type = SIM_ITEM_NO_NODE, .run = sim_copy_run, .user = &flat};
    return sim_stream_submit_wait(stream, &item);
}

CUresult sim_copy_prepare(struct sim_context *context, const CUDA_MEMCPY3D_v2 *parameters,
                          struct sim_item *item)
{
    struct sim_copy copy;
    CUresult result = sim_copy_box(&copy, parameters);
    if (result == CUDA_SUCCESS && (!copy.width || !copy.height || !copy.depth))
        result = CUDA_ERROR_INVALID_VALUE; /* a node must do something */
    return result == CUDA_SUCCESS ? item_make(context, &copy, parameters, false, item) : result;
}
