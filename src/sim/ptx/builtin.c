/* SPDX-License-Identifier: MIT */
/* Which functions every device has, and those of its heap. */
#include "builtin.h"
#include "heap.h"
#include "memory.h"

#include <string.h>

/* What malloc promises; `new` of a type that needs more calls the other function. */
#define MALLOC_ALIGN 16

static void allocate(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                     uint64_t size, uint64_t align)
{
    struct ptx_heap *heap = ptx_warp_world(warp)->heap;

    call_result(warp, step, lane, heap != NULL ? heap_allocate(heap, size, align) : 0);
}

/* malloc(size): the block, or 0 where the heap has no room. */
static void run_malloc(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    FOR_LANES (lane, mask)
        allocate(warp, step, lane, call_argument(warp, step, 0, lane), MALLOC_ALIGN);
}

/* What __nv_aligned_device_malloc(size, alignment) and aligned `new` become. */
static void run_aligned_malloc(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    FOR_LANES (lane, mask)
        allocate(warp, step, lane, call_argument(warp, step, 0, lane),
                 call_argument(warp, step, 1, lane));
}

static void run_free(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    struct ptx_heap *heap = ptx_warp_world(warp)->heap;

    FOR_LANES (lane, mask) {
        uint64_t address = call_argument(warp, step, 0, lane);
        enum heap_answer answer = HEAP_NO_BLOCK;

        if (!address)
            continue;
        if (heap != NULL)
            answer = heap_free(heap, address);
        if (answer == HEAP_FREED)
            continue;
        ptx_warp_fault(warp, step, lane, PTX_FAULT_ILLEGAL_ADDRESS, address,
                       answer == HEAP_TWICE ? "frees a block of the heap for the second time"
                                            : "frees what is no block of the heap");
        return;
    }
}

static const struct ptx_builtin builtins[] = {
    {"vprintf", run_printf, 2, 1, false},
    {"__assertfail", run_assertfail, 5, 0, false},
    {"malloc", run_malloc, 1, 1, true},
    {"free", run_free, 1, 0, true},
    {"__cuda_syscall_aligned_malloc", run_aligned_malloc, 2, 1, true},
};

const struct ptx_builtin *builtin_find(const char *name)
{
    for (size_t i = 0; i < sizeof builtins / sizeof builtins[0]; i++)
        if (strcmp(builtins[i].name, name) == 0)
            return &builtins[i];
    return NULL;
}
