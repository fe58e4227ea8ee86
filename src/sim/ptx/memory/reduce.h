/* SPDX-License-Identifier: MIT */
/* Reductions of many elements in memory: bulk copies, and asynchronous ones of a single value. */
#ifndef CUSHIM_SIM_PTX_MEMORY_REDUCE_H
#define CUSHIM_SIM_PTX_MEMORY_REDUCE_H

#include <stdbool.h>

#include "ptx/ops/exec.h"
#include "ptx/read/ir.h"

/* Combine the element at `from` into that at `at`, atomically; both are aligned. */
typedef void reduce_one(void *at, const void *from, bool global);
/* NULL: the type has no such operation. */
reduce_one *reduce_select(enum ir_type type, enum ir_atomic operation);

ptx_run reduce_bulk_global, reduce_bulk_shared; /* cp.reduce.async.bulk */
ptx_run reduce_async;                           /* red.async */

#endif
