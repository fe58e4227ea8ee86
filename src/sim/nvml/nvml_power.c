/* SPDX-License-Identifier: MIT */
/* Power, temperature, fans. They follow utilisation. */
#include <string.h>

#include "nvml/nvml.h"

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

nvmlReturn_t sim_nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_t *temperature)
{
    temperature->temperature = (int)sim_nvml_temperature(device);
    return NVML_SUCCESS;
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

nvmlReturn_t sim_nvmlDeviceGetFanSpeedRPM(nvmlDevice_t device, nvmlFanSpeedInfo_t *fanSpeed)
{
    fanSpeed->speed = 30 * sim_nvml_fan(device);
    return NVML_SUCCESS;
}
