/* SPDX-License-Identifier: MIT */
#include "loader/error_name.h"

#include "error_names.h"

static const struct cushim_error_data *error_name_find(CUresult code)
{
    size_t low = 0, high = cushim_error_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (cushim_errors[middle].code == (int)code)
            return &cushim_errors[middle];
        if (cushim_errors[middle].code < (int)code)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const char *cushim_error_name(CUresult code)
{
    const struct cushim_error_data *error = error_name_find(code);
    return error ? cushim_error_strings + error->name : NULL;
}

const char *cushim_error_string(CUresult code)
{
    const struct cushim_error_data *error = error_name_find(code);
    return error ? cushim_error_strings + error->text : NULL;
}

/* As the driver does: an unknown code gives NULL and INVALID_VALUE. */
static CUresult error_name_answer(const char *text, const char **pStr)
{
    if (!pStr)
        return CUDA_ERROR_INVALID_VALUE;
    *pStr = text;
    return text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cushim_error_name_entry(CUresult error, const char **pStr)
{
    return error_name_answer(cushim_error_name(error), pStr);
}

CUresult CUDAAPI cushim_error_name_string_entry(CUresult error, const char **pStr)
{
    return error_name_answer(cushim_error_string(error), pStr);
}
