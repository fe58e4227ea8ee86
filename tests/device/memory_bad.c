/* SPDX-License-Identifier: MIT */
/* Bad input on a real device: every one is refused with the helper, the argument and the value,
 * nothing is written, nothing leaks and the current context stays. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory_common.h"

enum { SIZE = 4096 };

extern char **environ;
static const CUdeviceptr untouched = 0xabcd;
static unsigned char bytes[2 * SIZE];

static void sizes(const struct cushim_api *cu)
{
    CUdeviceptr address = untouched;
    void *host = bytes;
    size_t pitch = 5, total_bytes;
    HELPER(cushim_memory_info(cu, NULL, &total_bytes));
    REFUSED(cushim_memory_alloc(cu, 0, &address), "cushim_memory_alloc: bytes: 0");
    REFUSED(cushim_memory_alloc(cu, SIZE_MAX, &address),
            "cushim_memory_alloc: cuMemAlloc_v2: ", "bytes: 18446744073709551615");
    REFUSED(cushim_memory_alloc(cu, 2 * total_bytes, &address), "OUT_OF_MEMORY", "are free");
    REFUSED(cushim_memory_alloc(cu, SIZE, NULL), "address: NULL");
    REFUSED(cushim_memory_alloc_async(cu, 0, NULL, NULL, &address),
            "cushim_memory_alloc_async: bytes: 0");
    REFUSED(cushim_memory_alloc_async(cu, 2 * total_bytes, NULL, NULL, &address),
            "cushim_memory_alloc_async: ", "OUT_OF_MEMORY");
    REFUSED(cushim_memory_alloc_managed(cu, SIZE, 9, &address), "flags: 0x9");
    REFUSED(cushim_memory_alloc_pitched(cu, SIZE_MAX / 4, 5, 4, &address, &pitch), "height: 5 ");
    REFUSED(cushim_memory_alloc_pitched(cu, 8, 5, 3, &address, &pitch), "element: 3");
    REFUSED(cushim_memory_alloc_pitched(cu, SIZE_MAX / 8, 5, 4, &address, &pitch),
            "cushim_memory_alloc_pitched: cuMemAllocPitch_v2: ");
    REFUSED(cushim_host_alloc(cu, 0, 0, &host), "cushim_host_alloc: bytes: 0");
    REFUSED(cushim_host_alloc(cu, SIZE_MAX / 2, 0, &host), "cushim_host_alloc: cuMemHostAlloc: ");
    REFUSED(cushim_host_alloc(cu, SIZE, 0xffff, &host), "cushim_host_alloc: cuMemHostAlloc: ");
    REFUSED(cushim_host_register(cu, NULL, SIZE, 0), "cushim_host_register: address: 0 ");
    REFUSED(cushim_host_register(cu, bytes, 0, 0), "cushim_host_register: bytes: 0");
    CHECK(address == untouched && host == bytes && pitch == 5);
}

static void past_the_end(const struct cushim_api *cu)
{
    CUdeviceptr device;
    void *host;
    HELPER(cushim_memory_alloc(cu, SIZE, &device));
    HELPER(cushim_host_alloc(cu, SIZE, 0, &host));
    REFUSED(cushim_copy_to_device(cu, device, bytes, SIZE + 1), "cushim_copy_to_device: dst: 4097");
    REFUSED(cushim_copy_to_host(cu, bytes, device + 1, SIZE), "cushim_copy_to_host: src: 4096");
    REFUSED(cushim_copy_to_host(cu, host, device, SIZE + 1), "cushim_copy_to_host: dst: 4097");
    REFUSED(cushim_copy_to_device_async(cu, device, (char *)host + 1, SIZE, NULL),
            "cushim_copy_to_device_async: src: 4096");
    REFUSED(cushim_copy(cu, device, (uintptr_t)host, SIZE_MAX - 5), "cushim_copy: dst: ");
    REFUSED(cushim_fill_32(cu, device, 0, SIZE / 4 + 1), "cushim_fill_32: dst: 4100");
    REFUSED(cushim_fill_32(cu, device + 2, 0, 1), "cushim_fill_32: dst: ", "no multiple");
    REFUSED(cushim_fill_2d_8(cu, device, 64, 0, 64, 65), "cushim_fill_2d_8: dst: 4160");
    REFUSED(cushim_fill_2d_8(cu, device, 64, 0, 65, 2), "cushim_fill_2d_8: pitch: 64 ");
    REFUSED(cushim_copy_to_device(cu, 0, bytes, 1), "dst: 0 ");
    REFUSED(cushim_copy_to_device(cu, device, NULL, 1), "src: 0 ");
    REFUSED(cushim_memory_free(cu, device + 256),
            "cushim_memory_free: address: ", "256 bytes into");
    REFUSED(cushim_memory_free(cu, (uintptr_t)host), "is for cushim_host_free");
    REFUSED(cushim_host_free(cu, (void *)(uintptr_t)device), "is for cushim_memory_free");
    HELPER(cushim_memory_free(cu, device));
    HELPER(cushim_host_free(cu, host));
}

static void freed(const struct cushim_api *cu)
{
    CUdeviceptr device, managed;
    void *host;
    unsigned long long id;
    HELPER(cushim_memory_alloc(cu, SIZE, &device));
    HELPER(cushim_memory_free(cu, device));
    printf("the driver's answer about freed memory: %d\n", (int)memory_id(device, &id));
    REFUSED(cushim_memory_free(cu, device), "cushim_memory_free: address: ", "freed already");
    REFUSED(cushim_copy_to_device(cu, device, bytes, 1),
            "cushim_copy_to_device: dst: ", "freed already");
    REFUSED(cushim_copy_to_host(cu, bytes, device + 8, 8),
            "cushim_copy_to_host: src: ", "freed already");
    REFUSED(cushim_fill_8(cu, device, 0, 1), "cushim_fill_8: dst: ", "freed already");
    HELPER(cushim_host_alloc(cu, SIZE, 0, &host));
    HELPER(cushim_host_free(cu, host));
    REFUSED(cushim_host_free(cu, host), "cushim_host_free: address: ", "freed already");
    HELPER(cushim_host_register(cu, bytes, SIZE, 0));
    REFUSED(cushim_host_register(cu, bytes, SIZE, 0), "cushim_host_register: cuMemHostRegister_v2");
    HELPER(cushim_host_unregister(cu, bytes));
    REFUSED(cushim_host_unregister(cu, bytes),
            "cushim_host_unregister: address: ", "unregistered already");
    if (cushim_memory_alloc_managed(cu, SIZE, 0, &managed) == CUDA_SUCCESS) {
        HELPER(cushim_memory_free(cu, managed));
        REFUSED(cushim_fill_8(cu, managed, 0, 1), "cushim_fill_8: dst: ", "freed already");
    }
}

/* The driver's own calls beside the helpers: no false refusal. */
static void mixed(const struct cushim_api *cu)
{
    CUdeviceptr device, raw = 0;
    HELPER(cushim_memory_alloc(cu, SIZE, &device));
    CALL(cu_api->cuMemFree_v2(device));
    CALL(cu_api->cuMemAlloc_v2(&raw, 2 * SIZE));
    printf("freed and allocated by the driver's own calls: %s address\n",
           raw == device ? "same" : "another");
    HELPER(cushim_copy_to_device(cu, raw, bytes, 2 * SIZE));
    HELPER(cushim_memory_free(cu, raw));
    if (raw != device)
        REFUSED(cushim_memory_free(cu, device), "cushim_memory_free: ");
    HELPER(cushim_memory_alloc(cu, SIZE, &device));
    HELPER(cushim_memory_free(cu, device));
    CALL(cu_api->cuMemAlloc_v2(&raw, 2 * SIZE));
    HELPER(cushim_copy_to_device(cu, raw, bytes, 2 * SIZE));
    CALL(cu_api->cuMemFree_v2(raw));
}

static void arrays(const struct cushim_api *cu)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = 0, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUarray array = (CUarray)(void *)bytes;
    REFUSED(cushim_array_create(cu, &shape, &array), "cushim_array_create: shape: Width: 0");
    shape.Width = 100;
    shape.NumChannels = 3;
    REFUSED(cushim_array_create(cu, &shape, &array), "NumChannels: 3");
    shape.NumChannels = 1;
    shape.Height = 1u << 30;
    REFUSED(cushim_array_create(cu, &shape, &array), "cushim_array_create: cuArray3DCreate_v2: ");
    CHECK(array == (CUarray)(void *)bytes);
    shape.Height = 0;
    HELPER(cushim_array_create(cu, &shape, &array));
    REFUSED(cushim_copy_to_array(cu, array, 4, bytes, 400), "cushim_copy_to_array: dst: 400 bytes");
    REFUSED(cushim_copy_from_array(cu, bytes, NULL, 4, 400), "cushim_copy_from_array: src: NULL");
    CUDA_MEMCPY2D flat = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = bytes,
                          .srcPitch = 400,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = 400};
    REFUSED(cushim_copy_2d(cu, &flat), "cushim_copy_2d: copy: Height: 0");
    flat.Height = 2;
    REFUSED(cushim_copy_2d(cu, &flat), "cushim_copy_2d: copy: dstArray: ");
    flat.srcPitch = 399;
    REFUSED(cushim_copy_2d(cu, &flat), "cushim_copy_2d: copy: srcPitch: 399 ");
    HELPER(cushim_array_destroy(cu, array));
}

/* Without a current context, in one that was destroyed, and on a stream that is none. */
static void contexts(const struct cushim_api *cu)
{
    CUcontext test = memory_context, other, now;
    CUdeviceptr device = untouched, theirs;
    void *host = bytes;
    CALL(cu_api->cuCtxSetCurrent(NULL));
    memory_context = NULL;
    REFUSED(cushim_memory_alloc(cu, SIZE, &device),
            "cushim_memory_alloc: cuMemAlloc_v2: ", "bytes: 4096");
    REFUSED(cushim_host_alloc(cu, SIZE, 0, &host), "cushim_host_alloc: cuMemHostAlloc: ");
    REFUSED(cushim_memory_info(cu, NULL, NULL), "cushim_memory_info: cuMemGetInfo_v2: ");
    CHECK(device == untouched && host == bytes);

    CALL(cu_api->cuCtxCreate_v2(&other, 0, 0));
    HELPER(cushim_memory_alloc(cu, SIZE, &theirs));
    CALL(cu_api->cuCtxDestroy_v2(other));
    CALL(cu_api->cuCtxGetCurrent(&now));
    CALL(cu_api->cuCtxSetCurrent(test));
    memory_context = test;
    size_t live = cushim_memory_live(cu, NULL);
    CUresult result = cushim_memory_free(cu, theirs);
    printf("freeing what went with its context: %d %s; live before %zu, after %zu\n", (int)result,
           result == CUDA_SUCCESS ? "" : cushim_last_error(), live, cushim_memory_live(cu, NULL));
    CHECK(cushim_memory_live(cu, NULL) == 0);
    REFUSED(cushim_peer_enable(cu, NULL, test), "cushim_peer_enable: context: NULL");
}

/* A child of a process that used the driver: an error, and no hang. */
static void forked_child(const struct cushim_api *cu)
{
    CUdeviceptr device;
    int status = -1;
    HELPER(cushim_memory_alloc(cu, SIZE, &device));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        CUdeviceptr address = untouched;
        alarm(20);
        CUresult allocated = cushim_memory_alloc(cu, SIZE, &address);
        printf("  in a forked child: %d %s\n", (int)allocated, cushim_last_error());
        CUresult copied = cushim_copy_to_device(cu, device, bytes, SIZE);
        printf("  in a forked child: %d %s\n", (int)copied, cushim_last_error());
        fflush(stdout);
        _exit(allocated != CUDA_SUCCESS && copied != CUDA_SUCCESS && address == untouched &&
                      strstr(cushim_last_error(), "cushim_copy_to_device: ")
                  ? 0
                  : 1);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    HELPER(cushim_memory_free(cu, device));
}

static void body(const struct cushim_api *cu)
{
    sizes(cu);
    past_the_end(cu);
    freed(cu);
    mixed(cu);
    arrays(cu);
    contexts(cu);
    forked_child(cu);
}

/* ---- what a driver does with the handle of a destroyed array, in a process of its own */

static void destroyed_array(const struct cushim_api *cu, bool raw)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = 64, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUarray array;
    HELPER(cushim_array_create(cu, &shape, &array));
    HELPER(cushim_array_destroy(cu, array));
    CUresult result =
        raw ? cu_api->cuArray3DGetDescriptor_v2(&shape, array) : cushim_array_destroy(cu, array);
    printf("  %s a destroyed array: %d %s\n", raw ? "describing" : "destroying", (int)result,
           raw ? "" : cushim_last_error());
    result = raw ? cu_api->cuArrayDestroy(array) : cushim_copy_to_array(cu, array, 0, bytes, 4);
    printf("  %s a destroyed array: %d %s\n", raw ? "destroying" : "copying to", (int)result,
           raw ? "" : cushim_last_error());
}

static void destroyed_array_raw(const struct cushim_api *cu)
{
    destroyed_array(cu, true);
}

static void destroyed_array_helped(const struct cushim_api *cu)
{
    destroyed_array(cu, false);
}

static int again(const char *mode)
{
    char path[] = "/proc/self/exe", argument[16];
    char *const arguments[] = {path, argument, NULL};
    int status = -1;
    pid_t child;
    snprintf(argument, sizeof argument, "%s", mode);
    printf("%s:\n", mode);
    fflush(stdout);
    if (posix_spawn(&child, path, NULL, NULL, arguments, environ) != 0 ||
        waitpid(child, &status, 0) != child)
        return -1;
    if (WIFSIGNALED(status))
        printf("  killed by signal %d\n", WTERMSIG(status));
    return status;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return memory_run(strcmp(argv[1], "raw") == 0 ? destroyed_array_raw
                                                      : destroyed_array_helped);
    int result = memory_run(body);
    again("raw");
    CHECK(again("helped") == 0);
    return result;
}
