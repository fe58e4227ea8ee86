/* SPDX-License-Identifier: MIT */
/* Matrices from and to memory. Lanes give addresses for each other, so all of them meet first. */
#include "ptx/lower/lower.h"

/* A step behind which all lanes of the warp are together. */
static void lower_meeting(struct lower *lower)
{
    LOWER_USES(lower, lower_step(lower, move_nothing, CONTROL_SYNC),
               lower_pool(lower, POOL_IMMEDIATE, PLACE_32, 0, PTX_FULL));
}

/* ldmatrix d, [a]; stmatrix [a], b; wmma.load d, [a], stride; wmma.store [a], b, stride. */
void lower_matrix_access(struct lower *lower, const struct ir_insn *insn)
{
    enum value_place place = operand_place_of((enum ir_type)insn->types[0]);
    bool load = insn->destinations, rows = insn->op == IR_LDMATRIX || insn->op == IR_STMATRIX;
    bool stride = insn->count > 2;
    uint32_t count, step, address;
    const struct ir_operand *parts = operand_parts(&insn->operands[load ? 0 : 1], &count);
    uint32_t values[LOWER_MAX_PARTS], by = PTX_ABSENT;

    address = operand_sum(lower, &insn->operands[load ? 1 : 0]);
    if (stride)
        by = operand_source(lower, &insn->operands[2], PLACE_32);
    for (uint32_t i = 0; i < count; i++)
        values[i] = load ? operand_dest(lower, &parts[i], place, IR_NONE)
                         : operand_source(lower, &parts[i], place);
    lower_meeting(lower);
    step = lower_step(lower,
                      rows   ? load ? memory_wmma_matrix_load : memory_wmma_matrix_store
                      : load ? memory_wmma_load
                             : memory_wmma_store,
                      CONTROL_MEMORY);
    lower_list(lower, step, count + 1 + stride);
    lower_defs(lower, step, 0, values, load ? count : 0);
    lower_use(lower, step, load ? count : 0, address);
    lower_uses(lower, step, 1, values, load ? 0 : count);
    if (stride)
        lower_use(lower, step, count + 1, by);
}

/* wgmma.mma_async d, a, b, metadata and selector of a sparse a, whether d is added to: each
 * register of d has one place in the list and is read and written there. */
void lower_matrix_wgmma(struct lower *lower, const struct ir_insn *insn)
{
    const struct ir_operand *d = &insn->operands[0], *a = &insn->operands[1];
    const bool registers = a->kind == IR_OPERAND_VECTOR;
    const uint32_t rest = insn->sparse ? 5 : 3;
    uint32_t sources[LOWER_MAX_PARTS], count, step;
    const struct ir_operand *parts = operand_parts(a, &count);

    for (uint32_t i = 0; i < count; i++)
        sources[i] = operand_source(lower, &parts[i], registers ? PLACE_32 : PLACE_64);
    sources[count++] = operand_source(lower, &insn->operands[2], PLACE_64);
    if (insn->sparse)
        sources[count++] = operand_source(lower, &insn->operands[3], PLACE_32);
    sources[count++] = operand_predicate(lower, &insn->operands[rest]);
    lower_meeting(lower);
    step = lower_step(lower, select_wgmma(), CONTROL_MEMORY);
    lower_list(lower, step, d->count + count);
    for (uint32_t i = 0; i < d->count; i++) {
        const uint32_t value = operand_source(lower, &d->parts[i], PLACE_32);

        lower_use(lower, step, i, value);
        lower_def(lower, step, i, value);
    }
    lower_uses(lower, step, d->count, sources, count);
}
