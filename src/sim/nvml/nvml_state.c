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

/* --- Values by the number of a field --- */

/* Counters of errors, of which there are none. */
static bool is_ecc(unsigned field)
{
    return field >= NVML_FI_DEV_ECC_SBE_VOL_TOTAL && field <= NVML_FI_DEV_ECC_DBE_AGG_CBU;
}

static bool is_nvlink(unsigned field)
{
    return field >= NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L0 &&
           field <= NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL;
}

/* Whether the simulator has something for a field, and what. */
static bool read_field(nvmlDevice_t device, unsigned field, unsigned long long *number)
{
    const struct sim_nvml_facts *facts = sim_nvml_facts();
    *number = 0;
/* A field: whether the device has it, and what it is. */
#define FIELD(name, has, ...)                                                                      \
    case NVML_FI_DEV_##name:                                                                       \
        *number = __VA_ARGS__;                                                                     \
        return has;
    switch (field) {
        FIELD(ECC_CURRENT, facts->ecc, 1)
        FIELD(ECC_PENDING, facts->ecc, !sim_nvml_get(device, SIM_NVML_ECC_OFF))
        FIELD(MEMORY_TEMP, facts->ecc, sim_nvml_temperature(device) + 5) /* stacked memory */
        FIELD(TOTAL_ENERGY_CONSUMPTION, true, sim_nvml_energy(device))
        FIELD(POWER_AVERAGE, true, sim_nvml_power(device))
        FIELD(POWER_INSTANT, true, sim_nvml_power(device))
        FIELD(POWER_MIN_LIMIT, true, sim_nvml_power_least())
        FIELD(POWER_MAX_LIMIT, true, sim_nvml_power_most())
        FIELD(POWER_DEFAULT_LIMIT, true, sim_nvml_power_most())
        FIELD(POWER_CURRENT_LIMIT, true, sim_nvml_power_limit(device))
        FIELD(POWER_REQUESTED_LIMIT, true, sim_nvml_power_limit(device))
        FIELD(NVLINK_LINK_COUNT, true, facts->links)
        FIELD(NVLINK_SPEED_MBPS_COMMON, facts->links, facts->link_mbps)
        FIELD(NVLINK_GET_SPEED, facts->links, facts->link_mbps)
        FIELD(NVLINK_GET_STATE, facts->links, 1)
        FIELD(NVLINK_GET_VERSION, facts->links, facts->link_version)
        FIELD(PCIE_REPLAY_COUNTER, true, 0)
        FIELD(PCIE_REPLAY_ROLLOVER_COUNTER, true, 0)
    default:
        return is_ecc(field) ? facts->ecc : is_nvlink(field) && facts->links;
    }
}

SIM_NVML(nvmlDeviceGetFieldValues)
{
    for (int i = 0; i < valuesCount; i++) {
        memset(&values[i].value, 0, sizeof values[i].value);
        values[i].timestamp = (long long)sim_nvml_time_us();
        values[i].latencyUsec = 0;
        unsigned field = values[i].fieldId;
        bool wide =
            field == NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION || is_ecc(field) || is_nvlink(field);
        bool has = read_field(device, field, &values[i].value.ullVal); /* its lower half is uiVal */
        values[i].valueType =
            wide ? NVML_VALUE_TYPE_UNSIGNED_LONG_LONG : NVML_VALUE_TYPE_UNSIGNED_INT;
        values[i].nvmlReturn = has ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
    }
    return NVML_SUCCESS;
}

SIM_NVML(nvmlDeviceClearFieldValues)
{
    for (int i = 0; i < valuesCount; i++)
        values[i].nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
    return NVML_SUCCESS;
}
