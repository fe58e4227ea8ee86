/* SPDX-License-Identifier: MIT */
/* Handles for other processes. They name what they stand for, but simulated memory cannot be seen
 * from outside its process; opened inside it, they are refused as real drivers refuse that. */
#include <string.h>
#include <unistd.h>

#include "core/current.h"
#include "core/object.h"
#include "memory/range.h"
#include "queue/event.h"

struct token { /* the bytes of a handle */
    char magic[8];
    int64_t process;
    uint64_t id, address;
};
static const char memory_magic[8] = "simmem", event_magic[8] = "simevent";

CUresult sim_cuIpcGetMemHandle(CUipcMemHandle_v1 *pHandle, CUdeviceptr_v2 dptr)
{
    struct sim_context *context;
    CUresult result = sim_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    const struct sim_allocation *found = sim_range_find(dptr);
    if (!pHandle || !found || found->ending || found->kind != SIM_MEMORY_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    struct token token = {.process = getpid(), .id = found->id, .address = found->address};
    memcpy(token.magic, memory_magic, sizeof token.magic);
    memset(pHandle, 0, sizeof *pHandle);
    memcpy(pHandle, &token, sizeof token);
    return CUDA_SUCCESS;
}

/* What opening a handle answers: never a success. `bad`: to bytes that are none. */
static CUresult open_handle(const void *handle, const char *magic, CUresult bad)
{
    struct sim_context *context;
    struct token token;
    CUresult result = sim_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    memcpy(&token, handle, sizeof token);
    if (memcmp(token.magic, magic, sizeof token.magic) != 0)
        return bad;
    return token.process == getpid() ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult sim_cuIpcOpenMemHandle_v2(CUdeviceptr_v2 *pdptr, CUipcMemHandle_v1 handle,
                                   unsigned int Flags)
{
    if (!pdptr || (Flags & ~(unsigned)CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS))
        return CUDA_ERROR_INVALID_VALUE;
    return open_handle(&handle, memory_magic, CUDA_ERROR_INVALID_VALUE);
}

CUresult sim_cuIpcOpenMemHandle(CUdeviceptr_v2 *pdptr, CUipcMemHandle_v1 handle, unsigned int Flags)
{
    return sim_cuIpcOpenMemHandle_v2(pdptr, handle, Flags);
}

/* No memory was ever opened. */
CUresult sim_cuIpcCloseMemHandle(CUdeviceptr_v2 dptr)
{
    struct sim_context *context;
    CUresult result = sim_current(&context);
    (void)dptr;
    return result == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : result;
}

CUresult sim_cuIpcGetEventHandle(CUipcEventHandle_v1 *pHandle, CUevent event)
{
    struct sim_context *context;
    CUresult result = sim_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    const struct sim_event *found = sim_object(SIM_EVENT, event);
    if (!pHandle || !event)
        return CUDA_ERROR_INVALID_VALUE;
    if (!found || !(found->flags & CU_EVENT_INTERPROCESS))
        return CUDA_ERROR_INVALID_HANDLE;
    struct token token = {.process = getpid(), .address = (uint64_t)(uintptr_t)found};
    memcpy(token.magic, event_magic, sizeof token.magic);
    memset(pHandle, 0, sizeof *pHandle);
    memcpy(pHandle, &token, sizeof token);
    return CUDA_SUCCESS;
}

CUresult sim_cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle_v1 handle)
{
    if (!phEvent)
        return CUDA_ERROR_INVALID_VALUE;
    return open_handle(&handle, event_magic, CUDA_ERROR_MAP_FAILED);
}
