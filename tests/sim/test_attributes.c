/* SPDX-License-Identifier: MIT */
/* An attribute of a simulated device promises no call that is refused: whatever is not 0 is tried.
 * Run once for each profile, by CUSHIM_SIM_PROFILE. */
#include <sys/mman.h>
#include <unistd.h>

#include "attributes.h"
#include "memory_test.h"

static const char text[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry nothing()\n{\n ret;\n}\n";

static CUmodule module;
static CUfunction nothing;
static CUstream stream;

static CUresult finished(CUresult launched)
{
    return first_of(launched, cu->cuStreamSynchronize(stream));
}

/* --- What an attribute promises: each tries the call, with the attribute's value --- */

static CUresult map_host(int value)
{
    void *memory = NULL;
    CUdeviceptr address;
    (void)value;
    CUresult result = cu->cuMemHostAlloc(&memory, 64, CU_MEMHOSTALLOC_DEVICEMAP);
    result = first_of(result, cu->cuMemHostGetDevicePointer_v2(&address, memory, 0));
    (void)cu->cuMemFreeHost(memory);
    return result;
}

static CUresult array(CUDA_ARRAY3D_DESCRIPTOR shape)
{
    CUarray made;
    CUresult result = cu->cuArray3DCreate_v2(&made, &shape);
    return result == CUDA_SUCCESS ? cu->cuArrayDestroy(made) : result;
}

#define SHAPE(w, h, d, flags)                                                                      \
    (CUDA_ARRAY3D_DESCRIPTOR)                                                                      \
    {                                                                                              \
        (size_t)(w), (size_t)(h), (size_t)(d), CU_AD_FORMAT_UNSIGNED_INT8, 1, flags                \
    }
#define ARRAY(name, w, h, d, flags)                                                                \
    static CUresult name(int value)                                                                \
    {                                                                                              \
        return array(SHAPE(w, h, d, flags));                                                       \
    }
ARRAY(gather, 64 * !!value, 64, 0, CUDA_ARRAY3D_TEXTURE_GATHER)
ARRAY(gather_width, value, 1, 0, CUDA_ARRAY3D_TEXTURE_GATHER)
ARRAY(gather_height, 1, value, 0, CUDA_ARRAY3D_TEXTURE_GATHER)
ARRAY(width, value, 0, 0, 0)
ARRAY(flat_width, value, 1, 0, 0)
ARRAY(flat_height, 1, value, 0, 0)
ARRAY(deep_width, value, 1, 1, 0)
ARRAY(deep_height, 1, value, 1, 0)
ARRAY(deep_depth, 1, 1, value, 0)
ARRAY(layered_width, value, 0, 1, CUDA_ARRAY3D_LAYERED)
ARRAY(layered_layers, 1, 0, value, CUDA_ARRAY3D_LAYERED)
ARRAY(flat_layered_width, value, 1, 1, CUDA_ARRAY3D_LAYERED)
ARRAY(flat_layered_height, 1, value, 1, CUDA_ARRAY3D_LAYERED)
ARRAY(flat_layered_layers, 1, 1, value, CUDA_ARRAY3D_LAYERED)
ARRAY(surface_width, value, 0, 0, CUDA_ARRAY3D_SURFACE_LDST)
ARRAY(surface_flat_width, value, 1, 0, CUDA_ARRAY3D_SURFACE_LDST)
ARRAY(surface_flat_height, 1, value, 0, CUDA_ARRAY3D_SURFACE_LDST)
ARRAY(surface_deep_depth, 1, 1, value, CUDA_ARRAY3D_SURFACE_LDST)

static CUresult sparse(int value)
{
    CUarrayMapInfo info;
    (void)value;
    memset(&info, 0, sizeof info);
    return first_of(array(SHAPE(1024, 1024, 0, CUDA_ARRAY3D_SPARSE)),
                    cu->cuMemMapArrayAsync(&info, 1, stream));
}

static CUresult deferred(int value)
{
    CUarrayMapInfo info;
    (void)value;
    memset(&info, 0, sizeof info);
    return first_of(array(SHAPE(1024, 1024, 0, CUDA_ARRAY3D_DEFERRED_MAPPING)),
                    cu->cuMemMapArrayAsync(&info, 1, stream));
}

static CUresult priority(int value)
{
    CUstream made;
    (void)value;
    CUresult result = cu->cuStreamCreateWithPriority(&made, 0, -1);
    return result == CUDA_SUCCESS ? cu->cuStreamDestroy_v2(made) : result;
}

static CUresult managed(int value)
{
    CUdeviceptr memory;
    (void)value;
    CUresult result = cu->cuMemAllocManaged(&memory, 64, CU_MEM_ATTACH_GLOBAL);
    return result == CUDA_SUCCESS ? cu->cuMemFree_v2(memory) : result;
}

static CUresult prefetch(int value)
{
    CUdeviceptr memory;
    (void)value;
    CUresult result = cu->cuMemAllocManaged(&memory, 65536, CU_MEM_ATTACH_GLOBAL);
    if (result != CUDA_SUCCESS)
        return result;
    result = cu->cuMemPrefetchAsync_v1(memory, 65536, 0, stream);
    return first_of(first_of(result, cu->cuStreamSynchronize(stream)), cu->cuMemFree_v2(memory));
}

static CUresult host_register(unsigned flags)
{
    CUdeviceptr address = 0;
    void *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CUresult result = cu->cuMemHostRegister_v2(memory, 65536, flags);
    result = first_of(result, cu->cuMemHostGetDevicePointer_v2(&address, memory, 0));
    result = first_of(result, cu->cuMemHostUnregister(memory));
    if (result == CUDA_SUCCESS && address != (CUdeviceptr)(uintptr_t)memory)
        result = CUDA_ERROR_UNKNOWN;
    munmap(memory, 65536);
    return result;
}

static CUresult registered(int value)
{
    (void)value;
    return host_register(CU_MEMHOSTREGISTER_DEVICEMAP);
}

static CUresult registered_to_read(int value)
{
    (void)value;
    return host_register(CU_MEMHOSTREGISTER_READ_ONLY);
}

static CUresult write_64(int value)
{
    CUdeviceptr memory = memory_of(8);
    (void)value;
    CUresult result = cu->cuStreamWriteValue64_v2(stream, memory, 5, 0);
    return first_of(first_of(result, cu->cuStreamSynchronize(stream)), cu->cuMemFree_v2(memory));
}

static CUresult wait_nor(int value)
{
    CUdeviceptr memory = memory_of(4);
    (void)value;
    CUresult result = cu->cuMemsetD32Async(memory, 0, 1, stream);
    result = first_of(result,
                      cu->cuStreamWaitValue32_v2(stream, memory, 0xff, CU_STREAM_WAIT_VALUE_NOR));
    return first_of(first_of(result, cu->cuStreamSynchronize(stream)), cu->cuMemFree_v2(memory));
}

static CUresult cooperative(int value)
{
    (void)value;
    return finished(cu->cuLaunchCooperativeKernel(nothing, 1, 1, 1, 1, 1, 1, 0, stream, NULL));
}

static CUresult cooperative_devices(int value)
{
    CUDA_LAUNCH_PARAMS one = {nothing, 1, 1, 1, 1, 1, 1, 0, stream, NULL};
    (void)value;
    return cu->cuLaunchCooperativeKernelMultiDevice(&one, 1, 0);
}

static CUresult pools(int value)
{
    CUdeviceptr memory;
    (void)value;
    CUresult result = cu->cuMemAllocAsync(&memory, 64, stream);
    result = first_of(result, cu->cuMemFreeAsync(memory, stream));
    return first_of(result, cu->cuStreamSynchronize(stream));
}

static CUresult pool_of(CUmemLocationType type, CUmemAllocationHandleType handles)
{
    CUmemPoolProps properties;
    CUmemoryPool pool;
    union {
        CUmemFabricHandle fabric;
        int file;
    } shared;
    CUdeviceptr memory;
    memset(&properties, 0, sizeof properties);
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.handleTypes = handles;
    properties.location.type = type;
    CUresult result = cu->cuMemPoolCreate(&pool, &properties);
    if (result != CUDA_SUCCESS)
        return result;
    if (handles)
        result = cu->cuMemPoolExportToShareableHandle(&shared, pool, handles, 0);
    else
        result = cu->cuMemAllocFromPoolAsync(&memory, 64, pool, stream);
    if (result == CUDA_SUCCESS && !handles)
        result = cu->cuMemFreeAsync(memory, stream);
    if (result == CUDA_SUCCESS && handles == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        close(shared.file);
    return first_of(result, cu->cuMemPoolDestroy(pool));
}

static CUresult pool_handles(int value)
{
    CUresult result = CUDA_SUCCESS;
    for (int bit = 1; bit <= value && result == CUDA_SUCCESS; bit *= 2)
        if (value & bit)
            result = pool_of(CU_MEM_LOCATION_TYPE_DEVICE, (CUmemAllocationHandleType)bit);
    return result;
}

static CUresult pool_numa(int value)
{
    (void)value;
    return pool_of(CU_MEM_LOCATION_TYPE_HOST_NUMA, CU_MEM_HANDLE_TYPE_NONE);
}

static CUresult pool_host(int value)
{
    (void)value;
    return pool_of(CU_MEM_LOCATION_TYPE_HOST, CU_MEM_HANDLE_TYPE_NONE);
}

static CUresult persisting(int value)
{
    return cu->cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, (size_t)value);
}

static CUresult window(int value)
{
    CUstreamAttrValue attribute;
    memset(&attribute, 0, sizeof attribute);
    attribute.accessPolicyWindow.num_bytes = (size_t)value;
    attribute.accessPolicyWindow.hitRatio = 1;
    attribute.accessPolicyWindow.hitProp = CU_ACCESS_PROPERTY_STREAMING;
    return cu->cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &attribute);
}

static CUresult launch_with(CUlaunchAttribute attribute, unsigned blocks)
{
    CUlaunchConfig config;
    memset(&config, 0, sizeof config);
    config.gridDimX = blocks;
    config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return finished(cu->cuLaunchKernelEx(&config, nothing, NULL, NULL));
}

static CUresult cluster(int value)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    (void)value;
    attribute.value.clusterDim.x = 2;
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    return launch_with(attribute, 4);
}

static CUresult domains(int value)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN};
    attribute.value.memSyncDomain =
        value > 1 ? CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE : CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT;
    return launch_with(attribute, 1);
}

static CUresult threads(int value)
{
    return finished(
        cu->cuLaunchKernel(nothing, 1, 1, 1, (unsigned)value, 1, 1, 0, stream, NULL, NULL));
}

static CUresult shared(int value)
{
    return finished(
        cu->cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, (unsigned)value, stream, NULL, NULL));
}

static CUresult shared_opted_in(int value)
{
    CUresult result =
        cu->cuFuncSetAttribute(nothing, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, value);
    return first_of(result, shared(value));
}

static CUresult semaphore(int value)
{
    CUexternalSemaphore made;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC description;
    (void)value;
    memset(&description, 0, sizeof description);
    description.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
    return cu->cuImportExternalSemaphore(&made, &description);
}

/* Opened in the same process a device refuses it as well, in its own words. */
static CUresult event_handle(int value)
{
    CUevent event, opened;
    CUipcEventHandle handle;
    (void)value;
    CUresult result = cu->cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
    result = first_of(result, cu->cuIpcGetEventHandle(&handle, event));
    if (result == CUDA_SUCCESS &&
        cu->cuIpcOpenEventHandle(&opened, handle) != CUDA_ERROR_INVALID_CONTEXT)
        result = CUDA_ERROR_UNKNOWN;
    return first_of(result, cu->cuEventDestroy_v2(event));
}

static CUresult tensor_map(int value)
{
    CUtensorMap map;
    CUdeviceptr memory = memory_of(65536);
    cuuint64_t size[2] = {64, 64}, stride[1] = {256};
    cuuint32_t box[2] = {16, 16}, step[2] = {1, 1};
    (void)value;
    CUresult result = cu->cuTensorMapEncodeTiled(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void *)(uintptr_t)memory, size, stride, box,
        step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return first_of(result, cu->cuMemFree_v2(memory));
}

static CUresult multicast(int value)
{
    CUmulticastObjectProp prop;
    size_t size;
    (void)value;
    memset(&prop, 0, sizeof prop);
    prop.numDevices = 1;
    return cu->cuMulticastGetGranularity(&size, &prop, CU_MULTICAST_GRANULARITY_MINIMUM);
}

static CUresult flush(int value)
{
    (void)value;
    return cu->cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                          CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER);
}

static CUresult refused(int value)
{
    (void)value;
    return CUDA_ERROR_NOT_SUPPORTED; /* no call of the simulator's does it */
}

/* --- All attributes --- */

static const struct promise {
    CUdevice_attribute attribute;
    const char *name;
    CUresult (*keep)(int value); /* NULL: it describes the device, and promises nothing */
} promises[] = {
#define TRY(name, keep) {CU_DEVICE_ATTRIBUTE_##name, #name, keep},
#define DESCRIBES(name) TRY(name, NULL)
#include "attributes.def"
};

static void test_promises(void **state)
{
    int broken = 0;
    (void)state;
    OK(cu->cuModuleLoadData(&module, text));
    OK(cu->cuModuleGetFunction(&nothing, module, "nothing"));
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (size_t i = 0; i < sizeof promises / sizeof *promises; i++) {
        int value = 0;
        if (!promises[i].keep ||
            cu->cuDeviceGetAttribute(&value, promises[i].attribute, 0) != CUDA_SUCCESS || !value)
            continue;
        CUresult result = promises[i].keep(value);
        if (result == CUDA_SUCCESS)
            continue;
        fprintf(stderr, "%s is %d, and the call gives %d\n", promises[i].name, value, (int)result);
        broken++;
    }
    OK(cu->cuStreamDestroy_v2(stream));
    OK(cu->cuModuleUnload(module));
    assert_int_equal(broken, 0);
}

/* None is forgotten: each that the driver knows stands in the table. */
static void test_all_are_here(void **state)
{
    (void)state;
    for (int number = 0; number < 1024; number++) {
        int value;
        bool listed = false;
        if (cu->cuDeviceGetAttribute(&value, (CUdevice_attribute)number, 0) != CUDA_SUCCESS)
            continue;
        for (size_t i = 0; i < sizeof promises / sizeof *promises; i++)
            listed |= (int)promises[i].attribute == number;
        if (!listed)
            fail_msg("attribute %d is not in attributes.def", number);
    }
}

static const struct CMUnitTest tests[] = {
    MEMORY_OWN(test_promises, "what the simulator serves"),
    MEMORY_OWN(test_all_are_here, "what the simulator serves"),
};
MEMORY_MAIN("attributes", tests)
