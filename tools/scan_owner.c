/* SPDX-License-Identifier: MIT */
#include "scan_owner.h"

#include "known.h"
#include "scan_flow.h"

#include <string.h>

static const struct scan_word none = {"", 0};

/* The word that ends at a place. */
static struct scan_word word_before(const char *from, const char *end)
{
    const char *at = end = scan_text_back_over_spaces(from, end);

    while (at > from && scan_text_is_letter(at[-1]))
        at--;
    return (struct scan_word){at, (size_t)(end - at)};
}

/* "Name::" or "Name<T>::" before a place. */
static struct scan_word read_qualifier(const char *from, const char *at)
{
    at = scan_text_back_over_spaces(from, at);
    if (at - from < 3 || memcmp(at - 2, "::", 2) != 0)
        return none;
    at -= 2;
    if (at[-1] == '>') {
        while (at > from && *at != '<')
            at--;
    }
    return word_before(from, at);
}

/* Whether what begins at a place, "Name : Base {", has the end within its braces. */
static bool is_within(const char *at, const char *end)
{
    long depth = 0;

    while (at < end && !memchr("{;()=", *at, 5))
        at++;
    if (at == end || *at != '{')
        return false;
    for (; at < end; at++) {
        depth += (*at == '{') - (*at == '}');
        if (depth == 0)
            return false;
    }
    return true;
}

struct scan_word scan_owner_class(struct scan_guards *guards, const struct scan_scope *scope,
                                  size_t function)
{
    static const struct scan_word types[] = {{"class", 5}, {"struct", 6}};
    const struct scan_function *own = &scope->functions[function - 1];
    const char *text = guards->text.text;
    struct scan_word found = read_qualifier(text, own->name.text);

    for (size_t i = 0; i < 2 && found.length == 0 && own->name.length > 0; i++) {
        guards->work += (size_t)(own->from - text);
        if (guards->work > FLOW_MOST_WORK)
            return none;
        for (const char *at = text; (at = scan_text_find_word(at, own->from, types[i])); at++) {
            guards->work += (size_t)(own->from - at);
            if (guards->work > FLOW_MOST_WORK)
                return none;
            if (is_within(at, own->from))
                found = scan_word_at(at + types[i].length, own->from);
        }
    }
    return found;
}

static bool is_in_function(const struct scan_scope *scope, const char *at)
{
    for (size_t i = 0; i < scope->count; i++) {
        const struct scan_function *one = &scope->functions[i];
        if (one->from <= at && (!one->until || at < one->until))
            return true;
    }
    return false;
}

struct scan_word scan_owner_table(struct scan_guards *guards, const struct scan_scope *scope,
                                  size_t function)
{
    const struct scan_word name = scope->functions[function - 1].name;
    const char *text = guards->text.text, *end = guards->text.end, *first, *value;

    guards->work += (size_t)(end - text);
    if (guards->work > FLOW_MOST_WORK)
        return none;
    for (const char *at = text; name.length > 0 && (at = scan_text_find_word(at, end, name));
         at++) {
        const char *behind = scan_text_skip_spaces(at + name.length, end);
        guards->work += scope->count + (size_t)(at - text) / 64;
        if (guards->work > FLOW_MOST_WORK)
            return none;
        if (behind == end || !memchr(",};", *behind, 3) || is_in_function(scope, at))
            continue;
        for (first = at; first > text && !memchr(";}", first[-1], 2);)
            first--;
        value = memchr(first, '=', (size_t)(at - first));
        if (!value)
            continue;
        value = scan_text_back_over_spaces(first, value);
        if (value > first && value[-1] == ']') {
            while (value > first && *value != '[')
                value--;
        }
        return word_before(first, value);
    }
    return none;
}
