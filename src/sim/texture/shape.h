/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_TEXTURE_SHAPE_H
#define CUSHIM_SIM_TEXTURE_SHAPE_H

#include "sim.h"

struct sim_array;
struct sim_device;

CUresult sim_shape_check(const struct sim_device *device, const CUDA_ARRAY3D_DESCRIPTOR_v2 *shape,
                         bool mipmapped);
void sim_shape_measure(struct sim_array *array); /* sizes from the shape */
size_t sim_shape_bytes(const struct sim_array *array);

#endif
