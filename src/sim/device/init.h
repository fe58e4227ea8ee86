/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_DEVICE_INIT_H
#define CUSHIM_SIM_DEVICE_INIT_H

#include "sim.h"

/* CUDA_SUCCESS after cuInit succeeded in this very process, else what later calls answer. */
CUresult sim_init_state(void);
void sim_init_forget(void); /* as if cuInit was not called */

#endif
