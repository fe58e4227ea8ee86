/* SPDX-License-Identifier: MIT */
/* The reader's messages, and the small steps that every part of it takes. */
#include "ptx/read/read.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEFAULT_MAX_ERRORS = 100, MAX_QUOTED = 64 };

/* --- Memory --- */
bool parse_no_memory(struct reader *reader)
{
    reader->no_memory = true;
    reader->stop = true;
    return false;
}

void *parse_alloc(struct parser *parser, size_t size)
{
    void *result = arena_alloc(parser->arena, size);
    if (!result)
        parse_no_memory(parser->reader);
    return result;
}

char *parse_copy(struct parser *parser, struct name name)
{
    char *copy = parse_alloc(parser, (size_t)name.length + 1);
    if (copy)
        memcpy(copy, name.text, name.length);
    return copy;
}

void *parse_list_add(struct reader *reader, struct list *list, size_t size)
{
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity < 16 ? 32 : list->capacity * 2;
        void *data = NULL;
        if (list->capacity < UINT32_MAX / 4)
            data = realloc(list->data, capacity * size);
        if (!data) {
            parse_no_memory(reader);
            return NULL;
        }
        list->data = data;
        list->capacity = capacity;
    }
    char *element = (char *)list->data + list->count * size;
    list->count++;
    return memset(element, 0, size);
}

/* The list's elements, in the arena; the list is empty afterwards and keeps its memory. */
void *parse_move(struct reader *reader, struct list *list, size_t size)
{
    void *result = arena_alloc(reader->module->arena, list->count * size);
    if (!result)
        parse_no_memory(reader);
    else if (list->count > 0)
        memcpy(result, list->data, list->count * size);
    list->count = 0;
    return result;
}

/* --- Messages --- */
static void add_message(struct parser *parser, uint32_t line, const char *kind, const char *message)
{
    struct reader *reader = parser->reader;
    if (reader->errors)
        ptx_text_add(reader->errors, "ptxas %s, line %u; %-8s: %s\n", parser->file, line, kind,
                     message);
    unsigned most = reader->options->max_errors;
    if (++reader->error_count >= (most != 0 ? most : DEFAULT_MAX_ERRORS))
        reader->stop = true;
}

bool parse_error(struct parser *parser, uint32_t line, const char *format, ...)
{
    char message[512];
    va_list arguments;

    if (parser->reader->stop)
        return false;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    parser->reader->failed = true;
    add_message(parser, line, "error", message);
    return false;
}

bool parse_refuse(struct parser *parser, const struct reading *reading, const char *format)
{
    return parse_error(parser, reading->line, format, (int)reading->mnemonic.length,
                       reading->mnemonic.text);
}

bool parse_unknown(struct parser *parser, uint32_t line, struct name name)
{
    return parse_error(parser, line, "Unknown symbol '%.*s'", (int)name.length, name.text);
}

void parse_unsupported(struct parser *parser, uint32_t line, const char *message)
{
    if (parser->reader->stop)
        return;
    parser->reader->unsupported_count++;
    add_message(parser, line, "error", message);
}

void parse_lacking(struct parser *parser, uint32_t line, const char *format, ...)
{
    char message[512], whole[600];
    va_list arguments;
    if (parser->reader->stop || parser->lacks)
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    int length = snprintf(whole, sizeof whole, "line %u: %s", line, message);
    parser->lacks = parse_copy(parser, (struct name){whole, (uint32_t)length});
    if (parser->reader->errors)
        ptx_text_add(parser->reader->errors, "ptxas %s, line %u; %-8s: %s\n", parser->file, line,
                     "error", message);
}

bool parse_syntax(struct parser *parser)
{
    const struct token *token = &parser->token;
    char quoted[MAX_QUOTED + 2];
    if (parser->fatal)
        return false;
    parser->fatal = true;
    uint32_t length = token->length < MAX_QUOTED ? token->length : MAX_QUOTED;
    snprintf(quoted, sizeof quoted, "%s%.*s", token->kind == TOKEN_WORD ? "." : "", (int)length,
             token->text);
    /* Logs are text: a byte that is none must not spoil them. */
    for (char *c = quoted; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e)
            *c = '?';
    if (!parser->reader->stop) {
        char message[MAX_QUOTED + 64];
        snprintf(message, sizeof message, "Parsing error near '%s': syntax error",
                 token->kind == TOKEN_END ? "<EOF>" : quoted);
        parser->reader->failed = true;
        add_message(parser, token->line, "fatal", message);
    }
    parser->lexer.at = parser->lexer.end;
    parser->token = (struct token){.kind = TOKEN_END, .line = token->line, .text = ""};
    return false;
}

/* --- Small steps --- */
void parse_next(struct parser *parser)
{
    if (parser->reader->stop)
        parser->lexer.at = parser->lexer.end;
    lex_next(&parser->lexer, &parser->token);
    if (parser->token.kind == TOKEN_BAD)
        parse_syntax(parser);
}

bool parse_is_word(const struct parser *parser, const char *word)
{
    return parser->token.kind == TOKEN_WORD &&
           parse_name_is((struct name){parser->token.text, parser->token.length}, word);
}

bool parse_accept(struct parser *parser, unsigned punctuation)
{
    if (!parse_is(parser, punctuation))
        return false;
    parse_next(parser);
    return true;
}

bool parse_accept_word(struct parser *parser, const char *word)
{
    if (!parse_is_word(parser, word))
        return false;
    parse_next(parser);
    return true;
}

bool parse_expect(struct parser *parser, unsigned punctuation)
{
    return parse_accept(parser, punctuation) || parse_syntax(parser);
}

bool parse_name(struct parser *parser, struct name *name)
{
    *name = (struct name){parser->token.text, parser->token.length};
    if (parser->token.kind != TOKEN_NAME) {
        *name = (struct name){"", 0};
        return parse_syntax(parser);
    }
    parse_next(parser);
    return true;
}

bool parse_integer(struct parser *parser, uint64_t *value)
{
    *value = parser->token.value;
    if (parser->token.kind != TOKEN_INT) {
        *value = 0;
        return parse_syntax(parser);
    }
    parse_next(parser);
    return true;
}

bool parse_limited(struct parser *parser, const char *what, uint64_t most, uint32_t *value)
{
    uint32_t line = parser->token.line;
    bool overflow = parser->token.overflow;
    uint64_t wide;
    if (!parse_integer(parser, &wide))
        return false;
    if (overflow || wide > most) {
        parse_error(parser, line, "Value of '%s' out of range, at most %llu expected", what,
                    (unsigned long long)most);
        wide = 0;
    }
    *value = (uint32_t)wide;
    return true;
}
