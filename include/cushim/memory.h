/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Memory: device, pinned host, managed and pitched memory, arrays, stream-ordered pools, one buffer
 * that grows in place; copies, fills, and what the driver knows of an address.
 *
 *     CUdeviceptr numbers;
 *     if (cushim_memory_alloc(cu, bytes, &numbers) != CUDA_SUCCESS)
 *         fail(cushim_last_error());
 *     cushim_copy_to_device(cu, numbers, source, bytes);
 *
 * Device memory is a plain CUdeviceptr and host memory a plain pointer: what comes from here goes
 * into any call of the table, and what comes from there goes into these helpers.
 *
 * For every function below:
 * - sizes, pitches and offsets are in bytes where nothing else is said;
 * - it works in the context that is current, and leaves it current, on errors too;
 * - it returns CUDA_SUCCESS or an error code; cushim_last_error() then names the helper, and either
 *   the argument and its value, or the driver's call that failed;
 * - outputs are written on success alone;
 * - "default stream" is that of the instance: see cushim_options.per_thread_default_stream;
 * - Threads: safe. Since: 0.1.
 *
 * cushim remembers what these helpers allocated (the address range, for each instance) and checks
 * copies and fills against it: what passes the end of an allocation, or lies in one that was freed,
 * is refused with CUDA_ERROR_INVALID_VALUE before the driver sees it. Memory from elsewhere is not
 * checked, nor is host memory once it was freed, because malloc may give its address to others.
 * Before it refuses, cushim asks the driver (CU_POINTER_ATTRIBUTE_BUFFER_ID, noted when the memory
 * was allocated) whether the address belongs to something else by now; memory that was allocated
 * here and freed by the driver's own call is no error, then, but counts as live for longer.
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
 * @param address  the caller's to free with cushim_memory_free
 * @return on want of memory CUDA_ERROR_OUT_OF_MEMORY, and the sentence says how much is free
 */
CUSHIM_PUBLIC CUresult cushim_memory_alloc(const struct cushim_api *cu, size_t bytes,
                                           CUdeviceptr *address);

/**
 * Allocate memory that host and device both use at one address (cuMemAllocManaged).
 *
 * @param flags  CU_MEM_ATTACH_GLOBAL or CU_MEM_ATTACH_HOST; 0 is GLOBAL
 * @return CUDA_ERROR_NOT_SUPPORTED where the current context's device has no managed memory
 */
CUSHIM_PUBLIC CUresult cushim_memory_alloc_managed(const struct cushim_api *cu, size_t bytes,
                                                   unsigned int flags, CUdeviceptr *address);

/**
 * Allocate rows for 2D access, each beginning where the device likes it (cuMemAllocPitch_v2).
 *
 * @param width    of a row in bytes; 0 is refused, as is a width * height that overflows
 * @param height   number of rows; 0 is refused
 * @param element  largest access by a kernel: 4, 8 or 16 bytes
 * @param pitch    bytes from one row to the next
 */
CUSHIM_PUBLIC CUresult cushim_memory_alloc_pitched(const struct cushim_api *cu, size_t width,
                                                   size_t height, unsigned int element,
                                                   CUdeviceptr *address, size_t *pitch);

/**
 * Allocate in stream order (cuMemAllocAsync, cuMemAllocFromPoolAsync; drivers from 11.2).
 *
 * Where the driver or the device has no pools, this is cushim_memory_alloc: the memory can be used
 * at once.
 *
 * @param pool    NULL: the current pool of the stream's device
 * @param stream  NULL: the default stream; work that follows in it may use the memory
 */
CUSHIM_PUBLIC CUresult cushim_memory_alloc_async(const struct cushim_api *cu, size_t bytes,
                                                 CUmemoryPool pool, CUstream stream,
                                                 CUdeviceptr *address);

/**
 * Free memory of the four functions above, or of the driver's own calls (cuMemFree_v2). Waits for
 * the work that uses it, unless it came from a pool: then the caller must have waited.
 *
 * @param address  as it was handed out; 0 does nothing. One that was freed before, lies within an
 *                 allocation, or is another kind of memory is refused
 */
CUSHIM_PUBLIC CUresult cushim_memory_free(const struct cushim_api *cu, CUdeviceptr address);

/**
 * Free in stream order (cuMemFreeAsync). Memory that is from no pool is freed by waiting for the
 * stream and cuMemFree_v2.
 *
 * @param address  as for cushim_memory_free
 * @param stream   NULL: the default stream; the work before this call may still use the memory
 */
CUSHIM_PUBLIC CUresult cushim_memory_free_async(const struct cushim_api *cu, CUdeviceptr address,
                                                CUstream stream);

/** Free and whole memory of the current context's device (cuMemGetInfo_v2). Either may be NULL. */
CUSHIM_PUBLIC CUresult cushim_memory_info(const struct cushim_api *cu, size_t *free_bytes,
                                          size_t *total_bytes);

/**
 * How many allocations of this header are live in an instance: device, pinned and registered host
 * memory, arrays and growing buffers.
 *
 * @param bytes  may be NULL; their sizes added up, as they were asked for
 */
CUSHIM_PUBLIC size_t cushim_memory_live(const struct cushim_api *cu, size_t *bytes);

/**
 * Move managed memory where it will be used (cuMemPrefetchAsync_v2, or the first one on drivers
 * before 12.2).
 *
 * @param bytes   0 does nothing
 * @param device  device number, or CU_DEVICE_CPU
 */
CUSHIM_PUBLIC CUresult cushim_memory_prefetch(const struct cushim_api *cu, CUdeviceptr address,
                                              size_t bytes, CUdevice device, CUstream stream);

/** What the driver knows of an address. */
struct cushim_pointer {
    CUmemorytype type;     /* 0: the driver does not know it, as malloc's memory */
    CUdeviceptr device;    /* the address for kernels; 0: none */
    void *host;            /* the address for the host; NULL: none */
    CUdeviceptr base;      /* of the allocation; 0: not known (drivers before 10.2) */
    size_t size;           /* of the allocation; 0: not known (drivers before 10.2) */
    CUcontext context;     /* that it was allocated in; NULL: none, as for pools */
    int ordinal;           /* device number; negative: not known */
    CUmemoryPool pool;     /* that it is from; NULL: none (drivers before 11.3: not known) */
    unsigned long long id; /* no other allocation of the process has it */
    bool managed;
};

/**
 * Ask for all of the above in one call (cuPointerGetAttributes).
 *
 * @param address  of device or host memory, or within it
 * @param pointer  written on success; an address that the driver does not know is no error
 */
CUSHIM_PUBLIC CUresult cushim_pointer_describe(const struct cushim_api *cu, CUdeviceptr address,
                                               struct cushim_pointer *pointer);

/* ---- host memory */

/**
 * Allocate page-locked host memory (cuMemHostAlloc).
 *
 * @param flags    of CU_MEMHOSTALLOC_PORTABLE (for all contexts), _DEVICEMAP (kernels may use it)
 *                 and _WRITECOMBINED (quick to write in order, slow to read)
 * @param address  the caller's to free with cushim_host_free
 */
CUSHIM_PUBLIC CUresult cushim_host_alloc(const struct cushim_api *cu, size_t bytes,
                                         unsigned int flags, void **address);

/** Free what cushim_host_alloc gave (cuMemFreeHost). NULL does nothing; see cushim_memory_free. */
CUSHIM_PUBLIC CUresult cushim_host_free(const struct cushim_api *cu, void *address);

/**
 * Page-lock memory that the caller has (cuMemHostRegister_v2).
 *
 * @param address  stays the caller's, and must not be freed before cushim_host_unregister
 * @param bytes    size; 0 is refused
 * @param flags    of CU_MEMHOSTREGISTER_PORTABLE, _DEVICEMAP, _IOMEMORY, _READ_ONLY
 */
CUSHIM_PUBLIC CUresult cushim_host_register(const struct cushim_api *cu, void *address,
                                            size_t bytes, unsigned int flags);

/** Undo cushim_host_register (cuMemHostUnregister). NULL does nothing. */
CUSHIM_PUBLIC CUresult cushim_host_unregister(const struct cushim_api *cu, void *address);

/**
 * Where kernels find mapped host memory (cuMemHostGetDevicePointer_v2).
 *
 * @param address  of cushim_host_alloc or cushim_host_register, or within it
 */
CUSHIM_PUBLIC CUresult cushim_host_device_address(const struct cushim_api *cu, void *address,
                                                  CUdeviceptr *device);

/* ---- arrays */

/**
 * Create an array for textures and surfaces, of one to three dimensions (cuArray3DCreate_v2).
 *
 * @param shape  Width, Height and Depth in elements (0: no such dimension, but Width), Format,
 *               NumChannels, Flags; stays the caller's
 * @param array  the caller's to destroy with cushim_array_destroy
 */
CUSHIM_PUBLIC CUresult cushim_array_create(const struct cushim_api *cu,
                                           const CUDA_ARRAY3D_DESCRIPTOR *shape, CUarray *array);

/**
 * Destroy an array (cuArrayDestroy). NULL does nothing; one destroyed before is refused, until
 * cushim_array_create gives its handle out again (a driver that is asked about it may crash:
 * measured on 580).
 */
CUSHIM_PUBLIC CUresult cushim_array_destroy(const struct cushim_api *cu, CUarray array);

/* ---- pools */

/** Whether driver and device have stream-ordered pools. */
CUSHIM_PUBLIC bool cushim_pool_supported(const struct cushim_api *cu, CUdevice device);

/**
 * Create a pool for memory of one device (cuMemPoolCreate; drivers from 11.2).
 *
 * @param keep  bytes that the pool holds on to when they are free, instead of giving them back to
 *              the system at the next synchronisation; SIZE_MAX: all
 * @param pool  the caller's to destroy with cushim_pool_destroy; NULL, and a success, where there
 *              are no pools: allocating from it then allocates plain memory
 */
CUSHIM_PUBLIC CUresult cushim_pool_create(const struct cushim_api *cu, CUdevice device, size_t keep,
                                          CUmemoryPool *pool);

/** Destroy a pool (cuMemPoolDestroy); what it holds goes once it is freed. NULL does nothing. */
CUSHIM_PUBLIC CUresult cushim_pool_destroy(const struct cushim_api *cu, CUmemoryPool pool);

/** Give memory that is free in a pool back to the system, but for `keep` bytes. */
CUSHIM_PUBLIC CUresult cushim_pool_trim(const struct cushim_api *cu, CUmemoryPool pool,
                                        size_t keep);

/** Bytes in a pool, now and at most since it was created (drivers from 11.3). */
struct cushim_pool_usage {
    unsigned long long used, used_high;
    unsigned long long reserved, reserved_high; /* used and kept */
};

/** Ask a pool what it holds (cuMemPoolGetAttribute). */
CUSHIM_PUBLIC CUresult cushim_pool_measure(const struct cushim_api *cu, CUmemoryPool pool,
                                           struct cushim_pool_usage *usage);

/* ---- a buffer that grows in place */

/** One piece of memory behind a growing buffer. */
struct cushim_growing_part {
    CUmemGenericAllocationHandle handle;
    size_t bytes;
};

/**
 * Device memory that grows without moving: addresses into it stay good. All zero is a released one.
 * Its members are to be read, and the handles to be used; only the three functions below write it.
 */
struct cushim_growing {
    CUdeviceptr address; /* of the first byte */
    size_t size;         /* bytes that can be used */
    size_t limit;        /* bytes of addresses set aside: `size` at most */
    size_t granularity;  /* sizes are multiples of it */
    CUdevice device;
    struct cushim_growing_part *parts; /* in the order of their addresses */
    size_t part_count;
};

/**
 * Set addresses aside and put memory behind the first of them (cuMemAddressReserve, cuMemCreate,
 * cuMemMap, cuMemSetAccess; drivers from 10.2).
 *
 * @param device   whose memory it is, and who may read and write it
 * @param size     bytes to begin with; rounded up to the granularity; may be 0
 * @param limit    bytes it may ever have; rounded up likewise; costs addresses, not memory
 * @param growing  the caller's, to be given to cushim_growing_release; nothing is held on failure
 * @return CUDA_ERROR_NOT_SUPPORTED where the driver or the device cannot
 */
CUSHIM_PUBLIC CUresult cushim_growing_create(const struct cushim_api *cu, CUdevice device,
                                             size_t size, size_t limit,
                                             struct cushim_growing *growing);

/**
 * Put memory behind more of the addresses. What is there stays as it is, address and contents; work
 * on it may go on meanwhile.
 *
 * @param size  bytes it shall have at least; less than it has does nothing, more than its limit is
 *              refused. On failure the buffer is as it was
 *
 * Threads: one at a time for each buffer.
 */
CUSHIM_PUBLIC CUresult cushim_growing_grow(const struct cushim_api *cu,
                                           struct cushim_growing *growing, size_t size);

/**
 * Give memory and addresses back and zero the structure. The caller has waited for all work on it.
 *
 * @param growing  NULL or all zero does nothing
 * @return on failure the buffer holds what could not be given back: call again
 *
 * Threads: one at a time for each buffer.
 */
CUSHIM_PUBLIC CUresult cushim_growing_release(const struct cushim_api *cu,
                                              struct cushim_growing *growing);

/* ---- copies
 *
 * Without _async, in order with the default stream. They wait until host memory that they write is
 * written, and until host memory that they read may be reused; device memory is written in stream
 * order, perhaps after they return. With _async, in order with the stream; host memory must stay
 * until the stream is through, and only page-locked memory is copied while the caller goes on.
 * A stream of NULL is the default stream.
 *
 * `bytes` of 0 does nothing. An address or array of 0 is refused.
 */

/** From host to device (cuMemcpyHtoD_v2, cuMemcpyHtoDAsync_v2). */
CUSHIM_PUBLIC CUresult cushim_copy_to_device(const struct cushim_api *cu, CUdeviceptr dst,
                                             const void *src, size_t bytes);
CUSHIM_PUBLIC CUresult cushim_copy_to_device_async(const struct cushim_api *cu, CUdeviceptr dst,
                                                   const void *src, size_t bytes, CUstream stream);

/** From device to host (cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2). */
CUSHIM_PUBLIC CUresult cushim_copy_to_host(const struct cushim_api *cu, void *dst, CUdeviceptr src,
                                           size_t bytes);
CUSHIM_PUBLIC CUresult cushim_copy_to_host_async(const struct cushim_api *cu, void *dst,
                                                 CUdeviceptr src, size_t bytes, CUstream stream);

/** Within one device; the two must not overlap (cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2). */
CUSHIM_PUBLIC CUresult cushim_copy_on_device(const struct cushim_api *cu, CUdeviceptr dst,
                                             CUdeviceptr src, size_t bytes);
CUSHIM_PUBLIC CUresult cushim_copy_on_device_async(const struct cushim_api *cu, CUdeviceptr dst,
                                                   CUdeviceptr src, size_t bytes, CUstream stream);

/** From any address to any other, which the driver tells apart (cuMemcpy, cuMemcpyAsync). */
CUSHIM_PUBLIC CUresult cushim_copy(const struct cushim_api *cu, CUdeviceptr dst, CUdeviceptr src,
                                   size_t bytes);
CUSHIM_PUBLIC CUresult cushim_copy_async(const struct cushim_api *cu, CUdeviceptr dst,
                                         CUdeviceptr src, size_t bytes, CUstream stream);

/**
 * Between host memory and an array of one dimension; arrays of more are for cushim_copy_2d and
 * cushim_copy_3d (cuMemcpyHtoA_v2, cuMemcpyAtoH_v2 and their Async).
 *
 * @param offset  bytes from the array's beginning
 */
CUSHIM_PUBLIC CUresult cushim_copy_to_array(const struct cushim_api *cu, CUarray dst, size_t offset,
                                            const void *src, size_t bytes);
CUSHIM_PUBLIC CUresult cushim_copy_to_array_async(const struct cushim_api *cu, CUarray dst,
                                                  size_t offset, const void *src, size_t bytes,
                                                  CUstream stream);
CUSHIM_PUBLIC CUresult cushim_copy_from_array(const struct cushim_api *cu, void *dst, CUarray src,
                                              size_t offset, size_t bytes);
CUSHIM_PUBLIC CUresult cushim_copy_from_array_async(const struct cushim_api *cu, void *dst,
                                                    CUarray src, size_t offset, size_t bytes,
                                                    CUstream stream);

/** The same between device memory and such arrays (cuMemcpyDtoA_v2, AtoD_v2, AtoA_v2). */
CUSHIM_PUBLIC CUresult cushim_copy_device_to_array(const struct cushim_api *cu, CUarray dst,
                                                   size_t offset, CUdeviceptr src, size_t bytes);
CUSHIM_PUBLIC CUresult cushim_copy_array_to_device(const struct cushim_api *cu, CUdeviceptr dst,
                                                   CUarray src, size_t offset, size_t bytes);
CUSHIM_PUBLIC CUresult cushim_copy_array_to_array(const struct cushim_api *cu, CUarray dst,
                                                  size_t dst_offset, CUarray src, size_t src_offset,
                                                  size_t bytes);

/**
 * A rectangle or a box, from host, device or array to any of them, as the driver's own structure
 * says (cuMemcpy2D_v2, cuMemcpy3D_v2, cuMemcpy3DPeer and their Async).
 *
 * A WidthInBytes, Height or Depth of 0 is refused: it is a member that was forgotten. So are a
 * pitch below offset and width, a height (srcHeight, dstHeight) below offset and height, and a box
 * whose size overflows. A pitch or height of 0 is left to the driver, and checked as if rows and
 * planes followed each other without a gap.
 *
 * @param copy  stays the caller's. With cushim_copy_3d_peer its srcContext and dstContext say whose
 *              the memory is
 */
CUSHIM_PUBLIC CUresult cushim_copy_2d(const struct cushim_api *cu, const CUDA_MEMCPY2D *copy);
CUSHIM_PUBLIC CUresult cushim_copy_2d_async(const struct cushim_api *cu, const CUDA_MEMCPY2D *copy,
                                            CUstream stream);
CUSHIM_PUBLIC CUresult cushim_copy_3d(const struct cushim_api *cu, const CUDA_MEMCPY3D *copy);
CUSHIM_PUBLIC CUresult cushim_copy_3d_async(const struct cushim_api *cu, const CUDA_MEMCPY3D *copy,
                                            CUstream stream);
CUSHIM_PUBLIC CUresult cushim_copy_3d_peer(const struct cushim_api *cu,
                                           const CUDA_MEMCPY3D_PEER *copy);
CUSHIM_PUBLIC CUresult cushim_copy_3d_peer_async(const struct cushim_api *cu,
                                                 const CUDA_MEMCPY3D_PEER *copy, CUstream stream);

/**
 * Device memory of one context to that of another, on the same device or on two (cuMemcpyPeer,
 * cuMemcpyPeerAsync). Works without peer access, then through the host.
 *
 * @param dst_context, src_context  whose the memory is; NULL is refused
 */
CUSHIM_PUBLIC CUresult cushim_copy_peer(const struct cushim_api *cu, CUdeviceptr dst,
                                        CUcontext dst_context, CUdeviceptr src,
                                        CUcontext src_context, size_t bytes);
CUSHIM_PUBLIC CUresult cushim_copy_peer_async(const struct cushim_api *cu, CUdeviceptr dst,
                                              CUcontext dst_context, CUdeviceptr src,
                                              CUcontext src_context, size_t bytes, CUstream stream);

/**
 * Let kernels and copies of `context` use memory of `peer` directly (cuCtxEnablePeerAccess), and no
 * longer (cuCtxDisablePeerAccess). What is so already is a success.
 *
 * @return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED where the devices cannot
 */
CUSHIM_PUBLIC CUresult cushim_peer_enable(const struct cushim_api *cu, CUcontext context,
                                          CUcontext peer);
CUSHIM_PUBLIC CUresult cushim_peer_disable(const struct cushim_api *cu, CUcontext context,
                                           CUcontext peer);

/* ---- fills
 *
 * Without _async, in order with the default stream; the device may write after they return, but
 * host memory is written when they do. With _async, in order with the stream. They set `count`
 * elements, or `height` rows of `width` elements that begin `pitch` bytes apart, of 8, 16 or 32
 * bits. Zero elements do nothing. An address or pitch that is no multiple of the element's size is
 * refused, as is a pitch below the row. (cuMemsetD8_v2 to cuMemsetD2D32Async.)
 */

CUSHIM_PUBLIC CUresult cushim_fill_8(const struct cushim_api *cu, CUdeviceptr dst, uint8_t value,
                                     size_t count);
CUSHIM_PUBLIC CUresult cushim_fill_8_async(const struct cushim_api *cu, CUdeviceptr dst,
                                           uint8_t value, size_t count, CUstream stream);
CUSHIM_PUBLIC CUresult cushim_fill_16(const struct cushim_api *cu, CUdeviceptr dst, uint16_t value,
                                      size_t count);
CUSHIM_PUBLIC CUresult cushim_fill_16_async(const struct cushim_api *cu, CUdeviceptr dst,
                                            uint16_t value, size_t count, CUstream stream);
CUSHIM_PUBLIC CUresult cushim_fill_32(const struct cushim_api *cu, CUdeviceptr dst, uint32_t value,
                                      size_t count);
CUSHIM_PUBLIC CUresult cushim_fill_32_async(const struct cushim_api *cu, CUdeviceptr dst,
                                            uint32_t value, size_t count, CUstream stream);

CUSHIM_PUBLIC CUresult cushim_fill_2d_8(const struct cushim_api *cu, CUdeviceptr dst, size_t pitch,
                                        uint8_t value, size_t width, size_t height);
CUSHIM_PUBLIC CUresult cushim_fill_2d_8_async(const struct cushim_api *cu, CUdeviceptr dst,
                                              size_t pitch, uint8_t value, size_t width,
                                              size_t height, CUstream stream);
CUSHIM_PUBLIC CUresult cushim_fill_2d_16(const struct cushim_api *cu, CUdeviceptr dst, size_t pitch,
                                         uint16_t value, size_t width, size_t height);
CUSHIM_PUBLIC CUresult cushim_fill_2d_16_async(const struct cushim_api *cu, CUdeviceptr dst,
                                               size_t pitch, uint16_t value, size_t width,
                                               size_t height, CUstream stream);
CUSHIM_PUBLIC CUresult cushim_fill_2d_32(const struct cushim_api *cu, CUdeviceptr dst, size_t pitch,
                                         uint32_t value, size_t width, size_t height);
CUSHIM_PUBLIC CUresult cushim_fill_2d_32_async(const struct cushim_api *cu, CUdeviceptr dst,
                                               size_t pitch, uint32_t value, size_t width,
                                               size_t height, CUstream stream);

#ifdef __cplusplus
}
#endif

#endif
