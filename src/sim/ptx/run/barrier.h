/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_RUN_BARRIER_H
#define CUSHIM_SIM_PTX_RUN_BARRIER_H

#include <stdint.h>

struct ptx_block;
struct ptx_step;
struct ptx_warp_state;

void barrier_arrive(struct ptx_warp_state *state, const struct ptx_step *step, uint32_t mask);
void barrier_exited(struct ptx_block *block);
void barrier_report(struct ptx_block *block);
void barrier_cluster(struct ptx_warp_state *state, const struct ptx_step *step, uint32_t mask);

#endif
