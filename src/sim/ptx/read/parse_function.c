/* SPDX-License-Identifier: MIT */
/* Functions: parameters, directives, and how a definition meets earlier declarations. */
#include "ptx/read/read.h"

#include <string.h>

#include "ptx/read/ir.h"

/* --- Parameters --- */
struct shape {
    bool reg, pointer, managed;
    uint8_t type, vector;
    uint32_t align;
};

/* .param .align 8 .b8, .param .u64 .ptr .global .align 16, .reg .f32 */
static bool parameter_shape(struct parser *parser, struct shape *shape)
{
    uint32_t pointee = 0;
    *shape = (struct shape){.vector = 1};
    shape->reg = parse_is_word(parser, "reg");
    if (!shape->reg && !parse_is_word(parser, "param")) {
        parse_syntax(parser);
        return false;
    }
    parse_next(parser);
    while (parser->token.kind == TOKEN_WORD) {
        if (parse_accept_word(parser, "align")) {
            /* Behind .ptr it speaks of what is pointed to. */
            if (!parse_variable_align(parser, shape->pointer ? &pointee : &shape->align))
                return false;
        } else if (parse_accept_word(parser, "ptr")) {
            shape->pointer = true;
        } else if (shape->pointer &&
                   (parse_is_word(parser, "global") || parse_is_word(parser, "shared") ||
                    parse_is_word(parser, "const") || parse_is_word(parser, "local"))) {
            parse_next(parser);
        } else if (parse_is_word(parser, "attribute")) {
            parse_variable_attribute(parser, &shape->managed);
        } else if (!parse_variable_vector_word(parser, &shape->vector) &&
                   !parse_variable_type(parser, &shape->type)) {
            break;
        }
    }
    if (shape->type == IR_NONE) {
        parse_syntax(parser);
        return false;
    }
    return true;
}

static void parameter_size(struct parser *parser, const struct shape *shape, uint32_t line,
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
    struct shape shape;
    struct name name;
    uint32_t line = parser->token.line;
    if (!parameter_shape(parser, &shape) || !parse_name(parser, &name))
        return false;
    if (shape.reg ? shape.type >= IR_TEXREF : shape.type == IR_PRED)
        parse_error(parser, line, "Illegal type for a parameter");
    struct ir_parameter *parameter =
        parse_list_add(parser->reader, &parser->parameters, sizeof *parameter);
    if (!parameter)
        return false;
    parameter->type = shape.type;
    parameter->reg = shape.reg;
    parameter->name = parse_copy(parser, name);
    parameter_size(parser, &shape, line, end, variadic, parameter);
    bool packed = shape.vector > 1 || shape.type == IR_F16X2;
    if (!shape.reg && packed && parameter->size == opcodes_type_size(shape.type) * shape.vector)
        parse_error(parser, line, "Illegal type for a parameter");
    return !parser->fatal;
}

/* Names of parameters become symbols, once the function's own is one. */
static void declare_parameters(struct parser *parser, struct ir_parameter *parameters,
                               uint32_t count, bool result)
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

void parse_function_parameters(struct parser *parser, struct ir_parameter **parameters,
                               uint32_t *count, bool *variadic)
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
    *parameters = parse_move(parser, &parser->parameters, sizeof **parameters);
    if (!*parameters)
        *count = 0;
}

/* --- Directives --- */
static bool positive(struct parser *parser, const char *what, uint32_t *value)
{
    uint32_t line = parser->token.line;
    if (!parse_limited(parser, what, INT32_MAX, value))
        return false;
    if (*value == 0)
        parse_error(parser, line, "Value of '%s' must be positive", what);
    return true;
}

static bool dimensions(struct parser *parser, const char *what, uint32_t values[3])
{
    values[0] = values[1] = values[2] = 1;
    for (unsigned i = 0; i < 3; i++) {
        if (!positive(parser, what, &values[i]))
            return false;
        if (!parse_accept(parser, ','))
            break;
    }
    return true;
}

static void cluster_directive(struct parser *parser)
{
    if (parser->target < 90 || parser->version < 708)
        parse_error(parser, parser->token.line,
                    "Clusters require .target sm_90 or higher and PTX version 7.8");
}

static bool skipped_directive(struct parser *parser)
{
    uint64_t value;
    if (parse_accept_word(parser, "explicitcluster") ||
        (parser->version >= 900 && parse_accept_word(parser, "blocksareclusters")) ||
        parse_accept_word(parser, "abi_preserve_control"))
        return parser->token.kind != TOKEN_INT || parse_integer(parser, &value);
    if (parse_accept_word(parser, "abi_preserve"))
        return parse_integer(parser, &value);
    return false;
}

static void directives(struct parser *parser, struct ir_function *function)
{
    while (parser->token.kind == TOKEN_WORD && !parser->fatal) {
        bool unused = false;
        if (parse_is_word(parser, "reqnctapercluster") || parse_is_word(parser, "maxclusterrank") ||
            parse_is_word(parser, "explicitcluster"))
            cluster_directive(parser);
        if (parse_accept_word(parser, "maxntid"))
            dimensions(parser, ".maxntid", function->maxntid);
        else if (parse_accept_word(parser, "reqntid"))
            dimensions(parser, ".reqntid", function->reqntid);
        else if (parse_accept_word(parser, "reqnctapercluster"))
            dimensions(parser, ".reqnctapercluster", function->cluster);
        else if (parse_accept_word(parser, "minnctapersm"))
            positive(parser, ".minnctapersm", &function->minnctapersm);
        else if (parser->version < 201 && parse_accept_word(parser, "maxnctapersm"))
            positive(parser, ".maxnctapersm", &function->minnctapersm);
        else if (parse_accept_word(parser, "maxnreg"))
            positive(parser, ".maxnreg", &function->maxnreg);
        else if (parse_accept_word(parser, "maxclusterrank"))
            parse_limited(parser, ".maxclusterrank", INT32_MAX, &function->max_cluster);
        else if (!function->entry && parse_accept_word(parser, "noreturn"))
            function->noreturn = true;
        else if (parse_is_word(parser, "attribute"))
            parse_variable_attribute(parser, &unused);
        else if (parse_module_is_debug(parser))
            parse_module_debug(parser);
        else if (!skipped_directive(parser))
            parse_syntax(parser);
    }
}

/* What does not go together, after a function's head. */
static void check_head(struct parser *parser, const struct ir_function *function)
{
    uint32_t line = function->line, in_memory = 0;
    for (uint32_t i = 0; i < function->return_count; i++)
        in_memory += !function->returns[i].reg;
    for (uint32_t i = 0; function->body && !function->entry && i < function->param_count; i++)
        parse_variable_check_param(parser, line, function->params[i].name,
                                   function->params[i].align);
    for (uint32_t i = 0; function->body && i < function->return_count; i++)
        parse_variable_check_param(parser, line, function->returns[i].name,
                                   function->returns[i].align);
    if (function->return_count > 1 && in_memory > 0)
        parse_error(parser, line, "Several results of '%s' must be registers", function->name);
    if (function->noreturn && function->return_count > 0)
        parse_error(parser, line, "Function '%s' with a result is .noreturn", function->name);
    if (function->maxntid[0] && function->reqntid[0])
        parse_error(parser, line, "Only one of .maxntid and .reqntid can be given");
    if (function->cluster[0] && function->max_cluster)
        parse_error(parser, line,
                    "Only one of .reqnctapercluster and .maxclusterrank can be given");
    if (function->entry && function->variadic)
        parse_error(parser, line, "A parameter of entry '%s' has no size", function->name);
    for (uint32_t i = 0; function->entry && i < function->param_count; i++)
        if (function->params[i].reg && parser->version >= 200)
            parse_error(parser, line, "Parameters of entry '%s' must be in .param space",
                        function->name);
}

/* --- Declarations meet --- */
static bool same_parameters(const struct ir_parameter *left, uint32_t left_count,
                            const struct ir_parameter *right, uint32_t right_count)
{
    if (left_count != right_count)
        return false;
    for (uint32_t i = 0; i < left_count; i++)
        if (left[i].size != right[i].size || left[i].reg != right[i].reg)
            return false;
    return true;
}

bool parse_function_same(const struct ir_function *left, const struct ir_function *right)
{
    return left->entry == right->entry &&
           same_parameters(left->params, left->param_count, right->params, right->param_count) &&
           same_parameters(left->returns, left->return_count, right->returns, right->return_count);
}

/* The function's place in the module; UINT32_MAX: reported. */
static uint32_t function_place(struct parser *parser, struct name name,
                               const struct ir_function *function)
{
    struct reader *reader = parser->reader;
    struct symbol *symbol = symbol_find_module(parser, name);
    if (!symbol) {
        struct ir_function *added = parse_list_add(reader, &reader->functions, sizeof *added);
        struct link_entry *link = parse_list_add(reader, &reader->function_links, sizeof *link);
        if (!added || !link)
            return UINT32_MAX;
        *added = *function;
        link->source = parser->source;
        uint32_t index = reader->functions.count - 1;
        return symbol_add(parser, name, SYMBOL_FUNCTION, index) ? index : UINT32_MAX;
    }
    if (symbol->kind != SYMBOL_FUNCTION) {
        parse_error(parser, function->line, "Duplicate definition of variable '%s'",
                    function->name);
        return UINT32_MAX;
    }
    struct ir_function *before = (struct ir_function *)reader->functions.data + symbol->index;
    if (!parse_function_same(before, function)) {
        parse_error(parser, function->line, "Declarations of function '%s' do not match",
                    function->name);
        return UINT32_MAX;
    }
    if (before->body && function->body) {
        parse_error(parser, function->line, "Duplicate definition of function '%s'",
                    function->name);
        return UINT32_MAX;
    }
    if (function->body)
        *before = *function;
    return symbol->index;
}

static void start_function(struct parser *parser)
{
    parser->registers.count = parser->locals.count = parser->insns.count = 0;
    parser->tables.count = parser->pending.count = 0;
    parser->range_count = 0;
    parser->lacks = NULL;
    parser->used_bytes = 0;
    parser->last_label = UINT32_MAX;
    parser->source_line = 0;
    if (parser->number_count > 0)
        memset(parser->numbers, 0, parser->number_capacity * 2 * sizeof *parser->numbers);
    parser->number_count = 0;
}

static bool falls_through(const struct ir_insn *insn)
{
    return insn->guarded ||
           (insn->op != IR_RET && insn->op != IR_EXIT && insn->op != IR_BRA && insn->op != IR_BRX);
}

/* Running off the end of a body means return. */
static void add_return(struct parser *parser)
{
    uint32_t count = parser->insns.count;
    const struct ir_insn *insns = parser->insns.data;
    if (count > 0 && parser->last_label != count && !falls_through(&insns[count - 1]))
        return;
    struct ir_insn *insn = parse_list_add(parser->reader, &parser->insns, sizeof *insn);
    if (insn)
        *insn = (struct ir_insn){.op = IR_RET, .vector = 1, .line = parser->token.line};
}

static void body(struct parser *parser, uint32_t index)
{
    parse_next(parser);
    parse_body(parser);
    add_return(parser);
    parse_insn_pending(parser, 0);
    if (parser->fatal || parser->reader->stop || index == UINT32_MAX)
        return;
    struct ir_function *function = (struct ir_function *)parser->reader->functions.data + index;
    function->register_count = parser->registers.count;
    function->registers = parse_move(parser, &parser->registers, sizeof *function->registers);
    function->variable_count = parser->locals.count;
    function->variables = parse_move(parser, &parser->locals, sizeof *function->variables);
    function->insn_count = parser->insns.count;
    function->insns = parse_move(parser, &parser->insns, sizeof *function->insns);
    function->lacks = parser->lacks;
    if (function->lacks && function->insns && function->insn_count > 0) {
        /* Never run as if the instruction were not there. */
        function->insns[0] = (struct ir_insn){.op = IR_TRAP, .line = function->line};
        function->insn_count = 1;
    }
    function->table_count = parser->tables.count;
    function->tables = parse_move(parser, &parser->tables, sizeof *function->tables);
}

/* Behind .func or .entry. */
void parse_function(struct parser *parser, uint8_t linkage, bool entry)
{
    struct ir_function function = {.entry = entry, .linkage = linkage};
    struct name name;
    bool unused = false;
    start_function(parser);
    if (parse_is_word(parser, "attribute"))
        parse_variable_attribute(parser, &unused);
    if (!entry && parse_is(parser, '('))
        parse_function_parameters(parser, &function.returns, &function.return_count, &unused);
    function.line = parser->token.line;
    if (parse_name(parser, &name)) {
        function.name = parse_copy(parser, name);
        if (parse_is(parser, '('))
            parse_function_parameters(parser, &function.params, &function.param_count,
                                      &function.variadic);
        directives(parser, &function);
        function.body = parse_is(parser, '{');
        if (function.name)
            check_head(parser, &function);
        if (function.body && entry && linkage == IR_EXTERN)
            parse_error(parser, function.line, "Entry '%s' is .extern and has a body",
                        function.name ? function.name : "");
        uint32_t index = UINT32_MAX;
        if (function.name && !parser->fatal)
            index = function_place(parser, name, &function);
        parser->depth = 1;
        declare_parameters(parser, function.returns, function.return_count, true);
        declare_parameters(parser, function.params, function.param_count, false);
        if (function.body)
            body(parser, index);
        else
            parse_accept(parser, ';'); /* may be left out */
    }
    symbol_leave(parser, 1);
    parser->depth = 0;
}
