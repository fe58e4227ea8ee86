/* SPDX-License-Identifier: MIT */
/* What a launch is checked against; internal to the library.
 *
 * Three layers: launch_cache.c remembers what was found to be in order, launch_check.c compares a
 * launch with the device and the function, launch_arguments.c compares arguments with parameters.
 */
#ifndef CUSHIM_SRC_LAUNCH_CHECK_H
#define CUSHIM_SRC_LAUNCH_CHECK_H

#include <cushim/launch.h>

#include "helper.h"
#include "launch_cache.h"

/* Who is launching what, for checks and their sentences. */
struct cushim_launching {
    const struct cushim_api *cu;
    const char *helper;
    CUfunction function;
    CUfunction asked; /* the same, or its function where `function` is a CUkernel */
    const struct cushim_launch *launch;
    /* Arguments: packed, or a number of them with their sizes, which may be NULL. */
    const struct cushim_params *packed;
    const size_t *sizes;
    size_t count;
    uint64_t key; /* under which it is remembered */
};

/* What the driver says of a function on the current device. What it does not say is UINT_MAX for
 * limits, and 0 for what is in use. */
struct cushim_launch_limits {
    CUdevice device;
    size_t grid[3], block[3];
    size_t device_threads;   /* in a block */
    size_t function_threads; /* in a block */
    size_t static_shared;    /* the function's own, in bytes */
    size_t dynamic_now;      /* bytes that a launch may ask for as the function is set */
    size_t dynamic_most;     /* bytes that it may be set to */
};

/* ---- launch_check.c */

/* Ask the driver, and set `asked`; refused where no context is current. */
CUresult cushim_launch_ask(struct cushim_launching *what, struct cushim_launch_limits *limits);

/* Grid, block and shared memory against the limits. */
CUresult cushim_launch_check_shape(const struct cushim_launching *what,
                                   const struct cushim_launch_limits *limits);

/* Cluster, cooperative and attributes: whether driver and device have them, and their limits. */
CUresult cushim_launch_check_extras(const struct cushim_launching *what,
                                    const struct cushim_launch_limits *limits);

/* Allow the function as much dynamic shared memory as the device has. */
CUresult cushim_launch_opt_in(const struct cushim_launching *what,
                              const struct cushim_launch_limits *limits, size_t bytes);

/* The function's name for a sentence, in the buffer where the driver tells it. */
const char *cushim_launch_name(const struct cushim_launching *what, char *buffer, size_t size);

/* Refuse because the driver does not have a symbol, with the reason. */
CUresult cushim_launch_lacks(const struct cushim_launching *what, const char *argument,
                             const char *symbol);

/* Whether it is more than grid, block and shared memory. */
static inline bool cushim_launch_has_extras(const struct cushim_launch *launch)
{
    return (launch->cluster[0] | launch->cluster[1] | launch->cluster[2]) != 0 ||
           launch->cooperative || launch->attribute_count != 0;
}

/* ---- the driver's form of a launch that was checked */

#define CUSHIM_MAX_ATTRIBUTES 16

static inline CUlaunchAttribute cushim_launch_cluster_attribute(const struct cushim_launch *launch)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    attribute.value.clusterDim.x = (unsigned)launch->cluster[0];
    attribute.value.clusterDim.y = (unsigned)launch->cluster[1];
    attribute.value.clusterDim.z = (unsigned)launch->cluster[2];
    return attribute;
}

static inline CUlaunchConfig cushim_launch_config(const struct cushim_launch *launch,
                                                  CUlaunchAttribute *attributes, unsigned count)
{
    return (CUlaunchConfig){.gridDimX = (unsigned)launch->grid[0],
                            .gridDimY = (unsigned)launch->grid[1],
                            .gridDimZ = (unsigned)launch->grid[2],
                            .blockDimX = (unsigned)launch->block[0],
                            .blockDimY = (unsigned)launch->block[1],
                            .blockDimZ = (unsigned)launch->block[2],
                            .sharedMemBytes = (unsigned)launch->shared,
                            .hStream = launch->stream,
                            .attrs = attributes,
                            .numAttrs = count};
}

/* ---- launch_arguments.c */

/* Compare the arguments with the function's parameters, where the driver can tell. */
CUresult cushim_launch_check_arguments(const struct cushim_launching *what);

#endif
