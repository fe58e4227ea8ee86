/* SPDX-License-Identifier: MIT */
#include "error.h"
#include "memory.h"

/* What every copy checks before the driver is called. */
static CUresult copy_check(const struct cushim_api *cu, const char *helper, uintptr_t dst,
                           uintptr_t src, size_t bytes)
{
    if (!cu)
        return cushim_error_null(helper, "cu");
    CUresult code = cushim_memory_check(helper, "dst", dst, bytes);
    return code == CUDA_SUCCESS ? cushim_memory_check(helper, "src", src, bytes) : code;
}

/* A driver refuses what passes the end of a block: it is asked how much there is. */
static CUresult copy_add_room(const struct cushim_api *cu, CUresult code, const char *argument,
                              CUdeviceptr address, size_t bytes)
{
    struct cushim_error_saved saved;
    CUdeviceptr base = 0;
    size_t block = 0;
    if (code != CUDA_ERROR_INVALID_VALUE || cushim_error_is_ruled() ||
        !CUSHIM_HAS(cu, cuMemGetAddressRange_v2))
        return code;
    cushim_error_save(&saved);
    const bool known = cu->cuMemGetAddressRange_v2(&base, &block, address) == CUDA_SUCCESS;
    cushim_error_restore(&saved);
    const size_t before = (size_t)(address - base);
    if (!known || before >= block || bytes <= block - before)
        return code;
    return cushim_error_add(code, "%s has %zu bytes up to the end of its block of %zu", argument,
                            block - before, block);
}

static CUresult copy_done(const struct cushim_api *cu, CUresult code, uintptr_t dst, uintptr_t src,
                          size_t bytes)
{
    cushim_error_add(code, "dst: %#zx, src: %#zx, bytes: %zu", (size_t)dst, (size_t)src, bytes);
    copy_add_room(cu, code, "dst", dst, bytes);
    return copy_add_room(cu, code, "src", src, bytes);
}

CUresult cushim_copy_to_device(const struct cushim_api *cu, CUdeviceptr dst, const void *src,
                               size_t bytes)
{
    CUresult code = copy_check(cu, __func__, dst, (uintptr_t)src, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    return copy_done(cu, CUSHIM_CALL(cu, __func__, cuMemcpyHtoD_v2, dst, src, bytes), dst,
                     (uintptr_t)src, bytes);
}

CUresult cushim_copy_to_device_async(const struct cushim_api *cu, CUdeviceptr dst, const void *src,
                                     size_t bytes, CUstream stream)
{
    CUresult code = copy_check(cu, __func__, dst, (uintptr_t)src, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    return copy_done(cu, CUSHIM_CALL(cu, __func__, cuMemcpyHtoDAsync_v2, dst, src, bytes, stream),
                     dst, (uintptr_t)src, bytes);
}

CUresult cushim_copy_to_host(const struct cushim_api *cu, void *dst, CUdeviceptr src, size_t bytes)
{
    CUresult code = copy_check(cu, __func__, (uintptr_t)dst, src, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    return copy_done(cu, CUSHIM_CALL(cu, __func__, cuMemcpyDtoH_v2, dst, src, bytes),
                     (uintptr_t)dst, src, bytes);
}

CUresult cushim_copy_to_host_async(const struct cushim_api *cu, void *dst, CUdeviceptr src,
                                   size_t bytes, CUstream stream)
{
    CUresult code = copy_check(cu, __func__, (uintptr_t)dst, src, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    return copy_done(cu, CUSHIM_CALL(cu, __func__, cuMemcpyDtoHAsync_v2, dst, src, bytes, stream),
                     (uintptr_t)dst, src, bytes);
}

/* ---- fills */

static CUresult copy_check_fill(const struct cushim_api *cu, const char *helper, CUdeviceptr dst,
                                size_t count)
{
    const size_t element = sizeof(uint32_t);
    if (!cu)
        return cushim_error_null(helper, "cu");
    if (count > SIZE_MAX / element)
        return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                                   "count: %zu elements of %zu bytes overflow", count, element);
    if (count && dst % element)
        return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                                   "dst: %#zx is no multiple of the element's %zu bytes",
                                   (size_t)dst, element);
    return cushim_memory_check(helper, "dst", dst, count * element);
}

static CUresult copy_fill_done(const struct cushim_api *cu, CUresult code, CUdeviceptr dst,
                               size_t count)
{
    cushim_error_add(code, "dst: %#zx, %zu elements", (size_t)dst, count);
    return copy_add_room(cu, code, "dst", dst, count * sizeof(uint32_t));
}

CUresult cushim_fill_32(const struct cushim_api *cu, CUdeviceptr dst, uint32_t value, size_t count)
{
    CUresult code = copy_check_fill(cu, __func__, dst, count);
    if (code != CUDA_SUCCESS || !count)
        return code;
    return copy_fill_done(cu, CUSHIM_CALL(cu, __func__, cuMemsetD32_v2, dst, value, count), dst,
                          count);
}

CUresult cushim_fill_32_async(const struct cushim_api *cu, CUdeviceptr dst, uint32_t value,
                              size_t count, CUstream stream)
{
    CUresult code = copy_check_fill(cu, __func__, dst, count);
    if (code != CUDA_SUCCESS || !count)
        return code;
    return copy_fill_done(
        cu, CUSHIM_CALL(cu, __func__, cuMemsetD32Async, dst, value, count, stream), dst, count);
}
