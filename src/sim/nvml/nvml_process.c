/* SPDX-License-Identifier: MIT */
/* Processes that have a context on a device: what they use, now and since they began. */
#include <unistd.h>

#include "device/device.h"
#include "nvml/nvml.h"

#define NO_INSTANCE 0xFFFFFFFF /* of MIG */

SIM_NVML(nvmlDeviceGetComputeRunningProcesses_v3)
{
    struct sim_usage *place;
    struct sim_usage_device *use;
    unsigned room = *infoCount, count = 0;
    for (int at = 0; (use = sim_nvml_next(device, &at, &place)); count++)
        if (count < room && infos)
            infos[count] = (nvmlProcessInfo_t){.pid = (unsigned)atomic_load(&place->process),
                                               .usedGpuMemory = atomic_load(&use->bytes),
                                               .gpuInstanceId = NO_INSTANCE,
                                               .computeInstanceId = NO_INSTANCE};
    SIM_NVML_FAIL(INVALID_ARGUMENT, count && room && !infos);
    *infoCount = count;
    return count > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

SIM_NVML(nvmlDeviceGetComputeRunningProcesses)
{
    nvmlProcessInfo_t newer[SIM_USAGE_PROCESSES];
    unsigned count = SIM_USAGE_PROCESSES, room = *infoCount;
    (void)sim_nvmlDeviceGetComputeRunningProcesses_v3(device, &count, newer);
    SIM_NVML_FAIL(INVALID_ARGUMENT, count && room && !infos);
    *infoCount = count;
    SIM_NVML_FAIL(INSUFFICIENT_SIZE, count > room);
    for (unsigned i = 0; i < count; i++)
        infos[i] = (nvmlProcessInfo_v1_t){newer[i].pid, newer[i].usedGpuMemory};
    return NVML_SUCCESS;
}

SIM_NVML(nvmlDeviceGetRunningProcessDetailList)
{
    nvmlProcessInfo_t infos[SIM_USAGE_PROCESSES];
    unsigned count = SIM_USAGE_PROCESSES, room = plist->numProcArrayEntries;
    if (plist->mode != NVML_PROCESS_MODE_COMPUTE)
        count = 0;
    else
        (void)sim_nvmlDeviceGetComputeRunningProcesses_v3(device, &count, infos);
    plist->numProcArrayEntries = count;
    SIM_NVML_FAIL(INSUFFICIENT_SIZE, count > room || (count && !plist->procArray));
    for (unsigned i = 0; i < count; i++)
        plist->procArray[i] = (nvmlProcessDetail_v1_t){infos[i].pid, infos[i].usedGpuMemory,
                                                       NO_INSTANCE, NO_INSTANCE, 0};
    return NVML_SUCCESS;
}

/* ---- utilisation of each */

struct samples {
    unsigned count, room;
    unsigned long long now;
    nvmlProcessUtilizationInfo_v1_t infos[SIM_USAGE_PROCESSES];
};

/* What is newer than a time: as all samples are of now, all or none. */
static struct samples *take(nvmlDevice_t device, unsigned long long since, struct samples *samples)
{
    struct sim_usage *place;
    struct sim_usage_device *use;
    *samples = (struct samples){.now = sim_nvml_time_us()};
    for (int at = 0; since < samples->now && (use = sim_nvml_next(device, &at, &place));) {
        unsigned percent = sim_nvml_busy_of(use);
        samples->infos[samples->count++] =
            (nvmlProcessUtilizationInfo_v1_t){.timeStamp = samples->now,
                                              .pid = (unsigned)atomic_load(&place->process),
                                              .smUtil = percent,
                                              .memUtil = percent / 2};
    }
    return samples;
}

static nvmlReturn_t fits(unsigned count, unsigned *room, bool array)
{
    unsigned had = *room;
    *room = count;
    SIM_NVML_FAIL(NOT_FOUND, !count); /* no sample is newer */
    return array && had >= count ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_SIZE;
}

SIM_NVML(nvmlDeviceGetProcessUtilization)
{
    struct samples samples;
    unsigned count = take(device, lastSeenTimeStamp, &samples)->count;
    nvmlReturn_t result = fits(count, processSamplesCount, utilization);
    for (unsigned i = 0; result == NVML_SUCCESS && i < count; i++)
        utilization[i] = (nvmlProcessUtilizationSample_t){
            .pid = samples.infos[i].pid,
            .timeStamp = samples.now,
            .smUtil = samples.infos[i].smUtil,
            .memUtil = samples.infos[i].memUtil,
        };
    return result;
}

SIM_NVML(nvmlDeviceGetProcessesUtilizationInfo)
{
    nvmlProcessesUtilizationInfo_t *info = procesesUtilInfo;
    struct samples samples;
    unsigned count = take(device, info->lastSeenTimeStamp, &samples)->count;
    nvmlReturn_t result = fits(count, &info->processSamplesCount, info->procUtilArray);
    if (!info->procUtilArray) /* a device says so of no samples, too */
        result = NVML_ERROR_INSUFFICIENT_SIZE;
    if (result == NVML_SUCCESS)
        memcpy(info->procUtilArray, samples.infos, count * sizeof *samples.infos);
    return result;
}

/* ---- accounting, of processes that are there */

SIM_NVML(nvmlDeviceGetAccountingPids)
{
    struct samples samples;
    unsigned room = *count, found = 0;
    if (sim_nvml_get(device, SIM_NVML_ACCOUNTING))
        found = take(device, 0, &samples)->count;
    *count = found;
    SIM_NVML_FAIL(INSUFFICIENT_SIZE, found > room);
    SIM_NVML_FAIL(INVALID_ARGUMENT, found && !pids);
    for (unsigned i = 0; i < found; i++)
        pids[i] = samples.infos[i].pid;
    return NVML_SUCCESS;
}

/* Of a process, since 1970. */
static unsigned long long began_us(struct sim_usage *place)
{
    unsigned long long ticks = atomic_load(&place->start), boot = sim_clock_ns() / 1000;
    return sim_nvml_time_us() - boot + ticks * 1000000 / (unsigned long long)sysconf(_SC_CLK_TCK);
}

SIM_NVML(nvmlDeviceGetAccountingStats)
{
    struct sim_usage *place;
    struct sim_usage_device *use;
    for (int at = 0; (use = sim_nvml_next(device, &at, &place));)
        if ((unsigned)atomic_load(&place->process) == pid) {
            *stats = (nvmlAccountingStats_t){.gpuUtilization = sim_nvml_busy_of(use),
                                             .memoryUtilization = sim_nvml_busy_of(use) / 2,
                                             .maxMemoryUsage = atomic_load(&use->most_bytes),
                                             .time = 0, /* of a process that is there */
                                             .startTime = began_us(place),
                                             .isRunning = 1};
            return NVML_SUCCESS;
        }
    return NVML_ERROR_NOT_FOUND;
}

SIM_NVML(nvmlDeviceGetAccountingStats_v2)
{
    nvmlAccountingStats_t first;
    nvmlReturn_t result = sim_nvmlDeviceGetAccountingStats(device, stats->pid, &first);
    if (result == NVML_SUCCESS)
        *stats = (nvmlAccountingStats_v2_t){
            .pid = stats->pid,
            .isRunning = first.isRunning,
            .gpuUtilization = first.gpuUtilization,
            .memoryUtilization = first.memoryUtilization,
            .maxMemoryUsage = first.maxMemoryUsage,
            .startTime = first.startTime,
        };
    return result;
}

/* ---- memory */

struct sim_usage_device *sim_nvml_next(nvmlDevice_t device, int *at, struct sim_usage **place)
{
    struct sim_usage *all = sim_usage_all();
    while (all && *at < SIM_USAGE_PROCESSES) {
        *place = &all[(*at)++];
        struct sim_usage_device *use = &(*place)->devices[device->number];
        if (atomic_load(&use->contexts) && sim_usage_alive(*place))
            return use;
    }
    return NULL;
}

unsigned long long sim_nvml_used(nvmlDevice_t device)
{
    struct sim_usage *place;
    struct sim_usage_device *use;
    unsigned long long used = 0, total = sim_identity_memory();
    for (int at = 0; (use = sim_nvml_next(device, &at, &place));)
        used += atomic_load(&use->bytes);
    return used < total ? used : total; /* each process has the whole device */
}

nvmlReturn_t sim_nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
    memory->total = sim_identity_memory();
    memory->used = sim_nvml_used(device);
    memory->free = memory->total - memory->used;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
    nvmlMemory_t first;
    (void)sim_nvmlDeviceGetMemoryInfo(device, &first);
    memory->total = first.total;
    memory->reserved = 0;
    memory->used = first.used;
    memory->free = first.free;
    return NVML_SUCCESS;
}
