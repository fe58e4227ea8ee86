/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_RUN_TEAM_H
#define CUSHIM_SIM_PTX_RUN_TEAM_H

#include <stdint.h>

#include "ptx/run/warp.h"

struct ptx_warp_state;

/* Let `count` warps, neighbours, go on together. SLICE_PARTED: from here on each is a team alone,
 * or where it was one, it is none any more. */
enum slice team_run(struct ptx_warp_state *warps, uint32_t count);

#endif
