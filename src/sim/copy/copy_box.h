/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_COPY_COPY_BOX_H
#define CUSHIM_SIM_COPY_COPY_BOX_H

#include "sim.h"

struct sim_copy;

CUresult sim_copy_box(struct sim_copy *copy, const CUDA_MEMCPY3D_v2 *parameters);
CUresult sim_copy_box_peer(struct sim_copy *copy, const CUDA_MEMCPY3D_PEER_v1 *parameters);

#endif
