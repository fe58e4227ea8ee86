/* SPDX-License-Identifier: MIT */
#include "scan_instance.h"

#include "known.h"
#include "scan_flow.h"

#include <string.h>

enum { LONGEST_NAME = 128 };

/* A table: "cu", or "a->cu", whose first name is "a". */
struct instance {
    struct scan_word first, rest;
};

/* What the text of a table is; nothing, if it is more than names. */
static struct instance read_instance(const char *at, const char *end)
{
    const struct instance none = {{NULL, 0}, {NULL, 0}};
    struct instance instance = none;

    at = scan_text_skip_spaces(at, end);
    end = scan_text_back_over_spaces(at, end);
    instance.first = scan_word_at(at, end);
    if (instance.first.text != at || instance.first.length == 0)
        return none;
    at += instance.first.length;
    instance.rest = (struct scan_word){at, (size_t)(end - at)};
    for (; at < end; at++) {
        if (!scan_text_is_letter(*at) && !memchr(".->", *at, 3))
            return none;
    }
    return instance;
}

static struct instance of_guard(const struct scan_guard *guard, const char *end)
{
    const char *open = memchr(guard->at, '(', (size_t)(end - guard->at));
    const char *comma = open && end - open > LONGEST_NAME ? open + LONGEST_NAME : end;

    comma = open ? memchr(open, ',', (size_t)(comma - open)) : NULL;
    return comma ? read_instance(open + 1, comma) : (struct instance){{NULL, 0}, {NULL, 0}};
}

static struct instance of_call(const char *from, const char *call)
{
    const char *end = scan_text_back_over_spaces(from, call), *at;

    if (end - from < 2 || memcmp(end - 2, "->", 2) != 0)
        return (struct instance){{NULL, 0}, {NULL, 0}};
    for (at = end -= 2; at > from && (scan_text_is_letter(at[-1]) || memchr(".->", at[-1], 3));)
        at--;
    return read_instance(at, end);
}

/* "one = ...other...;" */
static bool is_made_of(const char *at, const char *end, struct scan_word one,
                       struct scan_word other)
{
    for (; (at = scan_text_find_word(at, end, one)); at++) {
        const char *behind = scan_text_skip_spaces(at + one.length, end);
        const char *stop = memchr(behind, ';', (size_t)(end - behind));
        if (behind < end && memchr("=({", *behind, 3) &&
            scan_text_find_word(behind, stop ? stop : end, other))
            return true;
    }
    return false;
}

bool scan_instance_differs(struct scan_guards *guards, const struct scan_scope *scope,
                           const struct scan_guard *guard, const struct scan_source_call *call)
{
    if (guard->name.length > 0 || guard->comment || guard->index >= CUSHIM_ENTRY_COUNT ||
        call->function == SCOPE_FILE)
        return false;
    const char *from = scope->functions[call->function - 1].from;
    const struct instance asked = of_guard(guard, guards->text.end);
    const struct instance called = of_call(from, call->at);
    if (asked.first.length == 0 || called.first.length == 0 ||
        scan_word_compare(asked.first, called.first) == 0 ||
        scan_word_compare(asked.rest, called.rest) != 0)
        return false;
    guards->work += 4 * (size_t)(call->at - from);
    return guards->work <= FLOW_MOST_WORK && scan_text_declares(from, asked.first, "*&") &&
           scan_text_declares(from, called.first, "*&") &&
           !is_made_of(from, call->at, asked.first, called.first) &&
           !is_made_of(from, call->at, called.first, asked.first);
}
