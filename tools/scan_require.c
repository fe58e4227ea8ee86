/* SPDX-License-Identifier: MIT */
#include "scan_require.h"

#include <string.h>

enum { LONGEST_HEAD = 4096 };

/* Whether the word ends at a place. */
static bool ends_with(const char *from, const char *at, const char *word)
{
    size_t length = strlen(word);

    return (size_t)(at - from) >= length && memcmp(at - length, word, length) == 0 &&
           ((size_t)(at - from) == length || !scan_text_is_letter(at[-(ptrdiff_t)length - 1]));
}

/* "(void)", and the head of an `if` or a loop, whose last parenthesis is before a place. */
static bool is_head(const char *from, const char *at)
{
    const char *least = at - from > LONGEST_HEAD ? at - LONGEST_HEAD : from;
    int depth = 0;

    at = scan_text_back_over_spaces(from, at);
    const char *last = at;
    while (at > least) {
        at--;
        depth += (*at == ')') - (*at == '(');
        if (depth <= 0)
            break;
    }
    if (depth != 0 || at == last)
        return false;
    if (ends_with(at, last - 1, "void"))
        return true;
    at = scan_text_back_over_spaces(from, at);
    return ends_with(from, at, "if") || ends_with(from, at, "while") || ends_with(from, at, "for");
}

/* A statement of its own. */
static bool is_unused(const struct scan_text *in, const struct scan_require_place *place,
                      const char *close)
{
    static const char *const words[] = {"else", "do", NULL};
    const char *behind = scan_text_skip_spaces(close + 1, in->end);

    if (behind == in->end || *behind != ';')
        return false;
    if (place->last.length > 0)
        return scan_word_is_one_of(place->last, words);
    return memchr(";{}", place->before, 3) ||
           (place->before == ')' && is_head(in->text, place->call));
}

/* Behind "== CUSHIM_OK)", or behind ")" of an `if` that inverts; NULL: another condition. */
static const char *find_branch(const struct scan_text *in, const char *call, const char *close)
{
    const char *at = scan_text_back_over_spaces(in->text, call), *end = in->end;
    const bool negated = at > in->text && at[-1] == '!';

    at = scan_text_back_over_spaces(in->text, negated ? at - 1 : at);
    if (at == in->text || *--at != '(' ||
        !ends_with(in->text, scan_text_back_over_spaces(in->text, at), "if"))
        return NULL;
    at = scan_text_skip_spaces(close + 1, end);
    if (!negated) {
        struct scan_word value = scan_word_at(at, end);
        if (end - at < 2 || memcmp(at, "==", 2) != 0 ||
            !(scan_word_is(value, "CUSHIM_OK") || scan_word_is(value, "0")))
            return NULL;
        at = scan_text_skip_spaces(value.text + value.length, end);
    }
    return at < end && *at == ')' ? scan_text_skip_spaces(at + 1, end) : NULL;
}

/* The last statement of a branch: a short block has no block in it. */
static const char *find_last(const char *at, const char *end)
{
    if (at == end || *at != '{')
        return at;
    const char *close = memchr(at, '}', (size_t)(end - at)), *last = at + 1, *next;
    end = close ? close : end;
    while ((next = memchr(last, ';', (size_t)(end - last))) &&
           scan_text_skip_spaces(next + 1, end) < end)
        last = next + 1;
    return last;
}

/* if (cushim_require(...) == CUSHIM_OK) return 77; */
static bool is_inverted(const struct scan_text *in, const struct scan_require_place *place,
                        const char *close)
{
    static const char *const ends[] = {"throw", "abort", NULL};
    const char *at = find_branch(in, place->call, close);

    if (!at)
        return false;
    const struct scan_word word = scan_word_at(find_last(at, in->end), in->end);
    const struct scan_word value = scan_word_at(word.text + word.length, in->end);
    if (scan_word_is_one_of(word, ends))
        return true;
    bool failure = scan_word_is(value, "EXIT_FAILURE") || scan_text_number(in, value.text) > 1;
    bool program = place->program || scan_word_is(word, "exit");
    return (scan_word_is(word, "return") || scan_word_is(word, "exit")) &&
           (failure || (program && scan_word_is(value, "1")));
}

enum scan_require scan_require_use(const struct scan_text *in,
                                   const struct scan_require_place *place, const char *close)
{
    if (is_unused(in, place, close))
        return SCAN_REQUIRE_UNUSED;
    return is_inverted(in, place, close) ? SCAN_REQUIRE_INVERTED : SCAN_REQUIRE_COUNTS;
}
