/* SPDX-License-Identifier: MIT */
/* Values by the number of a field. */
#include "nvml/nvml.h"

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
