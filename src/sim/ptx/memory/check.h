/* SPDX-License-Identifier: MIT */
/* What is wrong with a kernel and goes unnoticed otherwise: races, reads of what nothing wrote,
 * instructions for several lanes that name the wrong ones. Only in launches that are checked. */
#ifndef CUSHIM_SIM_PTX_MEMORY_CHECK_H
#define CUSHIM_SIM_PTX_MEMORY_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/memory/memory.h"

struct launch;
struct ptx_block;
struct ptx_step;
struct ptx_warp;
struct ptx_warp_state;

unsigned check_wanted(void); /* as ptx_checks has it */

/* False: no memory. */
bool check_begin(struct launch *launch);
void check_end(struct launch *launch);
bool check_block_begin(struct ptx_block *block);
void check_block_end(struct ptx_block *block);

/* Each lane of `mask` reads or writes `size` bytes, before it does so. */
void check_access(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask,
                  enum memory_space space, uint32_t size, bool write, const struct access *access);
/* The same of one lane, where nobody else is compared with. */
void check_touch(struct ptx_warp *warp, const struct ptx_step *step, const char *host,
                 uint64_t size, bool write);
/* What a warp did is before what those do that leave the barrier after it. */
void check_arrive(struct ptx_warp_state *state, unsigned barrier);
void check_leave(struct ptx_warp_state *state, unsigned barrier);
void check_open(struct ptx_block *block, unsigned barrier); /* all have left */
/* An instruction for the lanes that `members` names, one set for each lane. */
void check_sync(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask,
                const reg32 *members);

#endif
