/* SPDX-License-Identifier: MIT */
/* What copies, stores and reduces without a thread that waits: bulk copies, tensors and their
 * maps. */
#include "ptx/lower/lower.h"

/* The address of an mbarrier, and its offset as a value of its own. */
static void lower_signal(struct lower *lower, const struct ir_operand *operand, uint32_t *barrier,
                         uint32_t *at)
{
    int64_t offset;

    *barrier = operand_address(lower, operand, &offset);
    *at = lower_pool(lower, POOL_IMMEDIATE, PLACE_64, 0, (uint64_t)offset, 0);
}

static struct how_bulk bulk_how(const struct ir_insn *insn, uint32_t step, int64_t to_offset,
                                int64_t from_offset)
{
    return (struct how_bulk){.slot = memory_slot(step),
                             .space = insn->space,
                             .from = insn->space2,
                             .type = insn->types[0],
                             .operation = insn->atomic,
                             .count = insn->vector,
                             .to_offset = (int32_t)to_offset,
                             .from_offset = (int32_t)from_offset};
}

/* cp.async.bulk, cp.reduce.async.bulk: to, from, size, the mbarrier and its offset, mask of blocks
 * or of bytes. */
void lower_bulk_copy(struct lower *lower, const struct ir_insn *insn)
{
    uint32_t to, from, size, step, barrier = PTX_ABSENT, barrier_at = PTX_ABSENT, mask = PTX_ABSENT;
    bool load = insn->space == PTX_SPACE_SHARED, reduces = insn->op == IR_CP_REDUCE;
    bool masked = !reduces && (insn->mode == IR_CP_MULTICAST || insn->mode == IR_CP_MASK);
    int64_t to_offset, from_offset;

    if (!reduces && insn->mode != IR_CP_ASYNC && !masked)
        return; /* nothing is ever pending */
    to = operand_address(lower, &insn->operands[0], &to_offset);
    from = operand_address(lower, &insn->operands[1], &from_offset);
    size = operand_source(lower, &insn->operands[2], PLACE_32);
    if (load)
        lower_signal(lower, &insn->operands[3], &barrier, &barrier_at);
    if (masked) /* before it or behind it may be a cache policy */
        mask = operand_source(lower, &insn->operands[load ? 4 : insn->count - 1], PLACE_32);
    step = lower_step(lower, memory_bulk_run, CONTROL_MEMORY);
    lower->steps[step].how.bulk = bulk_how(insn, step, to_offset, from_offset);
    LOWER_USES(lower, step, to, from, size, barrier, barrier_at, mask);
}

/* st.async, red.async [to], value or {values}, [mbarrier] */
void lower_bulk_async(struct lower *lower, const struct ir_insn *insn)
{
    enum value_place place = operand_place_of((enum ir_type)insn->types[0]);
    const struct ir_operand *whole = &insn->operands[1];
    bool vector = whole->kind == IR_OPERAND_VECTOR;
    uint32_t values[LOWER_MAX_PARTS], barrier, barrier_at, step, count = insn->vector;
    int64_t offset;
    uint32_t to = operand_address(lower, &insn->operands[0], &offset);

    for (uint32_t i = 0; i < count; i++)
        values[i] = operand_source(lower, vector ? &whole->parts[i] : whole, place);
    lower_signal(lower, &insn->operands[2], &barrier, &barrier_at);
    step = lower_step(lower, memory_async_store, CONTROL_MEMORY);
    lower->steps[step].how.bulk = bulk_how(insn, step, offset, 0);
    lower_list(lower, step, 3 + count);
    LOWER_USES(lower, step, to, barrier, barrier_at);
    lower_uses(lower, step, 3, values, count);
}

/* st.bulk [to], size, 0 */
void lower_bulk_zero(struct lower *lower, const struct ir_insn *insn)
{
    int64_t offset;
    uint32_t to = operand_address(lower, &insn->operands[0], &offset);
    uint32_t size = operand_source(lower, &insn->operands[1], PLACE_64);
    uint32_t step = lower_step(lower, memory_async_store_bulk, CONTROL_MEMORY);

    lower->steps[step].how.bulk = bulk_how(insn, step, offset, 0);
    LOWER_USES(lower, step, to, size);
}

static enum tensor_way way_of(const struct ir_insn *insn)
{
    if (insn->mode == IR_CP_PREFETCH)
        return TENSOR_PREFETCH;
    if (insn->space == PTX_SPACE_SHARED)
        return TENSOR_LOAD;
    return insn->atomic == IR_ATOM_NONE ? TENSOR_STORE : TENSOR_REDUCE;
}

/* A list of coordinates or offsets; how many there are. */
static uint32_t lower_places(struct lower *lower, const struct ir_operand *operand,
                             uint32_t *values)
{
    for (uint32_t i = 0; i < operand->count; i++)
        values[i] = operand_source(lower, &operand->parts[i], PLACE_32);
    return operand->count;
}

/* Load: [tile], [map, {at}], [mbarrier], {offsets}, blocks. Else: [map, {at}], [tile]. */
void lower_bulk_tensor(struct lower *lower, const struct ir_insn *insn)
{
    enum tensor_way way = way_of(insn);
    bool load = way == TENSOR_LOAD;
    const struct ir_operand *group = &insn->operands[load ? 1 : 0];
    uint32_t values[TENSOR_COORDINATES + 2 * PTX_TENSOR_RANKS], step;
    uint32_t count = TENSOR_COORDINATES;
    int64_t offset = 0;

    for (uint32_t i = 0; i < TENSOR_COORDINATES; i++)
        values[i] = PTX_ABSENT;
    values[TENSOR_MAP] = operand_source(lower, &group->parts[0], PLACE_64);
    if (way != TENSOR_PREFETCH)
        values[TENSOR_TILE] = operand_address(lower, &insn->operands[load ? 0 : 1], &offset);
    count += lower_places(lower, &group->parts[1], values + count);
    if (load) {
        lower_signal(lower, &insn->operands[2], &values[TENSOR_BARRIER],
                     &values[TENSOR_BARRIER_AT]);
        if (insn->im2col)
            count += lower_places(lower, &insn->operands[3], values + count);
        if (insn->mode == IR_CP_MULTICAST)
            values[TENSOR_BLOCKS] =
                operand_source(lower, &insn->operands[insn->count - 1], PLACE_32);
    }
    step = lower_step(lower, tensor_copy, CONTROL_MEMORY);
    lower->steps[step].how.tensor =
        (struct how_tensor){.slot = memory_slot(step),
                            .way = (uint8_t)way,
                            .rank = (uint8_t)opcodes_rank((enum ir_geometry)insn->geometry),
                            .operation = insn->atomic,
                            .im2col = insn->im2col,
                            .offset = (int32_t)offset};
    lower_list(lower, step, count);
    lower_uses(lower, step, 0, values, count);
}

/* tensormap.replace [map], (dimension), value; .cp_fenceproxy [to], [from], 128 */
void lower_bulk_map(struct lower *lower, const struct ir_insn *insn)
{
    bool copy = insn->mode == IR_MAP_COPY;
    int64_t offset, from_offset = 0;
    uint32_t to = operand_address(lower, &insn->operands[0], &offset), value, step;

    if (copy)
        value = operand_address(lower, &insn->operands[1], &from_offset);
    else
        value = operand_source(lower, &insn->operands[insn->count - 1], PLACE_64);
    step = lower_step(lower, copy ? tensor_map_copy : tensor_map_replace, CONTROL_MEMORY);
    lower->steps[step].how.map =
        (struct how_map){.slot = memory_slot(step),
                         .space = insn->space,
                         .field = insn->mode,
                         .index = !copy && insn->count > 2 ? (uint8_t)insn->operands[1].bits : 0,
                         .offset = (int32_t)offset,
                         .from_offset = (int32_t)from_offset};
    LOWER_USES(lower, step, to, value);
}
