/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_RUN_CALL_H
#define CUSHIM_SIM_PTX_RUN_CALL_H

#include <stdbool.h>
#include <stdint.h>

struct ptx_step;
struct ptx_warp_state;

void call_enter(struct ptx_warp_state *state, const struct ptx_step *step, uint32_t mask);
void call_return(struct ptx_warp_state *state, uint32_t mask);
void call_lanes_exit(struct ptx_warp_state *state, uint32_t mask);
bool call_warp_begin(struct ptx_warp_state *state);
void call_warp_end(struct ptx_warp_state *state);

#endif
