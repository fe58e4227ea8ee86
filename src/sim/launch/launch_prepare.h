/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_LAUNCH_LAUNCH_PREPARE_H
#define CUSHIM_SIM_LAUNCH_LAUNCH_PREPARE_H

#include "sim.h"

struct sim_context;
struct sim_item;

/* A kernel. `params` and the attributes are checked and copied: item->params.kernel with
 * kernelParams pointing to copies of the arguments (extra NULL, or a copy of the packed buffer
 * where the caller used that form). Used by launches, graph nodes and graph instantiation. */
CUresult sim_launch_prepare(struct sim_context *context, const CUDA_KERNEL_NODE_PARAMS_v2 *params,
                            const CUlaunchAttribute *attributes, unsigned attribute_count,
                            struct sim_item *item);
/* Whether what the item's kernel needs (function, module) still exists. */
bool sim_launch_prepare_is_alive(const struct sim_item *item);
/* Whether the item's kernel uses texture references, which no capture takes. */
bool sim_launch_prepare_is_bound(const struct sim_item *item);
/* The kernel sees texture and surface references as they are bound now. */
void sim_launch_prepare_keep_bindings(const struct sim_item *item);

#endif
