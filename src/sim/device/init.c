/* SPDX-License-Identifier: MIT */
/* cuInit and what answers before it: the version, and errors by name. */
#include "device/device.h"

#include <string.h>
#include <unistd.h>

static pid_t initialized_in; /* 0: never */
static CUresult state = CUDA_ERROR_NOT_INITIALIZED;

CUresult sim_init_state(void)
{
    /* A child of a process that called cuInit cannot use the driver. */
    return initialized_in == getpid() ? state : CUDA_ERROR_NOT_INITIALIZED;
}

void sim_init_forget(void)
{
    initialized_in = 0;
}

CUresult sim_cuInit(unsigned int Flags)
{
    if (Flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (initialized_in != 0 && initialized_in != getpid())
        return CUDA_ERROR_NOT_INITIALIZED;
    if (sim_device_count() == 0)
        return CUDA_ERROR_NO_DEVICE;
    initialized_in = getpid();
    state = CUDA_SUCCESS;
    return CUDA_SUCCESS;
}

CUresult sim_cuDriverGetVersion(int *driverVersion)
{
    if (!driverVersion)
        return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = sim_config.cuda;
    return CUDA_SUCCESS;
}
