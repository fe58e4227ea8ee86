/* SPDX-License-Identifier: MIT */
/* Textures and surfaces: what tex.c (instructions), tex_sample.c (fetches) and surf.c share. */
#ifndef CUSHIM_SIM_PTX_TEXTURE_TEX_H
#define CUSHIM_SIM_PTX_TEXTURE_TEX_H

#include "ptx/ops/ops.h"
#include "ptx/read/ir.h"

struct ptx_texture;

/* One fetch. Coordinates in the texture's own unit: texels, or normalized. */
struct tex_fetch {
    const struct ptx_texture *texture;
    double at[3];
    int offset[3]; /* texels */
    unsigned dimensions;
    uint32_t layer;
    bool integer; /* the coordinates were integers: no filter, texels */
    double level;
};

static inline const uint32_t *tex_operands(const struct ptx_step *step)
{
    return step->list ? step->list : step->operand;
}

/* Coordinates that a geometry has, beside a layer in front. */
static inline unsigned tex_dimensions(unsigned geometry)
{
    switch (geometry) {
    case IR_1D:
    case IR_A1D:
        return 1;
    case IR_2D:
    case IR_A2D:
        return 2;
    default:
        return 3;
    }
}
static inline bool tex_has_layer(unsigned geometry)
{
    return geometry == IR_A1D || geometry == IR_A2D || geometry == IR_ACUBE;
}

/* Registers of an operand, flattened. */
static inline unsigned tex_width(const struct ir_operand *operand)
{
    unsigned width = 0;
    if (operand->kind != IR_OPERAND_VECTOR && operand->kind != IR_OPERAND_GROUP &&
        operand->kind != IR_OPERAND_ADDRESS)
        return 1;
    for (unsigned i = 0; i < operand->count; i++)
        width += tex_width(&operand->parts[i]);
    return width;
}
OPS_HOT(tex_select)

#endif
