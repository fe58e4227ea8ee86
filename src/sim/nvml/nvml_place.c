/* SPDX-License-Identifier: MIT */
/* Where a device is: its bus, its processors, its neighbours; NVLink and its fabric. */
#include <sched.h>
#include <stdio.h>

#include "device/device.h"
#include "nvml/nvml.h"

#define WORD_BITS (8 * sizeof(unsigned long))

/* ---- PCI Express */

nvmlReturn_t sim_nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    *pci = (nvmlPciInfo_t){.bus = (unsigned)sim_identity_bus(device->number),
                           .pciDeviceId = sim_nvml_facts()->pci,
                           .pciSubSystemId = 0x15f310de};
    snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0", pci->bus & 0xffU);
    snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "0000:%02X:00.0", pci->bus & 0xffU);
    return NVML_SUCCESS;
}

/* The structures of the first two versions are shorter: up to the subsystem, and with 16 bytes. */
nvmlReturn_t sim_nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    nvmlPciInfo_t whole;
    (void)sim_nvmlDeviceGetPciInfo_v3(device, &whole);
    memset(whole.busId, 0, sizeof whole.busId);
    memcpy(pci, &whole, offsetof(nvmlPciInfo_t, busId) + 16);
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    nvmlPciInfo_t whole;
    (void)sim_nvmlDeviceGetPciInfo_v3(device, &whole);
    memcpy(pci, &whole, offsetof(nvmlPciInfo_t, pciSubSystemId));
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_t *pci)
{
    nvmlPciInfo_t info;
    (void)sim_nvmlDeviceGetPciInfo_v3(device, &info);
    *pci = (nvmlPciInfoExt_t){.version = pci->version,
                              .bus = info.bus,
                              .pciDeviceId = info.pciDeviceId,
                              .pciSubSystemId = info.pciSubSystemId,
                              .baseClass = 3,
                              .subClass = 2};
    memcpy(pci->busId, info.busId, sizeof pci->busId);
    return NVML_SUCCESS;
}

/* ---- processors: all that the process may use */

SIM_NVML(nvmlDeviceGetCpuAffinity)
{
    cpu_set_t set;
    SIM_NVML_FAIL(UNKNOWN, sched_getaffinity(0, sizeof set, &set) != 0);
    memset(cpuSet, 0, cpuSetSize * sizeof *cpuSet);
    for (size_t i = 0; i < cpuSetSize * WORD_BITS && i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set))
            cpuSet[i / WORD_BITS] |= 1UL << i % WORD_BITS;
    return NVML_SUCCESS;
}

SIM_NVML(nvmlDeviceGetMemoryAffinity)
{
    memset(nodeSet, 0, nodeSetSize * sizeof *nodeSet);
    *nodeSet = 1;
    return NVML_SUCCESS;
}

/* ---- neighbours */

/* All devices but one; NULL: all. */
static nvmlReturn_t list(nvmlDevice_t but, unsigned *count, nvmlDevice_t *devices)
{
    unsigned room = *count, found = 0;
    for (int i = 0; i < sim_config.devices; i++) {
        nvmlDevice_t device = sim_nvml_device(i);
        if (device == but)
            continue;
        if (devices && found < room)
            devices[found] = device;
        found++;
    }
    *count = devices && room < found ? room : found;
    return NVML_SUCCESS;
}

SIM_NVML(nvmlDeviceGetTopologyNearestGpus)
{
    if (level == NVML_TOPOLOGY_NODE)
        return list(device, count, deviceArray);
    *count = 0;
    return NVML_SUCCESS;
}

SIM_NVML_ENTRY(nvmlSystemGetTopologyGpuSet, list(NULL, count, deviceArray))

/* ---- NVLink: links lead to switches, and all of them are active */

/* The first version's structure ends before the longer address. */
SIM_NVML(nvmlDeviceGetNvLinkRemotePciInfo)
{
    nvmlPciInfo_t whole;
    (void)sim_nvmlDeviceGetNvLinkRemotePciInfo_v2(device, link, &whole);
    memcpy(pci, &whole, offsetof(nvmlPciInfo_t, busId));
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetNvLinkInfo(nvmlDevice_t device, nvmlNvLinkInfo_t *info)
{
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
