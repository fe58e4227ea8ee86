/* SPDX-License-Identifier: MIT */
/* Lane masks from comparisons, and what setp and set do with them. */
#ifndef CUSHIM_SIM_PTX_OPS_OPS_MASK_H
#define CUSHIM_SIM_PTX_OPS_OPS_MASK_H

#include "ptx/ops/ops.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* 0 or -1 per lane, as vector comparisons give. */
struct ops_mask32 {
    int32_t lanes[PTX_LANES];
} __attribute__((aligned(64)));
struct ops_mask64 {
    int64_t lanes[PTX_LANES];
} __attribute__((aligned(64)));
#define OPS_MASK_u32 struct ops_mask32
#define OPS_MASK_s32 struct ops_mask32
#define OPS_MASK_f32 struct ops_mask32
#define OPS_MASK_u64 struct ops_mask64
#define OPS_MASK_s64 struct ops_mask64
#define OPS_MASK_f64 struct ops_mask64
#define ops_mask_u32 ops_mask_of32
#define ops_mask_s32 ops_mask_of32
#define ops_mask_f32 ops_mask_of32
#define ops_mask_u64 ops_mask_of64
#define ops_mask_s64 ops_mask_of64
#define ops_mask_f64 ops_mask_of64
#define OPS_MASK_OF(A) ops_mask_##A

static inline uint32_t ops_mask_of32(const struct ops_mask32 *found)
{
    uint32_t bits = 0;
#if defined(__AVX512DQ__) /* the comparison's own vectors, which need not go through memory */
    const __m512i *parts = (const void *)found->lanes;

    bits = (uint32_t)_mm512_movepi32_mask(parts[0]) | (uint32_t)_mm512_movepi32_mask(parts[1])
                                                          << 16;
#elif defined(__AVX2__)
    for (unsigned part = 0; part < 4; part++) {
        const __m256 lanes = _mm256_load_ps((const float *)(const void *)&found->lanes[part * 8]);
        bits |= (uint32_t)_mm256_movemask_ps(lanes) << (part * 8);
    }
#else
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        bits |= (uint32_t)found->lanes[lane] & UINT32_C(1) << lane;
#endif
    return bits;
}

static inline uint32_t ops_mask_of64(const struct ops_mask64 *found)
{
    uint32_t bits = 0;
#if defined(__AVX2__)
    for (unsigned part = 0; part < 8; part++) {
        const __m256d lanes = _mm256_load_pd((const double *)(const void *)&found->lanes[part * 4]);
        bits |= (uint32_t)_mm256_movemask_pd(lanes) << (part * 4);
    }
#else
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        bits |= (uint32_t)found->lanes[lane] & UINT32_C(1) << lane;
#endif
    return bits;
}

static inline uint32_t ops_combine(unsigned boolean, uint32_t bits, uint32_t other)
{
    switch (boolean) {
    case IR_ATOM_AND:
        return bits & other;
    case IR_ATOM_OR:
        return bits | other;
    case IR_ATOM_XOR:
        return bits ^ other;
    default:
        return bits;
    }
}

/* setp: p = bits op c and q = !bits op c. */
struct ops_setp {
    uint32_t boolean, p, q, c;
};
static inline struct ops_setp ops_setp_of(const struct ptx_step *step)
{
    const unsigned first = step->how.compare.first;
    return (struct ops_setp){step->how.compare.boolean, step->operand[0],
                             first > 1 ? step->operand[1] : PTX_ABSENT, step->operand[first + 2]};
}
static inline void ops_setp_store(struct ptx_warp *warp, struct ops_setp setp, uint32_t bits,
                                  uint32_t mask)
{
    const uint32_t other = setp.boolean ? ops_predicate(warp, setp.c) : 0;
    ops_set_predicate(warp, setp.p, ops_combine(setp.boolean, bits, other), mask);
    ops_set_predicate(warp, setp.q, ops_combine(setp.boolean, ~bits, other), mask);
}

/* Which bits say "true" in the type that set writes; 0: it writes no such type. */
static inline uint32_t ops_set_true(unsigned type)
{
    static const uint32_t bits[IR_TYPE_COUNT] = {
        [IR_U32] = PTX_FULL, [IR_S32] = PTX_FULL, [IR_B32] = PTX_FULL, [IR_F32] = 0x3f800000,
        [IR_U16] = 0xffff,   [IR_S16] = 0xffff,   [IR_B16] = 0xffff,   [IR_F16] = 0x3c00,
        [IR_F16X2] = 0x3c00, [IR_BF16] = 0x3f80,  [IR_BF16X2] = 0x3f80};
    return bits[type];
}

static inline void ops_set_store(struct ptx_warp *warp, const struct ptx_step *step, uint32_t bits,
                                 uint32_t mask)
{
    const uint32_t yes = step->how.compare.yes;
    const unsigned boolean = step->how.compare.boolean;
    if (boolean)
        bits = ops_combine(boolean, bits, ops_predicate(warp, step->operand[3]));
    OPS_STORE(warp, step, mask, u32, ops_has(bits, lane) ? yes : 0)
}

#endif
