/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_MODULE_FATBIN_H
#define CUSHIM_SIM_MODULE_FATBIN_H

#include "sim.h"

struct ptx_text;

bool sim_fatbin_is(const void *data, size_t size);
/* The PTX text that fits the device best, unpacked; to be freed. */
CUresult sim_fatbin_read(const void *data, size_t size, unsigned architecture, char **text,
                         size_t *length, struct ptx_text *errors);
/* Unpack one payload of known kind into `to`: exactly `size` bytes, or false. */
bool sim_fatbin_unpack_lz4(const void *from, size_t packed, char *to, size_t size);
bool sim_fatbin_unpack_zstd(const void *from, size_t packed, char *to, size_t size);

#endif
