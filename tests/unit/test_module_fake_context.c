/* SPDX-License-Identifier: MIT */
/* Contexts and the device of test_module_fake.h. */
#include <string.h>

#include "test_module_fake.h"

enum { STACK = 8 };

static _Thread_local CUcontext stack[STACK];
static _Thread_local int depth;

CUcontext module_fake_context(uintptr_t number)
{
    return (CUcontext)(number << 4);
}

void module_fake_set(CUcontext context)
{
    depth = context ? 1 : 0;
    stack[0] = context;
}

CUcontext module_fake_current(void)
{
    return depth ? stack[depth - 1] : NULL;
}

int module_fake_depth(void)
{
    return depth;
}

static CUresult f_cuCtxGetCurrent(CUcontext *context)
{
    *context = module_fake_current();
    return CUDA_SUCCESS;
}

static CUresult f_cuCtxPushCurrent_v2(CUcontext context)
{
    CALLED(cuCtxPushCurrent_v2);
    assert_in_range(depth, 0, STACK - 1);
    stack[depth++] = context;
    return CUDA_SUCCESS;
}

static CUresult f_cuCtxPopCurrent_v2(CUcontext *context)
{
    if (!depth)
        return CUDA_ERROR_INVALID_CONTEXT;
    *context = stack[--depth];
    return CUDA_SUCCESS;
}

static CUresult f_cuCtxSetCurrent(CUcontext context)
{
    module_fake_set(context);
    return CUDA_SUCCESS;
}

static CUresult f_cuCtxGetDevice(CUdevice *device)
{
    if (!depth)
        return CUDA_ERROR_INVALID_CONTEXT;
    *device = 0;
    return CUDA_SUCCESS;
}

static CUresult f_cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    assert_int_equal(device, 0);
    if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
        *value = module_fake.arch / 10;
    else if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
        *value = module_fake.arch % 10;
    else
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static CUresult f_cuInit(unsigned flags)
{
    assert_int_equal(flags, 0);
    return CUDA_SUCCESS;
}

static CUresult f_cuDriverGetVersion(int *version)
{
    *version = module_fake.version;
    return CUDA_SUCCESS;
}

void *module_fake_export(const struct module_fake_export *exports, size_t count, const char *symbol)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(exports[i].symbol, symbol) == 0 && exports[i].since <= module_fake.version) {
            void *address;
            memcpy(&address, &exports[i].function, sizeof address);
            return address;
        }
    return NULL;
}

void *module_fake_resolve_context(const char *symbol)
{
    static const struct module_fake_export symbols[] = {
        EXPORT(cuInit, 0),          EXPORT(cuDriverGetVersion, 0),   EXPORT(cuCtxGetCurrent, 0),
        EXPORT(cuCtxSetCurrent, 0), EXPORT(cuCtxPushCurrent_v2, 0),  EXPORT(cuCtxPopCurrent_v2, 0),
        EXPORT(cuCtxGetDevice, 0),  EXPORT(cuDeviceGetAttribute, 0),
    };
    return module_fake_export(symbols, COUNT(symbols), symbol);
}
