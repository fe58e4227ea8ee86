/* SPDX-License-Identifier: MIT */
/* Copies on their way through a stream, and done. */
#include "copy/copy.h"

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
        SIM_FAIL(ILLEGAL_ADDRESS, !target || !source);
        memmove(target, source, size);
        ptx_memory_written(target, size);
        to += size;
        from += size;
        left -= size;
    }
    return CUDA_SUCCESS;
}

static CUresult sim_copy_run(void *user)
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
                ptx_memory_written(to + to_at, copy->width);
                continue;
            }
            SIM_TRY(row(copy, copy->to.address + to_at, copy->from.address + from_at));
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

#define SHOWN(side, place)                                                                         \
    .side##XInBytes = (place)->x, .side##Y = (place)->y, .side##Z = (place)->z,                    \
    .side##MemoryType = (place)->type,                                                             \
    .side##Host =                                                                                  \
        (place)->type == CU_MEMORYTYPE_HOST ? (void *)(uintptr_t)(place)->address : NULL,          \
    .side##Device = (place)->type == CU_MEMORYTYPE_HOST ? 0 : (place)->address,                    \
    .side##Array = (place)->array, .side##Pitch = (place)->pitch, .side##Height = (place)->height
CUDA_MEMCPY3D_v2 sim_copy_shown(const struct sim_place *to, const struct sim_place *from,
                                size_t width, size_t height, size_t depth)
{
    return (CUDA_MEMCPY3D_v2){SHOWN(src, from), SHOWN(dst, to), .WidthInBytes = width,
                              .Height = height, .Depth = depth};
}

static struct sim_place plain(const struct sim_side *side, size_t size)
{
    bool host = side->kind == SIM_SIDE_HOST;
    return (struct sim_place){.type = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
                              .address = side->address,
                              .pitch = size,
                              .height = 1};
}

CUresult sim_copy_item(struct sim_context *context, const struct sim_copy *copy,
                       const CUDA_MEMCPY3D_v2 *parameters, bool stage, struct sim_item *item)
{
    struct sim_place to = plain(&copy->to, copy->width), from = plain(&copy->from, copy->width);
    SIM_MADE(struct job *, job, job_make(copy, stage));
    *item = (struct sim_item){.run = sim_copy_run, .user = job, .drop = free};
    item->params.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    item->params.memcpy.copyCtx = (CUcontext)context;
    item->params.memcpy.copyParams =
        parameters ? *parameters : sim_copy_shown(&to, &from, copy->width, 1, 1);
    return CUDA_SUCCESS;
}

static CUresult submit_async(struct sim_stream *stream, const struct sim_copy *copy,
                             const CUDA_MEMCPY3D_v2 *parameters)
{
    bool capturing = stream->capture;
    bool stage = !capturing && is_pageable(&copy->from) && span(copy, &copy->from) <= STAGED;
    /* A call whose pageable memory cannot be set aside returns when the copy is done. */
    bool wait = !capturing && (is_pageable(&copy->to) || (is_pageable(&copy->from) && !stage));
    SIM_FIND(struct sim_item, item,
             sim_copy_item(stream->object.context, copy, parameters, stage && !wait, &item));
    item.read_size = span(copy, &copy->from);
    if (copy->height == 1 && copy->depth == 1 && copy->from.kind == SIM_SIDE_DEVICE &&
        !sim_address_is_device(copy->from.address))
        item.reads = piece(&copy->from, copy->from.address, false, &item.read_size);
    return wait ? sim_stream_submit_wait(stream, &item) : sim_stream_submit(stream, &item);
}

CUresult sim_copy_refused(CUstream handle, CUresult code)
{
    SIM_FIND(struct sim_stream *, stream, sim_stream(handle, &stream));
    return sim_capture_refused(stream, code);
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

/* --- Copies of plain ranges, in every direction --- */

/* A pool's memory on the host is the host's to a copy, whatever access a device has. */
static CUresult of_pool_on_host(const struct sim_allocation *found, CUmemorytype type,
                                uint64_t address, size_t size)
{
    bool inside = !found->ending && size <= found->usable - (size_t)(address - found->address);
    return SIM_VALID(type != CU_MEMORYTYPE_DEVICE && inside);
}

CUresult sim_copy_line_side(struct sim_side *side, CUmemorytype type, uint64_t address, size_t size,
                            bool write)
{
    *side = (struct sim_side){.kind = SIM_SIDE_DEVICE, .address = address};
    SIM_REFUSE(address == 0);
    const struct sim_allocation *found = sim_range_find(address);
    if (found && found->kind == SIM_MEMORY_POOL_HOST)
        return of_pool_on_host(found, type, address, size);
    if (type == CU_MEMORYTYPE_DEVICE || sim_address_is_device(address) || found)
        return SIM_VALID(sim_memory_covers(address, size, write));
    side->kind = SIM_SIDE_HOST;
    return CUDA_SUCCESS;
}

CUresult sim_copy_line(struct sim_copy *copy, CUmemorytype to_type, uint64_t to,
                       CUmemorytype from_type, uint64_t from, size_t size)
{
    *copy = (struct sim_copy){.width = size, .height = 1, .depth = 1};
    if (size == 0)
        return CUDA_SUCCESS;
    SIM_TRY(sim_copy_line_side(&copy->to, to_type, to, size, true));
    return sim_copy_line_side(&copy->from, from_type, from, size, false);
}

static CUresult line(CUstream stream, bool wait, CUmemorytype to_type, uint64_t to,
                     CUmemorytype from_type, uint64_t from, size_t size)
{
    struct sim_copy copy;
    SIM_TRY(sim_current_check());
    CUresult result = sim_copy_line(&copy, to_type, to, from_type, from, size);
    return result == CUDA_SUCCESS ? sim_copy_submit(stream, &copy, NULL, wait)
                                  : sim_copy_refused(stream, result);
}

#define HOST(address) CU_MEMORYTYPE_HOST, (uintptr_t)(address)
#define DEVICE(address) CU_MEMORYTYPE_DEVICE, address
#define ANY(address) CU_MEMORYTYPE_UNIFIED, address
SIM_ENTRY(cuMemcpyHtoD_v2, line(NULL, true, DEVICE(dstDevice), HOST(srcHost), ByteCount))
SIM_ENTRY(cuMemcpyHtoDAsync_v2, line(hStream, false, DEVICE(dstDevice), HOST(srcHost), ByteCount))
SIM_ENTRY(cuMemcpyDtoH_v2, line(NULL, true, HOST(dstHost), DEVICE(srcDevice), ByteCount))
SIM_ENTRY(cuMemcpyDtoHAsync_v2, line(hStream, false, HOST(dstHost), DEVICE(srcDevice), ByteCount))
SIM_ENTRY(cuMemcpyDtoD_v2, line(NULL, true, DEVICE(dstDevice), DEVICE(srcDevice), ByteCount))
SIM_ENTRY(cuMemcpyDtoDAsync_v2,
          line(hStream, false, DEVICE(dstDevice), DEVICE(srcDevice), ByteCount))
SIM_ENTRY(cuMemcpy, line(NULL, true, ANY(dst), ANY(src), ByteCount))
SIM_ENTRY(cuMemcpyAsync, line(hStream, false, ANY(dst), ANY(src), ByteCount))

CUresult sim_copy_line_settle(CUcontext one, CUcontext other)
{
    struct sim_context *contexts[2];
    SIM_TRY(sim_current_of(one, &contexts[0]));
    SIM_TRY(sim_current_of(other, &contexts[1]));
    sim_context_retain(contexts[1]); /* another thread may destroy it during the first wait */
    CUresult result = sim_stream_wait_context(contexts[0]);
    if (result == CUDA_SUCCESS)
        result = sim_stream_wait_context(contexts[1]);
    sim_context_release(contexts[1]);
    return result;
}

static CUresult peer(CUstream stream, bool wait, uint64_t to, CUcontext to_context, uint64_t from,
                     CUcontext from_context, size_t size)
{
    SIM_FIND(struct sim_context *, context, sim_current_of(to_context, &context));
    SIM_TRY(sim_current_of(from_context, &context));
    return line(stream, wait, DEVICE(to), DEVICE(from), size);
}

SIM_BEHAVIOUR(cuMemcpyPeer)
{
    SIM_TRY(sim_copy_line_settle(dstContext, srcContext));
    SIM_TRY(peer(NULL, true, dstDevice, dstContext, srcDevice, srcContext, ByteCount));
    struct sim_context *context;
    return sim_current(&context) == CUDA_SUCCESS ? sim_stream_wait_context(context) : CUDA_SUCCESS;
}

SIM_ENTRY(cuMemcpyPeerAsync,
          peer(hStream, false, dstDevice, dstContext, srcDevice, srcContext, ByteCount))

/* --- Copies between arrays and plain ranges, by offset in bytes --- */

static CUresult side_of(struct sim_side *side, const struct sim_place *place, size_t size,
                        bool write)
{
    if (place->type != CU_MEMORYTYPE_ARRAY)
        return sim_copy_line_side(side, place->type, place->address, size, write);
    const struct sim_array *array = sim_object(SIM_ARRAY, place->array);
    /* Offsets reach along one row, whatever the array's shape. */
    SIM_REFUSE(!array || place->x > array->row || size > array->row - place->x);
    *side = (struct sim_side){.kind = SIM_SIDE_ARRAY, .address = array->address + place->x};
    return CUDA_SUCCESS;
}

static CUresult between(CUstream stream, bool wait, struct sim_place to, struct sim_place from,
                        size_t size)
{
    struct sim_copy copy = {.width = size, .height = 1, .depth = 1};
    SIM_TRY(sim_current_check());
    if (size) {
        SIM_TRY(side_of(&copy.to, &to, size, true));
        SIM_TRY(side_of(&copy.from, &from, size, false));
    }
    to.pitch = from.pitch = size;
    to.height = from.height = 1;
    const CUDA_MEMCPY3D_v2 parameters = sim_copy_shown(&to, &from, size, 1, 1);
    return sim_copy_submit(stream, &copy, &parameters, wait);
}

static struct sim_place in_array(CUarray array, size_t offset)
{
    return (struct sim_place){.array = array, .x = offset, .type = CU_MEMORYTYPE_ARRAY};
}

static struct sim_place on_host(const void *address)
{
    return (struct sim_place){.type = CU_MEMORYTYPE_HOST, .address = (uintptr_t)address};
}

static struct sim_place at_device(uint64_t address)
{
    return (struct sim_place){.type = CU_MEMORYTYPE_DEVICE, .address = address};
}

SIM_ENTRY(cuMemcpyAtoA_v2, between(NULL, true, in_array(dstArray, dstOffset),
                                   in_array(srcArray, srcOffset), ByteCount))
SIM_ENTRY(cuMemcpyAtoD_v2,
          between(NULL, true, at_device(dstDevice), in_array(srcArray, srcOffset), ByteCount))
SIM_ENTRY(cuMemcpyDtoA_v2,
          between(NULL, true, in_array(dstArray, dstOffset), at_device(srcDevice), ByteCount))
SIM_ENTRY(cuMemcpyAtoH_v2,
          between(NULL, true, on_host(dstHost), in_array(srcArray, srcOffset), ByteCount))
SIM_ENTRY(cuMemcpyHtoA_v2,
          between(NULL, true, in_array(dstArray, dstOffset), on_host(srcHost), ByteCount))
SIM_ENTRY(cuMemcpyAtoHAsync_v2,
          between(hStream, false, on_host(dstHost), in_array(srcArray, srcOffset), ByteCount))
SIM_ENTRY(cuMemcpyHtoAAsync_v2,
          between(hStream, false, in_array(dstArray, dstOffset), on_host(srcHost), ByteCount))
