/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_TEXTURE_FORMAT_H
#define CUSHIM_SIM_TEXTURE_FORMAT_H

#include "sim.h"

struct sim_format;

/* NULL: no format that an array can have. */
const struct sim_format *sim_format(CUarray_format format);
/* Bytes of one element, or of a block; 0: the number of channels does not fit. */
size_t sim_format_size(CUarray_format format, unsigned channels);

#endif
