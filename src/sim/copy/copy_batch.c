/* SPDX-License-Identifier: MIT */
/* Lists of copies, done one by one. */

#include "copy/copy.h"
#include "queue/queue.h"
#include "texture/texture.h"

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

static CUresult line(struct sim_copy *copy, uint64_t to, uint64_t from, size_t size)
{
    *copy = (struct sim_copy){.width = size, .height = 1, .depth = 1};
    SIM_REFUSE(size == 0);
    CUresult result = sim_copy_line_side(&copy->to, CU_MEMORYTYPE_UNIFIED, to, size, true);
    return result == CUDA_SUCCESS
               ? sim_copy_line_side(&copy->from, CU_MEMORYTYPE_UNIFIED, from, size, false)
               : result;
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
        CUresult one = line(&copy, to[i], from[i], sizes[i]);
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

SIM_BEHAVIOUR(cuMemcpyBatchAsync_v2)
{
    size_t failed;
    return lines(dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, &failed, hStream);
}

SIM_BEHAVIOUR(cuMemcpyWithAttributesAsync)
{
    size_t failed, first = 0;
    return lines(&dst, &src, &size, 1, attr, &first, 1, &failed, hStream);
}

/* --- Boxes --- */

struct end { /* one operand, as the older description of boxes has it */
    CUmemorytype type;
    CUdeviceptr address;
    CUarray array;
    CUoffset3D_v1 offset;
    size_t pitch, height, element; /* element: 0 where it is a pointer's: bytes */
};

/* Rows and extents count elements where an array takes part, else bytes. */
static CUresult end_of(struct end *end, const CUmemcpy3DOperand_v1 *operand)
{
    *end = (struct end){.type = CU_MEMORYTYPE_UNIFIED};
    if (operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        const struct sim_array *array = sim_object(SIM_ARRAY, operand->op.array.array);
        SIM_REFUSE(!array);
        end->type = CU_MEMORYTYPE_ARRAY;
        end->array = operand->op.array.array;
        end->offset = operand->op.array.offset;
        end->element = array->row / array->shape.Width;
        return CUDA_SUCCESS;
    }
    end->address = operand->op.ptr.ptr;
    end->pitch = operand->op.ptr.rowLength;
    end->height = operand->op.ptr.layerHeight;
    return operand->type == CU_MEMCPY_OPERAND_TYPE_POINTER ? CUDA_SUCCESS
                                                           : CUDA_ERROR_INVALID_VALUE;
}

static CUresult box(const CUDA_MEMCPY3D_BATCH_OP_v1 *op, CUDA_MEMCPY3D_v2 *shown,
                    struct sim_copy *copy)
{
    struct end to, from;
    SIM_TRY(end_of(&to, &op->dst));
    SIM_TRY(end_of(&from, &op->src));
    SIM_REFUSE(!is_order(op->srcAccessOrder));
    size_t element = to.element ? to.element : from.element ? from.element : 1;
    SIM_REFUSE((from.element && from.element != element) || op->extent.width > SIZE_MAX / element ||
               to.pitch > SIZE_MAX / element || from.pitch > SIZE_MAX / element ||
               to.offset.x > SIZE_MAX / element || from.offset.x > SIZE_MAX / element);
    *shown = (CUDA_MEMCPY3D_v2){.srcXInBytes = from.offset.x * element,
                                .srcY = from.offset.y,
                                .srcZ = from.offset.z,
                                .srcMemoryType = from.type,
                                .srcDevice = from.address,
                                .srcArray = from.array,
                                .srcPitch = from.pitch * element,
                                .srcHeight = from.height,
                                .dstXInBytes = to.offset.x * element,
                                .dstY = to.offset.y,
                                .dstZ = to.offset.z,
                                .dstMemoryType = to.type,
                                .dstDevice = to.address,
                                .dstArray = to.array,
                                .dstPitch = to.pitch * element,
                                .dstHeight = to.height,
                                .WidthInBytes = op->extent.width * element,
                                .Height = op->extent.height,
                                .Depth = op->extent.depth};
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

SIM_BEHAVIOUR(cuMemcpy3DBatchAsync_v2)
{
    size_t failed;
    return boxes(numParams, opList, &failed, flags, hStream);
}

SIM_BEHAVIOUR(cuMemcpy3DWithAttributesAsync)
{
    size_t failed;
    return boxes(1, op, &failed, flags, hStream);
}
