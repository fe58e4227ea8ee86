/* SPDX-License-Identifier: MIT */
#include "ptx/read/read.h"

#include <stdlib.h>

/* What a character may be. */
enum { SPACE = 1, DIGIT = 2, FOLLOW = 4, PUNCT = 8 };
#define S SPACE
#define D (DIGIT | FOLLOW)
#define F FOLLOW
#define P PUNCT
static const unsigned char classes[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, S, S, S, S, S, 0, 0, /* controls */
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* controls */
    S, P, 0, 0, F, P, P, 0, P, P, P, P, P, P, 0, P, /* space to / */
    D, D, D, D, D, D, D, D, D, D, P, P, P, P, P, P, /* 0 to ? */
    P, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, /* @ to O */
    F, F, F, F, F, F, F, F, F, F, F, P, 0, P, P, F, /* P to _ */
    0, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, /* ` to o */
    F, F, F, F, F, F, F, F, F, F, F, P, P, P, P, 0, /* p to the last */
};
#undef S
#undef D
#undef F
#undef P

static bool is_a(char c, unsigned class)
{
    return classes[(unsigned char)c] & class;
}

static bool is_digit(char c)
{
    return is_a(c, DIGIT);
}

/* May stand inside a name. */
static bool is_follow(char c)
{
    return is_a(c, FOLLOW);
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static char peek(const struct lexer *lexer, size_t ahead)
{
    return (size_t)(lexer->end - lexer->at) > ahead ? lexer->at[ahead] : '\0';
}

void lex_start(struct lexer *lexer, const char *text, size_t size)
{
    const char *nul = size > 0 ? memchr(text, '\0', size) : NULL;
    lexer->at = text;
    lexer->end = nul ? nul : text + size;
    lexer->line = 1;
}

static void skip_line(struct lexer *lexer)
{
    const char *end = memchr(lexer->at, '\n', (size_t)(lexer->end - lexer->at));
    lexer->at = end ? end : lexer->end;
}

/* False: a comment that has no end. */
static bool skip_comment(struct lexer *lexer)
{
    lexer->at += 2;
    for (; lexer->at < lexer->end; lexer->at++) {
        if (*lexer->at == '\n')
            lexer->line++;
        if (*lexer->at == '*' && peek(lexer, 1) == '/') {
            lexer->at += 2;
            return true;
        }
    }
    return false;
}

static bool skip_space(struct lexer *lexer)
{
    while (lexer->at < lexer->end) {
        char c = *lexer->at;
        if (c == '\n') {
            lexer->line++;
            lexer->at++;
        } else if (is_a(c, SPACE)) {
            lexer->at++;
        } else if (c == '/' && peek(lexer, 1) == '/') {
            skip_line(lexer);
        } else if (c == '/' && peek(lexer, 1) == '*') {
            if (!skip_comment(lexer))
                return false;
        } else if (c == '@' && peek(lexer, 1) == '@') {
            skip_line(lexer); /* @@DWARF: debug data of old compilers */
        } else {
            break;
        }
    }
    return true;
}

/* 0f and 0d: exactly 8 or 16 hexadecimal digits. */
static bool lex_exact_float(struct lexer *lexer, struct token *token)
{
    char kind = peek(lexer, 1);
    unsigned digits = kind == 'f' || kind == 'F' ? 8 : 16;
    uint64_t value = 0;
    for (unsigned i = 0; i < digits; i++) {
        int digit = hex_digit(peek(lexer, 2 + i));
        if (digit < 0)
            return false;
        value = value << 4 | (uint64_t)digit;
    }
    lexer->at += 2 + digits;
    token->kind = digits == 8 ? TOKEN_F32 : TOKEN_F64;
    token->value = value;
    return true;
}

static void lex_integer(struct lexer *lexer, struct token *token)
{
    unsigned base = 10;
    if (*lexer->at == '0') {
        char next = peek(lexer, 1);
        base = 8;
        if (next == 'x' || next == 'X')
            base = 16;
        else if (next == 'b' || next == 'B')
            base = 2;
        if (base != 8)
            lexer->at += 2;
    }
    const char *first = lexer->at;
    uint64_t value = 0;
    bool overflow = false;
    for (; lexer->at < lexer->end; lexer->at++) {
        int digit = hex_digit(*lexer->at);
        if (digit < 0 || (unsigned)digit >= base)
            break;
        overflow |= __builtin_mul_overflow(value, (uint64_t)base, &value);
        overflow |= __builtin_add_overflow(value, (uint64_t)digit, &value);
    }
    token->kind = lexer->at > first ? TOKEN_INT : TOKEN_BAD;
    token->is_unsigned = value > INT64_MAX;
    token->overflow = overflow;
    token->value = value;
    if (peek(lexer, 0) == 'U') {
        lexer->at++;
        token->is_unsigned = true;
    }
}

/* Digits with a point or an exponent; strtod would follow the locale. */
static bool lex_decimal(struct lexer *lexer, struct token *token)
{
    size_t length = 0;
    bool point = false, exponent = false;
    while (is_digit(peek(lexer, length)))
        length++;
    if (peek(lexer, length) == '.') {
        point = true;
        length++;
        while (is_digit(peek(lexer, length)))
            length++;
    }
    if (point && (peek(lexer, length) == 'e' || peek(lexer, length) == 'E')) {
        size_t at = length + 1;
        if (peek(lexer, at) == '+' || peek(lexer, at) == '-')
            at++;
        if (is_digit(peek(lexer, at))) {
            exponent = true;
            while (is_digit(peek(lexer, at)))
                at++;
            length = at;
        }
    }
    if (!point && !exponent)
        return false;
    char buffer[128];
    if (length >= sizeof buffer)
        return false;
    memcpy(buffer, lexer->at, length);
    buffer[length] = '\0';
    char *end = NULL;
    double value = strtod(buffer, &end);
    if (end != buffer + length) { /* a locale with a decimal comma */
        char *dot = strchr(buffer, '.');
        if (dot)
            *dot = ',';
        value = strtod(buffer, &end);
    }
    lexer->at += length;
    token->kind = TOKEN_F64;
    memcpy(&token->value, &value, sizeof value);
    return true;
}

/* What most numbers are: decimal, without a point, an exponent or a suffix. */
static bool lex_plain(struct lexer *lexer, struct token *token)
{
    const char *at = lexer->at, *most = lexer->end - at > 18 ? at + 18 : lexer->end;
    uint64_t value = 0;
    for (; at < most && is_digit(*at); at++)
        value = value * 10 + (uint64_t)(*at - '0');
    if (at == lexer->end || is_follow(*at) || *at == '.' || (*lexer->at == '0' && value))
        return false;
    token->kind = TOKEN_INT;
    token->value = value;
    lexer->at = at;
    return true;
}

static void lex_number(struct lexer *lexer, struct token *token)
{
    if (lex_plain(lexer, token))
        return;
    char next = peek(lexer, 1);
    if (*lexer->at == '0' && (next == 'f' || next == 'F' || next == 'd' || next == 'D')) {
        if (!lex_exact_float(lexer, token)) {
            token->kind = TOKEN_BAD;
            lexer->at += 2;
        }
    } else if (!lex_decimal(lexer, token)) {
        lex_integer(lexer, token);
    }
    if (is_follow(peek(lexer, 0))) { /* 12abc */
        token->kind = TOKEN_BAD;
        while (is_follow(peek(lexer, 0)))
            lexer->at++;
    }
}

static void lex_string(struct lexer *lexer, struct token *token)
{
    lexer->at++;
    token->text = lexer->at;
    while (lexer->at < lexer->end && *lexer->at != '"' && *lexer->at != '\n') {
        if (*lexer->at == '\\' && peek(lexer, 1) != '\n' && lexer->at + 1 < lexer->end)
            lexer->at++;
        lexer->at++;
    }
    token->length = (uint32_t)(lexer->at - token->text);
    token->kind = peek(lexer, 0) == '"' ? TOKEN_STRING : TOKEN_BAD;
    if (token->kind == TOKEN_STRING)
        lexer->at++;
}

/* .word, .word::word, .2d; false: no word follows the dot. */
static bool lex_word(struct lexer *lexer, struct token *token)
{
    const char *at = lexer->at + 1;
    const char *start = at;
    while (at < lexer->end) {
        if (is_follow(*at))
            at++;
        else if (lexer->end - at > 2 && at > start && at[0] == ':' && at[1] == ':' &&
                 is_follow(at[2]))
            at += 2;
        else
            break;
    }
    if (at == start)
        return false;
    token->kind = TOKEN_WORD;
    token->text = start;
    token->length = (uint32_t)(at - start);
    lexer->at = at;
    return true;
}

static void lex_punctuation(struct lexer *lexer, struct token *token)
{
    const char first = *lexer->at, second = peek(lexer, 1);
    const bool equal = second == '=' && (first == '<' || first == '>' || first == '!');
    const bool twice = second == first && (first == '<' || first == '>' || first == '=' ||
                                           first == '&' || first == '|');
    token->kind = is_a(first, PUNCT) ? TOKEN_PUNCT : TOKEN_BAD;
    token->value = (unsigned char)first;
    token->length = 1;
    if (equal || twice) {
        token->value = token->value << 8 | (unsigned char)second;
        token->length = 2;
    }
    lexer->at += token->length;
}

void lex_next(struct lexer *lexer, struct token *token)
{
    bool good = skip_space(lexer);
    *token = (struct token){.line = lexer->line, .text = lexer->at};
    if (!good) {
        token->kind = TOKEN_BAD;
        return;
    }
    if (lexer->at >= lexer->end)
        return;
    char c = *lexer->at;
    const char *start = lexer->at;
    if ((is_a(c, FOLLOW) && !is_digit(c)) || (c == '%' && is_follow(peek(lexer, 1)))) {
        const char *at = start + 1;
        while (at < lexer->end && is_follow(*at))
            at++;
        lexer->at = at;
        token->kind = TOKEN_NAME;
    } else if (is_digit(c)) {
        lex_number(lexer, token);
    } else if (c == '"') {
        lex_string(lexer, token);
        return;
    } else if (c == '.' && lex_word(lexer, token)) {
        return;
    } else {
        lex_punctuation(lexer, token);
        return;
    }
    token->length = (uint32_t)(lexer->at - start);
}
