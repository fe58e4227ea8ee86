/* SPDX-License-Identifier: MIT */
/* How busy a device is, with power and temperature that follow. */
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

unsigned sim_nvml_busy(nvmlDevice_t device)
{
    struct sim_usage *place;
    struct sim_usage_device *use;
    uint64_t now = sim_clock_ns(), busy = 0;
    for (int at = 0; (use = sim_nvml_next(device, &at, &place));)
        busy += sim_usage_recent(use, now);
    return percent_of(busy, now);
}

/* One sample, of now. */
SIM_NVML(nvmlDeviceGetSamples)
{
    const unsigned values[] = {[NVML_TOTAL_POWER_SAMPLES] = sim_nvml_power(device),
                               [NVML_GPU_UTILIZATION_SAMPLES] = sim_nvml_busy(device),
                               [NVML_MEMORY_UTILIZATION_SAMPLES] = sim_nvml_busy(device) / 2,
                               [NVML_ENC_UTILIZATION_SAMPLES] = 0,
                               [NVML_DEC_UTILIZATION_SAMPLES] = 0,
                               [NVML_PROCESSOR_CLK_SAMPLES] = sim_nvml_clock(device, NVML_CLOCK_SM),
                               [NVML_MEMORY_CLK_SAMPLES] = sim_nvml_clock(device, NVML_CLOCK_MEM)};
    unsigned room = *sampleCount;
    if ((size_t)type >= sizeof values / sizeof *values)
        return (unsigned)type < NVML_SAMPLINGTYPE_COUNT ? NVML_ERROR_NOT_SUPPORTED
                                                        : NVML_ERROR_INVALID_ARGUMENT;
    SIM_NVML_FAIL(INVALID_ARGUMENT, !sampleValType);
    SIM_NVML_FAIL(NOT_FOUND, lastSeenTimeStamp >= sim_nvml_time_us());
    *sampleValType = NVML_VALUE_TYPE_UNSIGNED_INT;
    *sampleCount = 1;
    if (!samples)
        return NVML_SUCCESS;
    SIM_NVML_FAIL(INSUFFICIENT_SIZE, room < 1);
    *samples = (nvmlSample_t){.timeStamp = sim_nvml_time_us(), .sampleValue.uiVal = values[type]};
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

unsigned sim_nvml_threshold(nvmlTemperatureThresholds_t type)
{
    static const unsigned thresholds[] = {[NVML_TEMPERATURE_THRESHOLD_SHUTDOWN] = 95,
                                          [NVML_TEMPERATURE_THRESHOLD_SLOWDOWN] = 89,
                                          [NVML_TEMPERATURE_THRESHOLD_MEM_MAX] = 95,
                                          [NVML_TEMPERATURE_THRESHOLD_GPU_MAX] = 87};
    return (size_t)type < sizeof thresholds / sizeof *thresholds ? thresholds[type] : 0;
}

unsigned sim_nvml_temperature(nvmlDevice_t device)
{
    return 32 + sim_nvml_busy(device) * 35 / 100;
}
