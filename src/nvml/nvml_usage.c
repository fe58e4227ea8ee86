/* SPDX-License-Identifier: MIT */
/* Memory in use, utilisation and processes, by the newest version of each function that is there.
 * Versions before differ in their structures, and a driver has those of its time. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <cushim/nvml.h>

#include "loader/last_error.h"

/* The processes of a device change between two calls: how often to ask for more of them. */
#define NVML_TRIES 8

static nvmlReturn_t nvml_usage_fail(const char *helper, nvmlReturn_t result, const char *what)
{
    const char *name = cushim_nvml_error_name(result);
    cushim_last_error_set("%s: %s: %s", helper, what, name ? name : "an unknown error");
    return result;
}

nvmlReturn_t cushim_nvml_usage_describe(const struct cushim_nvml *nvml, nvmlDevice_t device,
                                        struct cushim_nvml_usage *usage)
{
    if (!nvml || !usage)
        return nvml_usage_fail(__func__, NVML_ERROR_INVALID_ARGUMENT, "an argument is NULL");
    struct cushim_nvml_usage found = {.reserved = CUSHIM_NVML_UNKNOWN,
                                      .gpu_percent = CUSHIM_NVML_UNKNOWN,
                                      .memory_percent = CUSHIM_NVML_UNKNOWN};
    nvmlMemory_v2_t second = {.version = nvmlMemory_v2};
    nvmlReturn_t result = nvml->nvmlDeviceGetMemoryInfo_v2(device, &second);
    if (result == NVML_SUCCESS) {
        found.total = second.total;
        found.used = second.used;
        found.free = second.free;
        found.reserved = second.reserved;
    } else {
        nvmlMemory_t first;
        result = nvml->nvmlDeviceGetMemoryInfo(device, &first);
        if (result != NVML_SUCCESS)
            return nvml_usage_fail(__func__, result, "nvmlDeviceGetMemoryInfo");
        found.total = first.total;
        found.used = first.used;
        found.free = first.free;
    }
    nvmlUtilization_t rates;
    if (nvml->nvmlDeviceGetUtilizationRates(device, &rates) == NVML_SUCCESS) {
        found.gpu_percent = rates.gpu;
        found.memory_percent = rates.memory;
    }
    *usage = found;
    return NVML_SUCCESS;
}

/* ---- processes */

struct nvml_usage_list {
    struct cushim_nvml_process *processes; /* from malloc */
    size_t count, room;
};

/* One of a list that NVML gave; false for want of memory. */
static bool nvml_usage_add(struct nvml_usage_list *list, unsigned kind,
                           const nvmlProcessInfo_v2_t *info)
{
    for (size_t i = 0; i < list->count; i++) {
        struct cushim_nvml_process *known = &list->processes[i];
        if (known->pid == info->pid && known->gpu_instance == info->gpuInstanceId &&
            known->compute_instance == info->computeInstanceId) {
            known->kinds |= kind;
            return true;
        }
    }
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 16;
        void *more = realloc(list->processes, room * sizeof *list->processes);
        if (!more)
            return false;
        list->processes = more;
        list->room = room;
    }
    list->processes[list->count++] = (struct cushim_nvml_process){
        .pid = info->pid,
        .kinds = kind,
        .used = info->usedGpuMemory, /* of all ones if NVML cannot tell */
        .gpu_percent = CUSHIM_NVML_UNKNOWN,
        .gpu_instance = info->gpuInstanceId,
        .compute_instance = info->computeInstanceId,
    };
    return true;
}

/* The functions of one kind, newest first. The second and the third have one structure. */
struct nvml_usage_source {
    nvmlReturn_t (*third)(nvmlDevice_t, unsigned *, nvmlProcessInfo_t *);
    nvmlReturn_t (*second)(nvmlDevice_t, unsigned *, nvmlProcessInfo_v2_t *);
    nvmlReturn_t (*first)(nvmlDevice_t, unsigned *, nvmlProcessInfo_v1_t *);
    unsigned kind;
};

/* All that one function lists, into memory of malloc's. */
static nvmlReturn_t nvml_usage_ask(const struct nvml_usage_source *source, nvmlDevice_t device,
                                   struct nvml_usage_list *list)
{
    nvmlReturn_t result = NVML_ERROR_INSUFFICIENT_SIZE;
    unsigned room = 0, count = 0;
    void *infos = NULL;
    for (int i = 0; i < NVML_TRIES && result == NVML_ERROR_INSUFFICIENT_SIZE; i++) {
        void *larger = realloc(infos, (room + 1) * sizeof(nvmlProcessInfo_v2_t));
        if (!larger) {
            free(infos);
            return NVML_ERROR_MEMORY;
        }
        infos = larger;
        count = room;
        result = source->third    ? source->third(device, &count, infos)
                 : source->second ? source->second(device, &count, infos)
                                  : source->first(device, &count, infos);
        room = count + 8;
    }
    for (unsigned i = 0; i < count && result == NVML_SUCCESS; i++) {
        const nvmlProcessInfo_v1_t *first = infos;
        nvmlProcessInfo_v2_t info = {.gpuInstanceId = UINT_MAX, .computeInstanceId = UINT_MAX};
        if (source->third || source->second) {
            info = ((const nvmlProcessInfo_v2_t *)infos)[i];
        } else {
            info.pid = first[i].pid;
            info.usedGpuMemory = first[i].usedGpuMemory;
        }
        if (!nvml_usage_add(list, source->kind, &info))
            result = NVML_ERROR_MEMORY;
    }
    free(infos);
    return result;
}

/* How busy each process keeps the device. A driver keeps samples of some seconds, the newest last;
 * without any the list stays as it is. */
static void nvml_usage_busy(const struct cushim_nvml *nvml, nvmlDevice_t device,
                            const struct nvml_usage_list *list)
{
    unsigned count = 0;
    if (nvml->nvmlDeviceGetProcessUtilization(device, NULL, &count, 0) !=
            NVML_ERROR_INSUFFICIENT_SIZE ||
        count == 0)
        return;
    nvmlProcessUtilizationSample_t *samples = calloc(count, sizeof *samples);
    if (samples &&
        nvml->nvmlDeviceGetProcessUtilization(device, samples, &count, 0) == NVML_SUCCESS)
        for (unsigned i = 0; i < count; i++)
            for (size_t j = 0; j < list->count; j++)
                if (list->processes[j].pid == samples[i].pid)
                    list->processes[j].gpu_percent = samples[i].smUtil;
    free(samples);
}

/* The entry if this NVML has it, else NULL. */
#define NVML_ENTRY(entry) (CUSHIM_NVML_HAS(nvml, entry) ? nvml->entry : NULL)

nvmlReturn_t cushim_nvml_process_list(const struct cushim_nvml *nvml, nvmlDevice_t device,
                                      struct cushim_nvml_process *list, size_t room, size_t *count)
{
    if (!nvml || !count || (!list && room))
        return nvml_usage_fail(__func__, NVML_ERROR_INVALID_ARGUMENT, "an argument is NULL");
    const struct nvml_usage_source sources[] = {
        {NVML_ENTRY(nvmlDeviceGetComputeRunningProcesses_v3),
         NVML_ENTRY(nvmlDeviceGetComputeRunningProcesses_v2),
         nvml->nvmlDeviceGetComputeRunningProcesses_v1, CUSHIM_NVML_COMPUTE},
        {NVML_ENTRY(nvmlDeviceGetGraphicsRunningProcesses_v3),
         NVML_ENTRY(nvmlDeviceGetGraphicsRunningProcesses_v2),
         nvml->nvmlDeviceGetGraphicsRunningProcesses_v1, CUSHIM_NVML_GRAPHICS},
        {NVML_ENTRY(nvmlDeviceGetMPSComputeRunningProcesses_v3),
         NVML_ENTRY(nvmlDeviceGetMPSComputeRunningProcesses_v2),
         nvml->nvmlDeviceGetMPSComputeRunningProcesses_v1, CUSHIM_NVML_MPS},
    };
    struct nvml_usage_list found = {.count = 0};
    nvmlReturn_t result = NVML_SUCCESS;
    for (size_t i = 0; i < sizeof sources / sizeof *sources && result == NVML_SUCCESS; i++) {
        nvmlReturn_t asked = nvml_usage_ask(&sources[i], device, &found);
        /* A device without graphics, or a driver before the service, has no such processes. */
        if (i == 0 || asked == NVML_ERROR_MEMORY || asked == NVML_ERROR_GPU_IS_LOST)
            result = asked;
    }
    if (result == NVML_SUCCESS) {
        nvml_usage_busy(nvml, device, &found);
        if (found.count && room)
            memcpy(list, found.processes, (found.count < room ? found.count : room) * sizeof *list);
        *count = found.count;
    }
    free(found.processes);
    return result == NVML_SUCCESS
               ? result
               : nvml_usage_fail(__func__, result, "nvmlDeviceGetComputeRunningProcesses");
}
