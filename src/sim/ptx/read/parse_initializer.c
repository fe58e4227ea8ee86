/* SPDX-License-Identifier: MIT */
/* Initial values: nested braces, numbers, addresses of symbols. */
#include "ptx/read/check.h"

#include <stdlib.h>

enum { MAX_LEVELS = 18 };

struct initializer {
    const struct ir_variable *variable;
    unsigned element;            /* bytes */
    uint64_t stride[MAX_LEVELS]; /* elements of one item of each level */
    uint32_t levels;
    uint64_t limit; /* elements; UINT64_MAX: open */
    bool open;
    uint64_t next; /* element */
    uint64_t top;  /* elements that have been reached */
    uint8_t *data;
    size_t capacity;
};

/* Room for element `next`; false: reported. */
static bool reserve(struct parser *parser, struct initializer *initializer)
{
    uint64_t end = (initializer->next + 1) * initializer->element;
    if (initializer->next >= initializer->limit)
        return parse_error(parser, parser->token.line, "Too many initial values for variable '%s'",
                           initializer->variable->name);
    if (end > MAX_INIT_BYTES - parser->reader->init_bytes)
        return parse_error(parser, parser->token.line,
                           "Initial value of variable '%s' is too large",
                           initializer->variable->name);
    if (end > initializer->capacity) {
        size_t capacity = (size_t)end * 2 + 64;
        uint8_t *data = realloc(initializer->data, capacity);
        if (!data)
            return parse_no_memory(parser->reader);
        memset(data + initializer->capacity, 0, capacity - initializer->capacity);
        initializer->data = data;
        initializer->capacity = capacity;
    }
    return true;
}

static void store(struct parser *parser, struct initializer *initializer, struct value value)
{
    uint8_t type = initializer->variable->type;
    bool is_float = value.kind == LITERAL_F32 || value.kind == LITERAL_F64;
    struct ir_operand number = {.component = (uint8_t)value.kind, .bits = value.bits};
    if ((type == IR_F32 || type == IR_F64) && !is_float) {
        parse_error(parser, parser->token.line, "Initial value type mismatch, float expected");
        return;
    }
    if (is_float && opcodes_class(type) != CLASS_BITS && type != IR_F32 && type != IR_F64) {
        parse_error(parser, parser->token.line, "Initial value type mismatch, integer expected");
        return;
    }
    check_fix_immediate(&number, is_float && type == IR_B32 ? (uint8_t)IR_F32 : type);
    uint8_t *at = initializer->data + initializer->next * initializer->element;
    for (unsigned i = 0; i < initializer->element && i < 8; i++)
        at[i] = (uint8_t)(number.bits >> 8 * i);
}

/* name, name + 4, generic(name), generic(name) + 4 */
static void address(struct parser *parser, struct initializer *initializer, uint8_t size,
                    uint8_t shift, bool in_parentheses)
{
    struct ir_relocation relocation = {
        .offset = initializer->next * initializer->element, .size = size, .shift = shift};
    struct name name;
    uint32_t line = parser->token.line;
    if (!parse_name(parser, &name))
        return;
    if (parse_name_is(name, "generic") && parse_accept(parser, '(')) {
        relocation.generic = true;
        if (!parse_name(parser, &name) || !parse_expect(parser, ')'))
            return;
    }
    uint64_t addend = 0;
    if (parse_accept(parser, '+') && !parse_expr_offset(parser, &addend))
        return;
    relocation.addend = (int64_t)addend;
    if (in_parentheses && !parse_expect(parser, ')'))
        return;
    struct symbol *symbol = symbol_find(parser, name);
    if (!symbol || (symbol->kind != SYMBOL_VARIABLE && symbol->kind != SYMBOL_FUNCTION)) {
        parse_unknown(parser, line, name);
        return;
    }
    relocation.index = symbol->index;
    relocation.function = symbol->kind == SYMBOL_FUNCTION;
    struct reader *reader = parser->reader;
    const struct list *links =
        relocation.function ? &reader->function_links : &reader->variable_links;
    ((struct link_entry *)links->data)[symbol->index].used = true;
    if (!relocation.function) {
        const struct ir_variable *variable =
            (const struct ir_variable *)reader->variables.data + symbol->index;
        if (variable->space != PTX_SPACE_GLOBAL && variable->space != PTX_SPACE_CONST)
            parse_error(parser, line, "Initial value '%s' is not in .global or .const space",
                        variable->name);
    }
    uint8_t type = initializer->variable->type;
    if (type != IR_U32 && type != IR_U64 && (type != IR_U8 || !in_parentheses)) {
        parse_error(parser, line, "Address does not fit into the type of variable '%s'",
                    initializer->variable->name);
        return;
    }
    struct ir_relocation *added = parse_list_add(reader, &parser->relocations, sizeof *added);
    if (added)
        *added = relocation;
}

/* 0xFF00(name): one byte of the address. */
static void masked(struct parser *parser, struct initializer *initializer)
{
    uint64_t mask = parser->token.value;
    uint8_t shift = 0;
    if (mask != 0)
        shift = (uint8_t)(__builtin_ctzll(mask) / 8 * 8);
    if (mask == 0 || mask >> shift != 0xff)
        parse_error(parser, parser->token.line, "Mask of one byte expected in initial value");
    parse_next(parser);
    if (parse_expect(parser, '('))
        address(parser, initializer, 1, shift, true);
}

static void scalar(struct parser *parser, struct initializer *initializer)
{
    uint8_t type = initializer->variable->type;
    if (type == IR_F16 || type == IR_F16X2)
        parse_error(parser, parser->token.line, "Variable '%s' of halves cannot have a value",
                    initializer->variable->name);
    if (!reserve(parser, initializer)) {
        parse_syntax(parser);
        return;
    }
    struct lexer ahead = parser->lexer;
    struct token token = {0};
    if (parser->token.kind == TOKEN_INT)
        lex_next(&ahead, &token);
    if (token.kind == TOKEN_PUNCT && token.value == '(') {
        masked(parser, initializer);
    } else if (parser->token.kind == TOKEN_NAME &&
               !parse_name_is((struct name){parser->token.text, parser->token.length}, "WARP_SZ")) {
        address(parser, initializer, (uint8_t)initializer->element, 0, false);
    } else {
        struct value value;
        if (!parse_expr_constant(parser, &value))
            return;
        store(parser, initializer, value);
    }
    initializer->next++;
    if (initializer->next > initializer->top)
        initializer->top = initializer->next;
}

static void level(struct parser *parser, struct initializer *initializer, uint32_t depth)
{
    uint64_t start = initializer->next, values = 0;
    bool last = depth + 1 == initializer->levels, vector = initializer->variable->vector > 1;
    if (depth >= initializer->levels) {
        parse_syntax(parser);
        return;
    }
    parse_next(parser);
    while (!parse_is(parser, '}')) {
        if (parse_is(parser, '{')) {
            uint64_t stride = initializer->stride[depth];
            uint64_t inside = (initializer->next - start) % stride;
            if (inside != 0)
                initializer->next += stride - inside;
            level(parser, initializer, depth + 1); /* at most MAX_LEVELS deep */
        } else {
            if (!last)
                parse_error(parser, parser->token.line, "Initial value type mismatch, %s expected",
                            "'{'");
            scalar(parser, initializer);
            values++;
        }
        if (parser->fatal || !parse_accept(parser, ','))
            break;
        if (parse_is(parser, '}'))
            parse_syntax(parser);
    }
    if (last && vector && values != initializer->variable->vector)
        parse_error(parser, parser->token.line, "Vector '%s' needs as many values as it has parts",
                    initializer->variable->name);
    parse_expect(parser, '}');
    /* The level is whole, whatever it was given. */
    if (depth > 0) {
        uint64_t whole = initializer->stride[depth - 1];
        if (initializer->next - start > whole)
            parse_error(parser, parser->token.line, "Too many initial values for variable '%s'",
                        initializer->variable->name);
        initializer->next = start + whole;
    }
}

void parse_initializer(struct parser *parser, struct ir_variable *variable, const uint64_t *dims,
                       uint32_t dim_count, bool open)
{
    struct initializer initializer = {.variable = variable, .levels = dim_count, .open = open};
    initializer.element = opcodes_type_size(variable->type);
    initializer.limit = open ? UINT64_MAX / 32 : variable->size / initializer.element;
    uint64_t stride = 1;
    for (uint32_t i = dim_count; i > 0; i--) {
        initializer.stride[i - 1] = stride;
        if (i > 1 && __builtin_mul_overflow(stride, dims[i - 1], &stride))
            return;
    }
    parser->relocations.count = 0;
    if (dim_count == 0)
        scalar(parser, &initializer);
    else if (parse_is(parser, '{'))
        level(parser, &initializer, 0);
    else
        parse_syntax(parser);
    if (open && dim_count > 0) {
        uint64_t first = initializer.stride[0];
        uint64_t items = (initializer.top + first - 1) / first;
        if (items == 0)
            parse_error(parser, parser->token.line, "Array '%s' needs a size or an initial value",
                        variable->name);
        if (__builtin_mul_overflow(items, first * initializer.element, &variable->size) ||
            variable->size > MAX_VARIABLE_BYTES)
            parse_error(parser, parser->token.line, "Variable is too large");
    }
    size_t used = (size_t)(initializer.top * initializer.element);
    if (used > variable->size) {
        if (!parser->fatal)
            parse_error(parser, parser->token.line, "Initial value of variable '%s' is too large",
                        variable->name);
    } else if (!parser->fatal && used > 0) {
        uint8_t *bytes = parse_alloc(parser, used);
        if (bytes)
            memcpy(bytes, initializer.data, used);
        variable->init = bytes;
        variable->init_size = used;
        parser->reader->init_bytes += used;
        variable->relocation_count = parser->relocations.count;
        variable->relocations =
            parse_move(parser->reader, &parser->relocations, sizeof *variable->relocations);
    }
    free(initializer.data);
}

/* { addr_mode_0 = wrap, filter_mode = linear, ... }: the host's settings decide, as for a texture
 * object, so that these are read and left. */
void parse_initializer_reference(struct parser *parser)
{
    struct name name;
    if (!parse_expect(parser, '{'))
        return;
    do {
        if (!parse_name(parser, &name) || !parse_expect(parser, '='))
            return;
        if (parser->token.kind == TOKEN_NAME) {
            if (!parse_name(parser, &name))
                return;
        } else {
            struct value value;
            if (!parse_expr_constant(parser, &value))
                return;
        }
    } while (parse_accept(parser, ','));
    parse_expect(parser, '}');
}
