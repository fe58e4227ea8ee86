/* SPDX-License-Identifier: MIT */
/* Sums of a linear filter, for texels of four floats. */
#ifndef CUSHIM_SIM_PTX_TEXTURE_TEX_QUADS_H
#define CUSHIM_SIM_PTX_TEXTURE_TEX_QUADS_H

#include "ptx/texture/tex_warp.h"

/* The sums of weights and texels for each channel, of 32 lanes. False: one is not finite, and all
 * are for a caller to compute who leaves out texels without weight. */
#define tex_quads_sum OPS_NAME(tex_quads_sum)
bool tex_quads_sum(const char *data, const struct tex_places *places, unsigned dimensions,
                   const int32_t weights[8][PTX_LANES], double sums[4][PTX_LANES]);

#endif
