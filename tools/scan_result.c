/* SPDX-License-Identifier: MIT */
#include "scan_result.h"

#include "output.h"
#include "scan_fallback.h"
#include "scan_filled.h"
#include "scan_flow.h"
#include "scan_names.h"
#include "scan_wheel.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Within these a string is of a label; of more mentions of the error, no more is found out. */
enum { NEAR = 256, MOST_CODES = 64 };

/* The next place of the error's name or number; NULL: none. */
static const char *find_code(struct scan_part part)
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

/* Behind a comparison that ends at a place, "== ", "!= (CUresult)"; its begin. NULL: none. */
static const char *find_equality(const char *from, const char *at)
{
    at = scan_text_back_over_spaces(from, at);
    if (at > from && at[-1] == ')') { /* a cast */
        while (at > from && *--at != '(')
            continue;
        at = scan_text_back_over_spaces(from, at);
    }
    return at - from > 2 && scan_text_is_equality(at - 2, at)
               ? scan_text_back_over_spaces(from, at - 2)
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
static bool compares(struct scan_part part, const char *code, struct scan_word name)
{
    const struct scan_word word = scan_word_at(code, part.end);
    const char *before = find_equality(part.from, code), *at;

    if (before)
        return ends_with(part.from, before, name);
    const char *behind = scan_text_skip_spaces(code + word.length, part.end);
    if (scan_text_is_equality(behind, part.end))
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
static const char *find_assignment(struct scan_part part, struct scan_word name)
{
    for (const char *at = part.from; (at = scan_text_find_word(at, part.end, name)); at++) {
        const char *behind = scan_text_skip_spaces(at + name.length, part.end);
        if (part.end - behind > 1 && behind[0] == '=' && behind[1] != '=')
            return at;
    }
    return part.end;
}

/* What is compared with a code. */
static struct scan_word find_operand(struct scan_part part, const char *code)
{
    const char *end = find_equality(part.from, code), *from;

    if (!end) {
        const char *behind =
            scan_text_skip_spaces(code + scan_word_at(code, part.end).length, part.end);
        return scan_text_is_equality(behind, part.end) ? scan_word_at(behind + 2, part.end)
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
    const struct scan_part part = {own->from, own->until ? own->until : guards->text.end};
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

/* Whether what a function returns may be looked at; UNSEEN also while that is found out. */
enum seen { SEEN_NOT_KNOWN, UNSEEN, SEEN };

/* What the calls of a file are examined with. */
struct results {
    struct scan_guards *guards;
    const struct scan_scope *scope;
    struct scan_word *predicates;
    size_t count;
    struct scan_word *lookers; /* functions and macros that compare something with the error */
    size_t looker_count;
    unsigned char *seen; /* of each function, enum seen */
    size_t work;         /* that it took to find it; past a bound all is seen */
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
static bool asks_predicate(const struct results *results, struct scan_part part, const char *text,
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
static bool is_compared(const struct results *results, struct scan_part part,
                        const struct scan_source_call *call)
{
    const char *text = part.from;
    const char *open = memchr(call->at, '(', (size_t)(part.end - call->at));
    const char *close = open ? scan_text_find_close(open, part.end) : part.end;
    const char *begin = scan_text_find_begin(part.from, call->at), *behind = close + 1, *code;
    struct scan_word name = {begin, 0};

    if (close == part.end)
        return false;
    if (asks_predicate(results, (struct scan_part){begin, call->at}, text, name))
        return true;
    while (behind < part.end && (*behind == ')' || *behind == ' ' || *behind == '\n'))
        behind++;
    if (scan_text_is_equality(behind, part.end)) {
        code = find_code((struct scan_part){behind, part.end});
        return code && find_equality(part.from, code) == scan_text_back_over_spaces(begin, behind);
    }
    if (scan_text_find_word(begin, call->at, choice)) {
        code = find_code((struct scan_part){behind, part.end});
        return code && ends_with(part.from, scan_text_back_over_spaces(behind, code), label);
    }
    if (behind < part.end && *behind == ',') { /* EXPECT_EQ(cu->cuName(), code) */
        behind = scan_text_skip_spaces(behind + 1, part.end);
        if (find_code((struct scan_part){behind, part.end}) == behind)
            return true;
    }
    const bool listed = begin > part.from && begin[-1] == ',';
    if (begin - part.from > 2 && (listed || scan_text_is_equality(begin - 2, begin))) {
        const char *end = scan_text_back_over_spaces(part.from, begin - (listed ? 1 : 2));
        const char *from = scan_text_find_begin(part.from, end);
        code = find_code((struct scan_part){from, end});
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
    for (struct scan_part rest = part; (code = find_code(rest)); rest.from = code + 1) {
        if (compares(part, code, name))
            return true;
    }
    return asks_predicate(results, part, text, name);
}

static struct scan_part part_of(const struct results *results, const struct scan_function *function)
{
    const char *until = function->until;

    return (struct scan_part){function->from, until ? until : results->guards->text.end};
}

/* "== code", "(r, code)", "case code:" unless a string follows, as where errors get their names. */
static bool is_looked_for(struct scan_part part, const char *code)
{
    const char *behind =
        scan_text_skip_spaces(code + scan_word_at(code, part.end).length, part.end);
    const char *before = scan_text_back_over_spaces(part.from, code);
    const size_t left = (size_t)(part.end - code), length = left < NEAR ? left : NEAR;
    const char *stop = memchr(code, ';', length);

    if (find_equality(part.from, code) || scan_text_is_equality(behind, part.end))
        return true;
    if (before > part.from && before[-1] == ',' && behind < part.end && *behind == ')')
        return true;
    return ends_with(part.from, before, label) &&
           !memchr(code, '"', stop ? (size_t)(stop - code) : length);
}

static void find_lookers(struct results *results)
{
    for (size_t i = 0; i < results->scope->count; i++) {
        const struct scan_function *function = &results->scope->functions[i];
        struct scan_part part = part_of(results, function);
        const char *code = function->name.length > 0 ? find_code(part) : NULL;
        for (int k = 0; k < MOST_CODES && code && !is_looked_for(part, code); k++)
            code = find_code((struct scan_part){code + 1, part.end});
        if (!code)
            continue;
        results->lookers =
            scan_grow(results->lookers, results->looker_count, sizeof *results->lookers);
        results->lookers[results->looker_count++] = function->name;
    }
}

/* Whether a text names a function that compares something with the error. */
static bool names_looker(struct results *results, struct scan_part part, struct scan_word own)
{
    results->work += (size_t)(part.end - part.from) * (results->looker_count + 1);
    if (results->work > FLOW_MOST_WORK)
        return true;
    for (struct scan_word word = scan_word_at(part.from, part.end); word.length > 0;
         word = scan_word_at(word.text + word.length, part.end)) {
        if (scan_word_compare(word, own) == 0)
            continue;
        if (has_predicate(results, word))
            return true;
        for (size_t i = 0; i < results->looker_count; i++) {
            if (scan_word_compare(results->lookers[i], word) == 0)
                return true;
        }
    }
    return false;
}

/* "return take()", "return r": no number and no string. */
static bool returns_value(const struct results *results, const struct scan_function *function)
{
    static const struct scan_word leave = {"return", 6};
    const struct scan_part part = part_of(results, function);

    for (const char *at = part.from; (at = scan_text_find_word(at, part.end, leave)); at++) {
        const char *value = scan_text_skip_spaces(at + leave.length, part.end);
        if (value < part.end && !isdigit((unsigned char)*value) && !memchr(";\"", *value, 2))
            return true;
    }
    return function->macro;
}

/* "{take, ", "= take;", "&take)": others may call it. */
static bool is_handed_on(const struct results *results, const char *at, struct scan_word name)
{
    const struct scan_text *text = &results->guards->text;
    const char *before = scan_text_back_over_spaces(text->text, at);
    const char *behind = scan_text_skip_spaces(at + name.length, text->end);

    return before > text->text && memchr("{,=&(", before[-1], 5) && behind < text->end &&
           memchr(",;})", *behind, 4);
}

/* "x->r = take()", where another function compares what is called r. */
static bool is_kept(struct results *results, const char *at)
{
    int codes = 0;
    const struct scan_part all = {results->guards->text.text, results->guards->text.end};
    const char *begin = scan_text_find_begin(all.from, at), *end;

    if (begin - all.from < 2 || begin[-1] != '=' || memchr("=!<>+-|&", begin[-2], 8))
        return false;
    end = scan_text_back_over_spaces(all.from, begin - 1);
    for (begin = end; begin > all.from && scan_text_is_letter(begin[-1]);)
        begin--;
    if (begin == end || begin == all.from || !memchr(">.*_", end[-1] == '_' ? '_' : begin[-1], 4))
        return false;
    results->work += (size_t)(all.end - all.from);
    for (struct scan_part rest = all; (at = find_code(rest)); rest.from = at + 1) {
        if (codes++ == MOST_CODES ||
            compares(all, at, (struct scan_word){begin, (size_t)(end - begin)}))
            return true;
    }
    return false;
}

static bool is_seen(struct results *results, size_t function);

/* Whether functions in which another one is mentioned may look at what it returns. */
static bool is_seen_at(struct results *results, size_t function, const char *at)
{
    const struct scan_scope *scope = results->scope;
    const struct scan_word name = scope->functions[function - 1].name;
    const char *behind = scan_text_skip_spaces(at + name.length, results->guards->text.end);

    if (behind == results->guards->text.end || *behind != '(')
        return is_handed_on(results, at, name);
    results->work += scope->count;
    for (size_t i = 0; i < scope->count; i++) {
        const struct scan_part part = part_of(results, &scope->functions[i]);
        if (i + 1 == function || at < part.from || at >= part.end)
            continue;
        results->work += (size_t)(part.end - part.from);
        if (find_code((struct scan_part){at, part.end}) || is_kept(results, at) ||
            names_looker(results, part, scope->functions[i].name) ||
            (returns_value(results, &scope->functions[i]) && is_seen(results, i + 1)))
            return true;
    }
    return false;
}

/* Whether a comparison with the error may be of what a function returns. */
static bool is_seen(struct results *results, size_t function)
{
    const struct scan_text *text = &results->guards->text;
    const struct scan_function *own = &results->scope->functions[function - 1];
    const struct scan_part part = part_of(results, own);

    if (results->seen[function - 1] != SEEN_NOT_KNOWN)
        return results->seen[function - 1] == SEEN;
    results->seen[function - 1] = UNSEEN;
    results->work += (size_t)(text->end - text->text);
    bool seen = own->name.length == 0 || names_looker(results, part, own->name);
    for (const char *at = text->text; !seen && results->work <= FLOW_MOST_WORK &&
                                      (at = scan_text_find_word(at, text->end, own->name));
         at++)
        seen = (at < part.from || at >= part.end) && is_seen_at(results, function, at);
    results->seen[function - 1] = seen || results->work > FLOW_MOST_WORK ? SEEN : UNSEEN;
    return results->seen[function - 1] == SEEN;
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
static bool is_returned(struct scan_part part, const struct scan_source_call *call)
{
    static const struct scan_word word = {"return", 6};
    const char *begin = scan_text_find_begin(part.from, call->at);

    return scan_text_find_word(begin, call->at, word);
}

/* Of a call whose result is not compared with the error: what else is done with it. */
static void find_other(struct results *results, const struct scan_source *source,
                       struct scan_part part, const char *first, struct scan_source_call *call)
{
    struct scan_guards *guards = results->guards;
    const char *other = find_code((struct scan_part){call->at, part.end});
    const char *fallback = scan_fallback_find(source, part, call);

    if (!other && first && is_returned(part, call) && is_seen(results, call->function))
        other = first;
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
    const struct scan_part all = {guards->text.text, guards->text.end};
    struct results results = {.guards = guards, .scope = scope};
    const char *first = find_code(all);

    for (size_t i = 0; first && (i = scan_result_next(guards, scope, i + 1)) > 0;) {
        results.predicates =
            scan_grow(results.predicates, results.count, sizeof *results.predicates);
        results.predicates[results.count++] = scope->functions[i - 1].name;
    }
    if (first) {
        find_lookers(&results);
        results.seen = calloc(scope->count + 1, 1);
        if (!results.seen)
            output_no_memory();
    }
    for (size_t i = 0; i < source->count && guards->work <= FLOW_MOST_WORK; i++) {
        struct scan_source_call *call = &source->calls[i];
        if (call->has || call->function == SCOPE_FILE)
            continue;
        const struct scan_function *function = &scope->functions[call->function - 1];
        const struct scan_part part = {function->from, function->until ? function->until : all.end};
        guards->work += 4 * (size_t)(part.end - part.from) + source->count;
        if (guards->work > FLOW_MOST_WORK)
            break;
        call->has = is_compared(&results, part, call);
        if (!call->has && call->asked == 0)
            find_other(&results, source, part, first, call);
    }
    free(results.predicates);
    free(results.lookers);
    free(results.seen);
}
