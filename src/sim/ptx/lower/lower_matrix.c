/* SPDX-License-Identifier: MIT */
/* Matrices from and to memory. Lanes give addresses for each other, so all of them meet first. */
#include "ptx/lower/lower.h"

/* A step behind which all lanes of the warp are together. */
static void lower_meeting(struct lower *lower)
{
    uint32_t step = lower_step(lower, move_nothing, CONTROL_SYNC);

    lower_use(lower, step, 0, lower_pool(lower, POOL_IMMEDIATE, PLACE_32, 0, PTX_FULL, 0));
}

/* ldmatrix d, [a]; stmatrix [a], b; wmma.load d, [a], stride; wmma.store [a], b, stride. */
void lower_matrix_access(struct lower *lower, const struct ir_insn *insn)
{
    enum value_place place = operand_place_of((enum ir_type)insn->types[0]);
    bool load = insn->destinations, rows = insn->op == IR_LDMATRIX || insn->op == IR_STMATRIX;
    bool stride = insn->count > 2;
    const struct ir_operand *whole = &insn->operands[load ? 0 : 1];
    bool vector = whole->kind == IR_OPERAND_VECTOR;
    const struct ir_operand *parts = vector ? whole->parts : whole;
    uint32_t count = vector ? whole->count : 1, step, address;
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
    for (uint32_t i = 0; load && i < count; i++)
        lower_def(lower, step, i, values[i]);
    lower_use(lower, step, load ? count : 0, address);
    for (uint32_t i = 0; !load && i < count; i++)
        lower_use(lower, step, i + 1, values[i]);
    if (stride)
        lower_use(lower, step, count + 1, by);
}

/* wgmma.mma_async d, a, b, metadata and selector of a sparse a, whether d is added to: each
 * register of d has one place in the list and is read and written there. */
void lower_matrix_wgmma(struct lower *lower, const struct ir_insn *insn)
{
    const struct ir_operand *d = &insn->operands[0], *a = &insn->operands[1];
    const bool registers = a->kind == IR_OPERAND_VECTOR;
    const uint32_t parts = registers ? a->count : 1, rest = insn->sparse ? 5 : 3;
    uint32_t sources[LOWER_MAX_PARTS], count = 0, step;

    for (uint32_t i = 0; i < parts; i++)
        sources[count++] = registers ? operand_source(lower, &a->parts[i], PLACE_32)
                                     : operand_source(lower, a, PLACE_64);
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
    for (uint32_t i = 0; i < count; i++)
        lower_use(lower, step, d->count + i, sources[i]);
}
