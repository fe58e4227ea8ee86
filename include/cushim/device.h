/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Devices: which there are, what they are, and their attributes by name or number.
 *
 * Everything here calls cushim_init first, so that a program need not. Where that fails, so does
 * the helper: with cuInit's own code, with CUDA_ERROR_NO_DEVICE where there is no driver, with
 * CUDA_ERROR_NOT_INITIALIZED in the child of a process that had called it; cushim_last_error() has
 * the sentence.
 *
 * Outputs are written on success only, and the context that is current stays as it is.
 */
#ifndef CUSHIM_DEVICE_H
#define CUSHIM_DEVICE_H

#include <cushim/cushim.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The devices that this process sees, in the driver's order.
 *
 * @param devices   may be NULL where capacity is 0; the first `capacity` devices
 * @param capacity  in elements; 0 or more
 * @param count     may be NULL; how many there are in all, which may be more than capacity
 * @return CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE or the driver's code
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_device_list(const struct cushim_api *cu, CUdevice *devices,
                                          int capacity, int *count);

/**
 * What a device is. A number that the driver does not know, or the device does not have, is -1;
 * sizes are in bytes.
 */
struct cushim_device_properties {
    size_t size;         /* of this structure; set by the caller */
    char name[256];      /* as the driver gives it: "NVIDIA H200" */
    char uuid[48];       /* "GPU-01234567-89ab-cdef-0123-456789abcdef", "MIG-..." for a part of
                            a GPU; empty before CUDA 9.2 */
    char pci_bus_id[16]; /* "0000:1b:00.0" */
    size_t total_memory;
    int major, minor; /* compute capability */
    int multiprocessors;
    int warp_size; /* threads */
    int max_threads_per_block;
    int max_threads_per_multiprocessor;
    int max_block[3];        /* threads in x, y and z */
    int max_grid[3];         /* blocks in x, y and z */
    int registers_per_block; /* of 32 bits */
    int shared_memory_per_block;
    int shared_memory_per_block_optin; /* with CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
    int shared_memory_per_multiprocessor;
    int constant_memory;
    int l2_cache;
    int max_pitch;
    int texture_alignment;
    int clock_khz, memory_clock_khz;
    int memory_bus_bits;
    int copy_engines; /* copies that may run beside kernels */
    int compute_mode; /* CU_COMPUTEMODE_* */
    /* 1 or 0 */
    int integrated;         /* shares the host's memory */
    int ecc;                /* error correction is on */
    int mapped_host_memory; /* kernels may read and write pinned host memory */
    int unified_addressing; /* one address space with the host */
    int managed_memory;     /* cuMemAllocManaged works */
    int concurrent_managed_access;
    int pageable_memory_access;
    int concurrent_kernels;
    int cooperative_launch;
    int cluster_launch;
    int memory_pools;   /* cuMemAllocAsync works */
    int virtual_memory; /* cuMemAddressReserve and its like work */
};

/**
 * What a device is.
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
    CUSHIM_ANSWER_VALUE = 0,   /* it has; 0 is a value too */
    CUSHIM_ANSWER_UNSUPPORTED, /* the driver's release has the attribute, and not for this device */
    CUSHIM_ANSWER_UNKNOWN      /* this driver does not know the attribute: it is newer, or none */
};

/**
 * An attribute of a device by its number, also one that this build does not know.
 *
 * @param number  value of a CU_DEVICE_ATTRIBUTE_* constant
 * @param value   not NULL; written where the answer is CUSHIM_ANSWER_VALUE
 * @param answer  may be NULL: then an attribute without a value is an error
 * @return CUDA_SUCCESS for each of the three answers; CUDA_ERROR_INVALID_DEVICE; the driver's code.
 *         Without `answer`, CUDA_ERROR_NOT_SUPPORTED where it is unsupported and
 *         CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER where the driver does not know it
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_device_attribute(const struct cushim_api *cu, CUdevice device,
                                               int number, int *value, enum cushim_answer *answer);

/**
 * The same by name. A name that this build does not know is CUDA_ERROR_INVALID_VALUE.
 *
 * @param name  "MAX_THREADS_PER_BLOCK" or "CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK"; one that has
 *              meant two numbers means the newer one
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_device_attribute_named(const struct cushim_api *cu, CUdevice device,
                                                     const char *name, int *value,
                                                     enum cushim_answer *answer);

/** An attribute that this build knows. */
struct cushim_attribute {
    const char *name; /* "CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK"; static */
    int number;
    int since; /* release that has it: 12040 is 12.4. For all those older than CUDA 11.7, that */
};

/** Number of names of attributes. Threads: safe. Since: 0.1. */
CUSHIM_PUBLIC size_t cushim_attribute_count(void);

/**
 * The names in the order of their numbers. Of several for one number the usual one comes first.
 *
 * @param index      0 to cushim_attribute_count() - 1
 * @param attribute  written on success
 * @return false where the index is out of range
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC bool cushim_attribute_at(size_t index, struct cushim_attribute *attribute);

/**
 * An attribute by name, with or without CU_DEVICE_ATTRIBUTE_.
 *
 * @param attribute  written on success
 * @return false where this build knows no such name
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC bool cushim_attribute_find(const char *name, struct cushim_attribute *attribute);

#ifdef __cplusplus
}
#endif

#endif
