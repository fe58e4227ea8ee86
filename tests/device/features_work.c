/* SPDX-License-Identifier: MIT */
/* Trials of the features of streams, launches, modules and diagnosis. */
#include <stdint.h>
#include <string.h>

#include "features_trial.h"

#define cu trial_api

CUresult trial_per_thread(void)
{
    TRY(cu->cuLaunchKernel_ptsz(trial_function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    return cu->cuStreamSynchronize_ptsz(NULL);
}

CUresult trial_priorities(void)
{
    int least, greatest;
    CUstream stream;
    TRY(cu->cuCtxGetStreamPriorityRange(&least, &greatest));
    TRY(cu->cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, greatest));
    TRY(cu->cuStreamDestroy_v2(stream));
    return greatest < least ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

static void CUDA_CB called_back(CUstream stream, CUresult status, void *user)
{
    (void)stream;
    *(int *)user = status == CUDA_SUCCESS;
}

static void CUDA_CB called(void *user)
{
    *(int *)user = 1;
}

CUresult trial_callback(void)
{
    int done = 0;
    TRY(cu->cuStreamAddCallback(trial_stream, called_back, &done, 0));
    TRY(cu->cuStreamSynchronize(trial_stream));
    return done ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult trial_host_function(void)
{
    int done = 0;
    TRY(cu->cuLaunchHostFunc_v1(trial_stream, called, &done));
    TRY(cu->cuStreamSynchronize(trial_stream));
    return done ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult trial_stream_attribute(void)
{
    CUstreamAttrValue value;
    memset(&value, 0, sizeof value);
    TRY(cu->cuStreamGetAttribute(trial_stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    value.syncPolicy = CU_SYNC_POLICY_AUTO;
    return cu->cuStreamSetAttribute(trial_stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
                                    &value);
}

CUresult trial_stream_id(void)
{
    unsigned long long id;
    return cu->cuStreamGetId(trial_stream, &id);
}

CUresult trial_stream_device(void)
{
    CUdevice device;
    return cu->cuStreamGetDevice(trial_stream, &device);
}

/* Write 1 and wait for it, in one of the forms. */
static CUresult mem_op(int version, int bits, unsigned wait)
{
    CUdeviceptr word;
    TRY(cu->cuMemAlloc_v2(&word, 8));
    CUresult result;
    if (version == 1)
        result = cu->cuStreamWriteValue32_v1(trial_stream, word, 1, 0);
    else if (bits == 64)
        result = cu->cuStreamWriteValue64_v2(trial_stream, word, 1, 0);
    else
        result = cu->cuStreamWriteValue32_v2(trial_stream, word, 1, 0);
    if (result == CUDA_SUCCESS && version == 1)
        result = cu->cuStreamWaitValue32_v1(trial_stream, word, 1, wait);
    else if (result == CUDA_SUCCESS && bits == 64)
        result = cu->cuStreamWaitValue64_v2(trial_stream, word, 1, wait);
    else if (result == CUDA_SUCCESS)
        result = cu->cuStreamWaitValue32_v2(trial_stream, word, 1, wait);
    if (result == CUDA_SUCCESS)
        result = cu->cuStreamSynchronize(trial_stream);
    cu->cuMemFree_v2(word);
    return result;
}

CUresult trial_mem_op_v1(void)
{
    return mem_op(1, 32, CU_STREAM_WAIT_VALUE_GEQ);
}

CUresult trial_mem_op(void)
{
    return mem_op(2, 32, CU_STREAM_WAIT_VALUE_GEQ);
}

CUresult trial_mem_op_64(void)
{
    return mem_op(2, 64, CU_STREAM_WAIT_VALUE_GEQ);
}

CUresult trial_wait_nor(void)
{
    return mem_op(2, 32, CU_STREAM_WAIT_VALUE_NOR);
}

static CUresult launch(void)
{
    return cu->cuLaunchKernel(trial_function, 1, 1, 1, 1, 1, 1, 0, trial_stream, NULL, NULL);
}

CUresult trial_launch(void)
{
    TRY(launch());
    return cu->cuStreamSynchronize(trial_stream);
}

/* Launch with one attribute, or none. */
static CUresult launch_with(const CUlaunchAttribute *attribute, unsigned blocks)
{
    CUlaunchAttribute copy;
    CUlaunchConfig config;
    memset(&config, 0, sizeof config);
    config.gridDimX = blocks;
    config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = trial_stream;
    if (attribute) {
        copy = *attribute;
        config.attrs = &copy;
        config.numAttrs = 1;
    }
    TRY(cu->cuLaunchKernelEx(&config, trial_function, NULL, NULL));
    return cu->cuStreamSynchronize(trial_stream);
}

CUresult trial_launch_ex(void)
{
    return launch_with(NULL, 1);
}

CUresult trial_launch_priority(void)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY};
    return launch_with(&attribute, 1);
}

CUresult trial_launch_carveout(void)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT};
    attribute.value.sharedMemCarveout = 50;
    return launch_with(&attribute, 1);
}

CUresult trial_occupancy_shared(void)
{
    size_t bytes = 0;
    return cu->cuOccupancyAvailableDynamicSMemPerBlock(&bytes, trial_function, 1, 32);
}

CUresult trial_cooperative(void)
{
    TRY(cu->cuLaunchCooperativeKernel(trial_function, 1, 1, 1, 1, 1, 1, 0, trial_stream, NULL));
    return cu->cuStreamSynchronize(trial_stream);
}

CUresult trial_cluster(void)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    attribute.value.clusterDim.x = 2;
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    return launch_with(&attribute, 2);
}

CUresult trial_cluster_preferred(void)
{
    CUlaunchAttribute attributes[2];
    CUlaunchConfig config;
    memset(&config, 0, sizeof config);
    memset(attributes, 0, sizeof attributes);
    config.gridDimX = 4;
    config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = trial_stream;
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[0].value.clusterDim.x = 2;
    attributes[0].value.clusterDim.y = attributes[0].value.clusterDim.z = 1;
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION;
    attributes[1].value.preferredClusterDim.x = 4;
    attributes[1].value.preferredClusterDim.y = attributes[1].value.preferredClusterDim.z = 1;
    config.attrs = attributes;
    config.numAttrs = 2;
    TRY(cu->cuLaunchKernelEx(&config, trial_function, NULL, NULL));
    return cu->cuStreamSynchronize(trial_stream);
}

CUresult trial_programmatic(void)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION};
    attribute.value.programmaticStreamSerializationAllowed = 1;
    TRY(launch());
    return launch_with(&attribute, 1);
}

CUresult trial_programmatic_event(void)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT};
    CUevent event;
    TRY(cu->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    attribute.value.programmaticEvent.event = event;
    TRY(launch_with(&attribute, 1));
    return cu->cuEventDestroy_v2(event);
}

CUresult trial_completion_event(void)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT};
    CUevent event;
    TRY(cu->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    attribute.value.launchCompletionEvent.event = event;
    TRY(launch_with(&attribute, 1));
    return cu->cuEventDestroy_v2(event);
}

CUresult trial_sync_domain(void)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN};
    attribute.value.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
    return launch_with(&attribute, 1);
}

CUresult trial_nvlink_scheduling(void)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING};
    attribute.value.nvlinkUtilCentricScheduling = 1;
    return launch_with(&attribute, 1);
}

CUresult trial_shared_memory(void)
{
    TRY(cu->cuFuncSetAttribute(trial_function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                               60000));
    TRY(cu->cuLaunchKernel(trial_function, 1, 1, 1, 1, 1, 1, 60000, trial_stream, NULL, NULL));
    return cu->cuStreamSynchronize(trial_stream);
}

CUresult trial_occupancy(void)
{
    int blocks = 0;
    TRY(cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, trial_function, 32, 0));
    return blocks > 0 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult trial_tensor_map(void)
{
    CUtensorMap map;
    CUdeviceptr block;
    cuuint64_t size[] = {64, 64}, stride[] = {64 * 4};
    cuuint32_t box[] = {16, 16}, step[] = {1, 1};
    TRY(cu->cuMemAlloc_v2(&block, 64 * 64 * 4));
    CUresult result = cu->cuTensorMapEncodeTiled(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void *)(uintptr_t)block, size, stride, box, step,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    cu->cuMemFree_v2(block);
    return result;
}

CUresult trial_jit(void)
{
    CUmodule module;
    char log[256] = "";
    CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    TRY(cu->cuModuleLoadDataEx(&module, trial_ptx, 2, options, values));
    return cu->cuModuleUnload(module);
}

CUresult trial_link(void)
{
    CUlinkState state;
    void *cubin;
    size_t size;
    TRY(cu->cuLinkCreate_v2(0, NULL, NULL, &state));
    TRY(cu->cuLinkAddData_v2(state, CU_JIT_INPUT_PTX, (void *)(uintptr_t)trial_ptx,
                             strlen(trial_ptx) + 1, "trial", 0, NULL, NULL));
    TRY(cu->cuLinkComplete(state, &cubin, &size));
    return cu->cuLinkDestroy(state);
}

CUresult trial_link_v1(void)
{
    CUlinkState state;
    void *cubin;
    size_t size;
    TRY(cu->cuLinkCreate_v1(0, NULL, NULL, &state));
    TRY(cu->cuLinkAddData_v1(state, CU_JIT_INPUT_PTX, (void *)(uintptr_t)trial_ptx,
                             strlen(trial_ptx) + 1, "trial", 0, NULL, NULL));
    TRY(cu->cuLinkComplete(state, &cubin, &size));
    return cu->cuLinkDestroy(state);
}

CUresult trial_position_independent(void)
{
    CUmodule module;
    CUjit_option option = CU_JIT_POSITION_INDEPENDENT_CODE;
    void *value = (void *)(uintptr_t)1;
    TRY(cu->cuModuleLoadDataEx(&module, trial_ptx, 1, &option, &value));
    return cu->cuModuleUnload(module);
}

CUresult trial_profiler(void)
{
    TRY(cu->cuProfilerStart());
    return cu->cuProfilerStop();
}

CUresult trial_lazy(void)
{
    CUmoduleLoadingMode mode;
    return cu->cuModuleGetLoadingMode(&mode);
}

static CUresult load_library(CUlibrary *library)
{
    return cu->cuLibraryLoadData(library, trial_ptx, NULL, NULL, 0, NULL, NULL, 0);
}

CUresult trial_library(void)
{
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    TRY(load_library(&library));
    TRY(cu->cuLibraryGetKernel(&kernel, library, "nothing"));
    TRY(cu->cuKernelGetFunction(&function, kernel));
    return cu->cuLibraryUnload(library);
}

CUresult trial_library_kernels(void)
{
    CUlibrary library;
    unsigned count = 0;
    TRY(load_library(&library));
    TRY(cu->cuLibraryGetKernelCount(&count, library));
    TRY(cu->cuLibraryUnload(library));
    return count == 2 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult trial_module_functions(void)
{
    unsigned count = 0;
    TRY(cu->cuModuleGetFunctionCount(&count, trial_module));
    return count == 2 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult trial_function_loading(void)
{
    CUfunctionLoadingState state;
    TRY(cu->cuFuncLoad(trial_function));
    TRY(cu->cuFuncIsLoaded(&state, trial_function));
    return state == CU_FUNCTION_LOADING_STATE_LOADED ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult trial_kernel_name(void)
{
    const char *name = "";
    TRY(cu->cuFuncGetName(&name, trial_function));
    return strcmp(name, "nothing") == 0 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult trial_kernel_parameters(void)
{
    CUfunction function;
    size_t offset = 1, size = 0;
    TRY(cu->cuModuleGetFunction(&function, trial_module, "one"));
    TRY(cu->cuFuncGetParamInfo(function, 0, &offset, &size));
    return offset == 0 && size == 8 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult trial_proc_address(void)
{
    void *address = NULL;
    return cu->cuGetProcAddress_v1("cuInit", &address, 2000, 0);
}

CUresult trial_proc_address_status(void)
{
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    void *address = NULL;
    TRY(cu->cuGetProcAddress_v2("cuNothing", &address, 2000, 0, &status));
    return status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult trial_error_name(void)
{
    const char *name = "";
    TRY(cu->cuGetErrorName(CUDA_ERROR_NO_DEVICE, &name));
    return strcmp(name, "CUDA_ERROR_NO_DEVICE") == 0 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult trial_error_logs(void)
{
    CUlogIterator at;
    return cu->cuLogsCurrent(&at, 0);
}

CUresult trial_coredump(void)
{
    bool on = false;
    size_t size = sizeof on;
    return cu->cuCoredumpGetAttribute(CU_COREDUMP_ENABLE_ON_EXCEPTION, &on, &size);
}
