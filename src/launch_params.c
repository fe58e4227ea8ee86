/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "launch_check.h"

#define MAX_ALIGNMENT 128

static CUresult params_refuse(struct cushim_params *params, CUresult code)
{
    params->code = code;
    return code;
}

CUresult cushim_params_add(struct cushim_params *params, const void *value, size_t size,
                           size_t alignment)
{
    if (!params)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "params: NULL");
    if (params->code != CUDA_SUCCESS)
        return cushim_refuse(params->code, __func__,
                             "params: parameter %zu could not be added before this one",
                             params->count + 1);
    if (!value || !size)
        return params_refuse(params, cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "%s",
                                                   value ? "size: 0" : "value: NULL"));
    if (!alignment || (alignment & (alignment - 1)) || alignment > MAX_ALIGNMENT)
        return params_refuse(params, cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                                                   "alignment: %zu is no power of 2 up to %d",
                                                   alignment, MAX_ALIGNMENT));
    size_t padding = (0 - params->size) & (alignment - 1);
    size_t room =
        params->buffer && params->size <= params->capacity ? params->capacity - params->size : 0;
    if (padding > room || size > room - padding)
        return params_refuse(params, cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                                                   "size: %zu bytes at offset %zu pass the end of "
                                                   "the buffer of %zu",
                                                   size, params->size + padding, params->capacity));
    for (size_t i = 0; i < padding; i++)
        params->buffer[params->size + i] = 0;
    memcpy(params->buffer + params->size + padding, value, size);
    params->layout = CUSHIM_PARAMS_LAYOUT_(params->layout, params->size + padding, size);
    params->size += padding + size;
    params->count++;
    return CUDA_SUCCESS;
}
