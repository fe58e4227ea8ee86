/* SPDX-License-Identifier: MIT */
/* A function's statements: scopes, declarations, labels and tables, instructions. */
#include "ptx/read/read.h"

#include <string.h>

#include "ptx/read/ir.h"

/* --- Tables: what stands behind a label and is no code --- */
static void add_table(struct parser *parser, struct name name)
{
    if (parse_list_add(parser->reader, &parser->tables, sizeof(struct ir_table)))
        symbol_add(parser, name, SYMBOL_TABLE, parser->tables.count - 1);
}

static void keep_indices(struct parser *parser, uint32_t table)
{
    uint32_t count = parser->indices.count;
    uint32_t *indices = parse_move(parser, &parser->indices, sizeof *indices);
    struct ir_table *tables = parser->tables.data;
    tables[table].indices = indices;
    tables[table].count = indices ? count : 0;
}

/* Both lists may grow while the pending labels are added, so that the table goes by its index. */
static void branch_targets(struct parser *parser, uint32_t table)
{
    parser->indices.count = 0;
    uint32_t first = parser->pending.count;
    do {
        struct name name;
        uint32_t line = parser->token.line;
        if (!parse_name(parser, &name))
            break;
        uint32_t *index = parse_list_add(parser->reader, &parser->indices, sizeof *index);
        struct pending *pending = parse_insn_pending_add(parser, name, line);
        if (!index || !pending)
            break;
        pending->table = table;
        pending->operand = parser->indices.count - 1;
    } while (parse_accept(parser, ','));
    keep_indices(parser, table);
    if (parser->fatal || parser->reader->no_memory)
        parser->pending.count = first; /* of a table that has none */
}

static void call_targets(struct parser *parser, uint32_t table)
{
    parser->indices.count = 0;
    do {
        struct name name;
        uint32_t line = parser->token.line;
        if (!parse_name(parser, &name))
            break;
        struct symbol *symbol = symbol_find(parser, name);
        if (!symbol || symbol->kind != SYMBOL_FUNCTION) {
            parse_error(parser, line, "Unknown symbol '%.*s'", (int)name.length, name.text);
            continue;
        }
        ((struct link_entry *)parser->reader->function_links.data)[symbol->index].used = true;
        uint32_t *index = parse_list_add(parser->reader, &parser->indices, sizeof *index);
        if (!index)
            break;
        *index = symbol->index;
    } while (parse_accept(parser, ','));
    keep_indices(parser, table);
    ((struct ir_table *)parser->tables.data)[table].functions = true;
}

/* .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn */
static void prototype(struct parser *parser, uint32_t index)
{
    struct ir_table table = {0};
    struct name name;
    bool variadic = false;
    uint64_t ignored;
    if (parse_is(parser, '('))
        parse_function_parameters(parser, &table.returns, &table.return_count, &variadic);
    if (!parse_name(parser, &name))
        return;
    if (parse_is(parser, '('))
        parse_function_parameters(parser, &table.params, &table.param_count, &variadic);
    while (parser->token.kind == TOKEN_WORD) {
        if (!parse_accept_word(parser, "noreturn") && !parse_accept_word(parser, "abi_preserve") &&
            !parse_accept_word(parser, "abi_preserve_control")) {
            parse_syntax(parser);
            return;
        }
        if (parser->token.kind == TOKEN_INT)
            parse_integer(parser, &ignored);
    }
    table.prototype = true;
    ((struct ir_table *)parser->tables.data)[index] = table;
}

static void table_statement(struct parser *parser, struct name name)
{
    bool branches = parse_is_word(parser, "branchtargets");
    bool calls = parse_is_word(parser, "calltargets");
    add_table(parser, name); /* one of a name that is taken is read, too */
    if (parser->reader->no_memory)
        return;
    uint32_t index = parser->tables.count - 1;
    parse_next(parser);
    if (branches)
        branch_targets(parser, index);
    else if (calls)
        call_targets(parser, index);
    else
        prototype(parser, index);
    parse_expect(parser, ';');
}

static void label(struct parser *parser)
{
    struct name name;
    parse_name(parser, &name);
    parse_expect(parser, ':');
    if (parse_is_word(parser, "branchtargets") || parse_is_word(parser, "calltargets") ||
        parse_is_word(parser, "callprototype")) {
        table_statement(parser, name);
        return;
    }
    symbol_add(parser, name, SYMBOL_LABEL, parser->insns.count);
    parser->last_label = parser->insns.count;
}

static bool at_label(const struct parser *parser)
{
    struct lexer ahead = parser->lexer;
    struct token token;
    if (parser->token.kind != TOKEN_NAME)
        return false;
    if (ahead.at < ahead.end && *ahead.at == '.') /* nearly every instruction */
        return false;
    lex_next(&ahead, &token);
    return token.kind == TOKEN_PUNCT && token.value == ':';
}

static void declaration(struct parser *parser)
{
    static const struct {
        const char *word;
        uint8_t space;
    } spaces[] = {
        {"param", PTX_SPACE_PARAM},   {"local", PTX_SPACE_LOCAL}, {"shared", PTX_SPACE_SHARED},
        {"global", PTX_SPACE_GLOBAL}, {"const", PTX_SPACE_CONST},
    };
    if (parse_accept_word(parser, "reg")) {
        parse_variable_registers(parser);
        return;
    }
    if (parse_is_word(parser, "loc") || parse_is_word(parser, "pragma")) {
        parse_module_debug(parser);
        return;
    }
    uint8_t linkage = IR_STATIC;
    if (parse_is_word(parser, "extern") || parse_is_word(parser, "visible") ||
        parse_is_word(parser, "weak")) {
        parse_error(parser, parser->token.line, "Linkage directives are for module scope");
        parse_next(parser);
    }
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        if (parse_accept_word(parser, spaces[i].word)) {
            parse_variable(parser, spaces[i].space, linkage);
            return;
        }
    }
    parse_syntax(parser);
}

static void statement(struct parser *parser)
{
    if (parser->token.kind == TOKEN_WORD)
        declaration(parser);
    else if (at_label(parser))
        label(parser);
    else if (parser->token.kind == TOKEN_NAME || parse_is(parser, '@'))
        parse_insn(parser);
    else
        parse_syntax(parser);
}

/* To the closing brace of the function; scopes are kept in an array, not on the stack. */
void parse_body(struct parser *parser)
{
    uint32_t first[MAX_NESTING];
    unsigned outer = parser->depth;
    while (parser->token.kind != TOKEN_END) {
        if (parse_is(parser, '{')) {
            if (parser->depth - outer == MAX_NESTING) {
                parse_error(parser, parser->token.line, "Scopes are nested too deeply");
                parse_syntax(parser);
                return;
            }
            first[parser->depth - outer] = parser->pending.count;
            parser->depth++;
            parse_next(parser);
        } else if (parse_is(parser, '}')) {
            bool last = parser->depth == outer;
            if (!last) {
                parse_insn_pending(parser, first[parser->depth - outer - 1]);
                symbol_leave(parser, parser->depth);
                parser->depth--;
            }
            parse_next(parser);
            if (last)
                return;
        } else {
            statement(parser);
        }
    }
    parse_syntax(parser);
    symbol_leave(parser, outer + 1);
    parser->depth = outer;
}
