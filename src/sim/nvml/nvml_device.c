/* SPDX-License-Identifier: MIT */
/* Devices: found, named. CUDA_VISIBLE_DEVICES does not change what NVML shows. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "device/device.h"
#include "nvml/nvml.h"

#define SERIAL_TEXT 16

nvmlReturn_t sim_nvmlDeviceGetCount_v2(unsigned int *deviceCount)
{
    *deviceCount = (unsigned)sim_config.devices;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetCount(unsigned int *deviceCount)
{
    return sim_nvmlDeviceGetCount_v2(deviceCount);
}

/* ---- found */

nvmlReturn_t sim_nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device)
{
    nvmlDevice_t found = index < SIM_MAX_DEVICES ? sim_nvml_device((int)index) : NULL;
    if (!found)
        return NVML_ERROR_INVALID_ARGUMENT;
    *device = found;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t *device)
{
    return sim_nvmlDeviceGetHandleByIndex_v2(index, device);
}

static void serial_of(int number, char text[SERIAL_TEXT])
{
    snprintf(text, SERIAL_TEXT, "165%010u", 4200000001U + (unsigned)number);
}

/* The device of which a text is the serial number or the UUID. */
static nvmlReturn_t find(const char *text, void (*of)(int number, char *text), nvmlDevice_t *device)
{
    for (int i = 0; i < sim_config.devices; i++) {
        char own[SIM_UUID_TEXT];
        of(i, own);
        if (strcasecmp(own, text) == 0) {
            *device = sim_nvml_device(i);
            return NVML_SUCCESS;
        }
    }
    return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t sim_nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
    return find(uuid, sim_identity_uuid_text, device);
}

nvmlReturn_t sim_nvmlDeviceGetHandleBySerial(const char *serial, nvmlDevice_t *device)
{
    return find(serial, serial_of, device);
}

nvmlReturn_t sim_nvmlDeviceGetHandleByUUIDV(const nvmlUUID_t *uuid, nvmlDevice_t *device)
{
    if (uuid->type == NVML_UUID_TYPE_ASCII)
        return memchr(uuid->value.str, '\0', sizeof uuid->value.str)
                   ? find(uuid->value.str, sim_identity_uuid_text, device)
                   : NVML_ERROR_INVALID_ARGUMENT;
    if (uuid->type != NVML_UUID_TYPE_BINARY)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (int i = 0; i < sim_config.devices; i++) {
        CUuuid own = sim_identity_uuid(i);
        if (memcmp(own.bytes, uuid->value.bytes, sizeof own.bytes) == 0) {
            *device = sim_nvml_device(i);
            return NVML_SUCCESS;
        }
    }
    return NVML_ERROR_NOT_FOUND;
}

/* "domain:bus:device.function"; the domain may have four or eight digits, or be left out. */
nvmlReturn_t sim_nvmlDeviceGetHandleByPciBusId_v2(const char *pciBusId, nvmlDevice_t *device)
{
    unsigned domain = 0, bus = 0, place = 0;
    if (sscanf(pciBusId, "%x:%x:%x", &domain, &bus, &place) != 3) {
        domain = 0;
        if (sscanf(pciBusId, "%x:%x", &bus, &place) != 2)
            return NVML_ERROR_INVALID_ARGUMENT;
    }
    for (int i = 0; i < sim_config.devices; i++)
        if (!domain && bus == (unsigned)sim_identity_bus(i) && !place) {
            *device = sim_nvml_device(i);
            return NVML_SUCCESS;
        }
    return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t sim_nvmlDeviceGetHandleByPciBusId(const char *pciBusId, nvmlDevice_t *device)
{
    return sim_nvmlDeviceGetHandleByPciBusId_v2(pciBusId, device);
}

/* ---- named */

SIM_NUMBER(nvmlDeviceGetIndex, unsigned int, device->number)
SIM_NUMBER(nvmlDeviceGetMinorNumber, unsigned int, device->number)
SIM_NUMBER(nvmlDeviceGetBoardId, unsigned int, sim_identity_bus(device->number) << 8)
SIM_NUMBER(nvmlDeviceGetModuleId, unsigned int, device->number + 1)
SIM_NUMBER(nvmlDeviceGetMultiGpuBoard, unsigned int, 0)
SIM_NUMBER(nvmlDeviceGetBrand, nvmlBrandType_t, sim_nvml_facts()->brand)
SIM_NUMBER(nvmlDeviceGetArchitecture, nvmlDeviceArchitecture_t, sim_nvml_facts()->architecture)
SIM_NUMBER(nvmlDeviceGetNumGpuCores, unsigned int,
           (unsigned)SIM_ATTRIBUTE(MULTIPROCESSOR_COUNT) * sim_nvml_facts()->cores)
SIM_NUMBER(nvmlDeviceGetDisplayMode, nvmlEnableState_t, NVML_FEATURE_DISABLED)
SIM_NUMBER(nvmlDeviceGetDisplayActive, nvmlEnableState_t, NVML_FEATURE_DISABLED)
SIM_NUMBER(nvmlDeviceGetVirtualizationMode, nvmlGpuVirtualizationMode_t,
           NVML_GPU_VIRTUALIZATION_MODE_NONE)
SIM_NUMBER(nvmlDeviceGetInforomConfigurationChecksum, unsigned int, 0x5c0de000 + device->number)

nvmlReturn_t sim_nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length)
{
    (void)device;
    return sim_nvml_text(sim_config.profile->device_name, name, length);
}

nvmlReturn_t sim_nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length)
{
    char text[SIM_UUID_TEXT];
    sim_identity_uuid_text(device->number, text);
    return sim_nvml_text(text, uuid, length);
}

nvmlReturn_t sim_nvmlDeviceGetSerial(nvmlDevice_t device, char *serial, unsigned int length)
{
    char text[SERIAL_TEXT];
    if (!sim_nvml_facts()->ecc) /* GeForce cards keep theirs to themselves */
        return NVML_ERROR_NOT_SUPPORTED;
    serial_of(device->number, text);
    return sim_nvml_text(text, serial, length);
}

nvmlReturn_t sim_nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char *version, unsigned int length)
{
    (void)device;
    return sim_nvml_text(sim_nvml_facts()->bios, version, length);
}

nvmlReturn_t sim_nvmlDeviceGetBoardPartNumber(nvmlDevice_t device, char *partNumber,
                                              unsigned int length)
{
    (void)device;
    return sim_nvml_text(sim_nvml_facts()->part, partNumber, length);
}

nvmlReturn_t sim_nvmlDeviceGetInforomImageVersion(nvmlDevice_t device, char *version,
                                                  unsigned int length)
{
    (void)device;
    return sim_nvml_text("G520.0200.00.01", version, length);
}

nvmlReturn_t sim_nvmlDeviceGetInforomVersion(nvmlDevice_t device, nvmlInforomObject_t object,
                                             char *version, unsigned int length)
{
    (void)device;
    if ((unsigned)object >= NVML_INFOROM_COUNT)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (object == NVML_INFOROM_ECC && !sim_nvml_facts()->ecc)
        return NVML_ERROR_NOT_SUPPORTED;
    if (object != NVML_INFOROM_OEM && object != NVML_INFOROM_ECC)
        return NVML_ERROR_NOT_SUPPORTED;
    return sim_nvml_text(object == NVML_INFOROM_ECC ? "7.16" : "2.1", version, length);
}

nvmlReturn_t sim_nvmlDeviceValidateInforom(nvmlDevice_t device)
{
    (void)device;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor)
{
    (void)device;
    *major = SIM_ATTRIBUTE(COMPUTE_CAPABILITY_MAJOR);
    *minor = SIM_ATTRIBUTE(COMPUTE_CAPABILITY_MINOR);
    return NVML_SUCCESS;
}

/* The firmware of the management processor, which devices have from turing on. */
static bool has_firmware(void)
{
    return sim_nvml_facts()->architecture >= NVML_DEVICE_ARCH_TURING;
}

nvmlReturn_t sim_nvmlDeviceGetGspFirmwareVersion(nvmlDevice_t device, char *version)
{
    (void)device;
    return has_firmware()
               ? sim_nvmlSystemGetDriverVersion(version, NVML_GSP_FIRMWARE_VERSION_BUF_SIZE)
               : NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t sim_nvmlDeviceGetGspFirmwareMode(nvmlDevice_t device, unsigned int *isEnabled,
                                              unsigned int *defaultMode)
{
    (void)device;
    *isEnabled = *defaultMode = has_firmware();
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetHostname_v1(nvmlDevice_t device, nvmlHostname_v1_t *hostname)
{
    (void)device;
    memset(hostname, 0, sizeof *hostname);
    return gethostname(hostname->value, sizeof hostname->value - 1) == 0 ? NVML_SUCCESS
                                                                         : NVML_ERROR_UNKNOWN;
}

nvmlReturn_t sim_nvmlDeviceGetGpuUptime_v1(nvmlDevice_t device, nvmlGpuUptime_v1_t *uptime)
{
    (void)device;
    uptime->uptime = (unsigned)(sim_clock_ns() / 1000000000);
    return NVML_SUCCESS;
}

/* ---- MIG, which is off */

nvmlReturn_t sim_nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *currentMode,
                                      unsigned int *pendingMode)
{
    (void)device;
    if (!sim_nvml_facts()->mig)
        return NVML_ERROR_NOT_SUPPORTED;
    *currentMode = *pendingMode = NVML_DEVICE_MIG_DISABLE;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceSetMigMode(nvmlDevice_t device, unsigned int mode,
                                      nvmlReturn_t *activationStatus)
{
    (void)device;
    if (!sim_nvml_facts()->mig || mode != NVML_DEVICE_MIG_DISABLE)
        return NVML_ERROR_NOT_SUPPORTED; /* the simulator has no instances */
    *activationStatus = NVML_SUCCESS;
    return NVML_SUCCESS;
}

SIM_NUMBER(nvmlDeviceGetMaxMigDeviceCount, unsigned int, 0)
SIM_NUMBER(nvmlDeviceIsMigDeviceHandle, unsigned int, 0)

nvmlReturn_t sim_nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned int index,
                                                     nvmlDevice_t *migDevice)
{
    (void)device, (void)index, (void)migDevice;
    return sim_nvml_facts()->mig ? NVML_ERROR_NOT_FOUND : NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t sim_nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t migDevice,
                                                              nvmlDevice_t *device)
{
    (void)migDevice, (void)device;
    return NVML_ERROR_INVALID_ARGUMENT;
}
