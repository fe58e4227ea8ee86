/* SPDX-License-Identifier: MIT */
/*
 * One way to call the driver, as a module of its own: meson.build compiles this file once for each.
 * What a call goes through is in a static variable, as in programs.
 */
#include "way.h"

#include <dlfcn.h>
#include <string.h>

#include "clock.h"

#if defined(WAY_POINTER)
static int (*get_device)(int *);
#define PREPARE(library)                                                                           \
    (memcpy(&get_device, &(void *){dlsym(library, "cuCtxGetDevice")}, sizeof get_device),          \
     get_device != 0)
#define GET_DEVICE get_device

#elif defined(WAY_LINKED) /* the PLT; with -fno-plt the GOT */
int cuCtxGetDevice(int *device);
#define PREPARE(library) true
#define GET_DEVICE cuCtxGetDevice

#elif defined(WAY_DROPIN)
#include <cuda.h>
#define PREPARE(library) (cuCtxGetDevice(&(int){0}) == CUDA_SUCCESS) /* loads the driver */
#define GET_DEVICE cuCtxGetDevice

#elif defined(WAY_TABLE) /* of the library, and of the two files */
#include WAY_TABLE
static const struct cushim_api *cu;
#define PREPARE(library) (!!(cu = cushim_load(NULL)))
#define GET_DEVICE cu->cuCtxGetDevice

#elif defined(WAY_NV_CODEC_HEADERS)
#include <ffnvcodec/dynlink_loader.h>
static CudaFunctions *cu;
#define PREPARE(library) (cuda_load_functions(&cu, NULL) == 0)
#define GET_DEVICE cu->cuCtxGetDevice
#endif

bool way_prepare(void *library)
{
    (void)library;
    return PREPARE(library);
}

KEEP long way_call(long calls)
{
    int device = 0;
    long sum = 0;
    for (long i = 0; i < calls; i++)
        sum += GET_DEVICE(&device);
    return sum + device;
}
