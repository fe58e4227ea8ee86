/* SPDX-License-Identifier: MIT */
/* Lists of copies, done one by one. */
#include "copy/copy.h"

/* Lists go to streams that the program made: the default ones are refused. */
static CUresult list_stream(CUstream handle)
{
    struct sim_stream *stream;
    SIM_REFUSE(!handle || handle == CU_STREAM_LEGACY);
    return sim_stream(handle, &stream);
}

static bool is_order(CUmemcpySrcAccessOrder order)
{
    return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

static CUresult check_attributes(const CUmemcpyAttributes_v1 *attributes, const size_t *indices,
                                 size_t attribute_count, size_t count)
{
    SIM_REFUSE(!attributes || !indices || attribute_count == 0 || attribute_count > count ||
               indices[0] != 0);
    for (size_t i = 0; i < attribute_count; i++)
        SIM_REFUSE(!is_order(attributes[i].srcAccessOrder) || indices[i] >= count ||
                   (i && indices[i] <= indices[i - 1]));
    return CUDA_SUCCESS;
}

static CUresult lines(CUdeviceptr_v2 *to, CUdeviceptr_v2 *from, const size_t *sizes, size_t count,
                      const CUmemcpyAttributes_v1 *attributes, const size_t *indices,
                      size_t attribute_count, size_t *failed, CUstream stream)
{
    struct sim_copy copy;
    CUresult result = CUDA_SUCCESS;
    SIM_TRY(sim_current_check());
    *failed = SIZE_MAX;
    SIM_REFUSE(!to || !from || !sizes || count == 0);
    SIM_TRY(list_stream(stream));
    SIM_TRY(check_attributes(attributes, indices, attribute_count, count));
    for (size_t i = 0; i < count; i++) { /* the others are done where one is wrong */
        CUresult one = CUDA_ERROR_INVALID_VALUE;
        if (sizes[i])
            one = sim_copy_line(&copy, CU_MEMORYTYPE_UNIFIED, to[i], CU_MEMORYTYPE_UNIFIED, from[i],
                                sizes[i]);
        if (one == CUDA_SUCCESS)
            one = sim_copy_submit(stream, &copy, NULL, false);
        if (one == CUDA_SUCCESS || result != CUDA_SUCCESS)
            continue;
        *failed = i;
        result = one;
    }
    return result;
}

SIM_BEHAVIOUR(cuMemcpyBatchAsync)
{
    size_t failed = SIZE_MAX;
    CUresult result = lines(dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, &failed, hStream);
    if (failIdx && result != CUDA_SUCCESS)
        *failIdx = failed;
    return result;
}

SIM_ENTRY(cuMemcpyBatchAsync_v2,
          lines(dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, &(size_t){0}, hStream))

SIM_ENTRY(cuMemcpyWithAttributesAsync,
          lines(&dst, &src, &size, 1, attr, &(size_t){0}, 1, &(size_t){0}, hStream))

/* --- Boxes --- */

/* An operand. Rows and extents count elements where an array takes part, else bytes: 0. */
static CUresult place_of(struct sim_place *place, size_t *element,
                         const CUmemcpy3DOperand_v1 *operand)
{
    *element = 0;
    if (operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        const CUoffset3D_v1 *offset = &operand->op.array.offset;
        const struct sim_array *array = sim_object(SIM_ARRAY, operand->op.array.array);
        SIM_REFUSE(!array);
        *place = (struct sim_place){.type = CU_MEMORYTYPE_ARRAY,
                                    .array = operand->op.array.array,
                                    .x = offset->x,
                                    .y = offset->y,
                                    .z = offset->z};
        *element = array->row / array->shape.Width;
        return CUDA_SUCCESS;
    }
    *place = (struct sim_place){.type = CU_MEMORYTYPE_UNIFIED,
                                .address = operand->op.ptr.ptr,
                                .pitch = operand->op.ptr.rowLength,
                                .height = operand->op.ptr.layerHeight};
    return SIM_VALID(operand->type == CU_MEMCPY_OPERAND_TYPE_POINTER);
}

/* To bytes; false: they pass 64 bits. */
static bool scale(struct sim_place *place, size_t element)
{
    return !__builtin_mul_overflow(place->x, element, &place->x) &&
           !__builtin_mul_overflow(place->pitch, element, &place->pitch);
}

static CUresult box(const CUDA_MEMCPY3D_BATCH_OP_v1 *op, CUDA_MEMCPY3D_v2 *shown,
                    struct sim_copy *copy)
{
    struct sim_place to, from;
    size_t to_element, from_element, width;
    SIM_TRY(place_of(&to, &to_element, &op->dst));
    SIM_TRY(place_of(&from, &from_element, &op->src));
    SIM_REFUSE(!is_order(op->srcAccessOrder));
    size_t element = to_element ? to_element : from_element ? from_element : 1;
    SIM_REFUSE((from_element && from_element != element) || !scale(&to, element) ||
               !scale(&from, element) || __builtin_mul_overflow(op->extent.width, element, &width));
    *shown = sim_copy_shown(&to, &from, width, op->extent.height, op->extent.depth);
    return sim_copy_box(copy, shown);
}

static CUresult boxes(size_t count, const CUDA_MEMCPY3D_BATCH_OP_v1 *list, size_t *failed,
                      unsigned long long flags, CUstream stream)
{
    struct sim_copy copy;
    CUDA_MEMCPY3D_v2 shown;
    SIM_TRY(sim_current_check());
    SIM_REFUSE(count == 0 || !list || flags);
    SIM_TRY(list_stream(stream));
    for (size_t i = 0; i < count; i++) {
        *failed = i;
        SIM_TRY(box(list + i, &shown, &copy));
    }
    *failed = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        SIM_TRY(box(list + i, &shown, &copy));
        SIM_TRY(sim_copy_submit(stream, &copy, &shown, false));
    }
    return CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuMemcpy3DBatchAsync)
{
    size_t failed = SIZE_MAX;
    CUresult result = boxes(numParams, opList, &failed, flags, hStream);
    if (failIdx && result != CUDA_SUCCESS)
        *failIdx = failed;
    return result;
}

SIM_ENTRY(cuMemcpy3DBatchAsync_v2, boxes(numParams, opList, &(size_t){0}, flags, hStream))

SIM_ENTRY(cuMemcpy3DWithAttributesAsync, boxes(1, op, &(size_t){0}, flags, hStream))
