/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_COPY_FILL_H
#define CUSHIM_SIM_COPY_FILL_H

#include "sim.h"

struct sim_context;
struct sim_item;

/* A fill: width in elements, as graph nodes say it: item->params.memset. */
CUresult sim_fill_prepare(struct sim_context *context, const CUDA_MEMSET_NODE_PARAMS_v2 *fill,
                          struct sim_item *item);

#endif
