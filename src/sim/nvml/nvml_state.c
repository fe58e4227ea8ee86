/* SPDX-License-Identifier: MIT */
/* What changes: memory, processes, utilisation; and settings that a program may change. Clocks and
 * temperatures are constant but for whether a kernel runs. */
#include <string.h>

#include "core/core.h"
#include "device/device.h"
#include "nvml/nvml.h"

#define SAMPLE_NS UINT64_C(100000000) /* utilisation is that of this time at least */
#define MEBI ((unsigned long long)1 << 20)
#define ATTRIBUTE(name) sim_nvml_attribute(CU_DEVICE_ATTRIBUTE_##name)

/* Call a function for each process that has a context on a device. */
typedef void visitor(struct sim_usage *place, struct sim_usage_device *use, void *user);

static void visit(nvmlDevice_t device, visitor *function, void *user)
{
    struct sim_usage *all = sim_usage_all();
    for (int i = 0; all && i < SIM_USAGE_PROCESSES; i++) {
        struct sim_usage_device *use = &all[i].devices[device->number];
        if (atomic_load(&use->contexts) && sim_usage_alive(&all[i]))
            function(&all[i], use, user);
    }
}

/* ---- memory */

static void add_bytes(struct sim_usage *place, struct sim_usage_device *use, void *user)
{
    (void)place;
    *(unsigned long long *)user += atomic_load(&use->bytes);
}

static unsigned long long used_bytes(nvmlDevice_t device)
{
    unsigned long long used = 0, total = sim_identity_memory();
    visit(device, add_bytes, &used);
    return used < total ? used : total; /* each process has the whole device */
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
    nvmlReturn_t result = sim_nvml_ready_for(device, memory);
    if (result != NVML_SUCCESS)
        return result;
    memory->total = sim_identity_memory();
    memory->used = used_bytes(device);
    memory->free = memory->total - memory->used;
    return NVML_SUCCESS;
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
    nvmlMemory_t first;
    nvmlReturn_t result = sim_nvml_ready_for(device, memory);
    if (result != NVML_SUCCESS)
        return result;
    if (memory->version != nvmlMemory_v2)
        return NVML_ERROR_FUNCTION_NOT_FOUND; /* as a driver answers */
    (void)nvmlDeviceGetMemoryInfo(device, &first);
    memory->total = first.total;
    memory->reserved = 0;
    memory->used = first.used;
    memory->free = first.free;
    return NVML_SUCCESS;
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device,
                                                    nvmlBAR1Memory_t *bar1Memory)
{
    nvmlReturn_t result = sim_nvml_ready_for(device, bar1Memory);
    if (result != NVML_SUCCESS)
        return result;
    bar1Memory->bar1Total = 256 * MEBI;
    bar1Memory->bar1Used = MEBI;
    bar1Memory->bar1Free = 255 * MEBI;
    return NVML_SUCCESS;
}

/* ---- processes */

struct list {
    unsigned count, room;
    nvmlProcessInfo_t *infos;
};

static void add_process(struct sim_usage *place, struct sim_usage_device *use, void *user)
{
    struct list *list = user;
    if (list->count < list->room && list->infos)
        list->infos[list->count] = (nvmlProcessInfo_t){
            .pid = (unsigned)atomic_load(&place->process),
            .usedGpuMemory = atomic_load(&use->bytes),
            .gpuInstanceId = 0xFFFFFFFF, /* of no MIG instance */
            .computeInstanceId = 0xFFFFFFFF,
        };
    list->count++;
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device,
                                                                unsigned int *infoCount,
                                                                nvmlProcessInfo_t *infos)
{
    nvmlReturn_t result = sim_nvml_ready_for(device, infoCount);
    if (result != NVML_SUCCESS)
        return result;
    struct list list = {.room = *infoCount, .infos = infos};
    visit(device, add_process, &list);
    if (list.count && list.room && !infos)
        return NVML_ERROR_INVALID_ARGUMENT;
    *infoCount = list.count;
    return list.count > list.room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device,
                                                                unsigned int *infoCount,
                                                                nvmlProcessInfo_v2_t *infos)
{
    /* Of the same layout. */
    return nvmlDeviceGetComputeRunningProcesses_v3(device, infoCount, (nvmlProcessInfo_t *)infos);
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device,
                                                             unsigned int *infoCount,
                                                             nvmlProcessInfo_v1_t *infos)
{
    nvmlProcessInfo_t newer[SIM_USAGE_PROCESSES];
    unsigned count = SIM_USAGE_PROCESSES;
    nvmlReturn_t result = sim_nvml_ready_for(device, infoCount);
    if (result != NVML_SUCCESS)
        return result;
    (void)nvmlDeviceGetComputeRunningProcesses_v3(device, &count, newer);
    unsigned room = *infoCount;
    *infoCount = count;
    if (count > room)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    for (unsigned i = 0; i < count; i++)
        infos[i] = (nvmlProcessInfo_v1_t){newer[i].pid, newer[i].usedGpuMemory};
    return NVML_SUCCESS;
}

/* A process has no graphics here, and there is no multi-process service. */
#define NO_PROCESSES(entry, type)                                                                  \
    SIM_EXPORT nvmlReturn_t entry(nvmlDevice_t device, unsigned int *infoCount, type *infos)       \
    {                                                                                              \
        nvmlReturn_t result = sim_nvml_ready_for(device, infoCount);                               \
        (void)infos;                                                                               \
        if (result == NVML_SUCCESS)                                                                \
            *infoCount = 0;                                                                        \
        return result;                                                                             \
    }
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses, nvmlProcessInfo_v1_t)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2, nvmlProcessInfo_v2_t)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlProcessInfo_t)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses, nvmlProcessInfo_v1_t)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v2, nvmlProcessInfo_v2_t)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3, nvmlProcessInfo_t)

/* ---- utilisation */

static void add_busy(struct sim_usage *place, struct sim_usage_device *use, void *user)
{
    uint64_t *busy = user, now = sim_clock_ns(), since = atomic_load(&use->running_since);
    (void)place;
    *busy += atomic_load(&use->busy_ns);
    if (atomic_load(&use->running) && now > since)
        *busy += now - since;
}

/* Percent of the time since it was last measured in which a kernel ran. */
static unsigned busy_percent(nvmlDevice_t device)
{
    uint64_t busy = 0, now = sim_clock_ns();
    if (now - device->sampled_ns < SAMPLE_NS)
        return device->busy_percent;
    visit(device, add_busy, &busy);
    uint64_t more = busy > device->busy_ns ? busy - device->busy_ns : 0;
    /* The first time there is nothing to compare with: whether one runs now. */
    uint64_t percent = device->sampled_ns ? 100 * more / (now - device->sampled_ns) : 0;
    device->sampled_ns = now;
    device->busy_ns = busy;
    return device->busy_percent = percent < 100 ? (unsigned)percent : 100;
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device,
                                                      nvmlUtilization_t *utilization)
{
    nvmlReturn_t result = sim_nvml_ready_for(device, utilization);
    if (result != NVML_SUCCESS)
        return result;
    utilization->gpu = busy_percent(device);
    utilization->memory = utilization->gpu / 2;
    return NVML_SUCCESS;
}

static nvmlReturn_t idle_unit(nvmlDevice_t device, unsigned *utilization, unsigned *period)
{
    nvmlReturn_t result = sim_nvml_ready_for(device, utilization ? period : NULL);
    if (result == NVML_SUCCESS)
        *utilization = 0, *period = 100000;
    return result;
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device,
                                                        unsigned int *utilization,
                                                        unsigned int *samplingPeriodUs)
{
    return idle_unit(device, utilization, samplingPeriodUs);
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device,
                                                        unsigned int *utilization,
                                                        unsigned int *samplingPeriodUs)
{
    return idle_unit(device, utilization, samplingPeriodUs);
}

/* ---- clocks, temperature, power */

/* Milliwatts, of the device's kind. */
static unsigned most_power(void)
{
    return sim_nvml_profile_is("turing ")   ? 70000
           : sim_nvml_profile_is("ampere ") ? 400000
           : sim_nvml_profile_is("ada ")    ? 450000
                                            : 700000;
}

static unsigned least_power(void)
{
    return most_power() / 7 * 2;
}

static unsigned power_limit(nvmlDevice_t device)
{
    return device->power_limit ? device->power_limit : most_power();
}

static unsigned power(nvmlDevice_t device)
{
    unsigned idle = most_power() / 10, limit = power_limit(device);
    return idle + (limit - idle) / 100 * busy_percent(device);
}

/* Millijoules since the machine started, as if it had been idle. */
static uint64_t energy(void)
{
    return sim_clock_ns() / 1000000000 * (most_power() / 10);
}

SIM_NUMBER(nvmlDeviceGetTotalEnergyConsumption, unsigned long long, energy())
SIM_NUMBER(nvmlDeviceGetNumFans, unsigned int, 0)
SIM_NUMBER(nvmlDeviceGetMaxMigDeviceCount, unsigned int, 0)
SIM_NUMBER(nvmlDeviceGetPowerUsage, unsigned int, power(device))
SIM_NUMBER(nvmlDeviceGetPowerManagementMode, nvmlEnableState_t, NVML_FEATURE_ENABLED)
SIM_NUMBER(nvmlDeviceGetPowerManagementLimit, unsigned int, power_limit(device))
SIM_NUMBER(nvmlDeviceGetEnforcedPowerLimit, unsigned int, power_limit(device))
SIM_NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, unsigned int, most_power())
SIM_NUMBER(nvmlDeviceGetPerformanceState, nvmlPstates_t, NVML_PSTATE_0)
SIM_NUMBER(nvmlDeviceGetPowerState, nvmlPstates_t, NVML_PSTATE_0)
SIM_NUMBER(nvmlDeviceGetPersistenceMode, nvmlEnableState_t, device->persistent)
SIM_NUMBER(nvmlDeviceGetComputeMode, nvmlComputeMode_t, device->compute_mode)
SIM_NUMBER(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long,
           busy_percent(device) ? 0 : nvmlClocksEventReasonGpuIdle)
SIM_NUMBER(nvmlDeviceGetCurrentClocksEventReasons, unsigned long long,
           busy_percent(device) ? 0 : nvmlClocksEventReasonGpuIdle)

SIM_EXPORT nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t device,
                                                                     unsigned int *minLimit,
                                                                     unsigned int *maxLimit)
{
    nvmlReturn_t result = sim_nvml_ready_for(device, minLimit ? maxLimit : NULL);
    if (result == NVML_SUCCESS)
        *minLimit = least_power(), *maxLimit = most_power();
    return result;
}

SIM_EXPORT nvmlReturn_t nvmlDeviceSetPowerManagementLimit(nvmlDevice_t device, unsigned int limit)
{
    nvmlReturn_t result = sim_nvml_ready_for(device, device);
    if (result == NVML_SUCCESS && (limit < least_power() || limit > most_power()))
        result = NVML_ERROR_INVALID_ARGUMENT;
    if (result == NVML_SUCCESS)
        device->power_limit = limit;
    return result;
}

SIM_EXPORT nvmlReturn_t nvmlDeviceSetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t mode)
{
    nvmlReturn_t result = sim_nvml_ready_for(device, device);
    if (result == NVML_SUCCESS)
        device->persistent = mode == NVML_FEATURE_ENABLED;
    return result;
}

SIM_EXPORT nvmlReturn_t nvmlDeviceSetComputeMode(nvmlDevice_t device, nvmlComputeMode_t mode)
{
    nvmlReturn_t result = sim_nvml_ready_for(device, device);
    if (result == NVML_SUCCESS && (unsigned)mode >= NVML_COMPUTEMODE_COUNT)
        result = NVML_ERROR_INVALID_ARGUMENT;
    if (result == NVML_SUCCESS)
        device->compute_mode = mode;
    return result;
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device,
                                                 nvmlTemperatureSensors_t sensorType,
                                                 unsigned int *temp)
{
    nvmlReturn_t result = sim_nvml_ready_for(device, temp);
    if (result == NVML_SUCCESS && sensorType != NVML_TEMPERATURE_GPU)
        result = NVML_ERROR_INVALID_ARGUMENT;
    if (result == NVML_SUCCESS)
        *temp = 32 + busy_percent(device) * 35 / 100;
    return result;
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device,
                                                          nvmlTemperatureThresholds_t thresholdType,
                                                          unsigned int *temp)
{
    nvmlReturn_t result = sim_nvml_ready_for(device, temp);
    if (result != NVML_SUCCESS)
        return result;
    static const unsigned thresholds[] = {
        [NVML_TEMPERATURE_THRESHOLD_SHUTDOWN] = 95,
        [NVML_TEMPERATURE_THRESHOLD_SLOWDOWN] = 89,
        [NVML_TEMPERATURE_THRESHOLD_MEM_MAX] = 95,
        [NVML_TEMPERATURE_THRESHOLD_GPU_MAX] = 87,
    };
    if ((unsigned)thresholdType >= NVML_TEMPERATURE_THRESHOLD_COUNT)
        return NVML_ERROR_INVALID_ARGUMENT;
    if ((unsigned)thresholdType >= sizeof thresholds / sizeof *thresholds)
        return NVML_ERROR_NOT_SUPPORTED;
    *temp = thresholds[thresholdType];
    return NVML_SUCCESS;
}

/* MHz; those of the profile are kHz. */
SIM_EXPORT nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                                  unsigned int *clock)
{
    nvmlReturn_t result = sim_nvml_ready_for(device, clock);
    if (result == NVML_SUCCESS && (unsigned)type >= NVML_CLOCK_COUNT)
        result = NVML_ERROR_INVALID_ARGUMENT;
    if (result == NVML_SUCCESS && type == NVML_CLOCK_VIDEO)
        *clock = (unsigned)ATTRIBUTE(CLOCK_RATE) / 1000 * 78 / 100; /* as on an H100 */
    else if (result == NVML_SUCCESS)
        *clock = (unsigned)(type == NVML_CLOCK_MEM ? ATTRIBUTE(MEMORY_CLOCK_RATE)
                                                   : ATTRIBUTE(CLOCK_RATE)) /
                 1000;
    return result;
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                               unsigned int *clock)
{
    return nvmlDeviceGetMaxClockInfo(device, type, clock);
}

/* ---- modes of a data-centre card */

SIM_EXPORT nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, nvmlEnableState_t *current,
                                             nvmlEnableState_t *pending)
{
    nvmlReturn_t result = sim_nvml_ready_for(device, current ? pending : NULL);
    if (result == NVML_SUCCESS && sim_nvml_profile_is("ada "))
        result = NVML_ERROR_NOT_SUPPORTED;
    if (result == NVML_SUCCESS)
        *current = *pending = NVML_FEATURE_ENABLED;
    return result;
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device,
                                                    nvmlMemoryErrorType_t errorType,
                                                    nvmlEccCounterType_t counterType,
                                                    unsigned long long *eccCounts)
{
    nvmlReturn_t result = sim_nvml_ready_for(device, eccCounts);
    (void)errorType, (void)counterType;
    if (result == NVML_SUCCESS && sim_nvml_profile_is("ada "))
        result = NVML_ERROR_NOT_SUPPORTED;
    if (result == NVML_SUCCESS)
        *eccCounts = 0;
    return result;
}

SIM_EXPORT nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *currentMode,
                                             unsigned int *pendingMode)
{
    nvmlReturn_t result = sim_nvml_ready_for(device, currentMode ? pendingMode : NULL);
    if (result == NVML_SUCCESS && sim_nvml_profile_is("turing ada "))
        result = NVML_ERROR_NOT_SUPPORTED;
    if (result == NVML_SUCCESS)
        *currentMode = *pendingMode = NVML_DEVICE_MIG_DISABLE;
    return result;
}
