/* SPDX-License-Identifier: MIT */
/* Declarations of variables and registers. */
#include "ptx/read/read.h"

#include <stdio.h>

enum { MAX_DIMENSIONS = 16, MAX_VARIABLE_RANGE = 65536, MAX_PARAM_ALIGN = 128 };
#define MAX_ALIGN 65536

static bool type_word(struct parser *parser, uint8_t *type)
{
    if (parser->token.kind != TOKEN_WORD)
        return false;
    for (uint8_t i = 0; i < IR_TYPE_COUNT; i++) {
        if (opcodes_types[i].word && parse_is_word(parser, opcodes_types[i].word)) {
            *type = i;
            if (*type == IR_B128 && parser->version < 803)
                parse_error(parser, parser->token.line, "Type .b128 requires PTX version 8.3");
            parse_next(parser);
            return true;
        }
    }
    return false;
}

static bool vector_word(struct parser *parser, uint8_t *vector)
{
    for (uint8_t count = 2; count <= 4; count = (uint8_t)(count * 2)) {
        char word[3] = {'v', (char)('0' + count), '\0'};
        if (parse_accept_word(parser, word)) {
            *vector = count;
            return true;
        }
    }
    return false;
}

/* .attribute(.managed, .unified(1, 2)); at the word. */
void parse_variable_attribute(struct parser *parser, bool *managed)
{
    parse_next(parser);
    if (!parse_expect(parser, '('))
        return;
    do {
        if (parse_accept_word(parser, "managed")) {
            *managed = true;
        } else if (parse_accept_word(parser, "unified")) {
            uint64_t id;
            if (!parse_expect(parser, '(') || !parse_integer(parser, &id) ||
                !parse_expect(parser, ',') || !parse_integer(parser, &id) ||
                !parse_expect(parser, ')'))
                return;
        } else {
            parse_syntax(parser);
            return;
        }
    } while (parse_accept(parser, ','));
    parse_expect(parser, ')');
}

static bool alignment(struct parser *parser, uint32_t *align)
{
    uint32_t line = parser->token.line;
    uint64_t value;
    if (!parse_expr_size(parser, &value))
        return false;
    if (value == 0 || value > MAX_ALIGN || (value & (value - 1)) != 0) {
        parse_error(parser, line, "Alignment must be a power of two, at most %d", MAX_ALIGN);
        value = 1;
    }
    *align = (uint32_t)value;
    return true;
}

bool parse_variable_words(struct parser *parser, struct declaration *declaration)
{
    uint32_t pointee = 0;
    bool pointer = false;
    while (parser->token.kind == TOKEN_WORD) {
        if (parse_accept_word(parser, "align")) {
            /* Behind .ptr it speaks of what is pointed to. */
            if (!alignment(parser, pointer ? &pointee : &declaration->align))
                return false;
        } else if (declaration->parameter && parse_accept_word(parser, "ptr")) {
            pointer = true;
        } else if (pointer && (parse_is_word(parser, "global") || parse_is_word(parser, "shared") ||
                               parse_is_word(parser, "const") || parse_is_word(parser, "local"))) {
            parse_next(parser);
        } else if (parse_is_word(parser, "attribute")) {
            parse_variable_attribute(parser, &declaration->managed);
        } else if (!vector_word(parser, &declaration->vector) &&
                   !type_word(parser, &declaration->type)) {
            break;
        }
    }
    return (declaration->type != IR_NONE && !parser->fatal) || parse_syntax(parser);
}

/* In functions that are defined, but not of entries. */
void parse_variable_check_param(struct parser *parser, uint32_t line, const char *name,
                                uint32_t align)
{
    if (align > MAX_PARAM_ALIGN)
        parse_error(parser, line, "Parameter '%s' is aligned to more than %d bytes", name,
                    MAX_PARAM_ALIGN);
}

/* [2][3], [] first; false: fatal. */
static bool dimensions(struct parser *parser, uint64_t *dims, uint32_t *count, bool *open)
{
    *count = 0;
    *open = false;
    while (parse_accept(parser, '[')) {
        uint64_t size = 0;
        if (*count == MAX_DIMENSIONS)
            return parse_syntax(parser);
        if (*count == 0 && parse_is(parser, ']')) {
            *open = true;
        } else {
            uint32_t line = parser->token.line;
            if (!parse_expr_size(parser, &size))
                return false;
            if (size == 0) {
                parse_error(parser, line, "Array size must be positive");
                size = 1;
            }
        }
        dims[(*count)++] = size;
        if (!parse_expect(parser, ']'))
            return false;
    }
    return true;
}

/* Elements times size; false: reported. */
static bool parse_variable_array_size(struct parser *parser, const uint64_t *dims, uint32_t count,
                                      uint64_t element, uint64_t *size)
{
    *size = element;
    for (uint32_t i = 0; i < count; i++) {
        if (__builtin_mul_overflow(*size, dims[i], size) || *size > MAX_VARIABLE_BYTES) {
            parse_error(parser, parser->token.line, "Variable is too large");
            *size = 0;
            return false;
        }
    }
    return true;
}

bool parse_variable_dimensions(struct parser *parser, uint64_t element, uint64_t *size, bool *open)
{
    uint64_t dims[MAX_DIMENSIONS];
    uint32_t count;
    *size = element;
    *open = false;
    if (!dimensions(parser, dims, &count, open))
        return false;
    parse_variable_array_size(parser, dims, count, element, size);
    return true;
}

/* --- Where a variable goes --- */
static bool in_module(uint8_t space)
{
    return space == PTX_SPACE_GLOBAL || space == PTX_SPACE_CONST || space == PTX_SPACE_TEX;
}

/* A second declaration of the name in this source: extern ones merge with the definition. */
static bool merge(struct parser *parser, const struct symbol *old, struct ir_variable *added,
                  uint32_t *index)
{
    struct ir_variable *before = (struct ir_variable *)parser->reader->variables.data + old->index;
    bool one_extern = before->linkage == IR_EXTERN || added->linkage == IR_EXTERN;
    bool same = before->space == added->space && before->type == added->type &&
                (before->size == added->size || before->unsized || added->unsized);
    if (!one_extern || !same)
        return parse_error(parser, added->line, "%s of variable '%s'",
                           one_extern ? "Declarations do not match" : "Duplicate definition",
                           added->name);
    *index = old->index;
    if (before->linkage == IR_EXTERN && added->linkage != IR_EXTERN)
        *before = *added;
    return true;
}

static bool place(struct parser *parser, struct name name, struct ir_variable *variable,
                  uint32_t *index, bool *module)
{
    struct reader *reader = parser->reader;
    *module = in_module(variable->space) || parser->depth == 0;
    struct symbol *old = parser->depth == 0 ? symbol_find_module(parser, name) : NULL;
    if (old && old->kind == SYMBOL_VARIABLE)
        return merge(parser, old, variable, index);
    struct list *list = *module ? &reader->variables : &parser->locals;
    struct ir_variable *added = parse_list_add(reader, list, sizeof *added);
    if (!added)
        return false;
    *added = *variable;
    *index = list->count - 1;
    if (*module) {
        struct link_entry *link = parse_list_add(reader, &reader->variable_links, sizeof *link);
        if (!link)
            return false;
        link->source = parser->source;
    }
    return symbol_add(parser, name, *module ? SYMBOL_VARIABLE : SYMBOL_LOCAL, *index);
}

/* name<3> stands for name0 to name2. */
static void variable_range(struct parser *parser, struct name name,
                           const struct ir_variable *variable)
{
    uint32_t count = 0, index = 0;
    bool module = false;
    if (!parse_limited(parser, "variable count", MAX_VARIABLE_RANGE, &count) ||
        !parse_expect(parser, '>'))
        return;
    for (uint32_t i = 0; i < count && !parser->reader->stop; i++) {
        struct ir_variable one = *variable;
        const size_t room = name.length + sizeof "4294967295";
        char *text = parse_alloc(parser, room);
        if (!text)
            return;
        const int length = snprintf(text, room, "%.*s%u", (int)name.length, name.text, i);
        one.name = text;
        if (!place(parser, (struct name){text, (uint32_t)length}, &one, &index, &module))
            return;
    }
}

/* --- One declarator: name[2][3] = { ... } --- */
static void declarator(struct parser *parser, const struct declaration *declaration)
{
    uint64_t dims[MAX_DIMENSIONS + 1];
    uint32_t count, index = 0;
    bool open = false, module = false;
    struct name name;
    struct ir_variable variable = {.space = declaration->space,
                                   .type = declaration->type,
                                   .vector = declaration->vector,
                                   .linkage = declaration->linkage,
                                   .managed = declaration->managed,
                                   .line = parser->token.line};
    if (!parse_name(parser, &name))
        return;
    uint64_t element = (uint64_t)opcodes_type_size(variable.type) * variable.vector;
    variable.align = declaration->align != 0 ? declaration->align : (uint32_t)element;
    if (parse_accept(parser, '<')) {
        variable.size = element;
        variable_range(parser, name, &variable);
        return;
    }
    if (!dimensions(parser, dims, &count, &open))
        return;
    variable.name = parse_copy(parser, name);
    variable.unsized = open;
    if (!variable.name || !parse_variable_array_size(parser, dims, count, element, &variable.size))
        return;
    if (variable.space == PTX_SPACE_PARAM && count == 0 &&
        (variable.vector > 1 || variable.type == IR_F16X2))
        parse_error(parser, variable.line, "Illegal type for a parameter");
    bool has_value = parse_is(parser, '=');
    if (open && !has_value && variable.linkage != IR_EXTERN)
        parse_error(parser, variable.line, "Array '%s' needs a size or an initial value",
                    variable.name);
    if (variable.space == PTX_SPACE_PARAM)
        parse_variable_check_param(parser, variable.line, variable.name, variable.align);
    if (has_value && (!in_module(variable.space) || variable.linkage == IR_EXTERN))
        parse_error(parser, variable.line, "Variable '%s' cannot have an initial value",
                    variable.name);
    if (!place(parser, name, &variable, &index, &module) && !has_value)
        return;
    if (!has_value)
        return;
    parse_next(parser);
    if (variable.type >= IR_TEXREF) {
        parse_initializer_reference(parser);
        return;
    }
    if (variable.vector > 1)
        dims[count++] = variable.vector;
    parse_initializer(parser, &variable, dims, count, open);
    struct list *list = module ? &parser->reader->variables : &parser->locals;
    if (index < list->count) {
        variable.unsized = false;
        ((struct ir_variable *)list->data)[index] = variable;
    }
}

static void check_declaration(struct parser *parser, struct declaration *declaration)
{
    if (declaration->space == PTX_SPACE_TEX)
        declaration->type = IR_TEXREF; /* .tex .u32 name: an old texture reference */
    if (declaration->type == IR_PRED)
        parse_error(parser, declaration->line, "Predicates are for registers only");
    bool reference = declaration->type >= IR_TEXREF;
    if (reference && !in_module(declaration->space) && declaration->space != PTX_SPACE_PARAM)
        parse_error(parser, declaration->line, "State space incorrect for a reference");
    if (reference && declaration->space == PTX_SPACE_CONST)
        parse_error(parser, declaration->line, "Textures and surfaces are in .global space");
    if (declaration->type == IR_SAMPLERREF && declaration->space != PTX_SPACE_PARAM &&
        !parser->texmode_independent)
        parse_error(parser, declaration->line, "Samplers need .target texmode_independent");
    if (declaration->space == PTX_SPACE_TEX && parser->version >= 105)
        parse_error(parser, declaration->line, "'.tex' is no state space since PTX version 1.5");
    if (declaration->space == PTX_SPACE_LOCAL && parser->depth == 0 && parser->version >= 200)
        parse_error(parser, declaration->line, "Local variables are in functions");
    if (opcodes_type_size(declaration->type) * declaration->vector > 16)
        parse_error(parser, declaration->line, "Vector is wider than 16 bytes");
    if (declaration->managed && declaration->space != PTX_SPACE_GLOBAL)
        parse_error(parser, declaration->line, "Managed variables are in .global space");
    if (declaration->linkage == IR_COMMON && declaration->space != PTX_SPACE_GLOBAL)
        parse_error(parser, declaration->line, "Common variables are in .global space");
}

/* From the state space's word on, which is one of the bits `spaces`. */
void parse_variable(struct parser *parser, unsigned spaces, uint8_t linkage)
{
    static const char *const words[] = {
        [PTX_SPACE_CONST] = "const", [PTX_SPACE_GLOBAL] = "global", [PTX_SPACE_LOCAL] = "local",
        [PTX_SPACE_PARAM] = "param", [PTX_SPACE_SHARED] = "shared", [PTX_SPACE_TEX] = "tex"};
    uint8_t space = PTX_SPACE_CONST;
    while (space <= PTX_SPACE_TEX &&
           (!(spaces >> space & 1) || !parse_accept_word(parser, words[space])))
        space++;
    if (space > PTX_SPACE_TEX) {
        parse_syntax(parser);
        return;
    }
    struct declaration declaration = {
        .space = space, .vector = 1, .linkage = linkage, .line = parser->token.line};
    if (space == PTX_SPACE_CONST && parse_accept(parser, '[')) { /* old: a bank */
        uint64_t bank;
        if (!parse_integer(parser, &bank) || !parse_expect(parser, ']'))
            return;
    }
    if (!parse_variable_words(parser, &declaration))
        return;
    check_declaration(parser, &declaration);
    do {
        declarator(parser, &declaration);
    } while (!parser->fatal && !parser->reader->stop && parse_accept(parser, ','));
    parse_expect(parser, ';');
}

/* --- .reg --- */
static void register_range(struct parser *parser, struct name name, uint8_t type, uint8_t vector)
{
    uint32_t count = 0;
    if (!parse_limited(parser, "register count", INT32_MAX, &count) || !parse_expect(parser, '>'))
        return;
    struct symbol *symbol = symbol_add(parser, name, SYMBOL_RANGE, parser->range_count++);
    if (!symbol)
        return;
    symbol->type = type;
    symbol->vector = vector;
    symbol->count = count;
}

void parse_variable_registers(struct parser *parser)
{
    uint8_t type = IR_NONE, vector = 1;
    uint32_t line = parser->token.line;
    while (vector_word(parser, &vector) || type_word(parser, &type))
        continue;
    if (type == IR_NONE) {
        parse_syntax(parser);
        return;
    }
    if (type >= IR_TEXREF || (type == IR_PRED && vector > 1) ||
        opcodes_type_size(type) * vector > 16)
        parse_error(parser, line, "Illegal type for a register");
    do {
        struct name name;
        if (!parse_name(parser, &name))
            return;
        if (parse_accept(parser, '<')) {
            register_range(parser, name, type, vector);
        } else {
            uint32_t index = symbol_register_add(parser, name, type, vector);
            struct symbol *symbol = symbol_add(parser, name, SYMBOL_REGISTER, index);
            if (symbol) {
                symbol->type = type;
                symbol->vector = vector;
            }
        }
    } while (parse_accept(parser, ','));
    parse_expect(parser, ';');
}
