/* SPDX-License-Identifier: MIT */
/* What copies, stores and reduces without a thread that waits: bulk copies, tensors and their
 * maps. */
#include "ptx/lower/lower.h"

/* cp.async.bulk, cp.reduce.async.bulk: to, from, size, the mbarrier, mask of blocks or of bytes. */
void lower_bulk_copy(struct lower *lower, const struct ir_insn *insn)
{
    uint32_t to, from, size, step, barrier = PTX_ABSENT, mask = PTX_ABSENT;
    bool load = insn->space == PTX_SPACE_SHARED, reduces = insn->op == IR_CP_REDUCE;
    bool masked = !reduces && (insn->mode == IR_CP_MULTICAST || insn->mode == IR_CP_MASK);

    if (!reduces && insn->mode != IR_CP_ASYNC && !masked)
        return; /* nothing is ever pending */
    to = operand_sum(lower, &insn->operands[0]);
    from = operand_sum(lower, &insn->operands[1]);
    size = operand_source(lower, &insn->operands[2], PLACE_32);
    if (load)
        barrier = operand_sum(lower, &insn->operands[3]);
    if (masked) /* before it or behind it may be a cache policy */
        mask = operand_source(lower, &insn->operands[load ? 4 : insn->count - 1], PLACE_32);
    step = lower_step(lower, memory_bulk_run, CONTROL_MEMORY);
    LOWER_USES(lower, step, to, from, size, barrier, mask);
}

/* st.async, red.async [to], value or {values}, [mbarrier] */
void lower_bulk_async(struct lower *lower, const struct ir_insn *insn)
{
    enum value_place place = operand_place_of((enum ir_type)insn->types[0]);
    uint32_t values[LOWER_MAX_PARTS], barrier, step, count;
    const struct ir_operand *parts = operand_parts(&insn->operands[1], &count);
    uint32_t to = operand_sum(lower, &insn->operands[0]);

    for (uint32_t i = 0; i < count; i++)
        values[i] = operand_source(lower, &parts[i], place);
    barrier = operand_sum(lower, &insn->operands[2]);
    step = lower_step(lower, memory_async_store, CONTROL_MEMORY);
    lower_list(lower, step, 2 + count);
    LOWER_USES(lower, step, to, barrier);
    lower_uses(lower, step, 2, values, count);
}

/* st.bulk [to], size, 0 */
void lower_bulk_zero(struct lower *lower, const struct ir_insn *insn)
{
    uint32_t to = operand_sum(lower, &insn->operands[0]);
    uint32_t size = operand_source(lower, &insn->operands[1], PLACE_64);
    uint32_t step = lower_step(lower, memory_async_store_bulk, CONTROL_MEMORY);

    LOWER_USES(lower, step, to, size);
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
    enum tensor_way way = tensor_way_of(insn);
    bool load = way == TENSOR_LOAD;
    const struct ir_operand *group = &insn->operands[load ? 1 : 0];
    uint32_t values[TENSOR_COORDINATES + 2 * PTX_TENSOR_RANKS], step;
    uint32_t count = TENSOR_COORDINATES;

    for (uint32_t i = 0; i < TENSOR_COORDINATES; i++)
        values[i] = PTX_ABSENT;
    values[TENSOR_MAP] = operand_source(lower, &group->parts[0], PLACE_64);
    if (way != TENSOR_PREFETCH)
        values[TENSOR_TILE] = operand_sum(lower, &insn->operands[load ? 0 : 1]);
    count += lower_places(lower, &group->parts[1], values + count);
    if (load) {
        values[TENSOR_BARRIER] = operand_sum(lower, &insn->operands[2]);
        if (insn->im2col)
            count += lower_places(lower, &insn->operands[3], values + count);
        if (insn->mode == IR_CP_MULTICAST)
            values[TENSOR_BLOCKS] =
                operand_source(lower, &insn->operands[insn->count - 1], PLACE_32);
    }
    step = lower_step(lower, tensor_copy, CONTROL_MEMORY);
    lower_list(lower, step, count);
    lower_uses(lower, step, 0, values, count);
}

/* tensormap.replace [map], (dimension), value; .cp_fenceproxy [to], [from], 128 */
void lower_bulk_map(struct lower *lower, const struct ir_insn *insn)
{
    bool copy = insn->mode == IR_MAP_COPY;
    const struct ir_operand *last = &insn->operands[copy ? 1 : insn->count - 1];
    uint32_t to = operand_sum(lower, &insn->operands[0]);
    uint32_t value = copy ? operand_sum(lower, last) : operand_source(lower, last, PLACE_64);
    uint32_t step = lower_step(lower, copy ? tensor_map_copy : tensor_map_replace, CONTROL_MEMORY);

    LOWER_USES(lower, step, to, value);
}
