/* SPDX-License-Identifier: MIT */
/* Textures and surfaces: what tex.c (instructions), tex_sample.c (fetches) and surf.c share. */
#ifndef CUSHIM_SIM_PTX_TEXTURE_TEX_H
#define CUSHIM_SIM_PTX_TEXTURE_TEX_H

#include "ptx/ops/ops.h"
#include "ptx/read/ir.h"

struct ptx_texture;

/* How an instruction's flattened operands are laid out; made by select_run, kept in step->extra. */
struct tex_plan {
    uint8_t geometry;
    uint8_t type;    /* enum ir_type of the results */
    uint8_t results; /* registers at the front */
    uint8_t handle;  /* index of the handle */
    uint8_t at;      /* index of the first coordinate */
    uint8_t rest;    /* index of what follows the coordinates: level, gradients, offsets */
    uint8_t integer : 1, predicate : 1, offset : 1, level : 2; /* level: 1 .level, 2 .grad */
    uint8_t component;
};
union tex_packed {
    struct tex_plan plan;
    uint64_t extra;
};

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
ops_family tex_select;

#endif
