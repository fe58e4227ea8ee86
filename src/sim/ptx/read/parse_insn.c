/* SPDX-License-Identifier: MIT */
/* One instruction: @guard, mnemonic and modifiers, operands, semicolon. */

#include "ptx/read/check.h"

struct pending *parse_insn_pending_add(struct parser *parser, struct name name, uint32_t line)
{
    struct pending *pending = parse_list_add(parser->reader, &parser->pending, sizeof *pending);
    if (pending)
        *pending = (struct pending){.name = name, .line = line, .insn = UINT32_MAX};
    return pending;
}

/* Give a label or a table to what waits for it. */
static void resolve(struct parser *parser, const struct pending *pending, uint32_t index,
                    uint8_t kind)
{
    struct ir_table *tables = parser->tables.data;
    if (pending->insn == UINT32_MAX) {
        tables[pending->table].indices[pending->operand] = index;
        return;
    }
    struct ir_insn *insn = (struct ir_insn *)parser->insns.data + pending->insn;
    insn->operands[pending->operand] = (struct ir_operand){.kind = kind, .index = index};
}

/* At the end of a scope: what its labels answer is done, the rest waits for the outer scope. */
void parse_insn_pending(struct parser *parser, uint32_t from)
{
    struct pending *all = parser->pending.data;
    uint32_t kept = from;
    for (uint32_t i = from; i < parser->pending.count; i++) {
        struct symbol *label = symbol_find_label(parser, all[i].name);
        struct symbol *table = !label ? symbol_find(parser, all[i].name) : NULL;
        if (label && label->depth == parser->depth) {
            resolve(parser, &all[i], label->index, IR_OPERAND_LABEL);
        } else if (table && table->kind == SYMBOL_TABLE && table->depth == parser->depth &&
                   all[i].insn != UINT32_MAX) {
            resolve(parser, &all[i], table->index, IR_OPERAND_TABLE);
        } else if (parser->depth <= 1) {
            parse_unknown(parser, all[i].line, all[i].name);
        } else {
            all[kept++] = all[i];
        }
    }
    parser->pending.count = kept;
}

static bool read_guard(struct parser *parser, struct reading *reading)
{
    struct name name;
    parse_next(parser);
    reading->guard_negate = parse_accept(parser, '!');
    uint32_t line = parser->token.line;
    if (!parse_name(parser, &name))
        return false;
    const struct symbol *symbol = symbol_find(parser, name);
    const struct ir_register *reg = NULL;
    if (symbol && symbol->kind == SYMBOL_REGISTER)
        reg = (const struct ir_register *)parser->registers.data + symbol->index;
    if (!symbol)
        parse_unknown(parser, line, name);
    else if (!reg || reg->type != IR_PRED)
        parse_error(parser, line, "Predicate expression expected");
    else
        reading->guard = symbol->index;
    reading->guarded = true;
    return true;
}

static bool read_modifiers(struct parser *parser, struct reading *reading)
{
    while (parser->token.kind == TOKEN_WORD) {
        if (reading->modifier_count == MAX_MODIFIERS)
            return parse_syntax(parser);
        uint32_t at = reading->modifier_count++;
        reading->words[at] = (struct name){parser->token.text, parser->token.length};
        reading->modifiers[at] =
            form_modifier_find(parser->reader, parser->token.text, parser->token.length);
        parse_next(parser);
    }
    return true;
}

/* To the semicolon, without a look at what stands before it. */
static void skip_statement(struct parser *parser)
{
    while (parser->token.kind != TOKEN_END && !parse_is(parser, ';') && !parse_is(parser, '}'))
        if (parse_is(parser, '{'))
            while (parser->token.kind != TOKEN_END && !parse_accept(parser, '}'))
                parse_next(parser);
        else
            parse_next(parser);
    parse_expect(parser, ';');
}

/* --- Calls --- */
static bool call_list(struct parser *parser, struct ir_operand *group)
{
    struct list parts = {0};
    *group = (struct ir_operand){.kind = IR_OPERAND_GROUP};
    if (!parse_accept(parser, ')')) {
        do {
            struct ir_operand *part =
                parse_list_add(parser->reader, &parser->arguments, sizeof *part);
            if (!part || !parse_operand(parser, part, false))
                return false;
            parts.count++;
        } while (parse_accept(parser, ','));
        if (!parse_expect(parser, ')'))
            return false;
    }
    if (parts.count > UINT8_MAX) {
        parse_error(parser, parser->token.line, "Too many arguments in call, at most 255 expected");
        parser->arguments.count = 0;
        return true;
    }
    group->count = (uint8_t)parts.count;
    group->parts = parse_move(parser->reader, &parser->arguments, sizeof *group->parts);
    return group->parts;
}

static bool callee(struct parser *parser, struct ir_operand *operand)
{
    uint32_t line = parser->token.line;
    if (!parse_operand(parser, operand, false))
        return false;
    bool reg = operand->kind == IR_OPERAND_REG && operand->count == 0 && !operand->negate;
    if (operand->kind == IR_OPERAND_LABEL)
        parse_unknown(parser, line, parse_operand_name(operand));
    else if (operand->kind != IR_OPERAND_FUNCTION && !reg)
        parse_error(parser, line, "Function expected for instruction 'call'");
    return true;
}

static bool call_operands(struct parser *parser, struct reading *reading)
{
    struct ir_operand *operands = reading->operands;
    operands[0] = operands[2] = (struct ir_operand){.kind = IR_OPERAND_GROUP};
    if (parse_accept(parser, '(') &&
        (!call_list(parser, &operands[0]) || !parse_expect(parser, ',')))
        return false;
    if (!callee(parser, &operands[1]))
        return false;
    reading->operand_count = 3;
    if (!parse_accept(parser, ','))
        return true;
    if (parse_accept(parser, '(')) {
        if (!call_list(parser, &operands[2]))
            return false;
        if (!parse_accept(parser, ','))
            return true;
    }
    reading->operand_count = 4;
    return parse_operand(parser, &operands[3], false);
}

/* Integers, floats, or bits, which are both. */
static bool same_kind(uint8_t one, uint8_t other)
{
    uint8_t types[2] = {one, other};
    unsigned kinds = 3;
    for (unsigned i = 0; i < 2; i++)
        if (types[i] >= IR_U8 && types[i] <= IR_S64)
            kinds &= 1;
        else if (types[i] == IR_F16 || types[i] == IR_F32 || types[i] == IR_F64)
            kinds &= 2;
    return kinds != 0;
}

static bool argument_fits(const struct parser *parser, const struct ir_operand *argument,
                          const struct ir_parameter *parameter)
{
    if (argument->kind == IR_OPERAND_LOCAL) {
        const struct ir_variable *variable = check_operand_variable(parser, argument);
        return variable->space == PTX_SPACE_PARAM && argument->offset == 0 &&
               variable->size == parameter->size;
    }
    if (argument->kind == IR_OPERAND_REG) {
        const struct ir_register *reg = check_operand_register(parser, argument);
        return reg->type == IR_PRED ||
               ((uint64_t)opcodes_type_size(reg->type) * reg->vector == parameter->size &&
                same_kind(reg->type, parameter->type));
    }
    return argument->kind == IR_OPERAND_IMM || argument->kind == IR_OPERAND_PARAM ||
           argument->kind == IR_OPERAND_RETURN || argument->kind == IR_OPERAND_SINK;
}

static bool check_arguments(struct parser *parser, const struct reading *reading,
                            struct ir_operand *group, const struct ir_parameter *parameters,
                            uint32_t count, bool variadic)
{
    if (group->count < count || (group->count > count && !variadic))
        return parse_error(parser, reading->line,
                           "Call has wrong number of parameters, %u expected and %u given", count,
                           group->count);
    for (uint32_t i = 0; i < group->count; i++) {
        struct ir_operand *part = &group->parts[i];
        const struct ir_parameter *parameter = i < count ? &parameters[i] : NULL;
        bool open = variadic && i + 1 >= count;
        if (part->kind == IR_OPERAND_LABEL)
            return parse_unknown(parser, reading->line, parse_operand_name(part));
        if (parameter && !open && !argument_fits(parser, part, parameter))
            return parse_error(parser, reading->line,
                               "Type of argument %u does not match in 'call'", i);
        if (part->kind == IR_OPERAND_IMM)
            check_fix_immediate(part, parameter ? parameter->type : (uint8_t)IR_B64);
        part->count = 0;
    }
    return true;
}

static bool check_call(struct parser *parser, struct reading *reading)
{
    struct ir_operand *operands = reading->operands;
    if (operands[1].kind == IR_OPERAND_FUNCTION) {
        const struct ir_function *function =
            (const struct ir_function *)parser->reader->functions.data + operands[1].index;
        return check_arguments(parser, reading, &operands[0], function->returns,
                               function->return_count, false) &&
               check_arguments(parser, reading, &operands[2], function->params,
                               function->param_count, function->variadic);
    }
    if (operands[1].kind != IR_OPERAND_REG)
        return false;
    const struct ir_table *table = NULL;
    if (reading->operand_count < 4)
        return parse_error(parser, reading->line,
                           "Prototype or list of targets expected in indirect call");
    if (operands[3].kind == IR_OPERAND_TABLE)
        table = (const struct ir_table *)parser->tables.data + operands[3].index;
    bool prototype = table && table->prototype;
    if (prototype)
        return check_arguments(parser, reading, &operands[0], table->returns, table->return_count,
                               false) &&
               check_arguments(parser, reading, &operands[2], table->params, table->param_count,
                               false);
    return check_arguments(parser, reading, &operands[0], NULL, 0, true) &&
           check_arguments(parser, reading, &operands[2], NULL, 0, true);
}

static bool finish_call(struct parser *parser, struct reading *reading, struct ir_insn *insn)
{
    int at = NO_INDEX;
    const struct form_compiled *form = form_next(parser, reading, &at, 0);
    if (!form)
        return parse_error(parser, reading->line, "Illegal modifier for instruction 'call'");
    if (!check_call(parser, reading))
        return false;
    insn->op = IR_CALL;
    check_mode_apply(reading, insn);
    insn->destinations = 1;
    insn->count = (uint8_t)reading->operand_count;
    memcpy(insn->operands, reading->operands, reading->operand_count * sizeof *insn->operands);
    return true;
}

/* Labels and tables are known at the scope's end. */
static void await(struct parser *parser, const struct ir_insn *insn, uint32_t index)
{
    for (uint8_t i = 0; i < insn->count; i++) {
        if (insn->operands[i].kind != IR_OPERAND_LABEL)
            continue;
        struct pending *pending =
            parse_insn_pending_add(parser, parse_operand_name(&insn->operands[i]), insn->line);
        if (!pending)
            return;
        pending->insn = index;
        pending->operand = i;
    }
}

static void add_insn(struct parser *parser, struct reading *reading, bool call)
{
    struct ir_insn insn = {.line = reading->line,
                           .guarded = reading->guarded,
                           .guard_negate = reading->guard_negate,
                           .guard = reading->guard,
                           .source_line = parser->source_line,
                           .source_file = parser->source_file,
                           .used_bytes = parser->used_bytes};
    parser->used_bytes = 0;
    if (!(call ? finish_call(parser, reading, &insn) : check_insn(parser, reading, &insn)))
        return;
    parse_operand_compute(parser, &insn);
    struct ir_insn *added = parse_list_add(parser->reader, &parser->insns, sizeof *added);
    if (!added)
        return;
    *added = insn;
    await(parser, added, parser->insns.count - 1);
}

void parse_insn(struct parser *parser)
{
    struct reading reading = {.line = parser->token.line};
    if (parse_is(parser, '@') && !read_guard(parser, &reading))
        return;
    reading.line = parser->token.line;
    if (!parse_name(parser, &reading.mnemonic) || !read_modifiers(parser, &reading))
        return;
    if (!check_insn_known(parser, &reading)) {
        skip_statement(parser);
        return;
    }
    const char *reason = form_lacking(parser, &reading);
    if (reason) {
        struct name last = reading.modifier_count > 0 ? reading.words[0] : (struct name){"", 0};
        parse_lacking(parser, reading.line,
                      "Instruction '%.*s%s%.*s' is not supported by the simulated device: %s",
                      (int)reading.mnemonic.length, reading.mnemonic.text,
                      last.length > 0 ? "." : "", (int)(last.length < 64 ? last.length : 64),
                      last.text, reason);
        skip_statement(parser);
        return;
    }
    bool call = parse_name_is(reading.mnemonic, "call");
    bool branch = parse_name_is(reading.mnemonic, "bra");
    parser->arguments.count = 0;
    if (call ? !call_operands(parser, &reading) : !parse_operand_list(parser, &reading, branch))
        return;
    if (parse_expect(parser, ';'))
        add_insn(parser, &reading, call);
}
