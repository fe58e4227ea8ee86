/* SPDX-License-Identifier: MIT */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute_names.h"
#include "helper.h"
#include "instance.h"

CUresult cushim_ready(const struct cushim_api *cu, const char *helper)
{
    const char *message = "";
    switch (cushim_init(cu)) {
    case CUSHIM_OK:
        return CUDA_SUCCESS;
    case CUSHIM_ERROR_FORKED:
        return cushim_refuse(CUDA_ERROR_NOT_INITIALIZED, helper, "%s", message);
    case CUSHIM_ERROR_NO_DEVICE:
    case CUSHIM_ERROR_NOT_READY:
    case CUSHIM_ERROR_DRIVER_MISMATCH:
    case CUSHIM_ERROR_COMPAT_UNSUPPORTED:
    case CUSHIM_ERROR_INIT_UNKNOWN:
    case CUSHIM_ERROR_INIT_FAILED:
        return cushim_refuse((CUresult)atomic_load(&cu->instance->init_result), helper, "%s", message);
    default: /* no driver: as if it had found no device */
        return cushim_refuse(CUDA_ERROR_NO_DEVICE, helper, "%s", message);
    }
}

CUresult cushim_device_checked(const struct cushim_api *cu, CUresult code, const char *helper,
                               const char *call, CUdevice device)
{
    int count = 0;
    if (code != CUDA_ERROR_INVALID_DEVICE)
        return cushim_checked(code, helper, call);
    if (cu->cuDeviceGetCount(&count) != CUDA_SUCCESS || count <= 0)
        return cushim_refuse(code, helper, "device: %d: %s says that it is none", device, call);
    return cushim_refuse(code, helper, "device: %d is not one of the driver's %d, 0 to %d", device,
                         count, count - 1);
}

CUresult cushim_device_list(const struct cushim_api *cu, CUdevice *devices, int capacity,
                            int *count)
{
    int found = 0;
    if (capacity < 0)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "capacity: %d, not 0 or more",
                             capacity);
    if (capacity > 0 && !devices)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                             "devices: NULL, but its capacity is %d", capacity);
    CUresult code = cushim_ready(cu, __func__);
    if (code == CUDA_SUCCESS)
        code = CUSHIM_TRY(cu, __func__, cuDeviceGetCount, &found);
    int wanted = found < capacity ? found : capacity;
    CUdevice *all = NULL;
    if (code == CUDA_SUCCESS && wanted > 0 && !(all = calloc((size_t)wanted, sizeof *all)))
        code = cushim_refuse(CUDA_ERROR_OUT_OF_MEMORY, __func__, "no memory for %d devices", found);
    for (int i = 0; i < wanted && code == CUDA_SUCCESS; i++)
        code = CUSHIM_TRY(cu, __func__, cuDeviceGet, &all[i], i);
    if (code == CUDA_SUCCESS && wanted > 0)
        memcpy(devices, all, (size_t)wanted * sizeof *all);
    free(all);
    if (code == CUDA_SUCCESS && count)
        *count = found;
    return code;
}

/* ---- attributes ---- */

size_t cushim_attribute_count(void)
{
    return cushim_attributes_count;
}

bool cushim_attribute_at(size_t index, struct cushim_attribute *attribute)
{
    if (index >= cushim_attributes_count)
        return false;
    *attribute = cushim_attributes[index];
    return true;
}

bool cushim_attribute_find(const char *name, struct cushim_attribute *attribute)
{
    static const char prefix[] = "CU_DEVICE_ATTRIBUTE_";
    const size_t length = sizeof prefix - 1;
    if (!name)
        return false;
    if (strncmp(name, prefix, length) == 0)
        name += length;
    for (size_t i = 0; i < cushim_attributes_count; i++)
        if (strcmp(cushim_attributes[i].name + length, name) == 0) {
            *attribute = cushim_attributes[i];
            return true;
        }
    return false;
}

/* NULL where this build knows no attribute of that number. */
static const struct cushim_attribute *attribute_numbered(int number)
{
    for (size_t i = 0; i < cushim_attributes_count; i++)
        if (cushim_attributes[i].number == number)
            return &cushim_attributes[i];
    return NULL;
}

static CUresult no_value(const struct cushim_api *cu, const char *helper, int number,
                         enum cushim_answer answer)
{
    const struct cushim_attribute *known = attribute_numbered(number);
    const char *name = known ? known->name : "an attribute that this build does not know";
    int version = cu->instance->found.version;
    if (answer == CUSHIM_ANSWER_UNSUPPORTED)
        return cushim_refuse(CUDA_ERROR_NOT_SUPPORTED, helper,
                             "number: %d, %s: this device does not have it", number, name);
    return cushim_refuse(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, helper,
                         "number: %d, %s: the driver, of CUDA %d.%d, does not know it", number,
                         name, version / 1000, version % 1000 / 10);
}

/* A driver says INVALID_VALUE both to a number that it does not know and to one that its release
 * has, but the device has not. The registry tells them apart. */
static CUresult get_attribute(const struct cushim_api *cu, const char *helper, CUdevice device,
                              int number, int *value, enum cushim_answer *answer)
{
    CUresult code = cu->cuDeviceGetAttribute(value, (CUdevice_attribute)number, device);
    const struct cushim_attribute *known = attribute_numbered(number);
    *answer = CUSHIM_ANSWER_VALUE;
    if (code == CUDA_ERROR_NOT_SUPPORTED)
        *answer = CUSHIM_ANSWER_UNSUPPORTED;
    else if (code == CUDA_ERROR_INVALID_VALUE)
        *answer = known && known->since <= cu->instance->found.version ? CUSHIM_ANSWER_UNSUPPORTED
                                                                        : CUSHIM_ANSWER_UNKNOWN;
    else
        return cushim_device_checked(cu, code, helper, "cuDeviceGetAttribute", device);
    return CUDA_SUCCESS;
}

static CUresult read_attribute(const struct cushim_api *cu, const char *helper, CUdevice device,
                               int number, int *value, enum cushim_answer *answer)
{
    int got = 0;
    enum cushim_answer kind = CUSHIM_ANSWER_VALUE;
    if (!value)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper, "value: NULL");
    CUresult code = cushim_ready(cu, helper);
    if (code == CUDA_SUCCESS)
        code = get_attribute(cu, helper, device, number, &got, &kind);
    if (code != CUDA_SUCCESS)
        return code;
    if (!answer && kind != CUSHIM_ANSWER_VALUE)
        return no_value(cu, helper, number, kind);
    if (kind == CUSHIM_ANSWER_VALUE)
        *value = got;
    if (answer)
        *answer = kind;
    return CUDA_SUCCESS;
}

CUresult cushim_device_attribute(const struct cushim_api *cu, CUdevice device, int number,
                                 int *value, enum cushim_answer *answer)
{
    return read_attribute(cu, __func__, device, number, value, answer);
}

CUresult cushim_device_attribute_named(const struct cushim_api *cu, CUdevice device,
                                       const char *name, int *value, enum cushim_answer *answer)
{
    struct cushim_attribute attribute;
    if (!cushim_attribute_find(name, &attribute))
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                             "name: %s%s%s is no device attribute that this build knows",
                             name ? "\"" : "", name ? name : "NULL", name ? "\"" : "");
    return read_attribute(cu, __func__, device, attribute.number, value, answer);
}

/* ---- properties ---- */

#define PROPERTY(member, attribute)                                                                \
    {                                                                                              \
        offsetof(struct cushim_device_properties, member), CU_DEVICE_ATTRIBUTE_##attribute         \
    }

static const struct {
    size_t offset;
    int number;
} attribute_properties[] = {
    PROPERTY(major, COMPUTE_CAPABILITY_MAJOR),
    PROPERTY(minor, COMPUTE_CAPABILITY_MINOR),
    PROPERTY(multiprocessors, MULTIPROCESSOR_COUNT),
    PROPERTY(warp_size, WARP_SIZE),
    PROPERTY(max_threads_per_block, MAX_THREADS_PER_BLOCK),
    PROPERTY(max_threads_per_multiprocessor, MAX_THREADS_PER_MULTIPROCESSOR),
    PROPERTY(max_block[0], MAX_BLOCK_DIM_X),
    PROPERTY(max_block[1], MAX_BLOCK_DIM_Y),
    PROPERTY(max_block[2], MAX_BLOCK_DIM_Z),
    PROPERTY(max_grid[0], MAX_GRID_DIM_X),
    PROPERTY(max_grid[1], MAX_GRID_DIM_Y),
    PROPERTY(max_grid[2], MAX_GRID_DIM_Z),
    PROPERTY(registers_per_block, MAX_REGISTERS_PER_BLOCK),
    PROPERTY(shared_memory_per_block, MAX_SHARED_MEMORY_PER_BLOCK),
    PROPERTY(shared_memory_per_block_optin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
    PROPERTY(shared_memory_per_multiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
    PROPERTY(constant_memory, TOTAL_CONSTANT_MEMORY),
    PROPERTY(l2_cache, L2_CACHE_SIZE),
    PROPERTY(max_pitch, MAX_PITCH),
    PROPERTY(texture_alignment, TEXTURE_ALIGNMENT),
    PROPERTY(clock_khz, CLOCK_RATE),
    PROPERTY(memory_clock_khz, MEMORY_CLOCK_RATE),
    PROPERTY(memory_bus_bits, GLOBAL_MEMORY_BUS_WIDTH),
    PROPERTY(copy_engines, ASYNC_ENGINE_COUNT),
    PROPERTY(compute_mode, COMPUTE_MODE),
    PROPERTY(integrated, INTEGRATED),
    PROPERTY(ecc, ECC_ENABLED),
    PROPERTY(mapped_host_memory, CAN_MAP_HOST_MEMORY),
    PROPERTY(unified_addressing, UNIFIED_ADDRESSING),
    PROPERTY(managed_memory, MANAGED_MEMORY),
    PROPERTY(concurrent_managed_access, CONCURRENT_MANAGED_ACCESS),
    PROPERTY(pageable_memory_access, PAGEABLE_MEMORY_ACCESS),
    PROPERTY(concurrent_kernels, CONCURRENT_KERNELS),
    PROPERTY(cooperative_launch, COOPERATIVE_LAUNCH),
    PROPERTY(cluster_launch, CLUSTER_LAUNCH),
    PROPERTY(memory_pools, MEMORY_POOLS_SUPPORTED),
    PROPERTY(virtual_memory, VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED),
};

static void write_uuid(char *text, size_t size, const char *kind, const CUuuid *uuid)
{
    size_t used = (size_t)snprintf(text, size, "%s", kind);
    for (size_t i = 0; i < sizeof uuid->bytes; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%02x",
                                 i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                                 (unsigned)(unsigned char)uuid->bytes[i]);
}

/* The second ABI knows the part of a GPU that the device may be; the first the GPU that it is in.
 */
static void read_uuid(const struct cushim_api *cu, struct cushim_device_properties *properties,
                      CUdevice device)
{
    CUuuid whole, part;
    if (cu->cuDeviceGetUuid_v1(&whole, device) != CUDA_SUCCESS)
        return;
    if (!CUSHIM_HAS(cu, cuDeviceGetUuid_v2) ||
        cu->cuDeviceGetUuid_v2(&part, device) != CUDA_SUCCESS)
        part = whole;
    bool same = memcmp(&whole, &part, sizeof whole) == 0;
    write_uuid(properties->uuid, sizeof properties->uuid, same ? "GPU-" : "MIG-", &part);
}

static CUresult describe_device(const struct cushim_api *cu, const char *helper, CUdevice device,
                                struct cushim_device_properties *properties)
{
    CUresult code = cu->cuDeviceGetName(properties->name, sizeof properties->name, device);
    code = cushim_device_checked(cu, code, helper, "cuDeviceGetName", device);
    if (code == CUDA_SUCCESS)
        code = CUSHIM_TRY(cu, helper, cuDeviceTotalMem_v2, &properties->total_memory, device);
    for (size_t i = 0;
         i < sizeof attribute_properties / sizeof *attribute_properties && code == CUDA_SUCCESS;
         i++) {
        enum cushim_answer answer = CUSHIM_ANSWER_VALUE;
        int value = -1;
        code = get_attribute(cu, helper, device, attribute_properties[i].number, &value, &answer);
        if (answer != CUSHIM_ANSWER_VALUE)
            value = -1;
        memcpy((char *)properties + attribute_properties[i].offset, &value, sizeof value);
    }
    if (code != CUDA_SUCCESS)
        return code;
    if (cu->cuDeviceGetPCIBusId(properties->pci_bus_id, sizeof properties->pci_bus_id, device) !=
        CUDA_SUCCESS)
        properties->pci_bus_id[0] = '\0';
    read_uuid(cu, properties, device);
    return CUDA_SUCCESS;
}

CUresult cushim_device_describe(const struct cushim_api *cu, CUdevice device,
                                struct cushim_device_properties *properties)
{
    struct cushim_device_properties found = {.size = 0};
    if (!properties)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "properties: NULL");
    size_t size = properties->size;
    if (size < offsetof(struct cushim_device_properties, uuid))
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                             "properties: size %zu is not that of "
                             "struct cushim_device_properties",
                             size);
    CUresult code = cushim_ready(cu, __func__);
    if (code == CUDA_SUCCESS)
        code = describe_device(cu, __func__, device, &found);
    if (code != CUDA_SUCCESS)
        return code;
    found.size = size;
    memcpy(properties, &found, size < sizeof found ? size : sizeof found);
    return CUDA_SUCCESS;
}
