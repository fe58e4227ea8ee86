/* SPDX-License-Identifier: MIT */
/* What all helpers share: refusals and failures as sentences; internal to the library. */
#ifndef CUSHIM_HELPERS_ERROR_H
#define CUSHIM_HELPERS_ERROR_H

#include <cushim/error.h>

#include "loader/last_error.h"

/*
 * A refusal by cushim itself. The last error becomes "HELPER: TEXT".
 *
 * @param helper  name of the public function, as the caller wrote it
 * @return code
 */
CUresult cushim_error_refuse(CUresult code, const char *helper, const char *format, ...)
    CUSHIM_PRINTF(3, 4);

/*
 * Pass on what a driver call returned. On failure the last error becomes
 * "HELPER: CALL: NAME, meaning", or the reason why the driver lacks the entry. A suffix _v1 of the
 * call is not shown: no driver exports it.
 */
CUresult cushim_error_check(CUresult code, const char *helper, const char *call);

/* Whether a fault rule of a simulated driver made the thread's last call fail: its causes are not
 * those of the code. */
bool cushim_error_is_ruled(void);

/* Length of a call's name without the suffix _v1. */
int cushim_error_call_length(const char *call);

/* After a call that failed: the last error gets "; TEXT", the values that the call was given. */
CUresult cushim_error_add(CUresult code, const char *format, ...) CUSHIM_PRINTF(2, 3);

/* Refuse an argument that is NULL: "HELPER: ARGUMENT is NULL; pass WANTED". */
CUresult cushim_error_absent(CUresult code, const char *helper, const char *argument,
                             const char *wanted);

/* The same of the table, or of the place for a result; CUDA_ERROR_INVALID_VALUE. */
CUresult cushim_error_null(const char *helper, const char *argument);

/* Refuse because the driver lacks an entry: its code, and the entry's own reason. */
CUresult cushim_error_lacks(const struct cushim_api *cu, const char *helper, const char *argument,
                            const char *symbol);

/* The thread's last error, kept while other calls may change it. */
struct cushim_error_saved {
    char text[CUSHIM_SENTENCE];
};
void cushim_error_save(struct cushim_error_saved *saved);
void cushim_error_restore(const struct cushim_error_saved *saved);

/*
 * Copy a structure that begins with its size, as its caller knows it; what the caller does not know
 * stays as it is in `to`.
 *
 * @param least  bytes that every caller has
 * @param size   of `to`
 */
CUresult cushim_error_read_sized(const char *helper, const char *argument, const void *given,
                                 size_t least, void *to, size_t size);

/* Before a structure of the caller's is filled. */
CUresult cushim_error_check_sized(const char *helper, const char *argument, const void *given,
                                  size_t least);

/* How a sentence shows a handle: Windows' library writes %p without the 0x. */
#ifdef _WIN32
#define CUSHIM_HANDLE "0x%p"
#else
#define CUSHIM_HANDLE "%p"
#endif

/* Return from a public function with a sentence if a pointer is NULL. */
#define CUSHIM_REQUIRE(pointer)                                                                    \
    do {                                                                                           \
        if (!(pointer))                                                                            \
            return cushim_error_null(__func__, #pointer);                                          \
    } while (0)

/* Call through the table, checked: CUSHIM_CALL(cu, __func__, cuMemFree_v2, address). */
#define CUSHIM_CALL(cu, helper, call, ...) cushim_error_check(cu->call(__VA_ARGS__), helper, #call)

/* A driver that is shutting down returns 4 for every call: what is to be destroyed is gone. */
static inline CUresult cushim_error_gone_is_done(CUresult code)
{
    return code == CUDA_ERROR_DEINITIALIZED ? CUDA_SUCCESS : code;
}

#endif
