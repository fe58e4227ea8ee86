/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Modules: load PTX, cubins and fatbins, link several of them, find functions and variables in
 * them, and keep what was linked on disk.
 *
 *     struct cushim_jit_result result;
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
 * context it was loaded in. A library (struct cushim_library) belongs to none.
 *
 * What kind an image is of is read from its bytes, never from a file's name. PTX need not end with
 * a NUL. Images stay the caller's and may be freed when a function returns.
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
    CUSHIM_IMAGE_UNKNOWN = 0,
    CUSHIM_IMAGE_PTX,    /* text */
    CUSHIM_IMAGE_CUBIN,  /* ELF for a GPU, relocatable or not */
    CUSHIM_IMAGE_FATBIN, /* several of the two above */
    CUSHIM_IMAGE_OBJECT, /* ELF for the host with device code in it; for linking only */
    CUSHIM_IMAGE_LIBRARY /* archive of such objects (.a); for linking only */
};

/** What an image says of itself. What it does not say is 0. */
struct cushim_image {
    enum cushim_image_kind kind;
    int version_major, version_minor; /* PTX: its .version */
    int arch;                         /* PTX: its .target, 90 for sm_90a; cubin: its GPU's */
    char arch_suffix;                 /* PTX: 'a' or 'f' of such a target */
    bool relocatable;                 /* cubin or object that is still to be linked */
};

/**
 * Recognise an image by its bytes, and check that it is whole as far as they tell: an ELF's
 * sections, a fatbin's length, a PTX's braces. Needs no driver.
 *
 * @param data   `bytes` bytes
 * @param image  what was found
 * @return CUDA_ERROR_INVALID_VALUE for NULL or nothing; CUDA_ERROR_INVALID_IMAGE where it is none
 * of these kinds or is truncated; CUDA_ERROR_INVALID_PTX for PTX that is truncated
 */
CUSHIM_PUBLIC CUresult cushim_image_describe(const void *data, size_t bytes,
                                             struct cushim_image *image);

/* ---- compiling */

/** How hard the driver's compiler tries. */
enum cushim_jit_optimisation {
    CUSHIM_JIT_OPTIMISATION_DEFAULT = 0, /* the driver's: 4 */
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

/** An on-disk cache of cubins. All zero is the default; set `size` to sizeof of the structure. */
struct cushim_cubin_cache {
    size_t size;
    const char *folder;       /* made where it is missing. NULL: $XDG_CACHE_HOME/cushim/cubin, else
                                 $HOME/.cache/cushim/cubin (Windows: in %LOCALAPPDATA%); a set-uid
                                 program has none then */
    unsigned long long limit; /* bytes of all entries; the ones not used for longest go first. 0:
                                 256 MiB */
};

/** How to compile and link. All zero is the default; set `size` to sizeof of the structure. */
struct cushim_jit_options {
    size_t size;
    enum cushim_jit_optimisation optimisation;
    enum cushim_jit_fallback fallback;
    unsigned max_registers;     /* of a thread; 0: no limit */
    unsigned threads_per_block; /* that a block shall at least be able to have; 0: no matter */
    unsigned target;            /* CU_TARGET_COMPUTE_*: 90; 0: the current context's device */
    unsigned cache_mode;        /* CU_JIT_CACHE_OPTION_*: of loads, in the GPU (-dlcm) */
    bool debug_info;            /* for a debugger; slow code */
    bool line_info;             /* for profilers */
    bool verbose;               /* more in the info log: registers and memory of each function */
    bool position_independent;  /* CUDA 12.0 */
    size_t log_bytes;           /* room for each log; 0: 16 KiB. What does not fit is lost */
    const struct cushim_cubin_cache *cache; /* NULL: none. For all that is linked, and for PTX,
                                               which then is compiled by the linker */
    /* Any others, as the driver takes them; logs, their sizes and the wall time are refused. With
     * them no cache is used, because values may be addresses. */
    unsigned extra_count;
    const CUjit_option *extra_options;
    void *const *extra_values;
};

/** What the cache of cubins did. */
enum cushim_cache_outcome {
    CUSHIM_CACHE_UNUSED = 0, /* not asked for, or no use: a cubin, extra options */
    CUSHIM_CACHE_HIT,        /* the cubin came from it: nothing was compiled, and no log made */
    CUSHIM_CACHE_STORED,     /* compiled, and stored */
    CUSHIM_CACHE_FAILED      /* compiled, and not stored; cache_note says why */
};

/**
 * What compiling and linking came to. The caller's; every function that takes one writes all of it,
 * whatever it held before, on success and failure alike.
 */
struct cushim_jit_result {
    char *error_log; /* never NULL; empty where the driver wrote nothing */
    char *info_log;  /* the same */
    float wall_ms;   /* milliseconds of compiling and linking as the driver says; 0: none */
    enum cushim_cache_outcome cache;
    char *cache_note; /* never NULL; what went wrong with the cache, or a damaged entry replaced */
};

/** Free a result's texts and zero it. NULL, and a result that is all zero, do nothing. */
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
 *         PTX's .version the sentence has; CUDA_ERROR_NO_BINARY_FOR_GPU where nothing in it runs on
 *         the device, whose compute capability the sentence has; CUDA_ERROR_INVALID_PTX for errors
 *         in PTX, which result->error_log has; as cushim_image_describe; the driver's
 */
CUSHIM_PUBLIC CUresult cushim_module_load(const struct cushim_api *cu, const void *data,
                                          size_t bytes, const struct cushim_jit_options *options,
                                          struct cushim_jit_result *result, CUmodule *module);

/**
 * The same from a file.
 *
 * @param path  read whole; CUDA_ERROR_FILE_NOT_FOUND where there is no such file,
 *              CUDA_ERROR_OPERATING_SYSTEM where it cannot be read
 */
CUSHIM_PUBLIC CUresult cushim_module_load_file(const struct cushim_api *cu, const char *path,
                                               const struct cushim_jit_options *options,
                                               struct cushim_jit_result *result, CUmodule *module);

/**
 * Unload a module (cuModuleUnload). Its functions and variables are gone then.
 *
 * @param module  of the current context; NULL does nothing
 * @return CUDA_SUCCESS, also where the driver has shut down; the driver's code
 */
CUSHIM_PUBLIC CUresult cushim_module_unload(const struct cushim_api *cu, CUmodule module);

/**
 * Find a kernel by its name (cuModuleGetFunction): as in PTX, that is mangled for C++ without
 * extern "C".
 *
 * Where there is none the sentence has the names that are nearest: from the driver (CUDA 12.4), or
 * from the image if cushim loaded it.
 *
 * @param function  valid until the module is unloaded
 * @return CUDA_ERROR_NOT_FOUND where there is none; the driver's code
 */
CUSHIM_PUBLIC CUresult cushim_module_function(const struct cushim_api *cu, CUmodule module,
                                              const char *name, CUfunction *function);

/**
 * Find a variable by its name (cuModuleGetGlobal_v2); otherwise as cushim_module_function, but
 * names are known only of images that cushim loaded.
 *
 * @param address  may be NULL
 * @param bytes    may be NULL; its size
 */
CUSHIM_PUBLIC CUresult cushim_module_global(const struct cushim_api *cu, CUmodule module,
                                            const char *name, CUdeviceptr *address, size_t *bytes);

/* ---- linking */

/** One image to link: from memory or from a file. */
struct cushim_link_input {
    const void *data; /* NULL: from `path` */
    size_t bytes;     /* of `data` */
    const char *path; /* NULL: from `data` */
    const char *name; /* for the logs; NULL: the path, or "input 0" by its place */
};

/** What linking made: a cubin in host memory. All zero is a released one. */
struct cushim_cubin {
    void *data;
    size_t bytes;
};

/**
 * Link PTX, cubins, fatbins, host objects and libraries into one cubin for the current context's
 * device (cuLinkCreate_v2, cuLinkAddData_v2, cuLinkComplete).
 *
 * @param inputs  `count` of them, at least 1; stay the caller's
 * @param cubin   the caller's, to be given to cushim_cubin_release
 * @return as cushim_module_load; the sentence names the input that was refused
 */
CUSHIM_PUBLIC CUresult cushim_link(const struct cushim_api *cu,
                                   const struct cushim_link_input *inputs, size_t count,
                                   const struct cushim_jit_options *options,
                                   struct cushim_jit_result *result, struct cushim_cubin *cubin);

/** Free a cubin and zero the structure. NULL and a released one do nothing. */
CUSHIM_PUBLIC void cushim_cubin_release(struct cushim_cubin *cubin);

/** Link, and load what that makes: cushim_link and cushim_module_load in one. */
CUSHIM_PUBLIC CUresult cushim_module_link(const struct cushim_api *cu,
                                          const struct cushim_link_input *inputs, size_t count,
                                          const struct cushim_jit_options *options,
                                          struct cushim_jit_result *result, CUmodule *module);

/* ---- libraries */

/** A library's module in one context. */
struct cushim_context_module {
    CUcontext context;
    CUmodule module;
};

/**
 * Code for all contexts: the driver's own library from CUDA 12.0, and with older drivers a module
 * for each context, loaded when one first asks for something. All zero is an unloaded one. Its
 * members are to be read, and the handles to be used; only the functions below write it.
 */
struct cushim_library {
    CUlibrary library;                     /* NULL where the driver has none */
    struct cushim_context_module *modules; /* where `library` is NULL; to be read while no other
                                              thread uses the library */
    size_t module_count;
    struct cushim_library_state *state; /* cushim's own */
};

/**
 * Load an image for all contexts (cuLibraryLoadData, else cuModuleLoadDataEx in the current one).
 * From CUDA 12.0 no context need be current, unless a cache is given.
 *
 * With a cache, PTX is compiled for the device of the context that is current now, and the library
 * is of use on devices of that kind alone.
 *
 * @param library  the caller's, to be given to cushim_library_unload
 * @return as cushim_module_load. Where no context is current a driver accepts PTX that it cannot
 *         compile: result->error_log has the errors, and cushim_library_function fails
 */
CUSHIM_PUBLIC CUresult cushim_library_load(const struct cushim_api *cu, const void *data,
                                           size_t bytes, const struct cushim_jit_options *options,
                                           struct cushim_jit_result *result,
                                           struct cushim_library *library);

/** The same from a file, as cushim_module_load_file. */
CUSHIM_PUBLIC CUresult cushim_library_load_file(const struct cushim_api *cu, const char *path,
                                                const struct cushim_jit_options *options,
                                                struct cushim_jit_result *result,
                                                struct cushim_library *library);

/**
 * Unload a library from all contexts and zero the structure.
 *
 * With drivers before 12.0: a context with a module of this library is destroyed after the library
 * is unloaded, not before; one that the driver no longer accepts is passed over.
 *
 * @param library  NULL or all zero does nothing. On failure it holds what could not be unloaded
 *
 * Threads: nobody may use the library any more.
 */
CUSHIM_PUBLIC CUresult cushim_library_unload(const struct cushim_api *cu,
                                             struct cushim_library *library);

/** The kernel of that name, to be launched in the current context. As cushim_module_function. */
CUSHIM_PUBLIC CUresult cushim_library_function(const struct cushim_api *cu,
                                               struct cushim_library *library, const char *name,
                                               CUfunction *function);

/**
 * The kernel of that name for all contexts (cuLibraryGetKernel).
 *
 * @return CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER with drivers before 12.0; as cushim_module_function
 */
CUSHIM_PUBLIC CUresult cushim_library_kernel(const struct cushim_api *cu,
                                             struct cushim_library *library, const char *name,
                                             CUkernel *kernel);

/** The variable of that name in the current context. As cushim_module_global. */
CUSHIM_PUBLIC CUresult cushim_library_global(const struct cushim_api *cu,
                                             struct cushim_library *library, const char *name,
                                             CUdeviceptr *address, size_t *bytes);

/** The library's module in the current context; it stays the library's. */
CUSHIM_PUBLIC CUresult cushim_library_module(const struct cushim_api *cu,
                                             struct cushim_library *library, CUmodule *module);

#ifdef __cplusplus
}
#endif

#endif
