/* SPDX-License-Identifier: MIT */
/* What the simulated devices look like: facts read off real ones. */
#ifndef CUSHIM_SIM_CORE_PROFILE_H
#define CUSHIM_SIM_CORE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_profile {
    const char *name;        /* "hopper" */
    const char *device_name; /* "NVIDIA H200" */
    size_t memory;           /* bytes */
    size_t heap_max;         /* most that cuCtxSetLimit gives to the heap of malloc in kernels */
    int column;              /* in the table of attributes */
};

/* A profile by name; NULL: the default one. The result is NULL for an unknown name. */
const struct sim_profile *sim_profile_find(const char *name);
extern const struct sim_profile *const sim_profile_all[]; /* ends with NULL */
/* An attribute; false: CUDA version `cuda` does not know the number. */
bool sim_profile_attribute(const struct sim_profile *profile, int number, int cuda, int *value);

#endif
