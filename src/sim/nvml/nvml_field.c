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
    switch (field) {
    case NVML_FI_DEV_ECC_CURRENT:
        *number = 1;
        return facts->ecc;
    case NVML_FI_DEV_ECC_PENDING:
        *number = !sim_nvml_get(device, SIM_NVML_ECC_OFF);
        return facts->ecc;
    case NVML_FI_DEV_MEMORY_TEMP:
        *number = sim_nvml_temperature(device) + 5;
        return facts->ecc; /* cards with stacked memory */
    case NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION:
        *number = sim_nvml_energy(device);
        return true;
    case NVML_FI_DEV_POWER_AVERAGE:
    case NVML_FI_DEV_POWER_INSTANT:
        *number = sim_nvml_power(device);
        return true;
    case NVML_FI_DEV_POWER_MIN_LIMIT:
        *number = sim_nvml_power_least();
        return true;
    case NVML_FI_DEV_POWER_MAX_LIMIT:
    case NVML_FI_DEV_POWER_DEFAULT_LIMIT:
        *number = sim_nvml_power_most();
        return true;
    case NVML_FI_DEV_POWER_CURRENT_LIMIT:
    case NVML_FI_DEV_POWER_REQUESTED_LIMIT:
        *number = sim_nvml_power_limit(device);
        return true;
    case NVML_FI_DEV_NVLINK_LINK_COUNT:
        *number = facts->links;
        return true;
    case NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON:
    case NVML_FI_DEV_NVLINK_GET_SPEED:
        *number = facts->link_mbps;
        return facts->links;
    case NVML_FI_DEV_NVLINK_GET_STATE:
        *number = 1;
        return facts->links;
    case NVML_FI_DEV_NVLINK_GET_VERSION:
        *number = facts->link_version;
        return facts->links;
    case NVML_FI_DEV_PCIE_REPLAY_COUNTER:
    case NVML_FI_DEV_PCIE_REPLAY_ROLLOVER_COUNTER:
        return true;
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
