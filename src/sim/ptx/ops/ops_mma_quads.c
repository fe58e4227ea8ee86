/* SPDX-License-Identifier: MIT */
/* mma m8n8k4 of f16: four products. Lanes 4 q to 4 q + 3 and those 16 above have that of q.
 *
 * An H100 computes them in f32, without its units for matrices: in f32 all products are added one
 * by one, then c; in f16 two products are added to c, and then the sum of the other two. */
#include "ptx/ops/ops_mma.h"

struct quad {
    float a[8][4], b[4][8], c[8][8];
};

/* The element `e` of c or d that a lane has. */
static float *quad_element(struct quad *quad, unsigned lane, unsigned e, bool is_f32)
{
    const unsigned upper = lane / 16 * 4;
    if (is_f32)
        return &quad->c[(lane & 1) + (e & 2) + upper][(e & 4) + (lane & 2) + (e & 1)];
    return &quad->c[lane % 4 + upper][e];
}

static float half_at(const struct ptx_warp *warp, const uint32_t *list, unsigned lane, unsigned e)
{
    const lane_u32 *words = ptx_in(warp, list[e / 2]);
    return f16_float(words[lane] >> e % 2 * 16 & 0xffff);
}

static void quad_read(const struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                      struct quad *quad)
{
    const struct how_mma *how = &step->how.mma;
    const uint32_t *list = ops_mma_list(step);
    const unsigned upper = lane / 16 * 4, place = lane % 4;
    for (unsigned e = 0; e < 4; e++) {
        const float a = half_at(warp, list + how->at[1], lane, e);
        const float b = half_at(warp, list + how->at[2], lane, e);
        if (how->columns & 2)
            quad->a[e + upper][place] = a;
        else
            quad->a[place + upper][e] = a;
        if (how->columns & 1)
            quad->b[e][place + upper] = b;
        else
            quad->b[place][e + upper] = b;
    }
    for (unsigned e = 0; e < 8; e++) {
        const bool is_f32 = how->c == IR_F32;
        const lane_u32 *words = ptx_in(warp, list[how->at[3] + (is_f32 ? e : 0)]);
        *quad_element(quad, lane, e, is_f32) =
            is_f32 ? f32_of(words[lane]) : half_at(warp, list + how->at[3], lane, e);
    }
}

static void quad_write(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                       struct quad *quad)
{
    const uint32_t *list = ops_mma_list(step);
    for (unsigned e = 0; e < 8; e++) {
        const bool is_f32 = step->how.mma.d == IR_F32;
        const uint32_t place = list[is_f32 ? e : e / 2];
        lane_u32 *words = ptx_out(warp, place);
        if (place == PTX_ABSENT)
            continue;
        const float sum = *quad_element(quad, lane, e, is_f32);
        if (is_f32)
            words[lane] = ops_mma_f32(sum);
        else if (e % 2 == 0)
            words[lane] = f16_bits(sum);
        else
            words[lane] |= f16_bits(sum) << 16;
    }
}

static float quad_sum(const float *a, float (*b)[8], unsigned j, float c, bool is_f32)
{
    if (is_f32) {
        float sum = 0.0F;
        for (unsigned k = 0; k < 4; k++)
            sum = __builtin_fmaf(a[k], b[k][j], sum);
        return c + sum;
    }
    const float low = __builtin_fmaf(a[1], b[1][j], a[0] * b[0][j]);
    const float high = __builtin_fmaf(a[3], b[3][j], a[2] * b[2][j]);
    return c + low + high;
}

static void quad_multiply(struct quad *quad, bool is_f32)
{
    for (unsigned i = 0; i < 8; i++)
        for (unsigned j = 0; j < 8; j++)
            quad->c[i][j] = quad_sum(quad->a[i], quad->b, j, quad->c[i][j], is_f32);
}

void OPS_NAME(ops_mma_quads)(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    struct quad quads[4];
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        quad_read(warp, step, lane, &quads[lane % 16 / 4]);
    for (unsigned q = 0; q < 4; q++)
        quad_multiply(&quads[q], step->how.mma.d == IR_F32);
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        if (ops_has(mask, lane))
            quad_write(warp, step, lane, &quads[lane % 16 / 4]);
}
