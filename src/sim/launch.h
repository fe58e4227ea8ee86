/* SPDX-License-Identifier: MIT */
/* One launch: what it asks for, and the kernel on its way through the queue. */
#ifndef CUSHIM_SIM_LAUNCH_H
#define CUSHIM_SIM_LAUNCH_H

#include "module.h"
#include "work.h"

/* What the attributes of a launch ask for. */
struct sim_launch_extras {
    bool cooperative;
    uint32_t cluster[3]; /* 0: none */
};
CUresult sim_launch_attributes(const CUlaunchAttribute *attributes, unsigned count,
                               struct sim_launch_extras *extras);
/* Grid, block, shared memory, cluster: the code of the first that the device does not take. */
CUresult sim_launch_check(const struct sim_function *function,
                          const CUDA_KERNEL_NODE_PARAMS_v2 *params,
                          const struct sim_launch_extras *extras);
/* Tell the user of a kernel's fault (launch_report.c). */
void sim_launch_report(const struct sim_device *device, const struct ptx_fault *fault,
                       CUresult code);
/* Launch `params` in a stream of its handle. */
CUresult sim_launch(const CUDA_KERNEL_NODE_PARAMS_v2 *params, CUstream stream,
                    const CUlaunchAttribute *attributes, unsigned count);

#endif
