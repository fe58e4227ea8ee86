/* SPDX-License-Identifier: MIT */
/* cuKernel*: kernels of libraries, whose attributes are per device. */
#include "module/module.h"

static const struct ptx_function_info *info_of(const struct sim_kernel *kernel)
{
    return ptx_module_function(kernel->library->ptx, kernel->index);
}

CUresult sim_cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
    SIM_FIND(struct sim_context *, context, sim_current(&context));
    SIM_REFUSE(!pFunc);
    SIM_FIND(struct sim_function *, function, sim_library_function(context, kernel, &function));
    *pFunc = (CUfunction)function;
    return CUDA_SUCCESS;
}

SIM_TELL(cuKernelGetLibrary, pLib, struct sim_kernel *found, SIM_FOUND(found, SIM_KERNEL, kernel),
         (CUlibrary)found->library)
SIM_TELL(cuKernelGetName, name, struct sim_kernel *kernel,
         hfunc ? SIM_FOUND(kernel, SIM_KERNEL, hfunc) : CUDA_ERROR_INVALID_VALUE,
         info_of(kernel)->name)
SIM_TELL(cuKernelGetParamCount, paramCount, struct sim_kernel *found,
         SIM_FOUND(found, SIM_KERNEL, kernel), info_of(found)->param_count)

/* The kernel, the device, and its function in the primary context of that, if one is active. */
static CUresult in_primary(CUkernel handle, CUdevice ordinal, struct sim_kernel **kernel,
                           struct sim_device **device, struct sim_function **function)
{
    SIM_TRY(SIM_FOUND(*kernel, SIM_KERNEL, handle));
    SIM_TRY(sim_device_of(ordinal, device));
    *function = NULL;
    return (*device)->primary ? sim_library_function((*device)->primary, *kernel, function)
                              : CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuKernelGetAttribute)
{
    struct sim_device *device;
    struct sim_function *function;
    SIM_REFUSE(!pi);
    SIM_FIND(struct sim_kernel *, found, in_primary(kernel, dev, &found, &device, &function));
    return sim_function_attribute(found->library->ptx, found->index, function, device, attrib, pi);
}

SIM_BEHAVIOUR(cuKernelSetAttribute)
{
    struct sim_device *device;
    struct sim_function *function;
    SIM_FIND(struct sim_kernel *, found, in_primary(kernel, dev, &found, &device, &function));
    return function ? sim_function_set(function, attrib, val) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice_v1 dev)
{
    SIM_FIND(struct sim_kernel *, found, SIM_FOUND(found, SIM_KERNEL, kernel));
    SIM_TRY(sim_device_of(dev, NULL));
    return (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuKernelGetParamInfo)
{
    SIM_FIND(struct sim_kernel *, found,
             kernel ? SIM_FOUND(found, SIM_KERNEL, kernel) : CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_current_check());
    return sim_function_parameter(info_of(found), paramIndex, paramOffset, paramSize);
}
