/* SPDX-License-Identifier: MIT */
/* A whole module: the head, what stands outside functions, and its sources one by one. */
#include "ptx/read/read.h"

#include <stdatomic.h>
#include <stdlib.h>

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

/* --- Aliases --- */
static void alias_directive(struct parser *parser)
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
            parse_unknown(parser, line, names[i]);
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
    static const char *const words[] = {[IR_EXTERN] = "extern",
                                        [IR_VISIBLE] = "visible",
                                        [IR_WEAK] = "weak",
                                        [IR_COMMON] = "common"};
    for (uint8_t i = IR_EXTERN; i <= IR_COMMON; i++)
        if (parse_accept_word(parser, words[i]))
            return i;
    return IR_STATIC;
}

static void definition(struct parser *parser)
{
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
    parse_variable(parser,
                   1 << PTX_SPACE_GLOBAL | 1 << PTX_SPACE_CONST | 1 << PTX_SPACE_SHARED |
                       1 << PTX_SPACE_LOCAL | 1 << PTX_SPACE_TEX,
                   linkage);
}

static void module_statement(struct parser *parser)
{
    if (parse_debug_is(parser))
        parse_debug(parser);
    else if (parse_accept_word(parser, "alias"))
        alias_directive(parser);
    else if (parse_is_word(parser, "version")) {
        parse_error(parser, parser->token.line, "Duplicate .version directive");
        parse_next(parser);
        parse_next(parser);
    } else
        definition(parser);
}

static void source_text(struct parser *parser)
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

/* --- A whole read --- */
static atomic_size_t read_count;

size_t parse_module_count(void)
{
    return atomic_load_explicit(&read_count, memory_order_relaxed);
}

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
        source_text(&parser);
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
    module->variables = parse_move(reader, &reader->variables, sizeof *module->variables);
    module->functions = parse_move(reader, &reader->functions, sizeof *module->functions);
    module->files = parse_move(reader, &reader->files, sizeof *module->files);
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
    parse_module_free(reader->module);
    return NULL;
}

struct ir_module *parse_module_read(const struct ptx_options *options,
                                    const struct ptx_source *sources, size_t count,
                                    struct ptx_text *errors, struct ptx_text *info,
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

struct reader *parse_module_open(const struct ptx_options *options)
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
    if (!place)
        return parse_no_memory(reader);
    *place = memcpy(copy, name, size);
    return true;
}

enum ptx_status parse_module_add(struct reader *reader, const struct ptx_source *source,
                                 struct ptx_text *errors, struct ptx_text *info)
{
    reader->errors = errors;
    reader->info = info;
    if (!reader->no_memory && keep_input(reader, source->input ? source->input : "ptx"))
        read_source(reader, source, reader->source_count++);
    say_aborted(reader);
    return status_of(reader);
}

struct ir_module *parse_module_close(struct reader *reader, struct ptx_text *errors,
                                     struct ptx_text *info, enum ptx_status *status)
{
    reader->errors = errors;
    reader->info = info;
    struct ir_module *module = unite(reader, status);
    free(reader);
    return module;
}

void parse_module_cancel(struct reader *reader)
{
    stop(reader);
    parse_module_free(reader->module);
    free(reader);
}

void parse_module_free(struct ir_module *module)
{
    if (module)
        arena_destroy(module->arena);
}
