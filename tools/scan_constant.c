/* SPDX-License-Identifier: MIT */
#include "scan_constant.h"

#include "scan_token.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

int scan_constant_defined(const struct option_list *defines, struct scan_word name)
{
    for (size_t i = 0; defines && i < defines->count; i++) {
        const char *define = defines->item[i];
        if (strncmp(define, name.text, name.length) == 0 && define[name.length] == '=')
            return atoi(define + name.length + 1);
    }
    return 0;
}

enum { LONGEST_LINE = 512 };

/* A name in capitals, as macros and members of an enum have, or "const" before it in its line. */
static bool is_fixed(const struct scan_text *in, const char *found, size_t length)
{
    const char *line = found;
    bool capitals = true;

    for (size_t i = 0; i < length; i++)
        capitals &= !islower((unsigned char)found[i]);
    while (line > in->text && line[-1] != '\n' && found - line < LONGEST_LINE)
        line--;
    return capitals || memmem(line, (size_t)(found - line), "const", strlen("const")) ||
           memmem(line, (size_t)(found - line), "define", strlen("define"));
}

int scan_constant_read(const struct scan_text *in, const struct option_list *defines,
                       struct scan_word name, bool fixed)
{
    const char *found = in->text;
    int least = name.length > 0 ? scan_constant_defined(defines, name) : 0;

    if (least > 0 || name.length == 0)
        return least;
    while ((found = memmem(found, (size_t)(in->end - found), name.text, name.length))) {
        bool whole = found == in->text || !scan_text_is_letter(found[-1]);
        bool counts = whole && (!fixed || is_fixed(in, found, name.length));
        found += name.length;
        const char *value = found;
        while (value < in->end && (*value == ' ' || *value == '\t' || *value == '='))
            value++;
        int number = counts && value > found ? scan_text_number(in, value) : 0;
        if (number > 0 && (least == 0 || number < least))
            least = number;
    }
    return least;
}

const char *scan_constant_next(const struct scan_text *in, const char *at, struct scan_word *name,
                               int *release)
{
    enum { FIRST = 9000, LAST = 20000, MOST_MINOR = 90 };

    for (struct scan_word word = scan_word_at(at, in->end); word.length > 0;
         word = scan_word_at(word.text + word.length, in->end)) {
        const char *behind = word.text + word.length, *value = behind;
        while (value < in->end && memchr(" \t=(", *value, 5))
            value++;
        const int number = value > behind ? scan_text_number(in, value) : 0;
        if (number >= FIRST && number < LAST && number % 10 == 0 && number % 1000 <= MOST_MINOR &&
            !isdigit((unsigned char)*word.text) && is_fixed(in, word.text, word.length)) {
            *name = word;
            *release = number;
            return behind;
        }
    }
    return NULL;
}

/* Behind a token that is of this kind, and this text. */
static bool pass(struct scan_tokens *tokens, int kind, const char *text)
{
    if (tokens->now.kind != kind || (text && !scan_word_is(tokens->now.word, text)))
        return false;
    scan_token_next(tokens);
    return true;
}

/* "name", "(name)" */
static bool pass_name(struct scan_tokens *tokens, struct scan_word name)
{
    const bool open = pass(tokens, '(', NULL);
    const bool own =
        tokens->now.kind == TOKEN_WORD && scan_word_compare(tokens->now.word, name) == 0;

    scan_token_next(tokens);
    return own && (!open || pass(tokens, ')', NULL));
}

/* "name * number", "number * name", also in parentheses. */
static bool pass_product(struct scan_tokens *tokens, struct scan_word name, const char *number)
{
    const struct scan_tokens before = *tokens;

    if (pass(tokens, TOKEN_NUMBER, number))
        return pass(tokens, '*', NULL) && pass_name(tokens, name);
    if (pass_name(tokens, name))
        return pass(tokens, '*', NULL) && pass(tokens, TOKEN_NUMBER, number);
    *tokens = before;
    return pass(tokens, '(', NULL) && pass_product(tokens, name, number) && pass(tokens, ')', NULL);
}

/* The last word of each of two parameters. */
static bool pass_parameters(struct scan_tokens *tokens, struct scan_word names[2])
{
    for (size_t i = 0; i < 2; i++) {
        for (scan_token_next(tokens); tokens->now.kind == TOKEN_WORD; scan_token_next(tokens))
            names[i] = tokens->now.word;
        if (names[i].length == 0 || tokens->now.kind != (i == 0 ? ',' : ')'))
            return false;
    }
    scan_token_next(tokens);
    return true;
}

bool scan_constant_is_maker(const struct scan_text *in, const struct scan_function *function)
{
    const char *from = function->name.text + function->name.length;
    const char *end = function->until ? function->until : in->end;
    struct scan_tokens tokens = {.in = {from, from, end, function->line}, .macro = true};
    struct scan_word names[2] = {{NULL, 0}, {NULL, 0}};

    if (function->name.length == 0 || end - from > LONGEST_LINE)
        return false;
    scan_token_next(&tokens);
    if (tokens.now.kind != '(' || !pass_parameters(&tokens, names))
        return false;
    while (!function->macro && tokens.now.kind == TOKEN_WORD) /* const, noexcept */
        scan_token_next(&tokens);
    if (!function->macro && !(pass(&tokens, '{', NULL) && pass(&tokens, TOKEN_WORD, "return")))
        return false;
    const struct scan_tokens before = tokens;
    const bool open = pass(&tokens, '(', NULL);
    bool whole = open && pass_product(&tokens, names[0], "1000") && pass(&tokens, '+', NULL) &&
                 pass_product(&tokens, names[1], "10") && pass(&tokens, ')', NULL);
    if (!whole) {
        tokens = before;
        whole = pass_product(&tokens, names[0], "1000") && pass(&tokens, '+', NULL) &&
                pass_product(&tokens, names[1], "10");
    }
    return whole && (function->macro || (pass(&tokens, ';', NULL) && pass(&tokens, '}', NULL))) &&
           tokens.now.kind == TOKEN_END;
}
