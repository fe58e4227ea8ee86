/* SPDX-License-Identifier: MIT */
/* Functions: what they say of themselves, and what can be set. */
#include "module/module.h"

/* Dynamic shared memory that a kernel may have without asking for more. */
#define ORDINARY_SHARED 49152

const struct ptx_function_info *sim_function_info(const struct sim_function *function)
{
    return ptx_module_function(function->module->ptx, function->index);
}

int sim_function_max_threads(const struct ptx_function_info *info, const struct sim_device *device)
{
    int most = sim_device_value(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    if (info->required[0]) /* checked when launched, and not told */
        return most;
    return info->max_threads && (int)info->max_threads < most ? (int)info->max_threads : most;
}

int sim_function_max_dynamic(const struct ptx_function_info *info,
                             const struct sim_function *function, const struct sim_device *device)
{
    const int optin = CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
    if (function && function->dynamic_shared >= 0)
        return function->dynamic_shared;
    const bool more = info->static_shared > ORDINARY_SHARED; /* an H200 then gives all */
    return (more ? sim_device_value(device, optin) : ORDINARY_SHARED) - (int)info->static_shared;
}

/* A cluster attribute: what was set, else the PTX's. */
static int cluster(const struct ptx_function_info *info, const struct sim_function *function,
                   unsigned axis)
{
    return function && function->cluster[axis] ? function->cluster[axis] : (int)info->cluster[axis];
}

CUresult sim_function_attribute(const struct ptx_module *ptx, size_t index,
                                const struct sim_function *function,
                                const struct sim_device *device, CUfunction_attribute attribute,
                                int *value)
{
    const struct ptx_function_info *info = ptx_module_function(ptx, index);
    const struct {
        int since, value;
    } values[] = {
#define FUNCTION(name, since, value) [CU_FUNC_ATTRIBUTE_##name] = {since, value},
#include "module/function.def"
    };
    SIM_REFUSE((size_t)attribute >= sizeof values / sizeof *values ||
               values[attribute].since > sim_config.cuda);
    *value = values[attribute].value;
    return CUDA_SUCCESS;
}

CUresult sim_function_set(struct sim_function *function, CUfunction_attribute attribute, int value)
{
    const struct ptx_function_info *info = sim_function_info(function);
    const struct sim_device *device = function->object.context->device;
    int most = sim_device_value(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    switch ((int)attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        SIM_REFUSE(value < 0 || value > most - (int)info->static_shared);
        function->dynamic_shared = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        SIM_REFUSE(value < -1 || value > 100);
        function->carveout = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        SIM_REFUSE(value < 0 || info->cluster[0] != 0);
        function->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        function->non_portable_cluster = value != 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        SIM_REFUSE(value < 0 || value > CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING);
        function->cluster_policy = value;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult sim_function_of(struct sim_context *context, const void *handle,
                         struct sim_function **function)
{
    *function = sim_object(SIM_FUNCTION, handle);
    return *function ? CUDA_SUCCESS : sim_library_function(context, handle, function);
}

CUresult sim_function_own(CUfunction handle, struct sim_function **function)
{
    *function = sim_object(SIM_FUNCTION, handle);
    SIM_TRY(sim_current_check());
    return *function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* The same, for questions that need no current context. */
static CUresult asked_function(CUfunction handle, struct sim_function **function)
{
    CUresult result = sim_function_own(handle, function);
    return result == CUDA_ERROR_INVALID_CONTEXT && *function ? CUDA_SUCCESS : result;
}

SIM_WITH(cuFuncGetAttribute, struct sim_function *, function,
         pi ? asked_function(hfunc, &function) : CUDA_ERROR_INVALID_VALUE,
         sim_function_attribute(function->module->ptx, function->index, function,
                                function->object.context->device, attrib, pi))

SIM_WITH(cuFuncSetAttribute, struct sim_function *, function, sim_function_own(hfunc, &function),
         sim_function_set(function, attrib, value))

SIM_SET(cuFuncSetCacheConfig, struct sim_function *, function, sim_function_own(hfunc, &function),
        (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL, function->cache = config)

SIM_SET(cuFuncSetSharedMemConfig, struct sim_function *, function,
        sim_function_own(hfunc, &function),
        (unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE, )

CUresult sim_function_parameter(const struct ptx_function_info *info, size_t index, size_t *offset,
                                size_t *size)
{
    SIM_REFUSE(!offset || index >= info->param_count);
    *offset = info->params[index].offset;
    SIM_PUT(size, info->params[index].size);
    return CUDA_SUCCESS;
}

SIM_WITH(cuFuncGetParamInfo, struct sim_function *, function,
         func ? asked_function(func, &function) : CUDA_ERROR_INVALID_VALUE,
         sim_function_parameter(sim_function_info(function), paramIndex, paramOffset, paramSize))

SIM_WITH(cuFuncLoad, struct sim_function *, function, sim_function_own(hfunc, &function),
         CUDA_SUCCESS)

SIM_TELL(cuFuncGetModule, hmod, struct sim_function *function,
         hfunc ? sim_function_own(hfunc, &function) : CUDA_ERROR_INVALID_VALUE,
         (CUmodule)function->module)
SIM_TELL(cuFuncGetName, name, struct sim_function *function,
         hfunc ? asked_function(hfunc, &function) : CUDA_ERROR_INVALID_VALUE,
         sim_function_info(function)->name)
SIM_TELL(cuFuncGetParamCount, paramCount, struct sim_function *found,
         sim_function_own(func, &found), sim_function_info(found)->param_count)
SIM_TELL(cuFuncIsLoaded, state, struct sim_function *found, sim_function_own(hfunc, &found),
         CU_FUNCTION_LOADING_STATE_LOADED)
