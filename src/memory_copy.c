/* SPDX-License-Identifier: MIT */
#include "memory_internal.h"

/* ---- between addresses */

static CUresult copy_check(const struct cushim_api *cu, const char *helper, uintptr_t dst,
                           uintptr_t src, size_t bytes)
{
    CUresult code = cushim_check_range(cu, helper, "dst", dst, bytes);
    return code == CUDA_SUCCESS ? cushim_check_range(cu, helper, "src", src, bytes) : code;
}

/* What the driver refuses is memory that cushim does not know. */
static CUresult copy_done(CUresult code, uintptr_t dst, uintptr_t src, size_t bytes)
{
    return cushim_with(code, "dst: %#zx, src: %#zx, bytes: %zu", (size_t)dst, (size_t)src, bytes);
}

CUresult cushim_copy_to_device(const struct cushim_api *cu, CUdeviceptr dst, const void *src,
                               size_t bytes)
{
    CUresult code = copy_check(cu, __func__, dst, (uintptr_t)src, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    return copy_done(CUSHIM_TRY(cu, __func__, cuMemcpyHtoD_v2, dst, src, bytes), (uintptr_t)dst,
                     (uintptr_t)src, bytes);
}

CUresult cushim_copy_to_device_async(const struct cushim_api *cu, CUdeviceptr dst, const void *src,
                                     size_t bytes, CUstream stream)
{
    CUresult code = copy_check(cu, __func__, dst, (uintptr_t)src, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    return copy_done(CUSHIM_TRY(cu, __func__, cuMemcpyHtoDAsync_v2, dst, src, bytes, stream),
                     (uintptr_t)dst, (uintptr_t)src, bytes);
}

CUresult cushim_copy_to_host(const struct cushim_api *cu, void *dst, CUdeviceptr src, size_t bytes)
{
    CUresult code = copy_check(cu, __func__, (uintptr_t)dst, src, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    return copy_done(CUSHIM_TRY(cu, __func__, cuMemcpyDtoH_v2, dst, src, bytes), (uintptr_t)dst,
                     (uintptr_t)src, bytes);
}

CUresult cushim_copy_to_host_async(const struct cushim_api *cu, void *dst, CUdeviceptr src,
                                   size_t bytes, CUstream stream)
{
    CUresult code = copy_check(cu, __func__, (uintptr_t)dst, src, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    return copy_done(CUSHIM_TRY(cu, __func__, cuMemcpyDtoHAsync_v2, dst, src, bytes, stream),
                     (uintptr_t)dst, (uintptr_t)src, bytes);
}

CUresult cushim_copy_on_device(const struct cushim_api *cu, CUdeviceptr dst, CUdeviceptr src,
                               size_t bytes)
{
    CUresult code = copy_check(cu, __func__, dst, src, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    return copy_done(CUSHIM_TRY(cu, __func__, cuMemcpyDtoD_v2, dst, src, bytes), (uintptr_t)dst,
                     (uintptr_t)src, bytes);
}

CUresult cushim_copy_on_device_async(const struct cushim_api *cu, CUdeviceptr dst, CUdeviceptr src,
                                     size_t bytes, CUstream stream)
{
    CUresult code = copy_check(cu, __func__, dst, src, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    return copy_done(CUSHIM_TRY(cu, __func__, cuMemcpyDtoDAsync_v2, dst, src, bytes, stream),
                     (uintptr_t)dst, (uintptr_t)src, bytes);
}

CUresult cushim_copy(const struct cushim_api *cu, CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
    CUresult code = copy_check(cu, __func__, dst, src, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    return copy_done(CUSHIM_TRY(cu, __func__, cuMemcpy, dst, src, bytes), (uintptr_t)dst,
                     (uintptr_t)src, bytes);
}

CUresult cushim_copy_async(const struct cushim_api *cu, CUdeviceptr dst, CUdeviceptr src,
                           size_t bytes, CUstream stream)
{
    CUresult code = copy_check(cu, __func__, dst, src, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    return copy_done(CUSHIM_TRY(cu, __func__, cuMemcpyAsync, dst, src, bytes, stream),
                     (uintptr_t)dst, (uintptr_t)src, bytes);
}

/* ---- between an address and an array of one dimension */

static CUresult copy_check_row(const struct cushim_api *cu, const char *helper,
                               const char *argument, CUarray array, size_t offset, size_t bytes)
{
    struct cushim_box box = {.x = offset, .width = bytes, .height = 1, .depth = 1};
    return bytes ? cushim_check_array(cu, helper, argument, array, &box) : CUDA_SUCCESS;
}

/* What is `dst` of two, and what `src`. */
static CUresult copy_check_to_row(const struct cushim_api *cu, const char *helper, CUarray dst,
                                  size_t offset, uintptr_t src, size_t bytes)
{
    CUresult code = copy_check_row(cu, helper, "dst", dst, offset, bytes);
    return code == CUDA_SUCCESS ? cushim_check_range(cu, helper, "src", src, bytes) : code;
}

static CUresult copy_check_from_row(const struct cushim_api *cu, const char *helper, uintptr_t dst,
                                    CUarray src, size_t offset, size_t bytes)
{
    CUresult code = cushim_check_range(cu, helper, "dst", dst, bytes);
    return code == CUDA_SUCCESS ? copy_check_row(cu, helper, "src", src, offset, bytes) : code;
}

CUresult cushim_copy_to_array(const struct cushim_api *cu, CUarray dst, size_t offset,
                              const void *src, size_t bytes)
{
    CUresult code = copy_check_to_row(cu, __func__, dst, offset, (uintptr_t)src, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    return CUSHIM_TRY(cu, __func__, cuMemcpyHtoA_v2, dst, offset, src, bytes);
}

CUresult cushim_copy_to_array_async(const struct cushim_api *cu, CUarray dst, size_t offset,
                                    const void *src, size_t bytes, CUstream stream)
{
    CUresult code = copy_check_to_row(cu, __func__, dst, offset, (uintptr_t)src, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    return CUSHIM_TRY(cu, __func__, cuMemcpyHtoAAsync_v2, dst, offset, src, bytes, stream);
}

CUresult cushim_copy_from_array(const struct cushim_api *cu, void *dst, CUarray src, size_t offset,
                                size_t bytes)
{
    CUresult code = copy_check_from_row(cu, __func__, (uintptr_t)dst, src, offset, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    return CUSHIM_TRY(cu, __func__, cuMemcpyAtoH_v2, dst, src, offset, bytes);
}

CUresult cushim_copy_from_array_async(const struct cushim_api *cu, void *dst, CUarray src,
                                      size_t offset, size_t bytes, CUstream stream)
{
    CUresult code = copy_check_from_row(cu, __func__, (uintptr_t)dst, src, offset, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    return CUSHIM_TRY(cu, __func__, cuMemcpyAtoHAsync_v2, dst, src, offset, bytes, stream);
}

CUresult cushim_copy_device_to_array(const struct cushim_api *cu, CUarray dst, size_t offset,
                                     CUdeviceptr src, size_t bytes)
{
    CUresult code = copy_check_to_row(cu, __func__, dst, offset, src, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    return CUSHIM_TRY(cu, __func__, cuMemcpyDtoA_v2, dst, offset, src, bytes);
}

CUresult cushim_copy_array_to_device(const struct cushim_api *cu, CUdeviceptr dst, CUarray src,
                                     size_t offset, size_t bytes)
{
    CUresult code = copy_check_from_row(cu, __func__, dst, src, offset, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    return CUSHIM_TRY(cu, __func__, cuMemcpyAtoD_v2, dst, src, offset, bytes);
}

CUresult cushim_copy_array_to_array(const struct cushim_api *cu, CUarray dst, size_t dst_offset,
                                    CUarray src, size_t src_offset, size_t bytes)
{
    CUresult code = copy_check_row(cu, __func__, "dst", dst, dst_offset, bytes);
    if (code == CUDA_SUCCESS)
        code = copy_check_row(cu, __func__, "src", src, src_offset, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    return CUSHIM_TRY(cu, __func__, cuMemcpyAtoA_v2, dst, dst_offset, src, src_offset, bytes);
}
