/* SPDX-License-Identifier: MIT */
/* Memory in use, and its errors, of which there are none. */
#include <string.h>

#include "device/device.h"
#include "nvml/nvml.h"

#define MEBI ((unsigned long long)1 << 20)

void sim_nvml_visit(nvmlDevice_t device, sim_nvml_visitor *function, void *user)
{
    struct sim_usage *all = sim_usage_all();
    for (int i = 0; all && i < SIM_USAGE_PROCESSES; i++) {
        struct sim_usage_device *use = &all[i].devices[device->number];
        if (atomic_load(&use->contexts) && sim_usage_alive(&all[i]))
            function(&all[i], use, user);
    }
}

static void add_bytes(struct sim_usage *place, struct sim_usage_device *use, void *user)
{
    (void)place;
    *(unsigned long long *)user += atomic_load(&use->bytes);
}

unsigned long long sim_nvml_used(nvmlDevice_t device)
{
    unsigned long long used = 0, total = sim_identity_memory();
    sim_nvml_visit(device, add_bytes, &used);
    return used < total ? used : total; /* each process has the whole device */
}

nvmlReturn_t sim_nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
    memory->total = sim_identity_memory();
    memory->used = sim_nvml_used(device);
    memory->free = memory->total - memory->used;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
    nvmlMemory_t first;
    (void)sim_nvmlDeviceGetMemoryInfo(device, &first);
    memory->total = first.total;
    memory->reserved = 0;
    memory->used = first.used;
    memory->free = first.free;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device, nvmlBAR1Memory_t *bar1Memory)
{
    (void)device;
    bar1Memory->bar1Total = 256 * MEBI;
    bar1Memory->bar1Used = MEBI;
    bar1Memory->bar1Free = 255 * MEBI;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetConfComputeMemSizeInfo(nvmlDevice_t device,
                                                     nvmlConfComputeMemSizeInfo_t *memInfo)
{
    (void)device;
    memInfo->protectedMemSizeKib = 0;
    memInfo->unprotectedMemSizeKib = sim_identity_memory() / 1024;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetConfComputeProtectedMemoryUsage(nvmlDevice_t device,
                                                              nvmlMemory_t *memory)
{
    (void)device;
    *memory = (nvmlMemory_t){0};
    return NVML_SUCCESS;
}

/* ---- error correction */

#define CORRECTS (sim_nvml_facts()->ecc)
/* Rows of memory are remapped from ampere on; before that, pages were retired. */
#define REMAPS (CORRECTS && sim_nvml_facts()->architecture >= NVML_DEVICE_ARCH_AMPERE)
#define RETIRES (CORRECTS && !REMAPS)

SIM_NUMBER_IF(nvmlDeviceGetDefaultEccMode, nvmlEnableState_t, CORRECTS, NVML_FEATURE_ENABLED)
SIM_NUMBER_IF(nvmlDeviceGetRetiredPagesPendingStatus, nvmlEnableState_t, RETIRES,
              NVML_FEATURE_DISABLED)

nvmlReturn_t sim_nvmlDeviceGetEccMode(nvmlDevice_t device, nvmlEnableState_t *current,
                                      nvmlEnableState_t *pending)
{
    if (!CORRECTS)
        return NVML_ERROR_NOT_SUPPORTED;
    *current = NVML_FEATURE_ENABLED;
    *pending =
        sim_nvml_get(device, SIM_NVML_ECC_OFF) ? NVML_FEATURE_DISABLED : NVML_FEATURE_ENABLED;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceSetEccMode(nvmlDevice_t device, nvmlEnableState_t ecc)
{
    if (!CORRECTS)
        return NVML_ERROR_NOT_SUPPORTED;
    sim_nvml_set(device, SIM_NVML_ECC_OFF, ecc == NVML_FEATURE_DISABLED);
    return NVML_SUCCESS;
}

/* Whether counters of that kind can be asked for. */
static nvmlReturn_t counters(unsigned error, unsigned counter)
{
    if (error >= NVML_MEMORY_ERROR_TYPE_COUNT || counter >= NVML_ECC_COUNTER_TYPE_COUNT)
        return NVML_ERROR_INVALID_ARGUMENT;
    return CORRECTS ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t sim_nvmlDeviceClearEccErrorCounts(nvmlDevice_t device,
                                               nvmlEccCounterType_t counterType)
{
    (void)device;
    return counters(0, counterType);
}

nvmlReturn_t sim_nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t errorType,
                                             nvmlEccCounterType_t counterType,
                                             unsigned long long *eccCounts)
{
    nvmlReturn_t result = counters(errorType, counterType);
    (void)device;
    if (result == NVML_SUCCESS)
        *eccCounts = 0;
    return result;
}

nvmlReturn_t sim_nvmlDeviceGetDetailedEccErrors(nvmlDevice_t device,
                                                nvmlMemoryErrorType_t errorType,
                                                nvmlEccCounterType_t counterType,
                                                nvmlEccErrorCounts_t *eccCounts)
{
    nvmlReturn_t result = counters(errorType, counterType);
    (void)device;
    if (result == NVML_SUCCESS)
        *eccCounts = (nvmlEccErrorCounts_t){0};
    return result;
}

nvmlReturn_t sim_nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t device,
                                                 nvmlMemoryErrorType_t errorType,
                                                 nvmlEccCounterType_t counterType,
                                                 nvmlMemoryLocation_t locationType,
                                                 unsigned long long *count)
{
    nvmlReturn_t result = counters(errorType, counterType);
    (void)device;
    if (result == NVML_SUCCESS && (unsigned)locationType >= NVML_MEMORY_LOCATION_COUNT)
        result = NVML_ERROR_INVALID_ARGUMENT;
    if (result == NVML_SUCCESS)
        *count = 0;
    return result;
}

nvmlReturn_t sim_nvmlDeviceGetSramEccErrorStatus(nvmlDevice_t device,
                                                 nvmlEccSramErrorStatus_t *status)
{
    (void)device;
    if (!REMAPS)
        return NVML_ERROR_NOT_SUPPORTED;
    *status = (nvmlEccSramErrorStatus_t){.version = status->version};
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetRetiredPages(nvmlDevice_t device, nvmlPageRetirementCause_t cause,
                                           unsigned int *pageCount, unsigned long long *addresses)
{
    (void)device, (void)addresses;
    if ((unsigned)cause >= NVML_PAGE_RETIREMENT_CAUSE_COUNT)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (!RETIRES)
        return NVML_ERROR_NOT_SUPPORTED;
    *pageCount = 0;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetRetiredPages_v2(nvmlDevice_t device, nvmlPageRetirementCause_t cause,
                                              unsigned int *pageCount,
                                              unsigned long long *addresses,
                                              unsigned long long *timestamps)
{
    (void)timestamps;
    return sim_nvmlDeviceGetRetiredPages(device, cause, pageCount, addresses);
}

nvmlReturn_t sim_nvmlDeviceGetRemappedRows(nvmlDevice_t device, unsigned int *corrRows,
                                           unsigned int *uncRows, unsigned int *isPending,
                                           unsigned int *failureOccurred)
{
    (void)device;
    if (!REMAPS)
        return NVML_ERROR_NOT_SUPPORTED;
    *corrRows = *uncRows = *isPending = *failureOccurred = 0;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetRemappedRows_v2(nvmlDevice_t device, nvmlRemappedRowsInfo_v2_t *info)
{
    (void)device;
    if (!REMAPS)
        return NVML_ERROR_NOT_SUPPORTED;
    *info = (nvmlRemappedRowsInfo_v2_t){0};
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetRowRemapperHistogram(nvmlDevice_t device,
                                                   nvmlRowRemapperHistogramValues_t *values)
{
    (void)device;
    if (!REMAPS)
        return NVML_ERROR_NOT_SUPPORTED;
    *values = (nvmlRowRemapperHistogramValues_t){.max = 640};
    return NVML_SUCCESS;
}
