/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_RUN_WARP_H
#define CUSHIM_SIM_PTX_RUN_WARP_H

struct ptx_warp_state;

/* How a warp's turn ended. */
enum slice { SLICE_BLOCKED, SLICE_BUDGET, SLICE_SPIN, SLICE_DONE, SLICE_STOP };
enum slice warp_run(struct ptx_warp_state *state);

#endif
