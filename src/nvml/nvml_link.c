/* SPDX-License-Identifier: MIT */
/* NVLinks and their fabric. */
#include <string.h>

#include <cushim/nvml.h>

#include "loader/last_error.h"

/* Links that work, and their version. */
static nvmlReturn_t nvml_link_count(const struct cushim_nvml *nvml, nvmlDevice_t device,
                                    struct cushim_nvml_links *links)
{
    for (unsigned i = 0; i < NVML_NVLINK_MAX_LINKS; i++) {
        nvmlEnableState_t state = NVML_FEATURE_DISABLED;
        nvmlReturn_t result = nvml->nvmlDeviceGetNvLinkState(device, i, &state);
        if (result == NVML_ERROR_NOT_SUPPORTED || result == NVML_ERROR_FUNCTION_NOT_FOUND ||
            (result == NVML_ERROR_INVALID_ARGUMENT && i > 0))
            return NVML_SUCCESS; /* the device has no more; an older NVML knows no more */
        if (result != NVML_SUCCESS)
            return result;
        if (state != NVML_FEATURE_ENABLED)
            continue;
        links->active++;
        if (!links->version)
            (void)nvml->nvmlDeviceGetNvLinkVersion(device, i, &links->version);
    }
    return NVML_SUCCESS;
}

static void nvml_link_fabric(const struct cushim_nvml *nvml, nvmlDevice_t device,
                             struct cushim_nvml_links *links)
{
    /* The third version is the second with a member more; room is made for both. */
    nvmlGpuFabricInfo_v3_t newest = {.version = nvmlGpuFabricInfo_v3};
    nvmlGpuFabricInfo_t first;
    memset(&first, 0, sizeof first);
    nvmlReturn_t result =
        nvml->nvmlDeviceGetGpuFabricInfoV(device, (nvmlGpuFabricInfoV_t *)&newest);
    if (result != NVML_SUCCESS) {
        newest.version = nvmlGpuFabricInfo_v2;
        result = nvml->nvmlDeviceGetGpuFabricInfoV(device, (nvmlGpuFabricInfoV_t *)&newest);
    }
    if (result == NVML_SUCCESS) {
        memcpy(links->cluster_uuid, newest.clusterUuid, sizeof links->cluster_uuid);
        links->fabric_state = newest.state;
        links->fabric_status = newest.status;
        links->clique = newest.cliqueId;
        links->health_mask = newest.healthMask;
    } else if (nvml->nvmlDeviceGetGpuFabricInfo(device, &first) == NVML_SUCCESS) {
        /* Of which the clique was called a partition before 12.3, and had its place. */
        struct {
            unsigned char uuid[16];
            nvmlReturn_t status;
            unsigned clique;
            nvmlGpuFabricState_t state;
        } same;
        _Static_assert(sizeof same == sizeof first, "one layout by two names");
        memcpy(&same, &first, sizeof same);
        memcpy(links->cluster_uuid, same.uuid, sizeof links->cluster_uuid);
        links->fabric_state = same.state;
        links->fabric_status = same.status;
        links->clique = same.clique;
    }
}

nvmlReturn_t cushim_nvml_link_describe(const struct cushim_nvml *nvml, nvmlDevice_t device,
                                       struct cushim_nvml_links *links)
{
    struct cushim_nvml_links found = {.active = 0};
    nvmlReturn_t result = NVML_ERROR_INVALID_ARGUMENT;
    const char *what = "an argument is NULL";
    if (nvml && links) {
        what = "nvmlDeviceGetNvLinkState";
        result = nvml_link_count(nvml, device, &found);
    }
    if (result != NVML_SUCCESS) {
        const char *name = cushim_nvml_error_name(result);
        cushim_last_error_set("%s: %s: %s", __func__, what, name ? name : "an unknown error");
        return result;
    }
    nvml_link_fabric(nvml, device, &found);
    *links = found;
    return NVML_SUCCESS;
}
