/* SPDX-License-Identifier: MIT */
/* Maps of tensors. A device's layout of them is not public; this one is our own, with a mark and a
 * sum, so that other bytes are known to be none. */
#include "ptx/memory/memory.h"

enum { ALIGNMENT = 64, PIECE = 16 };

struct map {
    uint32_t mark, sum;
    struct ptx_tensor tensor;
};
_Static_assert(sizeof(struct map) <= PTX_TENSOR_MAP_BYTES, "size");
#define MARK UINT32_C(0x50414d54)

unsigned ptx_tensor_type_size(enum ptx_tensor_type type)
{
    static const uint8_t sizes[PTX_TENSOR_TYPES] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

    return (unsigned)type < PTX_TENSOR_TYPES ? sizes[type] : 0;
}

unsigned ptx_tensor_slice(const struct ptx_tensor *tensor)
{
    return tensor->interleave == 2 ? 32 : 16;
}

static uint32_t sum_of(const unsigned char *map)
{
    uint32_t sum = UINT32_C(2166136261);

    for (unsigned i = offsetof(struct map, tensor); i < PTX_TENSOR_MAP_BYTES; i++)
        sum = (sum ^ map[i]) * UINT32_C(16777619);
    return sum;
}

void ptx_tensor_encode(const struct ptx_tensor *tensor, void *map)
{
    unsigned char bytes[PTX_TENSOR_MAP_BYTES] = {0};
    struct map head = {.mark = MARK, .tensor = *tensor};

    memcpy(bytes, &head, sizeof head);
    head.sum = sum_of(bytes);
    memcpy(bytes, &head, sizeof head);
    memcpy(map, bytes, sizeof bytes);
}

static bool is_sound(const struct ptx_tensor *tensor)
{
    if (tensor->rank < 1 || tensor->rank > PTX_TENSOR_RANKS ||
        !ptx_tensor_type_size((enum ptx_tensor_type)tensor->type))
        return false;
    for (unsigned i = 0; i < tensor->rank; i++)
        if (!tensor->steps[i] || (!tensor->im2col && !tensor->box[i]))
            return false;
    return true;
}

static bool map_read(const void *map, struct ptx_tensor *tensor)
{
    unsigned char bytes[PTX_TENSOR_MAP_BYTES];
    struct map head;

    memcpy(bytes, map, sizeof bytes);
    memcpy(&head, bytes, sizeof head);
    *tensor = head.tensor;
    return head.mark == MARK && head.sum == sum_of(bytes);
}

bool ptx_tensor_decode(const void *map, struct ptx_tensor *tensor)
{
    return map_read(map, tensor) && is_sound(tensor);
}

char *tensor_map_at(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                    enum ptx_space space, uint64_t address, bool write)
{
    char *map = memory_resolve(warp, step, lane, space, address, ALIGNMENT, write);

    /* The second half is in the same memory, which is contiguous. */
    if (!map || !memory_resolve(warp, step, lane, space, address + ALIGNMENT, ALIGNMENT, write))
        return NULL;
    return map;
}

static void replace_one(struct ptx_tensor *tensor, const struct ir_insn *insn, uint64_t value)
{
    const uint64_t index = insn->count > 2 ? insn->operands[1].bits : 0;
#define FIELD(name, field, bits)                                                                   \
    case IR_MAP_##name:                                                                            \
        tensor->field = (__typeof__(tensor->field))(bits);                                         \
        break;
    switch (insn->mode) {
        FIELD(ADDRESS, address, value)
        FIELD(RANK, rank, (value & 7) + 1) /* counted from 0 */
        FIELD(BOX, box[index], value)
        FIELD(SIZE, sizes[index], (uint32_t)value - 1)
        FIELD(STRIDE, strides[index], value)
        FIELD(STEP, steps[index], value)
        FIELD(TYPE, type, value)
        FIELD(INTERLEAVE, interleave, value)
        FIELD(SWIZZLE, swizzle, value)
    default:
        tensor->nan = value & 1;
    }
#undef FIELD
}

/* operand: map, value. A damaged map stays one. */
void tensor_map_replace(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct ir_insn *insn = ptx_insn(step);
    const reg64 *at = ptx_in(warp, step->operand[0]), *value = ptx_in(warp, step->operand[1]);

    FOR_LANES (lane, mask) {
        char *map = tensor_map_at(warp, step, lane, insn->space, at[lane], true);
        struct ptx_tensor tensor;

        if (!map)
            return;
        if (!map_read(map, &tensor))
            continue;
        replace_one(&tensor, insn, value[lane]);
        ptx_tensor_encode(&tensor, map);
    }
}

/* operand: to, from. */
void tensor_map_copy(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const reg64 *to = ptx_in(warp, step->operand[0]), *from = ptx_in(warp, step->operand[1]);

    FOR_LANES (lane, mask) {
        char *out = tensor_map_at(warp, step, lane, PTX_SPACE_GLOBAL, to[lane], true);
        const char *in =
            !out ? NULL : tensor_map_at(warp, step, lane, PTX_SPACE_SHARED, from[lane], false);

        if (!in)
            return;
        memmove(out, in, PTX_TENSOR_MAP_BYTES);
    }
}
