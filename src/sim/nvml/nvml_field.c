/* SPDX-License-Identifier: MIT */
/* Values by the number of a field. */
#include <string.h>

#include "nvml/nvml.h"

/* What a field has; NOT_SUPPORTED if the simulator has nothing for it. */
static nvmlReturn_t read_field(nvmlDevice_t device, unsigned field, nvmlFieldValue_t *value)
{
    const struct sim_nvml_facts *facts = sim_nvml_facts();
    unsigned number;
    value->valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
    if (field >= NVML_FI_DEV_ECC_SBE_VOL_TOTAL && field <= NVML_FI_DEV_ECC_DBE_AGG_CBU) {
        value->valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
        value->value.ullVal = 0;
        return facts->ecc ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
    }
    if (field >= NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L0 &&
        field <= NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL) {
        value->valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
        value->value.ullVal = 0;
        return facts->links ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
    }
    switch (field) {
    case NVML_FI_DEV_ECC_CURRENT:
    case NVML_FI_DEV_ECC_PENDING:
        if (!facts->ecc)
            return NVML_ERROR_NOT_SUPPORTED;
        value->value.uiVal =
            field == NVML_FI_DEV_ECC_CURRENT || !sim_nvml_get(device, SIM_NVML_ECC_OFF);
        return NVML_SUCCESS;
    case NVML_FI_DEV_MEMORY_TEMP:
        if (!facts->ecc) /* cards with stacked memory */
            return NVML_ERROR_NOT_SUPPORTED;
        value->value.uiVal = sim_nvml_temperature(device) + 5;
        return NVML_SUCCESS;
    case NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION:
        value->valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
        value->value.ullVal = sim_nvml_energy(device);
        return NVML_SUCCESS;
    case NVML_FI_DEV_POWER_AVERAGE:
    case NVML_FI_DEV_POWER_INSTANT:
        number = sim_nvml_power(device);
        break;
    case NVML_FI_DEV_POWER_MIN_LIMIT:
        number = sim_nvml_power_least();
        break;
    case NVML_FI_DEV_POWER_MAX_LIMIT:
    case NVML_FI_DEV_POWER_DEFAULT_LIMIT:
        number = sim_nvml_power_most();
        break;
    case NVML_FI_DEV_POWER_CURRENT_LIMIT:
    case NVML_FI_DEV_POWER_REQUESTED_LIMIT:
        number = sim_nvml_power_limit(device);
        break;
    case NVML_FI_DEV_NVLINK_LINK_COUNT:
        number = facts->links;
        break;
    case NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON:
    case NVML_FI_DEV_NVLINK_GET_SPEED:
    case NVML_FI_DEV_NVLINK_GET_STATE:
    case NVML_FI_DEV_NVLINK_GET_VERSION:
        if (!facts->links)
            return NVML_ERROR_NOT_SUPPORTED;
        number = field == NVML_FI_DEV_NVLINK_GET_STATE     ? 1
                 : field == NVML_FI_DEV_NVLINK_GET_VERSION ? facts->link_version
                                                           : facts->link_mbps;
        break;
    case NVML_FI_DEV_PCIE_REPLAY_COUNTER:
    case NVML_FI_DEV_PCIE_REPLAY_ROLLOVER_COUNTER:
        number = 0;
        break;
    default:
        return NVML_ERROR_NOT_SUPPORTED;
    }
    value->value.uiVal = number;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetFieldValues(nvmlDevice_t device, int valuesCount,
                                          nvmlFieldValue_t *values)
{
    for (int i = 0; i < valuesCount; i++) {
        memset(&values[i].value, 0, sizeof values[i].value);
        values[i].timestamp = (long long)sim_nvml_time_us();
        values[i].latencyUsec = 0;
        values[i].nvmlReturn = read_field(device, values[i].fieldId, &values[i]);
    }
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceClearFieldValues(nvmlDevice_t device, int valuesCount,
                                            nvmlFieldValue_t *values)
{
    (void)device;
    for (int i = 0; i < valuesCount; i++)
        values[i].nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
    return NVML_SUCCESS;
}
