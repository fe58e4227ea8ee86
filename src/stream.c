/* SPDX-License-Identifier: MIT */
#include <cushim/stream.h>

#include <stdlib.h>

#include "helper.h"

/* ---- create and destroy */

CUresult cushim_stream_priorities(const struct cushim_api *cu, int *least, int *greatest)
{
    int its_least = 0, its_greatest = 0;
    CUresult code =
        CUSHIM_TRY(cu, __func__, cuCtxGetStreamPriorityRange, &its_least, &its_greatest);
    if (code != CUDA_SUCCESS)
        return code;
    if (least)
        *least = its_least;
    if (greatest)
        *greatest = its_greatest;
    return CUDA_SUCCESS;
}

/* Turn the two constants into numbers, and refuse what is outside the device's range. */
static CUresult stream_fit_priority(const struct cushim_api *cu, const char *helper, int *priority)
{
    int least = 0, greatest = 0;
    CUresult code = CUSHIM_TRY(cu, helper, cuCtxGetStreamPriorityRange, &least, &greatest);
    if (code != CUDA_SUCCESS)
        return code;
    if (*priority == CUSHIM_PRIORITY_LEAST)
        *priority = least;
    else if (*priority == CUSHIM_PRIORITY_GREATEST)
        *priority = greatest;
    else if (*priority > least || *priority < greatest)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                             "priority: %d is outside the device's range, %d (least) to %d",
                             *priority, least, greatest);
    return CUDA_SUCCESS;
}

CUresult cushim_stream_create(const struct cushim_api *cu, unsigned int flags, int priority,
                              CUstream *stream)
{
    CUstream made = NULL;
    CUresult code = CUDA_SUCCESS;
    if (!stream)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "stream: NULL");
    if (flags & ~(unsigned int)CU_STREAM_NON_BLOCKING)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                             "flags: %#x is neither CU_STREAM_DEFAULT nor CU_STREAM_NON_BLOCKING",
                             flags);
    if (priority != 0)
        code = stream_fit_priority(cu, __func__, &priority);
    if (code != CUDA_SUCCESS)
        return code;
    code = priority ? CUSHIM_TRY(cu, __func__, cuStreamCreateWithPriority, &made, flags, priority)
                    : CUSHIM_TRY(cu, __func__, cuStreamCreate, &made, flags);
    if (code == CUDA_SUCCESS)
        *stream = made;
    return code;
}

CUresult cushim_stream_destroy(const struct cushim_api *cu, CUstream stream)
{
    if (!stream)
        return CUDA_SUCCESS;
    if (stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD)
        return cushim_refuse(CUDA_ERROR_INVALID_HANDLE, __func__,
                             "stream: %s is the driver's own and cannot be destroyed",
                             stream == CU_STREAM_LEGACY ? "CU_STREAM_LEGACY"
                                                        : "CU_STREAM_PER_THREAD");
    CUresult code = cushim_gone_is_done(cu->cuStreamDestroy_v2(stream));
    return cushim_checked(code, __func__, "cuStreamDestroy_v2");
}

/* ---- wait and ask */

CUresult cushim_stream_synchronize(const struct cushim_api *cu, CUstream stream)
{
    return CUSHIM_TRY(cu, __func__, cuStreamSynchronize, stream);
}

CUresult cushim_stream_query(const struct cushim_api *cu, CUstream stream, bool *done)
{
    if (!done)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "done: NULL");
    CUresult code = cu->cuStreamQuery(stream);
    if (code != CUDA_SUCCESS && code != CUDA_ERROR_NOT_READY)
        return cushim_checked(code, __func__, "cuStreamQuery");
    *done = code == CUDA_SUCCESS;
    return CUDA_SUCCESS;
}

CUresult cushim_stream_wait(const struct cushim_api *cu, CUstream stream, CUevent event)
{
    if (!event)
        return cushim_refuse(CUDA_ERROR_INVALID_HANDLE, __func__, "event: NULL");
    return CUSHIM_TRY(cu, __func__, cuStreamWaitEvent, stream, event, 0);
}

/* ---- host callbacks */

/* What drivers before 10.0 need to call a CUhostFn. */
struct stream_callback {
    CUhostFn function;
    void *user;
};

static void CUDA_CB stream_call_back(CUstream stream, CUresult status, void *user)
{
    struct stream_callback callback = *(struct stream_callback *)user;
    (void)stream;
    free(user);
    /* cuLaunchHostFunc does not call either where the context has failed. */
    if (status == CUDA_SUCCESS)
        callback.function(callback.user);
}

static CUresult stream_add_callback(const struct cushim_api *cu, const char *helper,
                                    CUstream stream, struct stream_callback callback)
{
    struct stream_callback *kept = malloc(sizeof *kept);
    if (!kept)
        return cushim_refuse(CUDA_ERROR_OUT_OF_MEMORY, helper, "no memory for the callback");
    *kept = callback;
    CUresult code = CUSHIM_TRY(cu, helper, cuStreamAddCallback, stream, stream_call_back, kept, 0);
    if (code != CUDA_SUCCESS)
        free(kept);
    return code;
}

CUresult cushim_stream_callback(const struct cushim_api *cu, CUstream stream, CUhostFn function,
                                void *user)
{
    if (!function)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "function: NULL");
    if (!CUSHIM_HAS(cu, cuLaunchHostFunc) && CUSHIM_HAS(cu, cuStreamAddCallback))
        return stream_add_callback(cu, __func__, stream, (struct stream_callback){function, user});
    return cushim_checked(cu->cuLaunchHostFunc_v1(stream, function, user), __func__,
                          "cuLaunchHostFunc");
}
