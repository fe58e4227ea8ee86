/* SPDX-License-Identifier: MIT */
/* The simulated NVML: libnvidia-ml.so.1 beside the simulated libcuda.so.1. It is no part of the
 * engine: it knows the devices by the same settings, and what processes use of them by
 * core/usage.c.
 *
 * The generated nvml_sim.c has every entry. It takes the lock, asks the fault rules, and refuses a
 * call before nvmlInit, an entry of a later release, an unknown device, a NULL where an answer
 * belongs, a structure's version that the release does not know, and what answers.def says. Then it
 * calls sim_ENTRY: of a line of answers.def, or of a function of that name that is here; without
 * both it answers NVML_ERROR_NOT_SUPPORTED. */
#ifndef CUSHIM_SIM_NVML_NVML_H
#define CUSHIM_SIM_NVML_NVML_H

#include "device/device.h"
#include "nvml_sim.h"

#define SIM_EXPORT __attribute__((visibility("default")))

/* The head of a behaviour, and one that is an expression; many answer the same for all devices. */
#define SIM_NVML(symbol) nvmlReturn_t sim_##symbol(SIM_PARAMETERS_##symbol)
#define SIM_NVML_ENTRY(symbol, ...)                                                                \
    SIM_NVML(symbol)                                                                               \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }
/* The answer, by the name of an error, where something holds. */
#define SIM_NVML_FAIL(name, ...)                                                                   \
    do {                                                                                           \
        if (__VA_ARGS__)                                                                           \
            return NVML_ERROR_##name;                                                              \
    } while (0)
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define SIM_FACT(name) (sim_nvml_facts()->name)
#define SIM_ATTRIBUTE(name) sim_nvml_attribute(CU_DEVICE_ATTRIBUTE_##name)
/* Rows of memory are remapped from ampere on; before that, pages were retired. */
#define SIM_NVML_REMAPS (SIM_FACT(ecc) && SIM_FACT(architecture) >= NVML_DEVICE_ARCH_AMPERE)
#define SIM_NVML_CLOCK_LEAST 210 /* MHz */
/* Why clocks can be as they are. */
#define SIM_NVML_CLOCK_REASONS                                                                     \
    (nvmlClocksEventReasonGpuIdle | nvmlClocksEventReasonApplicationsClocksSetting |               \
     nvmlClocksEventReasonSwPowerCap | nvmlClocksThrottleReasonHwSlowdown |                        \
     nvmlClocksEventReasonSyncBoost | nvmlClocksEventReasonSwThermalSlowdown |                     \
     nvmlClocksThrottleReasonHwThermalSlowdown | nvmlClocksThrottleReasonHwPowerBrakeSlowdown)

struct nvmlDevice_st {
    int number;
};

/* What NVML tells of a profile's device and CUDA does not. */
struct sim_nvml_facts {
    const char *profile, *part, *bios;
    nvmlBrandType_t brand;
    unsigned architecture, pci, cores; /* the latter per multiprocessor */
    unsigned watts, bus_generation, fans;
    bool ecc, mig, fabric;
    unsigned links, link_version, link_mbps; /* NVLink; 0: none */
};
/* Settings that all processes share; the first value is the device's own. */
enum sim_nvml_setting {
    SIM_NVML_POWER_LIMIT, /* milliwatts */
    SIM_NVML_NOT_PERSISTENT,
    SIM_NVML_COMPUTE_MODE,
    SIM_NVML_ACCOUNTING,
    SIM_NVML_ECC_OFF, /* at the next start */
    SIM_NVML_GRAPHICS_CLOCK,
    SIM_NVML_MEMORY_CLOCK,
    SIM_NVML_LOCKED_LEAST,
    SIM_NVML_LOCKED_MOST,
    SIM_NVML_RESTRICTED, /* bits of nvmlRestrictedAPI_t */
    SIM_NVML_GPM_STREAMING,
};
_Static_assert(SIM_NVML_GPM_STREAMING < SIM_USAGE_SETTINGS, "SIM_USAGE_SETTINGS is too small");

/* src/nvml/entries.h has it; it works without NVML. */
const char *cushim_nvml_error_string(nvmlReturn_t result);

/* Around each call; the lock is held between the two. */
nvmlReturn_t sim_nvml_begin(unsigned entry, nvmlDevice_t device);
nvmlReturn_t sim_nvml_begin_early(unsigned entry, nvmlDevice_t device); /* also before nvmlInit */
nvmlReturn_t sim_nvml_end(nvmlReturn_t result);
void sim_nvml_sleep(unsigned milliseconds); /* without the lock */

nvmlReturn_t sim_nvml_initialise(int times); /* -1: of nvmlShutdown */

bool sim_nvml_known(nvmlDevice_t device);
nvmlDevice_t sim_nvml_device(int number); /* NULL: no such device */
/* Whether a structure's version is this one, which came with that release. */
bool sim_nvml_version(unsigned given, unsigned version, int since);

const struct sim_nvml_facts *sim_nvml_facts(void);
int sim_nvml_attribute(int number); /* of CUDA's, by the profile; 0 if it is not known */
uint32_t sim_nvml_get(nvmlDevice_t device, enum sim_nvml_setting setting);
nvmlReturn_t sim_nvml_set(nvmlDevice_t device, enum sim_nvml_setting setting, uint32_t value);
char *sim_nvml_serial(int number, char *text);
/* Copy a text to a caller's buffer. */
nvmlReturn_t sim_nvml_text(const char *text, char *buffer, unsigned length);

/* What the next process uses of a device, of those that have a context on it, and its place. NULL
 * after the last; *at begins with 0. */
struct sim_usage_device *sim_nvml_next(nvmlDevice_t device, int *at, struct sim_usage **place);
unsigned long long sim_nvml_used(nvmlDevice_t device);   /* bytes */
unsigned sim_nvml_busy(nvmlDevice_t device);             /* percent of the last time */
unsigned sim_nvml_busy_of(struct sim_usage_device *use); /* the same of one process */
unsigned sim_nvml_power(nvmlDevice_t device);            /* milliwatts */
unsigned sim_nvml_power_limit(nvmlDevice_t device);
unsigned sim_nvml_power_least(void), sim_nvml_power_most(void);
unsigned long long sim_nvml_energy(nvmlDevice_t device); /* millijoules */
unsigned sim_nvml_temperature(nvmlDevice_t device);
unsigned sim_nvml_threshold(nvmlTemperatureThresholds_t type);      /* 0: there is none */
unsigned sim_nvml_clock(nvmlDevice_t device, nvmlClockType_t type); /* MHz */
unsigned sim_nvml_clock_most(nvmlClockType_t type);
unsigned sim_nvml_clock_asked(nvmlDevice_t device, nvmlClockType_t type);
unsigned long long sim_nvml_events(void);
const char *sim_nvml_driver(void);
unsigned long long sim_nvml_time_us(void); /* since 1970 */

#endif
