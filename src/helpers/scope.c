/* SPDX-License-Identifier: MIT */
#include "scope.h"

#include "error.h"

/* More than any program's stack of contexts: ends the search in a driver that is not sane. */
#define MAX_DEPTH 1024

CUresult cushim_scope_check(CUresult code, const char *helper, const char *call, CUcontext context)
{
    const char *name = cushim_error_name(code), *text = cushim_error_string(code);
    const int length = cushim_error_call_length(call);
    switch ((int)code) {
    case CUDA_ERROR_NOT_INITIALIZED:
        if (cushim_last_error_is_call(call))
            break;
        return cushim_error_refuse(
            code, helper,
            "%.*s: %s (%d), %s: call cushim_init first; and CUDA does not survive "
            "a fork, so a child of a process that used it starts anew (exec)",
            length, call, name, (int)code, text);
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_INVALID_HANDLE:
        return cushim_error_refuse(code, helper, "context: " CUSHIM_HANDLE ": %.*s: %s (%d), %s",
                                   (void *)context, length, call, name, (int)code, text);
    default:
        break;
    }
    return cushim_error_check(code, helper, call);
}

CUresult cushim_scope_require(const struct cushim_api *cu, CUcontext context, const char *helper,
                              const char *argument)
{
    unsigned version = 0;
    if (!context)
        return cushim_error_absent(CUDA_ERROR_INVALID_CONTEXT, helper, argument, "a context");
    CUresult code = cu->cuCtxGetApiVersion(context, &version);
    if (code == CUDA_ERROR_INVALID_CONTEXT || code == CUDA_ERROR_CONTEXT_IS_DESTROYED)
        return cushim_error_refuse(code, helper,
                                   "%s: " CUSHIM_HANDLE
                                   " is no context, or was destroyed or released for the last time "
                                   "(cuCtxGetApiVersion: %s)",
                                   argument, (void *)context, cushim_error_name(code));
    return CUDA_SUCCESS;
}

CUresult cushim_scope_begin(const struct cushim_api *cu, CUcontext context, const char *helper,
                            struct cushim_scope *scope)
{
    CUcontext previous = NULL;
    scope->cu = NULL;
    CUresult code = cushim_scope_require(cu, context, helper, "context");
    if (code == CUDA_SUCCESS)
        code =
            cushim_scope_check(cu->cuCtxGetCurrent(&previous), helper, "cuCtxGetCurrent", context);
    if (code == CUDA_SUCCESS)
        code = cushim_scope_check(cu->cuCtxPushCurrent_v2(context), helper, "cuCtxPushCurrent_v2",
                                  context);
    if (code == CUDA_SUCCESS)
        *scope = (struct cushim_scope){cu, context, previous};
    return code;
}

/* A driver that refuses once is asked again: a stack that is left too deep does more harm. */
static bool scope_current(const struct cushim_api *cu, CUcontext *now)
{
    return cu->cuCtxGetCurrent(now) == CUDA_SUCCESS || cu->cuCtxGetCurrent(now) == CUDA_SUCCESS;
}

static bool scope_pop(const struct cushim_api *cu, CUcontext *popped)
{
    return cu->cuCtxPopCurrent_v2(popped) == CUDA_SUCCESS ||
           cu->cuCtxPopCurrent_v2(popped) == CUDA_SUCCESS;
}

static bool scope_push(const struct cushim_api *cu, CUcontext context)
{
    return cu->cuCtxPushCurrent_v2(context) == CUDA_SUCCESS ||
           cu->cuCtxPushCurrent_v2(context) == CUDA_SUCCESS;
}

/*
 * The work may have left contexts above ours, ours and the previous one among them, or have popped,
 * destroyed or replaced ours. So pop down to ours; if it is gone, put back the previous one and
 * what was below it.
 */
static CUresult scope_put_back(const struct cushim_scope *scope, const char *helper)
{
    const struct cushim_api *cu = scope->cu;
    CUcontext now = scope->context, popped = NULL, above[MAX_DEPTH];
    size_t count = 0;
    while (count < MAX_DEPTH && scope_current(cu, &now) && now && scope_pop(cu, &popped)) {
        if (popped == scope->context && scope_current(cu, &now) && now == scope->previous)
            return CUDA_SUCCESS;
        above[count++] = popped;
    }
    if (!scope->previous && !now)
        return CUDA_SUCCESS;
    size_t top = 0;
    while (top < count && above[top] != scope->previous)
        top++;
    while (count > top)
        (void)scope_push(cu, above[--count]); /* fails for one that was destroyed */
    if (scope_current(cu, &now) && now == scope->previous)
        return CUDA_SUCCESS;
    return cushim_error_check(cu->cuCtxSetCurrent(scope->previous), helper, "cuCtxSetCurrent");
}

CUresult cushim_scope_end(struct cushim_scope *scope, const char *helper, CUresult code)
{
    if (!scope->cu)
        return code;
    struct cushim_error_saved sentence;
    if (code != CUDA_SUCCESS)
        cushim_error_save(&sentence);
    CUresult restored = cushim_error_gone_is_done(scope_put_back(scope, helper));
    scope->cu = NULL;
    if (code == CUDA_SUCCESS)
        return restored;
    cushim_error_restore(&sentence);
    return code;
}

CUresult cushim_scope_current(const struct cushim_api *cu, const char *helper, CUcontext *context)
{
    CUcontext current = NULL;
    CUresult code = cu->cuCtxGetCurrent(&current);
    code = cushim_scope_check(code, helper, "cuCtxGetCurrent", NULL);
    if (code != CUDA_SUCCESS)
        return code;
    if (!current)
        return cushim_error_refuse(CUDA_ERROR_INVALID_CONTEXT, helper,
                                   "no context is current on this thread");
    *context = current;
    return CUDA_SUCCESS;
}

/* ---- public ---- */

CUresult cushim_scope_enter(const struct cushim_api *cu, CUcontext context,
                            struct cushim_scope *scope)
{
    CUSHIM_REQUIRE(scope);
    scope->cu = NULL;
    CUSHIM_REQUIRE(cu);
    return cushim_scope_begin(cu, context, __func__, scope);
}

CUresult cushim_scope_leave(struct cushim_scope *scope, CUresult code)
{
    return scope ? cushim_scope_end(scope, __func__, code) : code;
}
