/* SPDX-License-Identifier: MIT */
/* A small libcuda.so.1 that counts its calls, built by the tests. */
#include <stdatomic.h>
#include <stddef.h>

static atomic_int loads, calls;

/* Names of this driver's alone, for those who want to know what happened in it. */
int driver_calls(void);
int driver_version_calls(void);

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int ordinal);
int cuCtxGetCurrent(void **context);
int cuGetErrorName(int error, const char **name);

int cuInit(unsigned flags)
{
    atomic_fetch_add(&calls, 1);
    return flags ? 1 : 0;
}

/* A load asks once, and so does every call of the program's. */
int cuDriverGetVersion(int *version)
{
    atomic_fetch_add(&loads, 1);
    *version = 10020;
    return 0;
}

/* Calls an exported function of its own as a library does, through its own PLT. */
int cuDeviceGetCount(int *count)
{
    atomic_fetch_add(&calls, 1);
    *count = cuInit(0) == 0 ? 3 : -1;
    return 0;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return 0;
}

int cuCtxGetCurrent(void **context)
{
    *context = NULL;
    return 201;
}

int cuGetErrorName(int error, const char **name)
{
    *name = error ? "CUDA_ERROR" : "CUDA_SUCCESS";
    return 0;
}

int driver_calls(void)
{
    return atomic_load(&calls);
}

int driver_version_calls(void)
{
    return atomic_load(&loads);
}
