/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_MEMORY_STREAM_VALUE_H
#define CUSHIM_SIM_MEMORY_STREAM_VALUE_H

#include "sim.h"

struct sim_context;
struct sim_item;

/* The operations, checked and copied. */
CUresult sim_stream_value_prepare(struct sim_context *context, unsigned count,
                                  const CUstreamBatchMemOpParams *params, unsigned flags,
                                  struct sim_item *item);

#endif
