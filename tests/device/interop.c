/* SPDX-License-Identifier: MIT */
/* The CUDA runtime and cushim in one program: one primary context, pointers both ways, and the
 * same functions in every slot. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <string.h>

#include "device.h"

#define COUNT 1000

static void share_the_context(const struct cushim_api *cu)
{
    CUcontext current = NULL, primary = NULL;
    CHECK(cudaSetDevice(0) == cudaSuccess && cudaFree(0) == cudaSuccess);
    CALL(cu->cuCtxGetCurrent(&current));
    CALL(cu->cuDevicePrimaryCtxRetain(&primary, 0));
    CHECK(current && current == primary);
    CALL(cu->cuDevicePrimaryCtxRelease(0));
    printf("the runtime's context is the primary one, current in both\n");
}

static void pass_pointers(const struct cushim_api *cu)
{
    int sent[COUNT], received[COUNT];
    for (int i = 0; i < COUNT; i++)
        sent[i] = i * 3 + 1;

    void *runtime = NULL;
    CHECK(cudaMalloc(&runtime, sizeof sent) == cudaSuccess);
    CALL(cu->cuMemcpyHtoD((CUdeviceptr)(uintptr_t)runtime, sent, sizeof sent));
    memset(received, 0, sizeof received);
    CHECK(cudaMemcpy(received, runtime, sizeof sent, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(memcmp(sent, received, sizeof sent) == 0);
    CHECK(cudaFree(runtime) == cudaSuccess);

    CUdeviceptr driver = 0;
    CALL(cu->cuMemAlloc(&driver, sizeof sent));
    CHECK(cudaMemcpy((void *)(uintptr_t)driver, sent, sizeof sent, cudaMemcpyHostToDevice) ==
          cudaSuccess);
    memset(received, 0, sizeof received);
    CALL(cu->cuMemcpyDtoH(received, driver, sizeof sent));
    CHECK(memcmp(sent, received, sizeof sent) == 0);
    CALL(cu->cuMemFree(driver));

    cudaStream_t stream = NULL;
    CHECK(cudaStreamCreate(&stream) == cudaSuccess);
    CALL(cu->cuStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    printf("memory and streams of either serve the other\n");
}

#if CUDART_VERSION >= 12050
static void compare_slots(void)
{
    const struct cushim_api *instance = cushim_load(NULL);
    int version = cushim_driver_version(instance);
    unsigned same = 0, other = 0;
    for (size_t i = 0; i < cushim_entry_count(); i++) {
        struct cushim_entry entry;
        struct cushim_slot slot = cushim_slot_at(instance, i);
        CHECK(cushim_entry_at(i, &entry));
        if (entry.since > version || slot.state != CUSHIM_STATE_AVAILABLE)
            continue;
        void *found = NULL;
        enum cudaDriverEntryPointQueryResult status;
        unsigned long long stream = entry.stream == CUSHIM_STREAM_LEGACY
                                        ? cudaEnableLegacyStream
                                        : cudaEnablePerThreadDefaultStream;
        cudaError_t result = cudaGetDriverEntryPointByVersion(
            entry.name, &found, (unsigned)entry.since, stream, &status);
        if (result != cudaSuccess || status != cudaDriverEntryPointSuccess)
            continue;
        if (found == slot.address) {
            same++;
        } else {
            other++;
            fprintf(stderr, "%s: the runtime has %p, the slot %p\n", entry.symbol, found,
                    slot.address);
        }
    }
    printf("slots that equal the runtime's entry point: %u; that do not: %u\n", same, other);
    CHECK(same > 500 && other == 0);
}
#else
static void compare_slots(void)
{
    printf("slots not compared: this runtime has no cudaGetDriverEntryPointByVersion\n");
}
#endif

/* A function that the toolkit at hand need not know: its type is the caller's own. */
typedef CUresult(CUDAAPI *get_id_fn)(CUcontext context, unsigned long long *id);

static void look_up_by_name(void)
{
    enum cushim_proc_status why;
    CUcontext current = NULL;
    unsigned long long by_cushim = 0, by_runtime = 1;
    CALL(cushim_load(NULL)->cuCtxGetCurrent(&current));

    void *address = cushim_proc(cushim_load(NULL), "cuCtxGetId", 12000, CUSHIM_STREAM_LEGACY, &why);
    get_id_fn get_id = NULL;
    memcpy(&get_id, &address, sizeof address);
    if (!get_id) {
        printf("cuCtxGetId: %s\n", cushim_last_error());
        return;
    }
    CHECK(why == CUSHIM_PROC_EXACT);
    CALL(get_id(current, &by_cushim));
#if CUDART_VERSION >= 12050
    enum cudaDriverEntryPointQueryResult status;
    CHECK(cudaGetDriverEntryPointByVersion("cuCtxGetId", &address, 12000, cudaEnableDefault,
                                           &status) == cudaSuccess);
    memcpy(&get_id, &address, sizeof address);
    CALL(get_id(current, &by_runtime));
    CHECK(by_cushim == by_runtime);
#else
    (void)by_runtime;
#endif
    CHECK(!cushim_proc(cushim_load(NULL), "cuFrobnicate", 99000, CUSHIM_STREAM_LEGACY, &why));
    CHECK(why == CUSHIM_PROC_NOT_FOUND);
    printf("cuCtxGetId by name, from both: context %llu\n", by_cushim);
}

int main(void)
{
    const struct cushim_api *cu = device_or_skip();
    share_the_context(cu);
    pass_pointers(cu);
    compare_slots();
    look_up_by_name();
    return 0;
}
