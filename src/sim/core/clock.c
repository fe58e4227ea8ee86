/* SPDX-License-Identifier: MIT */
#include "core/core.h"

#include <time.h>

uint64_t sim_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}
