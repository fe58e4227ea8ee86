/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Modules: load PTX, cubins and fatbins, link several of them, and find functions in them.
 *
 *     struct cushim_jit_result result = {.size = sizeof result};
 *     CUmodule module;
 *     CUfunction function;
 *     if (cushim_module_load_file(cu, "vecadd.ptx", NULL, &result, &module) != CUDA_SUCCESS)
 *         fail(cushim_last_error(), result.error_log);
 *     cushim_jit_result_release(&result);
 *     if (cushim_module_function(cu, module, "vecadd", &function) != CUDA_SUCCESS)
 *         fail(cushim_last_error());
 *
 * A module is a plain CUmodule and a function a plain CUfunction: what comes from here goes into
 * any call of the table, and what comes from there goes into these helpers. A module belongs to the
 * context it was loaded in. A library belongs to none. What needs no helper is called through the
 * table:
 *
 *     CUSHIM_CHECK(cu->cuModuleGetGlobal(&address, &bytes, module, "table"));
 *
 * The kind of an image is read from its bytes, never from a file's name. PTX need not end with a
 * NUL. Images stay the caller's and may be freed when a function returns.
 *
 * For every function below:
 * - it works in the context that is current, and leaves it current, on errors too;
 * - it returns CUDA_SUCCESS or an error code; cushim_last_error() then names the helper, and either
 *   the argument and its value, or the driver's call that failed and the log's first line;
 * - outputs are written on success alone, but a struct cushim_jit_result always;
 * - Threads: safe. Since: 0.1.
 */
#ifndef CUSHIM_MODULE_H
#define CUSHIM_MODULE_H

#include <stdbool.h>
#include <stddef.h>

#include <cushim/cushim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- images */

/** What an image is. Values never change. */
enum cushim_image_kind {
    CUSHIM_IMAGE_UNKNOWN = 0, /**< none of the kinds below */
    CUSHIM_IMAGE_PTX,         /**< text */
    CUSHIM_IMAGE_CUBIN,       /**< ELF for a GPU, relocatable or not */
    CUSHIM_IMAGE_FATBIN,      /**< several of the two above */
    CUSHIM_IMAGE_OBJECT,      /**< ELF for the host with device code in it; for linking only */
    CUSHIM_IMAGE_LIBRARY      /**< archive of such objects (.a); for linking only */
};

/** What an image contains. What is not in it is 0. */
struct cushim_image {
    size_t size;                 /**< of this structure; set by the caller */
    enum cushim_image_kind kind; /**< what it is */
    int version_major;           /**< PTX: its .version, 8 of 8.4 */
    int version_minor;           /**< PTX: its .version, 4 of 8.4 */
    int arch;                    /**< PTX: its .target, 90 for sm_90a; cubin: its GPU's */
    char arch_suffix;            /**< PTX: 'a' or 'f' of such a target */
    bool relocatable;            /**< cubin or object that is still to be linked */
    char reserved[6];            /**< 0 */
};

/**
 * Recognise an image by its bytes, and check that it is whole as far as they tell: an ELF's
 * sections, a fatbin's length, a PTX's braces. Needs no driver.
 *
 * @param data   `bytes` bytes
 * @param bytes  size of the image
 * @param image  its `size` is set; a newer library writes no further
 * @return CUDA_ERROR_INVALID_VALUE for NULL or nothing; CUDA_ERROR_INVALID_IMAGE if it is none of
 *         these kinds or is truncated; CUDA_ERROR_INVALID_PTX for PTX that is truncated
 */
CUSHIM_PUBLIC CUresult cushim_image_describe(const void *data, size_t bytes,
                                             struct cushim_image *image);

/* ---- compiling */

/** How hard the driver's compiler tries. */
enum cushim_jit_optimisation {
    CUSHIM_JIT_OPTIMISATION_DEFAULT = 0, /**< the driver's: 4 */
    CUSHIM_JIT_OPTIMISATION_0,
    CUSHIM_JIT_OPTIMISATION_1,
    CUSHIM_JIT_OPTIMISATION_2,
    CUSHIM_JIT_OPTIMISATION_3,
    CUSHIM_JIT_OPTIMISATION_4
};

/** What to take from a fatbin that has both for the device. */
enum cushim_jit_fallback {
    CUSHIM_JIT_FALLBACK_DEFAULT = 0,
    CUSHIM_JIT_PREFER_PTX,
    CUSHIM_JIT_PREFER_BINARY
};

/** How to compile and link. All zero is the default; set `size` to sizeof of the structure. */
struct cushim_jit_options {
    size_t size;                               /**< of this structure; set by the caller */
    enum cushim_jit_optimisation optimisation; /**< how hard the compiler tries */
    enum cushim_jit_fallback fallback;         /**< what to take from a fatbin */
    unsigned max_registers;                    /**< of a thread; 0: no limit */
    unsigned threads_per_block; /**< compile so that blocks of at least this many threads can
                                   launch; 0: no requirement */
    unsigned target;            /**< CU_TARGET_COMPUTE_*: 90; 0: the current context's device */
    unsigned cache_mode;        /**< CU_JIT_CACHE_OPTION_*: of loads, in the GPU (-dlcm) */
    bool debug_info;            /**< for a debugger; slow code */
    bool line_info;             /**< for profilers */
    bool verbose;               /**< more in the info log: registers and memory of each function */
    bool position_independent;  /**< CUDA 12.0 */
    size_t log_bytes;           /**< room for each log; 0: 16 KiB. What does not fit is lost */
    /* Any others, as the driver takes them; logs, their sizes and the wall time are refused. */
    unsigned extra_count;              /**< number of both arrays */
    const CUjit_option *extra_options; /**< NULL if extra_count is 0 */
    void *const *extra_values;         /**< one for each option, as cuModuleLoadDataEx takes it */
};

/**
 * What the compiler and the linker wrote. The caller's, with `size` set; every function that takes
 * one writes all else, whatever it held before, on success and failure alike.
 */
struct cushim_jit_result {
    size_t size;     /**< of this structure; set by the caller */
    char *error_log; /**< never NULL; empty if the driver wrote nothing */
    char *info_log;  /**< the same */
    double wall_ms;  /**< milliseconds of compiling and linking as the driver measured; 0: none */
};

/**
 * Free a result's texts and zero it, but for its size. NULL and a released one do nothing.
 *
 * @param result  written by any function that takes one
 */
CUSHIM_PUBLIC void cushim_jit_result_release(struct cushim_jit_result *result);

/* ---- modules */

/**
 * Load PTX, a cubin or a fatbin into the current context (cuModuleLoadDataEx).
 *
 * @param data     the image
 * @param bytes    its size; 0 is refused
 * @param options  NULL for the defaults
 * @param result   may be NULL; to be given to cushim_jit_result_release, also on failure
 * @param module   the caller's, to be given to cushim_module_unload
 * @return CUDA_ERROR_UNSUPPORTED_PTX_VERSION for PTX newer than the driver, whose version and the
 *         PTX's .version the sentence has; CUDA_ERROR_NO_BINARY_FOR_GPU if nothing in it runs on
 *         the device, whose compute capability the sentence has; CUDA_ERROR_INVALID_PTX for errors
 *         in PTX, which result->error_log has; as cushim_image_describe; the driver's
 */
CUSHIM_PUBLIC CUresult cushim_module_load(const struct cushim_api *cu, const void *data,
                                          size_t bytes, const struct cushim_jit_options *options,
                                          struct cushim_jit_result *result, CUmodule *module);

/**
 * The same from a file.
 *
 * @param path     read whole; CUDA_ERROR_FILE_NOT_FOUND if there is no such file,
 *                 CUDA_ERROR_OPERATING_SYSTEM if it cannot be read
 * @param options  NULL for the defaults
 * @param result   may be NULL; to be given to cushim_jit_result_release, also on failure
 * @param module   the caller's, to be given to cushim_module_unload
 */
CUSHIM_PUBLIC CUresult cushim_module_load_file(const struct cushim_api *cu, const char *path,
                                               const struct cushim_jit_options *options,
                                               struct cushim_jit_result *result, CUmodule *module);

/**
 * Unload a module (cuModuleUnload). Its functions and variables are gone then.
 *
 * @param module  of the current context; NULL does nothing
 * @return CUDA_SUCCESS, also if the driver has shut down; the driver's code
 */
CUSHIM_PUBLIC CUresult cushim_module_unload(const struct cushim_api *cu, CUmodule module);

/**
 * Find a kernel by its name (cuModuleGetFunction): as in PTX, that is mangled for C++ without
 * extern "C".
 *
 * If there is none, the sentence has the names that are nearest, from the driver's own list (CUDA
 * 12.4).
 *
 * @param module    of the current context
 * @param name      not NULL
 * @param function  valid until the module is unloaded
 * @return CUDA_ERROR_NOT_FOUND if there is none; the driver's code
 */
CUSHIM_PUBLIC CUresult cushim_module_function(const struct cushim_api *cu, CUmodule module,
                                              const char *name, CUfunction *function);

/* ---- linking */

/** One image to link: from memory or from a file. */
struct cushim_link_input {
    size_t size;      /**< of this structure; the same in all of an array */
    const void *data; /**< NULL: from `path` */
    size_t bytes;     /**< of `data` */
    const char *path; /**< NULL: from `data` */
    const char *name; /**< for the logs; NULL: the path, or "input 0" by its place */
};

/** What linking made: a cubin in host memory. All zero is a released one. Its size never changes.
 */
struct cushim_cubin {
    void *data;   /**< of malloc; NULL if it is released */
    size_t bytes; /**< of `data` */
};

/**
 * Link PTX, cubins, fatbins, host objects and libraries into one cubin for the current context's
 * device (cuLinkCreate_v2, cuLinkAddData_v2, cuLinkComplete).
 *
 * @param inputs   `count` of them, at least 1; stay the caller's
 * @param count    of `inputs`
 * @param options  NULL for the defaults
 * @param result   may be NULL; to be given to cushim_jit_result_release, also on failure
 * @param cubin    the caller's, to be given to cushim_cubin_release
 * @return as cushim_module_load; the sentence names the input that was refused
 */
CUSHIM_PUBLIC CUresult cushim_cubin_link(const struct cushim_api *cu,
                                         const struct cushim_link_input *inputs, size_t count,
                                         const struct cushim_jit_options *options,
                                         struct cushim_jit_result *result,
                                         struct cushim_cubin *cubin);

/**
 * Free a cubin and zero the structure. NULL and a released one do nothing.
 *
 * @param cubin  of cushim_cubin_link
 */
CUSHIM_PUBLIC void cushim_cubin_release(struct cushim_cubin *cubin);

/**
 * Link, and load what that makes: cushim_cubin_link and cushim_module_load in one.
 *
 * @param inputs   as for cushim_cubin_link
 * @param count    of `inputs`
 * @param options  NULL for the defaults
 * @param result   may be NULL; to be given to cushim_jit_result_release, also on failure
 * @param module   the caller's, to be given to cushim_module_unload
 * @return as cushim_cubin_link and cushim_module_load
 */
CUSHIM_PUBLIC CUresult cushim_module_link(const struct cushim_api *cu,
                                          const struct cushim_link_input *inputs, size_t count,
                                          const struct cushim_jit_options *options,
                                          struct cushim_jit_result *result, CUmodule *module);

/* ---- libraries: code for all contexts */

/**
 * Load an image for all contexts (cuLibraryLoadData; drivers from 12.0). No context need be
 * current.
 *
 * @param data     the image
 * @param bytes    its size; 0 is refused
 * @param options  NULL for the defaults
 * @param result   may be NULL; to be given to cushim_jit_result_release, also on failure
 * @param library  the caller's, to be given to cushim_library_unload
 * @return as cushim_module_load; CUDA_ERROR_NOT_SUPPORTED with an older driver: then load a module
 *         in each context. If no context is current a driver accepts PTX that it cannot compile:
 *         result->error_log has the errors, and cushim_library_kernel fails
 */
CUSHIM_PUBLIC CUresult cushim_library_load(const struct cushim_api *cu, const void *data,
                                           size_t bytes, const struct cushim_jit_options *options,
                                           struct cushim_jit_result *result, CUlibrary *library);

/**
 * Unload a library from all contexts (cuLibraryUnload).
 *
 * @param library  NULL does nothing
 * @return CUDA_SUCCESS, also if the driver has shut down; the driver's code
 *
 * Threads: no other thread may use the library any more.
 */
CUSHIM_PUBLIC CUresult cushim_library_unload(const struct cushim_api *cu, CUlibrary library);

/**
 * Find a kernel by its name (cuLibraryGetKernel). Cast to CUfunction it can be launched in every
 * context. As cushim_module_function.
 *
 * @param library  of cushim_library_load or cuLibraryLoadData
 * @param name     not NULL
 * @param kernel   valid until the library is unloaded
 */
CUSHIM_PUBLIC CUresult cushim_library_kernel(const struct cushim_api *cu, CUlibrary library,
                                             const char *name, CUkernel *kernel);

#ifdef __cplusplus
}
#endif

#endif
