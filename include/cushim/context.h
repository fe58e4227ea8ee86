/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Contexts: the primary one of a device, contexts of one's own, which is current, and a scope that
 * puts back what was.
 *
 * Every thread has a stack of contexts; its top is the current one, and no thread begins with one.
 * A context may be on the stacks of several threads at once, or on none: it then floats, and any
 * thread can push it. To hand one over, pop it here and push it there. Only push, pop, set, and
 * entering a scope change what is current here; all else leaves it as it was, on errors too.
 *
 * Use counts. There are two:
 * - The primary context of a device is one for the whole process, shared with the CUDA runtime and
 *   all libraries. Who needs it retains it, and releases it as often; the last release ends it.
 * - Other contexts belong to who created them, and cushim_context_destroy ends them whoever still
 *   uses them. Programs from before CUDA 4 counted users with cuCtxAttach and cuCtxDetach instead:
 *   creation counts as 1, attach adds 1, detach takes 1 off, and at 0 the context ends.
 *   cushim_context_attach and cushim_context_detach are these two for a context that need not be
 *   current; a program that detaches as its last step does not destroy too.
 *
 * An error that a kernel left behind (an illegal address, say) stays with its context: all calls in
 * it fail from then on, and destroying it is the way out.
 *
 * Codes: NULL for a context is CUDA_ERROR_INVALID_CONTEXT, for another argument
 * CUDA_ERROR_INVALID_VALUE; a context that was destroyed, or released for the last time, is
 * CUDA_ERROR_INVALID_CONTEXT or CUDA_ERROR_CONTEXT_IS_DESTROYED, as the driver says, and never
 * becomes current; in the child of a process that used CUDA it is CUDA_ERROR_NOT_INITIALIZED.
 * cushim_last_error() has the sentence, with helper, argument and value.
 */
#ifndef CUSHIM_CONTEXT_H
#define CUSHIM_CONTEXT_H

#include <cushim/cushim.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Retain the primary context of a device, and create it where nobody has. It does not become
 * current.
 *
 * @param context  the caller's until cushim_primary_release
 * @return CUDA_SUCCESS, CUDA_ERROR_INVALID_DEVICE, or what cuInit or the driver says
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_primary_retain(const struct cushim_api *cu, CUdevice device,
                                             CUcontext *context);

/**
 * Release the primary context of a device. The last release in the process ends it; one that is
 * current then is no longer usable, and stays on the stacks where it is.
 *
 * More releases than retains through cushim are refused with CUDA_ERROR_INVALID_CONTEXT, because
 * they would take the context from others: the CUDA runtime, say. Instances that share one driver
 * share the count.
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_primary_release(const struct cushim_api *cu, CUdevice device);

/** How the primary context of a device is. */
struct cushim_primary_state {
    unsigned retained; /* times, through cushim and not yet released */
    unsigned flags;    /* CU_CTX_* that it has or will have */
    bool active;       /* it exists, whoever retains it */
};

/** How the primary context of a device is, without creating it. Threads: safe. Since: 0.1. */
CUSHIM_PUBLIC CUresult cushim_primary_query(const struct cushim_api *cu, CUdevice device,
                                            struct cushim_primary_state *state);

/**
 * Set how the primary context schedules, and so on. From CUDA 11.0 at any time; with an older
 * driver only while it does not exist (CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE).
 *
 * @param flags  CU_CTX_*
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_primary_set_flags(const struct cushim_api *cu, CUdevice device,
                                                unsigned flags);

/** How to create a context. All zero is the default; `size` is sizeof of the structure. */
struct cushim_context_options {
    size_t size;
    unsigned flags;    /* CU_CTX_* */
    unsigned sm_count; /* 0, or execution affinity: at least so many multiprocessors. CUDA 11.4, and
                          a device that can (under MPS) */
    int cig_type;      /* 0, or CIG_DATA_TYPE_*: share the GPU with a graphics queue. CUDA 12.5;
                          not together with sm_count */
    void *cig_data;    /* the queue or blob; stays the caller's */
};

/**
 * Create a context, by the newest of cuCtxCreate_v4, _v3 and _v2 that the driver has. It floats.
 *
 * @param options  NULL for the defaults
 * @param context  the caller's, who destroys it
 * @return CUDA_SUCCESS; CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER or CUDA_ERROR_NOT_SUPPORTED for an
 *         option that the driver cannot know; CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY for sm_count on
 *         a device that cannot; CUDA_ERROR_INVALID_DEVICE; CUDA_ERROR_INVALID_VALUE; the driver's
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_context_create(const struct cushim_api *cu, CUdevice device,
                                             const struct cushim_context_options *options,
                                             CUcontext *context);

/**
 * Destroy a context and all that is in it, whatever its use count. Where it is current here the
 * one below it is current then; on other threads' stacks it stays and cannot be used.
 *
 * @param context  from cushim_context_create or cuCtxCreate; NULL does nothing. A primary context
 *                 that was retained through cushim is refused (CUDA_ERROR_INVALID_CONTEXT)
 * @return CUDA_SUCCESS, also where the driver has shut down; the driver's code
 *
 * Threads: nobody may use the context any more. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_context_destroy(const struct cushim_api *cu, CUcontext context);

/** Count one more user of a context (see above). Threads: safe. Since: 0.1. */
CUSHIM_PUBLIC CUresult cushim_context_attach(const struct cushim_api *cu, CUcontext context);

/**
 * Count one user less, and destroy the context with the last. NULL does nothing.
 *
 * Threads: as cushim_context_destroy, for the last user. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_context_detach(const struct cushim_api *cu, CUcontext context);

/**
 * Make a context current, on top of what is.
 *
 * Threads: acts on the calling one. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_context_push(const struct cushim_api *cu, CUcontext context);

/**
 * Take the current context off this thread's stack.
 *
 * @param context  may be NULL; the one that was current
 * @return CUDA_SUCCESS; CUDA_ERROR_INVALID_CONTEXT where the stack is empty
 *
 * Threads: acts on the calling one. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_context_pop(const struct cushim_api *cu, CUcontext *context);

/**
 * Put a context in the place of the current one, or on an empty stack.
 *
 * @param context  NULL: as cushim_context_pop, and an empty stack is fine
 *
 * Threads: acts on the calling one. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_context_set(const struct cushim_api *cu, CUcontext context);

/**
 * The current context of this thread.
 *
 * @param context  NULL where none is, which is a success
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_context_current(const struct cushim_api *cu, CUcontext *context);

/**
 * Wait for all work in a context. From CUDA 13.0 by its own entry, before by making it current
 * meanwhile.
 *
 * @param context  NULL: the current one
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_context_synchronize(const struct cushim_api *cu, CUcontext context);

/** What a context is. A fact that the driver does not know is 0. */
struct cushim_context_properties {
    size_t size; /* of this structure; set by the caller */
    CUdevice device;
    unsigned flags;        /* CU_CTX_*; CUDA 7.0 */
    unsigned api_version;  /* of the ABI that created it: 3020 */
    unsigned long long id; /* of no other context in the life of the process; CUDA 12.0 */
};

/**
 * What a context is.
 *
 * @param context     NULL: the current one
 * @param properties  its `size` is set; a newer library writes no further
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_context_describe(const struct cushim_api *cu, CUcontext context,
                                               struct cushim_context_properties *properties);

/**
 * Set a limit of a context, such as CU_LIMIT_STACK_SIZE, in that limit's unit.
 *
 * @param context  NULL: the current one
 * @param value    wanted; the driver may take another near it
 * @param actual   may be NULL; what it took
 * @return CUDA_SUCCESS; CUDA_ERROR_UNSUPPORTED_LIMIT; CUDA_ERROR_INVALID_VALUE; the driver's code.
 *         Where the limit was set but `actual` cannot be had the code says so, and it stays set
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_context_set_limit(const struct cushim_api *cu, CUcontext context,
                                                CUlimit limit, size_t value, size_t *actual);

/** What cushim_scope_leave puts back. Filled by cushim_scope_enter; may lie on the stack. */
struct cushim_scope {
    const struct cushim_api *cu; /* NULL: not entered, or left */
    CUcontext context;           /* the one that was made current */
    CUcontext previous;          /* the one that was current before; NULL: none was */
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
 * Scopes nest, and are left on the thread that entered them, in reverse order.
 *
 * @param context  must outlive the scope, unless the work itself destroys it
 * @param scope    on failure marked as not entered, so that leaving it does nothing
 *
 * Threads: acts on the calling one. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_scope_enter(const struct cushim_api *cu, CUcontext context,
                                          struct cushim_scope *scope);

/**
 * Make current again what was before cushim_scope_enter, whatever the work did: left contexts on
 * the stack, set another one, popped or destroyed the scope's own. Only if it popped also what was
 * below may contexts further down be lost; the right one is current all the same.
 *
 * @param scope  NULL, not entered or left already: does nothing
 * @param code   what the work came to
 * @return code where it is an error, and its sentence stays the last error; else what putting the
 *         context back came to
 *
 * Threads: acts on the calling one. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_scope_leave(struct cushim_scope *scope, CUresult code);

#ifdef __cplusplus
}
#endif

#endif
