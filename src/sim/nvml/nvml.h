/* SPDX-License-Identifier: MIT */
/* The simulated NVML: libnvidia-ml.so.1 beside the simulated libcuda.so.1. It is no part of the
 * engine: it knows the devices by the same settings, and what processes use of them by
 * core/usage.c.
 *
 * Every entry is a weak function that refuses, generated from the registry. A function of that name
 * here stands in its place. */
#ifndef CUSHIM_SIM_NVML_NVML_H
#define CUSHIM_SIM_NVML_NVML_H

#define NVML_NO_UNVERSIONED_FUNC_DEFS /* here a name is the exported symbol */
#include <stdbool.h>
#include <stdint.h>

#include <cushim/nvml_api.h>

#include "core/config.h"
#include "core/config.h"

#define SIM_EXPORT __attribute__((visibility("default")))

/* An entry that stores one number about a device. */
#define SIM_NUMBER(entry, type, value)                                                             \
    SIM_EXPORT nvmlReturn_t entry(nvmlDevice_t device, type *answer)                               \
    {                                                                                              \
        nvmlReturn_t result = sim_nvml_ready_for(device, answer);                                  \
        if (result == NVML_SUCCESS)                                                                \
            *answer = (type)(value);                                                               \
        return result;                                                                             \
    }

struct nvmlDevice_st {
    int number;
    unsigned power_limit; /* milliwatts */
    bool persistent;
    nvmlComputeMode_t compute_mode;
    uint64_t sampled_ns, busy_ns; /* when and what utilisation was last measured */
    unsigned busy_percent;
};

/* src/nvml/entries.h has it; it works without NVML. */
const char *cushim_nvml_error_string(nvmlReturn_t result);

/* Before every answer: whether NVML is initialised, and an argument is there. */
nvmlReturn_t sim_nvml_ready(void);
/* The same for a device and where its answer goes. */
nvmlReturn_t sim_nvml_ready_for(nvmlDevice_t device, const void *answer);
/* What an entry does that has no behaviour; `since` is the release that brought it, 0 an old one.
 */
nvmlReturn_t sim_nvml_refuse(int since);

int sim_nvml_cuda(void);                     /* 12040 is 12.4 */
nvmlDevice_t sim_nvml_device(int number);    /* NULL: no such device */
int sim_nvml_attribute(int number);          /* of CUDA's, by the profile; 0 if it is not known */
bool sim_nvml_profile_is(const char *names); /* one of several, with a blank behind each */
/* Copy a text to a caller's buffer. */
nvmlReturn_t sim_nvml_text(const char *text, char *buffer, unsigned length);

#endif
