/* SPDX-License-Identifier: MIT */
/* What stands outside functions: the head, linkage, debug data. */
#include "ptx/read/read.h"

#include <string.h>

#include "ptx/read/ir.h"

#define OLDEST_TARGET 10

/* --- Head --- */
static void version_directive(struct parser *parser)
{
    const struct token *token = &parser->token;
    unsigned numbers[2] = {0, 0};
    uint32_t at = 0;
    for (unsigned i = 0; i < 2; i++) {
        while (at < token->length && token->text[at] >= '0' && token->text[at] <= '9' &&
               numbers[i] < 100)
            numbers[i] = numbers[i] * 10 + (unsigned)(token->text[at++] - '0');
        if (i == 0 && (at == token->length || token->text[at++] != '.'))
            break;
    }
    if (token->kind != TOKEN_F64 || at != token->length || numbers[1] > 99) {
        parse_syntax(parser);
        return;
    }
    uint32_t line = token->line;
    unsigned newest = parser->reader->options->version;
    parser->version = 100 * numbers[0] + numbers[1];
    parse_next(parser);
    if (newest != 0 && parser->version > newest) {
        parse_error(parser, line, "Unsupported .version %u.%u; current version is '%u.%u'",
                    numbers[0], numbers[1], newest / 100, newest % 100);
        parser->reader->status = PTX_UNSUPPORTED_VERSION;
        parser->reader->stop = true;
    } else if (parser->version < 100) {
        parse_error(parser, line, "Unsupported .version %u.%u", numbers[0], numbers[1]);
    }
}

/* sm_90, sm_90a (that device only), sm_100f (its family); false: not such a name. */
static bool target_name(struct name name, unsigned *number, char *suffix)
{
    uint32_t at = 3;
    *number = 0;
    *suffix = '\0';
    if (name.length < 5 || memcmp(name.text, "sm_", 3) != 0)
        return false;
    while (at < name.length && at < 7 && name.text[at] >= '0' && name.text[at] <= '9')
        *number = *number * 10 + (unsigned)(name.text[at++] - '0');
    if (at + 1 == name.length && (name.text[at] == 'a' || name.text[at] == 'f'))
        *suffix = name.text[at++];
    return at == name.length && *number >= OLDEST_TARGET;
}

/* The PTX version that brought a target (PTX ISA, "Release Notes"). */
static unsigned first_version(unsigned target)
{
    static const struct {
        unsigned target, version;
    } rows[] = {{121, 808}, {120, 807}, {103, 808}, {100, 806}, {90, 708}, {89, 708}, {87, 704},
                {86, 701},  {80, 700},  {75, 603},  {72, 601},  {70, 600}, {60, 500}, {53, 402},
                {52, 401},  {50, 400},  {35, 301},  {30, 300},  {20, 200}, {12, 102}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (target >= rows[i].target)
            return rows[i].version;
    return 0;
}

static void check_target(struct parser *parser, uint32_t line, struct name name, char suffix)
{
    unsigned device = parser->reader->options->architecture;
    bool good = parser->target <= device;
    if (suffix == 'a')
        good = parser->target == device;
    else if (suffix == 'f')
        good = parser->target <= device && parser->target / 10 == device / 10;
    if (good && parser->version < first_version(parser->target))
        parse_error(parser, line, "PTX .version %u.%u does not support .target %.*s",
                    parser->version / 100, parser->version % 100, (int)name.length, name.text);
    if (good || device == 0)
        return;
    parse_error(parser, line, "Device sm_%u cannot run code for .target %.*s", device,
                (int)name.length, name.text);
    parser->reader->status = PTX_WRONG_TARGET;
    parser->reader->stop = true;
}

static void target_directive(struct parser *parser)
{
    static const char *const others[] = {"debug", "texmode_unified", "texmode_independent",
                                         "map_f64_to_f32"};
    do {
        struct name name;
        char suffix;
        unsigned number;
        bool known = false;
        uint32_t line = parser->token.line;
        if (!parse_name(parser, &name))
            return;
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            known |= parse_name_is(name, others[i]);
        parser->texmode_independent |= parse_name_is(name, "texmode_independent");
        if (target_name(name, &number, &suffix)) {
            parser->target = number;
            parser->target_suffix = suffix;
            check_target(parser, line, name, suffix);
        } else if (parse_name_is(name, "map_f64_to_f32") && parser->target >= 13) {
            parse_error(parser, line, "map_f64_to_f32 is for targets without f64");
        } else if (!known) {
            parse_error(parser, line, "Unknown .target '%.*s'", (int)name.length, name.text);
        }
    } while (parse_accept(parser, ','));
}

static void address_size_directive(struct parser *parser)
{
    uint32_t line = parser->token.line;
    uint64_t size;
    if (!parse_integer(parser, &size))
        return;
    if (parser->version < 203)
        parse_error(parser, line, ".address_size requires PTX .version 2.3 or later");
    if (size == 32)
        parse_unsupported(parser, line,
                          "32-bit addresses are not supported by the simulated "
                          "device");
    else if (size != 64)
        parse_error(parser, line, "Unsupported .address_size, 32 or 64 expected");
}

/* --- Debug data and hints: read and left --- */
bool parse_module_is_debug(const struct parser *parser)
{
    return parse_is_word(parser, "loc") || parse_is_word(parser, "file") ||
           parse_is_word(parser, "pragma") || parse_is_word(parser, "section");
}

/* The index of the file that a number means in this source; a new one may get its name later. */
static struct ir_file *file_of(struct parser *parser, uint32_t number)
{
    struct list *files = &parser->reader->files;
    struct ir_file *file = files->data;
    for (uint32_t i = parser->first_file; i < files->count; i++)
        if (file[i].number == number)
            return &file[i];
    file = parse_list_add(parser->reader, files, sizeof *file);
    if (file)
        *file = (struct ir_file){.source = parser->source, .number = number};
    return file;
}

/* .loc 1 2 3, function_name $L__info + 4, inlined_at 1 2 3 */
static void location(struct parser *parser)
{
    uint64_t number = 0, line = 0;
    struct name name;
    if (parser->token.kind == TOKEN_INT && parse_integer(parser, &number) &&
        parser->token.kind == TOKEN_INT && parse_integer(parser, &line)) {
        const struct ir_file *file = file_of(parser, (uint32_t)number);
        if (!file)
            return;
        parser->source_line = (uint32_t)line;
        parser->source_file = (uint32_t)(file - (const struct ir_file *)parser->reader->files.data);
    }
    while (parser->token.kind == TOKEN_INT)
        parse_integer(parser, &number);
    while (parse_accept(parser, ',')) {
        if (!parse_name(parser, &name))
            return;
        if (parse_name_is(name, "function_name")) {
            if (!parse_name(parser, &name))
                return;
            if (parse_accept(parser, '+') && !parse_integer(parser, &number))
                return;
        } else if (parse_name_is(name, "inlined_at")) {
            while (parser->token.kind == TOKEN_INT)
                parse_integer(parser, &number);
        } else {
            parse_syntax(parser);
            return;
        }
    }
}

static void file_directive(struct parser *parser)
{
    uint64_t number;
    if (!parse_integer(parser, &number))
        return;
    if (parser->token.kind != TOKEN_STRING) {
        parse_syntax(parser);
        return;
    }
    struct ir_file *file = file_of(parser, (uint32_t)number);
    char *name = parse_copy(parser, (struct name){parser->token.text, parser->token.length});
    for (char *c = name; c && *c; c++) /* reports are lines */
        *c = (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c;
    if (file)
        file->name = name;
    parse_next(parser);
    while (parse_accept(parser, ','))
        if (!parse_integer(parser, &number))
            return;
}

/* "used_bytes_mask M": compilers widen loads, and name the bytes that count: those of the others
 * may lie beyond the end of the memory. */
static void used_bytes(struct parser *parser)
{
    static const char name[] = "used_bytes_mask ";
    const struct token *token = &parser->token;
    const char *at = memmem(token->text, token->length, name, sizeof name - 1);
    const char *end = token->text + token->length;
    uint32_t mask = 0;
    for (at = at ? at + sizeof name - 1 : end; at < end && *at >= '0' && *at <= '9'; at++)
        mask = mask * 10 + (uint32_t)(*at - '0');
    parser->used_bytes = mask;
}

static void pragma(struct parser *parser)
{
    do {
        if (parser->token.kind != TOKEN_STRING) {
            parse_syntax(parser);
            return;
        }
        used_bytes(parser);
        parse_next(parser);
    } while (parse_accept(parser, ','));
    parse_expect(parser, ';');
}

static void section(struct parser *parser)
{
    if (parser->token.kind != TOKEN_WORD && parser->token.kind != TOKEN_NAME) {
        parse_syntax(parser);
        return;
    }
    parse_next(parser);
    if (!parse_expect(parser, '{'))
        return;
    while (parser->token.kind != TOKEN_END && !parse_is(parser, '}') && !parse_is(parser, '{'))
        parse_next(parser);
    parse_expect(parser, '}');
}

void parse_module_debug(struct parser *parser)
{
    bool is_location = parse_is_word(parser, "loc");
    bool is_file = parse_is_word(parser, "file");
    bool is_pragma = parse_is_word(parser, "pragma");
    parse_next(parser);
    if (is_location)
        location(parser);
    else if (is_file)
        file_directive(parser);
    else if (is_pragma)
        pragma(parser);
    else
        section(parser);
}

/* --- Aliases --- */
static void parse_module_alias(struct parser *parser)
{
    struct name names[2];
    uint32_t line = parser->token.line;
    if (!parse_name(parser, &names[0]) || !parse_expect(parser, ',') ||
        !parse_name(parser, &names[1]) || !parse_expect(parser, ';'))
        return;
    struct symbol *symbols[2];
    for (unsigned i = 0; i < 2; i++) {
        symbols[i] = symbol_find_module(parser, names[i]);
        if (!symbols[i] || symbols[i]->kind != SYMBOL_FUNCTION) {
            parse_error(parser, line, "Unknown symbol '%.*s'", (int)names[i].length, names[i].text);
            return;
        }
    }
    const struct ir_function *functions = parser->reader->functions.data;
    const struct ir_function *from = &functions[symbols[0]->index];
    const struct ir_function *to = &functions[symbols[1]->index];
    if (from->body || from->entry || to->entry || !to->body || !parse_function_same(from, to)) {
        parse_error(parser, line, "Function '%s' cannot be an alias of '%s'", from->name, to->name);
        return;
    }
    struct alias *alias = parse_list_add(parser->reader, &parser->reader->aliases, sizeof *alias);
    if (alias)
        *alias = (struct alias){symbols[0]->index, symbols[1]->index};
}

/* --- Statements of module scope --- */
static uint8_t linkage_word(struct parser *parser)
{
    if (parse_accept_word(parser, "extern"))
        return IR_EXTERN;
    if (parse_accept_word(parser, "visible"))
        return IR_VISIBLE;
    if (parse_accept_word(parser, "weak"))
        return IR_WEAK;
    if (parse_accept_word(parser, "common"))
        return IR_COMMON;
    return IR_STATIC;
}

static void definition(struct parser *parser)
{
    static const struct {
        const char *word;
        uint8_t space;
    } spaces[] = {
        {"global", PTX_SPACE_GLOBAL}, {"const", PTX_SPACE_CONST}, {"shared", PTX_SPACE_SHARED},
        {"local", PTX_SPACE_LOCAL},   {"tex", PTX_SPACE_TEX},
    };
    uint32_t line = parser->token.line;
    uint8_t linkage = linkage_word(parser);
    bool entry = parse_is_word(parser, "entry");
    if (entry || parse_is_word(parser, "func")) {
        parse_next(parser);
        if (linkage == IR_COMMON)
            parse_error(parser, line, "Functions cannot be .common");
        parse_function(parser, linkage, entry);
        return;
    }
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        if (parse_accept_word(parser, spaces[i].word)) {
            parse_variable(parser, spaces[i].space, linkage);
            return;
        }
    }
    parse_syntax(parser);
}

static void module_statement(struct parser *parser)
{
    if (parse_module_is_debug(parser))
        parse_module_debug(parser);
    else if (parse_accept_word(parser, "alias"))
        parse_module_alias(parser);
    else if (parse_is_word(parser, "version")) {
        parse_error(parser, parser->token.line, "Duplicate .version directive");
        parse_next(parser);
        parse_next(parser);
    } else
        definition(parser);
}

void parse_module_source(struct parser *parser)
{
    if (!parse_accept_word(parser, "version")) {
        parse_error(parser, parser->token.line, "Missing .version directive at start of input");
        parser->fatal = true;
        return;
    }
    version_directive(parser);
    if (!parser->reader->stop && !parse_is_word(parser, "target"))
        parse_error(parser, parser->token.line, "Missing .target directive");
    if (parse_accept_word(parser, "target"))
        target_directive(parser);
    if (parse_accept_word(parser, "address_size"))
        address_size_directive(parser);
    while (parser->token.kind != TOKEN_END && !parser->reader->stop)
        module_statement(parser);
}
