/* SPDX-License-Identifier: MIT */
/* Warps, blocks and launches under way. */
#ifndef CUSHIM_SIM_PTX_RUN_RUN_H
#define CUSHIM_SIM_PTX_RUN_RUN_H

#include "ptx/memory/memory.h"

struct launch;
struct ptx_frame;

/* For the groups of lanes of all warps of a block that are under way. */
#define FOR_GROUPS(block, state, group)                                                            \
    for (struct ptx_warp_state *state = (block)->warps;                                            \
         state < (block)->warps + (block)->warp_count; state++)                                    \
        for (struct group *group = state->groups;                                                  \
             state->begun && !state->done && group < state->groups + state->group_count; group++)

/* --- barrier.c --- */
void barrier_arrive(struct ptx_warp_state *state, const struct ptx_step *step, uint32_t mask);
void barrier_exited(struct ptx_block *block);
void barrier_report(struct ptx_block *block);
void barrier_cluster(struct ptx_warp_state *state, const struct ptx_step *step, uint32_t mask);

/* --- block.c --- */
void block_worker(struct launch *launch);

/* --- call.c --- */
void call_enter(struct ptx_warp_state *state, const struct ptx_step *step, uint32_t mask);
void call_return(struct ptx_warp_state *state, uint32_t mask);
void call_lanes_exit(struct ptx_warp_state *state, uint32_t mask);
bool call_entries(struct ptx_block *block); /* false: there is no memory */
bool call_warp_begin(struct ptx_warp_state *state);
void call_warp_end(struct ptx_warp_state *state);

/* --- pool.c --- */
void pool_run(struct launch *launch, unsigned workers);
unsigned pool_cores(void);

/* --- schedule.c --- */
bool schedule_choose(struct ptx_warp_state *state);
bool schedule_is_alone(const struct ptx_warp_state *state); /* no other group could run now */
void schedule_add(struct ptx_warp_state *state, uint32_t mask, const struct ptx_step *pc,
                  struct ptx_frame *frame);
/* Lanes of the running group go to a place: all of it, or as a new one. Which one they are. */
static inline struct group *schedule_move(struct ptx_warp_state *state, uint32_t mask,
                                          const struct ptx_step *pc, struct ptx_frame *frame)
{
    struct group *group = &state->groups[state->current];

    if (group->mask == mask) {
        group->pc = pc;
        group->frame = frame;
        return group;
    }
    group->mask &= ~mask;
    schedule_add(state, mask, pc, frame);
    return &state->groups[state->group_count - 1];
}

void schedule_take(struct ptx_warp_state *state, unsigned index, uint32_t mask);
bool schedule_sync_passes(struct ptx_warp_state *state, const struct ptx_step *step, uint32_t mask);
/* Of each lane, the lanes that a CONTROL_SYNC step is for. */
const reg32 *schedule_members(const struct ptx_warp *warp, const struct ptx_step *step);

/* --- stop.c --- */
/* The number of a launch that begins, above those of all before. */
uint64_t stop_number(void);
/* Does a request for it hold now? */
bool stop_due(uint64_t number);

/* --- warp.c --- */
#define WARP_BUDGET 4096 /* backward jumps of a warp before others have a turn */

/* How a warp's turn ended. */
enum slice { SLICE_BLOCKED, SLICE_BUDGET, SLICE_SPIN, SLICE_DONE, SLICE_STOP, SLICE_PARTED };
enum slice warp_run(struct ptx_warp_state *state);

/* --- team.c --- */
/* Let `count` warps, neighbours, go on together. SLICE_PARTED: from here on each is a team alone,
 * or where it was one, it is none any more. */
enum slice team_run(struct ptx_warp_state *warps, uint32_t count);

#endif
