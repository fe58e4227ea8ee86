/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Memory: of the device, also in stream order, pinned and managed; copies between host and device,
 * fills, and what a pointer is.
 *
 *     CUdeviceptr numbers;
 *     if (cushim_memory_alloc(cu, bytes, &numbers) != CUDA_SUCCESS)
 *         fail(cushim_last_error());
 *     cushim_copy_to_device(cu, numbers, source, bytes);
 *
 * Device memory is a plain CUdeviceptr and host memory a plain pointer: any call of the table takes
 * them, and these helpers take what any call of the table gave. What needs no helper is called
 * through the table:
 *
 *     CUSHIM_CHECK(cu->cuMemHostAlloc(&pinned, bytes, 0));
 *     CUSHIM_CHECK(cu->cuMemAllocManaged(&managed, bytes, CU_MEM_ATTACH_GLOBAL));
 *     CUSHIM_CHECK(cu->cuMemcpy2D(&rectangle));
 *
 * For every function below:
 * - sizes are in bytes unless something else is said;
 * - it works in the current context and leaves it current, on errors too;
 * - it returns CUDA_SUCCESS or an error code; cushim_last_error() then names the helper, and either
 *   the argument and its value, or the driver's call that failed;
 * - outputs are written on success only;
 * - "default stream" is that of the instance: see cushim_options.per_thread_default_stream;
 * - Threads: safe. Since: 0.1.
 */
#ifndef CUSHIM_MEMORY_H
#define CUSHIM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cushim/cushim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- device memory */

/**
 * Allocate device memory (cuMemAlloc_v2).
 *
 * @param bytes    size; 0 is refused
 * @param address  the caller's, to be given to cushim_memory_free
 * @return CUDA_ERROR_OUT_OF_MEMORY if there is not enough; the sentence says how much is free
 */
CUSHIM_PUBLIC CUresult cushim_memory_alloc(const struct cushim_api *cu, size_t bytes,
                                           CUdeviceptr *address);

/**
 * Free device memory of any kind (cuMemFree_v2). Waits for the work that uses it.
 *
 * @param address  as it was allocated; 0 does nothing
 * @return CUDA_SUCCESS, also if the driver has shut down
 */
CUSHIM_PUBLIC CUresult cushim_memory_free(const struct cushim_api *cu, CUdeviceptr address);

/**
 * Allocate in stream order (cuMemAllocAsync, drivers from 11.2). If the driver or the current
 * context's device has no pools, this is cushim_memory_alloc: the memory can be used at once.
 *
 * @param bytes    size; 0 is refused
 * @param stream   NULL: the default stream. Later work in it may use the memory
 * @param address  the caller's, to be given to cushim_memory_free_async or cushim_memory_free
 */
CUSHIM_PUBLIC CUresult cushim_memory_alloc_async(const struct cushim_api *cu, size_t bytes,
                                                 CUstream stream, CUdeviceptr *address);

/**
 * Free memory of cushim_memory_alloc_async in stream order (cuMemFreeAsync). If the driver or the
 * current context's device has no pools, this waits for the stream and calls cuMemFree_v2: then the
 * code may be that of the work which it waited for, and the memory is freed all the same.
 *
 * @param address  0 does nothing
 * @param stream   NULL: the default stream. Earlier work in it may still use the memory
 */
CUSHIM_PUBLIC CUresult cushim_memory_free_async(const struct cushim_api *cu, CUdeviceptr address,
                                                CUstream stream);

/**
 * Move managed memory to where it will be used (cuMemPrefetchAsync_v2; the first ABI on drivers
 * before 12.2).
 *
 * @param address  of managed memory, or within it
 * @param bytes    0 does nothing
 * @param device   device number, or CU_DEVICE_CPU
 * @param stream   NULL: the default stream
 */
CUSHIM_PUBLIC CUresult cushim_memory_prefetch(const struct cushim_api *cu, CUdeviceptr address,
                                              size_t bytes, CUdevice device, CUstream stream);

/** What the driver knows of an address. */
struct cushim_pointer {
    size_t size;           /**< of this structure; set by the caller */
    CUmemorytype type;     /**< 0: the driver does not know the address, such as one of malloc */
    CUdeviceptr device;    /**< the address for kernels; 0: none */
    void *host;            /**< the address for the host; NULL: none */
    CUdeviceptr base;      /**< of the allocation; 0: not known (drivers before 10.2) */
    size_t bytes;          /**< of the allocation; 0: not known (drivers before 10.2) */
    CUcontext context;     /**< in which it was allocated; NULL: none, as for pools */
    int ordinal;           /**< device number; negative: not known */
    CUmemoryPool pool;     /**< from which it came; NULL: none (drivers before 11.3: not known) */
    unsigned long long id; /**< no other allocation of the process has the same */
    bool managed;          /**< it is managed memory (cuMemAllocManaged) */
    char reserved[7];      /**< 0 */
};

/**
 * Describe an address: all of the above in one call (cuPointerGetAttributes), of which each driver
 * is asked what it knows.
 *
 * @param address  of device or host memory, or within it
 * @param pointer  its `size` is set; a newer library writes no further. An address that the driver
 *                 does not know is no error
 */
CUSHIM_PUBLIC CUresult cushim_pointer_describe(const struct cushim_api *cu, CUdeviceptr address,
                                               struct cushim_pointer *pointer);

/* ---- copies
 *
 * Without _async, in order with the default stream. They return when host memory that they write is
 * written, and when host memory that they read may be reused. With _async, in order with the
 * stream: host memory must stay until the stream is through, and only page-locked memory is copied
 * while the caller goes on. A stream of NULL is the default stream.
 *
 * `bytes` of 0 does nothing. An address of 0 is refused.
 */

/**
 * Copy from host to device (cuMemcpyHtoD_v2).
 *
 * @param dst    device address; `bytes` writable bytes
 * @param src    host address; stays the caller's and may be reused on return
 * @param bytes  0 does nothing
 */
CUSHIM_PUBLIC CUresult cushim_copy_to_device(const struct cushim_api *cu, CUdeviceptr dst,
                                             const void *src, size_t bytes);

/**
 * The same in order with a stream (cuMemcpyHtoDAsync_v2).
 *
 * @param dst     as for cushim_copy_to_device
 * @param src     must stay until the stream is through
 * @param bytes   0 does nothing
 * @param stream  NULL: the default stream
 */
CUSHIM_PUBLIC CUresult cushim_copy_to_device_async(const struct cushim_api *cu, CUdeviceptr dst,
                                                   const void *src, size_t bytes, CUstream stream);

/**
 * Copy from device to host (cuMemcpyDtoH_v2).
 *
 * @param dst    host address; `bytes` writable bytes, which are written on return
 * @param src    device address
 * @param bytes  0 does nothing
 */
CUSHIM_PUBLIC CUresult cushim_copy_to_host(const struct cushim_api *cu, void *dst, CUdeviceptr src,
                                           size_t bytes);

/**
 * The same in order with a stream (cuMemcpyDtoHAsync_v2).
 *
 * @param dst     is written when the stream is through, and must stay until then
 * @param src     device address
 * @param bytes   0 does nothing
 * @param stream  NULL: the default stream
 */
CUSHIM_PUBLIC CUresult cushim_copy_to_host_async(const struct cushim_api *cu, void *dst,
                                                 CUdeviceptr src, size_t bytes, CUstream stream);

/**
 * Set `count` elements of 32 bits (cuMemsetD32_v2), in order with the default stream. The device
 * may write after it returns.
 *
 * @param dst    device address, or the device's address of pinned memory; a multiple of 4
 * @param value  the bits of each element; a float is set by its bits
 * @param count  in elements; 0 does nothing
 */
CUSHIM_PUBLIC CUresult cushim_fill_32(const struct cushim_api *cu, CUdeviceptr dst, uint32_t value,
                                      size_t count);

/**
 * The same in order with a stream (cuMemsetD32Async).
 *
 * @param dst     as for cushim_fill_32
 * @param value   as for cushim_fill_32
 * @param count   in elements; 0 does nothing
 * @param stream  NULL: the default stream
 */
CUSHIM_PUBLIC CUresult cushim_fill_32_async(const struct cushim_api *cu, CUdeviceptr dst,
                                            uint32_t value, size_t count, CUstream stream);

#ifdef __cplusplus
}
#endif

#endif
