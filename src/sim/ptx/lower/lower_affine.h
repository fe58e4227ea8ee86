/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_LOWER_LOWER_AFFINE_H
#define CUSHIM_SIM_PTX_LOWER_LOWER_AFFINE_H

struct lower;

/* lower_affine.c: the entry's steps for whole warps, from the general ones with their places. */
void lower_affine(struct lower *lower);

#endif
