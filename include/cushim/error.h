/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Checking calls: what failed, where, and what it means, printed or handed to the application.
 *
 *     if (!CUSHIM_CHECK(cu->cuMemAlloc(&memory, bytes)))
 *         return use_the_cpu();
 *
 * prints "file.c:12: cu->cuMemAlloc(&memory, bytes): CUDA_ERROR_OUT_OF_MEMORY (2), out of memory".
 * For the table's entries and for the helpers alike; needs no driver.
 */
#ifndef CUSHIM_ERROR_H
#define CUSHIM_ERROR_H

#include <cushim/cushim.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One failed call. Strings are valid during the call of the handler. */
struct cushim_failure {
    CUresult code;
    const char *name;       /* "CUDA_ERROR_OUT_OF_MEMORY"; "unknown error" for an unknown code */
    const char *text;       /* what the code means; empty for an unknown one */
    const char *detail;     /* cushim_last_error(), where the call left a sentence; else empty */
    const char *expression; /* the call, as its source has it */
    const char *file;
    int line;
    const char *message; /* all of that as one line, without newline */
};

/** Receive a failure, on the thread of the call. It may call what it likes, and need not return. */
typedef void cushim_error_fn(void *user, const struct cushim_failure *failure);

/**
 * Set what CUSHIM_CHECK and CUSHIM_RETURN_IF_FAILED do with a failure, in the whole process.
 *
 * @param handler  NULL for the default: the message as one line on stderr
 * @param user     passed to it; must stay valid for good, as a thread may be just about to call
 *                 the former handler. Each pair that was ever set keeps a few bytes.
 * @return CUDA_SUCCESS, or CUDA_ERROR_OUT_OF_MEMORY: then the former handler stays
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC CUresult cushim_set_error_handler(cushim_error_fn *handler, void *user);

/**
 * Evaluate a call once; where it fails, tell the handler.
 *
 * This thread's cushim_last_error() is forgotten before the call, so that the sentence in it
 * afterwards is the call's own. The handler may change it, nothing else does.
 *
 * @param call  an expression of type CUresult
 * @return true where it was CUDA_SUCCESS, else false
 *
 * Since: 0.1.
 */
#define CUSHIM_CHECK(call)                                                                         \
    (cushim_clear_last_error(), cushim_check((call), #call, __FILE__, __LINE__))

/**
 * The same as a statement that returns the code from the function around it where the call fails.
 * That function's type is CUresult.
 *
 * Since: 0.1.
 */
#define CUSHIM_RETURN_IF_FAILED(call)                                                              \
    do {                                                                                           \
        CUresult cushim_code_;                                                                     \
        cushim_clear_last_error();                                                                 \
        cushim_code_ = (call);                                                                     \
        if (!cushim_check(cushim_code_, #call, __FILE__, __LINE__))                                \
            return cushim_code_;                                                                   \
    } while (0)

/**
 * What the two macros call.
 *
 * @param code        what the call returned
 * @param expression  its source
 * @return code == CUDA_SUCCESS
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC bool cushim_check(CUresult code, const char *expression, const char *file, int line);

#ifdef __cplusplus
}
#endif

#endif
