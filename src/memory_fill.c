/* SPDX-License-Identifier: MIT */
#include "memory_internal.h"

/* `element`: bytes of one. */
static CUresult fill_check(const struct cushim_api *cu, const char *helper, CUdeviceptr dst,
                           size_t element, size_t count)
{
    size_t bytes;
    if (!count)
        return CUDA_SUCCESS;
    if (!cushim_multiply(element, count, &bytes))
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                             "count: %zu elements of %zu bytes overflow", count, element);
    if (dst % element)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                             "dst: %#llx is no multiple of the element's %zu bytes",
                             (unsigned long long)dst, element);
    return cushim_check_range(cu, helper, "dst", dst, bytes);
}

/* What the driver refuses is memory that cushim does not know. */
static CUresult fill_done(CUresult code, CUdeviceptr dst, size_t count)
{
    return cushim_with(code, "dst: %#zx, %zu elements", (size_t)dst, count);
}

CUresult cushim_fill_8(const struct cushim_api *cu, CUdeviceptr dst, uint8_t value, size_t count)
{
    CUresult code = fill_check(cu, __func__, dst, sizeof value, count);
    if (code != CUDA_SUCCESS || !count)
        return code;
    return fill_done(CUSHIM_TRY(cu, __func__, cuMemsetD8_v2, dst, value, count), dst, count);
}

CUresult cushim_fill_8_async(const struct cushim_api *cu, CUdeviceptr dst, uint8_t value,
                             size_t count, CUstream stream)
{
    CUresult code = fill_check(cu, __func__, dst, sizeof value, count);
    if (code != CUDA_SUCCESS || !count)
        return code;
    return fill_done(CUSHIM_TRY(cu, __func__, cuMemsetD8Async, dst, value, count, stream), dst,
                     count);
}

CUresult cushim_fill_16(const struct cushim_api *cu, CUdeviceptr dst, uint16_t value, size_t count)
{
    CUresult code = fill_check(cu, __func__, dst, sizeof value, count);
    if (code != CUDA_SUCCESS || !count)
        return code;
    return fill_done(CUSHIM_TRY(cu, __func__, cuMemsetD16_v2, dst, value, count), dst, count);
}

CUresult cushim_fill_16_async(const struct cushim_api *cu, CUdeviceptr dst, uint16_t value,
                              size_t count, CUstream stream)
{
    CUresult code = fill_check(cu, __func__, dst, sizeof value, count);
    if (code != CUDA_SUCCESS || !count)
        return code;
    return fill_done(CUSHIM_TRY(cu, __func__, cuMemsetD16Async, dst, value, count, stream), dst,
                     count);
}

CUresult cushim_fill_32(const struct cushim_api *cu, CUdeviceptr dst, uint32_t value, size_t count)
{
    CUresult code = fill_check(cu, __func__, dst, sizeof value, count);
    if (code != CUDA_SUCCESS || !count)
        return code;
    return fill_done(CUSHIM_TRY(cu, __func__, cuMemsetD32_v2, dst, value, count), dst, count);
}

CUresult cushim_fill_32_async(const struct cushim_api *cu, CUdeviceptr dst, uint32_t value,
                              size_t count, CUstream stream)
{
    CUresult code = fill_check(cu, __func__, dst, sizeof value, count);
    if (code != CUDA_SUCCESS || !count)
        return code;
    return fill_done(CUSHIM_TRY(cu, __func__, cuMemsetD32Async, dst, value, count, stream), dst,
                     count);
}

/* ---- rows */

static CUresult fill_check_2d(const struct cushim_api *cu, const char *helper, CUdeviceptr dst,
                              size_t pitch, size_t element, size_t width, size_t height)
{
    size_t row, bytes;
    if (!width || !height)
        return CUDA_SUCCESS;
    if (!cushim_multiply(element, width, &row))
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                             "width: %zu elements of %zu bytes overflow", width, element);
    if (height > 1 && pitch < row)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                             "pitch: %zu is less than the %zu bytes of width %zu", pitch, row,
                             width);
    if (pitch % element)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                             "pitch: %zu is no multiple of the element's %zu bytes", pitch,
                             element);
    if (!cushim_multiply(pitch, height - 1, &bytes) || !cushim_add(bytes, row, &bytes))
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                             "height: %zu rows of pitch %zu overflow", height, pitch);
    return fill_check(cu, helper, dst, element, bytes / element);
}

CUresult cushim_fill_2d_8(const struct cushim_api *cu, CUdeviceptr dst, size_t pitch, uint8_t value,
                          size_t width, size_t height)
{
    CUresult code = fill_check_2d(cu, __func__, dst, pitch, sizeof value, width, height);
    if (code != CUDA_SUCCESS || !width || !height)
        return code;
    return fill_done(CUSHIM_TRY(cu, __func__, cuMemsetD2D8_v2, dst, pitch, value, width, height),
                     dst, width * height);
}

CUresult cushim_fill_2d_8_async(const struct cushim_api *cu, CUdeviceptr dst, size_t pitch,
                                uint8_t value, size_t width, size_t height, CUstream stream)
{
    CUresult code = fill_check_2d(cu, __func__, dst, pitch, sizeof value, width, height);
    if (code != CUDA_SUCCESS || !width || !height)
        return code;
    return fill_done(
        CUSHIM_TRY(cu, __func__, cuMemsetD2D8Async, dst, pitch, value, width, height, stream), dst,
        width * height);
}

CUresult cushim_fill_2d_16(const struct cushim_api *cu, CUdeviceptr dst, size_t pitch,
                           uint16_t value, size_t width, size_t height)
{
    CUresult code = fill_check_2d(cu, __func__, dst, pitch, sizeof value, width, height);
    if (code != CUDA_SUCCESS || !width || !height)
        return code;
    return fill_done(CUSHIM_TRY(cu, __func__, cuMemsetD2D16_v2, dst, pitch, value, width, height),
                     dst, width * height);
}

CUresult cushim_fill_2d_16_async(const struct cushim_api *cu, CUdeviceptr dst, size_t pitch,
                                 uint16_t value, size_t width, size_t height, CUstream stream)
{
    CUresult code = fill_check_2d(cu, __func__, dst, pitch, sizeof value, width, height);
    if (code != CUDA_SUCCESS || !width || !height)
        return code;
    return fill_done(
        CUSHIM_TRY(cu, __func__, cuMemsetD2D16Async, dst, pitch, value, width, height, stream), dst,
        width * height);
}

CUresult cushim_fill_2d_32(const struct cushim_api *cu, CUdeviceptr dst, size_t pitch,
                           uint32_t value, size_t width, size_t height)
{
    CUresult code = fill_check_2d(cu, __func__, dst, pitch, sizeof value, width, height);
    if (code != CUDA_SUCCESS || !width || !height)
        return code;
    return fill_done(CUSHIM_TRY(cu, __func__, cuMemsetD2D32_v2, dst, pitch, value, width, height),
                     dst, width * height);
}

CUresult cushim_fill_2d_32_async(const struct cushim_api *cu, CUdeviceptr dst, size_t pitch,
                                 uint32_t value, size_t width, size_t height, CUstream stream)
{
    CUresult code = fill_check_2d(cu, __func__, dst, pitch, sizeof value, width, height);
    if (code != CUDA_SUCCESS || !width || !height)
        return code;
    return fill_done(
        CUSHIM_TRY(cu, __func__, cuMemsetD2D32Async, dst, pitch, value, width, height, stream), dst,
        width * height);
}
