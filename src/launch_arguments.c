/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "launch_check.h"

/* More parameters than any kernel has: ends the search in a driver that is not sane. */
#define MAX_PARAMETERS 32768

/* Where and how large one parameter is; CUDA_ERROR_INVALID_VALUE behind the last one. */
static CUresult launch_parameter(const struct cushim_launching *what, size_t index, size_t *offset,
                                 size_t *size)
{
    return what->cu->cuFuncGetParamInfo(what->asked, index, offset, size);
}

/* Number of parameters and hash of their layout. False where the driver cannot say. */
static bool launch_parameters(const struct cushim_launching *what, size_t *count, uint64_t *layout)
{
    size_t offset = 0, size = 0;
    CUresult code = CUDA_SUCCESS;
    size_t most = MAX_PARAMETERS;
    /* Where the number is known, nothing is asked behind the last: an error costs a microsecond. */
    bool counted = CUSHIM_HAS(what->cu, cuFuncGetParamCount) &&
                   what->cu->cuFuncGetParamCount(what->asked, &most) == CUDA_SUCCESS;
    *layout = 0;
    for (*count = 0; *count < most; ++*count) {
        code = launch_parameter(what, *count, &offset, &size);
        if (code != CUDA_SUCCESS)
            break;
        *layout = CUSHIM_PARAMS_LAYOUT_(*layout, offset, size);
    }
    return code == CUDA_ERROR_INVALID_VALUE || (counted && code == CUDA_SUCCESS);
}

/* "4, 8 and 16 bytes" of all parameters; cut with dots where they are many. */
static void launch_list_parameters(const struct cushim_launching *what, size_t count, char *text,
                                   size_t size, bool offsets)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        size_t offset = 0, bytes = 0;
        if (used + 64 > size) {
            snprintf(text + used, size - used, ", ...");
            return;
        }
        launch_parameter(what, i, &offset, &bytes);
        int length = offsets ? snprintf(text + used, size - used, "%s%zu at %zu", i ? ", " : "",
                                        bytes, offset)
                             : snprintf(text + used, size - used, "%s%zu", i ? ", " : "", bytes);
        used += length > 0 ? (size_t)length : 0;
    }
}

static CUresult launch_refuse_count(const struct cushim_launching *what, size_t count, size_t takes)
{
    char name[128], list[256];
    launch_list_parameters(what, takes, list, sizeof list, false);
    return cushim_refuse(CUDA_ERROR_INVALID_VALUE, what->helper,
                         "%s: %zu given; %s takes %zu%s%s%s", what->packed ? "params" : "arguments",
                         count, cushim_launch_name(what, name, sizeof name), takes,
                         takes ? ", of " : "", list, takes ? " bytes" : "");
}

static CUresult launch_check_packed(const struct cushim_launching *what, size_t count,
                                    uint64_t layout)
{
    const struct cushim_params *params = what->packed;
    if (params->count != count)
        return launch_refuse_count(what, params->count, count);
    if (!count || params->layout == layout)
        return CUDA_SUCCESS;
    char name[128], list[512];
    launch_list_parameters(what, count, list, sizeof list, true);
    return cushim_refuse(CUDA_ERROR_INVALID_VALUE, what->helper,
                         "params: %zu in %zu bytes do not lie as those of %s do (bytes at offset): "
                         "%s",
                         count, params->size, cushim_launch_name(what, name, sizeof name), list);
}

CUresult cushim_launch_check_arguments(const struct cushim_launching *what)
{
    size_t count = 0;
    uint64_t layout = 0;
    if (!CUSHIM_HAS(what->cu, cuFuncGetParamInfo) || !launch_parameters(what, &count, &layout))
        return CUDA_SUCCESS;
    if (what->packed)
        return launch_check_packed(what, count, layout);
    if (what->count != count)
        return launch_refuse_count(what, what->count, count);
    for (size_t i = 0; what->sizes && i < count; i++) {
        size_t offset = 0, size = what->sizes[i];
        launch_parameter(what, i, &offset, &size);
        if (size == what->sizes[i])
            continue;
        char name[128];
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, what->helper,
                             "arguments: number %zu has %zu bytes; the parameter of %s has %zu",
                             i + 1, what->sizes[i], cushim_launch_name(what, name, sizeof name),
                             size);
    }
    return CUDA_SUCCESS;
}
