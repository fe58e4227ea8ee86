/* SPDX-License-Identifier: MIT */
/* The 128 bytes of a map, as kernels reach them. ptx.h has the rest. */
#ifndef CUSHIM_SIM_PTX_MEMORY_TENSOR_MAP_H
#define CUSHIM_SIM_PTX_MEMORY_TENSOR_MAP_H

#include "ptx/ops/exec.h"
#include "ptx/ptx.h"

/* The bytes at an address; NULL after a fault. */
char *tensor_map_at(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                    enum ptx_space space, uint64_t address, bool write);

ptx_run tensor_map_replace, tensor_map_copy; /* tensormap.replace, .cp_fenceproxy */

#endif
