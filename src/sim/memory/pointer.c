/* SPDX-License-Identifier: MIT */
/* What the driver knows of an address. */
#include "memory/memory.h"

union value {
    uint64_t tokens[2];
    unsigned word;
};

static bool is_host_kind(const struct sim_allocation *found)
{
    return found->kind == SIM_MEMORY_HOST || found->kind == SIM_MEMORY_REGISTERED ||
           found->kind == SIM_MEMORY_POOL_HOST;
}

static bool is_managed_kind(const struct sim_allocation *found)
{
    return found->kind == SIM_MEMORY_MANAGED || found->kind == SIM_MEMORY_POOL_MANAGED;
}

/* What is said of an address that the driver does not know. */
static void unknown(CUpointer_attribute attribute, union value *value)
{
    memset(value, 0, sizeof *value);
    if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
        value->word = (unsigned)CU_DEVICE_INVALID;
}

static unsigned access_of(const struct sim_allocation *found)
{
    if (found->writable || found->kind == SIM_MEMORY_REGISTERED || sim_range_is_pooled(found->kind))
        return CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return found->readable ? CU_MEM_ACCESS_FLAGS_PROT_READ : CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

static uint64_t handle_types_of(const struct sim_allocation *found)
{
    if (found->foreign)
        return 0;
    if (found->kind == SIM_MEMORY_VIRTUAL)
        return sim_range_behind(found)->prop.requestedHandleTypes;
    return sim_range_is_pooled(found->kind) ? ((const struct sim_pool *)found->owner)->handle_types
                                            : 0;
}

/* Memory of the host has its context's, and a pool's block may have no context either. */
static const struct sim_device *device_of(const struct sim_allocation *found)
{
    if (found->device)
        return found->device;
    return found->context ? found->context->device : &sim_device_all[0];
}

/* An attribute: the release that brought it, 0 for the first ones; the size of its value, 0 for
 * none of this driver; and what it is of memory that the driver knows, or of `none`. */
struct trait {
    int since;
    size_t size;
    uint64_t value;
};
static const struct sim_allocation none;

static struct trait trait_of(CUpointer_attribute attribute, const struct sim_allocation *found,
                             uint64_t address)
{
    bool host = is_host_kind(found), managed = is_managed_kind(found);
    bool pooled = sim_range_is_pooled(found->kind), mapped = found->kind == SIM_MEMORY_VIRTUAL;
    bool plain = found->kind == SIM_MEMORY_DEVICE || found->kind == SIM_MEMORY_MODULE;
    size_t grain = pooled                                 ? SIM_POOL_GRAIN
                   : found->kind == SIM_MEMORY_REGISTERED ? 1
                                                          : SIM_ADDRESS_CHUNK;
    /* Several plain ones share what is mapped at once. */
    uint64_t start = plain ? found->address - found->address % grain : found->address;
    const struct trait traits[] = {
#define POINTER(name, since, size, value) [CU_POINTER_ATTRIBUTE_##name] = {since, size, value},
#include "memory/pointer.def"
    };
    bool known = (size_t)attribute < sizeof traits / sizeof *traits &&
                 traits[attribute].since <= sim_config.cuda;
    return known ? traits[attribute] : (struct trait){0, 0, 0};
}

static size_t size_of(CUpointer_attribute attribute)
{
    return trait_of(attribute, &none, 0).size;
}

static CUresult known(const struct sim_allocation *found, CUpointer_attribute attribute,
                      uint64_t address, union value *value)
{
    bool host = is_host_kind(found);
    bool lacks =
        (attribute == CU_POINTER_ATTRIBUTE_DEVICE_POINTER && found->kind == SIM_MEMORY_POOL_HOST &&
         !found->readable) ||
        (attribute == CU_POINTER_ATTRIBUTE_HOST_POINTER && !host && !is_managed_kind(found)) ||
        (attribute == CU_POINTER_ATTRIBUTE_P2P_TOKENS && host);
    *value = (union value){.tokens = {lacks ? 0 : trait_of(attribute, found, address).value}};
    return lacks ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static const struct sim_allocation *find(uint64_t address)
{
    const struct sim_allocation *found = sim_range_find(address);
    return found && !found->ending && found->kind != SIM_MEMORY_ARRAY ? found : NULL;
}

CUresult sim_cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr_v2 ptr)
{
    union value value;
    size_t size = size_of(attribute);
    SIM_REFUSE(!data || size == 0);
    const struct sim_allocation *found = find(ptr);
    SIM_REFUSE(!found);
    CUresult result = known(found, attribute, ptr, &value);
    memcpy(data, &value, size); /* zero, where the pointer has no such thing */
    return result;
}

/* Unlike the question for one attribute, this one never fails for what an address lacks. */
SIM_BEHAVIOUR(cuPointerGetAttributes)
{
    SIM_REFUSE(numAttributes == 0 || !attributes || !data);
    for (unsigned i = 0; i < numAttributes; i++)
        SIM_REFUSE(!data[i] || size_of(attributes[i]) == 0);
    const struct sim_allocation *found = find(ptr);
    for (unsigned i = 0; i < numAttributes; i++) {
        union value value;
        if (!found && (attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR ||
                       attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_SIZE))
            continue; /* real drivers leave these two as they are */
        if (!found || known(found, attributes[i], ptr, &value) != CUDA_SUCCESS)
            unknown(attributes[i], &value);
        memcpy(data[i], &value, size_of(attributes[i]));
    }
    return CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuPointerSetAttribute)
{
    SIM_REFUSE(!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
    struct sim_allocation *found = sim_range_find(ptr);
    SIM_REFUSE(!found || found->ending || !found->device);
    unsigned on;
    memcpy(&on, value, sizeof on);
    found->synchronous = on != 0;
    return CUDA_SUCCESS;
}
