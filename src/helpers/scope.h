/* SPDX-License-Identifier: MIT */
/* How helpers work in a context and put back the one that was current; internal to the library.
 *
 *     struct cushim_scope scope;
 *     CUresult code = cushim_scope_begin(cu, context, __func__, &scope);
 *     if (code != CUDA_SUCCESS)
 *         return code;
 *     code = CUSHIM_CALL(cu, __func__, cuMemFree_v2, address);
 *     return cushim_scope_end(&scope, __func__, code);
 */
#ifndef CUSHIM_HELPERS_SCOPE_H
#define CUSHIM_HELPERS_SCOPE_H

#include <cushim/context.h>

/*
 * Refuse what is no context with CUDA_ERROR_INVALID_CONTEXT or _CONTEXT_IS_DESTROYED. Drivers push
 * and set one that was destroyed, and fail only afterwards, or crash (measured: 580).
 */
CUresult cushim_scope_require(const struct cushim_api *cu, CUcontext context, const char *helper,
                              const char *argument);

/*
 * Make a context current. NULL is refused with CUDA_ERROR_INVALID_CONTEXT.
 *
 * @param helper  name of the public function, for the last error
 * @param scope   written on success alone, and on failure marked as not entered
 */
CUresult cushim_scope_begin(const struct cushim_api *cu, CUcontext context, const char *helper,
                            struct cushim_scope *scope);

/*
 * Make current again what was before begin. Does nothing for a scope that was not entered.
 *
 * @param code  what the work came to
 * @return code if it is an error, and its sentence stays the last error; else what putting the
 *         context back came to
 */
CUresult cushim_scope_end(struct cushim_scope *scope, const char *helper, CUresult code);

/*
 * The context that is current on this thread; CUDA_ERROR_INVALID_CONTEXT and a sentence if none
 * is. Written on success alone.
 */
CUresult cushim_scope_current(const struct cushim_api *cu, const char *helper, CUcontext *context);

/*
 * As cushim_error_check, for a call that was given a context: if the driver does not accept it
 * the sentence has its value. Another one says what to do about CUDA_ERROR_NOT_INITIALIZED.
 */
CUresult cushim_scope_check(CUresult code, const char *helper, const char *call, CUcontext context);

#endif
