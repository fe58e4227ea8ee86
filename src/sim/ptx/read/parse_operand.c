/* SPDX-License-Identifier: MIT */
/* Operands as they are written; whether they suit their instruction is settled in check_operand.c.
 * Until then an immediate's `component` says what literal it was (enum literal), a register's
 * `count` that a component was named, and a variable's `count` that it was indexed: x[2]; a
 * register as its index is its part. */
#include "ptx/read/read.h"

#include <string.h>

#include "ptx/read/ir.h"

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

static void variable_operand(struct parser *parser, const struct symbol *symbol,
                             struct ir_operand *operand)
{
    struct value value;
    uint32_t line = parser->token.line;
    if (parse_is(parser, '[')) {
        parse_index(parser, symbol, operand);
        return;
    }
    if (!parse_accept(parser, '+') || !parse_expr_constant(parser, &value))
        return;
    if (value.kind == LITERAL_F32 || value.kind == LITERAL_F64)
        parse_error(parser, line, "Integer offset expected");
    operand->offset = (int64_t)value.bits;
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
    struct symbol copy;
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
    int64_t offset = 0;
    *operand = (struct ir_operand){.kind = IR_OPERAND_ADDRESS};
    parse_next(parser);
    plain_operand(parser, &parts[0], false);
    if (parts[0].kind == IR_OPERAND_REG && parse_accept(parser, '+')) {
        struct value value;
        uint32_t line = parser->token.line;
        if (!parse_expr_constant(parser, &value))
            return;
        if (value.kind == LITERAL_F32 || value.kind == LITERAL_F64)
            parse_error(parser, line, "Integer offset expected");
        offset = (int64_t)value.bits;
    } else if (parts[0].kind != IR_OPERAND_REG) {
        offset = parts[0].offset;
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
    operand->offset = offset;
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
