/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_COPY_COPY_LINE_H
#define CUSHIM_SIM_COPY_COPY_LINE_H

#include "sim.h"

struct sim_side;

/* What the caller says that an address is; UNIFIED: whatever it is. */
CUresult sim_copy_line_side(struct sim_side *side, CUmemorytype type, uint64_t address, size_t size,
                            bool write);
/* A synchronous copy between contexts follows all that is pending in both, and is done when the
 * call returns ("cuMemcpyPeer" of the driver API's manual). NULL: the current one. */
CUresult sim_copy_line_settle(CUcontext one, CUcontext other);

#endif
