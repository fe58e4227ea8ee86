/* SPDX-License-Identifier: MIT */
/* Errors by name: the registry's, as in the library. */
#include "call/call.h"
#include "core/config.h"
#include "error_names.h"

/* A driver knows the codes of its own release. */
static bool too_new(CUresult error)
{
    for (const struct sim_new_error *row = sim_new_errors; row->code; row++)
        if (row->code == (int)error)
            return row->since > sim_config.cuda;
    return false;
}

static const struct cushim_error_data *find(CUresult error)
{
    if (too_new(error))
        return NULL;
    for (size_t i = 0; i < cushim_error_count; i++)
        if (cushim_errors[i].code == (int)error)
            return &cushim_errors[i];
    return NULL;
}

CUresult sim_cuGetErrorName(CUresult error, const char **pStr)
{
    const struct cushim_error_data *data = find(error);
    if (!pStr)
        return CUDA_ERROR_INVALID_VALUE;
    *pStr = data ? cushim_error_strings + data->name : NULL;
    return data ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuGetErrorString(CUresult error, const char **pStr)
{
    const struct cushim_error_data *data = find(error);
    if (!pStr)
        return CUDA_ERROR_INVALID_VALUE;
    *pStr = data ? cushim_error_strings + data->text : NULL;
    return data ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
