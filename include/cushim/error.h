/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Errors: check a call, and print what failed, where and why. CUSHIM_CHECK prints a failure or
 * hands it to the application; CUSHIM_KEEP keeps the first failure of several calls.
 *
 *     if (!CUSHIM_CHECK(cu->cuMemAlloc(&memory, bytes)))
 *         return use_the_cpu();
 *
 * prints "file.c:12: cu->cuMemAlloc(&memory, bytes): CUDA_ERROR_OUT_OF_MEMORY (2), out of memory".
 * Both work for the table's entries and for the helpers. They need no driver.
 */
#ifndef CUSHIM_ERROR_H
#define CUSHIM_ERROR_H

#include <cushim/cushim.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One failed call. The strings are valid during the call of the handler. */
struct cushim_failure {
    size_t size;            /**< of this structure, as the library knows it */
    CUresult code;          /**< what the call returned */
    const char *name;       /**< "CUDA_ERROR_OUT_OF_MEMORY"; "unknown error" for an unknown code */
    const char *text;       /**< what the code means; empty for an unknown one */
    const char *detail;     /**< cushim_last_error(), if the call left a sentence; else empty */
    const char *expression; /**< the call, as its source has it */
    const char *file;       /**< of the call */
    int line;               /**< of the call */
    const char *message;    /**< all of that as one line, without newline; `detail` stands in the
                               place of `text` if there is one; a long expression is cut */
};

/**
 * Receive a failure, on the thread of the call. It may call anything, cushim too, and need not
 * return.
 */
typedef void cushim_error_fn(void *user, const struct cushim_failure *failure);

/**
 * Set what CUSHIM_CHECK and CUSHIM_RETURN_IF_FAILED do with a failure, in the whole process.
 *
 * @param handler  NULL for the default: the message as one line on stderr
 * @param user     passed to it. It must stay valid until the process ends, because another thread
 *                 may be about to call the former handler. Each new pair uses a few bytes for good.
 * @return CUDA_SUCCESS, or CUDA_ERROR_OUT_OF_MEMORY: then the former handler stays
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_error_handler_set(cushim_error_fn *handler, void *user);

/**
 * Evaluate a call once. If it fails, tell the handler.
 *
 * This thread's cushim_last_error() is cleared before the call, so that the sentence in it
 * afterwards is the call's own.
 *
 * @param call  an expression of type CUresult
 * @return true if it was CUDA_SUCCESS
 *
 * Since: 0.1.
 */
#define CUSHIM_CHECK(call)                                                                         \
    (cushim_last_error_clear(), cushim_check((call), #call, __FILE__, __LINE__))

/**
 * The same as a statement that returns the code from the function around it if the call fails.
 * That function's type is CUresult.
 *
 * Since: 0.1.
 */
#define CUSHIM_RETURN_IF_FAILED(call)                                                              \
    do {                                                                                           \
        CUresult cushim_code_;                                                                     \
        cushim_last_error_clear();                                                                 \
        cushim_code_ = (call);                                                                     \
        if (!cushim_check(cushim_code_, #call, __FILE__, __LINE__))                                \
            return cushim_code_;                                                                   \
    } while (0)

/**
 * What the two macros call.
 *
 * @param code        what the call returned
 * @param expression  its source
 * @param file        where the call is, for the message; a static string
 * @param line        where the call is
 * @return code == CUDA_SUCCESS
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC bool cushim_check(CUresult code, const char *expression, const char *file, int line);

/** The first failure of several calls. All zero is none yet. Its size never changes. */
struct cushim_outcome {
    CUresult code;      /**< of the first call that failed; CUDA_SUCCESS if none did */
    char message[1020]; /**< a sentence; empty while `code` is CUDA_SUCCESS */
};

/**
 * Evaluate a call once. If it fails and no call before it failed, keep its code and its sentence.
 * Nothing is printed, and no handler is called. Cleaning up through the same outcome does not hide
 * what went wrong first:
 *
 *     struct cushim_outcome outcome = {CUDA_SUCCESS, ""};
 *     if (CUSHIM_KEEP(&outcome, cushim_memory_alloc(cu, bytes, &memory)))
 *         CUSHIM_KEEP(&outcome, cushim_copy_to_device(cu, memory, numbers, bytes));
 *     CUSHIM_KEEP(&outcome, cushim_memory_free(cu, memory));
 *     if (outcome.code != CUDA_SUCCESS)
 *         printf("on the CPU, because %s\n", outcome.message);
 *
 * @param outcome  pointer to a struct cushim_outcome
 * @param call     an expression of type CUresult
 * @return true if it was CUDA_SUCCESS
 *
 * Since: 0.1.
 */
#define CUSHIM_KEEP(outcome, call)                                                                 \
    (cushim_last_error_clear(), cushim_outcome_keep((outcome), (call), #call))

/**
 * What the macro calls.
 *
 * @param outcome     NULL keeps nothing
 * @param code        what the call returned
 * @param expression  the call's source, for calls that leave no sentence
 * @return code == CUDA_SUCCESS
 *
 * Threads: one at a time for each outcome. Since: 0.1.
 */
CUSHIM_PUBLIC bool cushim_outcome_keep(struct cushim_outcome *outcome, CUresult code,
                                       const char *expression);

/**
 * Give a failed call of the table the sentence that a helper would leave:
 * "OBJECT: CALL: CUDA_ERROR_INVALID_HANDLE (400), invalid resource handle", or why the driver lacks
 * the entry. cushim_last_error() then has it.
 *
 * @param code    what the call returned; CUDA_SUCCESS leaves the last error as it is
 * @param object  what the call was about, in the caller's words; not NULL
 * @param call    the entry, "cuStreamSynchronize"; not NULL
 * @return code
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_error_explain(CUresult code, const char *object, const char *call);

#ifdef __cplusplus
}
#endif

#endif
