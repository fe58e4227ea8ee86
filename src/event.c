/* SPDX-License-Identifier: MIT */
#include <cushim/stream.h>

#include "helper.h"

static CUresult event_required(CUevent event, const char *helper, const char *argument)
{
    if (event)
        return CUDA_SUCCESS;
    return cushim_refuse(CUDA_ERROR_INVALID_HANDLE, helper, "%s: NULL", argument);
}

CUresult cushim_event_create(const struct cushim_api *cu, unsigned int flags, CUevent *event)
{
    const unsigned int known =
        CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    CUevent made = NULL;
    if (!event)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "event: NULL");
    if (flags & ~known)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                             "flags: %#x has bits that are no CU_EVENT_*", flags);
    if ((flags & CU_EVENT_INTERPROCESS) && !(flags & CU_EVENT_DISABLE_TIMING))
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                             "flags: %#x has CU_EVENT_INTERPROCESS without "
                             "CU_EVENT_DISABLE_TIMING, which it needs",
                             flags);
    CUresult code = CUSHIM_TRY(cu, __func__, cuEventCreate, &made, flags);
    if (code == CUDA_SUCCESS)
        *event = made;
    return code;
}

CUresult cushim_event_destroy(const struct cushim_api *cu, CUevent event)
{
    if (!event)
        return CUDA_SUCCESS;
    CUresult code = cushim_gone_is_done(cu->cuEventDestroy_v2(event));
    return cushim_checked(code, __func__, "cuEventDestroy_v2");
}

CUresult cushim_event_record(const struct cushim_api *cu, CUevent event, CUstream stream)
{
    CUresult code = event_required(event, __func__, "event");
    return code == CUDA_SUCCESS ? CUSHIM_TRY(cu, __func__, cuEventRecord, event, stream) : code;
}

CUresult cushim_event_synchronize(const struct cushim_api *cu, CUevent event)
{
    CUresult code = event_required(event, __func__, "event");
    return code == CUDA_SUCCESS ? CUSHIM_TRY(cu, __func__, cuEventSynchronize, event) : code;
}

CUresult cushim_event_query(const struct cushim_api *cu, CUevent event, bool *done)
{
    CUresult code = event_required(event, __func__, "event");
    if (code != CUDA_SUCCESS)
        return code;
    if (!done)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "done: NULL");
    code = cu->cuEventQuery(event);
    if (code != CUDA_SUCCESS && code != CUDA_ERROR_NOT_READY)
        return cushim_checked(code, __func__, "cuEventQuery");
    *done = code == CUDA_SUCCESS;
    return CUDA_SUCCESS;
}

CUresult cushim_event_elapsed(const struct cushim_api *cu, CUevent start, CUevent end,
                              float *milliseconds)
{
    float time = 0;
    CUresult code = event_required(start, __func__, "start");
    if (code == CUDA_SUCCESS)
        code = event_required(end, __func__, "end");
    if (code != CUDA_SUCCESS)
        return code;
    if (!milliseconds)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "milliseconds: NULL");
    if (CUSHIM_HAS(cu, cuEventElapsedTime_v2))
        code = CUSHIM_TRY(cu, __func__, cuEventElapsedTime_v2, &time, start, end);
    else
        code = cushim_checked(cu->cuEventElapsedTime_v1(&time, start, end), __func__,
                              "cuEventElapsedTime");
    if (code == CUDA_ERROR_NOT_READY)
        return cushim_refuse(code, __func__,
                             "start, end: the work before one is not done yet "
                             "(CUDA_ERROR_NOT_READY)");
    if (code == CUDA_ERROR_INVALID_HANDLE)
        return cushim_refuse(code, __func__,
                             "start, end: one was never recorded, was created with "
                             "CU_EVENT_DISABLE_TIMING or is of another context "
                             "(CUDA_ERROR_INVALID_HANDLE)");
    if (code == CUDA_SUCCESS)
        *milliseconds = time;
    return code;
}
