/* SPDX-License-Identifier: MIT */
/* Functions that every device has: how they run, and those of its heap. */
#include "ptx/memory/memory.h"

#include "ptx/read/read.h"

/* What malloc promises; `new` of a type that needs more calls the other function. */
#define MALLOC_ALIGN 16

static void allocate(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                     uint64_t size, uint64_t align)
{
    struct ptx_heap *heap = fault_world(warp)->heap;
    const uint64_t address = heap ? heap_allocate(heap, size, align) : 0;

    check_allocated(warp, address, size);
    builtin_value_result(warp, step, lane, address);
}

/* malloc(size): the block, or 0 where the heap has no room. */
static void run_malloc(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    FOR_LANES (lane, mask)
        allocate(warp, step, lane, builtin_value_argument(warp, step, 0, lane), MALLOC_ALIGN);
}

/* What __nv_aligned_device_malloc(size, alignment) and aligned `new` become. */
static void run_aligned_malloc(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    FOR_LANES (lane, mask)
        allocate(warp, step, lane, builtin_value_argument(warp, step, 0, lane),
                 builtin_value_argument(warp, step, 1, lane));
}

static void run_free(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    struct ptx_heap *heap = fault_world(warp)->heap;

    FOR_LANES (lane, mask) {
        uint64_t address = builtin_value_argument(warp, step, 0, lane);
        enum heap_answer answer = HEAP_NO_BLOCK;

        if (!address)
            continue;
        if (heap)
            answer = heap_free(heap, address);
        if (answer == HEAP_FREED)
            continue;
        fault_warp(warp, step, lane, PTX_FAULT_ILLEGAL_ADDRESS, address,
                   answer == HEAP_TWICE ? "frees a block of the heap for the second time"
                                        : "frees what is no block of the heap");
        return;
    }
}

/* cudaGraphSetConditional(handle, value). */
static void run_set_conditional(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct ptx_world *world = fault_world(warp);

    FOR_LANES (lane, mask)
        if (world->set_conditional)
            world->set_conditional(world->user, builtin_value_argument(warp, step, 0, lane),
                                   (uint32_t)builtin_value_argument(warp, step, 1, lane));
}

ptx_run *builtin_run(const struct ptx_builtin *builtin)
{
    static ptx_run *const runs[] = {
#define IR_BUILTIN(kind, name, arguments, returns, heap, run) [BUILTIN_##kind] = (run),
#include "ptx/read/builtins.def"
    };

    return runs[builtin->kind];
}
