/* SPDX-License-Identifier: MIT */
/* PTX text to tokens. Nothing is copied: a token points into the text. */
#ifndef CUSHIM_SIM_PTX_READ_LEX_H
#define CUSHIM_SIM_PTX_READ_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind {
    TOKEN_END,
    TOKEN_NAME,   /* add, %r1, $L__BB0_1, _ */
    TOKEN_WORD,   /* .reg, .shared::cta, .2d; text is without the dot */
    TOKEN_INT,    /* value */
    TOKEN_F32,    /* 0f3f800000; value: 32 bits */
    TOKEN_F64,    /* 0d..., 1.5; value: 64 bits */
    TOKEN_STRING, /* text is without the quotes */
    TOKEN_PUNCT,  /* value: the character, or first * 256 + second of << >> <= >= == != && || */
    TOKEN_BAD,
};

struct token {
    uint8_t kind;
    bool is_unsigned; /* of TOKEN_INT: 5U, or too large for a signed one */
    bool overflow;    /* of TOKEN_INT: does not fit into 64 bits */
    uint32_t line;
    uint32_t length;
    const char *text;
    uint64_t value;
};

struct lexer {
    const char *at, *end;
    uint32_t line;
};

void lex_start(struct lexer *lexer, const char *text, size_t size);
void lex_next(struct lexer *lexer, struct token *token);

#endif
