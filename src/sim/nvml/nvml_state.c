/* SPDX-License-Identifier: MIT */
/* How busy a device is, with power, temperature and fans that follow. */
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

/* ---- power, in milliwatts */

unsigned sim_nvml_power_most(void)
{
    return 1000 * sim_nvml_facts()->watts;
}

unsigned sim_nvml_power_least(void)
{
    return sim_nvml_power_most() / 7 * 2;
}

static unsigned idle_power(void)
{
    return sim_nvml_power_most() / 10;
}

unsigned sim_nvml_power_limit(nvmlDevice_t device)
{
    unsigned limit = sim_nvml_get(device, SIM_NVML_POWER_LIMIT);
    return limit ? limit : sim_nvml_power_most();
}

unsigned sim_nvml_power(nvmlDevice_t device)
{
    return idle_power() +
           (sim_nvml_power_limit(device) - idle_power()) / 100 * sim_nvml_busy(device);
}

/* Since the machine started, as if it had been idle but for the kernels that ran here. */
unsigned long long sim_nvml_energy(nvmlDevice_t device)
{
    uint64_t busy_ms = atomic_load(&sim_usage_board(device->number)->busy_ns) / 1000000;
    return sim_clock_ns() / 1000000 * idle_power() / 1000 +
           busy_ms * (sim_nvml_power_limit(device) - idle_power()) / 1000;
}

/* ---- temperature, in degrees Celsius */

static const unsigned thresholds[] = {
    [NVML_TEMPERATURE_THRESHOLD_SHUTDOWN] = 95,
    [NVML_TEMPERATURE_THRESHOLD_SLOWDOWN] = 89,
    [NVML_TEMPERATURE_THRESHOLD_MEM_MAX] = 95,
    [NVML_TEMPERATURE_THRESHOLD_GPU_MAX] = 87,
};

unsigned sim_nvml_temperature(nvmlDevice_t device)
{
    return 32 + sim_nvml_busy(device) * 35 / 100;
}

nvmlReturn_t sim_nvmlDeviceGetMarginTemperature(nvmlDevice_t device,
                                                nvmlMarginTemperature_t *marginTempInfo)
{
    marginTempInfo->marginTemperature =
        (int)thresholds[NVML_TEMPERATURE_THRESHOLD_GPU_MAX] - (int)sim_nvml_temperature(device);
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device,
                                                   nvmlTemperatureThresholds_t thresholdType,
                                                   unsigned int *temp)
{
    (void)device;
    if ((unsigned)thresholdType >= sizeof thresholds / sizeof *thresholds)
        return NVML_ERROR_NOT_SUPPORTED;
    *temp = thresholds[thresholdType];
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetThermalSettings(nvmlDevice_t device, unsigned int sensorIndex,
                                              nvmlGpuThermalSettings_t *settings)
{
    (void)sensorIndex;
    *settings = (nvmlGpuThermalSettings_t){.count = 1};
    settings->sensor[0].controller = NVML_THERMAL_CONTROLLER_GPU_INTERNAL;
    settings->sensor[0].defaultMaxTemp = (int)thresholds[NVML_TEMPERATURE_THRESHOLD_GPU_MAX];
    settings->sensor[0].currentTemp = (int)sim_nvml_temperature(device);
    settings->sensor[0].target = NVML_THERMAL_TARGET_GPU;
    return NVML_SUCCESS;
}

/* ---- fans */

unsigned sim_nvml_fan(nvmlDevice_t device)
{
    return 30 + sim_nvml_busy(device) / 2;
}
