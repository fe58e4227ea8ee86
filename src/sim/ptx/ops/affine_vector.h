/* SPDX-License-Identifier: MIT */
/* From affine values to vectors, and out of teams. */
#ifndef CUSHIM_SIM_PTX_OPS_AFFINE_VECTOR_H
#define CUSHIM_SIM_PTX_OPS_AFFINE_VECTOR_H

#include "ptx/ops/affine.h"

/* The form that operand 1 has, as vectors in operand 0. */
affine_run affine_vector_spread_32, affine_vector_spread_64;
/* The step's `form`, and its result also as vectors in operand 5. */
affine_run affine_vector_both_32, affine_vector_both_64;

void affine_vector_make(const struct ptx_team *team, const struct affine *form, uint32_t to,
                        bool wide);
const struct ptx_step *affine_vector_general(const struct ptx_warp *warp,
                                             const struct ptx_step *step);
const struct ptx_step *affine_vector_leave(const struct ptx_team *team,
                                           const struct ptx_step *step);
void affine_vector_part(const struct ptx_team *team, const struct ptx_step *step);

#endif
