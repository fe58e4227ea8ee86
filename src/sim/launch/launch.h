/* SPDX-License-Identifier: MIT */
/* One launch: what it asks for, and the kernel on its way through the queue. */
#ifndef CUSHIM_SIM_LAUNCH_LAUNCH_H
#define CUSHIM_SIM_LAUNCH_LAUNCH_H

#include "sim.h"

struct ptx_fault;
struct sim_context;
struct sim_device;
struct sim_function;
struct sim_item;

/* What the attributes of a launch ask for. */
struct sim_launch_extras {
    bool cooperative;
    uint32_t cluster[3]; /* 0: none */
};
/* Launch `params` in a stream of its handle. */
CUresult sim_launch(const CUDA_KERNEL_NODE_PARAMS_v2 *params, CUstream stream,
                    const CUlaunchAttribute *attributes, unsigned count);

#endif
