/* SPDX-License-Identifier: MIT */
/* Parameters of functions and prototypes. */
#include "ptx/read/read.h"

/* .param .align 8 .b8, .param .u64 .ptr .global .align 16, .reg .f32 */
static bool parameter_shape(struct parser *parser, struct declaration *shape, bool *reg)
{
    *shape = (struct declaration){.vector = 1, .parameter = true};
    *reg = parse_is_word(parser, "reg");
    if (!*reg && !parse_is_word(parser, "param"))
        return parse_syntax(parser);
    parse_next(parser);
    return parse_variable_words(parser, shape);
}

static void parameter_size(struct parser *parser, const struct declaration *shape, uint32_t line,
                           uint32_t *end, bool *variadic, struct ir_parameter *parameter)
{
    uint64_t size;
    bool open;
    uint64_t element = (uint64_t)opcodes_type_size(shape->type) * shape->vector;
    if (!parse_variable_dimensions(parser, element, &size, &open))
        return;
    if (open) {
        *variadic = true;
        size = 0;
    }
    uint64_t align = shape->align != 0 ? shape->align : element;
    uint64_t offset = (*end + align - 1) / align * align;
    if (size > UINT16_MAX || offset + size > UINT16_MAX) {
        parse_error(parser, line, "Parameters take too much space, at most %u bytes expected",
                    UINT16_MAX);
        size = element;
        offset = 0;
    }
    parameter->size = (uint32_t)size;
    parameter->align = (uint32_t)align;
    parameter->offset = (uint32_t)offset;
    *end = (uint32_t)(offset + size);
}

static bool one_parameter(struct parser *parser, uint32_t *end, bool *variadic)
{
    if (*variadic)
        parse_error(parser, parser->token.line, "Only the last parameter can be without a size");
    struct declaration shape;
    bool reg;
    struct name name;
    uint32_t line = parser->token.line;
    if (!parameter_shape(parser, &shape, &reg) || !parse_name(parser, &name))
        return false;
    if (reg ? shape.type >= IR_TEXREF : shape.type == IR_PRED)
        parse_error(parser, line, "Illegal type for a parameter");
    struct ir_parameter *parameter =
        parse_list_add(parser->reader, &parser->parameters, sizeof *parameter);
    if (!parameter)
        return false;
    parameter->type = shape.type;
    parameter->reg = reg;
    parameter->name = parse_copy(parser, name);
    parameter_size(parser, &shape, line, end, variadic, parameter);
    bool packed = shape.vector > 1 || shape.type == IR_F16X2;
    if (!reg && packed && parameter->size == opcodes_type_size(shape.type) * shape.vector)
        parse_error(parser, line, "Illegal type for a parameter");
    return !parser->fatal;
}

void parse_parameter_declare(struct parser *parser, struct ir_parameter *parameters, uint32_t count,
                             bool result)
{
    for (uint32_t i = 0; i < count; i++) {
        struct ir_parameter *parameter = &parameters[i];
        if (!parameter->name || strcmp(parameter->name, "_") == 0)
            continue;
        struct name name = {parameter->name, (uint32_t)strlen(parameter->name)};
        enum symbol_kind kind = result ? SYMBOL_RETURN : SYMBOL_PARAM;
        uint8_t vector = (uint8_t)(parameter->size / opcodes_type_size(parameter->type));
        if (parameter->reg) {
            kind = SYMBOL_REGISTER;
            parameter->index = symbol_register_add(parser, name, parameter->type, vector);
        }
        struct symbol *symbol =
            symbol_add(parser, name, kind, parameter->reg ? parameter->index : i);
        if (symbol) {
            symbol->type = parameter->type;
            symbol->vector = vector;
        }
    }
}

void parse_parameter_list(struct parser *parser, struct ir_parameter **parameters, uint32_t *count,
                          bool *variadic)
{
    uint32_t end = 0;
    parser->parameters.count = 0;
    *count = 0;
    parse_next(parser);
    if (!parse_is(parser, ')')) {
        do {
            if (!one_parameter(parser, &end, variadic))
                return;
        } while (parse_accept(parser, ','));
    }
    if (!parse_expect(parser, ')'))
        return;
    *count = parser->parameters.count;
    *parameters = parse_move(parser->reader, &parser->parameters, sizeof **parameters);
    if (!*parameters)
        *count = 0;
}
