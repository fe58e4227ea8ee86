/* SPDX-License-Identifier: MIT */
/* Operands of instructions: registers, constants, addresses, and the widths between them. */
#include "ptx/lower/lower.h"

enum value_place operand_place_of(enum ir_type type)
{
    if (type == IR_PRED)
        return PLACE_PREDICATE;
    switch (opcodes_type_size(type)) {
    case 16:
        return PLACE_128;
    case 8:
        return PLACE_64;
    default:
        return PLACE_32;
    }
}

/* Where an operand lives: a register's own place, and `fallback` for what has none. */
enum value_place operand_place(const struct lower *lower, const struct ir_operand *operand,
                               enum value_place fallback)
{
    if (operand->kind == IR_OPERAND_REG)
        return operand_place_of(lower->fn->registers[operand->index].type);
    return fallback;
}

uint32_t operand_copy(struct lower *lower, ptx_run *run, uint32_t dest, uint32_t source)
{
    return LOWER_STEP(lower, run, CONTROL_RUN, dest, source);
}

/* A temporary that a run function fills, for all lanes, from what the step carries and `source`,
 * if there is one. */
static uint32_t lower_produce(struct lower *lower, ptx_run *run, enum value_place place,
                              union ptx_how how, uint32_t source)
{
    bool unguarded = lower->unguarded;
    uint32_t temp = lower_temp(lower, place), step;

    lower->unguarded = true;
    step = lower_step(lower, run, CONTROL_RUN);
    lower->steps[step].how = how;
    lower_def(lower, step, 0, temp);
    if (source != PTX_ABSENT)
        lower_use(lower, step, 1, source);
    lower->unguarded = unguarded;
    return temp;
}

uint32_t operand_temp_from(struct lower *lower, ptx_run *run, enum value_place place,
                           uint32_t source)
{
    return lower_produce(lower, run, place, (union ptx_how){0}, source);
}

static uint32_t lower_vreg(const struct lower *lower, const struct ir_operand *operand)
{
    const struct ir_register *reg = &lower->fn->registers[operand->index];

    return lower->base[operand->index] + (reg->vector > 1 ? operand->component : 0);
}

ptx_run *operand_special_run(struct lower *lower, const struct ir_operand *operand,
                             enum value_place place)
{
    lower->code->reserved_shared |=
        operand->index >= IR_RESERVED_SMEM_BEGIN && operand->index <= IR_RESERVED_SMEM_CAP;
    return place == PLACE_64 ? special_64 : special_32;
}

union ptx_how operand_special_how(const struct ir_operand *operand)
{
    return (union ptx_how){
        .special = {.name = (uint16_t)operand->index, .component = operand->component}};
}

static uint32_t lower_special(struct lower *lower, const struct ir_operand *operand,
                              enum value_place place)
{
    if (operand->index == IR_WARP_SZ)
        return lower_pool(lower, POOL_IMMEDIATE, place, 0, PTX_LANES);
    return lower_produce(lower, operand_special_run(lower, operand, place), place,
                         operand_special_how(operand), PTX_ABSENT);
}

static uint32_t lower_frame_address(struct lower *lower, uint32_t at, int64_t offset,
                                    enum value_place place)
{
    uint64_t bits = at + (uint64_t)offset;

    if (lower->fn->entry)
        return lower_pool(lower, POOL_IMMEDIATE, place, 0, bits);
    uint32_t value = lower_produce(lower, special_local_address, PLACE_64,
                                   (union ptx_how){.add = bits}, PTX_ABSENT);
    return place == PLACE_32 ? operand_temp_from(lower, move_low32, PLACE_32, value) : value;
}

static uint32_t lower_shared_address(struct lower *lower, uint32_t number, int64_t offset,
                                     enum value_place place)
{
    if (lower->fn->entry) {
        uint64_t bits = lower->code->shared_offsets[number] + (uint64_t)offset;

        return lower_pool(lower, POOL_IMMEDIATE, place, 0, bits);
    }
    uint32_t value = lower_produce(lower, special_shared_address, PLACE_64,
                                   (union ptx_how){.add = (uint64_t)offset}, number | PTX_CONSTANT);
    return place == PLACE_32 ? operand_temp_from(lower, move_low32, PLACE_32, value) : value;
}

static uint32_t lower_variable(struct lower *lower, const struct ir_operand *operand,
                               enum value_place place)
{
    const struct ptx_module *module = lower->module;
    const struct ir_variable *variable = &module->ir->variables[operand->index];

    if (variable->space == PTX_SPACE_SHARED)
        return lower_shared_address(lower, module->shared_of[operand->index], operand->offset,
                                    place);
    if (ir_is_reference(variable))
        return lower_produce(lower, special_reference, PLACE_64,
                             (union ptx_how){.variable = module->variable_of[operand->index]},
                             PTX_ABSENT);
    return lower_pool(lower, POOL_VARIABLE, place, operand->index, (uint64_t)operand->offset);
}

static uint32_t lower_local(struct lower *lower, const struct ir_operand *operand,
                            enum value_place place)
{
    const struct ir_variable *variable = &lower->fn->variables[operand->index];
    uint32_t at = lower->variable_at[operand->index];

    if (variable->space == PTX_SPACE_SHARED)
        return lower_shared_address(lower, at, operand->offset, place);
    return lower_frame_address(lower, at, operand->offset, place);
}

static uint32_t lower_parameter(struct lower *lower, const struct ir_operand *operand,
                                enum value_place place)
{
    uint32_t at;

    if (lower->fn->entry) {
        at = lower->fn->params[operand->index].offset;
        return lower_pool(lower, POOL_IMMEDIATE, place, 0, at + (uint64_t)operand->offset);
    }
    at = operand->kind == IR_OPERAND_PARAM ? lower->params_at[operand->index]
                                           : lower->returns_at[operand->index];
    return lower_frame_address(lower, at, operand->offset, place);
}

static uint32_t fit_source(struct lower *lower, uint32_t value, enum value_place have,
                           enum value_place want)
{
    if (have == want)
        return value;
    if (have == PLACE_128)
        return fit_source(lower, operand_temp_from(lower, move_low64, PLACE_64, value), PLACE_64,
                          want);
    if (want == PLACE_32)
        return operand_temp_from(lower, move_low32, PLACE_32, value);
    if (have == PLACE_32)
        return fit_source(lower, operand_temp_from(lower, move_zero64, PLACE_64, value), PLACE_64,
                          want);
    return operand_temp_from(lower, move_zero128, PLACE_128, value);
}

/* The value of `operand` in the width of `place`, which is not a predicate's. */
uint32_t operand_source(struct lower *lower, const struct ir_operand *operand,
                        enum value_place place)
{
    switch (operand->kind) {
    case IR_OPERAND_REG: {
        enum value_place have = operand_place(lower, operand, place);

        if (have == PLACE_PREDICATE)
            return lower_refuse(lower, "a predicate stands where a value is expected");
        return fit_source(lower, lower_vreg(lower, operand), have, place);
    }
    case IR_OPERAND_IMM:
        return lower_pool(lower, POOL_IMMEDIATE, place, 0, operand->bits);
    case IR_OPERAND_SPECIAL:
        return lower_special(lower, operand, place);
    case IR_OPERAND_VARIABLE:
        return lower_variable(lower, operand, place);
    case IR_OPERAND_LOCAL:
        return lower_local(lower, operand, place);
    case IR_OPERAND_PARAM:
    case IR_OPERAND_RETURN:
        return lower_parameter(lower, operand, place);
    case IR_OPERAND_FUNCTION:
        return lower_pool(lower, POOL_FUNCTION, place, operand->index, (uint64_t)operand->offset);
    case IR_OPERAND_SINK:
    case IR_OPERAND_NONE:
        return PTX_ABSENT;
    default:
        return lower_refuse(lower, "an operand of this kind is not supported here");
    }
}

static ptx_run *widen_run(enum ir_type type, enum value_place place)
{
    bool wide = place == PLACE_64;

    switch (type) {
    case IR_S8:
        return wide ? move_sign8_64 : move_sign8;
    case IR_S16:
        return wide ? move_sign16_64 : move_sign16;
    case IR_S32:
        return wide ? move_sign64 : NULL;
    default:
        return wide ? move_zero64 : NULL;
    }
}

/* Where an instruction that writes `type` puts its result: the register, or a temporary that
 * operand_finish widens into it. */
uint32_t operand_dest(struct lower *lower, const struct ir_operand *operand, enum value_place place,
                      enum ir_type type)
{
    if (operand->kind == IR_OPERAND_SINK || operand->kind == IR_OPERAND_NONE)
        return PTX_ABSENT;
    if (operand->kind != IR_OPERAND_REG)
        return lower_refuse(lower, "the destination is no register");
    enum value_place have = operand_place(lower, operand, place);
    uint32_t vreg = lower_vreg(lower, operand);
    if ((have == PLACE_PREDICATE) != (place == PLACE_PREDICATE))
        return lower_refuse(lower, "a predicate register is expected here, or none");
    if (have == place && (have != PLACE_32 || (type != IR_S8 && type != IR_S16)))
        return vreg;
    if (have == place &&
        opcodes_type_size(lower->fn->registers[operand->index].type) <= opcodes_type_size(type))
        return vreg;
    if (have < place && !(have == PLACE_32 && place == PLACE_64))
        return lower_refuse(lower, "the destination is too narrow");
    ptx_run *run = have < place        ? move_low32
                   : have == PLACE_128 ? move_zero128
                                       : widen_run(type, have);
    if (!run)
        return vreg;
    if (run == move_sign8 && opcodes_type_size(lower->fn->registers[operand->index].type) == 2)
        run = move_sign8_16;
    uint32_t temp = lower_temp(lower, place);
    if (lower->fixup_count < LOWER_MAX_PARTS)
        lower->fixups[lower->fixup_count++] = (struct lower_fixup){temp, vreg, run};
    return temp;
}

/* What operand_dest put off. */
void operand_finish(struct lower *lower)
{
    for (uint32_t i = 0; i < lower->fixup_count; i++)
        operand_copy(lower, lower->fixups[i].run, lower->fixups[i].to, lower->fixups[i].from);
    lower->fixup_count = 0;
}

/* A predicate source: its virtual register, negated and constant ones made into temporaries. */
uint32_t operand_predicate(struct lower *lower, const struct ir_operand *operand)
{
    if (operand->kind == IR_OPERAND_REG &&
        operand_place(lower, operand, PLACE_32) == PLACE_PREDICATE) {
        if (operand->negate)
            return operand_temp_from(lower, move_predicate_not, PLACE_PREDICATE,
                                     lower_vreg(lower, operand));
        return lower_vreg(lower, operand);
    }
    if (operand->kind == IR_OPERAND_IMM) {
        bool set = (operand->bits != 0) != operand->negate;

        return lower_produce(lower, move_predicate_set, PLACE_PREDICATE,
                             (union ptx_how){.set = set ? PTX_FULL : 0}, PTX_ABSENT);
    }
    return lower_refuse(lower, "a predicate is expected here");
}

/* The width of operand `index` where it is no register: what the instruction's types imply. */
enum value_place operand_place_at(const struct ir_insn *insn, uint32_t index)
{
    enum ir_type first = insn->type_count ? (enum ir_type)insn->types[0] : IR_B32;
    enum ir_type second = insn->type_count > 1 ? (enum ir_type)insn->types[1] : first;
    enum value_place place = operand_place_of(first);

    switch (insn->op) {
    case IR_SHL:
    case IR_SHR:
        return index == 2 ? PLACE_32 : place;
    case IR_BFE:
        return index >= 2 ? PLACE_32 : place;
    case IR_BFI:
        return index >= 3 ? PLACE_32 : place;
    case IR_MUL:
    case IR_MAD:
        if (insn->half == IR_WIDE && (index == 0 || index == 3))
            return operand_place_of(first) == PLACE_32 && opcodes_type_size(first) < 4 ? PLACE_32
                   : place == PLACE_32                                                 ? PLACE_64
                                                                                       : PLACE_128;
        return place;
    case IR_CVT:
    case IR_SET:
    case IR_TESTP:
    case IR_VSET:
        return index ? operand_place_of(second) : place;
    case IR_CVT_PACK:
        return index == 0 ? place : index == 3 ? PLACE_32 : operand_place_of(second);
    case IR_SLCT:
        return index == 3 ? operand_place_of(second) : place;
    case IR_POPC:
    case IR_CLZ:
    case IR_BFIND:
        return index ? place : PLACE_32;
    case IR_MATCH:
        return index == insn->destinations ? place : PLACE_32;
    case IR_DP2A:
    case IR_DP4A:
    case IR_SHFL:
    case IR_VOTE:
    case IR_PRMT:
    case IR_BMSK:
    case IR_FNS:
        return PLACE_32;
    default:
        return place;
    }
}

/* The base register of [a + offset] as 64 bits, and the offset. */
uint32_t operand_address(struct lower *lower, const struct ir_operand *operand, int64_t *offset)
{
    const struct ir_operand *part = operand;

    *offset = 0;
    if (operand->kind == IR_OPERAND_ADDRESS) {
        part = &operand->parts[0];
        *offset = operand->offset;
    }
    if (part->kind != IR_OPERAND_REG) {
        struct ir_operand whole = *part;

        if (part->kind == IR_OPERAND_IMM)
            whole.bits += (uint64_t)*offset;
        else
            whole.offset += *offset;
        *offset = 0;
        return operand_source(lower, &whole, PLACE_64);
    }
    return operand_source(lower, part, PLACE_64);
}

uint32_t operand_sum(struct lower *lower, const struct ir_operand *operand)
{
    int64_t offset;
    uint32_t base = operand_address(lower, operand, &offset);

    return !offset ? base
                   : lower_produce(lower, special_window, PLACE_64,
                                   (union ptx_how){.add = (uint64_t)offset}, base);
}
