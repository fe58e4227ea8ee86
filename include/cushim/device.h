/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Devices: which there are, what they are, their attributes by name or number, and using one.
 *
 * Every function that takes a table calls cushim_init first, so that a program need not. If that
 * fails, the helper fails: with cuInit's own code, with CUDA_ERROR_NO_DEVICE if there is no driver,
 * with CUDA_ERROR_NOT_INITIALIZED in the child of a process that used CUDA. cushim_last_error() has
 * the sentence.
 *
 * Outputs are written on success only. Only cushim_device_enter and cushim_device_leave change
 * which context is current.
 */
#ifndef CUSHIM_DEVICE_H
#define CUSHIM_DEVICE_H

#include <cushim/context.h>
#include <cushim/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The devices that this process sees, in the driver's order.
 *
 * @param devices   may be NULL if capacity is 0; the first `capacity` devices
 * @param capacity  in elements; 0 or more
 * @param count     may be NULL; how many there are in all, which may be more than capacity
 * @return CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE or the driver's code
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_device_list(const struct cushim_api *cu, CUdevice *devices,
                                          int capacity, int *count);

/**
 * What a device is. A number that the driver or the device does not have is -1. Sizes are in
 * bytes.
 */
struct cushim_device_properties {
    size_t size;         /**< of this structure; set by the caller */
    char name[256];      /**< as the driver gives it: "NVIDIA H200" */
    char uuid[48];       /**< "GPU-01234567-89ab-cdef-0123-456789abcdef", "MIG-..." for a part of
                            a GPU; empty before CUDA 9.2 */
    char pci_bus_id[16]; /**< "0000:1b:00.0" */
    size_t total_memory; /**< bytes */
    int major;           /**< of the compute capability: 9 for 9.0 */
    int minor;           /**< of the compute capability: 0 for 9.0 */
    int multiprocessors; /**< number of them */
    int warp_size;       /**< threads */
    int max_threads_per_block;            /**< threads */
    int max_threads_per_multiprocessor;   /**< threads */
    int max_block[3];                     /**< threads in x, y and z */
    int max_grid[3];                      /**< blocks in x, y and z */
    int registers_per_block;              /**< of 32 bits */
    int shared_memory_per_block;          /**< bytes */
    int shared_memory_per_block_optin;    /**< bytes, if a kernel opts in */
    int shared_memory_per_multiprocessor; /**< bytes */
    int constant_memory;                  /**< bytes */
    int l2_cache;                         /**< bytes */
    int max_pitch;                        /**< bytes, of a row in a copy */
    int texture_alignment;                /**< bytes */
    int clock_khz;                        /**< kHz, at most */
    int memory_clock_khz;                 /**< kHz, at most */
    int memory_bus_bits;                  /**< width of the bus */
    int copy_engines;                     /**< copies that may run beside kernels */
    int compute_mode;                     /**< CU_COMPUTEMODE_* */
    /* 1 or 0, from here on */
    int integrated;                /**< shares the host's memory */
    int ecc;                       /**< error correction is on */
    int mapped_host_memory;        /**< kernels may read and write pinned host memory */
    int unified_addressing;        /**< one address space with the host */
    int managed_memory;            /**< cuMemAllocManaged works */
    int concurrent_managed_access; /**< host and kernels may use managed memory at once */
    int pageable_memory_access;    /**< kernels may use memory of malloc */
    int concurrent_kernels;        /**< several kernels may run at once */
    int cooperative_launch;        /**< blocks of a kernel may wait for each other */
    int cluster_launch;            /**< blocks may be launched in clusters */
    int memory_pools;              /**< cuMemAllocAsync works */
    int virtual_memory;            /**< cuMemAddressReserve and its like work */
    int reserved;                  /**< 0 */
};

/**
 * Describe a device.
 *
 * @param device      as cushim_device_list gives it
 * @param properties  its `size` is sizeof(struct cushim_device_properties) in the caller's header;
 *                    a newer library writes no further
 * @return CUDA_SUCCESS, CUDA_ERROR_INVALID_DEVICE, CUDA_ERROR_INVALID_VALUE or the driver's code
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_device_describe(const struct cushim_api *cu, CUdevice device,
                                              struct cushim_device_properties *properties);

/** Whether an attribute has a value. */
enum cushim_answer {
    CUSHIM_ANSWER_VALUE = 0,   /**< it has one; 0 is a value too */
    CUSHIM_ANSWER_UNSUPPORTED, /**< the device does not have it */
    CUSHIM_ANSWER_UNKNOWN      /**< the driver does not know it: the attribute is newer than the
                                  driver, or this build knows no such number */
};

/**
 * An attribute of a device by its number, also one that this build does not know.
 *
 * @param device  as cushim_device_list or cuDeviceGet gives it
 * @param number  value of a CU_DEVICE_ATTRIBUTE_* constant
 * @param value   not NULL; written if the answer is CUSHIM_ANSWER_VALUE
 * @param answer  may be NULL: then an attribute without a value is an error
 * @return CUDA_SUCCESS for each of the three answers; CUDA_ERROR_INVALID_DEVICE; the driver's code.
 *         Without `answer`, CUDA_ERROR_NOT_SUPPORTED if it is unsupported and
 *         CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER if the driver does not know it
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_device_attribute(const struct cushim_api *cu, CUdevice device,
                                               int number, int *value, enum cushim_answer *answer);

/**
 * The same by name. A name that this build does not know is CUDA_ERROR_INVALID_VALUE.
 *
 * @param device  as cushim_device_list or cuDeviceGet gives it
 * @param name    "MAX_THREADS_PER_BLOCK" or "CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK"; one that
 *                has meant two numbers means the newer one
 * @param value   as for cushim_device_attribute
 * @param answer  as for cushim_device_attribute
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_device_attribute_named(const struct cushim_api *cu, CUdevice device,
                                                     const char *name, int *value,
                                                     enum cushim_answer *answer);

/** An attribute that this build knows. */
struct cushim_attribute {
    const char *name; /**< "CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK"; static */
    int number;       /**< value of the constant */
    int since; /**< release that introduced it: 12040 is 12.4. 0: it is older than CUDA 11.7, and
                  the exact release is not known */
};

/**
 * Number of names of attributes.
 *
 * @return how many cushim_attribute_at lists
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC size_t cushim_attribute_count(void);

/**
 * The names in the order of their numbers. Of several for one number the usual one comes first.
 *
 * @param index      0 to cushim_attribute_count() - 1
 * @param attribute  written on success
 * @return false if the index is out of range, or `attribute` is NULL
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC bool cushim_attribute_at(size_t index, struct cushim_attribute *attribute);

/* ---- use one */

/** A device in use. Filled by cushim_device_enter; may lie on the stack. Its size never changes. */
struct cushim_device_scope {
    const struct cushim_api *cu;   /**< NULL: not entered, or left */
    CUdevice device;               /**< the one that was entered */
    CUcontext context;             /**< its primary context */
    struct cushim_scope previous;  /**< what was current before */
    struct cushim_outcome outcome; /**< the first failure of all, from entering on */
};

/**
 * Begin to use a device: initialise the driver, retain the device's primary context and make it
 * current. On failure all that was done is undone. cushim_device_leave ends the use:
 *
 *     struct cushim_device_scope gpu;
 *     if (cushim_device_enter(cu, 0, &gpu) == CUDA_SUCCESS)
 *         work(cu, &gpu.outcome);
 *     if (cushim_device_leave(&gpu) != CUDA_SUCCESS)
 *         printf("on the CPU, because %s\n", gpu.outcome.message);
 *
 * `work` calls through CUSHIM_KEEP (cushim/error.h), also when it cleans up: what failed first
 * stays in the outcome.
 *
 * @param device  as cushim_device_list or cuDeviceGet gives it
 * @param scope   not NULL; all of it is written, on failure too
 * @return CUDA_SUCCESS; cuInit's own code; CUDA_ERROR_NO_DEVICE if there is no driver;
 *         CUDA_ERROR_INVALID_DEVICE; the driver's code
 *
 * Threads: acts on the calling one. Scopes nest. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_device_enter(const struct cushim_api *cu, CUdevice device,
                                           struct cushim_device_scope *scope);

/**
 * End the use of a device: make the context current again that was current before, as
 * cushim_scope_leave does, and release the primary context.
 *
 * @param scope  not entered, or left already: nothing is done. Its outcome stays to be read
 * @return the code of the first failure since cushim_device_enter, leaving included; CUDA_SUCCESS
 *         if nothing failed
 *
 * Threads: the one that entered. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_device_leave(struct cushim_device_scope *scope);

#ifdef __cplusplus
}
#endif

#endif
