/* SPDX-License-Identifier: MIT */
/* atom and red, and their operations. Lanes go one after another; blocks of other workers may be at
 * the same global bytes, so that each lane's operation there is an atomic one of the CPU's. A
 * block's shared memory belongs to one worker. */
#include "ptx/memory/memory.h"

#include <pthread.h>
#include <string.h>

#include "ptx/ops/float_bits.h"

/* --- Lanes --- */
static bool is_shared_of(const struct ptx_block *block, uintptr_t at)
{
    return at - (uintptr_t)block->shared < block->shared_size;
}

/* Shared memory of the block or of another one of its cluster: one worker runs them all. */
static bool is_any_shared(const struct ptx_warp *warp, uintptr_t at)
{
    const struct cluster *cluster = warp->block->cluster;
    bool found = is_shared_of(warp->block, at);

    for (uint32_t i = 0; cluster && !found && i < cluster->size; i++)
        found = cluster->blocks[i] && is_shared_of(cluster->blocks[i], at);
    return found;
}

static inline bool is_shared(const struct ptx_warp *warp, enum memory_space space, uintptr_t at)
{
    return space == MEMORY_GENERIC ? is_any_shared(warp, at) : space == MEMORY_SHARED;
}

/* update: what one lane does atomically to *at, giving the old value. */
#define RUN(name, bits, shape, update)                                                             \
    static void atomic_##name(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)   \
    {                                                                                              \
        const shape *operand = ptx_in(warp, step->operand[2]);                                     \
        shape *to = step->operand[0] == PTX_ABSENT ? NULL : ptx_out(warp, step->operand[0]);       \
        const enum memory_space space = step->how.memory.space;                                    \
        struct access access;                                                                      \
                                                                                                   \
        memory_access(warp, step, mask, space, ptx_in(warp, step->operand[1]), sizeof(bits), true, \
                      &access);                                                                    \
        if (access.pattern == ACCESS_FAILED)                                                       \
            return;                                                                                \
        access_gather(&access);                                                                    \
        if (space == MEMORY_SHARED) {                                                              \
            FOR_LANES (lane, mask) {                                                               \
                bits *at = (bits *)((uintptr_t)access.base + access.offsets[lane]), old = *at;     \
                *at = name(old, (bits)operand[lane], false);                                       \
                if (to)                                                                            \
                    to[lane] = old;                                                                \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        FOR_LANES (lane, mask) {                                                                   \
            bits *at = (bits *)((uintptr_t)access.base + access.offsets[lane]),                    \
                 b = (bits)operand[lane], old;                                                     \
                                                                                                   \
            if (space == MEMORY_GENERIC && is_any_shared(warp, (uintptr_t)at)) {                   \
                old = *at;                                                                         \
                *at = name(old, b, false);                                                         \
            } else {                                                                               \
                update                                                                             \
            }                                                                                      \
            if (to)                                                                                \
                to[lane] = old;                                                                    \
        }                                                                                          \
    }
/* --- Operations --- */

/* What is left in memory, of what was there and the operand. */
#define VALUE(name, bits, value)                                                                   \
    static inline bits name(bits a, bits b, bool global)                                           \
    {                                                                                              \
        (void)global;                                                                              \
        return (bits)(value);                                                                      \
    }

#define ONE(name, bits)                                                                            \
    static uint64_t one_##name(void *at, const void *from, bool global)                            \
    {                                                                                              \
        bits b, old = __atomic_load_n((bits *)at, __ATOMIC_RELAXED);                               \
                                                                                                   \
        memcpy(&b, from, sizeof b);                                                                \
        while (!__atomic_compare_exchange_n((bits *)at, &old, name(old, b, global), true,          \
                                            __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))                   \
            ;                                                                                      \
        return old;                                                                                \
    }

/* An operation that the CPU has, another one, and one whose value is a function above. */
#define NATIVE(name, bits, shape, builtin, value)                                                  \
    VALUE(name, bits, value)                                                                       \
    ONE(name, bits)                                                                                \
    RUN(name, bits, shape, old = builtin(at, b, __ATOMIC_SEQ_CST);)
#define LOOP(name, bits, shape, value)                                                             \
    VALUE(name, bits, value)                                                                       \
    LOOP_OF(name, bits, shape)
#define LOOP_OF(name, bits, shape)                                                                 \
    ONE(name, bits)                                                                                \
    RUN(name, bits, shape, old = __atomic_load_n(at, __ATOMIC_RELAXED);                            \
        while (!__atomic_compare_exchange_n(at, &old, name(old, b, true), true, __ATOMIC_SEQ_CST,  \
                                            __ATOMIC_RELAXED));)

NATIVE(add_32, uint32_t, reg32, __atomic_fetch_add, a + b)
NATIVE(add_64, uint64_t, reg64, __atomic_fetch_add, a + b)
NATIVE(and_32, uint32_t, reg32, __atomic_fetch_and, a &b)
NATIVE(and_64, uint64_t, reg64, __atomic_fetch_and, a &b)
NATIVE(or_32, uint32_t, reg32, __atomic_fetch_or, a | b)
NATIVE(or_64, uint64_t, reg64, __atomic_fetch_or, a | b)
NATIVE(xor_32, uint32_t, reg32, __atomic_fetch_xor, a ^ b)
NATIVE(xor_64, uint64_t, reg64, __atomic_fetch_xor, a ^ b)
NATIVE(exch_32, uint32_t, reg32, __atomic_exchange_n, (a & 0) | b)
NATIVE(exch_64, uint64_t, reg64, __atomic_exchange_n, (a & 0) | b)
LOOP(min_u32, uint32_t, reg32, b < a ? b : a)
LOOP(max_u32, uint32_t, reg32, b > a ? b : a)
LOOP(min_s32, uint32_t, reg32, (int32_t)b < (int32_t)a ? b : a)
LOOP(max_s32, uint32_t, reg32, (int32_t)b > (int32_t)a ? b : a)
LOOP(min_u64, uint64_t, reg64, b < a ? b : a)
LOOP(max_u64, uint64_t, reg64, b > a ? b : a)
LOOP(min_s64, uint64_t, reg64, (int64_t)b < (int64_t)a ? b : a)
LOOP(max_s64, uint64_t, reg64, (int64_t)b > (int64_t)a ? b : a)
LOOP(inc_u32, uint32_t, reg32, a >= b ? 0 : a + 1)
LOOP(dec_u32, uint32_t, reg32, a == 0 || a > b ? b : a - 1)

/* Subnormals become zero in global memory, and only there. */
static inline uint32_t add_f32(uint32_t a, uint32_t b, bool global)
{
    uint32_t sum = global ? f32_bits(f32_of(f32_flush_bits(a)) + f32_of(f32_flush_bits(b)))
                          : f32_bits(f32_of(a) + f32_of(b));

    if (f32_is_nan(sum))
        return F32_NAN;
    return global ? f32_flush_bits(sum) : sum;
}

LOOP_OF(add_f32, uint32_t, reg32)

static inline uint64_t add_f64(uint64_t a, uint64_t b, bool global)
{
    uint64_t bits = f64_bits(f64_of(a) + f64_of(b));

    (void)global;
    /* The memory's adder hands a NaN on as it is, signalling or not. */
    if (f64_is_nan(a) || f64_is_nan(b))
        return f64_is_nan(a) ? a : b;
    return f64_is_nan(bits) ? F64_NAN : bits;
}

LOOP_OF(add_f64, uint64_t, reg64)

static inline uint16_t smaller(uint32_t a, uint32_t b, uint32_t infinity, bool larger)
{
    bool a_nan = (a & 0x7fff) > infinity, b_nan = (b & 0x7fff) > infinity;
    int32_t x = a & 0x8000 ? -(int32_t)(a & 0x7fff) - 1 : (int32_t)a;
    int32_t y = b & 0x8000 ? -(int32_t)(b & 0x7fff) - 1 : (int32_t)b;

    if (a_nan || b_nan)
        return (uint16_t)(a_nan && b_nan ? HALF_NAN : a_nan ? b : a);
    return (uint16_t)((larger ? y > x : y < x) ? b : a);
}
LOOP(add_f16, uint16_t, reg32, f16_bits(f16_float(a) + f16_float(b)))
LOOP(min_f16, uint16_t, reg32, smaller(a, b, F16_INFINITY, false))
LOOP(max_f16, uint16_t, reg32, smaller(a, b, F16_INFINITY, true))
LOOP(add_bf16, uint16_t, reg32, bf16_bits(bf16_float(a) + bf16_float(b)))
LOOP(min_bf16, uint16_t, reg32, smaller(a, b, BF16_INFINITY, false))
LOOP(max_bf16, uint16_t, reg32, smaller(a, b, BF16_INFINITY, true))

#define PAIR(name, half)                                                                           \
    LOOP(name, uint32_t, reg32,                                                                    \
         (uint32_t)half((uint16_t)a, (uint16_t)b, global) |                                        \
             (uint32_t)half((uint16_t)(a >> 16), (uint16_t)(b >> 16), global) << 16)
PAIR(add_f16x2, add_f16)
PAIR(min_f16x2, min_f16)
PAIR(max_f16x2, max_f16)
PAIR(add_bf16x2, add_bf16)
PAIR(min_bf16x2, min_bf16)
PAIR(max_bf16x2, max_bf16)

/* By type and operation. */
#define BOTH(name)                                                                                 \
    {                                                                                              \
        atomic_##name, one_##name                                                                  \
    }
#define FLOATS(T)                                                                                  \
    {                                                                                              \
        [IR_ATOM_ADD] = BOTH(add_##T), [IR_ATOM_MIN] = BOTH(min_##T),                              \
        [IR_ATOM_MAX] = BOTH(max_##T)                                                              \
    }
#define INTEGERS(T, size)                                                                          \
    [IR_ATOM_ADD] = BOTH(add_##size), [IR_ATOM_MIN] = BOTH(min_##T),                               \
    [IR_ATOM_MAX] = BOTH(max_##T), [IR_ATOM_AND] = BOTH(and_##size),                               \
    [IR_ATOM_OR] = BOTH(or_##size), [IR_ATOM_XOR] = BOTH(xor_##size),                              \
    [IR_ATOM_EXCH] = BOTH(exch_##size)
static const struct {
    ptx_run *run;
    atomic_one *one;
} operations[IR_TYPE_COUNT][IR_ATOM_DEC + 1] = {
    [IR_B32] = {INTEGERS(u32, 32)},
    [IR_U32] = {INTEGERS(u32, 32), [IR_ATOM_INC] = BOTH(inc_u32), [IR_ATOM_DEC] = BOTH(dec_u32)},
    [IR_S32] = {INTEGERS(s32, 32)},
    [IR_B64] = {INTEGERS(u64, 64)},
    [IR_U64] = {INTEGERS(u64, 64)},
    [IR_S64] = {INTEGERS(s64, 64)},
    [IR_F32] = {[IR_ATOM_ADD] = BOTH(add_f32)},
    [IR_F64] = {[IR_ATOM_ADD] = BOTH(add_f64)},
    [IR_F16] = FLOATS(f16),
    [IR_BF16] = FLOATS(bf16),
    [IR_F16X2] = FLOATS(f16x2),
    [IR_BF16X2] = FLOATS(bf16x2),
};

atomic_one *atomic_reduction(unsigned type, unsigned operation)
{
    return operations[type][operation].one;
}

/* --- Exchanges --- */

#define CAS(name, bits, shape)                                                                     \
    static void name(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)            \
    {                                                                                              \
        const shape *compare = ptx_in(warp, step->operand[2]);                                     \
        const shape *value = ptx_in(warp, step->operand[3]);                                       \
        shape *to = step->operand[0] == PTX_ABSENT ? NULL : ptx_out(warp, step->operand[0]);       \
        struct access access;                                                                      \
                                                                                                   \
        memory_access(warp, step, mask, step->how.memory.space, ptx_in(warp, step->operand[1]),    \
                      sizeof(bits), true, &access);                                                \
        if (access.pattern == ACCESS_FAILED)                                                       \
            return;                                                                                \
        FOR_LANES (lane, mask) {                                                                   \
            bits old = (bits)compare[lane];                                                        \
                                                                                                   \
            __atomic_compare_exchange_n((bits *)access_lane(&access, lane), &old,                  \
                                        (bits)value[lane], false, __ATOMIC_SEQ_CST,                \
                                        __ATOMIC_SEQ_CST);                                         \
            if (to)                                                                                \
                to[lane] = old;                                                                    \
        }                                                                                          \
    }
CAS(atomic_cas16, uint16_t, reg32)
CAS(atomic_cas32, uint32_t, reg32)
CAS(atomic_cas64, uint64_t, reg64)

/* Of all launches: kernels of several streams may use the same memory. */
static pthread_mutex_t wide_lock = PTHREAD_MUTEX_INITIALIZER;

/* 16 bytes under that lock. */
static void atomic_wide(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    bool cas = step->how.memory.operation == IR_ATOM_CAS;
    const reg64 *first = ptx_in(warp, step->operand[2]);
    const reg64 *second = cas ? ptx_in(warp, step->operand[3]) : first;
    reg64 *to = step->operand[0] == PTX_ABSENT ? NULL : ptx_out(warp, step->operand[0]);
    struct access access;

    memory_access(warp, step, mask, step->how.memory.space, ptx_in(warp, step->operand[1]), 16,
                  true, &access);
    if (access.pattern == ACCESS_FAILED)
        return;
    FOR_LANES (lane, mask) {
        void *at = (void *)access_lane(&access, lane);
        uint64_t old[2], wanted[2] = {second[lane], second[lane + PTX_LANES]};

        pthread_mutex_lock(&wide_lock);
        memcpy(old, at, sizeof old);
        if (!cas || (old[0] == first[lane] && old[1] == first[lane + PTX_LANES]))
            memcpy(at, wanted, sizeof wanted);
        pthread_mutex_unlock(&wide_lock);
        if (to) {
            to[lane] = old[0];
            to[lane + PTX_LANES] = old[1];
        }
    }
}

/* Elements one by one. List: address, operands, results. */
static void atomic_vector(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct how_memory *how = &step->how.memory;
    atomic_one *const one = atomic_reduction(how->type, how->operation);
    unsigned count = (step->list_count - 1u) / 2, size = opcodes_type_size(how->type);
    struct access access;

    memory_access(warp, step, mask, how->space, ptx_in(warp, step->list[0]), size * count, true,
                  &access);
    if (access.pattern == ACCESS_FAILED)
        return;
    FOR_LANES (lane, mask)
        for (unsigned i = 0; i < count; i++) {
            uintptr_t at = access_lane(&access, lane) + i * size;
            const reg32 *operand = ptx_in(warp, step->list[1 + i]);
            uint64_t old = one((void *)at, &operand[lane], !is_shared(warp, how->space, at));

            if (step->list[1 + count + i] != PTX_ABSENT)
                ((reg32 *)ptx_out(warp, step->list[1 + count + i]))[lane] = (uint32_t)old;
        }
}

ptx_run *atomic_select(const struct ir_insn *insn, struct how_memory *how)
{
    const unsigned type = insn->types[0], size = opcodes_type_size(type);

    how->type = (uint8_t)type;
    how->operation = insn->atomic;
    if (insn->vector > 1)
        return atomic_reduction(type, insn->atomic) ? atomic_vector : NULL;
    if (size == 16)
        return atomic_wide;
    if (insn->atomic == IR_ATOM_CAS)
        return size == 2 ? atomic_cas16 : size == 4 ? atomic_cas32 : atomic_cas64;
    return operations[type][insn->atomic].run;
}
