/* SPDX-License-Identifier: MIT */
/* What tells one device from another: name, uuid, place on the bus. */
#include "device/device.h"

#include <stdio.h>
#include <string.h>

#include "core/config.h"

#define PCI_TEXT 13 /* "0000:01:00.0" and NUL */

int sim_device_name_bus(const struct sim_device *device)
{
    return sim_identity_bus(device->physical);
}

CUresult sim_cuDeviceGetName(char *name, int len, CUdevice_v1 dev)
{
    struct sim_device *device = sim_device(dev);
    if (!name || len <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)len, "%s", device->profile->device_name);
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice_v1 dev)
{
    struct sim_device *device = sim_device(dev);
    if (!uuid)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    *uuid = sim_identity_uuid(device->physical);
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetUuid(CUuuid *uuid, CUdevice_v1 dev)
{
    return sim_cuDeviceGetUuid_v2(uuid, dev);
}

/* A number that Windows gives to adapters. */
CUresult sim_cuDeviceGetLuid(char *luid, unsigned int *deviceNodeMask, CUdevice_v1 dev)
{
    if (!luid || !deviceNodeMask)
        return CUDA_ERROR_INVALID_VALUE;
    return sim_device(dev) ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_DEVICE;
}

static void pci_text(const struct sim_device *device, char text[PCI_TEXT])
{
    snprintf(text, PCI_TEXT, "0000:%02X:00.0", (unsigned)sim_device_name_bus(device) & 0xffU);
}

/* What there is room for is written even where it is too little. */
CUresult sim_cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice_v1 dev)
{
    struct sim_device *device = sim_device(dev);
    char text[PCI_TEXT];
    if (!pciBusId || len <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    pci_text(device, text);
    snprintf(pciBusId, (size_t)len, "%s", text);
    return len < PCI_TEXT ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* "domain:bus:device.function", "domain:bus:device" or "bus:device.function", in hexadecimal. */
static bool parse_pci(const char *text, unsigned place[4])
{
    int end = 0;
    memset(place, 0, 4 * sizeof *place);
    if (sscanf(text, "%x:%x:%x.%x%n", &place[0], &place[1], &place[2], &place[3], &end) == 4 &&
        end > 0 && !text[end])
        return true;
    place[3] = 0;
    if (sscanf(text, "%x:%x:%x%n", &place[0], &place[1], &place[2], &end) == 3 && !text[end])
        return true;
    place[0] = 0;
    return sscanf(text, "%x:%x.%x%n", &place[1], &place[2], &place[3], &end) == 3 && !text[end];
}

CUresult sim_cuDeviceGetByPCIBusId(CUdevice_v1 *dev, const char *pciBusId)
{
    unsigned place[4];
    if (!dev || !pciBusId || !parse_pci(pciBusId, place))
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < sim_device_count(); i++)
        if (place[0] == 0 && place[1] == (unsigned)sim_device_name_bus(&sim_device_all[i]) &&
            place[2] == 0 && place[3] == 0) {
            *dev = i;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_DEVICE;
}
