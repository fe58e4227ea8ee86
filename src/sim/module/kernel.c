/* SPDX-License-Identifier: MIT */
/* cuKernel*: kernels of libraries, whose attributes are per device. */
#include "device/device.h"
#include "module/module.h"

CUresult sim_cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
    struct sim_context *context;
    CUresult result = sim_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pFunc)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_function *function = sim_library_function(context, kernel, &result);
    if (function)
        *pFunc = (CUfunction)function;
    return result;
}

CUresult sim_cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel)
{
    struct sim_kernel *found = sim_object(SIM_KERNEL, kernel);
    if (!pLib)
        return CUDA_ERROR_INVALID_VALUE;
    if (!found)
        return CUDA_ERROR_INVALID_HANDLE;
    *pLib = (CUlibrary)found->library;
    return CUDA_SUCCESS;
}

CUresult sim_cuKernelGetName(const char **name, CUkernel hfunc)
{
    struct sim_kernel *kernel = sim_object(SIM_KERNEL, hfunc);
    if (!name || !hfunc)
        return CUDA_ERROR_INVALID_VALUE;
    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    *name = ptx_module_function(kernel->library->ptx, kernel->index)->name;
    return CUDA_SUCCESS;
}

/* The kernel's function in the primary context of a device, where one is active. */
static struct sim_function *in_primary(struct sim_kernel *kernel, struct sim_device *device,
                                       CUresult *result)
{
    *result = CUDA_SUCCESS;
    return device->primary ? sim_library_function(device->primary, kernel, result) : NULL;
}

CUresult sim_cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel,
                                  CUdevice_v1 dev)
{
    struct sim_kernel *found = sim_object(SIM_KERNEL, kernel);
    struct sim_device *device = sim_device(dev);
    CUresult result;
    int value;
    if (!pi)
        return CUDA_ERROR_INVALID_VALUE;
    if (!found)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    struct sim_function *function = in_primary(found, device, &result);
    if (result == CUDA_SUCCESS)
        result = sim_function_attribute(found->library->ptx, found->index, function, device, attrib,
                                        &value);
    if (result == CUDA_SUCCESS)
        *pi = value;
    return result;
}

CUresult sim_cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel,
                                  CUdevice_v1 dev)
{
    struct sim_kernel *found = sim_object(SIM_KERNEL, kernel);
    struct sim_device *device = sim_device(dev);
    CUresult result;
    if (!found)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    struct sim_function *function = in_primary(found, device, &result);
    if (result != CUDA_SUCCESS)
        return result;
    return function ? sim_function_set(function, attrib, val) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice_v1 dev)
{
    if (!sim_object(SIM_KERNEL, kernel))
        return CUDA_ERROR_INVALID_HANDLE;
    if (!sim_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    return (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult sim_cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset,
                                  size_t *paramSize)
{
    struct sim_kernel *found = sim_object(SIM_KERNEL, kernel);
    if (!found)
        return kernel ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(sim_current_check());
    return sim_function_parameter(ptx_module_function(found->library->ptx, found->index),
                                  paramIndex, paramOffset, paramSize);
}

CUresult sim_cuKernelGetParamCount(CUkernel kernel, size_t *paramCount)
{
    struct sim_kernel *found = sim_object(SIM_KERNEL, kernel);
    if (!paramCount)
        return CUDA_ERROR_INVALID_VALUE;
    if (!found)
        return CUDA_ERROR_INVALID_HANDLE;
    *paramCount = ptx_module_function(found->library->ptx, found->index)->param_count;
    return CUDA_SUCCESS;
}
