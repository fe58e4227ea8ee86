/* SPDX-License-Identifier: MIT */
/* What the simulated devices look like: facts read off real ones. */
#ifndef CUSHIM_SIM_CORE_PROFILE_H
#define CUSHIM_SIM_CORE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_PROFILE_VALUES 80
struct sim_profile {
    const char *name;        /* "hopper" */
    const char *device_name; /* "NVIDIA H200" */
    size_t memory;           /* bytes */
    size_t heap_max;         /* most that cuCtxSetLimit gives to the heap of malloc in kernels */
    int since;               /* CUDA release that knows the device first: 11080 */
    int values[SIM_PROFILE_VALUES]; /* of attributes that differ between devices */
};

/* A profile by name; NULL: there is none. */
const struct sim_profile *sim_profile_find(const char *name);
/* The one of which the simulator lacks the fewest instructions, of those that the release knows. */
const struct sim_profile *sim_profile_default(int cuda);
extern const struct sim_profile *const sim_profile_all[];      /* ends with NULL */
int sim_profile_capability(const struct sim_profile *profile); /* 90 */
/* An attribute; false: CUDA version `cuda` does not know the number. */
bool sim_profile_attribute(const struct sim_profile *profile, int number, int cuda, int *value);

#endif
