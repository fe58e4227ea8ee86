/* SPDX-License-Identifier: MIT */
#include "scan_around.h"

#include "scan_flow.h"
#include "scan_text.h"

#include <string.h>
#include <strings.h>

enum { FARTHEST = 4096 };

static bool has_function(struct scan_guards *guards, const struct scan_scope *scope,
                         struct scan_word name)
{
    guards->work += scope->count;
    for (size_t i = 0; i < scope->count; i++) {
        if (scan_word_compare(scope->functions[i].name, name) == 0)
            return true;
    }
    return false;
}

/* Whether the file declares the member, or gives it a value. */
static bool has_member(struct scan_guards *guards, struct scan_word name)
{
    const char *at = guards->text.text, *end = guards->text.end, *found;

    guards->work += (size_t)(end - at);
    for (; (found = memmem(at, (size_t)(end - at), name.text, name.length)); at = found + 1) {
        const char *behind = scan_text_skip_spaces(found + name.length, end);
        bool whole = found > guards->text.text && !scan_text_is_letter(found[-1]) && behind < end &&
                     !scan_text_is_letter(found[name.length]);
        bool member = whole && (found[-1] == '.' || found[-1] == '>');
        if (whole && (!member || (*behind == '=' && behind + 1 < end && behind[1] != '=')))
            return true;
    }
    return false;
}

/* "a.b", "a->b", "f(...)", and all of them together, of another file. */
static bool is_foreign(struct scan_guards *guards, const struct scan_scope *scope, const char *at,
                       const char *end)
{
    struct scan_word name = {NULL, 0};
    bool member = false, called = false;

    while (at < end && scan_text_is_letter(*at)) {
        name = scan_word_at(at, end);
        at = name.text + name.length;
        called = at < end && *at == '(';
        at = scan_text_skip_spaces(called ? scan_text_find_close(at, end) + 1 : at, end);
        if (at >= end)
            break;
        const size_t length = *at == '.' ? 1 : 2;
        if (length == 2 && (end - at < 2 || (memcmp(at, "->", 2) && memcmp(at, "::", 2))))
            return false;
        member = *at != ':';
        at += length;
    }
    if (at < end || name.length < 2 || strncasecmp(name.text, "cu", 2) == 0)
        return false;
    return called ? !has_function(guards, scope, name) : member && !has_member(guards, name);
}

/* Whether one of what "&&" joins is. */
static bool has_foreign(struct scan_guards *guards, const struct scan_scope *scope, const char *at,
                        const char *end)
{
    while (at < end) {
        const char *until = at = scan_text_skip_spaces(at, end);
        for (; until < end && !(end - until > 1 && memcmp(until, "&&", 2) == 0); until++) {
            if (*until == '(')
                until = scan_text_find_close(until, end - 1);
        }
        if (is_foreign(guards, scope, at, scan_text_back_over_spaces(at, until)))
            return true;
        at = until + 2;
    }
    return false;
}

/* The condition of an `if`, whose name ends at a place, if a call is in its branch. */
static bool is_if(const char *least, const char *at, const char *call)
{
    return at - least > 2 && memcmp(at - 2, "if", 2) == 0 && !scan_text_is_letter(at[-3]) &&
           *scan_text_skip_spaces(at, call) == '(';
}

static void find_around(struct scan_guards *guards, const struct scan_scope *scope,
                        struct scan_source_call *call)
{
    const char *least = scope->functions[call->function - 1].from;
    size_t braces = 0, line = call->line;
    bool ended = false; /* the statement is another one */

    least = call->at - least > FARTHEST ? call->at - FARTHEST : least;
    guards->work += (size_t)(call->at - least);
    for (const char *at = call->at; at > least && guards->work < FLOW_MOST_WORK; at--) {
        const char last = at[-1];
        line -= last == '\n';
        if (last == '{' && braces == 0)
            ended = false;
        else if (last == '{')
            ended = --braces == 0;
        else if (last == '}')
            braces++;
        ended |= last == ';' && braces == 0;
        if (ended || braces > 0 || !is_if(least, at, call->at))
            continue;
        const char *from = scan_text_skip_spaces(at, call->at),
                   *close = scan_text_find_close(from, call->at);
        guards->work += (size_t)(close - from);
        if (close < call->at && has_foreign(guards, scope, from + 1, close)) {
            call->asked = line;
            call->why = SCAN_WHY_FOREIGN;
            return;
        }
    }
}

void scan_around_find(struct scan_guards *guards, const struct scan_scope *scope,
                      struct scan_source *source)
{
    for (size_t i = 0; i < source->count; i++) {
        struct scan_source_call *call = &source->calls[i];
        if (!call->has && call->asked == 0 && call->late == 0 && call->function != SCOPE_FILE)
            find_around(guards, scope, call);
    }
}
