/* SPDX-License-Identifier: MIT */
/**
 * @file
 * NVML, the driver's library for management: found and loaded when the program runs.
 *
 *     const struct cushim_nvml *nvml = cushim_nvml_load(NULL);
 *     nvmlReturn_t result = nvml->nvmlInit();
 *
 * Every member of the table can be called. Without NVML it returns NVML_ERROR_LIBRARY_NOT_FOUND,
 * and one that this driver's NVML lacks NVML_ERROR_FUNCTION_NOT_FOUND; cushim_last_error() then has
 * a sentence. nvmlErrorString works in any case.
 *
 * Also the header for cushim-nvml-dropin: it has all that NVIDIA's nvml.h has.
 */
#ifndef CUSHIM_NVML_H
#define CUSHIM_NVML_H

#include <cushim/cushim.h>
#include <cushim/nvml_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How to load. Set `size`, or begin with CUSHIM_NVML_OPTIONS_INIT. */
struct cushim_nvml_options {
    size_t size;      /**< sizeof(struct cushim_nvml_options) */
    const char *path; /**< this library and no other; NULL: search */
    bool retry;       /**< load again if the last load failed */
    char reserved[7]; /**< 0 */
};
/** Options with `size` set, and all else as for NULL. */
#define CUSHIM_NVML_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(struct cushim_nvml_options), NULL, false,                                           \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

/** What the macro cushim_nvml_load calls: with the size of the table in the caller's header. */
CUSHIM_PUBLIC const struct cushim_nvml *
cushim_nvml_connect_(const struct cushim_nvml_options *options, size_t table_size);

/**
 * Load NVML for the whole process, once, and return its table. nvmlInit is not called.
 *
 * A path in the options or in the environment's CUSHIM_LIBNVIDIA_ML is used exactly. Else the
 * system's search finds libnvidia-ml.so.1; else the folder of a libcuda that this process has
 * loaded, and those in which cushim looks for libcuda. On Windows nvml.dll of System32.
 *
 * The first load that succeeds decides, and later calls return its table. A load that failed is
 * repeated with options.retry alone; the table of the failed one stays valid.
 *
 * @param options  NULL for the defaults
 * @return the table, which lives until the process ends; never NULL
 *
 * Threads: safe. Since: 0.1.
 */
#define cushim_nvml_load(options) cushim_nvml_connect_((options), sizeof(struct cushim_nvml))

/**
 * How the load ended.
 *
 * @param nvml  a table of cushim_nvml_load's
 * @return CUSHIM_OK, or the reason why there is no NVML
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC enum cushim_status cushim_nvml_status(const struct cushim_nvml *nvml);

/**
 * A sentence on how the load ended: the library's path, or the cause and what to do.
 *
 * @param nvml  a table of cushim_nvml_load's
 * @return a string that lives as long as the table
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC const char *cushim_nvml_message(const struct cushim_nvml *nvml);

/** What CUSHIM_NVML_HAS calls. */
CUSHIM_PUBLIC bool cushim_nvml_has_(const struct cushim_nvml *nvml, size_t offset);

/**
 * Whether the driver's NVML has an entry: CUSHIM_NVML_HAS(nvml, nvmlDeviceGetMemoryInfo_v2).
 *
 * Threads: safe. Since: 0.1.
 */
#define CUSHIM_NVML_HAS(nvml, member) cushim_nvml_has_((nvml), offsetof(struct cushim_nvml, member))

/**
 * The name of an error code of NVML's, with or without NVML.
 *
 * @param result  any value
 * @return "NVML_ERROR_NOT_SUPPORTED", for example; NULL for a code that cushim does not know
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC const char *cushim_nvml_error_name(nvmlReturn_t result);

/**
 * NVML's handle of a device of CUDA's. The two count devices in different orders, and
 * CUDA_VISIBLE_DEVICES hides and reorders CUDA's alone: they are matched by UUID, which finds MIG
 * instances too, and by PCI address if the driver has no UUIDs.
 *
 * @param nvml    the caller has called nvmlInit
 * @param cu      the caller has called cuInit
 * @param device  of CUDA's
 * @param found   NVML's handle; written on success alone
 * @return NVML_SUCCESS, or NVML's code; cushim_last_error() has a sentence
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC nvmlReturn_t cushim_nvml_device(const struct cushim_nvml *nvml,
                                              const struct cushim_api *cu, CUdevice device,
                                              nvmlDevice_t *found);

/**
 * CUDA's number of a device of NVML's, by UUID, and by PCI address if the driver has no UUIDs.
 *
 * @param nvml    the caller has called nvmlInit
 * @param cu      the caller has called cuInit
 * @param device  of NVML's
 * @param found   CUDA's device; written on success alone
 * @return NVML_SUCCESS; NVML_ERROR_NOT_FOUND if CUDA does not show that device to this process; or
 *         NVML's code; cushim_last_error() has a sentence
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC nvmlReturn_t cushim_nvml_device_cuda(const struct cushim_nvml *nvml,
                                                   const struct cushim_api *cu, nvmlDevice_t device,
                                                   CUdevice *found);

/** What NVML does not know: of a number in the structures below. */
#define CUSHIM_NVML_UNKNOWN ((unsigned long long)-1)

/** A device's memory in bytes, and how busy it is in percent; each may be CUSHIM_NVML_UNKNOWN. */
struct cushim_nvml_usage {
    unsigned long long total; /**< of the device, or of the MIG instance */
    unsigned long long used;  /**< by programs */
    unsigned long long free;  /**< what programs can get */
    unsigned long long
        reserved; /**< by the driver; unknown before CUDA 11.7, part of `used` then */
    unsigned long long gpu_percent;    /**< of the last time, in which a kernel ran */
    unsigned long long memory_percent; /**< of the last time, in which memory was accessed */
    unsigned long long more[2];        /**< 0 */
};

/**
 * Memory in use by the newest function that this NVML has, and utilisation. A MIG instance has no
 * utilisation of its own.
 *
 * @param nvml    the caller has called nvmlInit
 * @param device  of NVML's
 * @param usage   written on success alone
 * @return NVML_SUCCESS, or NVML's code of the memory; cushim_last_error() has a sentence
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC nvmlReturn_t cushim_nvml_usage_describe(const struct cushim_nvml *nvml,
                                                      nvmlDevice_t device,
                                                      struct cushim_nvml_usage *usage);

/** What a process uses a device for: bits of `kinds`. */
enum cushim_nvml_process_kind {
    CUSHIM_NVML_COMPUTE = 1,
    CUSHIM_NVML_GRAPHICS = 2,
    CUSHIM_NVML_MPS = 4 /**< a client of the multi-process service */
};
/** A process that uses a device. */
struct cushim_nvml_process {
    unsigned pid;                   /**< of the process, as NVML sees it: outside of a container */
    unsigned kinds;                 /**< of enum cushim_nvml_process_kind */
    unsigned long long used;        /**< bytes, or CUSHIM_NVML_UNKNOWN */
    unsigned long long gpu_percent; /**< of the last time, or CUSHIM_NVML_UNKNOWN */
    unsigned gpu_instance;          /**< of MIG; UINT_MAX: none */
    unsigned compute_instance;      /**< the same */
    unsigned long long more[2];     /**< 0 */
};

/**
 * The processes of a device, by the newest functions that this NVML has, each process once.
 *
 * @param nvml    the caller has called nvmlInit
 * @param device  of NVML's
 * @param list    room for so many; the rest is left out; NULL if there is none
 * @param room    elements
 * @param count   how many there are; written on success alone
 * @return NVML_SUCCESS, or NVML's code; cushim_last_error() has a sentence
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC nvmlReturn_t cushim_nvml_process_list(const struct cushim_nvml *nvml,
                                                    nvmlDevice_t device,
                                                    struct cushim_nvml_process *list, size_t room,
                                                    size_t *count);

/** A device's NVLinks, and the fabric that they lead to. */
struct cushim_nvml_links {
    unsigned active;                /**< links that work; 0: none */
    unsigned version;               /**< of NVLink, as nvmlDeviceGetNvLinkVersion has it; 0: none */
    unsigned fabric_state;          /**< NVML_GPU_FABRIC_STATE_*; NOT_SUPPORTED (0) without one */
    nvmlReturn_t fabric_status;     /**< how joining the fabric ended, once it is COMPLETED */
    unsigned char cluster_uuid[16]; /**< of the fabric */
    unsigned clique;                /**< devices of one clique reach each other's memory */
    unsigned health_mask;           /**< NVML_GPU_FABRIC_HEALTH_*; 0: unknown */
    unsigned long long more[2];     /**< 0 */
};

/**
 * Count a device's NVLinks, and describe its fabric by the newest structure that this NVML takes.
 *
 * @param nvml    the caller has called nvmlInit
 * @param device  of NVML's
 * @param links   written on success alone
 * @return NVML_SUCCESS, also for a device without any; or NVML's code; cushim_last_error() has a
 *         sentence
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC nvmlReturn_t cushim_nvml_link_describe(const struct cushim_nvml *nvml,
                                                     nvmlDevice_t device,
                                                     struct cushim_nvml_links *links);

#ifdef __cplusplus
}
#endif

#endif
