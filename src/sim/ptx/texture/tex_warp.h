/* SPDX-License-Identifier: MIT */
/* Fetches of a whole warp from one texture. */
#ifndef CUSHIM_SIM_PTX_TEXTURE_TEX_WARP_H
#define CUSHIM_SIM_PTX_TEXTURE_TEX_WARP_H

#include "ptx/ops/ops.h"
#include "ptx/ptx.h"

struct tex_warp {
    const struct ptx_texture *texture;
    const lane_u32 *at[3];     /* coordinates: floats, or integers */
    const lane_u32 *offset[3]; /* texels; NULL: none */
    const lane_u32 *layer;     /* NULL: none */
    unsigned dimensions;
    bool integer; /* the coordinates are */
};

/* Two neighbours along one dimension. */
struct tex_places {
    uint64_t at[2][PTX_LANES];     /* in bytes */
    int32_t outside[2][PTX_LANES]; /* 1: of the border, or beyond integer coordinates */
    int32_t weight[PTX_LANES];     /* of the second one, in 256ths */
};

/* Is the texture of the usual kind? */
#define tex_warp_serves OPS_NAME(tex_warp_serves)
bool tex_warp_serves(const struct ptx_texture *texture);
/* What tex_sample gives, for all lanes but those of the result: they are left to it. */
#define tex_warp_fetch OPS_NAME(tex_warp_fetch)
uint32_t tex_warp_fetch(const struct tex_warp *fetch, uint32_t texels[4][PTX_LANES]);

#endif
