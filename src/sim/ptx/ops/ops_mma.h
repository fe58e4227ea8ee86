/* SPDX-License-Identifier: MIT */
/* What the files of mma share. */
#ifndef CUSHIM_SIM_PTX_OPS_OPS_MMA_H
#define CUSHIM_SIM_PTX_OPS_OPS_MMA_H

#include <stdint.h>

#include "ptx/ops/exec.h"
#include "ptx/ops/float_bits.h"
#include "ptx/ops/ops.h"

static inline const uint32_t *ops_mma_list(const struct ptx_step *step)
{
    return step->list ? step->list : step->operand;
}

/* Registers of a: the distance to those of b, and so on. Behind c there are metadata and selector
 * if a is sparse, and the mask. */
static inline unsigned ops_mma_registers(const struct ptx_step *step, unsigned which)
{
    const struct how_mma *how = &step->how.mma;
    const unsigned end = step->list_count - (how->sparse ? 3U : 1U);
    return (which < 3 ? how->at[which + 1] : end) - how->at[which];
}

OPS_INLINE uint32_t ops_mma_f32(float sum)
{
    const uint32_t bits = f32_bits(sum);
    return f32_is_nan(bits) ? F32_NAN : bits;
}

#endif
