/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The tokens of a function's text, without comments and the lines of the preprocessor.
 */
#ifndef CUSHIM_TOOLS_SCAN_TOKEN_H
#define CUSHIM_TOOLS_SCAN_TOKEN_H

#include "scan_text.h"

/** Others are the character itself. */
enum scan_token_kind {
    TOKEN_END = 0,
    TOKEN_NUMBER = '0',
    TOKEN_STRING = '"',
    TOKEN_WORD = 'a',
    TOKEN_AND = 256,
    TOKEN_OR,
    TOKEN_ARROW,
    TOKEN_SCOPE,
    TOKEN_EQUAL,
    TOKEN_OTHER_THAN,
    TOKEN_LESS_EQUAL,
    TOKEN_GREATER_EQUAL,
    TOKEN_CHANGE, /* an assignment but = and &= */
    TOKEN_OTHER   /* "<<", "++" */
};

struct scan_token {
    int kind;
    struct scan_word word;
    const char *at;
    size_t line;
};

enum { TOKEN_MOST_CONDITIONS = 32 };

struct scan_tokens {
    struct scan_text in;
    bool macro;          /* '#' begins no line of the preprocessor */
    const char *changed; /* an #else or #endif that was passed, since the caller set it to NULL */
    const char *outside; /* its #if */
    bool odd;    /* brackets do not match in a branch of an #if, or there are too many #if */
    long opened; /* brackets */
    size_t depth;
    struct {
        const char *at;
        long opened;
    } conditions[TOKEN_MOST_CONDITIONS];
    struct scan_token now;
};

/** Go to the next token, or to the next #else or #endif: `changed` is set, and the token is none.
 */
void scan_token_next(struct scan_tokens *tokens);

#endif
