/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_LAUNCH_LAUNCH_CHECK_H
#define CUSHIM_SIM_LAUNCH_LAUNCH_CHECK_H

#include "sim.h"

struct sim_function;
struct sim_launch_extras;

CUresult sim_launch_check_attributes(const CUlaunchAttribute *attributes, unsigned count,
                                     struct sim_launch_extras *extras);
/* Grid, block, shared memory, cluster: the code of the first that the device does not take. */
CUresult sim_launch_check(const struct sim_function *function,
                          const CUDA_KERNEL_NODE_PARAMS_v2 *params,
                          const struct sim_launch_extras *extras);

#endif
