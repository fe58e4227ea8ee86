/* SPDX-License-Identifier: MIT */
#include <cushim/device.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helpers/attribute_names.h"
#include "context.h"
#include "error.h"
#include "scope.h"

CUresult cushim_device_list(const struct cushim_api *cu, CUdevice *devices, int capacity,
                            int *count)
{
    int found = 0;
    CUSHIM_REQUIRE(cu);
    if (capacity < 0)
        return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                                   "capacity is %d; pass 0 or more", capacity);
    if (capacity > 0 && !devices)
        return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                                   "devices is NULL; pass an array of %d, the capacity", capacity);
    CUresult code = cushim_context_ready(cu, __func__);
    if (code == CUDA_SUCCESS)
        code = CUSHIM_CALL(cu, __func__, cuDeviceGetCount, &found);
    int wanted = found < capacity ? found : capacity;
    CUdevice *all = NULL;
    if (code == CUDA_SUCCESS && wanted > 0 && !(all = calloc((size_t)wanted, sizeof *all)))
        code = cushim_error_refuse(CUDA_ERROR_OUT_OF_MEMORY, __func__, "no memory for %d devices",
                                   found);
    for (int i = 0; i < wanted && code == CUDA_SUCCESS; i++)
        code = CUSHIM_CALL(cu, __func__, cuDeviceGet, &all[i], i);
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
    if (!attribute || index >= cushim_attributes_count)
        return false;
    *attribute = cushim_attributes[index];
    return true;
}

/* NULL if this build knows no attribute of that name. */
static const struct cushim_attribute *device_attribute_named(const char *name)
{
    static const char prefix[] = "CU_DEVICE_ATTRIBUTE_";
    const size_t length = sizeof prefix - 1;
    if (!name)
        return NULL;
    if (strncmp(name, prefix, length) == 0)
        name += length;
    for (size_t i = 0; i < cushim_attributes_count; i++)
        if (strcmp(cushim_attributes[i].name + length, name) == 0)
            return &cushim_attributes[i];
    return NULL;
}

/* NULL if this build knows no attribute of that number. */
static const struct cushim_attribute *device_attribute_numbered(int number)
{
    for (size_t i = 0; i < cushim_attributes_count; i++)
        if (cushim_attributes[i].number == number)
            return &cushim_attributes[i];
    return NULL;
}

static CUresult device_no_value(const struct cushim_api *cu, const char *helper, int number,
                                enum cushim_answer answer)
{
    const struct cushim_attribute *known = device_attribute_numbered(number);
    const char *name = known ? known->name : "an attribute that this build does not know";
    int version = cushim_driver_version(cu);
    if (answer == CUSHIM_ANSWER_UNSUPPORTED)
        return cushim_error_refuse(CUDA_ERROR_NOT_SUPPORTED, helper,
                                   "number: %d, %s: this device does not have it", number, name);
    return cushim_error_refuse(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, helper,
                               "number: %d, %s: the driver, of CUDA %d.%d, does not know it",
                               number, name, CUSHIM_RELEASE(version));
}

/* A driver returns INVALID_VALUE both for a number that it does not know and for one that its
 * release has and the device has not. The registry tells them apart; if it does not know when an
 * attribute came, the attribute is old, and it is the device that lacks it. */
static CUresult device_get_attribute(const struct cushim_api *cu, const char *helper,
                                     CUdevice device, int number, int *value,
                                     enum cushim_answer *answer)
{
    CUresult code = cu->cuDeviceGetAttribute(value, (CUdevice_attribute)number, device);
    const struct cushim_attribute *known = device_attribute_numbered(number);
    *answer = CUSHIM_ANSWER_VALUE;
    if (code == CUDA_ERROR_NOT_SUPPORTED)
        *answer = CUSHIM_ANSWER_UNSUPPORTED;
    else if (code == CUDA_ERROR_INVALID_VALUE)
        *answer = known && known->since <= cushim_driver_version(cu) ? CUSHIM_ANSWER_UNSUPPORTED
                                                                     : CUSHIM_ANSWER_UNKNOWN;
    else
        return cushim_context_check_device(cu, code, helper, "cuDeviceGetAttribute", device);
    return CUDA_SUCCESS;
}

static CUresult device_read_attribute(const struct cushim_api *cu, const char *helper,
                                      CUdevice device, int number, int *value,
                                      enum cushim_answer *answer)
{
    int got = 0;
    enum cushim_answer kind = CUSHIM_ANSWER_VALUE;
    if (!cu || !value)
        return cushim_error_null(helper, cu ? "value" : "cu");
    CUresult code = cushim_context_ready(cu, helper);
    if (code == CUDA_SUCCESS)
        code = device_get_attribute(cu, helper, device, number, &got, &kind);
    if (code != CUDA_SUCCESS)
        return code;
    if (!answer && kind != CUSHIM_ANSWER_VALUE)
        return device_no_value(cu, helper, number, kind);
    if (kind == CUSHIM_ANSWER_VALUE)
        *value = got;
    if (answer)
        *answer = kind;
    return CUDA_SUCCESS;
}

CUresult cushim_device_attribute(const struct cushim_api *cu, CUdevice device, int number,
                                 int *value, enum cushim_answer *answer)
{
    return device_read_attribute(cu, __func__, device, number, value, answer);
}

CUresult cushim_device_attribute_named(const struct cushim_api *cu, CUdevice device,
                                       const char *name, int *value, enum cushim_answer *answer)
{
    const struct cushim_attribute *attribute = device_attribute_named(name);
    if (!attribute)
        return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                                   "name: %s%s%s is no device attribute that this build knows",
                                   name ? "\"" : "", name ? name : "NULL", name ? "\"" : "");
    return device_read_attribute(cu, __func__, device, attribute->number, value, answer);
}

/* ---- properties ---- */

#define DEVICE_PROPERTY(member, attribute)                                                         \
    {                                                                                              \
        offsetof(struct cushim_device_properties, member), CU_DEVICE_ATTRIBUTE_##attribute         \
    }

static const struct {
    size_t offset;
    int number;
} device_properties[] = {
    DEVICE_PROPERTY(major, COMPUTE_CAPABILITY_MAJOR),
    DEVICE_PROPERTY(minor, COMPUTE_CAPABILITY_MINOR),
    DEVICE_PROPERTY(multiprocessors, MULTIPROCESSOR_COUNT),
    DEVICE_PROPERTY(warp_size, WARP_SIZE),
    DEVICE_PROPERTY(max_threads_per_block, MAX_THREADS_PER_BLOCK),
    DEVICE_PROPERTY(max_threads_per_multiprocessor, MAX_THREADS_PER_MULTIPROCESSOR),
    DEVICE_PROPERTY(max_block[0], MAX_BLOCK_DIM_X),
    DEVICE_PROPERTY(max_block[1], MAX_BLOCK_DIM_Y),
    DEVICE_PROPERTY(max_block[2], MAX_BLOCK_DIM_Z),
    DEVICE_PROPERTY(max_grid[0], MAX_GRID_DIM_X),
    DEVICE_PROPERTY(max_grid[1], MAX_GRID_DIM_Y),
    DEVICE_PROPERTY(max_grid[2], MAX_GRID_DIM_Z),
    DEVICE_PROPERTY(registers_per_block, MAX_REGISTERS_PER_BLOCK),
    DEVICE_PROPERTY(shared_memory_per_block, MAX_SHARED_MEMORY_PER_BLOCK),
    DEVICE_PROPERTY(shared_memory_per_block_optin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
    DEVICE_PROPERTY(shared_memory_per_multiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
    DEVICE_PROPERTY(constant_memory, TOTAL_CONSTANT_MEMORY),
    DEVICE_PROPERTY(l2_cache, L2_CACHE_SIZE),
    DEVICE_PROPERTY(max_pitch, MAX_PITCH),
    DEVICE_PROPERTY(texture_alignment, TEXTURE_ALIGNMENT),
    DEVICE_PROPERTY(clock_khz, CLOCK_RATE),
    DEVICE_PROPERTY(memory_clock_khz, MEMORY_CLOCK_RATE),
    DEVICE_PROPERTY(memory_bus_bits, GLOBAL_MEMORY_BUS_WIDTH),
    DEVICE_PROPERTY(copy_engines, ASYNC_ENGINE_COUNT),
    DEVICE_PROPERTY(compute_mode, COMPUTE_MODE),
    DEVICE_PROPERTY(integrated, INTEGRATED),
    DEVICE_PROPERTY(ecc, ECC_ENABLED),
    DEVICE_PROPERTY(mapped_host_memory, CAN_MAP_HOST_MEMORY),
    DEVICE_PROPERTY(unified_addressing, UNIFIED_ADDRESSING),
    DEVICE_PROPERTY(managed_memory, MANAGED_MEMORY),
    DEVICE_PROPERTY(concurrent_managed_access, CONCURRENT_MANAGED_ACCESS),
    DEVICE_PROPERTY(pageable_memory_access, PAGEABLE_MEMORY_ACCESS),
    DEVICE_PROPERTY(concurrent_kernels, CONCURRENT_KERNELS),
    DEVICE_PROPERTY(cooperative_launch, COOPERATIVE_LAUNCH),
    DEVICE_PROPERTY(cluster_launch, CLUSTER_LAUNCH),
    DEVICE_PROPERTY(memory_pools, MEMORY_POOLS_SUPPORTED),
    DEVICE_PROPERTY(virtual_memory, VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED),
};

static void device_write_uuid(char *text, size_t size, const char *kind, const CUuuid *uuid)
{
    size_t used = (size_t)snprintf(text, size, "%s", kind);
    for (size_t i = 0; i < sizeof uuid->bytes; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%02x",
                                 i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                                 (unsigned)(unsigned char)uuid->bytes[i]);
}

/* The second ABI knows the part of a GPU that the device may be; the first the GPU that it is in.
 */
static void device_read_uuid(const struct cushim_api *cu,
                             struct cushim_device_properties *properties, CUdevice device)
{
    CUuuid whole, part;
    if (!CUSHIM_HAS(cu, cuDeviceGetUuid_v1) ||
        cu->cuDeviceGetUuid_v1(&whole, device) != CUDA_SUCCESS)
        return;
    if (!CUSHIM_HAS(cu, cuDeviceGetUuid_v2) ||
        cu->cuDeviceGetUuid_v2(&part, device) != CUDA_SUCCESS)
        part = whole;
    bool same = memcmp(&whole, &part, sizeof whole) == 0;
    device_write_uuid(properties->uuid, sizeof properties->uuid, same ? "GPU-" : "MIG-", &part);
}

static CUresult device_read_properties(const struct cushim_api *cu, const char *helper,
                                       CUdevice device, struct cushim_device_properties *properties)
{
    CUresult code = cu->cuDeviceGetName(properties->name, sizeof properties->name, device);
    code = cushim_context_check_device(cu, code, helper, "cuDeviceGetName", device);
    if (code == CUDA_SUCCESS)
        code = CUSHIM_CALL(cu, helper, cuDeviceTotalMem_v2, &properties->total_memory, device);
    for (size_t i = 0;
         i < sizeof device_properties / sizeof *device_properties && code == CUDA_SUCCESS; i++) {
        enum cushim_answer answer = CUSHIM_ANSWER_VALUE;
        int value = -1;
        code =
            device_get_attribute(cu, helper, device, device_properties[i].number, &value, &answer);
        if (answer != CUSHIM_ANSWER_VALUE)
            value = -1;
        memcpy((char *)properties + device_properties[i].offset, &value, sizeof value);
    }
    if (code != CUDA_SUCCESS)
        return code;
    if (!CUSHIM_HAS(cu, cuDeviceGetPCIBusId) ||
        cu->cuDeviceGetPCIBusId(properties->pci_bus_id, sizeof properties->pci_bus_id, device) !=
            CUDA_SUCCESS)
        properties->pci_bus_id[0] = '\0';
    device_read_uuid(cu, properties, device);
    return CUDA_SUCCESS;
}

CUresult cushim_device_describe(const struct cushim_api *cu, CUdevice device,
                                struct cushim_device_properties *properties)
{
    struct cushim_device_properties found = {.size = 0};
    CUSHIM_REQUIRE(cu);
    CUSHIM_REQUIRE(properties);
    CUresult code = cushim_error_check_sized(__func__, "properties", properties,
                                             CUSHIM_LEAST(cushim_device_properties, reserved));
    if (code == CUDA_SUCCESS)
        code = cushim_context_ready(cu, __func__);
    if (code == CUDA_SUCCESS)
        code = device_read_properties(cu, __func__, device, &found);
    if (code == CUDA_SUCCESS)
        cushim_text_write_sized(properties, &found, sizeof found);
    return code;
}

/* ---- enter and leave ---- */

CUresult cushim_device_enter(const struct cushim_api *cu, CUdevice device,
                             struct cushim_device_scope *scope)
{
    CUSHIM_REQUIRE(scope);
    *scope = (struct cushim_device_scope){.device = device};
    CUresult code = cu ? cushim_context_ready(cu, __func__) : cushim_error_null(__func__, "cu");
    if (code == CUDA_SUCCESS)
        code = cushim_context_retain_primary(cu, __func__, device, &scope->context);
    cushim_outcome_keep(&scope->outcome, code, __func__);
    if (code != CUDA_SUCCESS)
        return code;
    code = cushim_scope_begin(cu, scope->context, __func__, &scope->previous);
    cushim_outcome_keep(&scope->outcome, code, __func__);
    if (code == CUDA_SUCCESS) {
        scope->cu = cu;
        return code;
    }
    struct cushim_error_saved sentence;
    cushim_error_save(&sentence);
    cushim_context_release_primary(cu, __func__, device);
    cushim_error_restore(&sentence);
    return code;
}

CUresult cushim_device_leave(struct cushim_device_scope *scope)
{
    CUSHIM_REQUIRE(scope);
    if (!scope->cu)
        return scope->outcome.code;
    CUresult code = cushim_scope_end(&scope->previous, __func__, CUDA_SUCCESS);
    cushim_outcome_keep(&scope->outcome, code, __func__);
    code = cushim_context_release_primary(scope->cu, __func__, scope->device);
    cushim_outcome_keep(&scope->outcome, code, __func__);
    scope->cu = NULL;
    return scope->outcome.code;
}
