/* SPDX-License-Identifier: MIT */
/* Fills of 8, 16 and 32 bits, along a line and of rectangles. */
#include "copy/copy.h"

struct fill {
    uint64_t address;
    size_t pitch;
    unsigned value, element; /* 1, 2 or 4 bytes of it */
    size_t width, height;    /* elements, rows */
};

enum { SPAN = 4096 };

/* The first elements one by one, all others as copies of those. */
static void fill_bytes(char *to, const struct fill *fill, size_t size)
{
    uint16_t half = (uint16_t)fill->value;
    uint32_t word = fill->value;
    size_t first = size < SPAN ? size : SPAN;
    if (fill->element == 1) {
        memset(to, (int)(fill->value & 0xff), size);
        return;
    }
    if (fill->element == 2)
        for (size_t i = 0; i < first; i += 2)
            memcpy(to + i, &half, 2);
    else
        for (size_t i = 0; i < first; i += 4)
            memcpy(to + i, &word, 4);
    for (size_t done = first; done < size; done += first)
        memcpy(to + done, to, size - done < first ? size - done : first);
}

static CUresult run(void *user)
{
    const struct fill *fill = user;
    size_t row = fill->width * fill->element; /* 0 where it passes 64 bits: nothing to do */
    for (size_t y = 0; y < fill->height && row; y++) {
        uint64_t at = fill->address + y * fill->pitch;
        size_t left = row;
        while (left) {
            struct sim_allocation found;
            SIM_FAIL(ILLEGAL_ADDRESS, !sim_range_copy(at, &found) || !found.writable);
            size_t here = found.usable - (size_t)(at - found.address);
            here = here < left ? here : left;
            fill_bytes(found.host + (at - found.address), fill, here);
            ptx_memory_written(found.host + (at - found.address), here);
            at += here;
            left -= here;
        }
    }
    return CUDA_SUCCESS;
}

static CUresult check(const struct fill *fill)
{
    size_t row = fill->width * fill->element, size; /* what passes 64 bits is lost, as there */
    if (fill->width == 0 || fill->height == 0)
        return CUDA_SUCCESS;
    SIM_REFUSE(fill->address == 0 || fill->address % fill->element);
    SIM_REFUSE(fill->height > 1 && (fill->pitch % fill->element || fill->pitch < row));
    SIM_REFUSE(__builtin_mul_overflow(fill->pitch, fill->height - 1, &size));
    /* Real drivers add the size to the address and look at the sum: what passes the end of all
     * addresses is accepted, and fails on the device. */
    if (fill->height == 1 && fill->address > UINT64_MAX - row)
        return CUDA_SUCCESS;
    SIM_REFUSE(__builtin_add_overflow(size, row, &size));
    return SIM_VALID(sim_memory_covers(fill->address, size, true));
}

static CUresult item_make(struct sim_context *context, const struct fill *fill,
                          struct sim_item *item)
{
    SIM_NEW(struct fill, kept);
    *kept = *fill;
    *item = (struct sim_item){.run = run, .user = kept, .drop = free};
    item->params.type = CU_GRAPH_NODE_TYPE_MEMSET;
    item->params.memset = (CUDA_MEMSET_NODE_PARAMS_v2){.dst = fill->address,
                                                       .pitch = fill->pitch,
                                                       .value = fill->value,
                                                       .elementSize = fill->element,
                                                       .width = fill->width,
                                                       .height = fill->height,
                                                       .ctx = (CUcontext)context};
    return CUDA_SUCCESS;
}

CUresult sim_fill_prepare(struct sim_context *context, const CUDA_MEMSET_NODE_PARAMS_v2 *p,
                          struct sim_item *item)
{
    struct fill fill = {p->dst, p->pitch, p->value, p->elementSize, p->width, p->height};
    SIM_REFUSE(fill.element != 1 && fill.element != 2 && fill.element != 4);
    SIM_REFUSE(fill.width == 0 || fill.height == 0);
    SIM_TRY(check(&fill));
    return item_make(context, &fill, item);
}

static CUresult submit(CUstream handle, struct fill fill, bool wait)
{
    struct sim_item item = {.params.type = SIM_ITEM_NO_NODE, .run = run, .user = &fill};
    SIM_TRY(sim_current_check());
    SIM_FIND(struct sim_stream *, stream, sim_stream(handle, &stream));
    if (check(&fill) != CUDA_SUCCESS)
        return sim_copy_refused(handle, CUDA_ERROR_INVALID_VALUE);
    if (fill.width == 0 || fill.height == 0)
        return CUDA_SUCCESS;
    /* Memory that the host sees at once: only then does a fill without a stream wait. */
    const struct sim_allocation *found = sim_range_find(fill.address);
    if (wait && found && !found->room)
        return sim_stream_submit_wait(stream, &item);
    CUresult result = item_make(stream->object.context, &fill, &item);
    return result == CUDA_SUCCESS ? sim_stream_submit(stream, &item)
                                  : sim_capture_refused(stream, result);
}

/* The four entries of one width of elements; the manual's name of a value differs among them. */
#define FILL(bits, value)                                                                          \
    SIM_ENTRY(cuMemsetD##bits##_v2,                                                                \
              submit(NULL, (struct fill){dstDevice, 0, value, bits / 8, N, 1}, true))              \
    SIM_ENTRY(cuMemsetD##bits##Async,                                                              \
              submit(hStream, (struct fill){dstDevice, 0, value, bits / 8, N, 1}, false))          \
    SIM_ENTRY(                                                                                     \
        cuMemsetD2D##bits##_v2,                                                                    \
        submit(NULL, (struct fill){dstDevice, dstPitch, value, bits / 8, Width, Height}, true))    \
    SIM_ENTRY(cuMemsetD2D##bits##Async,                                                            \
              submit(hStream, (struct fill){dstDevice, dstPitch, value, bits / 8, Width, Height},  \
                     false))
FILL(8, uc)
FILL(16, us)
FILL(32, ui)
