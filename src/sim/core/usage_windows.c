/* SPDX-License-Identifier: MIT */
/* Windows has no simulated NVML, for which usage is noted elsewhere. */
#include "core/core.h"

#include <stddef.h>

struct sim_usage *sim_usage_all(void)
{
    return NULL;
}

void sim_usage_note(int physical, uint64_t bytes, bool contexts)
{
    (void)physical, (void)bytes, (void)contexts;
}

void sim_usage_kernel_begin(int physical)
{
    (void)physical;
}

void sim_usage_kernel_end(int physical)
{
    (void)physical;
}
