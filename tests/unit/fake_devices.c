/* SPDX-License-Identifier: MIT */
/* The devices of fake_contexts.h. */
#include "fake_contexts.h"

#include <stdio.h>
#include <unistd.h>

static CUresult CUDAAPI f_cuInit(unsigned flags)
{
    assert_int_equal(flags, 0);
    if (fake.initialised)
        return fake.initialised == getpid() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
    FAKE_CALLED("cuInit");
    if (fake.init_code == CUDA_SUCCESS)
        fake.initialised = getpid();
    return fake.init_code;
}

static CUresult CUDAAPI f_cuDriverGetVersion(int *version)
{
    *version = fake.version;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI f_cuDeviceGetCount(int *count)
{
    FAKE_CALLED("cuDeviceGetCount");
    *count = FAKE_DEVICES;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI f_cuDeviceGet(CUdevice *device, int ordinal)
{
    FAKE_CALLED("cuDeviceGet");
    if (!fake_is_device(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI f_cuDeviceGetName(char *name, int size, CUdevice device)
{
    FAKE_CALLED("cuDeviceGetName");
    if (!fake_is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)size, "Fake %d", device);
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI f_cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    FAKE_CALLED("cuDeviceTotalMem_v2");
    *bytes = FAKE_MEMORY << device;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI f_cuDeviceGetPCIBusId(char *text, int size, CUdevice device)
{
    FAKE_CALLED("cuDeviceGetPCIBusId");
    snprintf(text, (size_t)size, "0000:0%d:00.0", device);
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI f_cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    FAKE_CALLED("cuDeviceGetUuid");
    assert_true(fake_is_device(device));
    for (int i = 0; i < 16; i++)
        uuid->bytes[i] = (char)(i * 17);
    return CUDA_SUCCESS;
}

/* The second device is a part of a GPU. */
static CUresult CUDAAPI f_cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    FAKE_CALLED("cuDeviceGetUuid_v2");
    for (int i = 0; i < 16; i++)
        uuid->bytes[i] = (char)(i * 17 + device);
    return CUDA_SUCCESS;
}

/* Numbers up to 119 belong to the release of 11.7, and 90 is none of this device. */
static CUresult CUDAAPI f_cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                                               CUdevice device)
{
    int number = (int)attribute;
    FAKE_CALLED("cuDeviceGetAttribute");
    if (!fake_is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (number == 91)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (number <= 0 || number == 90 || number > (fake.version < 11070 ? 100 : 119))
        return CUDA_ERROR_INVALID_VALUE;
    *value = number == 18 ? 0 : 1000 + number;
    return CUDA_SUCCESS;
}

const struct fake_export fake_device_exports[] = {FAKE_EXPORT(cuInit),
                                                  FAKE_EXPORT(cuDriverGetVersion),
                                                  FAKE_EXPORT(cuDeviceGetCount),
                                                  FAKE_EXPORT(cuDeviceGet),
                                                  FAKE_EXPORT(cuDeviceGetName),
                                                  FAKE_EXPORT(cuDeviceTotalMem_v2),
                                                  FAKE_EXPORT(cuDeviceGetPCIBusId),
                                                  FAKE_EXPORT(cuDeviceGetUuid),
                                                  FAKE_EXPORT(cuDeviceGetUuid_v2),
                                                  FAKE_EXPORT(cuDeviceGetAttribute)};
const size_t fake_device_export_count = COUNT(fake_device_exports);
