/* SPDX-License-Identifier: MIT */
/* Devices: found, named; what NVML tells of the system. CUDA_VISIBLE_DEVICES changes none of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <cushim/compat.h>

#include "device/device.h"
#include "nvml/nvml.h"

#define SERIAL_TEXT 16

/* ---- found */

nvmlReturn_t sim_nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device)
{
    nvmlDevice_t found = index < SIM_MAX_DEVICES ? sim_nvml_device((int)index) : NULL;
    if (!found)
        return NVML_ERROR_INVALID_ARGUMENT;
    *device = found;
    return NVML_SUCCESS;
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

/* ---- named */

nvmlReturn_t sim_nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length)
{
    char text[SIM_UUID_TEXT];
    sim_identity_uuid_text(device->number, text);
    return sim_nvml_text(text, uuid, length);
}

nvmlReturn_t sim_nvmlDeviceGetSerial(nvmlDevice_t device, char *serial, unsigned int length)
{
    char text[SERIAL_TEXT];
    serial_of(device->number, text);
    return sim_nvml_text(text, serial, length);
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

/* ---- the system */

/* The newest driver that a toolkit of that release came with. */
const char *sim_nvml_driver(void)
{
    struct cushim_toolkit toolkit = {.size = sizeof toolkit};
    const char *found = "0.0";
    for (size_t i = 0; cushim_toolkit_at(i, &toolkit); i++)
        if (toolkit.release <= sim_config.cuda && toolkit.linux_driver)
            found = toolkit.linux_driver;
    return found;
}

nvmlReturn_t sim_nvmlSystemGetNVMLVersion(char *version, unsigned int length)
{
    char text[NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE];
    snprintf(text, sizeof text, "%d.%s", sim_config.cuda / 1000, sim_nvml_driver());
    return sim_nvml_text(text, version, length);
}

nvmlReturn_t sim_nvmlSystemGetDriverBranch(nvmlSystemDriverBranchInfo_t *branchInfo,
                                           unsigned int length)
{
    char text[sizeof branchInfo->branch];
    snprintf(text, sizeof text, "r%d_00", atoi(sim_nvml_driver()));
    return sim_nvml_text(text, branchInfo->branch, length);
}

nvmlReturn_t sim_nvmlSystemGetProcessName(unsigned int pid, char *name, unsigned int length)
{
    char path[32], text[4096] = "";
    if (!length)
        return NVML_ERROR_INVALID_ARGUMENT;
    snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return NVML_ERROR_NOT_FOUND;
    (void)!fread(text, 1, sizeof text - 1, file); /* the first of its strings */
    fclose(file);
    snprintf(name, length, "%s", text); /* as NVML does, what there is room for */
    return NVML_SUCCESS;
}
