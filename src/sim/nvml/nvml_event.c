/* SPDX-License-Identifier: MIT */
/* Event sets, and samples of performance counters. */
#include "nvml/nvml.h"

struct item { /* what a program makes and frees: first in both kinds */
    struct item *next;
};
struct nvmlEventSet_st {
    struct item item;
};
struct nvmlGpmSample_st {
    struct item item;
    uint64_t ns, busy_ns;
    bool taken;
};
static struct item *sets, *samples;

/* The link to one that is there; NULL: none. */
static struct item **find(struct item **list, const void *item)
{
    while (*list && *list != item)
        list = &(*list)->next;
    return *list ? list : NULL;
}

static nvmlReturn_t make(struct item **list, size_t size, void *made)
{
    struct item *item = calloc(1, size);
    SIM_NVML_FAIL(MEMORY, !item);
    item->next = *list;
    *list = item;
    memcpy(made, &item, sizeof item);
    return NVML_SUCCESS;
}

static nvmlReturn_t drop(struct item **list, void *item)
{
    struct item **at = find(list, item);
    SIM_NVML_FAIL(INVALID_ARGUMENT, !at);
    *at = (*at)->next;
    free(item);
    return NVML_SUCCESS;
}

/* ---- events: none happens, so that a wait ends with its time */

SIM_NVML_ENTRY(nvmlEventSetCreate, make(&sets, sizeof **set, set))
SIM_NVML_ENTRY(nvmlEventSetFree, drop(&sets, set))

SIM_NVML(nvmlEventSetWait_v2)
{
    SIM_NVML_FAIL(INVALID_ARGUMENT, !find(&sets, set));
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

SIM_NVML(nvmlDeviceRegisterEvents)
{
    SIM_NVML_FAIL(INVALID_ARGUMENT, !find(&sets, set));
    return eventTypes & ~sim_nvml_events() ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
}

/* ---- performance counters, which hopper was the first to give out this way */

nvmlReturn_t sim_nvmlGpmQueryDeviceSupport(nvmlDevice_t device, nvmlGpmSupport_t *gpmSupport)
{
    SIM_NVML_FAIL(ARGUMENT_VERSION_MISMATCH, gpmSupport->version != NVML_GPM_SUPPORT_VERSION);
    gpmSupport->isSupportedDevice = sim_nvml_facts()->fabric;
    return NVML_SUCCESS;
}

SIM_NVML_ENTRY(nvmlGpmSampleAlloc, make(&samples, sizeof **gpmSample, gpmSample))
SIM_NVML_ENTRY(nvmlGpmSampleFree, drop(&samples, gpmSample))

SIM_NVML(nvmlGpmSampleGet)
{
    struct sim_usage *place;
    struct sim_usage_device *use;
    SIM_NVML_FAIL(INVALID_ARGUMENT, !find(&samples, gpmSample));
    uint64_t now = gpmSample->ns = sim_clock_ns();
    gpmSample->busy_ns = atomic_load(&sim_usage_board(device->number)->busy_ns);
    for (int at = 0; (use = sim_nvml_next(device, &at, &place));) {
        uint64_t since = atomic_load(&use->running_since);
        if (atomic_load(&use->running) && now > since)
            gpmSample->busy_ns += now - since;
    }
    gpmSample->taken = true;
    return NVML_SUCCESS;
}

/* How busy the device was between two samples, for the metrics of its multiprocessors; nothing for
 * those of links and engines. */
nvmlReturn_t sim_nvmlGpmMetricsGet(nvmlGpmMetricsGet_t *metricsGet)
{
    const struct nvmlGpmSample_st *one = metricsGet->sample1, *two = metricsGet->sample2;
    SIM_NVML_FAIL(ARGUMENT_VERSION_MISMATCH, metricsGet->version != NVML_GPM_METRICS_GET_VERSION);
    SIM_NVML_FAIL(INVALID_ARGUMENT, metricsGet->numMetrics > NVML_GPM_METRIC_MAX ||
                                        !find(&samples, metricsGet->sample1) ||
                                        !find(&samples, metricsGet->sample2) || !one->taken ||
                                        !two->taken || two->ns <= one->ns);
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
