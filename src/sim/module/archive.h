/* SPDX-License-Identifier: MIT */
/* Archives of host objects with device code, which the linker takes as libraries. */
#ifndef CUSHIM_SIM_MODULE_ARCHIVE_H
#define CUSHIM_SIM_MODULE_ARCHIVE_H

#include "sim.h"

struct ptx_text;
struct sim_image;

/* The PTX of all fatbins in an archive, as far as the device can take it; machine code is passed
 * over, so that what only it defines stays missing. For NVIDIA's libcudadevrt, which has no PTX for
 * most devices, a text of this driver's own stands.
 * CUDA_ERROR_UNKNOWN: no archive; CUDA_ERROR_INVALID_IMAGE: no device code in it. */
CUresult sim_archive_read(const void *data, size_t size, unsigned architecture,
                          struct sim_image *image, struct ptx_text *errors);

#endif
