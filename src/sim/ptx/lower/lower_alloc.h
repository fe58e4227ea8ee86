/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_LOWER_LOWER_ALLOC_H
#define CUSHIM_SIM_PTX_LOWER_LOWER_ALLOC_H

struct lower;

/* lower_alloc.c: liveness, places, and the steps' final operands. */
void lower_alloc_registers(struct lower *lower);

#endif
