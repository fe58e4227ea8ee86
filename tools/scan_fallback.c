/* SPDX-License-Identifier: MIT */
#include "scan_fallback.h"

#include "known.h"

#include <string.h>

/* Calls that end something: no other way to do it. */
static bool is_cleaning(size_t index)
{
    static const char *const parts[] = {"Free",    "Destroy",    "Unload",      "Reset",   "Error",
                                        "Release", "Unregister", "Synchronize", "Current", NULL};
    const char *symbol = known_entry(index).symbol;

    for (size_t i = 0; parts[i]; i++) {
        if (strstr(symbol, parts[i]))
            return true;
    }
    return false;
}

/* Whether a condition is that of any error, 1, or of none, 0; -1: it is another one. */
static int tells_error(struct scan_part condition, struct scan_word name)
{
    static const char *const zeros[] = {"CUDA_SUCCESS", "0", NULL};
    const struct scan_word first = scan_word_at(condition.from, condition.end);
    const char *at = scan_text_skip_spaces(first.text + first.length, condition.end);
    const char *begin = scan_text_skip_spaces(condition.from, condition.end);
    const bool negated = begin < condition.end && *begin == '!';

    if (first.length == 0 || first.text != begin + negated)
        return -1;
    if (at == condition.end)
        return scan_word_compare(first, name) == 0 ? !negated : -1;
    if (!scan_text_is_equality(at, condition.end) || negated)
        return -1;
    const struct scan_word second = scan_word_at(at + 2, condition.end);
    const bool own = scan_word_compare(first, name) == 0 && scan_word_is_one_of(second, zeros);
    if (!own && !(scan_word_compare(second, name) == 0 && scan_word_is_one_of(first, zeros)))
        return -1;
    return second.text + second.length == condition.end ? *at == '!' : -1;
}

/* Behind an `if` with such a condition: a call of an older entry that is another way. */
static bool has_fallback(const struct scan_source *source, const struct scan_source_call *call,
                         struct scan_part part, int error)
{
    static const struct scan_word words[] = {{"return", 6}, {"else", 4}};
    const char *from = scan_text_skip_spaces(part.from, part.end), *end = part.end;

    if (error > 0) {
        const char *stop =
            memchr(from, from < end && *from == '{' ? '}' : ';', (size_t)(end - from));
        end = stop ? stop : end;
    } else if (!scan_text_find_word(from, end, words[0]) &&
               !scan_text_find_word(from, end, words[1])) {
        return false;
    }
    for (size_t i = 0; i < source->count; i++) {
        const struct scan_source_call *other = &source->calls[i];
        if (other->at > from && other->at < end && other->index != call->index &&
            known_entry(other->index).since < known_entry(call->index).since &&
            !is_cleaning(other->index))
            return true;
    }
    return false;
}

/* "catch (...) { cu->cuOlder(); }" behind a place. */
static const char *find_handler(const struct scan_source *source, struct scan_part part,
                                const struct scan_source_call *call)
{
    static const struct scan_word word = {"catch", 5};
    const char *at = scan_text_find_word(part.from, part.end, word);
    const char *head = at ? scan_text_skip_spaces(at + word.length, part.end) : part.end;
    const char *tail = scan_text_find_close(head, part.end);

    return tail < part.end && has_fallback(source, call, (struct scan_part){tail + 1, part.end}, 1)
               ? at
               : NULL;
}

/* "r = cu->cuName(); if (r) r = cu->cuOlder();", "if (cu->cuName()) return cu->cuOlder();": where
 * the condition is. NULL: there is none. */
static const char *find_fallback(const struct scan_source *source, struct scan_part part,
                                 const struct scan_source_call *call)
{
    static const struct scan_word word = {"if", 2};
    const char *open = memchr(call->at, '(', (size_t)(part.end - call->at));
    const char *close = open ? scan_text_find_close(open, part.end) : part.end;
    const char *begin = scan_text_find_begin(part.from, call->at);
    const char *own = scan_text_find_word(begin, call->at, word);
    int error = -1;

    if (close == part.end)
        return NULL;
    if (own) {
        const char *stop = memchr(close + 1, ')', (size_t)(part.end - close - 1));
        const char *rest = stop ? scan_text_skip_spaces(close + 1, stop) : NULL;
        if (!rest)
            return NULL;
        const struct scan_word zero = scan_word_at(rest, stop);
        if (rest == stop)
            error = 1;
        else if (scan_text_is_equality(rest, stop) &&
                 (scan_word_is(zero, "CUDA_SUCCESS") || scan_word_is(zero, "0")))
            error = *rest == '!';
        return error >= 0 &&
                       has_fallback(source, call, (struct scan_part){stop + 1, part.end}, error)
                   ? own
                   : NULL;
    }
    if (begin - part.from < 2 || begin[-1] != '=' || memchr("=!<>+-|&", begin[-2], 8))
        return NULL;
    const char *last = scan_text_back_over_spaces(part.from, begin - 1), *first = last;
    while (first > part.from && scan_text_is_letter(first[-1]))
        first--;
    const char *at = scan_text_find_word(close, part.end, word);
    const char *head = at ? scan_text_skip_spaces(at + 2, part.end) : part.end;
    const char *tail =
        head < part.end && *head == '(' ? scan_text_find_close(head, part.end) : part.end;
    if (tail == part.end)
        return NULL;
    error = tells_error((struct scan_part){head + 1, scan_text_back_over_spaces(head + 1, tail)},
                        (struct scan_word){first, (size_t)(last - first)});
    return error >= 0 && has_fallback(source, call, (struct scan_part){tail + 1, part.end}, error)
               ? at
               : NULL;
}

const char *scan_fallback_find(const struct scan_source *source, struct scan_part part,
                               const struct scan_source_call *call)
{
    const char *fallback = find_fallback(source, part, call);

    return fallback ? fallback : find_handler(source, (struct scan_part){call->at, part.end}, call);
}
