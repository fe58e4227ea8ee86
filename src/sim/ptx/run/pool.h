/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_RUN_POOL_H
#define CUSHIM_SIM_PTX_RUN_POOL_H

struct launch;

void pool_run(struct launch *launch, unsigned workers);
unsigned pool_cores(void);

#endif
