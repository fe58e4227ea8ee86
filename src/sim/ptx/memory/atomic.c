/* SPDX-License-Identifier: MIT */
/* atom and red, and their operations. Lanes go one after another; blocks of other workers may be at
 * the same global bytes, so that each lane's operation there is an atomic one of the CPU's. A
 * block's shared memory belongs to one worker. */
#include "ptx/memory/memory.h"

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

/* --- Operations: what is left in memory, of what was there and the operand --- */
#define VALUE(name, bits, value)                                                                   \
    static inline uint64_t name(uint64_t before, uint64_t operand, bool global)                    \
    {                                                                                              \
        const bits a = (bits)before, b = (bits)operand;                                            \
        (void)a, (void)global;                                                                     \
        return (uint64_t)(bits)(value);                                                            \
    }
VALUE(add_64, uint64_t, a + b)
VALUE(and_64, uint64_t, a &b)
VALUE(or_64, uint64_t, a | b)
VALUE(xor_64, uint64_t, a ^ b)
VALUE(exch_64, uint64_t, b)
VALUE(min_u64, uint64_t, b < a ? b : a)
VALUE(max_u64, uint64_t, b > a ? b : a)
VALUE(min_s32, int32_t, b < a ? b : a)
VALUE(max_s32, int32_t, b > a ? b : a)
VALUE(min_s64, int64_t, b < a ? b : a)
VALUE(max_s64, int64_t, b > a ? b : a)
VALUE(inc_u32, uint32_t, a >= b ? 0 : a + 1)
VALUE(dec_u32, uint32_t, a == 0 || a > b ? b : a - 1)

/* Subnormals become zero in global memory, and only there. */
static inline uint32_t sum_f32(uint32_t a, uint32_t b, bool global)
{
    uint32_t sum = global ? f32_bits(f32_of(f32_flush_bits(a)) + f32_of(f32_flush_bits(b)))
                          : f32_bits(f32_of(a) + f32_of(b));

    if (f32_is_nan(sum))
        return F32_NAN;
    return global ? f32_flush_bits(sum) : sum;
}

VALUE(add_f32, uint32_t, sum_f32(a, b, global))

static inline uint64_t add_f64(uint64_t a, uint64_t b, bool global)
{
    uint64_t bits = f64_bits(f64_of(a) + f64_of(b));

    (void)global;
    /* The memory's adder hands a NaN on as it is, signalling or not. */
    if (f64_is_nan(a) || f64_is_nan(b))
        return f64_is_nan(a) ? a : b;
    return f64_is_nan(bits) ? F64_NAN : bits;
}

VALUE(add_f16, uint16_t, f16_bits(f16_float(a) + f16_float(b)))
VALUE(min_f16, uint16_t, half_extreme(a, b, false, false, F16_INFINITY))
VALUE(max_f16, uint16_t, half_extreme(a, b, true, false, F16_INFINITY))
VALUE(add_bf16, uint16_t, bf16_bits(bf16_float(a) + bf16_float(b)))
VALUE(min_bf16, uint16_t, half_extreme(a, b, false, false, BF16_INFINITY))
VALUE(max_bf16, uint16_t, half_extreme(a, b, true, false, BF16_INFINITY))

#define PAIR(name, half)                                                                           \
    VALUE(name, uint32_t,                                                                          \
          half(a & 0xffff, b & 0xffff, global) | half(a >> 16, b >> 16, global) << 16)
PAIR(add_f16x2, add_f16)
PAIR(min_f16x2, min_f16)
PAIR(max_f16x2, max_f16)
PAIR(add_bf16x2, add_bf16)
PAIR(min_bf16x2, min_bf16)
PAIR(max_bf16x2, max_bf16)

struct atomic_operation {
    uint64_t (*value)(uint64_t before, uint64_t operand, bool global);
    unsigned size;
};

/* By type and operation. */
#define FLOATS(T, size)                                                                            \
    {                                                                                              \
        [IR_ATOM_ADD] = {add_##T, size}, [IR_ATOM_MIN] = {min_##T, size}, [IR_ATOM_MAX] = {        \
            max_##T,                                                                               \
            size                                                                                   \
        }                                                                                          \
    }
/* Bits of fewer are those of 64. */
#define INTEGERS(least, most, size)                                                                \
    [IR_ATOM_ADD] = {add_64, size}, [IR_ATOM_MIN] = {least, size}, [IR_ATOM_MAX] = {most, size},   \
    [IR_ATOM_AND] = {and_64, size}, [IR_ATOM_OR] = {or_64, size}, [IR_ATOM_XOR] = {xor_64, size},  \
    [IR_ATOM_EXCH] = {exch_64, size}
static const struct atomic_operation operations[IR_TYPE_COUNT][IR_ATOM_DEC + 1] = {
    [IR_B32] = {INTEGERS(min_u64, max_u64, 4)},
    [IR_U32] =
        {INTEGERS(min_u64, max_u64, 4), [IR_ATOM_INC] = {inc_u32, 4}, [IR_ATOM_DEC] = {dec_u32, 4}},
    [IR_S32] = {INTEGERS(min_s32, max_s32, 4)},
    [IR_B64] = {INTEGERS(min_u64, max_u64, 8)},
    [IR_U64] = {INTEGERS(min_u64, max_u64, 8)},
    [IR_S64] = {INTEGERS(min_s64, max_s64, 8)},
    [IR_F32] = {[IR_ATOM_ADD] = {add_f32, 4}},
    [IR_F64] = {[IR_ATOM_ADD] = {add_f64, 8}},
    [IR_F16] = FLOATS(f16, 2),
    [IR_BF16] = FLOATS(bf16, 2),
    [IR_F16X2] = FLOATS(f16x2, 4),
    [IR_BF16X2] = FLOATS(bf16x2, 4),
};

const struct atomic_operation *atomic_reduction(unsigned type, unsigned operation)
{
    return operations[type][operation].value ? &operations[type][operation] : NULL;
}

#define REPLACE(bits)                                                                              \
    case sizeof(bits): {                                                                           \
        bits before = (bits)*old;                                                                  \
        const bool done = __atomic_compare_exchange_n((bits *)at, &before, (bits)wanted, false,    \
                                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);         \
        *old = before;                                                                             \
        return done;                                                                               \
    }
bool atomic_replace(void *at, unsigned size, uint64_t *old, uint64_t wanted)
{
    switch (size) {
        REPLACE(uint16_t)
        REPLACE(uint32_t)
    default:
        REPLACE(uint64_t)
    }
}

uint64_t atomic_apply(const struct atomic_operation *operation, void *at, const void *from,
                      bool global)
{
    uint64_t old = 0, operand = 0, wanted;

    memcpy(&operand, from, operation->size);
    access_move_word(&old, at, operation->size);
    do
        wanted = operation->value(old, operand, global);
    while (global && !atomic_replace(at, operation->size, &old, wanted));
    if (!global) /* nobody is in the way */
        memcpy(at, &wanted, operation->size);
    return old;
}

/* The lanes' memory, one by one; what was there, if somebody wants it. */
static bool access_each(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask,
                        unsigned size, struct access *access, void **to)
{
    *to = step->operand[0] == PTX_ABSENT ? NULL : ptx_out(warp, step->operand[0]);
    memory_access(warp, step, mask, step->how.memory.space, ptx_in(warp, step->operand[1]), size,
                  true, access);
    return access->pattern != ACCESS_FAILED;
}

/* Of vectors element by element: their list is address, operands, results. */
static void atomic_any(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct how_memory *how = &step->how.memory;
    const struct atomic_operation *operation = &operations[how->type][how->operation];
    const uint32_t *list = step->list, *single = step->operand;
    const unsigned count = list ? (step->list_count - 1u) / 2 : 1, size = operation->size;
    struct access access;

    memory_access(warp, step, mask, how->space, ptx_in(warp, list ? list[0] : single[1]),
                  size * count, true, &access);
    if (access.pattern == ACCESS_FAILED)
        return;
    FOR_LANES (lane, mask)
        for (unsigned i = 0; i < count; i++) {
            const uintptr_t at = access_lane(&access, lane) + i * size;
            const uint32_t to = list ? list[1 + count + i] : single[0];
            const char *operand = ptx_in(warp, list ? list[1 + i] : single[2]);
            const uint64_t old =
                atomic_apply(operation, (void *)at, operand + (size_t)lane * (size == 8 ? 8 : 4),
                             !is_shared(warp, how->space, at));

            if (to != PTX_ABSENT)
                ptx_lane_set(ptx_out(warp, to), size == 8, lane, old);
        }
}

/* The usual one, in shared memory without an atomic operation of the CPU's. */
static inline void add_lanes(struct ptx_warp *warp, enum memory_space space,
                             const struct access *access, uint32_t mask, const reg32 *operand,
                             reg32 *to)
{
    FOR_LANES (lane, mask) {
        uint32_t *at = (uint32_t *)((uintptr_t)access->base + access->offsets[lane]), old;

        if (is_shared(warp, space, (uintptr_t)at)) {
            old = *at;
            *at = old + operand[lane];
        } else {
            old = __atomic_fetch_add(at, operand[lane], __ATOMIC_SEQ_CST);
        }
        if (to)
            to[lane] = old;
    }
}

static void atomic_add(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const enum memory_space space = step->how.memory.space;
    const reg32 *operand = ptx_in(warp, step->operand[2]);
    struct access access;
    void *to;

    if (!access_each(warp, step, mask, 4, &access, &to))
        return;
    access_some(&access, mask);
    if (space == MEMORY_SHARED)
        add_lanes(warp, MEMORY_SHARED, &access, mask, operand, to);
    else
        add_lanes(warp, space, &access, mask, operand, to);
}

static void atomic_cas(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const unsigned size = opcodes_type_size(step->how.memory.type);
    const void *compare = ptx_in(warp, step->operand[2]), *value = ptx_in(warp, step->operand[3]);
    struct access access;
    void *to;

    if (!access_each(warp, step, mask, size, &access, &to))
        return;
    FOR_LANES (lane, mask) {
        uint64_t old = ptx_lane(compare, size == 8, lane);

        atomic_replace((void *)access_lane(&access, lane), size, &old,
                       ptx_lane(value, size == 8, lane));
        if (to)
            ptx_lane_set(to, size == 8, lane, old);
    }
}

/* Of all launches: kernels of several streams may use the same memory. */
static pthread_mutex_t wide_lock = PTHREAD_MUTEX_INITIALIZER;

/* 16 bytes under that lock. */
static void atomic_wide(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    bool cas = step->how.memory.operation == IR_ATOM_CAS;
    const reg64 *first = ptx_in(warp, step->operand[2]);
    const reg64 *second = cas ? ptx_in(warp, step->operand[3]) : first;
    struct access access;
    void *to;

    if (!access_each(warp, step, mask, 16, &access, &to))
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
            ptx_lane_set(to, true, lane, old[0]);
            ptx_lane_set(to, true, lane + PTX_LANES, old[1]);
        }
    }
}

ptx_run *atomic_select(const struct ir_insn *insn, struct how_memory *how)
{
    const unsigned type = insn->types[0], size = opcodes_type_size(type);

    how->type = (uint8_t)type;
    how->operation = insn->atomic;
    if (size == 16)
        return atomic_wide;
    if (insn->atomic == IR_ATOM_CAS)
        return atomic_cas;
    if (!atomic_reduction(type, insn->atomic))
        return NULL;
    return operations[type][insn->atomic].value == add_64 && size == 4 ? atomic_add : atomic_any;
}
