/* SPDX-License-Identifier: MIT */
/* What a launch is compared with: the device, the function, its parameters; internal to the
 * library. The driver is queried each time. */
#ifndef CUSHIM_HELPERS_LAUNCH_CHECK_H
#define CUSHIM_HELPERS_LAUNCH_CHECK_H

#include <cushim/launch.h>

enum { CUSHIM_LAUNCH_MOST_ATTRIBUTES = 16 };

/* A launch, for checks and their sentences. */
struct launch_what {
    const struct cushim_api *cu;
    const char *helper;
    CUfunction function;
    CUfunction asked; /* the same; if `function` is a CUkernel, its function */
    const struct cushim_launch *launch;
    struct cushim_launch own; /* of a caller whose structure has another size */
    /* Arguments: packed, or a number of them with their sizes, which may be NULL. */
    const struct cushim_params *packed;
    const size_t *sizes;
    size_t count;
};

/* What the driver returns for a function on the current device. What it does not know is UINT_MAX
 * for limits, and 0 for what is in use. */
struct launch_check_limits {
    CUdevice device;
    size_t grid[3], block[3];
    size_t device_threads;   /* in a block */
    size_t function_threads; /* in a block */
    size_t static_shared;    /* the function's own, in bytes */
    size_t dynamic_now;      /* bytes that a launch may have as the function is set */
    size_t dynamic_most;     /* bytes that it may be set to */
};

/* Query the driver, and set `asked`; refused if no context is current. */
CUresult cushim_launch_check_ask(struct launch_what *what, struct launch_check_limits *limits);

/* Grid, block and shared memory against the limits. */
CUresult cushim_launch_check_shape(const struct launch_what *what,
                                   const struct launch_check_limits *limits);

/* Cluster, cooperative and attributes: whether driver and device have them, and their limits. */
CUresult cushim_launch_check_extras(const struct launch_what *what,
                                    const struct launch_check_limits *limits);

/* Compare the arguments with the function's parameters, if the driver can tell. */
CUresult cushim_launch_check_arguments(const struct launch_what *what);

/* If the launch needs more, allow the function all dynamic shared memory that the device has; and
 * undo that. */
CUresult cushim_launch_check_raise(const struct launch_what *what,
                                   const struct launch_check_limits *limits);
void cushim_launch_check_restore(const struct launch_what *what,
                                 const struct launch_check_limits *limits);

/* The function's name for a sentence, in the buffer if the driver has it. */
const char *cushim_launch_check_name(const struct launch_what *what, char *buffer, size_t size);

/* ---- the driver's form of a launch */

static inline CUlaunchAttribute cushim_launch_check_cluster(const struct cushim_launch *launch)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    attribute.value.clusterDim.x = (unsigned)launch->cluster[0];
    attribute.value.clusterDim.y = (unsigned)launch->cluster[1];
    attribute.value.clusterDim.z = (unsigned)launch->cluster[2];
    return attribute;
}

static inline CUlaunchConfig cushim_launch_check_config(const struct cushim_launch *launch,
                                                        CUlaunchAttribute *attributes,
                                                        unsigned count)
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

#endif
