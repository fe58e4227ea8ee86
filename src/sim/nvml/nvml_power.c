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

SIM_NUMBER(nvmlDeviceGetTotalEnergyConsumption, unsigned long long, sim_nvml_energy(device))
SIM_NUMBER(nvmlDeviceGetPowerUsage, unsigned int, sim_nvml_power(device))
SIM_NUMBER(nvmlDeviceGetPowerManagementMode, nvmlEnableState_t, NVML_FEATURE_ENABLED)
SIM_NUMBER(nvmlDeviceGetPowerManagementLimit, unsigned int, sim_nvml_power_limit(device))
SIM_NUMBER(nvmlDeviceGetEnforcedPowerLimit, unsigned int, sim_nvml_power_limit(device))
SIM_NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, unsigned int, sim_nvml_power_most())
SIM_NUMBER(nvmlDeviceGetPowerSource, nvmlPowerSource_t, NVML_POWER_SOURCE_AC)

nvmlReturn_t sim_nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t device,
                                                              unsigned int *minLimit,
                                                              unsigned int *maxLimit)
{
    (void)device;
    *minLimit = sim_nvml_power_least();
    *maxLimit = sim_nvml_power_most();
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceSetPowerManagementLimit(nvmlDevice_t device, unsigned int limit)
{
    if (limit < sim_nvml_power_least() || limit > sim_nvml_power_most())
        return NVML_ERROR_INVALID_ARGUMENT;
    sim_nvml_set(device, SIM_NVML_POWER_LIMIT, limit);
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceSetPowerManagementLimit_v2(nvmlDevice_t device,
                                                      nvmlPowerValue_v2_t *powerValue)
{
    return powerValue->powerScope == NVML_POWER_SCOPE_GPU
               ? sim_nvmlDeviceSetPowerManagementLimit(device, powerValue->powerValueMw)
               : NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t sim_nvmlDeviceGetViolationStatus(nvmlDevice_t device,
                                              nvmlPerfPolicyType_t perfPolicyType,
                                              nvmlViolationTime_t *violTime)
{
    (void)device;
    if ((unsigned)perfPolicyType >= NVML_PERF_POLICY_COUNT)
        return NVML_ERROR_INVALID_ARGUMENT;
    *violTime = (nvmlViolationTime_t){.referenceTime = sim_nvml_time_us()};
    return NVML_SUCCESS;
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

nvmlReturn_t sim_nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensorType,
                                          unsigned int *temp)
{
    if (sensorType != NVML_TEMPERATURE_GPU)
        return NVML_ERROR_INVALID_ARGUMENT;
    *temp = sim_nvml_temperature(device);
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_t *temperature)
{
    if (temperature->sensorType != NVML_TEMPERATURE_GPU)
        return NVML_ERROR_INVALID_ARGUMENT;
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
    if ((unsigned)thresholdType >= NVML_TEMPERATURE_THRESHOLD_COUNT)
        return NVML_ERROR_INVALID_ARGUMENT;
    if ((unsigned)thresholdType >= sizeof thresholds / sizeof *thresholds)
        return NVML_ERROR_NOT_SUPPORTED;
    *temp = thresholds[thresholdType];
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetThermalSettings(nvmlDevice_t device, unsigned int sensorIndex,
                                              nvmlGpuThermalSettings_t *settings)
{
    if (sensorIndex != 0 && sensorIndex != NVML_THERMAL_TARGET_ALL)
        return NVML_ERROR_INVALID_ARGUMENT;
    *settings = (nvmlGpuThermalSettings_t){.count = 1};
    settings->sensor[0].controller = NVML_THERMAL_CONTROLLER_GPU_INTERNAL;
    settings->sensor[0].defaultMaxTemp = (int)thresholds[NVML_TEMPERATURE_THRESHOLD_GPU_MAX];
    settings->sensor[0].currentTemp = (int)sim_nvml_temperature(device);
    settings->sensor[0].target = NVML_THERMAL_TARGET_GPU;
    return NVML_SUCCESS;
}

/* ---- fans, which data-centre cards do not have */

SIM_NUMBER(nvmlDeviceGetNumFans, unsigned int, sim_nvml_facts()->fans)

nvmlReturn_t sim_nvmlDeviceGetFanSpeed_v2(nvmlDevice_t device, unsigned int fan,
                                          unsigned int *speed)
{
    if (!sim_nvml_facts()->fans)
        return NVML_ERROR_NOT_SUPPORTED;
    if (fan >= sim_nvml_facts()->fans)
        return NVML_ERROR_INVALID_ARGUMENT;
    *speed = 30 + sim_nvml_busy(device) / 2;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetFanSpeed(nvmlDevice_t device, unsigned int *speed)
{
    return sim_nvmlDeviceGetFanSpeed_v2(device, 0, speed);
}

nvmlReturn_t sim_nvmlDeviceGetTargetFanSpeed(nvmlDevice_t device, unsigned int fan,
                                             unsigned int *targetSpeed)
{
    return sim_nvmlDeviceGetFanSpeed_v2(device, fan, targetSpeed);
}

nvmlReturn_t sim_nvmlDeviceGetFanSpeedRPM(nvmlDevice_t device, nvmlFanSpeedInfo_t *fanSpeed)
{
    unsigned percent;
    nvmlReturn_t result = sim_nvmlDeviceGetFanSpeed_v2(device, fanSpeed->fan, &percent);
    if (result == NVML_SUCCESS)
        fanSpeed->speed = 30 * percent;
    return result;
}

nvmlReturn_t sim_nvmlDeviceGetMinMaxFanSpeed(nvmlDevice_t device, unsigned int *minSpeed,
                                             unsigned int *maxSpeed)
{
    (void)device;
    if (!sim_nvml_facts()->fans)
        return NVML_ERROR_NOT_SUPPORTED;
    *minSpeed = 30;
    *maxSpeed = 100;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetFanControlPolicy_v2(nvmlDevice_t device, unsigned int fan,
                                                  nvmlFanControlPolicy_t *policy)
{
    (void)device;
    if (!sim_nvml_facts()->fans)
        return NVML_ERROR_NOT_SUPPORTED;
    if (fan >= sim_nvml_facts()->fans)
        return NVML_ERROR_INVALID_ARGUMENT;
    *policy = NVML_FAN_POLICY_TEMPERATURE_CONTINOUS_SW;
    return NVML_SUCCESS;
}
