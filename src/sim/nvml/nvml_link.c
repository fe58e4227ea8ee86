/* SPDX-License-Identifier: MIT */
/* NVLink and its fabric. Links lead to switches, and all of them are active. */
#include <string.h>

#include "device/device.h"
#include "nvml/nvml.h"

nvmlReturn_t sim_nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned int link,
                                                     nvmlPciInfo_t *pci)
{
    (void)device, (void)link;
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
    (void)sim_nvmlDeviceGetNvLinkRemotePciInfo_v2(device, link, &whole);
    memcpy(pci, &whole, offsetof(nvmlPciInfo_t, busId));
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetNvLinkInfo(nvmlDevice_t device, nvmlNvLinkInfo_t *info)
{
    (void)device;
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
