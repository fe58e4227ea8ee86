/* SPDX-License-Identifier: MIT */
/* atom and red. Lanes go one after another; blocks of other workers may be at the same global
 * bytes, so that each lane's operation there is an atomic one of the CPU's. A block's shared memory
 * belongs to one worker. */
#include "ptx/memory/memory.h"

#include <pthread.h>
#include <string.h>

#include "ptx/memory/atomic_value.h"

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

/* name: of the run function; update: what one lane does atomically to *at, giving the old value. */
#define RUN(name, bits, shape, operation, update)                                                  \
    static void name(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)            \
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
                *at = operation(old, (bits)operand[lane], false);                                  \
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
                *at = operation(old, b, false);                                                    \
            } else {                                                                               \
                update                                                                             \
            }                                                                                      \
            if (to)                                                                                \
                to[lane] = old;                                                                    \
        }                                                                                          \
    }
#define NATIVE(name, bits, shape, builtin)                                                         \
    RUN(atomic_##name, bits, shape, name, old = builtin(at, b, __ATOMIC_SEQ_CST);)
#define LOOP(name, bits, shape)                                                                    \
    RUN(atomic_##name, bits, shape, name, old = __atomic_load_n(at, __ATOMIC_RELAXED);             \
        while (!__atomic_compare_exchange_n(at, &old, name(old, b, true), true, __ATOMIC_SEQ_CST,  \
                                            __ATOMIC_RELAXED));)
NATIVE(add_32, uint32_t, reg32, __atomic_fetch_add)
NATIVE(add_64, uint64_t, reg64, __atomic_fetch_add)
NATIVE(and_32, uint32_t, reg32, __atomic_fetch_and)
NATIVE(and_64, uint64_t, reg64, __atomic_fetch_and)
NATIVE(or_32, uint32_t, reg32, __atomic_fetch_or)
NATIVE(or_64, uint64_t, reg64, __atomic_fetch_or)
NATIVE(xor_32, uint32_t, reg32, __atomic_fetch_xor)
NATIVE(xor_64, uint64_t, reg64, __atomic_fetch_xor)
NATIVE(exch_32, uint32_t, reg32, __atomic_exchange_n)
NATIVE(exch_64, uint64_t, reg64, __atomic_exchange_n)
LOOP(min_u32, uint32_t, reg32)
LOOP(max_u32, uint32_t, reg32)
LOOP(min_s32, uint32_t, reg32)
LOOP(max_s32, uint32_t, reg32)
LOOP(min_u64, uint64_t, reg64)
LOOP(max_u64, uint64_t, reg64)
LOOP(min_s64, uint64_t, reg64)
LOOP(max_s64, uint64_t, reg64)
LOOP(inc_u32, uint32_t, reg32)
LOOP(dec_u32, uint32_t, reg32)
LOOP(add_f32, uint32_t, reg32)
LOOP(add_f64, uint64_t, reg64)
LOOP(add_f16, uint16_t, reg32)
LOOP(add_bf16, uint16_t, reg32)
LOOP(add_f16x2, uint32_t, reg32)
LOOP(add_bf16x2, uint32_t, reg32)

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
    bool cas = step->how.memory.compare;
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

/* --- Vectors: list: address, operands, results --- */
#define VECTOR_FORMS(FORM)                                                                         \
    FORM(add_f32, uint32_t)                                                                        \
    FORM(add_f16, uint16_t)                                                                        \
    FORM(min_f16, uint16_t)                                                                        \
    FORM(max_f16, uint16_t)                                                                        \
    FORM(add_bf16, uint16_t)                                                                       \
    FORM(min_bf16, uint16_t)                                                                       \
    FORM(max_bf16, uint16_t)                                                                       \
    FORM(add_f16x2, uint32_t)                                                                      \
    FORM(min_f16x2, uint32_t)                                                                      \
    FORM(max_f16x2, uint32_t)                                                                      \
    FORM(add_bf16x2, uint32_t)                                                                     \
    FORM(min_bf16x2, uint32_t)                                                                     \
    FORM(max_bf16x2, uint32_t)
enum vector_form {
#define FORM(name, bits) VECTOR_##name,
    VECTOR_FORMS(FORM)
#undef FORM
};

static bool is_half(unsigned form)
{
    return form >= VECTOR_add_f16 && form <= VECTOR_max_bf16;
}

static uint32_t vector_update(unsigned form, uint32_t a, uint32_t b, bool global)
{
    switch (form) {
#define FORM(name, bits)                                                                           \
    case VECTOR_##name:                                                                            \
        return name((bits)a, (bits)b, global);
        VECTOR_FORMS(FORM)
#undef FORM
    default:
        return b;
    }
}

static uint32_t vector_one(unsigned form, uintptr_t at, uint32_t b, bool global)
{
    if (is_half(form)) {
        uint16_t old = __atomic_load_n((uint16_t *)at, __ATOMIC_RELAXED);

        while (!__atomic_compare_exchange_n((uint16_t *)at, &old,
                                            (uint16_t)vector_update(form, old, b, global), true,
                                            __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            ;
        return old;
    }
    uint32_t old = __atomic_load_n((uint32_t *)at, __ATOMIC_RELAXED);

    while (!__atomic_compare_exchange_n((uint32_t *)at, &old, vector_update(form, old, b, global),
                                        true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        ;
    return old;
}

static void atomic_vector(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const enum memory_space space = step->how.memory.space;
    unsigned form = step->how.memory.vector, count = (step->list_count - 1u) / 2;
    unsigned size = is_half(form) ? 2 : 4;
    struct access access;

    memory_access(warp, step, mask, space, ptx_in(warp, step->list[0]), size * count, true,
                  &access);
    if (access.pattern == ACCESS_FAILED)
        return;
    FOR_LANES (lane, mask)
        for (unsigned i = 0; i < count; i++) {
            uintptr_t at = access_lane(&access, lane) + i * size;
            const reg32 *operand = ptx_in(warp, step->list[1 + i]);
            uint32_t old = vector_one(form, at, operand[lane], !is_shared(warp, space, at));

            if (step->list[1 + count + i] != PTX_ABSENT)
                ((reg32 *)ptx_out(warp, step->list[1 + count + i]))[lane] = old;
        }
}

/* --- Selection --- */
static ptx_run *select_vector(const struct ir_insn *insn, struct how_memory *how)
{
    /* The forms of a type are in this order. */
    unsigned which = insn->atomic == IR_ATOM_ADD   ? 0
                     : insn->atomic == IR_ATOM_MIN ? 1
                     : insn->atomic == IR_ATOM_MAX ? 2
                                                   : 3;
    unsigned form;

    switch (insn->types[0]) {
    case IR_F32:
        form = VECTOR_add_f32;
        break;
    case IR_F16:
        form = VECTOR_add_f16;
        break;
    case IR_BF16:
        form = VECTOR_add_bf16;
        break;
    case IR_F16X2:
        form = VECTOR_add_f16x2;
        break;
    case IR_BF16X2:
        form = VECTOR_add_bf16x2;
        break;
    default:
        return NULL;
    }
    if (which > 2 || (form == VECTOR_add_f32 && which))
        return NULL;
    how->vector = (uint8_t)(form + which);
    return atomic_vector;
}

static ptx_run *select_add(enum ir_type type)
{
    switch (type) {
    case IR_F32:
        return atomic_add_f32;
    case IR_F64:
        return atomic_add_f64;
    case IR_F16:
        return atomic_add_f16;
    case IR_BF16:
        return atomic_add_bf16;
    case IR_F16X2:
        return atomic_add_f16x2;
    case IR_BF16X2:
        return atomic_add_bf16x2;
    default:
        return opcodes_type_size(type) == 8   ? atomic_add_64
               : opcodes_type_size(type) == 4 ? atomic_add_32
                                              : NULL;
    }
}

/* Of integers of 32 bits and of 64, without a sign and with one; of bits as without. */
static ptx_run *const integers[][4] = {
    [IR_ATOM_MIN] = {atomic_min_u32, atomic_min_s32, atomic_min_u64, atomic_min_s64},
    [IR_ATOM_MAX] = {atomic_max_u32, atomic_max_s32, atomic_max_u64, atomic_max_s64},
    [IR_ATOM_AND] = {atomic_and_32, atomic_and_32, atomic_and_64, atomic_and_64},
    [IR_ATOM_OR] = {atomic_or_32, atomic_or_32, atomic_or_64, atomic_or_64},
    [IR_ATOM_XOR] = {atomic_xor_32, atomic_xor_32, atomic_xor_64, atomic_xor_64},
    [IR_ATOM_EXCH] = {atomic_exch_32, atomic_exch_32, atomic_exch_64, atomic_exch_64},
    [IR_ATOM_INC] = {atomic_inc_u32, atomic_inc_u32},
    [IR_ATOM_DEC] = {atomic_dec_u32, atomic_dec_u32},
};

ptx_run *atomic_select(const struct ir_insn *insn, struct how_memory *how)
{
    enum ir_type type = (enum ir_type)insn->types[0];
    unsigned size = opcodes_type_size(type);
    bool wide = size == 8;

    if (insn->vector > 1)
        return select_vector(insn, how);
    if (size == 16 && (insn->atomic == IR_ATOM_CAS || insn->atomic == IR_ATOM_EXCH)) {
        how->compare = insn->atomic == IR_ATOM_CAS;
        return atomic_wide;
    }
    if (insn->atomic == IR_ATOM_CAS)
        return size == 2 ? atomic_cas16 : size == 4 ? atomic_cas32 : wide ? atomic_cas64 : NULL;
    if (insn->atomic == IR_ATOM_ADD)
        return select_add(type);
    if ((size != 4 && size != 8) || insn->atomic >= sizeof integers / sizeof *integers)
        return NULL;
    return integers[insn->atomic][2 * wide + (type == IR_S32 || type == IR_S64)];
}
