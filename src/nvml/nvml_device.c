/* SPDX-License-Identifier: MIT */
/* Which device of NVML's is which of CUDA's. They count in different orders, and CUDA may show a
 * part alone, so UUIDs are compared, and PCI addresses where a driver has no UUIDs. */
#include <stdio.h>
#include <string.h>

#include <cushim/nvml.h>

#include "loader/last_error.h"

#define NVML_UUID_SIZE 48 /* "GPU-" or "MIG-", 36 characters, and the end */
#define NVML_PCI_SIZE 32

/* The UUID of a device as NVML writes it, without its first word. */
static bool nvml_device_uuid(const struct cushim_api *cu, CUdevice device,
                             char text[NVML_UUID_SIZE])
{
    CUuuid uuid;
    if (!CUSHIM_HAS(cu, cuDeviceGetUuid_v1) && !CUSHIM_HAS(cu, cuDeviceGetUuid_v2))
        return false;
    /* The first ABI gives a MIG instance the UUID of its GPU. */
    CUresult result = CUSHIM_HAS(cu, cuDeviceGetUuid_v2) ? cu->cuDeviceGetUuid_v2(&uuid, device)
                                                         : cu->cuDeviceGetUuid_v1(&uuid, device);
    if (result != CUDA_SUCCESS)
        return false;
    char *end = text;
    for (size_t i = 0; i < sizeof uuid.bytes; i++)
        end += sprintf(end, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                       (unsigned)(unsigned char)uuid.bytes[i]);
    return true;
}

static nvmlReturn_t nvml_device_fail(nvmlReturn_t result, const char *what)
{
    const char *name = cushim_nvml_error_name(result);
    cushim_last_error_set("cushim_nvml_device: %s: %s", what, name ? name : "an unknown error");
    return result;
}

nvmlReturn_t cushim_nvml_device(const struct cushim_nvml *nvml, const struct cushim_api *cu,
                                CUdevice device, nvmlDevice_t *found)
{
    char uuid[NVML_UUID_SIZE], name[NVML_UUID_SIZE + 4], pci[NVML_PCI_SIZE];
    if (!nvml || !cu || !found)
        return nvml_device_fail(NVML_ERROR_INVALID_ARGUMENT, "an argument is NULL");
    nvmlDevice_t handle = NULL;
    nvmlReturn_t result = NVML_ERROR_NOT_FOUND;
    if (nvml_device_uuid(cu, device, uuid)) {
        static const char *const kinds[] = {"GPU", "MIG"};
        for (size_t i = 0; i < 2 && result != NVML_SUCCESS; i++) {
            snprintf(name, sizeof name, "%s-%s", kinds[i], uuid);
            result = nvml->nvmlDeviceGetHandleByUUID(name, &handle);
            if (result == NVML_ERROR_UNINITIALIZED || result == NVML_ERROR_LIBRARY_NOT_FOUND)
                return nvml_device_fail(result, "nvmlDeviceGetHandleByUUID");
        }
    } else if (cu->cuDeviceGetPCIBusId(pci, sizeof pci, device) == CUDA_SUCCESS) {
        snprintf(name, sizeof name, "PCI address %s", pci);
        result = nvml->nvmlDeviceGetHandleByPciBusId_v2(pci, &handle);
    } else {
        return nvml_device_fail(NVML_ERROR_INVALID_ARGUMENT, "CUDA has no such device");
    }
    if (result != NVML_SUCCESS)
        return nvml_device_fail(result, name);
    *found = handle;
    return NVML_SUCCESS;
}

/* CUDA's device at the PCI address of one of NVML's. */
static bool nvml_device_at_address(const struct cushim_nvml *nvml, const struct cushim_api *cu,
                                   nvmlDevice_t device, CUdevice *found)
{
    nvmlPciInfo_t pci;
    char address[NVML_PCI_SIZE];
    CUdevice candidate;
    /* The first two versions have what is used here at the same place. */
    nvmlReturn_t result = CUSHIM_NVML_HAS(nvml, nvmlDeviceGetPciInfo_v3)
                              ? nvml->nvmlDeviceGetPciInfo_v3(device, &pci)
                              : nvml->nvmlDeviceGetPciInfo_v2(device, &pci);
    if (result != NVML_SUCCESS)
        return false;
    snprintf(address, sizeof address, "%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
    if (cu->cuDeviceGetByPCIBusId(&candidate, address) != CUDA_SUCCESS)
        return false;
    *found = candidate;
    return true;
}

nvmlReturn_t cushim_nvml_device_cuda(const struct cushim_nvml *nvml, const struct cushim_api *cu,
                                     nvmlDevice_t device, CUdevice *found)
{
    char wanted[NVML_DEVICE_UUID_V2_BUFFER_SIZE] = "";
    int count = 0;
    if (!nvml || !cu || !found)
        return nvml_device_fail(NVML_ERROR_INVALID_ARGUMENT, "an argument is NULL");
    nvmlReturn_t result = nvml->nvmlDeviceGetUUID(device, wanted, sizeof wanted);
    if (result != NVML_SUCCESS)
        return nvml_device_fail(result, "nvmlDeviceGetUUID");
    if (cu->cuDeviceGetCount(&count) != CUDA_SUCCESS)
        return nvml_device_fail(NVML_ERROR_NOT_FOUND, "CUDA counts no devices");
    const char *own = strchr(wanted, '-');
    bool compared = false;
    for (int i = 0; own && i < count; i++) {
        CUdevice candidate;
        char uuid[NVML_UUID_SIZE];
        if (cu->cuDeviceGet(&candidate, i) != CUDA_SUCCESS ||
            !nvml_device_uuid(cu, candidate, uuid))
            continue;
        compared = true;
        if (strcmp(uuid, own + 1) == 0) {
            *found = candidate;
            return NVML_SUCCESS;
        }
    }
    if (!compared && nvml_device_at_address(nvml, cu, device, found))
        return NVML_SUCCESS;
    return nvml_device_fail(NVML_ERROR_NOT_FOUND, wanted);
}
