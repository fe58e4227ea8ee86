/* SPDX-License-Identifier: MIT */
/* The reader's entry, its messages and the small steps that every part of it takes. */
#include "ptx/read/read.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_MAX_ERRORS = 100, MAX_QUOTED = 64 };

static atomic_size_t read_count;

size_t parse_count(void)
{
    return atomic_load_explicit(&read_count, memory_order_relaxed);
}

/* --- Memory --- */
void parse_no_memory(struct reader *reader)
{
    reader->no_memory = true;
    reader->stop = true;
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
void *parse_move(struct parser *parser, struct list *list, size_t size)
{
    void *result = parse_alloc(parser, list->count * size);
    if (result && list->count > 0)
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

void parse_error(struct parser *parser, uint32_t line, const char *format, ...)
{
    char message[512];
    va_list arguments;
    if (parser->reader->stop)
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    parser->reader->failed = true;
    add_message(parser, line, "error", message);
}

void parse_unsupported(struct parser *parser, uint32_t line, const char *format, ...)
{
    char message[512];
    va_list arguments;
    if (parser->reader->stop)
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
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

void parse_syntax(struct parser *parser)
{
    const struct token *token = &parser->token;
    char quoted[MAX_QUOTED + 2];
    if (parser->fatal)
        return;
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
    if (parse_accept(parser, punctuation))
        return true;
    parse_syntax(parser);
    return false;
}

bool parse_name(struct parser *parser, struct name *name)
{
    *name = (struct name){parser->token.text, parser->token.length};
    if (parser->token.kind != TOKEN_NAME) {
        *name = (struct name){"", 0};
        parse_syntax(parser);
        return false;
    }
    parse_next(parser);
    return true;
}

bool parse_integer(struct parser *parser, uint64_t *value)
{
    *value = parser->token.value;
    if (parser->token.kind != TOKEN_INT) {
        *value = 0;
        parse_syntax(parser);
        return false;
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

/* --- A whole read --- */
static void read_source(struct reader *reader, const struct ptx_source *source, uint32_t index)
{
    atomic_fetch_add_explicit(&read_count, 1, memory_order_relaxed);
    struct parser parser = {.reader = reader, .arena = reader->module->arena, .source = index};
    parser.first_file = reader->files.count;
    parser.file = source->name ? source->name : "application ptx input";
    parser.address_size = 64;
    if (source->size >= UINT32_MAX) {
        parse_error(&parser, 0, "Input is too large");
        return;
    }
    if (symbol_start(&parser)) {
        lex_start(&parser.lexer, source->text, source->size);
        parse_next(&parser);
        parse_module_source(&parser);
    }
    symbol_stop(&parser);
    struct ir_module *module = reader->module;
    if (parser.version > module->version)
        module->version = parser.version;
    if (parser.target > module->target)
        module->target = parser.target;
    if (index == 0)
        module->address_size = parser.address_size;
    free(parser.registers.data);
    free(parser.locals.data);
    free(parser.insns.data);
    free(parser.tables.data);
    free(parser.pending.data);
    free(parser.arguments.data);
    free(parser.parameters.data);
    free(parser.relocations.data);
    free(parser.indices.data);
    free(parser.numbers);
}

static enum ptx_status status_of(const struct reader *reader)
{
    if (reader->no_memory)
        return PTX_NO_MEMORY;
    if (reader->status != PTX_OK)
        return reader->status;
    if (reader->failed)
        return PTX_INVALID;
    return reader->unsupported_count > 0 ? PTX_UNSUPPORTED : PTX_OK;
}

/* The lists become the module's arrays. */
static void finish(struct reader *reader)
{
    struct ir_module *module = reader->module;
    module->variable_count = reader->variables.count;
    module->function_count = reader->functions.count;
    module->file_count = reader->files.count;
    size_t variables = module->variable_count * sizeof *module->variables;
    size_t functions = module->function_count * sizeof *module->functions;
    module->variables = arena_alloc(module->arena, variables);
    module->functions = arena_alloc(module->arena, functions);
    size_t files = module->file_count * sizeof *module->files;
    module->files = arena_alloc(module->arena, files);
    if (!module->variables || !module->functions || !module->files) {
        parse_no_memory(reader);
        return;
    }
    if (variables > 0)
        memcpy(module->variables, reader->variables.data, variables);
    if (functions > 0)
        memcpy(module->functions, reader->functions.data, functions);
    if (files > 0)
        memcpy(module->files, reader->files.data, files);
}

static bool start(struct reader *reader)
{
    struct ir_arena *arena = arena_create();
    reader->scratch = arena_create();
    if (arena)
        reader->module = arena_alloc(arena, sizeof *reader->module);
    if (!reader->module) {
        arena_destroy(arena);
        return false;
    }
    reader->module->arena = arena;
    return reader->scratch && form_dictionary(reader);
}

static void stop(struct reader *reader)
{
    free(reader->variables.data);
    free(reader->functions.data);
    free(reader->variable_links.data);
    free(reader->function_links.data);
    free(reader->files.data);
    free(reader->aliases.data);
    free(reader->inputs.data);
    arena_destroy(reader->scratch);
}

static void say_aborted(const struct reader *reader)
{
    enum ptx_status status = status_of(reader);
    if (status != PTX_OK && status != PTX_NO_MEMORY && status != PTX_UNRESOLVED && reader->errors)
        ptx_text_add(reader->errors, "ptxas fatal   : Ptx assembly aborted due to errors\n");
}

/* All sources are there: they become one module, or NULL. */
static struct ir_module *unite(struct reader *reader, enum ptx_status *status)
{
    if (status_of(reader) == PTX_OK)
        finish(reader);
    if (status_of(reader) == PTX_OK)
        link_sources(reader);
    *status = status_of(reader);
    stop(reader);
    if (*status == PTX_OK)
        return reader->module;
    parse_free(reader->module);
    return NULL;
}

struct ir_module *parse_read(const struct ptx_options *options, const struct ptx_source *sources,
                             size_t count, struct ptx_text *errors, struct ptx_text *info,
                             enum ptx_status *status)
{
    struct reader reader = {.options = options, .errors = errors, .info = info};
    if (!start(&reader))
        parse_no_memory(&reader);
    for (size_t i = 0; i < count && !reader.stop; i++)
        read_source(&reader, &sources[i], (uint32_t)i);
    struct ir_module *module = unite(&reader, status);
    say_aborted(&reader);
    return module;
}

struct reader *parse_open(const struct ptx_options *options)
{
    struct reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    reader->options = options;
    if (!start(reader))
        parse_no_memory(reader);
    return reader;
}

/* The linker's name of a source. */
static bool keep_input(struct reader *reader, const char *name)
{
    size_t size = strlen(name) + 1;
    char *copy = arena_alloc(reader->scratch, size);
    char **place = copy ? parse_list_add(reader, &reader->inputs, sizeof *place) : NULL;
    if (!place) {
        parse_no_memory(reader);
        return false;
    }
    *place = memcpy(copy, name, size);
    return true;
}

enum ptx_status parse_add(struct reader *reader, const struct ptx_source *source,
                          struct ptx_text *errors, struct ptx_text *info)
{
    reader->errors = errors;
    reader->info = info;
    if (!reader->no_memory && keep_input(reader, source->input ? source->input : "ptx"))
        read_source(reader, source, reader->source_count++);
    say_aborted(reader);
    return status_of(reader);
}

struct ir_module *parse_close(struct reader *reader, struct ptx_text *errors, struct ptx_text *info,
                              enum ptx_status *status)
{
    reader->errors = errors;
    reader->info = info;
    struct ir_module *module = unite(reader, status);
    free(reader);
    return module;
}

void parse_cancel(struct reader *reader)
{
    stop(reader);
    parse_free(reader->module);
    free(reader);
}

void parse_free(struct ir_module *module)
{
    if (module)
        arena_destroy(module->arena);
}
