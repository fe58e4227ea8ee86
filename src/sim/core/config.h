/* SPDX-License-Identifier: MIT */
/* Settings: the environment's, or those that cushim/sim.h gave. */
#ifndef CUSHIM_SIM_CORE_CONFIG_H
#define CUSHIM_SIM_CORE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_MAX_DEVICES 64
#define SIM_MAX_WORKERS 1024
/* The most that blocks of device memory may be rounded up to: there is as much behind each. */
#define SIM_MAX_GRAIN 512
struct sim_config {
    int cuda;    /* 12040 */
    int devices; /* 0 to SIM_MAX_DEVICES */
    const struct sim_profile *profile;
    size_t memory;          /* bytes per device; 0: the profile's */
    uint64_t time_limit_ns; /* of one kernel; 0: none */
    unsigned workers;       /* threads of the CPU per launch; 0: all */
    size_t grain;           /* kernels may use blocks up to a multiple of it; 0: exactly */
    unsigned checks;        /* of kernels: PTX_CHECK_RACE and others */
    bool interrupt;         /* SIGINT ends a kernel that runs */
};
extern struct sim_config sim_config;

void sim_config_read(void);             /* from the environment */
extern const int sim_config_releases[]; /* that can be simulated; ends with 0 */
bool sim_config_is_release(int cuda);   /* one of these, and not newer than this driver */
/* "it takes one of 6.5 8.0 ...", of these releases, or of the profiles for NULL. Returns `text`. */
const char *sim_config_list(char *text, size_t size, const int *releases);
/* Bytes, with K, M, G or T behind. False: not a number of bytes. */
bool sim_config_bytes(const char *text, size_t *bytes);
/* "race,init,sync" as PTX_CHECK_*; 0: no such list. */
unsigned sim_config_checks(const char *text);
extern const char sim_config_check_words[]; /* "it takes race, ..." */

/* --- profile.c --- What the simulated devices look like: facts read off real ones. */
struct sim_profile {
    const char *name;        /* "hopper" */
    const char *device_name; /* "NVIDIA H200" */
    size_t memory;           /* bytes */
    size_t heap_max;         /* most that cuCtxSetLimit gives to the heap of malloc in kernels */
    int since;               /* CUDA release that knows the device first: 11080 */
};

/* A profile by name; NULL: there is none. */
const struct sim_profile *sim_profile_find(const char *name);
/* Why a driver of release `cuda` cannot have it. */
void sim_config_too_new(char *text, size_t size, const struct sim_profile *profile, int cuda);
/* The one of which the simulator lacks the fewest instructions, of those that the release knows. */
const struct sim_profile *sim_profile_default(int cuda);
extern const struct sim_profile sim_profile_all[];             /* ends with name NULL */
int sim_profile_capability(const struct sim_profile *profile); /* 90 */
/* An attribute; false: CUDA version `cuda` does not know the number. */
bool sim_profile_attribute(const struct sim_profile *profile, int number, int cuda, int *value);

#endif
