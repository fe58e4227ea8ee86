/* SPDX-License-Identifier: MIT */
/* Event sets, and samples of performance counters. */
#include <stdlib.h>

#include "nvml/nvml.h"

/* ---- events: none happens, so that a wait ends with its time */

struct nvmlEventSet_st {
    struct nvmlEventSet_st *next;
};
static struct nvmlEventSet_st *sets;

static struct nvmlEventSet_st **find_set(nvmlEventSet_t set)
{
    for (struct nvmlEventSet_st **at = &sets; *at; at = &(*at)->next)
        if (*at == set)
            return at;
    return NULL;
}

nvmlReturn_t sim_nvmlEventSetCreate(nvmlEventSet_t *set)
{
    struct nvmlEventSet_st *made = malloc(sizeof *made);
    if (!made)
        return NVML_ERROR_MEMORY;
    made->next = sets;
    sets = made;
    *set = made;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlEventSetFree(nvmlEventSet_t set)
{
    struct nvmlEventSet_st **at = find_set(set);
    if (!at)
        return NVML_ERROR_INVALID_ARGUMENT;
    *at = set->next;
    free(set);
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data,
                                     unsigned int timeoutms)
{
    (void)data;
    if (!find_set(set))
        return NVML_ERROR_INVALID_ARGUMENT;
    sim_nvml_sleep(timeoutms);
    return NVML_ERROR_TIMEOUT;
}

#define EVENTS                                                                                     \
    (nvmlEventTypeSingleBitEccError | nvmlEventTypeDoubleBitEccError | nvmlEventTypePState |       \
     nvmlEventTypeXidCriticalError | nvmlEventTypeClock)

unsigned long long sim_nvml_events(void)
{
    return sim_nvml_facts()->ecc ? EVENTS : nvmlEventTypeXidCriticalError;
}

nvmlReturn_t sim_nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long eventTypes,
                                          nvmlEventSet_t set)
{
    (void)device;
    if (!find_set(set))
        return NVML_ERROR_INVALID_ARGUMENT;
    return eventTypes & ~sim_nvml_events() ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
}

/* ---- performance counters, which hopper was the first to give out this way */

struct nvmlGpmSample_st {
    uint64_t ns, busy_ns;
    bool taken;
    struct nvmlGpmSample_st *next;
};
static struct nvmlGpmSample_st *samples;

static struct nvmlGpmSample_st **find_sample(nvmlGpmSample_t sample)
{
    for (struct nvmlGpmSample_st **at = &samples; *at; at = &(*at)->next)
        if (*at == sample)
            return at;
    return NULL;
}

nvmlReturn_t sim_nvmlGpmQueryDeviceSupport(nvmlDevice_t device, nvmlGpmSupport_t *gpmSupport)
{
    (void)device;
    if (gpmSupport->version != NVML_GPM_SUPPORT_VERSION)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    gpmSupport->isSupportedDevice = sim_nvml_facts()->fabric;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlGpmSampleAlloc(nvmlGpmSample_t *gpmSample)
{
    struct nvmlGpmSample_st *made = calloc(1, sizeof *made);
    if (!made)
        return NVML_ERROR_MEMORY;
    made->next = samples;
    samples = made;
    *gpmSample = made;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlGpmSampleFree(nvmlGpmSample_t gpmSample)
{
    struct nvmlGpmSample_st **at = find_sample(gpmSample);
    if (!at)
        return NVML_ERROR_INVALID_ARGUMENT;
    *at = gpmSample->next;
    free(gpmSample);
    return NVML_SUCCESS;
}

static void add_busy(struct sim_usage *place, struct sim_usage_device *use, void *user)
{
    uint64_t *busy = user, now = sim_clock_ns(), since = atomic_load(&use->running_since);
    (void)place;
    if (atomic_load(&use->running) && now > since)
        *busy += now - since;
}

nvmlReturn_t sim_nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t gpmSample)
{
    if (!find_sample(gpmSample))
        return NVML_ERROR_INVALID_ARGUMENT;
    gpmSample->ns = sim_clock_ns();
    gpmSample->busy_ns = atomic_load(&sim_usage_board(device->number)->busy_ns);
    sim_nvml_visit(device, add_busy, &gpmSample->busy_ns);
    gpmSample->taken = true;
    return NVML_SUCCESS;
}

/* How busy the device was between two samples, for the metrics of its multiprocessors; nothing for
 * those of links and engines. */
nvmlReturn_t sim_nvmlGpmMetricsGet(nvmlGpmMetricsGet_t *metricsGet)
{
    const struct nvmlGpmSample_st *one = metricsGet->sample1, *two = metricsGet->sample2;
    if (metricsGet->version != NVML_GPM_METRICS_GET_VERSION)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    if (metricsGet->numMetrics > NVML_GPM_METRIC_MAX || !find_sample(metricsGet->sample1) ||
        !find_sample(metricsGet->sample2) || !one->taken || !two->taken || two->ns <= one->ns)
        return NVML_ERROR_INVALID_ARGUMENT;
    uint64_t busy = two->busy_ns > one->busy_ns ? two->busy_ns - one->busy_ns : 0;
    double percent = 100.0 * (double)busy / (double)(two->ns - one->ns);
    for (unsigned i = 0; i < metricsGet->numMetrics; i++) {
        nvmlGpmMetric_t *metric = &metricsGet->metrics[i];
        bool own = metric->metricId == NVML_GPM_METRIC_GRAPHICS_UTIL ||
                   metric->metricId == NVML_GPM_METRIC_SM_UTIL;
        bool known = metric->metricId > 0 && metric->metricId < NVML_GPM_METRIC_MAX;
        metric->nvmlReturn = known ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
        metric->value = !own ? 0 : percent < 100 ? percent : 100;
        metric->metricInfo.shortName = own ? "SM Util" : "";
        metric->metricInfo.longName = own ? "SM Utilization" : "";
        metric->metricInfo.unit = own ? "%" : "";
    }
    return NVML_SUCCESS;
}
