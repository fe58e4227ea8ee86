/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_TEXTURE_VIEW_H
#define CUSHIM_SIM_TEXTURE_VIEW_H

#include "sim.h"

struct sim_view;

CUresult sim_view_make(const CUDA_RESOURCE_DESC_v1 *resource, const CUDA_TEXTURE_DESC_v1 *texture,
                       const CUDA_RESOURCE_VIEW_DESC_v1 *part, bool surface,
                       struct sim_view **view);

#endif
