/* SPDX-License-Identifier: MIT */
#include "scan_use.h"

#include "known.h"

#include <string.h>

static const char *const unevaluated[] = {"sizeof",     "typeof",   "__typeof",
                                          "__typeof__", "decltype", "offsetof",
                                          "alignof",    "_Alignof", NULL};

/* The word that ends at a place, but for spaces. */
static struct scan_word word_before(const char *from, const char *at)
{
    const char *end = scan_text_back_over_spaces(from, at), *begin = end;

    while (begin > from && scan_text_is_letter(begin[-1]))
        begin--;
    return (struct scan_word){begin, (size_t)(end - begin)};
}

/* "sizeof cu->cuName", "sizeof(cu->cuName)", "offsetof(struct cushim_api, cuName)", in one line. */
static bool is_unevaluated(const struct scan_text *in, struct scan_word name)
{
    enum { LONGEST = 512 };
    const char *at = name.text;
    const char *from = at - in->text > LONGEST ? at - LONGEST : in->text;
    int depth = 0;

    while (at > from && (scan_text_is_letter(at[-1]) || memchr(".->", at[-1], 4)))
        at--;
    if (at > from && at[-1] == ' ' && scan_word_is_one_of(word_before(from, at), unevaluated))
        return true;
    for (; at > from && !memchr(";{}\"'\n", at[-1], 6); at--) {
        if (at[-1] == '/' && at - from > 1 && at[-2] == '*')
            return false;
        depth += (at[-1] == ')') - (at[-1] == '(');
        if (depth == 0)
            continue;
        if (depth < 0 && scan_word_is_one_of(word_before(from, at - 1), unevaluated))
            return true;
        depth = depth < 0 ? 0 : depth;
    }
    return false;
}

static bool is_entry(struct scan_word name)
{
    return known_symbol_of(name.text, name.length) != KNOWN_NONE;
}

/* "#define cuName cuName_v2", "#undef cuName", "#ifdef cuName" */
static bool is_renamed(const struct scan_scope *scope)
{
    const size_t function = scope->now.function;

    if (!scope->directive)
        return false;
    return function == SCOPE_FILE || !scope->functions[function - 1].macro ||
           is_entry(scope->functions[function - 1].name);
}

bool scan_use_is_call(const struct scan_text *in, const struct scan_scope *scope,
                      struct scan_word name, struct scan_word before, bool member)
{
    static const char *const types[] = {"CUresult", "CUDAAPI", "cudaError_enum", "__stdcall", NULL};
    const ptrdiff_t rest = in->end - in->at;

    if (is_unevaluated(in, name))
        return false;
    if (member)
        return rest == 0 || *in->at != '=' || (rest > 1 && in->at[1] == '=');
    return !is_renamed(scope) &&
           !(rest > 0 && *in->at == '(' && scan_word_is_one_of(before, types));
}

bool scan_use_is_compared(const struct scan_text *in, struct scan_word name)
{
    static const char *const keywords[] = {"if", "while", NULL};
    static const char *const operators[] = {"!=", "==", "&&", "||", "?"};
    const char *at = name.text;

    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (scan_text_begins(in, operators[i]))
            return true;
    }
    while (at > in->text && (scan_text_is_letter(at[-1]) || memchr(".->", at[-1], 4)))
        at--;
    at = scan_text_back_over_spaces(in->text, at);
    if (!scan_text_begins(in, ")") || at == in->text)
        return false;
    return at[-1] == '!' ||
           (at[-1] == '(' && scan_word_is_one_of(word_before(in->text, at - 1), keywords));
}

void scan_compared_add(struct scan_compared *compared, size_t index, size_t function, size_t line)
{
    const size_t at = compared->count++ % (sizeof compared->item / sizeof *compared->item);

    compared->item[at].index = index;
    compared->item[at].function = function;
    compared->item[at].line = line;
}

size_t scan_compared_line(const struct scan_compared *compared, size_t index, size_t function)
{
    const size_t most = sizeof compared->item / sizeof *compared->item;

    for (size_t i = 0; i < compared->count && i < most; i++) {
        if (compared->item[i].index == index && compared->item[i].function == function)
            return compared->item[i].line;
    }
    return 0;
}
