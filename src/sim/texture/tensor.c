/* SPDX-License-Identifier: MIT */
/* Maps of tensors: what a kernel copies tiles by. They are the program's own memory, and nothing
 * here keeps them. */
#include "texture/texture.h"

#define MOST_ELEMENTS (UINT64_C(1) << 32)
#define MOST_STRIDE (UINT64_C(1) << 40)
#define MOST_ADDRESS (UINT64_C(1) << 57)
enum { MOST_BYTES = 228 << 10 }; /* of a tile: the shared memory of a multiprocessor */

/* What both kinds of maps are made of. */
struct request {
    CUtensorMap *map;
    CUtensorMapDataType type;
    cuuint32_t rank;
    void *address;
    const cuuint64_t *dims, *strides;
    const cuuint32_t *steps;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
};

#define REQUEST                                                                                    \
    tensorMap, tensorDataType, tensorRank, globalAddress, globalDim, globalStrides,                \
        elementStrides, interleave, swizzle, l2Promotion, oobFill

static bool is_address(uint64_t address, CUtensorMapInterleave interleave)
{
    return address < MOST_ADDRESS &&
           address % (interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16) == 0;
}

static bool takes_sizes(const struct request *request, struct ptx_tensor *tensor)
{
    const uint64_t unit = request->interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
    for (unsigned i = 0; i < request->rank; i++) {
        if (request->dims[i] == 0 || request->dims[i] > MOST_ELEMENTS || request->steps[i] == 0 ||
            request->steps[i] > 8)
            return false;
        tensor->sizes[i] = (uint32_t)(request->dims[i] - 1);
        tensor->steps[i] = (uint8_t)request->steps[i];
    }
    for (unsigned i = 0; i + 1 < request->rank; i++) {
        if (request->strides[i] % unit || request->strides[i] >= MOST_STRIDE)
            return false;
        tensor->strides[i] = request->strides[i];
    }
    return true;
}

/* What the two kinds of maps share. */
static bool takes(const struct request *request, struct ptx_tensor *tensor)
{
    memset(tensor, 0, sizeof *tensor);
    if (!request->map || !request->dims || !request->strides || !request->steps ||
        request->rank < 1 || request->rank > PTX_TENSOR_RANKS)
        return false;
    if ((unsigned)request->type >= PTX_TENSOR_TYPES ||
        (unsigned)request->interleave > CU_TENSOR_MAP_INTERLEAVE_32B ||
        (request->interleave && request->rank < 3) ||
        (unsigned)request->swizzle > CU_TENSOR_MAP_SWIZZLE_128B ||
        (unsigned)request->promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B ||
        (unsigned)request->fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA ||
        (request->fill && (request->type < CU_TENSOR_MAP_DATA_TYPE_FLOAT16 ||
                           request->type > CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ)))
        return false;
    tensor->address = (uintptr_t)request->address;
    tensor->rank = (uint8_t)request->rank;
    tensor->type = (uint8_t)request->type;
    tensor->interleave = (uint8_t)request->interleave;
    tensor->swizzle = (uint8_t)request->swizzle;
    tensor->nan = request->fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    return is_address(tensor->address, request->interleave) && takes_sizes(request, tensor);
}

/* Do neighbours of so many bytes fit in the swizzle? Those of interleaved tensors are apart. */
static bool takes_row(const struct request *request, uint64_t bytes)
{
    static const uint16_t most[] = {0, 32, 64, 128};
    return request->interleave || request->swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ||
           bytes <= most[request->swizzle];
}

static unsigned element_size(const struct request *request)
{
    return ptx_tensor_type_size((enum ptx_tensor_type)request->type);
}

/* Is there a context, on a device that has such maps? */
static CUresult check_context(void)
{
    SIM_FIND(struct sim_context *, context, sim_current(&context));
    return sim_device_architecture(context->device) < 90 ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

/* How both kinds of maps begin. */
static CUresult begin(const struct request *request, struct ptx_tensor *tensor)
{
    SIM_TRY(check_context());
    return SIM_VALID(takes(request, tensor));
}

SIM_BEHAVIOUR(cuTensorMapEncodeTiled)
{
    struct request request = {REQUEST};
    SIM_FIND(struct ptx_tensor, tensor, begin(&request, &tensor));
    SIM_REFUSE(!boxDim);
    uint64_t bytes = element_size(&request);
    for (unsigned i = 0; i < tensorRank; i++) {
        SIM_REFUSE(boxDim[i] == 0 || boxDim[i] > 256);
        tensor.box[i] = (uint16_t)boxDim[i];
        /* Of neighbours in memory, a step leaves none out. */
        unsigned step = i == 0 && !interleave ? 1 : elementStrides[i];
        bytes *= (boxDim[i] + step - 1) / step;
    }
    uint64_t row = (uint64_t)boxDim[0] * element_size(&request);
    SIM_REFUSE(bytes > MOST_BYTES || row % 16 || !takes_row(&request, row));
    ptx_tensor_encode(&tensor, tensorMap);
    return CUDA_SUCCESS;
}

/* Of pixels in columns; `wide` ones are for copies that no simulated device has. */
static CUresult encode_pixels(const struct request *request, const int *lower, const int *upper,
                              cuuint32_t channels, cuuint32_t pixels, bool wide)
{
    /* A corner has 16 bits for one dimension, 8 for two, 5 for three. */
    static const int corners[] = {1 << 15, 1 << 7, 1 << 4};
    SIM_FIND(struct ptx_tensor, tensor, begin(request, &tensor));
    SIM_REFUSE(request->rank < 3 || channels == 0 || channels > 256 || pixels == 0 ||
               pixels > 1024);
    for (unsigned i = 0; i + 2 < request->rank; i++) {
        int most = corners[request->rank - 3];
        cuuint64_t size = request->dims[request->interleave ? i : i + 1];
        SIM_REFUSE(lower[i] < -most || lower[i] >= most || upper[i] < -most || upper[i] >= most ||
                   size > INT32_MAX || lower[i] > (int64_t)size - 1 + upper[i]);
        tensor.lower[i] = (int16_t)lower[i];
        tensor.upper[i] = (int16_t)upper[i];
    }
    tensor.im2col = wide ? PTX_TENSOR_WIDE : PTX_TENSOR_IM2COL;
    tensor.channels = (uint16_t)channels;
    tensor.pixels = (uint16_t)pixels;
    uint64_t row = (uint64_t)channels * element_size(request);
    SIM_REFUSE(row * pixels > MOST_BYTES || row % 16 || !takes_row(request, row));
    ptx_tensor_encode(&tensor, request->map);
    return CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuTensorMapEncodeIm2col)
{
    struct request request = {REQUEST};
    SIM_TRY(check_context());
    SIM_REFUSE(!pixelBoxLowerCorner || !pixelBoxUpperCorner);
    return encode_pixels(&request, pixelBoxLowerCorner, pixelBoxUpperCorner, channelsPerPixel,
                         pixelsPerColumn, false);
}

SIM_BEHAVIOUR(cuTensorMapEncodeIm2colWide)
{
    struct request request = {REQUEST};
    const int lower[PTX_TENSOR_RANKS] = {pixelBoxLowerCornerWidth};
    const int upper[PTX_TENSOR_RANKS] = {pixelBoxUpperCornerWidth};
    SIM_TRY(check_context());
    SIM_REFUSE((unsigned)mode > CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128);
    return encode_pixels(&request, lower, upper, channelsPerPixel, pixelsPerColumn, true);
}

/* What is no map remains none: a driver does not look at it here. */
CUresult sim_cuTensorMapReplaceAddress(CUtensorMap *tensorMap, void *globalAddress)
{
    struct ptx_tensor tensor;
    SIM_TRY(check_context());
    SIM_REFUSE(!tensorMap || !globalAddress ||
               !is_address((uintptr_t)globalAddress, CU_TENSOR_MAP_INTERLEAVE_NONE));
    if (!ptx_tensor_decode(tensorMap, &tensor))
        return CUDA_SUCCESS;
    tensor.address = (uintptr_t)globalAddress;
    ptx_tensor_encode(&tensor, tensorMap);
    return CUDA_SUCCESS;
}
