/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_MEMORY_STORE_ASYNC_H
#define CUSHIM_SIM_PTX_MEMORY_STORE_ASYNC_H

#include "ptx/ops/exec.h"

ptx_run store_async, store_async_bulk;

#endif
