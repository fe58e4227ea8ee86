/* SPDX-License-Identifier: MIT */
/* Constant expressions, with C's operators and precedence; integers are 64 bits, signed unless one
 * side is unsigned; floating point is double. */
#include "ptx/read/read.h"

#define PAIR(first, second) ((unsigned)(first) << 8 | (unsigned)(second))

static double as_double(struct value value)
{
    double result;
    if (value.kind == LITERAL_INT)
        return (double)(int64_t)value.bits;
    if (value.kind == LITERAL_UNSIGNED)
        return (double)value.bits;
    memcpy(&result, &value.bits, sizeof result);
    return result;
}

static struct value of_double(double number)
{
    struct value value = {.kind = LITERAL_F64};
    memcpy(&value.bits, &number, sizeof number);
    return value;
}

static struct value of_bool(bool truth)
{
    return (struct value){.kind = LITERAL_INT, .bits = truth};
}

static bool is_float(struct value value)
{
    return value.kind == LITERAL_F32 || value.kind == LITERAL_F64;
}

static bool is_true(struct value value)
{
    return is_float(value) ? as_double(value) != 0 : value.bits != 0;
}

static bool fail(struct parser *parser, const char *what)
{
    return parse_error(parser, parser->token.line, "%s in constant expression", what);
}

static struct value failed(struct parser *parser, const char *what)
{
    fail(parser, what);
    return (struct value){.failed = true};
}

/* Not by zero. */
static uint64_t divide(unsigned op, bool is_unsigned, uint64_t a, uint64_t b)
{
    if (is_unsigned)
        return op == '/' ? a / b : a % b;
    if (b == UINT64_MAX) /* -1: the smallest number has no positive counterpart */
        return op == '/' ? 0 - a : 0;
    return (uint64_t)(op == '/' ? (int64_t)a / (int64_t)b : (int64_t)a % (int64_t)b);
}

static uint64_t shift(unsigned op, bool is_unsigned, uint64_t a, uint64_t b)
{
    bool negative = !is_unsigned && a >> 63 != 0;
    if (b >= 64)
        return op == PAIR('>', '>') && negative ? UINT64_MAX : 0;
    if (op == PAIR('<', '<'))
        return a << b;
    return negative ? ~(~a >> b) : a >> b;
}

/* Neither less, equal nor greater: a NaN. */
static struct value compared(unsigned op, bool less, bool equal, bool greater)
{
    switch (op) {
    case '<':
        return of_bool(less);
    case '>':
        return of_bool(greater);
    case PAIR('<', '='):
        return of_bool(less || equal);
    case PAIR('>', '='):
        return of_bool(greater || equal);
    case PAIR('=', '='):
        return of_bool(equal);
    default:
        return of_bool(!equal);
    }
}

/* How tightly an operator binds; 0: it is none. */
static unsigned precedence(unsigned op)
{
    static const uint16_t levels[][4] = {{PAIR('|', '|')},
                                         {PAIR('&', '&')},
                                         {'|'},
                                         {'^'},
                                         {'&'},
                                         {PAIR('=', '='), PAIR('!', '=')},
                                         {'<', '>', PAIR('<', '='), PAIR('>', '=')},
                                         {PAIR('<', '<'), PAIR('>', '>')},
                                         {'+', '-'},
                                         {'*', '/', '%'}};

    for (unsigned i = 0; i < sizeof levels / sizeof *levels; i++)
        for (unsigned k = 0; k < 4; k++)
            if (levels[i][k] == op)
                return i + 1;
    return 0;
}

static struct value float_binary(struct parser *parser, unsigned op, double a, double b)
{
    switch (op) {
    case '+':
        return of_double(a + b);
    case '-':
        return of_double(a - b);
    case '*':
        return of_double(a * b);
    case '/':
        return of_double(a / b);
    default:
        return failed(parser, "Floating-point operand where an integer is expected");
    }
}

static uint64_t integer_binary(unsigned op, bool is_unsigned, uint64_t a, uint64_t b)
{
    switch (op) {
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    case '/':
    case '%':
        return divide(op, is_unsigned, a, b);
    case '&':
        return a & b;
    case '|':
        return a | b;
    default:
        return a ^ b;
    }
}

static struct value binary(struct parser *parser, unsigned op, struct value left,
                           struct value right)
{
    const bool real = is_float(left) || is_float(right);
    const bool sign = left.kind != LITERAL_UNSIGNED && right.kind != LITERAL_UNSIGNED;
    const double x = as_double(left), y = as_double(right);
    const uint64_t a = left.bits, b = right.bits;

    /* An exact single is not for arithmetic. */
    if (left.kind == LITERAL_F32 || right.kind == LITERAL_F32)
        return failed(parser, "Single-precision literal");
    switch (precedence(op)) {
    case 1:
        return of_bool(is_true(left) || is_true(right));
    case 2:
        return of_bool(is_true(left) && is_true(right));
    case 6:
    case 7:
        if (real)
            return compared(op, x<y, x == y, x> y);
        if (sign)
            return compared(op, (int64_t)a<(int64_t)b, a == b, (int64_t)a>(int64_t) b);
        return compared(op, a<b, a == b, a> b);
    default:
        break;
    }
    if (real)
        return float_binary(parser, op, x, y);
    if (op == PAIR('<', '<') || op == PAIR('>', '>'))
        return (struct value){.kind = left.kind,
                              .bits = shift(op, left.kind == LITERAL_UNSIGNED, a, b)};
    if (b == 0 && (op == '/' || op == '%'))
        return failed(parser, "Division by zero");
    return (struct value){.kind = sign ? LITERAL_INT : LITERAL_UNSIGNED,
                          .bits = integer_binary(op, !sign, a, b)};
}

static bool unary(struct parser *parser, struct value *value);

/* (expression), or a cast: (.s64) and (.u64). */
static bool parenthesis(struct parser *parser, struct value *value)
{
    if (parser->token.kind == TOKEN_WORD) {
        bool is_unsigned = parse_is_word(parser, "u64");
        if (!is_unsigned && !parse_is_word(parser, "s64"))
            return parse_syntax(parser);
        parse_next(parser);
        if (!parse_expect(parser, ')') || !unary(parser, value))
            return false;
        if (is_float(*value))
            return fail(parser, "Cast of a floating-point value");
        value->kind = is_unsigned ? LITERAL_UNSIGNED : LITERAL_INT;
        return true;
    }
    return parse_expr_constant(parser, value) && parse_expect(parser, ')');
}

static bool primary(struct parser *parser, struct value *value)
{
    const struct token *token = &parser->token;
    *value = (struct value){.kind = LITERAL_INT, .bits = token->value};
    if (parse_accept(parser, '('))
        return parenthesis(parser, value);
    switch (token->kind) {
    case TOKEN_INT:
        if (token->is_unsigned)
            value->kind = LITERAL_UNSIGNED;
        if (token->overflow)
            parse_error(parser, token->line, "Integer literal does not fit into 64 bits");
        break;
    case TOKEN_F32:
        value->kind = LITERAL_F32;
        break;
    case TOKEN_F64:
        value->kind = LITERAL_F64;
        break;
    case TOKEN_NAME:
        if (parse_name_is((struct name){token->text, token->length}, "WARP_SZ")) {
            value->bits = 32;
            break;
        }
        return parse_syntax(parser);
    default:
        return parse_syntax(parser);
    }
    parse_next(parser);
    return true;
}

static void negate(struct value *value)
{
    if (value->kind == LITERAL_F32)
        value->bits ^= UINT32_C(0x80000000);
    else if (value->kind == LITERAL_F64)
        value->bits ^= UINT64_C(1) << 63;
    else
        value->bits = 0 - value->bits;
}

static bool unary(struct parser *parser, struct value *value)
{
    char ops[MAX_NESTING];
    unsigned count = 0;
    while (parse_is(parser, '-') || parse_is(parser, '+') || parse_is(parser, '!') ||
           parse_is(parser, '~')) {
        if (count == MAX_NESTING)
            return fail(parser, "Too many operators");
        ops[count++] = (char)parser->token.value;
        parse_next(parser);
    }
    if (!primary(parser, value))
        return false;
    while (count > 0) {
        switch (ops[--count]) {
        case '-':
            negate(value);
            break;
        case '!':
            *value = of_bool(!is_true(*value));
            break;
        case '~':
            if (is_float(*value))
                return fail(parser, "Floating-point operand where an integer is expected");
            value->bits = ~value->bits;
            break;
        default:
            break;
        }
    }
    return true;
}

/* Operators that bind at least as tightly as `least`. */
static bool climb(struct parser *parser, unsigned least, struct value *value)
{
    if (!unary(parser, value))
        return false;
    for (;;) {
        const struct token *token = &parser->token;
        unsigned strength = token->kind == TOKEN_PUNCT ? precedence((unsigned)token->value) : 0;
        if (strength == 0 || strength < least)
            return true;
        unsigned op = (unsigned)parser->token.value;
        struct value right;
        parse_next(parser);
        /* Depth here is at most the number of precedences. */
        if (!climb(parser, strength + 1, &right))
            return false;
        *value = binary(parser, op, *value, right);
        if (value->failed)
            return false;
    }
}

static bool ternary(struct parser *parser, struct value *value)
{
    if (!climb(parser, 1, value))
        return false;
    if (!parse_accept(parser, '?'))
        return true;
    struct value first, second;
    if (!parse_expr_constant(parser, &first) || !parse_expect(parser, ':') ||
        !parse_expr_constant(parser, &second))
        return false;
    *value = is_true(*value) ? first : second;
    return true;
}

bool parse_expr_constant(struct parser *parser, struct value *value)
{
    *value = (struct value){.kind = LITERAL_INT, .bits = 0};
    if (parser->nesting >= MAX_NESTING) {
        fail(parser, "Too deep nesting");
        return parse_syntax(parser);
    }
    parser->nesting++;
    bool good = ternary(parser, value);
    parser->nesting--;
    return good;
}

bool parse_expr_size(struct parser *parser, uint64_t *value)
{
    uint32_t line = parser->token.line;
    struct value constant;
    *value = 0;
    if (!parse_expr_constant(parser, &constant))
        return false;
    if (is_float(constant) || (constant.kind == LITERAL_INT && (int64_t)constant.bits < 0))
        return parse_error(parser, line, "Non-negative integer expected");
    *value = constant.bits;
    return true;
}

bool parse_expr_offset(struct parser *parser, uint64_t *bits)
{
    uint32_t line = parser->token.line;
    struct value value;

    if (!parse_expr_constant(parser, &value))
        return false;
    if (is_float(value))
        parse_error(parser, line, "Integer offset expected");
    *bits = value.bits;
    return true;
}
