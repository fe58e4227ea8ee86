/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_MEMORY_TENSOR_H
#define CUSHIM_SIM_PTX_MEMORY_TENSOR_H

#include "ptx/ops/exec.h"

enum tensor_way { TENSOR_LOAD, TENSOR_STORE, TENSOR_REDUCE, TENSOR_PREFETCH };
/* What is at the front of a step's list; coordinates and offsets follow. */
enum tensor_operand {
    TENSOR_MAP,
    TENSOR_TILE,       /* in shared memory */
    TENSOR_BARRIER,    /* of a load */
    TENSOR_BARRIER_AT, /* its offset */
    TENSOR_BLOCKS,     /* of a multicast: a bit for each block of the cluster */
    TENSOR_COORDINATES
};

ptx_run tensor_copy;

#endif
