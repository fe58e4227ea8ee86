/* SPDX-License-Identifier: MIT */
/* Special registers, addresses that depend on the running thread, and small instructions. */
#include "ptx/ops/ops.h"

#include <time.h>

static uint64_t nanoseconds(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t special_time(void)
{
    return nanoseconds(CLOCK_MONOTONIC);
}

static bool is_grid(unsigned which)
{
    return which == IR_NTID || which == IR_CTAID || which == IR_NCTAID ||
           (which >= IR_CLUSTERID && which <= IR_IS_EXPLICIT_CLUSTER);
}

/* One that is the same for all lanes. */
uint64_t special_of_warp(const struct ptx_warp *warp, const struct how_special *special)
{
    const struct ptx_block *block = warp->block;
    const struct launch *launch = block->launch;
    const struct ptx_launch *request = launch->request;
    const struct ptx_machine *machine = request->machine;
    const unsigned at = special->component;

    if (at > 2 && is_grid(special->name))
        return 0;
    switch (special->name) {
#define SPECIAL_OF_WARP(name, value)                                                               \
    case IR_##name:                                                                                \
        return value;
#include "ptx/ops/special.def"
#undef SPECIAL_OF_WARP
    default:
        return 0;
    }
}

static uint32_t lane_special(unsigned which, unsigned lane)
{
    uint32_t bit = UINT32_C(1) << lane;

    switch (which) {
    case IR_LANEID:
        return lane;
    case IR_LANEMASK_EQ:
        return bit;
    case IR_LANEMASK_LT:
        return bit - 1;
    case IR_LANEMASK_LE:
        return bit | (bit - 1);
    case IR_LANEMASK_GT:
        return ~(bit | (bit - 1));
    default:
        return ~(bit - 1);
    }
}

static bool is_lane(unsigned which)
{
    return which == IR_LANEID || (which >= IR_LANEMASK_EQ && which <= IR_LANEMASK_GT);
}

#define SPECIAL(run, reg)                                                                          \
    void run(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)                    \
    {                                                                                              \
        const struct how_special *special = &step->how.special;                                    \
        reg *to = ptx_out(warp, step->operand[0]);                                                 \
                                                                                                   \
        if (special->name == IR_TID && special->component < 3) {                                   \
            const uint32_t *from =                                                                 \
                warp->block->launch->tids + (warp->index * 3 + special->component) * PTX_LANES;    \
            EACH_LANE(mask, lane, to[lane] = from[lane]);                                          \
        } else if (is_lane(special->name)) {                                                       \
            FOR_LANES (lane, mask)                                                                 \
                to[lane] = lane_special(special->name, lane);                                      \
        } else {                                                                                   \
            const reg value = (reg)special_of_warp(warp, special);                                 \
            EACH_LANE(mask, lane, to[lane] = value);                                               \
        }                                                                                          \
    }
SPECIAL(special_32, reg32)
SPECIAL(special_64, reg64)

#define SAME(name, value)                                                                          \
    void name(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)                   \
    {                                                                                              \
        reg64 *to = ptx_out(warp, step->operand[0]);                                               \
        const uint64_t same = (value);                                                             \
                                                                                                   \
        EACH_LANE(mask, lane, to[lane] = same);                                                    \
    }
/* Address of a variable of a device function. */
SAME(special_local_address, warp->state->frame->local_base + step->how.add)
/* Address of a .shared variable in a device function, which depends on the entry. */
SAME(special_shared_address,
     warp->block->launch->entry->shared_offsets[step->operand[1] & ~PTX_CONSTANT] + step->how.add)
SAME(special_stacksave, warp->state->frame->local_top)

/* The handle that a texture or surface reference holds. */
void special_reference(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    reg64 *to = ptx_out(warp, step->operand[0]);
    const char *host = warp->block->launch->image->hosts[step->how.variable];
    uint64_t handle = 0;

    if (host)
        memcpy(&handle, host, sizeof handle);
    EACH_LANE(mask, lane, to[lane] = handle);
}

/* cvta */
void special_window(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    reg64 *to = ptx_out(warp, step->operand[0]);
    const reg64 *from = ptx_in(warp, step->operand[1]);
    uint64_t add = step->how.add;

    EACH_LANE(mask, lane, to[lane] = from[lane] + add);
}

/* Constant variables have generic addresses like global ones. */
static bool is_constant(const struct ptx_image *image, uint64_t address)
{
    for (uint32_t i = 0; i < image->const_count; i++) {
        uint32_t variable = image->consts[i];

        if (address - image->addresses[variable] < image->module->variables[variable].size)
            return true;
    }
    return false;
}

void special_isspacep(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const reg64 *from = ptx_in(warp, step->operand[1]);
    uint32_t bits = 0, *to = &warp->predicates[step->operand[0]];

    FOR_LANES (lane, mask) {
        uint64_t address = from[lane];
        unsigned space = PTX_SPACE_GLOBAL;

        if (address - PTX_SHARED_WINDOW < PTX_WINDOW_SIZE)
            space = PTX_SPACE_SHARED;
        else if (address - PTX_LOCAL_WINDOW < PTX_WINDOW_SIZE)
            space = PTX_SPACE_LOCAL;
        else if (address - PTX_PARAM_WINDOW < PTX_WINDOW_SIZE)
            space = PTX_SPACE_PARAM;
        else if (is_constant(warp->block->launch->image, address))
            space = PTX_SPACE_CONST;
        if (space == step->how.space)
            bits |= UINT32_C(1) << lane;
    }
    *to = (*to & ~mask) | bits;
}

void special_fence(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    (void)step;
    (void)mask;
#if defined(__SANITIZE_THREAD__)
    atomic_fetch_add(&warp->block->launch->fence, 0);
#else
    (void)warp;
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

/* mapa: the address of a .shared variable in the block of the cluster with the given rank. */
void special_mapa(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    reg64 *to = ptx_out(warp, step->operand[0]);
    const reg64 *from = ptx_in(warp, step->operand[1]);
    const reg32 *rank = ptx_in(warp, step->operand[2]);
    uint64_t base = ptx_insn(step)->space == PTX_SPACE_GENERIC ? PTX_SHARED_WINDOW : 0;

    FOR_LANES (lane, mask)
        to[lane] = base + ((from[lane] - base) & (CLUSTER_STRIDE - 1)) +
                   (uint64_t)(rank[lane] + 1) * CLUSTER_STRIDE;
}

void special_getctarank(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    reg32 *to = ptx_out(warp, step->operand[0]);
    const reg64 *from = ptx_in(warp, step->operand[1]);
    uint64_t base = ptx_insn(step)->space == PTX_SPACE_GENERIC ? PTX_SHARED_WINDOW : 0;

    FOR_LANES (lane, mask) {
        uint64_t rank = (from[lane] - base) / CLUSTER_STRIDE;

        to[lane] = rank ? (uint32_t)rank - 1 : warp->block->cluster_rank;
    }
}

void special_alloca(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    reg64 *to = ptx_out(warp, step->operand[0]);
    const reg64 *size = ptx_in(warp, step->operand[1]);
    struct ptx_frame *frame = warp->state->frame;
    const struct ir_insn *insn = ptx_insn(step);
    uint64_t most = 0, asked = insn->count > 2 ? insn->operands[2].bits : 0;
    uint64_t align = asked > 16 ? asked : 16;
    uint64_t at = (frame->local_top + align - 1) & ~(align - 1);

    FOR_LANES (lane, mask)
        most = size[lane] > most ? size[lane] : most;
    if (most > warp->state->local_stride || at + most > warp->state->local_stride) {
        fault_warp(warp, step, (unsigned)__builtin_ctz(mask), PTX_FAULT_STACK, 0,
                   "alloca needs more than the stack has");
        return;
    }
    frame->local_top = (uint32_t)(at + most);
    EACH_LANE(mask, lane, to[lane] = at);
}

void special_stackrestore(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const reg64 *from = ptx_in(warp, step->operand[0]);
    struct ptx_frame *frame = warp->state->frame;
    uint64_t top = from[__builtin_ctz(mask)];

    /* Lanes that are elsewhere may still use theirs. */
    if (mask == frame->lanes && top >= frame->local_base + frame->code->local_size &&
        top <= frame->local_top)
        frame->local_top = (uint32_t)top;
}
