/* SPDX-License-Identifier: MIT */
/* Devices: found, named; what NVML tells of the system. CUDA_VISIBLE_DEVICES changes none of it. */
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#include <cushim/compat.h>

#include "device/device.h"
#include "nvml/nvml.h"

/* ---- found */

char *sim_nvml_serial(int number, char *text)
{
    snprintf(text, SIM_UUID_TEXT, "165%010u", 4200000001U + (unsigned)number);
    return text;
}

/* The device of which a text is the serial number or the UUID. */
static nvmlReturn_t find(const char *text, char *(*of)(int number, char *text),
                         nvmlDevice_t *device)
{
    for (int i = 0; i < sim_config.devices; i++)
        if (strcasecmp(of(i, (char[SIM_UUID_TEXT]){""}), text) == 0) {
            *device = sim_nvml_device(i);
            return NVML_SUCCESS;
        }
    return NVML_ERROR_NOT_FOUND;
}

SIM_NVML_ENTRY(nvmlDeviceGetHandleByUUID, find(uuid, sim_identity_uuid_text, device))
SIM_NVML_ENTRY(nvmlDeviceGetHandleBySerial, find(serial, sim_nvml_serial, device))

nvmlReturn_t sim_nvmlDeviceGetHandleByUUIDV(const nvmlUUID_t *uuid, nvmlDevice_t *device)
{
    if (uuid->type == NVML_UUID_TYPE_ASCII)
        return memchr(uuid->value.str, '\0', sizeof uuid->value.str)
                   ? find(uuid->value.str, sim_identity_uuid_text, device)
                   : NVML_ERROR_INVALID_ARGUMENT;
    SIM_NVML_FAIL(INVALID_ARGUMENT, uuid->type != NVML_UUID_TYPE_BINARY);
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
        SIM_NVML_FAIL(INVALID_ARGUMENT, sscanf(pciBusId, "%x:%x", &bus, &place) != 2);
    }
    for (int i = 0; i < sim_config.devices; i++)
        if (!domain && bus == (unsigned)sim_identity_bus(i) && !place) {
            *device = sim_nvml_device(i);
            return NVML_SUCCESS;
        }
    return NVML_ERROR_NOT_FOUND;
}

/* ---- named */

nvmlReturn_t sim_nvmlDeviceGetHostname_v1(nvmlDevice_t device, nvmlHostname_v1_t *hostname)
{
    memset(hostname, 0, sizeof *hostname);
    return gethostname(hostname->value, sizeof hostname->value - 1) == 0 ? NVML_SUCCESS
                                                                         : NVML_ERROR_UNKNOWN;
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

SIM_NVML(nvmlSystemGetDriverBranch)
{
    char text[sizeof branchInfo->branch];
    snprintf(text, sizeof text, "r%d_00", atoi(sim_nvml_driver()));
    return sim_nvml_text(text, branchInfo->branch, length);
}

nvmlReturn_t sim_nvmlSystemGetProcessName(unsigned int pid, char *name, unsigned int length)
{
    char path[32], text[4096] = "";
    SIM_NVML_FAIL(INVALID_ARGUMENT, !length);
    snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
    FILE *file = fopen(path, "re");
    SIM_NVML_FAIL(NOT_FOUND, !file);
    (void)!fread(text, 1, sizeof text - 1, file); /* the first of its strings */
    fclose(file);
    snprintf(name, length, "%s", text); /* as NVML does, what there is room for */
    return NVML_SUCCESS;
}

/* --- What NVML tells of the profiles: of data sheets, and hopper of an H100 and an H200 --- */

/* GeForce cards have fans, and no ECC. */
static const struct sim_nvml_facts facts_of[] = {
    {"maxwell", "SIM-GTX980", "84.04.1F.00.00", NVML_BRAND_GEFORCE, NVML_DEVICE_ARCH_MAXWELL,
     0x13c010de, 128, 165, 3, .fans = 1},
    {"pascal", "SIM-P100", "86.00.41.00.00", NVML_BRAND_TESLA, NVML_DEVICE_ARCH_PASCAL, 0x15f910de,
     64, 300, 3, .ecc = true, .links = 4, .link_version = 1, .link_mbps = 19531},
    {"volta", "SIM-V100", "88.00.4F.00.00", NVML_BRAND_TESLA, NVML_DEVICE_ARCH_VOLTA, 0x1db110de,
     64, 300, 3, .ecc = true, .links = 6, .link_version = 2, .link_mbps = 25781},
    {"turing", "SIM-T4", "90.04.38.00.00", NVML_BRAND_TESLA, NVML_DEVICE_ARCH_TURING, 0x1eb810de,
     64, 70, 3, .ecc = true},
    {"ampere", "SIM-A100", "92.00.45.00.00", NVML_BRAND_NVIDIA, NVML_DEVICE_ARCH_AMPERE, 0x20b010de,
     64, 400, 4, .ecc = true, .mig = true, .links = 12, .link_version = 3, .link_mbps = 25781},
    {"ampere86", "SIM-RTX3090", "94.02.26.00.00", NVML_BRAND_GEFORCE, NVML_DEVICE_ARCH_AMPERE,
     0x220410de, 128, 350, 4, .fans = 2},
    {"ada", "SIM-RTX4090", "95.02.3C.00.00", NVML_BRAND_GEFORCE, NVML_DEVICE_ARCH_ADA, 0x268410de,
     128, 450, 4, .fans = 2},
    {"hopper", "SIM-H200", "96.00.BC.00.00", NVML_BRAND_NVIDIA, NVML_DEVICE_ARCH_HOPPER, 0x233510de,
     128, 700, 5, .ecc = true, .mig = true, .fabric = true, .links = 18, .link_version = 4,
     .link_mbps = 26562},
    {"blackwell", "SIM-B200", "97.00.88.00.00", NVML_BRAND_NVIDIA, NVML_DEVICE_ARCH_BLACKWELL,
     0x290110de, 128, 1000, 5, .ecc = true, .mig = true, .fabric = true, .links = 18,
     .link_version = 5, .link_mbps = 53125},
    {"blackwell120", "SIM-RTX5090", "98.02.2E.00.00", NVML_BRAND_GEFORCE,
     NVML_DEVICE_ARCH_BLACKWELL, 0x2b8510de, 128, 575, 5, .fans = 2},
};

const struct sim_nvml_facts *sim_nvml_facts(void)
{
    const char *name = sim_config.profile->name;
    if (strcmp(name, "small") == 0)
        name = "ampere";
    for (size_t i = 0; i < sizeof facts_of / sizeof *facts_of; i++)
        if (strcmp(facts_of[i].profile, name) == 0)
            return &facts_of[i];
    return &facts_of[0]; /* tests/style/test_sim_rooms.py: there is none without */
}
