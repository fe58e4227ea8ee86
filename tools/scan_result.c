/* SPDX-License-Identifier: MIT */
#include "scan_result.h"

#include "known.h"
#include "scan_filled.h"
#include "scan_flow.h"
#include "scan_names.h"
#include "scan_wheel.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A part of the text. */
struct part {
    const char *from, *end;
};

/* The next place of the error's name or number; NULL: none. */
static const char *find_code(struct part part)
{
    static const struct scan_word codes[] = {{"CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER",
                                              sizeof "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER" - 1},
                                             {"36", 2}};
    const char *first = NULL;

    for (size_t i = 0; i < 2; i++) {
        const char *at = scan_text_find_word(part.from, part.end, codes[i]);
        first = at && (!first || at < first) ? at : first;
    }
    return first;
}

static bool is_equality(const char *at, const char *end)
{
    return end - at > 1 && (at[0] == '=' || at[0] == '!') && at[1] == '=';
}

/* Behind a comparison that ends at a place, "== ", "!= (CUresult)"; its begin. NULL: none. */
static const char *find_equality(const char *from, const char *at)
{
    at = scan_text_back_over_spaces(from, at);
    if (at > from && at[-1] == ')') { /* a cast */
        while (at > from && *--at != '(')
            continue;
        at = scan_text_back_over_spaces(from, at);
    }
    return at - from > 2 && is_equality(at - 2, at) ? scan_text_back_over_spaces(from, at - 2)
                                                    : NULL;
}

static bool ends_with(const char *from, const char *at, struct scan_word word)
{
    return (size_t)(at - from) > word.length &&
           memcmp(at - word.length, word.text, word.length) == 0 &&
           !scan_text_is_letter(at[-(ptrdiff_t)word.length - 1]);
}

static const struct scan_word label = {"case", 4}, choice = {"switch", 6};

/* "name == code", "code == name", "case code" of "switch (name)". */
static bool compares(struct part part, const char *code, struct scan_word name)
{
    const struct scan_word word = scan_word_at(code, part.end);
    const char *before = find_equality(part.from, code), *at;

    if (before)
        return ends_with(part.from, before, name);
    const char *behind = scan_text_skip_spaces(code + word.length, part.end);
    if (is_equality(behind, part.end))
        return scan_word_compare(scan_word_at(behind + 2, part.end), name) == 0;
    if (!ends_with(part.from, scan_text_back_over_spaces(part.from, code), label))
        return false;
    for (at = part.from; (at = scan_text_find_word(at, code, choice)); at++) {
        if (scan_word_compare(scan_word_at(at + choice.length, code), name) == 0)
            return true;
    }
    return false;
}

/* Where the name is given another value. */
static const char *find_assignment(struct part part, struct scan_word name)
{
    for (const char *at = part.from; (at = scan_text_find_word(at, part.end, name)); at++) {
        const char *behind = scan_text_skip_spaces(at + name.length, part.end);
        if (part.end - behind > 1 && behind[0] == '=' && behind[1] != '=')
            return at;
    }
    return part.end;
}

/* The begin of "name = WRAPPER(cu->", before the name of an entry; "cu->" is its own. */
static const char *find_begin(const char *from, const char *at)
{
    while (at > from && (scan_text_is_letter(at[-1]) || memchr(".->:( \t\r\n", at[-1], 9)))
        at--;
    return at;
}

/* What is compared with a code. */
static struct scan_word find_operand(struct part part, const char *code)
{
    const char *end = find_equality(part.from, code), *from;

    if (!end) {
        const char *behind =
            scan_text_skip_spaces(code + scan_word_at(code, part.end).length, part.end);
        return is_equality(behind, part.end) ? scan_word_at(behind + 2, part.end)
                                             : (struct scan_word){part.from, 0};
    }
    while (end > part.from && (end[-1] == ')' || end[-1] == ' '))
        end--;
    for (from = end; from > part.from && scan_text_is_letter(from[-1]);)
        from--;
    return (struct scan_word){from, (size_t)(end - from)};
}

/* A function or macro whose value tells whether its parameter is the error. */
static bool is_predicate(const struct scan_guards *guards, const struct scan_scope *scope,
                         size_t which)
{
    static const struct scan_word leave = {"return", 6};
    const struct scan_function *own = &scope->functions[which - 1];
    const struct part part = {own->from, own->until ? own->until : guards->text.end};
    const char *code = own->name.length > 0 ? find_code(part) : NULL;
    const char *head = own->macro ? memchr(part.from, ')', (size_t)(part.end - part.from)) : NULL;

    if (!code)
        return false;
    const struct scan_word operand = find_operand(part, code);
    if (operand.length == 0)
        return false;
    if (own->macro)
        return *part.from == '(' && head && scan_text_find_word(part.from, head, operand) &&
               !memchr(part.from, ';', (size_t)(part.end - part.from));
    return scan_filled_parameter(scope, &guards->text, which, operand, '\0') > 0 &&
           scan_text_find_word(part.from, part.end, leave);
}

size_t scan_result_next(const struct scan_guards *guards, const struct scan_scope *scope,
                        size_t first)
{
    for (size_t i = first; i <= scope->count; i++) {
        if (is_predicate(guards, scope, i))
            return i;
    }
    return 0;
}

/* What the calls of a file are examined with. */
struct results {
    struct scan_guards *guards;
    struct scan_word *predicates;
    size_t count;
};

static bool has_predicate(const struct results *results, struct scan_word word)
{
    for (size_t i = 0; i < results->count; i++) {
        if (scan_word_compare(results->predicates[i], word) == 0)
            return true;
    }
    return scan_names_seeded(results->guards, word, SCAN_MISSING);
}

/* "missing(name)" as a value, or a name within which the call is; no statement of its own. */
static bool asks_predicate(const struct results *results, struct part part, const char *text,
                           struct scan_word name)
{
    for (struct scan_word word = scan_word_at(part.from, part.end); word.length > 0;
         word = scan_word_at(word.text + word.length, part.end)) {
        const char *open = scan_text_skip_spaces(word.text + word.length, part.end);
        const char *before = word.text;
        if (open == part.end || *open != '(' || !has_predicate(results, word))
            continue;
        while (before > text && (isspace((unsigned char)before[-1]) || before[-1] == '!'))
            before--;
        if (before == text || memchr(";{})", before[-1], 4))
            continue;
        if (name.length == 0 ||
            scan_text_find_word(open, scan_text_find_close(open, part.end), name))
            return true;
    }
    return false;
}

/* Whether the result of a call is compared with the error. */
static bool is_compared(const struct results *results, struct part part,
                        const struct scan_source_call *call)
{
    const char *text = part.from;
    const char *open = memchr(call->at, '(', (size_t)(part.end - call->at));
    const char *close = open ? scan_text_find_close(open, part.end) : part.end;
    const char *begin = find_begin(part.from, call->at), *behind = close + 1, *code;
    struct scan_word name = {begin, 0};

    if (close == part.end)
        return false;
    if (asks_predicate(results, (struct part){begin, call->at}, text, name))
        return true;
    while (behind < part.end && (*behind == ')' || *behind == ' ' || *behind == '\n'))
        behind++;
    if (is_equality(behind, part.end)) {
        code = find_code((struct part){behind, part.end});
        return code && find_equality(part.from, code) == scan_text_back_over_spaces(begin, behind);
    }
    if (scan_text_find_word(begin, call->at, choice)) {
        code = find_code((struct part){behind, part.end});
        return code && ends_with(part.from, scan_text_back_over_spaces(behind, code), label);
    }
    if (behind < part.end && *behind == ',') { /* EXPECT_EQ(cu->cuName(), code) */
        behind = scan_text_skip_spaces(behind + 1, part.end);
        if (find_code((struct part){behind, part.end}) == behind)
            return true;
    }
    const bool listed = begin > part.from && begin[-1] == ',';
    if (begin - part.from > 2 && (listed || is_equality(begin - 2, begin))) {
        const char *end = scan_text_back_over_spaces(part.from, begin - (listed ? 1 : 2));
        const char *from = find_begin(part.from, end);
        code = find_code((struct part){from, end});
        return code && code + scan_word_at(code, end).length == end;
    }
    if (begin - part.from < 2 || (begin[-1] != '=' && begin[-1] != '{') ||
        memchr("=!<>+-|&", begin[-2], 8))
        return false;
    name.text = scan_text_back_over_spaces(part.from, begin - 1);
    for (; name.text > part.from && scan_text_is_letter(name.text[-1]); name.text--)
        name.length++;
    if (name.length == 0)
        return false;
    part.from = behind;
    part.end = find_assignment(part, name);
    for (struct part rest = part; (code = find_code(rest)); rest.from = code + 1) {
        if (compares(part, code, name))
            return true;
    }
    return asks_predicate(results, part, text, name);
}

static size_t line_of(struct scan_guards *guards, const char *at)
{
    size_t line = 1;

    guards->work += (size_t)(at - guards->text.text);
    for (const char *k = guards->text.text; k < at; k++)
        line += *k == '\n';
    return line;
}

/* Whether it is in "return cu->". */
static bool is_returned(struct part part, const struct scan_source_call *call)
{
    static const struct scan_word word = {"return", 6};
    const char *begin = find_begin(part.from, call->at);

    return scan_text_find_word(begin, call->at, word);
}

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
static int tells_error(struct part condition, struct scan_word name)
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
    if (!is_equality(at, condition.end) || negated)
        return -1;
    const struct scan_word second = scan_word_at(at + 2, condition.end);
    const bool own = scan_word_compare(first, name) == 0 && scan_word_is_one_of(second, zeros);
    if (!own && !(scan_word_compare(second, name) == 0 && scan_word_is_one_of(first, zeros)))
        return -1;
    return second.text + second.length == condition.end ? *at == '!' : -1;
}

/* Behind an `if` with such a condition: a call of an older entry that is another way. */
static bool has_fallback(const struct scan_source *source, const struct scan_source_call *call,
                         struct part part, int error)
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
static const char *find_handler(const struct scan_source *source, struct part part,
                                const struct scan_source_call *call)
{
    static const struct scan_word word = {"catch", 5};
    const char *at = scan_text_find_word(part.from, part.end, word);
    const char *head = at ? scan_text_skip_spaces(at + word.length, part.end) : part.end;
    const char *tail = scan_text_find_close(head, part.end);

    return tail < part.end && has_fallback(source, call, (struct part){tail + 1, part.end}, 1)
               ? at
               : NULL;
}

/* "r = cu->cuName(); if (r) r = cu->cuOlder();", "if (cu->cuName()) return cu->cuOlder();": where
 * the condition is. NULL: there is none. */
static const char *find_fallback(const struct scan_source *source, struct part part,
                                 const struct scan_source_call *call)
{
    static const struct scan_word word = {"if", 2};
    const char *open = memchr(call->at, '(', (size_t)(part.end - call->at));
    const char *close = open ? scan_text_find_close(open, part.end) : part.end;
    const char *begin = find_begin(part.from, call->at);
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
        else if (is_equality(rest, stop) &&
                 (scan_word_is(zero, "CUDA_SUCCESS") || scan_word_is(zero, "0")))
            error = *rest == '!';
        return error >= 0 && has_fallback(source, call, (struct part){stop + 1, part.end}, error)
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
    error = tells_error((struct part){head + 1, scan_text_back_over_spaces(head + 1, tail)},
                        (struct scan_word){first, (size_t)(last - first)});
    return error >= 0 && has_fallback(source, call, (struct part){tail + 1, part.end}, error)
               ? at
               : NULL;
}

/* Of a call whose result is not compared with the error: what else is done with it. */
static void find_other(struct scan_guards *guards, const struct scan_source *source,
                       struct part part, const char *first, struct scan_source_call *call)
{
    const char *other = find_code((struct part){call->at, part.end});
    const char *fallback = find_fallback(source, part, call);
    const char *handler = find_handler(source, (struct part){call->at, part.end}, call);

    fallback = fallback ? fallback : handler;
    other = other || !is_returned(part, call) ? other : first;
    if (other && (find_equality(guards->text.text, other) || other[0] == 'C')) {
        call->asked = line_of(guards, other);
        call->why = SCAN_WHY_RESULT;
    } else if (fallback) {
        call->asked = line_of(guards, fallback);
        call->why = SCAN_WHY_FALLBACK;
    }
}

void scan_result_find(struct scan_guards *guards, const struct scan_scope *scope,
                      struct scan_source *source)
{
    const struct part all = {guards->text.text, guards->text.end};
    struct results results = {.guards = guards};
    const char *first = find_code(all);

    for (size_t i = 0; first && (i = scan_result_next(guards, scope, i + 1)) > 0;) {
        results.predicates =
            scan_grow(results.predicates, results.count, sizeof *results.predicates);
        results.predicates[results.count++] = scope->functions[i - 1].name;
    }
    for (size_t i = 0; i < source->count && guards->work <= FLOW_MOST_WORK; i++) {
        struct scan_source_call *call = &source->calls[i];
        if (call->has || call->function == SCOPE_FILE)
            continue;
        const struct scan_function *function = &scope->functions[call->function - 1];
        const struct part part = {function->from, function->until ? function->until : all.end};
        guards->work += 4 * (size_t)(part.end - part.from) + source->count;
        if (guards->work > FLOW_MOST_WORK)
            break;
        call->has = is_compared(&results, part, call);
        if (!call->has && call->asked == 0)
            find_other(guards, source, part, first, call);
    }
    free(results.predicates);
}
