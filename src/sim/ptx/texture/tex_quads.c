/* SPDX-License-Identifier: MIT */
/* Texels of four floats stay together from memory to their sum: one load, one conversion and one
 * product for all four channels. */
#include "ptx/texture/texture.h"

/* Corners in the order of tex_sample.c, whose sums these are to the last bit: a finite texel
 * without weight adds a zero, which changes no sum that begins with +0. */
OPS_INLINE void sum_all(const char *data, const struct tex_places *places, unsigned dimensions,
                        const double weights[8][PTX_LANES], double sums[PTX_LANES][4])
{
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        double sum[4] = {0, 0, 0, 0};

        for (unsigned corner = 0; corner < 1U << dimensions; corner++) {
            const double weight = weights[corner][lane];
            uint64_t at = 0;
            float texel[4];

            for (unsigned i = 0; i < dimensions; i++)
                at += places[i].at[corner >> i & 1][lane];
            memcpy(texel, data + at, sizeof texel);
            for (unsigned i = 0; i < 4; i++)
                sum[i] += weight * (double)texel[i];
        }
        memcpy(sums[lane], sum, sizeof sum);
    }
}

bool tex_quads_sum(const char *data, const struct tex_places *places, unsigned dimensions,
                   const int32_t weights[8][PTX_LANES], double sums[4][PTX_LANES])
{
    double scales[8][PTX_LANES], quads[PTX_LANES][4], zeros[4] = {0, 0, 0, 0};

    for (unsigned corner = 0; corner < 1U << dimensions; corner++)
        for (unsigned lane = 0; lane < PTX_LANES; lane++)
            scales[corner][lane] = weights[corner][lane];
    if (dimensions == 1)
        sum_all(data, places, 1, scales, quads);
    else if (dimensions == 2)
        sum_all(data, places, 2, scales, quads);
    else
        sum_all(data, places, 3, scales, quads);
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        for (unsigned i = 0; i < 4; i++) {
            sums[i][lane] = quads[lane][i];
            zeros[i] += quads[lane][i] * 0.0; /* NaN, once one is not finite */
        }
    return zeros[0] + zeros[1] + zeros[2] + zeros[3] == 0.0;
}
