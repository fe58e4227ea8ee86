/* SPDX-License-Identifier: MIT */
/* Reductions in memory that no thread waits for: each is made at once, and an mbarrier counts its
 * bytes. */
#include "ptx/memory/memory.h"

#include <string.h>

#include "ptx/memory/atomic_value.h"
#include "ptx/ops/ops.h"

enum { BULK = 16 }; /* addresses and sizes are multiples of it */

/* Other workers may be at the same global bytes. */
#define ONE(name, bits)                                                                            \
    static void one_##name(void *at, const void *from, bool global)                                \
    {                                                                                              \
        bits b, old = __atomic_load_n((bits *)at, __ATOMIC_RELAXED);                               \
                                                                                                   \
        memcpy(&b, from, sizeof b);                                                                \
        while (!__atomic_compare_exchange_n((bits *)at, &old, name(old, b, global), true,          \
                                            __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))                   \
            ;                                                                                      \
    }
ONE(add_32, uint32_t)
ONE(add_64, uint64_t)
ONE(and_32, uint32_t)
ONE(and_64, uint64_t)
ONE(or_32, uint32_t)
ONE(or_64, uint64_t)
ONE(xor_32, uint32_t)
ONE(xor_64, uint64_t)
ONE(min_u32, uint32_t)
ONE(max_u32, uint32_t)
ONE(min_s32, uint32_t)
ONE(max_s32, uint32_t)
ONE(min_u64, uint64_t)
ONE(max_u64, uint64_t)
ONE(min_s64, uint64_t)
ONE(max_s64, uint64_t)
ONE(inc_u32, uint32_t)
ONE(dec_u32, uint32_t)
ONE(add_f32, uint32_t)
ONE(add_f64, uint64_t)
ONE(add_f16, uint16_t)
ONE(min_f16, uint16_t)
ONE(max_f16, uint16_t)
ONE(add_bf16, uint16_t)
ONE(min_bf16, uint16_t)
ONE(max_bf16, uint16_t)

/* Of integers, by operation; of bits as of unsigned ones. */
static reduce_one *const integers[][4] = {
    [IR_ATOM_ADD] = {one_add_32, one_add_32, one_add_64, one_add_64},
    [IR_ATOM_MIN] = {one_min_u32, one_min_s32, one_min_u64, one_min_s64},
    [IR_ATOM_MAX] = {one_max_u32, one_max_s32, one_max_u64, one_max_s64},
    [IR_ATOM_INC] = {one_inc_u32},
    [IR_ATOM_DEC] = {one_dec_u32},
    [IR_ATOM_AND] = {one_and_32, one_and_32, one_and_64, one_and_64},
    [IR_ATOM_OR] = {one_or_32, one_or_32, one_or_64, one_or_64},
    [IR_ATOM_XOR] = {one_xor_32, one_xor_32, one_xor_64, one_xor_64},
};

reduce_one *reduce_select(enum ir_type type, enum ir_atomic operation)
{
    bool add = operation == IR_ATOM_ADD, min = operation == IR_ATOM_MIN;
    bool max = operation == IR_ATOM_MAX;
    bool known = operation < sizeof integers / sizeof *integers;

    switch (type) {
    case IR_F16:
        return add ? one_add_f16 : min ? one_min_f16 : max ? one_max_f16 : NULL;
    case IR_BF16:
        return add ? one_add_bf16 : min ? one_min_bf16 : max ? one_max_bf16 : NULL;
    case IR_F32:
        return add ? one_add_f32 : NULL;
    case IR_F64:
        return add ? one_add_f64 : NULL;
    case IR_B32:
    case IR_U32:
    case IR_S32:
        return known ? integers[operation][type == IR_S32] : NULL;
    case IR_B64:
    case IR_U64:
    case IR_S64:
        return known ? integers[operation][2 + (type == IR_S64)] : NULL;
    default:
        return NULL;
    }
}

/* operand: to, from, size. */
static bool bulk_lane(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                      enum ptx_space space)
{
    const struct how_bulk *how = &step->how.bulk;
    const reg64 *to = ptx_in(warp, step->operand[0]), *from = ptx_in(warp, step->operand[1]);
    uint32_t size = ((const reg32 *)ptx_in(warp, step->operand[2]))[lane];
    unsigned element = opcodes_type_size(how->type);
    reduce_one *one = reduce_select((enum ir_type)how->type, (enum ir_atomic)how->operation);

    if (size % BULK) {
        fault_warp(warp, step, lane, PTX_FAULT_MISALIGNED, to[lane],
                   "the size of the reduction is no multiple of 16");
        return false;
    }
    for (uint32_t at = 0; at < size; at += BULK) {
        char *out = memory_resolve(warp, step, lane, space,
                                   to[lane] + (uint64_t)how->to_offset + at, BULK, true);
        const char *in =
            !out ? NULL
                 : memory_resolve(warp, step, lane, PTX_SPACE_SHARED,
                                  from[lane] + (uint64_t)how->from_offset + at, BULK, false);

        if (!in)
            return false;
        for (unsigned i = 0; i < BULK; i += element)
            one(out + i, in + i, space == PTX_SPACE_GLOBAL);
    }
    return true;
}

void reduce_bulk_global(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    FOR_LANES (lane, mask)
        if (!bulk_lane(warp, step, lane, PTX_SPACE_GLOBAL))
            return;
}

/* operand[3] on: mbarrier, its offset. */
void reduce_bulk_shared(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const reg32 *size = ptx_in(warp, step->operand[2]);
    const reg64 *barrier = ptx_in(warp, step->operand[3]), *at = ptx_in(warp, step->operand[4]);

    if (!memory_async_clustered(warp, step, mask))
        return;
    FOR_LANES (lane, mask)
        if (!bulk_lane(warp, step, lane, PTX_SPACE_SHARED) ||
            !memory_async_signal(warp, step, lane, PTX_SPACE_SHARED, barrier[lane] + at[lane],
                                 size[lane]))
            return;
}

/* operand: to, value, mbarrier, its offset. */
void reduce_async(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct how_bulk *how = &step->how.bulk;
    enum ptx_space space = (enum ptx_space)how->space;
    const reg64 *to = ptx_in(warp, step->operand[0]);
    const reg64 *barrier = ptx_in(warp, step->operand[2]), *at = ptx_in(warp, step->operand[3]);
    unsigned size = opcodes_type_size(how->type);
    const void *values = ptx_in(warp, step->operand[1]);
    reduce_one *one = reduce_select((enum ir_type)how->type, (enum ir_atomic)how->operation);

    if (!memory_async_clustered(warp, step, mask))
        return;
    FOR_LANES (lane, mask) {
        const void *value = size == 8 ? (const void *)((const reg64 *)values + lane)
                                      : (const void *)((const reg32 *)values + lane);
        char *out = memory_resolve(warp, step, lane, space, to[lane] + (uint64_t)how->to_offset,
                                   size, true);

        if (!out)
            return;
        one(out, value, false);
        if (!memory_async_signal(warp, step, lane, space, barrier[lane] + at[lane], size))
            return;
    }
}
