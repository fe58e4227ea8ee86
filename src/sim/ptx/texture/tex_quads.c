/* SPDX-License-Identifier: MIT */
/* Texels of four floats stay together from memory to their sum: one load, one conversion and one
 * product for all four channels. */
#include "ptx/texture/tex_quads.h"

typedef float floats __attribute__((vector_size(16), aligned(1), may_alias));
typedef double doubles __attribute__((vector_size(32)));

/* Corners in the order of tex_sample.c, whose sums these are to the last bit: a finite texel
 * without weight adds a zero, which changes no sum that begins with +0. */
OPS_INLINE void sum_lane(const char *data, const struct tex_places *places, unsigned dimensions,
                         const double weights[8][PTX_LANES], unsigned lane, doubles *to)
{
    const char *rows[4] = {data, data, data, data};
    doubles sum = {0, 0, 0, 0};

    for (unsigned row = 0; row < 1U << (dimensions - 1); row++) {
        if (dimensions > 1)
            rows[row] += places[1].at[row & 1][lane];
        if (dimensions > 2)
            rows[row] += places[2].at[row >> 1][lane];
    }
    for (unsigned corner = 0; corner < 1U << dimensions; corner++) {
        const char *from = rows[corner >> 1] + places[0].at[corner & 1][lane];
        const double weight = weights[corner][lane];
        sum += weight * __builtin_convertvector(*(const floats *)from, doubles);
    }
    *to = sum;
}
OPS_INLINE void sum_all(const char *data, const struct tex_places *places, unsigned dimensions,
                        const double weights[8][PTX_LANES], doubles sums[PTX_LANES])
{
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        sum_lane(data, places, dimensions, weights, lane, &sums[lane]);
}

bool tex_quads_sum(const char *data, const struct tex_places *places, unsigned dimensions,
                   const int32_t weights[8][PTX_LANES], double sums[4][PTX_LANES])
{
    double scales[8][PTX_LANES];
    doubles quads[PTX_LANES], zeros = {0, 0, 0, 0};

    for (unsigned corner = 0; corner < 1U << dimensions; corner++)
        for (unsigned lane = 0; lane < PTX_LANES; lane++)
            scales[corner][lane] = weights[corner][lane];
    if (dimensions == 1)
        sum_all(data, places, 1, scales, quads);
    else if (dimensions == 2)
        sum_all(data, places, 2, scales, quads);
    else
        sum_all(data, places, 3, scales, quads);
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        zeros += quads[lane] * 0.0; /* a NaN of what is not finite */
        for (unsigned i = 0; i < 4; i++)
            sums[i][lane] = quads[lane][i];
    }
    return zeros[0] + zeros[1] + zeros[2] + zeros[3] == 0.0;
}
