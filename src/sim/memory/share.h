/* SPDX-License-Identifier: MIT */
/* Memory that other processes see. A block's bytes move into a file when it is first exported, so
 * that plain memory costs nothing for it. */
#ifndef CUSHIM_SIM_MEMORY_SHARE_H
#define CUSHIM_SIM_MEMORY_SHARE_H

#include "core/shared.h"
#include "memory/range.h"
#include "memory/virtual.h"

/* Let others open the block that begins at `address`, of the pool `owner` or of none (NULL). Waits
 * for all work of the process, if the block was not shared before. */
CUresult sim_share_block(uint64_t address, const struct sim_shared_id *owner,
                         struct sim_shared_token *token);
CUresult sim_share_physical(CUmemGenericAllocationHandle_v1 handle, struct sim_shared **shared);
/* The device that a file's memory is of; NULL: it is not visible here. */
struct sim_device *sim_share_device(const struct sim_shared *shared);
/* Whether a file, which anybody may have made, is of a device that is visible here and says that it
 * lies there, or of the host. */
bool sim_share_lies(const struct sim_shared *shared, CUmemLocation location);
/* Another process's block: `shared` is used up. */
CUresult sim_share_open(struct sim_context *context, enum sim_memory kind,
                        struct sim_shared *shared, struct sim_allocation **allocation);

#endif
