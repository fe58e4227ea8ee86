/* SPDX-License-Identifier: MIT */
/* Data for debuggers, and hints: the lines are kept, the rest is read and left. */
#include "ptx/read/read.h"

bool parse_debug_is(const struct parser *parser)
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

void parse_debug(struct parser *parser)
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
