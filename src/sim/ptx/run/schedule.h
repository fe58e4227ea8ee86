/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_RUN_SCHEDULE_H
#define CUSHIM_SIM_PTX_RUN_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/ops/lanes.h"

struct ptx_frame;
struct ptx_step;
struct ptx_warp_state;

bool schedule_choose(struct ptx_warp_state *state);
bool schedule_is_alone(const struct ptx_warp_state *state); /* no other group could run now */
void schedule_add(struct ptx_warp_state *state, uint32_t mask, const struct ptx_step *pc,
                  struct ptx_frame *frame);
void schedule_take(struct ptx_warp_state *state, unsigned index, uint32_t mask);
bool schedule_sync_passes(struct ptx_warp_state *state, const struct ptx_step *step, uint32_t mask);
/* Of each lane, the lanes that a CONTROL_SYNC step is for. */
const reg32 *schedule_members(const struct ptx_warp *warp, const struct ptx_step *step);

#endif
