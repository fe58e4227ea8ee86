/* SPDX-License-Identifier: MIT */
/* Clocks, in MHz: those of the profile, but for what a program asks for or locks. */
#include <stdio.h>
#include <string.h>

#include "nvml/nvml.h"

#define LEAST 210
#define STEP 15

static unsigned most(nvmlClockType_t type)
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
    unsigned clock = most(type);
    if (type != NVML_CLOCK_GRAPHICS && type != NVML_CLOCK_SM)
        return clock;
    if (asked && asked < clock)
        clock = asked;
    return locked && locked < clock ? locked : clock;
}

static bool is_type(nvmlClockType_t type)
{
    return (unsigned)type < NVML_CLOCK_COUNT;
}

#define CLOCK(entry, value)                                                                        \
    nvmlReturn_t sim_##entry(nvmlDevice_t device, nvmlClockType_t type, unsigned int *clock)       \
    {                                                                                              \
        (void)device;                                                                              \
        if (!is_type(type))                                                                        \
            return NVML_ERROR_INVALID_ARGUMENT;                                                    \
        *clock = value;                                                                            \
        return NVML_SUCCESS;                                                                       \
    }
CLOCK(nvmlDeviceGetClockInfo, sim_nvml_clock(device, type))
CLOCK(nvmlDeviceGetMaxClockInfo, most(type))

/* Clocks for applications, which GeForce cards have not. */
static nvmlReturn_t of_application(nvmlClockType_t type, unsigned value, unsigned *clock)
{
    if (!is_type(type))
        return NVML_ERROR_INVALID_ARGUMENT;
    if (!sim_nvml_facts()->ecc || type == NVML_CLOCK_VIDEO)
        return NVML_ERROR_NOT_SUPPORTED;
    *clock = value;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetApplicationsClock(nvmlDevice_t device, nvmlClockType_t clockType,
                                                unsigned int *clockMHz)
{
    uint32_t asked = sim_nvml_get(device, clockType == NVML_CLOCK_MEM ? SIM_NVML_MEMORY_CLOCK
                                                                      : SIM_NVML_GRAPHICS_CLOCK);
    return of_application(clockType, asked ? asked : most(clockType), clockMHz);
}

nvmlReturn_t sim_nvmlDeviceGetDefaultApplicationsClock(nvmlDevice_t device,
                                                       nvmlClockType_t clockType,
                                                       unsigned int *clockMHz)
{
    (void)device;
    return of_application(clockType, most(clockType), clockMHz);
}

nvmlReturn_t sim_nvmlDeviceGetMaxCustomerBoostClock(nvmlDevice_t device, nvmlClockType_t clockType,
                                                    unsigned int *clockMHz)
{
    (void)device;
    return of_application(clockType, most(clockType), clockMHz);
}

nvmlReturn_t sim_nvmlDeviceGetClock(nvmlDevice_t device, nvmlClockType_t clockType,
                                    nvmlClockId_t clockId, unsigned int *clockMHz)
{
    switch (clockId) {
    case NVML_CLOCK_ID_CURRENT:
        return sim_nvmlDeviceGetClockInfo(device, clockType, clockMHz);
    case NVML_CLOCK_ID_APP_CLOCK_TARGET:
        return sim_nvmlDeviceGetApplicationsClock(device, clockType, clockMHz);
    case NVML_CLOCK_ID_APP_CLOCK_DEFAULT:
        return sim_nvmlDeviceGetDefaultApplicationsClock(device, clockType, clockMHz);
    case NVML_CLOCK_ID_CUSTOMER_BOOST_MAX:
        return sim_nvmlDeviceGetMaxCustomerBoostClock(device, clockType, clockMHz);
    default:
        return NVML_ERROR_INVALID_ARGUMENT;
    }
}

nvmlReturn_t sim_nvmlDeviceGetSupportedMemoryClocks(nvmlDevice_t device, unsigned int *count,
                                                    unsigned int *clocksMHz)
{
    unsigned room = *count;
    (void)device;
    *count = 1;
    if (room < 1)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    if (!clocksMHz)
        return NVML_ERROR_INVALID_ARGUMENT;
    *clocksMHz = most(NVML_CLOCK_MEM);
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetSupportedGraphicsClocks(nvmlDevice_t device,
                                                      unsigned int memoryClockMHz,
                                                      unsigned int *count, unsigned int *clocksMHz)
{
    unsigned room = *count, highest = most(NVML_CLOCK_GRAPHICS);
    (void)device;
    if (memoryClockMHz != most(NVML_CLOCK_MEM))
        return NVML_ERROR_NOT_FOUND;
    *count = (highest - LEAST) / STEP + 1;
    if (room < *count)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    if (!clocksMHz)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 0; i < *count; i++)
        clocksMHz[i] = highest - STEP * i;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceSetApplicationsClocks(nvmlDevice_t device, unsigned int memClockMHz,
                                                 unsigned int graphicsClockMHz)
{
    if (!sim_nvml_facts()->ecc)
        return NVML_ERROR_NOT_SUPPORTED;
    if (memClockMHz != most(NVML_CLOCK_MEM) || graphicsClockMHz < LEAST ||
        graphicsClockMHz > most(NVML_CLOCK_GRAPHICS))
        return NVML_ERROR_INVALID_ARGUMENT;
    sim_nvml_set(device, SIM_NVML_MEMORY_CLOCK, memClockMHz);
    sim_nvml_set(device, SIM_NVML_GRAPHICS_CLOCK, graphicsClockMHz);
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceResetApplicationsClocks(nvmlDevice_t device)
{
    sim_nvml_set(device, SIM_NVML_MEMORY_CLOCK, 0);
    sim_nvml_set(device, SIM_NVML_GRAPHICS_CLOCK, 0);
    return NVML_SUCCESS;
}

/* The limits may be NVML_CLOCK_LIMIT_ID_*, too: the greatest numbers of their type. */
nvmlReturn_t sim_nvmlDeviceSetGpuLockedClocks(nvmlDevice_t device, unsigned int minGpuClockMHz,
                                              unsigned int maxGpuClockMHz)
{
    unsigned highest = most(NVML_CLOCK_GRAPHICS);
    unsigned high = maxGpuClockMHz < NVML_CLOCK_LIMIT_ID_RANGE_START ? maxGpuClockMHz : highest;
    if (minGpuClockMHz < NVML_CLOCK_LIMIT_ID_RANGE_START && minGpuClockMHz > high)
        return NVML_ERROR_INVALID_ARGUMENT;
    sim_nvml_set(device, SIM_NVML_LOCKED_LEAST, minGpuClockMHz);
    sim_nvml_set(device, SIM_NVML_LOCKED_MOST, high < LEAST ? LEAST : high);
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceResetGpuLockedClocks(nvmlDevice_t device)
{
    sim_nvml_set(device, SIM_NVML_LOCKED_LEAST, 0);
    sim_nvml_set(device, SIM_NVML_LOCKED_MOST, 0);
    return NVML_SUCCESS;
}

/* Memory has one clock. */
nvmlReturn_t sim_nvmlDeviceSetMemoryLockedClocks(nvmlDevice_t device, unsigned int minMemClockMHz,
                                                 unsigned int maxMemClockMHz)
{
    (void)device;
    return minMemClockMHz <= maxMemClockMHz ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t sim_nvmlDeviceResetMemoryLockedClocks(nvmlDevice_t device)
{
    (void)device;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetClkMonStatus(nvmlDevice_t device, nvmlClkMonStatus_t *status)
{
    (void)device;
    *status = (nvmlClkMonStatus_t){0};
    return NVML_SUCCESS;
}

SIM_NUMBER(nvmlDeviceGetAdaptiveClockInfoStatus, unsigned int,
           NVML_ADAPTIVE_CLOCKING_INFO_STATUS_DISABLED)

/* ---- why clocks are as they are */

#define REASONS                                                                                    \
    (nvmlClocksEventReasonGpuIdle | nvmlClocksEventReasonApplicationsClocksSetting |               \
     nvmlClocksEventReasonSwPowerCap | nvmlClocksThrottleReasonHwSlowdown |                        \
     nvmlClocksEventReasonSyncBoost | nvmlClocksEventReasonSwThermalSlowdown |                     \
     nvmlClocksThrottleReasonHwThermalSlowdown | nvmlClocksThrottleReasonHwPowerBrakeSlowdown)

static unsigned long long reasons(nvmlDevice_t device)
{
    unsigned long long found =
        sim_nvml_busy(device) ? 0ULL : (unsigned long long)nvmlClocksEventReasonGpuIdle;
    if (sim_nvml_get(device, SIM_NVML_GRAPHICS_CLOCK))
        found |= nvmlClocksEventReasonApplicationsClocksSetting;
    return found;
}

SIM_NUMBER(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long, reasons(device))
SIM_NUMBER(nvmlDeviceGetCurrentClocksEventReasons, unsigned long long, reasons(device))
SIM_NUMBER(nvmlDeviceGetSupportedClocksThrottleReasons, unsigned long long, REASONS)
SIM_NUMBER(nvmlDeviceGetSupportedClocksEventReasons, unsigned long long, REASONS)

/* ---- performance states: one */

SIM_NUMBER(nvmlDeviceGetPerformanceState, nvmlPstates_t, NVML_PSTATE_0)
SIM_NUMBER(nvmlDeviceGetPowerState, nvmlPstates_t, NVML_PSTATE_0)

nvmlReturn_t sim_nvmlDeviceGetSupportedPerformanceStates(nvmlDevice_t device,
                                                         nvmlPstates_t *pstates, unsigned int size)
{
    (void)device;
    if (size < sizeof *pstates)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    for (unsigned i = 0; i < size / sizeof *pstates; i++)
        pstates[i] = i == 0 ? NVML_PSTATE_0 : NVML_PSTATE_UNKNOWN;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetMinMaxClockOfPState(nvmlDevice_t device, nvmlClockType_t type,
                                                  nvmlPstates_t pstate, unsigned int *minClockMHz,
                                                  unsigned int *maxClockMHz)
{
    (void)device;
    if (!is_type(type) || (pstate > NVML_PSTATE_15 && pstate != NVML_PSTATE_UNKNOWN))
        return NVML_ERROR_INVALID_ARGUMENT;
    if (pstate != NVML_PSTATE_0)
        return NVML_ERROR_NOT_SUPPORTED;
    *minClockMHz = type == NVML_CLOCK_MEM ? most(type) : LEAST;
    *maxClockMHz = most(type);
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetCurrentClockFreqs(nvmlDevice_t device,
                                                nvmlDeviceCurrentClockFreqs_t *freqs)
{
    snprintf(freqs->str, sizeof freqs->str,
             "perf=0, nvclock=%u, nvclockmin=%u, nvclockmax=%u, "
             "memclock=%u",
             sim_nvml_clock(device, NVML_CLOCK_GRAPHICS), LEAST, most(NVML_CLOCK_GRAPHICS),
             most(NVML_CLOCK_MEM));
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetPerformanceModes(nvmlDevice_t device, nvmlDevicePerfModes_t *modes)
{
    (void)device;
    snprintf(modes->str, sizeof modes->str, "perf=0, nvclockmin=%u, nvclockmax=%u, memclock=%u",
             LEAST, most(NVML_CLOCK_GRAPHICS), most(NVML_CLOCK_MEM));
    return NVML_SUCCESS;
}
