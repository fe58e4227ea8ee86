/* SPDX-License-Identifier: MIT */
/* Clocks, in MHz: those of the profile, but for what a program asks for or locks. */
#include <stdio.h>

#include "nvml/nvml.h"

#define STEP 15

unsigned sim_nvml_clock_most(nvmlClockType_t type)
{
    unsigned own = (unsigned)SIM_ATTRIBUTE(CLOCK_RATE) / 1000;
    return type == NVML_CLOCK_MEM     ? (unsigned)SIM_ATTRIBUTE(MEMORY_CLOCK_RATE) / 1000
           : type == NVML_CLOCK_VIDEO ? own * 78 / 100 /* as on an H100 */
                                      : own;
}

unsigned sim_nvml_clock(nvmlDevice_t device, nvmlClockType_t type)
{
    uint32_t asked = sim_nvml_get(device, SIM_NVML_GRAPHICS_CLOCK);
    uint32_t locked = sim_nvml_get(device, SIM_NVML_LOCKED_MOST);
    unsigned clock = sim_nvml_clock_most(type);
    if (type != NVML_CLOCK_GRAPHICS && type != NVML_CLOCK_SM)
        return clock;
    if (asked && asked < clock)
        clock = asked;
    return locked && locked < clock ? locked : clock;
}

/* What a program has asked for. */
unsigned sim_nvml_clock_asked(nvmlDevice_t device, nvmlClockType_t type)
{
    uint32_t asked = sim_nvml_get(device, type == NVML_CLOCK_MEM ? SIM_NVML_MEMORY_CLOCK
                                                                 : SIM_NVML_GRAPHICS_CLOCK);
    return asked ? asked : sim_nvml_clock_most(type);
}

SIM_NVML(nvmlDeviceGetSupportedMemoryClocks)
{
    unsigned room = *count;
    *count = 1;
    SIM_NVML_FAIL(INSUFFICIENT_SIZE, room < 1);
    SIM_NVML_FAIL(INVALID_ARGUMENT, !clocksMHz);
    *clocksMHz = sim_nvml_clock_most(NVML_CLOCK_MEM);
    return NVML_SUCCESS;
}

SIM_NVML(nvmlDeviceGetSupportedGraphicsClocks)
{
    unsigned room = *count, highest = sim_nvml_clock_most(NVML_CLOCK_GRAPHICS);
    SIM_NVML_FAIL(NOT_FOUND, memoryClockMHz != sim_nvml_clock_most(NVML_CLOCK_MEM));
    *count = (highest - SIM_NVML_CLOCK_LEAST) / STEP + 1;
    SIM_NVML_FAIL(INSUFFICIENT_SIZE, room < *count);
    SIM_NVML_FAIL(INVALID_ARGUMENT, !clocksMHz);
    for (unsigned i = 0; i < *count; i++)
        clocksMHz[i] = highest - STEP * i;
    return NVML_SUCCESS;
}

/* The limits may be NVML_CLOCK_LIMIT_ID_*, too: the greatest numbers of their type. */
SIM_NVML(nvmlDeviceSetGpuLockedClocks)
{
    unsigned highest = sim_nvml_clock_most(NVML_CLOCK_GRAPHICS);
    unsigned high = maxGpuClockMHz < NVML_CLOCK_LIMIT_ID_RANGE_START ? maxGpuClockMHz : highest;
    SIM_NVML_FAIL(INVALID_ARGUMENT,
                  minGpuClockMHz < NVML_CLOCK_LIMIT_ID_RANGE_START && minGpuClockMHz > high);
    sim_nvml_set(device, SIM_NVML_LOCKED_LEAST, minGpuClockMHz);
    return sim_nvml_set(device, SIM_NVML_LOCKED_MOST,
                        high < SIM_NVML_CLOCK_LEAST ? SIM_NVML_CLOCK_LEAST : high);
}

/* ---- performance states: one */

SIM_NVML(nvmlDeviceGetSupportedPerformanceStates)
{
    SIM_NVML_FAIL(INSUFFICIENT_SIZE, size < sizeof *pstates);
    for (unsigned i = 0; i < size / sizeof *pstates; i++)
        pstates[i] = i == 0 ? NVML_PSTATE_0 : NVML_PSTATE_UNKNOWN;
    return NVML_SUCCESS;
}

SIM_NVML(nvmlDeviceGetCurrentClockFreqs)
{
    snprintf(currentClockFreqs->str, sizeof currentClockFreqs->str,
             "perf=0, nvclock=%u, nvclockmin=%u, nvclockmax=%u, "
             "memclock=%u",
             sim_nvml_clock(device, NVML_CLOCK_GRAPHICS), SIM_NVML_CLOCK_LEAST,
             sim_nvml_clock_most(NVML_CLOCK_GRAPHICS), sim_nvml_clock_most(NVML_CLOCK_MEM));
    return NVML_SUCCESS;
}

SIM_NVML(nvmlDeviceGetPerformanceModes)
{
    snprintf(perfModes->str, sizeof perfModes->str,
             "perf=0, nvclockmin=%u, nvclockmax=%u, memclock=%u", SIM_NVML_CLOCK_LEAST,
             sim_nvml_clock_most(NVML_CLOCK_GRAPHICS), sim_nvml_clock_most(NVML_CLOCK_MEM));
    return NVML_SUCCESS;
}
