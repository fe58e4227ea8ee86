/* SPDX-License-Identifier: MIT */
/* Steps about where a thread is: special registers, addresses of its memory, its stack. */
#ifndef CUSHIM_SIM_PTX_OPS_SPECIAL_H
#define CUSHIM_SIM_PTX_OPS_SPECIAL_H

#include "ptx/ops/exec.h"

ptx_run special_alloca, special_fence, special_getctarank, special_isspacep, special_local_address,
    special_mapa, special_reference, special_shared_address, special_32, special_64,
    special_stackrestore, special_stacksave, special_tid, special_window;
uint64_t special_of_grid(const struct ptx_warp *warp, const struct how_special *special);
uint64_t special_time(void); /* CLOCK_MONOTONIC, ns */

#endif
