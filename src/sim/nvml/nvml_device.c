/* SPDX-License-Identifier: MIT */
/* Devices: found, named, placed. CUDA_VISIBLE_DEVICES does not change what NVML shows. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "device/device.h"
#include "nvml/nvml.h"

#define ATTRIBUTE(name) sim_nvml_attribute(CU_DEVICE_ATTRIBUTE_##name)

SIM_EXPORT nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *deviceCount)
{
    nvmlReturn_t result = sim_nvml_ready();
    if (result == NVML_SUCCESS && !deviceCount)
        result = NVML_ERROR_INVALID_ARGUMENT;
    if (result == NVML_SUCCESS)
        *deviceCount = (unsigned)sim_config.devices;
    return result;
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetCount(unsigned int *deviceCount)
{
    return nvmlDeviceGetCount_v2(deviceCount);
}

static nvmlReturn_t give(int number, nvmlReturn_t otherwise, nvmlDevice_t *device)
{
    nvmlDevice_t found = sim_nvml_device(number);
    if (!found)
        return otherwise;
    *device = found;
    return NVML_SUCCESS;
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device)
{
    nvmlReturn_t result = sim_nvml_ready();
    if (result != NVML_SUCCESS)
        return result;
    if (!device || index >= SIM_MAX_DEVICES)
        return NVML_ERROR_INVALID_ARGUMENT;
    return give((int)index, NVML_ERROR_INVALID_ARGUMENT, device);
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t *device)
{
    return nvmlDeviceGetHandleByIndex_v2(index, device);
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
    nvmlReturn_t result = sim_nvml_ready();
    if (result != NVML_SUCCESS)
        return result;
    if (!uuid || !device)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (int i = 0; i < sim_config.devices; i++) {
        char text[SIM_UUID_TEXT];
        sim_identity_uuid_text(i, text);
        if (strcasecmp(text, uuid) == 0)
            return give(i, NVML_ERROR_NOT_FOUND, device);
    }
    return NVML_ERROR_NOT_FOUND;
}

/* "domain:bus:device.function"; the domain may have four or eight digits, or be left out. */
SIM_EXPORT nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *pciBusId, nvmlDevice_t *device)
{
    unsigned domain = 0, bus = 0, place = 0;
    nvmlReturn_t result = sim_nvml_ready();
    if (result != NVML_SUCCESS)
        return result;
    if (!pciBusId || !device)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (sscanf(pciBusId, "%x:%x:%x", &domain, &bus, &place) != 3) {
        domain = 0;
        if (sscanf(pciBusId, "%x:%x", &bus, &place) != 2)
            return NVML_ERROR_INVALID_ARGUMENT;
    }
    for (int i = 0; i < sim_config.devices; i++)
        if (!domain && bus == (unsigned)sim_identity_bus(i) && !place)
            return give(i, NVML_ERROR_NOT_FOUND, device);
    return NVML_ERROR_NOT_FOUND;
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char *pciBusId, nvmlDevice_t *device)
{
    return nvmlDeviceGetHandleByPciBusId_v2(pciBusId, device);
}

SIM_NUMBER(nvmlDeviceGetIndex, unsigned int, device->number)
SIM_NUMBER(nvmlDeviceGetMinorNumber, unsigned int, device->number)
SIM_NUMBER(nvmlDeviceGetBoardId, unsigned int, sim_identity_bus(device->number) << 8)
SIM_NUMBER(nvmlDeviceGetMultiGpuBoard, unsigned int, 0)
SIM_NUMBER(nvmlDeviceGetBrand, nvmlBrandType_t,
           sim_nvml_profile_is("turing ") ? NVML_BRAND_TESLA
           : sim_nvml_profile_is("ada ")  ? NVML_BRAND_GEFORCE
                                          : NVML_BRAND_NVIDIA)
SIM_NUMBER(nvmlDeviceGetArchitecture, nvmlDeviceArchitecture_t,
           sim_nvml_profile_is("turing ")   ? NVML_DEVICE_ARCH_TURING
           : sim_nvml_profile_is("ampere ") ? NVML_DEVICE_ARCH_AMPERE
           : sim_nvml_profile_is("ada ")    ? NVML_DEVICE_ARCH_ADA
                                            : NVML_DEVICE_ARCH_HOPPER)
SIM_NUMBER(nvmlDeviceGetNumGpuCores, unsigned int,
           ATTRIBUTE(MULTIPROCESSOR_COUNT) * (sim_nvml_profile_is("turing ampere ") ? 64 : 128))
SIM_NUMBER(nvmlDeviceGetMemoryBusWidth, unsigned int, ATTRIBUTE(GLOBAL_MEMORY_BUS_WIDTH))
SIM_NUMBER(nvmlDeviceGetDisplayMode, nvmlEnableState_t, NVML_FEATURE_DISABLED)
SIM_NUMBER(nvmlDeviceGetDisplayActive, nvmlEnableState_t, NVML_FEATURE_DISABLED)
static unsigned bus_generation(void)
{
    return sim_nvml_profile_is("turing ") ? 3 : sim_nvml_profile_is("hopper ") ? 5 : 4;
}

SIM_NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, unsigned int, bus_generation())
SIM_NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, unsigned int, bus_generation())
SIM_NUMBER(nvmlDeviceGetMaxPcieLinkWidth, unsigned int, 16)
SIM_NUMBER(nvmlDeviceGetCurrPcieLinkWidth, unsigned int, 16)
SIM_NUMBER(nvmlDeviceGetVirtualizationMode, nvmlGpuVirtualizationMode_t,
           NVML_GPU_VIRTUALIZATION_MODE_NONE)

SIM_EXPORT nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length)
{
    nvmlReturn_t result = sim_nvml_ready_for(device, name);
    return result != NVML_SUCCESS ? result
                                  : sim_nvml_text(sim_config.profile->device_name, name, length);
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length)
{
    char text[SIM_UUID_TEXT];
    nvmlReturn_t result = sim_nvml_ready_for(device, uuid);
    if (result != NVML_SUCCESS)
        return result;
    sim_identity_uuid_text(device->number, text);
    return sim_nvml_text(text, uuid, length);
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    nvmlReturn_t result = sim_nvml_ready_for(device, pci);
    if (result != NVML_SUCCESS)
        return result;
    memset(pci, 0, sizeof *pci);
    pci->bus = (unsigned)sim_identity_bus(device->number);
    pci->pciDeviceId = sim_nvml_profile_is("turing ")   ? 0x1eb810de
                       : sim_nvml_profile_is("ampere ") ? 0x20b010de
                       : sim_nvml_profile_is("ada ")    ? 0x268410de
                                                        : 0x233510de;
    snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0", pci->bus & 0xffU);
    snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "0000:%02X:00.0", pci->bus & 0xffU);
    return NVML_SUCCESS;
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    return nvmlDeviceGetPciInfo_v3(device, pci);
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major,
                                                           int *minor)
{
    nvmlReturn_t result = sim_nvml_ready_for(device, major ? minor : NULL);
    if (result != NVML_SUCCESS)
        return result;
    *major = ATTRIBUTE(COMPUTE_CAPABILITY_MAJOR);
    *minor = ATTRIBUTE(COMPUTE_CAPABILITY_MINOR);
    return NVML_SUCCESS;
}

SIM_EXPORT nvmlReturn_t nvmlDeviceOnSameBoard(nvmlDevice_t device1, nvmlDevice_t device2,
                                              int *onSameBoard)
{
    nvmlReturn_t result = sim_nvml_ready_for(device1, onSameBoard);
    if (result == NVML_SUCCESS)
        result = sim_nvml_ready_for(device2, onSameBoard);
    if (result == NVML_SUCCESS)
        *onSameBoard = device1 == device2;
    return result;
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t device1,
                                                            nvmlDevice_t device2,
                                                            nvmlGpuTopologyLevel_t *pathInfo)
{
    nvmlReturn_t result = sim_nvml_ready_for(device1, pathInfo);
    if (result == NVML_SUCCESS)
        result = sim_nvml_ready_for(device2, pathInfo);
    if (result == NVML_SUCCESS)
        *pathInfo = device1 == device2 ? NVML_TOPOLOGY_INTERNAL : NVML_TOPOLOGY_NODE;
    return result;
}
