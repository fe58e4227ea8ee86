/* SPDX-License-Identifier: MIT */
/* Initialisation, and what NVML tells of the system. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cushim/compat.h>

#include "nvml/nvml.h"

nvmlReturn_t sim_nvmlInit(void)
{
    return sim_nvml_enter();
}

nvmlReturn_t sim_nvmlInit_v2(void)
{
    return sim_nvml_enter();
}

nvmlReturn_t sim_nvmlInitWithFlags(unsigned int flags)
{
    (void)flags;
    return sim_nvml_enter();
}

nvmlReturn_t sim_nvmlShutdown(void)
{
    return sim_nvml_leave();
}

/* The newest driver that a toolkit of that release came with. */
static const char *driver_version(void)
{
    struct cushim_toolkit toolkit = {.size = sizeof toolkit};
    const char *found = "0.0";
    for (size_t i = 0; cushim_toolkit_at(i, &toolkit); i++)
        if (toolkit.release <= sim_config.cuda && toolkit.linux_driver)
            found = toolkit.linux_driver;
    return found;
}

nvmlReturn_t sim_nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
    return sim_nvml_text(driver_version(), version, length);
}

nvmlReturn_t sim_nvmlSystemGetNVMLVersion(char *version, unsigned int length)
{
    char text[NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE];
    snprintf(text, sizeof text, "%d.%s", sim_config.cuda / 1000, driver_version());
    return sim_nvml_text(text, version, length);
}

nvmlReturn_t sim_nvmlSystemGetDriverBranch(nvmlSystemDriverBranchInfo_t *branchInfo,
                                           unsigned int length)
{
    char text[sizeof branchInfo->branch];
    snprintf(text, sizeof text, "r%d_00", atoi(driver_version()));
    return sim_nvml_text(text, branchInfo->branch, length);
}

nvmlReturn_t sim_nvmlSystemGetCudaDriverVersion(int *cudaDriverVersion)
{
    *cudaDriverVersion = sim_config.cuda;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlSystemGetCudaDriverVersion_v2(int *cudaDriverVersion)
{
    return sim_nvmlSystemGetCudaDriverVersion(cudaDriverVersion);
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

/* ---- what this machine has none of */

#define NONE(entry)                                                                                \
    nvmlReturn_t sim_##entry(unsigned int *count)                                                  \
    {                                                                                              \
        *count = 0;                                                                                \
        return NVML_SUCCESS;                                                                       \
    }
NONE(nvmlUnitGetCount)
NONE(nvmlGetExcludedDeviceCount)
NONE(nvmlGetBlacklistDeviceCount)

nvmlReturn_t sim_nvmlGetExcludedDeviceInfoByIndex(unsigned int index,
                                                  nvmlExcludedDeviceInfo_t *info)
{
    (void)index, (void)info;
    return NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t sim_nvmlGetBlacklistDeviceInfoByIndex(unsigned int index,
                                                   nvmlBlacklistDeviceInfo_t *info)
{
    (void)index, (void)info;
    return NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t sim_nvmlUnitGetHandleByIndex(unsigned int index, nvmlUnit_t *unit)
{
    (void)index, (void)unit;
    return NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t sim_nvmlSystemGetHicVersion(unsigned int *hwbcCount, nvmlHwbcEntry_t *hwbcEntries)
{
    (void)hwbcEntries;
    *hwbcCount = 0;
    return NVML_SUCCESS;
}

/* ---- confidential computing, which is off */

nvmlReturn_t sim_nvmlSystemGetConfComputeCapabilities(nvmlConfComputeSystemCaps_t *capabilities)
{
    *capabilities = (nvmlConfComputeSystemCaps_t){0};
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlSystemGetConfComputeState(nvmlConfComputeSystemState_t *state)
{
    *state = (nvmlConfComputeSystemState_t){0};
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlSystemGetConfComputeSettings(nvmlSystemConfComputeSettings_t *settings)
{
    /* Of the second version this one is the beginning, and what is behind is off as well. */
    unsigned version = settings->version;
    *settings = (nvmlSystemConfComputeSettings_t){.version = version};
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlSystemGetConfComputeGpusReadyState(unsigned int *isAcceptingWork)
{
    *isAcceptingWork = 0;
    return NVML_SUCCESS;
}
