/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Contexts: the primary one of a device, contexts of one's own, and a scope that restores the
 * current one.
 *
 * Every thread has a stack of contexts. The top one is the current context; a thread begins with
 * none. A context may be on the stacks of several threads at once, or on none: then it floats, and
 * any thread can push it. To hand a context over, pop it here and push it there
 * (cuCtxPopCurrent, cuCtxPushCurrent). Only entering a scope changes what is current; every other
 * function here leaves it as it was, on errors too.
 *
 * Use counts. There are two:
 * - The primary context of a device is one for the whole process, shared with the CUDA runtime and
 *   with all libraries. Call cushim_primary_release once for each cushim_primary_retain. The last
 *   release in the process destroys it.
 * - A context of cushim_context_create or cuCtxCreate belongs to who created it.
 *   cushim_context_destroy destroys it, whoever still uses it. Programs from before CUDA 4 count
 *   its users with cuCtxAttach and cuCtxDetach, which the table has; a program that detaches as its
 *   last step does not destroy the context too.
 *
 * An error that a kernel left behind (an illegal address, for example) stays with its context: all
 * calls in it fail from then on. Destroying the context is the way out.
 *
 * Codes: a context of NULL is CUDA_ERROR_INVALID_CONTEXT, another argument of NULL is
 * CUDA_ERROR_INVALID_VALUE. A context that was destroyed, or released for the last time, is
 * CUDA_ERROR_INVALID_CONTEXT or CUDA_ERROR_CONTEXT_IS_DESTROYED, as the driver decides, and never
 * becomes current. In the child of a process that used CUDA every call is
 * CUDA_ERROR_NOT_INITIALIZED. cushim_last_error() has the sentence, with helper, argument and
 * value. Outputs are written on success only.
 */
#ifndef CUSHIM_CONTEXT_H
#define CUSHIM_CONTEXT_H

#include <cushim/cushim.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Initialise the driver (cushim_init) and retain the primary context of a device. The driver
 * creates it if nobody has retained it. It does not become current: see cushim_scope_enter, and
 * cushim_device_enter for both in one.
 *
 * @param device   as cushim_device_list or cuDeviceGet gives it
 * @param context  the caller's until cushim_primary_release
 * @return CUDA_SUCCESS, CUDA_ERROR_INVALID_DEVICE, or the code of cuInit or of the driver
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_primary_retain(const struct cushim_api *cu, CUdevice device,
                                             CUcontext *context);

/**
 * Release the primary context of a device. The last release in the process destroys it; a destroyed
 * context stays on the stacks where it is, and cannot be used.
 *
 * More releases than retains through this instance are refused with CUDA_ERROR_INVALID_CONTEXT,
 * because they would take the context from others, such as the CUDA runtime.
 *
 * @param device  as cushim_device_list or cuDeviceGet gives it
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_primary_release(const struct cushim_api *cu, CUdevice device);

/** What the primary context of a device is. */
struct cushim_primary {
    size_t size;       /**< of this structure; set by the caller */
    unsigned retained; /**< times, through this instance and not yet released */
    unsigned flags;    /**< CU_CTX_* that it has or will have */
    bool active;       /**< it exists, whoever retains it */
    char reserved[7];  /**< 0 */
};

/**
 * Describe the primary context of a device, without creating it.
 *
 * @param device   as cushim_device_list or cuDeviceGet gives it
 * @param primary  its `size` is set; a newer library writes no further
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_primary_describe(const struct cushim_api *cu, CUdevice device,
                                               struct cushim_primary *primary);

/** How to create a context. All zero is the default; `size` is sizeof of the structure. */
struct cushim_context_options {
    size_t size;       /**< of this structure; set by the caller */
    unsigned flags;    /**< CU_CTX_* */
    unsigned sm_count; /**< 0, or execution affinity: at least so many multiprocessors. CUDA 11.4,
                          and a device that supports it (under MPS) */
    int cig_type;      /**< 0, or CIG_DATA_TYPE_*: share the GPU with a graphics queue. CUDA 12.5;
                          not together with sm_count */
    void *cig_data;    /**< the queue or blob; stays the caller's */
};

/**
 * Create a context, by the newest of cuCtxCreate_v4, _v3 and _v2 that the driver has. It floats:
 * the stack of this thread is the same before and after.
 *
 * @param device   as cushim_device_list or cuDeviceGet gives it
 * @param options  NULL for the defaults
 * @param context  the caller's, to be given to cushim_context_destroy
 * @return CUDA_SUCCESS; CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER or CUDA_ERROR_NOT_SUPPORTED for an
 *         option that the driver does not have; CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY for sm_count
 *         on a device without it; CUDA_ERROR_INVALID_DEVICE; CUDA_ERROR_INVALID_VALUE; the driver's
 *         code
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_context_create(const struct cushim_api *cu, CUdevice device,
                                             const struct cushim_context_options *options,
                                             CUcontext *context);

/**
 * Destroy a context and all that is in it, whatever its use count. If it is current here, the one
 * below it becomes current. On other threads' stacks it stays and cannot be used.
 *
 * @param context  from cushim_context_create or cuCtxCreate; NULL does nothing. A primary context
 *                 that this instance retains is refused (CUDA_ERROR_INVALID_CONTEXT)
 * @return CUDA_SUCCESS, also if the driver has shut down; the driver's code
 *
 * Threads: no other thread may use the context any more. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_context_destroy(const struct cushim_api *cu, CUcontext context);

/**
 * Wait for all work in a context: by cuCtxSynchronize_v2 if the driver has it (CUDA 13.0), else by
 * making the context current meanwhile.
 *
 * @param context  NULL: the current one
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_context_synchronize(const struct cushim_api *cu, CUcontext context);

/** What cushim_scope_leave restores. Filled by cushim_scope_enter; may lie on the stack. */
struct cushim_scope {
    const struct cushim_api *cu; /**< NULL: not entered, or left */
    CUcontext context;           /**< the one that was made current */
    CUcontext previous;          /**< the one that was current before; NULL: none was */
};

/**
 * Make a context current until cushim_scope_leave, as a library does in its caller's thread:
 *
 *     struct cushim_scope scope;
 *     CUresult code = cushim_scope_enter(cu, mine, &scope);
 *     if (code == CUDA_SUCCESS)
 *         code = work(cu);
 *     return cushim_scope_leave(&scope, code);
 *
 * Scopes nest. They are left on the thread that entered them, in reverse order.
 *
 * @param context  must outlive the scope, unless the work itself destroys it
 * @param scope    on failure marked as not entered, so that leaving it does nothing
 *
 * Threads: acts on the calling one. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_scope_enter(const struct cushim_api *cu, CUcontext context,
                                          struct cushim_scope *scope);

/**
 * Make the context current again that was current before cushim_scope_enter, whatever the work did:
 * left contexts on the stack, set another one, popped or destroyed the scope's own. If the work
 * also popped what was below, contexts further down may be lost; the current one is right all the
 * same.
 *
 * @param scope  NULL, not entered or left already: does nothing
 * @param code   what the work returned
 * @return `code` if it is an error, and its sentence stays the last error; else the result of
 *         restoring the context
 *
 * Threads: acts on the calling one. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_scope_leave(struct cushim_scope *scope, CUresult code);

#ifdef __cplusplus
}
#endif

#endif
