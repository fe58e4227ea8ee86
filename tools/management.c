/* SPDX-License-Identifier: MIT */
#include "management.h"

#include "output.h"

#include <stdio.h>

static const struct cushim_nvml *nvml(void)
{
    return cushim_nvml_load(NULL);
}

size_t management_entries(void)
{
    const size_t first = offsetof(struct cushim_nvml, library) + sizeof(void *);
    size_t count = 0;

    for (size_t i = 0; i < CUSHIM_NVML_ENTRY_COUNT; i++)
        count += cushim_nvml_has_(nvml(), first + i * sizeof(void *));
    return count;
}

bool management_start(const char **text)
{
    nvmlReturn_t result = nvml()->nvmlInit();

    if (result == NVML_ERROR_FUNCTION_NOT_FOUND)
        result = nvml()->nvmlInit_v1();
    *text = result == NVML_SUCCESS                    ? ""
            : cushim_nvml_status(nvml()) != CUSHIM_OK ? cushim_nvml_message(nvml())
                                                      : nvml()->nvmlErrorString(result);
    return result == NVML_SUCCESS;
}

void management_read(const struct cushim_api *cu, CUdevice device, struct management_facts *facts)
{
    nvmlDevice_t handle = NULL;
    nvmlEnableState_t ecc, ecc_pending;
    unsigned mig, mig_pending;

    *facts = (struct management_facts){.ecc = -1, .mig = -1};
    if (cushim_nvml_device(nvml(), cu, device, &handle) != NVML_SUCCESS ||
        cushim_nvml_usage_describe(nvml(), handle, &facts->usage) != NVML_SUCCESS)
        return;
    facts->known = true;
    /* What a device has nothing of stays 0. */
    (void)cushim_nvml_process_list(nvml(), handle, NULL, 0, &facts->processes);
    (void)cushim_nvml_link_describe(nvml(), handle, &facts->links);
    if (nvml()->nvmlDeviceGetEccMode(handle, &ecc, &ecc_pending) == NVML_SUCCESS)
        facts->ecc = ecc == NVML_FEATURE_ENABLED;
    if (nvml()->nvmlDeviceGetMigMode(handle, &mig, &mig_pending) == NVML_SUCCESS)
        facts->mig = mig == NVML_DEVICE_MIG_ENABLE;
}

static const char *fabric_name(unsigned state)
{
    switch (state) {
    case NVML_GPU_FABRIC_STATE_NOT_STARTED:
        return "not-started";
    case NVML_GPU_FABRIC_STATE_IN_PROGRESS:
        return "in-progress";
    case NVML_GPU_FABRIC_STATE_COMPLETED:
        return "completed";
    default:
        return NULL;
    }
}

const char *management_words(char text[MANAGEMENT_TEXT_SIZE], const struct management_facts *facts)
{
    const struct cushim_nvml_usage *usage = &facts->usage;
    const char *fabric = fabric_name(facts->links.fabric_state);
    char busy[64] = "", links[96] = "", joined[64] = "";

    if (!facts->known) {
        snprintf(text, MANAGEMENT_TEXT_SIZE, "%s", cushim_last_error());
        return text;
    }
    if (usage->gpu_percent != CUSHIM_NVML_UNKNOWN)
        snprintf(busy, sizeof busy, ", %llu %% busy", usage->gpu_percent);
    if (facts->links.active)
        snprintf(links, sizeof links, ", NVLinks: %u", facts->links.active);
    if (fabric)
        snprintf(joined, sizeof joined, ", fabric: %s", fabric);
    snprintf(text, MANAGEMENT_TEXT_SIZE, "%llu of %llu MiB in use, processes: %zu%s%s%s%s%s",
             usage->used >> 20, usage->total >> 20, facts->processes, busy, links, joined,
             facts->ecc < 0 ? ""
             : facts->ecc   ? ", ECC on"
                            : ", ECC off",
             facts->mig < 0 ? ""
             : facts->mig   ? ", MIG on"
                            : ", MIG off");
    return text;
}

static json_t *number_json(unsigned long long number)
{
    return number == CUSHIM_NVML_UNKNOWN ? json_null() : json_integer((json_int_t)number);
}

static json_t *mode_json(int mode)
{
    return mode < 0 ? json_null() : json_boolean(mode);
}

json_t *management_json(const struct management_facts *facts)
{
    json_t *object;

    if (!facts->known)
        return json_null();
    object = json_object();
    output_json_set(object, "used", number_json(facts->usage.used));
    output_json_set(object, "processes", json_integer((json_int_t)facts->processes));
    output_json_set(object, "gpu_percent", number_json(facts->usage.gpu_percent));
    output_json_set(object, "nvlinks", json_integer(facts->links.active));
    output_json_set(object, "fabric", output_json_text(fabric_name(facts->links.fabric_state)));
    output_json_set(object, "ecc", mode_json(facts->ecc));
    output_json_set(object, "mig", mode_json(facts->mig));
    return object;
}
