/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_RUN_BLOCK_H
#define CUSHIM_SIM_PTX_RUN_BLOCK_H

struct launch;

void block_worker(struct launch *launch);

#endif
