/* SPDX-License-Identifier: MIT */
/* NVLink and its fabric. Links lead to switches, and all of them are active. */
#include <string.h>

#include "device/device.h"
#include "nvml/nvml.h"

/* Whether a device has the link. */
static nvmlReturn_t look(unsigned link)
{
    if (link >= NVML_NVLINK_MAX_LINKS)
        return NVML_ERROR_INVALID_ARGUMENT;
    return link < sim_nvml_facts()->links ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

#define LINK(entry, type, value)                                                                   \
    nvmlReturn_t sim_##entry(nvmlDevice_t device, unsigned int link, type *answer)                 \
    {                                                                                              \
        nvmlReturn_t result = look(link);                                                          \
        (void)device;                                                                              \
        if (result == NVML_SUCCESS)                                                                \
            *answer = (type)(value);                                                               \
        return result;                                                                             \
    }
LINK(nvmlDeviceGetNvLinkState, nvmlEnableState_t, NVML_FEATURE_ENABLED)
LINK(nvmlDeviceGetNvLinkVersion, unsigned int, sim_nvml_facts()->link_version)
LINK(nvmlDeviceGetNvLinkRemoteDeviceType, nvmlIntNvLinkDeviceType_t, NVML_NVLINK_DEVICE_TYPE_SWITCH)

nvmlReturn_t sim_nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned int link,
                                                     nvmlPciInfo_t *pci)
{
    nvmlReturn_t result = look(link);
    (void)device;
    if (result != NVML_SUCCESS)
        return result;
    *pci = (nvmlPciInfo_t){.busIdLegacy = "0000:FD:00.0",
                           .bus = 0xfd,
                           .pciDeviceId = 0x22a310de,
                           .busId = "00000000:FD:00.0"};
    return NVML_SUCCESS;
}

/* The first version's structure ends before the longer address. */
nvmlReturn_t sim_nvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t device, unsigned int link,
                                                  nvmlPciInfo_t *pci)
{
    nvmlPciInfo_t whole;
    nvmlReturn_t result = sim_nvmlDeviceGetNvLinkRemotePciInfo_v2(device, link, &whole);
    if (result == NVML_SUCCESS)
        memcpy(pci, &whole, offsetof(nvmlPciInfo_t, busId));
    return result;
}

nvmlReturn_t sim_nvmlDeviceGetNvLinkCapability(nvmlDevice_t device, unsigned int link,
                                               nvmlNvLinkCapability_t capability,
                                               unsigned int *capResult)
{
    nvmlReturn_t result = look(link);
    (void)device;
    if (result == NVML_SUCCESS && (unsigned)capability >= NVML_NVLINK_CAP_COUNT)
        result = NVML_ERROR_INVALID_ARGUMENT;
    if (result == NVML_SUCCESS)
        *capResult = capability != NVML_NVLINK_CAP_SLI_BRIDGE;
    return result;
}

nvmlReturn_t sim_nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t device, unsigned int link,
                                                 nvmlNvLinkErrorCounter_t counter,
                                                 unsigned long long *counterValue)
{
    nvmlReturn_t result = look(link);
    (void)device;
    if (result == NVML_SUCCESS && (unsigned)counter >= NVML_NVLINK_ERROR_COUNT)
        result = NVML_ERROR_INVALID_ARGUMENT;
    if (result == NVML_SUCCESS)
        *counterValue = 0;
    return result;
}

nvmlReturn_t sim_nvmlDeviceResetNvLinkErrorCounters(nvmlDevice_t device, unsigned int link)
{
    (void)device;
    return look(link);
}

nvmlReturn_t sim_nvmlDeviceGetNvLinkInfo(nvmlDevice_t device, nvmlNvLinkInfo_t *info)
{
    (void)device;
    if (!sim_nvml_facts()->links)
        return NVML_ERROR_NOT_SUPPORTED;
    info->isNvleEnabled = 0; /* at the same place in both versions */
    if (info->version == nvmlNvLinkInfo_v2)
        memset(&info->firmwareInfo, 0, sizeof info->firmwareInfo);
    return NVML_SUCCESS;
}

/* ---- the fabric: one clique, complete and healthy */

/* Of the cluster, the same for all devices. */
static void cluster(unsigned char uuid[16])
{
    CUuuid first = sim_identity_uuid(SIM_MAX_DEVICES);
    memcpy(uuid, first.bytes, sizeof first.bytes);
}

#define HEALTHY                                                                                    \
    (NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_FALSE << NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_DEGRADED_BW)

nvmlReturn_t sim_nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device, nvmlGpuFabricInfo_t *info)
{
    (void)device;
    *info = (nvmlGpuFabricInfo_t){.state = NVML_GPU_FABRIC_STATE_NOT_SUPPORTED};
    if (!sim_nvml_facts()->fabric)
        return NVML_SUCCESS;
    info->state = NVML_GPU_FABRIC_STATE_COMPLETED;
    info->status = NVML_SUCCESS;
    cluster((unsigned char *)info->clusterUuid);
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t device, nvmlGpuFabricInfoV_t *info)
{
    nvmlGpuFabricInfo_t first;
    (void)sim_nvmlDeviceGetGpuFabricInfo(device, &first);
    memcpy(info->clusterUuid, first.clusterUuid, sizeof info->clusterUuid);
    info->status = first.status;
    info->cliqueId = 0;
    info->state = first.state;
    info->healthMask = sim_nvml_facts()->fabric ? HEALTHY : 0;
    if (info->version == nvmlGpuFabricInfo_v3) /* which is longer */
        info->healthSummary = sim_nvml_facts()->fabric
                                  ? NVML_GPU_FABRIC_HEALTH_SUMMARY_HEALTHY
                                  : NVML_GPU_FABRIC_HEALTH_SUMMARY_NOT_SUPPORTED;
    return NVML_SUCCESS;
}
