/* SPDX-License-Identifier: MIT */
/* How busy a device is, and the modes that a program may set. */
#include <string.h>

#include "nvml/nvml.h"

/* ---- utilisation */

static unsigned percent_of(uint64_t busy, uint64_t now)
{
    uint64_t time = now - sim_usage_since(now);
    uint64_t percent = time ? 100 * busy / time : 0;
    return percent < 100 ? (unsigned)percent : 100;
}

unsigned sim_nvml_busy_of(struct sim_usage_device *use)
{
    uint64_t now = sim_clock_ns();
    return percent_of(sim_usage_recent(use, now), now);
}

struct recent {
    uint64_t now, busy;
};

static void add_recent(struct sim_usage *place, struct sim_usage_device *use, void *user)
{
    struct recent *recent = user;
    (void)place;
    recent->busy += sim_usage_recent(use, recent->now);
}

unsigned sim_nvml_busy(nvmlDevice_t device)
{
    struct recent recent = {.now = sim_clock_ns()};
    sim_nvml_visit(device, add_recent, &recent);
    return percent_of(recent.busy, recent.now);
}

nvmlReturn_t sim_nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *utilization)
{
    utilization->gpu = sim_nvml_busy(device);
    utilization->memory = utilization->gpu / 2;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetDynamicPstatesInfo(nvmlDevice_t device,
                                                 nvmlGpuDynamicPstatesInfo_t *info)
{
    *info = (nvmlGpuDynamicPstatesInfo_t){.flags = 1};
    info->utilization[NVML_GPU_UTILIZATION_DOMAIN_GPU].bIsPresent = 1;
    info->utilization[NVML_GPU_UTILIZATION_DOMAIN_GPU].percentage = sim_nvml_busy(device);
    info->utilization[NVML_GPU_UTILIZATION_DOMAIN_FB].bIsPresent = 1;
    info->utilization[NVML_GPU_UTILIZATION_DOMAIN_FB].percentage = sim_nvml_busy(device) / 2;
    return NVML_SUCCESS;
}

/* One sample, of now. */
nvmlReturn_t sim_nvmlDeviceGetSamples(nvmlDevice_t device, nvmlSamplingType_t type,
                                      unsigned long long lastSeenTimeStamp,
                                      nvmlValueType_t *sampleValType, unsigned int *sampleCount,
                                      nvmlSample_t *samples)
{
    unsigned room = *sampleCount, value;
    switch (type) {
    case NVML_TOTAL_POWER_SAMPLES:
        value = sim_nvml_power(device);
        break;
    case NVML_GPU_UTILIZATION_SAMPLES:
        value = sim_nvml_busy(device);
        break;
    case NVML_MEMORY_UTILIZATION_SAMPLES:
        value = sim_nvml_busy(device) / 2;
        break;
    case NVML_ENC_UTILIZATION_SAMPLES:
    case NVML_DEC_UTILIZATION_SAMPLES:
        value = 0;
        break;
    case NVML_PROCESSOR_CLK_SAMPLES:
        value = sim_nvml_clock(device, NVML_CLOCK_SM);
        break;
    case NVML_MEMORY_CLK_SAMPLES:
        value = sim_nvml_clock(device, NVML_CLOCK_MEM);
        break;
    default:
        return (unsigned)type < NVML_SAMPLINGTYPE_COUNT ? NVML_ERROR_NOT_SUPPORTED
                                                        : NVML_ERROR_INVALID_ARGUMENT;
    }
    if (!sampleValType)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (lastSeenTimeStamp >= sim_nvml_time_us())
        return NVML_ERROR_NOT_FOUND;
    *sampleValType = NVML_VALUE_TYPE_UNSIGNED_INT;
    *sampleCount = 1;
    if (!samples)
        return NVML_SUCCESS;
    if (room < 1)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    *samples = (nvmlSample_t){.timeStamp = sim_nvml_time_us(), .sampleValue.uiVal = value};
    return NVML_SUCCESS;
}

/* ---- modes */

nvmlReturn_t sim_nvmlDeviceSetAPIRestriction(nvmlDevice_t device, nvmlRestrictedAPI_t apiType,
                                             nvmlEnableState_t isRestricted)
{
    uint32_t bit = 1U << apiType, bits = sim_nvml_get(device, SIM_NVML_RESTRICTED);
    return sim_nvml_set(device, SIM_NVML_RESTRICTED, isRestricted ? bits | bit : bits & ~bit);
}
