/* SPDX-License-Identifier: MIT */
/* What the helpers over the table share; internal to the library. */
#ifndef CUSHIM_SRC_HELPER_H
#define CUSHIM_SRC_HELPER_H

#include <cushim/cushim.h>

#include "loader/last_error.h"

/*
 * A refusal by cushim itself. The last error becomes "HELPER: TEXT".
 *
 * @param helper  name of the public function, as the caller wrote it
 * @return code
 */
CUresult cushim_refuse(CUresult code, const char *helper, const char *format, ...)
    CUSHIM_PRINTF(3, 4);

/*
 * Pass on what a driver call returned. On failure the last error becomes
 * "HELPER: CALL: NAME, meaning", or for an entry that the driver lacks the reason why.
 */
CUresult cushim_checked(CUresult code, const char *helper, const char *call);

/* After a call that failed: the last error gets "; TEXT", the values that the call was given. */
CUresult cushim_with(CUresult code, const char *format, ...) CUSHIM_PRINTF(2, 3);

/* Call through the table, checked: CUSHIM_TRY(cu, __func__, cuMemFree_v2, address). */
#define CUSHIM_TRY(cu, helper, call, ...) cushim_checked(cu->call(__VA_ARGS__), helper, #call)

/* Destroying what is gone already is done: a driver that is shutting down says 4 to everything. */
static inline CUresult cushim_gone_is_done(CUresult code)
{
    return code == CUDA_ERROR_DEINITIALIZED ? CUDA_SUCCESS : code;
}


#endif
