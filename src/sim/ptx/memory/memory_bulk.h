/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_MEMORY_MEMORY_BULK_H
#define CUSHIM_SIM_PTX_MEMORY_MEMORY_BULK_H

#include "ptx/ops/exec.h"

ptx_run memory_bulk_load, memory_bulk_peer, memory_bulk_store;

#endif
