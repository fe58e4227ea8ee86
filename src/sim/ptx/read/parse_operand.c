/* SPDX-License-Identifier: MIT */
/* Operands as they are written; whether they suit their instruction is settled in check_operand.c.
 * Until then an immediate's `component` says what literal it was (enum literal), a register's
 * `count` that a component was named, and a variable's `count` that it was indexed: x[2]; a
 * register as its index is its part. */

#include "ptx/read/check.h"

static void constant_operand(struct parser *parser, struct ir_operand *operand)
{
    struct value value;
    if (!parse_expr_constant(parser, &value))
        return;
    operand->kind = IR_OPERAND_IMM;
    operand->component = (uint8_t)value.kind;
    operand->bits = value.bits;
}

struct name parse_operand_name(const struct ir_operand *operand)
{
    return (struct name){(const char *)(uintptr_t)operand->bits, operand->index};
}

static void unknown_operand(struct ir_operand *operand, struct name name)
{
    operand->kind = IR_OPERAND_LABEL;
    operand->bits = (uint64_t)(uintptr_t)name.text;
    operand->index = name.length;
}

static bool component_named(struct name word, uint8_t *component)
{
    static const char names[] = "xyzwrgba";
    const char *found = word.length == 1 ? strchr(names, *word.text) : NULL;
    if (!found || *found == '\0')
        return false;
    *component = (uint8_t)((found - names) % 4);
    return true;
}

/* .b0 .h1 of the scalar video instructions; .b7210 .h32 and .b210 .h10 of the SIMD ones. */
static bool selection_named(struct name word, struct ir_operand *operand)
{
    if (word.length < 2 || word.length > 5 || (*word.text != 'b' && *word.text != 'h'))
        return false;
    bool half = *word.text == 'h';
    for (uint32_t i = 1; i < word.length; i++) {
        unsigned digit = (unsigned)(unsigned char)word.text[i] - '0';
        if (digit > (half ? 3U : 7U))
            return false;
        operand->offset = operand->offset << 4 | digit;
    }
    if (word.length == 2 && operand->offset <= (half ? 1 : 3))
        operand->component =
            (uint8_t)((half ? IR_COMPONENT_H0 : IR_COMPONENT_B0) + operand->offset);
    else
        operand->component = IR_COMPONENT_SELECT;
    operand->count = (uint8_t)word.length; /* how many parts, plus one */
    return true;
}

static void component(struct parser *parser, const struct symbol *symbol,
                      struct ir_operand *operand)
{
    struct name word = {parser->token.text, parser->token.length};
    bool known = symbol->kind == SYMBOL_REGISTER || symbol->kind == SYMBOL_SPECIAL;
    if (known && symbol->vector > 1)
        known = component_named(word, &operand->component) && operand->component < symbol->vector;
    else if (known)
        known = symbol->kind == SYMBOL_REGISTER && selection_named(word, operand);
    if (!known)
        parse_error(parser, parser->token.line, "Unknown field '.%.*s'", (int)word.length,
                    word.text);
    else if (operand->count == 0)
        operand->count = 1;
    parse_next(parser);
}

/* --- Elements of variables: x[2] and x[%r] ---
 * The ISA leaves open what a register counts, and here it
 * does what ptxas 13.0 makes of it: of a register the low 32 bits count, without a sign. The
 * product with the size of a scalar element, also of a vector, has 32 bits. Those of an array
 * without a size are bytes. */
static uint64_t element_size(const struct parser *parser, const struct symbol *symbol)
{
    const struct ir_variable *variable = NULL;
    if (symbol->kind == SYMBOL_PARAM || symbol->kind == SYMBOL_RETURN)
        return opcodes_type_size(symbol->type);
    if (symbol->kind == SYMBOL_VARIABLE)
        variable = (const struct ir_variable *)parser->reader->variables.data + symbol->index;
    if (symbol->kind == SYMBOL_LOCAL)
        variable = (const struct ir_variable *)parser->locals.data + symbol->index;
    return variable && !variable->unsized ? opcodes_type_size(variable->type) : 1;
}

/* Integers and bits, up to 64. */
static bool can_index(const struct ir_register *reg)
{
    return reg->vector == 1 && reg->type >= IR_B8 && reg->type <= IR_S64 && reg->type != IR_B128;
}

/* A register as index becomes the operand's part; false: no register stands here. */
static bool take_register(struct parser *parser, struct ir_operand *operand)
{
    struct name name = {parser->token.text, parser->token.length};
    const struct symbol *symbol =
        parser->token.kind == TOKEN_NAME ? symbol_find(parser, name) : NULL;
    if (!symbol || symbol->kind != SYMBOL_REGISTER)
        return false;
    struct ir_operand *part = parse_alloc(parser, sizeof *part);
    if (part) {
        *part = (struct ir_operand){.kind = IR_OPERAND_REG, .index = symbol->index};
        if (!can_index(check_operand_register(parser, part)))
            parse_error(parser, parser->token.line, "Integer register expected as array index");
    }
    operand->parts = part;
    parse_next(parser);
    return true;
}

static void read_index(struct parser *parser, const struct symbol *symbol,
                       struct ir_operand *operand)
{
    uint64_t size = element_size(parser, symbol), index = 0;
    parse_next(parser);
    if (!take_register(parser, operand) || parse_accept(parser, '+'))
        if (!parse_expr_offset(parser, &index))
            return;
    if (!parse_expect(parser, ']'))
        return;
    operand->count = 2;
    operand->bits = operand->parts ? size : 0;
    operand->offset = (int64_t)(index * size);
}

static void variable_operand(struct parser *parser, const struct symbol *symbol,
                             struct ir_operand *operand)
{
    uint64_t offset;
    if (parse_is(parser, '['))
        read_index(parser, symbol, operand);
    else if (parse_accept(parser, '+') && parse_expr_offset(parser, &offset))
        operand->offset = (int64_t)offset;
}

static void symbol_operand(struct parser *parser, const struct symbol *symbol,
                           struct ir_operand *operand)
{
    static const uint8_t kinds[] = {
        [SYMBOL_REGISTER] = IR_OPERAND_REG,  [SYMBOL_SPECIAL] = IR_OPERAND_SPECIAL,
        [SYMBOL_LOCAL] = IR_OPERAND_LOCAL,   [SYMBOL_PARAM] = IR_OPERAND_PARAM,
        [SYMBOL_RETURN] = IR_OPERAND_RETURN, [SYMBOL_VARIABLE] = IR_OPERAND_VARIABLE,
        [SYMBOL_TABLE] = IR_OPERAND_TABLE,   [SYMBOL_FUNCTION] = IR_OPERAND_FUNCTION,
    };
    operand->kind = kinds[symbol->kind];
    operand->index = symbol->index;
    if (symbol->kind == SYMBOL_VARIABLE)
        ((struct link_entry *)parser->reader->variable_links.data)[symbol->index].used = true;
    if (symbol->kind == SYMBOL_FUNCTION)
        ((struct link_entry *)parser->reader->function_links.data)[symbol->index].used = true;
    if (symbol->kind == SYMBOL_SPECIAL && symbol->vector == 1)
        operand->component = (uint8_t)symbol->count;
    if (parser->token.kind == TOKEN_WORD)
        component(parser, symbol, operand);
    else if (symbol->kind == SYMBOL_LOCAL || symbol->kind == SYMBOL_PARAM ||
             symbol->kind == SYMBOL_RETURN || symbol->kind == SYMBOL_VARIABLE)
        variable_operand(parser, symbol, operand);
}

static void name_operand(struct parser *parser, struct ir_operand *operand, bool label)
{
    struct name name = {parser->token.text, parser->token.length};
    if (parse_name_is(name, "WARP_SZ")) {
        constant_operand(parser, operand);
        return;
    }
    struct symbol *symbol = label ? NULL : symbol_find(parser, name);
    struct symbol copy = {0};
    if (symbol)
        copy = *symbol; /* the next token's look-up may reuse its place */
    parse_next(parser);
    if (parse_name_is(name, "_")) {
        operand->kind = IR_OPERAND_SINK;
    } else if (symbol) {
        symbol_operand(parser, &copy, operand);
    } else {
        unknown_operand(operand, name);
        if (!label && parser->token.kind == TOKEN_WORD) {
            parse_error(parser, parser->token.line, "Unknown field '.%.*s'",
                        (int)parser->token.length, parser->token.text);
            parse_next(parser);
        }
    }
}

/* Without braces and brackets. */
static void plain_operand(struct parser *parser, struct ir_operand *operand, bool label)
{
    *operand = (struct ir_operand){.kind = IR_OPERAND_NONE};
    if (parser->token.kind == TOKEN_NAME) {
        name_operand(parser, operand, label);
        return;
    }
    if (parse_is(parser, '!') || parse_is(parser, '-')) {
        struct lexer lexer = parser->lexer;
        struct token token = parser->token;
        parse_next(parser);
        if (parser->token.kind == TOKEN_NAME &&
            !parse_name_is((struct name){parser->token.text, parser->token.length}, "WARP_SZ")) {
            name_operand(parser, operand, false);
            operand->negate = 1;
            return;
        }
        if (parser->fatal)
            return;
        parser->lexer = lexer;
        parser->token = token;
    }
    constant_operand(parser, operand);
}

static void take_parts(struct parser *parser, struct ir_operand *operand,
                       const struct ir_operand *parts, uint8_t count)
{
    operand->parts = parse_alloc(parser, count * sizeof *parts);
    if (!operand->parts)
        return;
    memcpy(operand->parts, parts, count * sizeof *parts);
    operand->count = count;
}

static void vector_operand(struct parser *parser, struct ir_operand *operand)
{
    struct ir_operand parts[MAX_PARTS];
    uint8_t count = 0;
    *operand = (struct ir_operand){.kind = IR_OPERAND_VECTOR};
    parse_next(parser);
    do {
        if (count == MAX_PARTS) {
            parse_syntax(parser);
            return;
        }
        plain_operand(parser, &parts[count++], false);
    } while (parse_accept(parser, ','));
    if (parse_expect(parser, '}'))
        take_parts(parser, operand, parts, count);
}

/* [base], [base + offset], [texture, {x, y}] */
static void bracket_operand(struct parser *parser, struct ir_operand *operand)
{
    struct ir_operand parts[MAX_GROUP];
    uint8_t count = 1;
    uint64_t offset = 0;
    *operand = (struct ir_operand){.kind = IR_OPERAND_ADDRESS};
    parse_next(parser);
    plain_operand(parser, &parts[0], false);
    if (parts[0].kind == IR_OPERAND_REG && parse_accept(parser, '+')) {
        if (!parse_expr_offset(parser, &offset))
            return;
    } else if (parts[0].kind != IR_OPERAND_REG) {
        offset = (uint64_t)parts[0].offset;
        parts[0].offset = 0;
    }
    while (parse_accept(parser, ',')) {
        operand->kind = IR_OPERAND_GROUP;
        if (count == MAX_GROUP) {
            parse_syntax(parser);
            return;
        }
        if (parse_is(parser, '{'))
            vector_operand(parser, &parts[count++]);
        else
            plain_operand(parser, &parts[count++], false);
    }
    if (!parse_expect(parser, ']'))
        return;
    take_parts(parser, operand, parts, count);
    operand->offset = (int64_t)offset;
}

bool parse_operand(struct parser *parser, struct ir_operand *operand, bool label)
{
    if (parse_is(parser, '{'))
        vector_operand(parser, operand);
    else if (parse_is(parser, '['))
        bracket_operand(parser, operand);
    else
        plain_operand(parser, operand, label);
    return !parser->fatal;
}

bool parse_operand_list(struct parser *parser, struct reading *reading, bool label)
{
    bool joined = false;
    if (parse_is(parser, ';'))
        return true;
    for (;;) {
        struct ir_operand dropped;
        bool room = reading->operand_count <= IR_MAX_OPERANDS;
        if (room)
            reading->joined[reading->operand_count] = joined;
        if (!parse_operand(parser, room ? &reading->operands[reading->operand_count] : &dropped,
                           label))
            return false;
        if (room)
            reading->operand_count++;
        joined = parse_is(parser, '|');
        if (!joined && !parse_is(parser, ','))
            return true;
        parse_next(parser);
    }
}

/* --- Addresses of elements --- */
/* A register that has no name in the text. */
static struct ir_operand new_register(struct parser *parser, uint8_t type)
{
    struct ir_operand operand = {.kind = IR_OPERAND_REG, .index = parser->registers.count};
    struct ir_register *reg = parse_list_add(parser->reader, &parser->registers, sizeof *reg);
    if (reg)
        *reg = (struct ir_register){.name = "element", .type = type, .vector = 1};
    return operand;
}

static struct ir_operand number(uint64_t bits)
{
    return (struct ir_operand){.kind = IR_OPERAND_IMM, .bits = bits};
}

/* What an instruction of these types makes of the sources. */
static struct ir_operand compute(struct parser *parser, uint32_t line, uint16_t op, uint8_t to,
                                 uint8_t from, const struct ir_operand *sources, uint8_t count)
{
    struct ir_insn insn = {.op = op,
                           .types = {to, from},
                           .type_count = from == IR_NONE ? 1 : 2,
                           .half = op == IR_MAD ? IR_LO : IR_HALF_NONE,
                           .vector = 1,
                           .destinations = 1,
                           .count = count + 1U,
                           .operands = {new_register(parser, to)},
                           .line = line,
                           .source_line = parser->source_line,
                           .source_file = parser->source_file};
    struct ir_insn *added = parse_list_add(parser->reader, &parser->insns, sizeof *added);
    memcpy(insn.operands + 1, sources, count * sizeof *sources);
    if (added)
        *added = insn;
    return insn.operands[0];
}

static uint8_t unsigned_type(unsigned size)
{
    return size == 8 ? IR_U64 : size == 4 ? IR_U32 : size == 2 ? IR_U16 : IR_U8;
}

/* Addresses of 32 bits wrap around: an element may stand before its variable. */
static bool wraps(const struct parser *parser, const struct ir_operand *symbol)
{
    return symbol->kind != IR_OPERAND_VARIABLE ||
           check_operand_variable(parser, symbol)->space != PTX_SPACE_GLOBAL;
}

/* A register with the address of the element. */
static struct ir_operand address_of(struct parser *parser, uint32_t line,
                                    const struct ir_operand *element, int64_t offset)
{
    struct ir_operand symbol = *element, index = element->parts[0], place;
    uint8_t type = unsigned_type(opcodes_type_size(check_operand_register(parser, &index)->type));
    if (type != IR_U32)
        index = compute(parser, line, IR_CVT, IR_U32, type, &index, 1);
    place =
        compute(parser, line, IR_MAD, IR_U32, IR_NONE,
                (struct ir_operand[]){index, number(element->bits), number((uint32_t)offset)}, 3);
    symbol.parts = NULL;
    symbol.bits = 0;
    symbol.offset = 0;
    place =
        compute(parser, line, IR_CVT, IR_U64, wraps(parser, &symbol) ? IR_S32 : IR_U32, &place, 1);
    return compute(parser, line, IR_ADD, IR_U64, IR_NONE, (struct ir_operand[]){place, symbol}, 2);
}

void parse_operand_compute(struct parser *parser, struct ir_insn *insn)
{
    for (uint8_t i = 0; i < insn->count; i++) {
        struct ir_operand *operand = &insn->operands[i];
        bool address = operand->kind == IR_OPERAND_ADDRESS;
        struct ir_operand *element = address ? operand->parts : operand;
        if (!check_operand_is_symbol(element) || !element->parts)
            continue;
        struct ir_operand result =
            address_of(parser, insn->line, element, address ? operand->offset : element->offset);
        if (!address && opcodes_type_size(insn->types[0]) == 4)
            result = compute(parser, insn->line, IR_CVT, IR_U32, IR_U64, &result, 1);
        *element = result;
        operand->offset = 0;
    }
}
