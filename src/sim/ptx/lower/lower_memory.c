/* SPDX-License-Identifier: MIT */
/* Loads, stores, atomics and the other instructions that name memory. */
#include "ptx/lower/lower.h"

/* The rows: by size; of loads with the sign extended or not. The columns: into 32 bits, 64 bits. */
static enum load_kind load_kind_of(enum ir_type type, enum value_place place, unsigned reg_size)
{
    static const uint8_t kinds[5][2][2] = {{{LOAD_8_32, LOAD_8_64}, {LOAD_S8_32, LOAD_S8_64}},
                                           {{LOAD_16_32, LOAD_16_64}, {LOAD_S16_32, LOAD_S16_64}},
                                           {{LOAD_32_32, LOAD_32_64}, {LOAD_32_32, LOAD_S32_64}},
                                           {{LOAD_64_64, LOAD_64_64}, {LOAD_64_64, LOAD_64_64}},
                                           {{LOAD_128, LOAD_128}, {LOAD_128, LOAD_128}}};
    const unsigned size = opcodes_type_size(type);
    const bool wide = place == PLACE_64, sign = opcodes_types[type].is_signed;

    if (sign && !wide && reg_size == 2 && size < 4)
        return size == 1 ? LOAD_S8_16 : LOAD_16_32;
    return (enum load_kind)
        kinds[__builtin_ctz(size)][sign && (wide || size == 1 || reg_size > 2)][wide];
}

static enum store_kind store_kind_of(enum ir_type type, enum value_place place)
{
    static const uint8_t kinds[5][2] = {{STORE_8_32, STORE_8_64},
                                        {STORE_16_32, STORE_16_64},
                                        {STORE_32_32, STORE_32_64},
                                        {STORE_64_64, STORE_64_64},
                                        {STORE_128, STORE_128}};

    return (enum store_kind)kinds[__builtin_ctz(opcodes_type_size(type))][place == PLACE_64];
}

enum direct { DIRECT_NO, DIRECT_PARAM, DIRECT_FRAME };

/* Is the address a fixed place in the parameters or in the frame? */
static enum direct direct_place(struct lower *lower, const struct ir_operand *address,
                                uint64_t size, uint64_t *at)
{
    const struct ir_operand *part = address;
    uint64_t limit;
    enum direct direct = DIRECT_FRAME;
    int64_t offset = 0;

    if (address->kind == IR_OPERAND_ADDRESS) {
        part = &address->parts[0];
        offset = address->offset;
    }
    offset += part->offset;
    if (part->kind == IR_OPERAND_PARAM && lower->fn->entry) {
        *at = lower->fn->params[part->index].offset;
        limit = lower->code->info.param_size - *at;
        direct = DIRECT_PARAM;
    } else if (part->kind == IR_OPERAND_PARAM) {
        *at = lower->params_at[part->index];
        limit = lower->fn->params[part->index].size;
    } else if (part->kind == IR_OPERAND_RETURN) {
        *at = lower->returns_at[part->index];
        limit = lower->fn->returns[part->index].size;
    } else if (part->kind == IR_OPERAND_LOCAL &&
               lower->fn->variables[part->index].space != PTX_SPACE_SHARED &&
               !(check_wanted() & PTX_CHECK_INIT &&
                 lower->fn->variables[part->index].space == PTX_SPACE_LOCAL)) {
        *at = lower->variable_at[part->index];
        limit = lower->fn->variables[part->index].size;
    } else {
        return DIRECT_NO;
    }
    if (offset < 0 || (uint64_t)offset > limit || limit - (uint64_t)offset < size ||
        (*at + (uint64_t)offset) & (size - 1))
        return DIRECT_NO;
    *at += (uint64_t)offset;
    return direct;
}

static enum memory_space memory_space_of(const struct lower *lower, const struct ir_insn *insn)
{
    switch (insn->space) {
    case PTX_SPACE_GENERIC:
        return MEMORY_GENERIC;
    case PTX_SPACE_SHARED:
        return MEMORY_SHARED;
    case PTX_SPACE_LOCAL:
        return MEMORY_LOCAL;
    case PTX_SPACE_PARAM:
        return lower->fn->entry ? MEMORY_PARAM : MEMORY_LOCAL;
    default:
        return MEMORY_GLOBAL;
    }
}

static bool is_ordered(const struct ir_insn *insn)
{
    return insn->order != IR_ORDER_WEAK && insn->space != PTX_SPACE_LOCAL &&
           insn->space != PTX_SPACE_PARAM;
}

static uint32_t part_size(const struct lower *lower, const struct ir_operand *operand)
{
    if (operand->kind != IR_OPERAND_REG)
        return 4;
    return opcodes_type_size(lower->fn->registers[operand->index].type);
}

/* Of the kinds that extend the sign, and of the widest. */
static bool is_other_load(enum load_kind kind)
{
    return kind == LOAD_S8_32 || kind == LOAD_S8_16 || kind == LOAD_S16_32 || kind == LOAD_S8_64 ||
           kind == LOAD_S16_64 || kind == LOAD_S32_64 || kind == LOAD_128;
}

static void lower_load_direct(struct lower *lower, enum direct direct, uint64_t at,
                              const struct ir_operand *parts, uint32_t count)
{
    enum ir_type type = (enum ir_type)lower->insn->types[0];

    for (uint32_t i = 0; i < count; i++) {
        enum value_place place = operand_place(lower, &parts[i], operand_place_of(type));
        enum load_kind kind = load_kind_of(type, place, part_size(lower, &parts[i]));

        uint32_t dest =
            operand_dest(lower, &parts[i], kind == LOAD_128 ? PLACE_128 : place, IR_NONE);
        if (dest == PTX_ABSENT)
            continue;
        uint32_t step = lower_step(
            lower, direct == DIRECT_PARAM ? memory_load_param : memory_load_frame, CONTROL_RUN);
        lower->steps[step].how.fixed = (struct how_fixed){
            .at = at + (uint64_t)i * memory_load_size(kind), .kind = (uint8_t)kind};
        if (direct == DIRECT_PARAM && !is_other_load(kind)) {
            lower->steps[step].how.fixed.bytes = (uint8_t)memory_load_size(kind);
            lower_note_op(lower, step, AFFINE_PARAM);
        }
        lower_def(lower, step, 0, dest);
    }
}

/* Quarters at the end of a load of device memory whose bytes nothing uses. */
static uint8_t unused_quarters(const struct ir_insn *insn, enum memory_space space, uint32_t size)
{
    uint32_t used = insn->used_bytes, past;

    if (used == 0 || size < 4 || (space != MEMORY_GLOBAL && space != MEMORY_GENERIC))
        return 0;
    past = 32 - (uint32_t)__builtin_clz(used);
    return (uint8_t)(past >= size ? 0 : (size - past) / (size / 4));
}

void lower_memory_load(struct lower *lower, const struct ir_insn *insn)
{
    enum ir_type type = (enum ir_type)insn->types[0];
    uint32_t count, step, address;
    const struct ir_operand *parts = operand_parts(&insn->operands[0], &count);
    enum memory_space space = memory_space_of(lower, insn);
    bool ordered = is_ordered(insn), list = count > 1;
    uint32_t dests[LOWER_MAX_PARTS];
    enum value_place place = PLACE_32;
    uint64_t at;
    int64_t offset;

    /* Sinks take the place of the others. */
    for (uint32_t i = 0; i < count; i++)
        if (parts[i].kind == IR_OPERAND_REG)
            place = operand_place(lower, &parts[i], place);
    enum load_kind kind = load_kind_of(type, place, part_size(lower, &parts[0]));
    enum direct direct =
        direct_place(lower, &insn->operands[1], (uint64_t)memory_load_size(kind) * count, &at);
    if (direct != DIRECT_NO) {
        lower_load_direct(lower, direct, at, parts, count);
        return;
    }
    address = operand_address(lower, &insn->operands[1], &offset);
    for (uint32_t i = 0; i < count; i++)
        dests[i] = operand_dest(lower, &parts[i], kind == LOAD_128 ? PLACE_128 : place, IR_NONE);
    step = lower_step(lower, list || ordered ? memory_load_any : select_load(space, kind),
                      ordered ? CONTROL_SPIN : CONTROL_MEMORY);
    lower->steps[step].how.memory =
        (struct how_memory){.slot = memory_slot(step),
                            .space = (uint8_t)space,
                            .unused = unused_quarters(insn, space, memory_load_size(kind) * count),
                            .ordered = ordered,
                            .load = (uint8_t)kind,
                            .offset = (uint64_t)offset};
    if (list)
        lower_list(lower, step, count + 1);
    else if (!ordered)
        lower_note_op(lower, step, AFFINE_LOAD);
    lower_defs(lower, step, 0, dests, count);
    lower_use(lower, step, count, address);
}

static void lower_store_direct(struct lower *lower, uint64_t at, const struct ir_operand *parts,
                               uint32_t count)
{
    enum ir_type type = (enum ir_type)lower->insn->types[0];

    for (uint32_t i = 0; i < count; i++) {
        enum value_place place = operand_place(lower, &parts[i], operand_place_of(type));
        enum store_kind kind = store_kind_of(type, place);
        uint32_t value = operand_source(lower, &parts[i], place), step;

        step = lower_step(lower, memory_store_frame, CONTROL_RUN);
        lower->steps[step].how.fixed = (struct how_fixed){
            .at = at + (uint64_t)i * memory_store_size(kind), .kind = (uint8_t)kind};
        lower_use(lower, step, 0, value);
    }
}

void lower_memory_store(struct lower *lower, const struct ir_insn *insn)
{
    enum ir_type type = (enum ir_type)insn->types[0];
    uint32_t count, step, address;
    const struct ir_operand *parts = operand_parts(&insn->operands[1], &count);
    enum memory_space space = memory_space_of(lower, insn);
    bool ordered = is_ordered(insn), list = count > 1;
    uint32_t values[LOWER_MAX_PARTS];
    enum value_place place = operand_place_of(type);
    enum direct direct;
    uint64_t at;
    int64_t offset;

    for (uint32_t i = 0; i < count; i++)
        if (parts[i].kind == IR_OPERAND_REG)
            place = operand_place(lower, &parts[i], place);
    enum store_kind kind = store_kind_of(type, place);
    direct =
        direct_place(lower, &insn->operands[0], (uint64_t)memory_store_size(kind) * count, &at);
    if (direct == DIRECT_PARAM || insn->space == PTX_SPACE_CONST ||
        (insn->space == PTX_SPACE_PARAM && direct == DIRECT_NO && lower->fn->entry)) {
        lower_refuse(lower, "this memory is read-only, or the address is outside of it");
        return;
    }
    if (direct == DIRECT_FRAME) {
        lower_store_direct(lower, at, parts, count);
        return;
    }
    address = operand_address(lower, &insn->operands[0], &offset);
    for (uint32_t i = 0; i < count; i++)
        values[i] = operand_source(lower, &parts[i], place);
    step = lower_step(lower, list || ordered ? memory_store_any : select_store(space, kind),
                      CONTROL_MEMORY);
    lower->steps[step].how.memory = (struct how_memory){.slot = memory_slot(step),
                                                        .space = (uint8_t)space,
                                                        .ordered = ordered,
                                                        .store = (uint8_t)kind,
                                                        .offset = (uint64_t)offset};
    if (list)
        lower_list(lower, step, count + 1);
    else if (!ordered)
        lower_note_op(lower, step, AFFINE_STORE);
    lower_use(lower, step, 0, address);
    lower_uses(lower, step, 1, values, count);
}

/* atom d, [a], b, c and red [a], b; vectors as lists. */
void lower_memory_atomic(struct lower *lower, const struct ir_insn *insn)
{
    uint32_t at = insn->op == IR_ATOM, total = 1, dests[LOWER_MAX_PARTS], values[LOWER_MAX_PARTS];
    enum value_place place = operand_place_of((enum ir_type)insn->types[0]);
    uint32_t dest_count = 0, value_count = 0, address, step;
    uint32_t sources = insn->atomic == IR_ATOM_CAS ? 2 : 1;
    const struct ir_operand *parts;
    struct how_memory how = {0};
    int64_t offset;
    ptx_run *run = atomic_select(insn, &how);

    if (!run) {
        lower_refuse(lower, "this operation on this type is not supported");
        return;
    }
    address = operand_address(lower, &insn->operands[at], &offset);
    for (uint32_t i = 0; i < sources; i++) {
        uint32_t count;

        parts = operand_parts(&insn->operands[at + 1 + i], &count);
        for (uint32_t k = 0; k < count; k++)
            values[value_count++] = operand_source(lower, &parts[k], place);
    }
    total = value_count / sources;
    if (at) {
        parts = operand_parts(&insn->operands[0], &dest_count);
        for (uint32_t k = 0; k < dest_count; k++)
            dests[k] = operand_dest(lower, &parts[k], place, IR_NONE);
    }
    step = lower_step(lower, run, CONTROL_SPIN);
    how.slot = memory_slot(step);
    how.space = (uint8_t)memory_space_of(lower, insn);
    how.offset = (uint64_t)offset;
    lower->steps[step].how.memory = how;
    if (total > 1)
        lower_list(lower, step, 1 + total * 2);
    lower_defs(lower, step, total > 1 ? 1 + total : 0, dests, dest_count);
    lower_use(lower, step, total > 1 ? 0 : 1, address);
    lower_uses(lower, step, total > 1 ? 1 : 2, values, value_count);
}

void lower_memory_policy(struct lower *lower, const struct ir_insn *insn)
{
    uint32_t dest = operand_dest(lower, &insn->operands[0], PLACE_64, IR_B64);

    operand_copy(lower, move_copy64, dest, lower_pool(lower, POOL_IMMEDIATE, PLACE_64, 0, 0));
}

/* cp.async [to], [from], size, from_size: the copy is made at once. */
void lower_memory_copy(struct lower *lower, const struct ir_insn *insn)
{
    uint32_t to, from, size, present, step, ignore = PTX_ABSENT;

    if (insn->mode == IR_CP_MBARRIER_ARRIVE && insn->noinc) {
        to = operand_sum(lower, &insn->operands[0]);
        step = lower_step(lower, memory_async_mbarrier, CONTROL_MEMORY);
        lower_use(lower, step, 1, to);
        return;
    }
    if (insn->mode != IR_CP_ASYNC && insn->mode != IR_MODE_NONE)
        return; /* nothing is ever pending */
    to = operand_sum(lower, &insn->operands[0]);
    from = operand_sum(lower, &insn->operands[1]);
    size = operand_source(lower, &insn->operands[2], PLACE_32);
    present = size;
    if (insn->count > 3 && operand_place(lower, &insn->operands[3], PLACE_32) == PLACE_PREDICATE)
        ignore = operand_predicate(lower, &insn->operands[3]);
    else if (insn->count > 3)
        present = operand_source(lower, &insn->operands[3], PLACE_32);
    step = lower_step(lower, memory_async_copy, CONTROL_MEMORY);
    LOWER_USES(lower, step, to, from, size, present, ignore);
}
