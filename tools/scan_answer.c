/* SPDX-License-Identifier: MIT */
#include "scan_answer.h"

#include "known.h"
#include "scan_filled.h"
#include "scan_macro.h"
#include "scan_names.h"
#include "scan_wheel.h"

#include <string.h>

bool scan_answer_literal(struct scan_word word, bool value)
{
    static const char *const no[] = {"false",
                                     "0",
                                     "NULL",
                                     "nullptr",
                                     "FALSE",
                                     "CUDA_SUCCESS",
                                     "EXIT_SUCCESS",
                                     "CUSHIM_OK",
                                     "CUSHIM_SUPPORTED",
                                     NULL};
    static const char *const yes[] = {"true", "1", "TRUE", "EXIT_FAILURE", NULL};

    return scan_word_is_one_of(word, value ? yes : no);
}

/* "0", "(type)0", "{0}", "{}" */
static bool is_zero(const char *at, const char *end)
{
    while (end - at > 2 && *at == '(') {
        const char *close = scan_text_find_close(at, end);
        if (close + 1 >= end)
            return false;
        at = scan_text_skip_spaces(close + 1, end);
    }
    if (end - at > 1 && *at == '{' && end[-1] == '}') {
        at = scan_text_skip_spaces(at + 1, end);
        end = scan_text_back_over_spaces(at, end - 1);
        if (at == end)
            return true;
    }
    const struct scan_word word = scan_word_at(at, end);
    size_t zeros = 0;
    while (zeros < word.length && memchr("0xXuUlL", word.text[zeros], 7))
        zeros++;
    const bool number = word.length > 0 && word.text[0] == '0' && zeros == word.length;
    return word.text == at && at + word.length == end &&
           (number || scan_answer_literal(word, false));
}

struct scan_value scan_answer_value(const struct flow *flow, const struct scan_token *first)
{
    static const char error[] = "CUDA_ERROR_";
    const struct scan_word word = flow->last.word;
    bool one = flow->last.at == first->at;
    bool minus =
        first->kind == '-' && flow->last.kind == TOKEN_NUMBER && flow->earlier.at == first->at;

    if (is_zero(first->at, flow->passed))
        return (struct scan_value){.no = true};
    if ((one && scan_answer_literal(word, true)) || (minus && !scan_word_is(word, "0")) ||
        (one && word.length > sizeof error && memcmp(word.text, error, sizeof error - 1) == 0))
        return (struct scan_value){.yes = true};
    return (struct scan_value){true, true};
}

bool scan_answer_is_own(const struct flow *flow, struct scan_word name, const char *at)
{
    const char *end = flow->passed;
    const char *before = scan_text_back_over_spaces(flow->tokens.in.text, at);
    const char *own = at < end && name.length > 0 ? scan_text_find_word(at, end, name) : NULL;

    if (before - flow->tokens.in.text > 2 && memcmp(before - 2, "&=", 2) == 0)
        return true;
    if (!own)
        return false;
    const char *behind = scan_text_skip_spaces(own + name.length, end);
    if (own == at)
        return end - behind > 2 && memcmp(behind, "&&", 2) == 0;
    for (; at < own; at++) {
        if (!scan_text_is_letter(*at) && !memchr(".->:( ", *at, 6))
            return false;
    }
    while (behind < end) {
        const struct scan_word word = scan_word_at(behind, end);
        if (word.text == behind && word.length > 0 && !scan_answer_literal(word, false))
            return false;
        if (word.text != behind && !memchr(",){} ", *behind, 5))
            return false;
        behind += word.text == behind && word.length > 0 ? word.length : 1;
    }
    return own[-1] == '.' || own[-1] == '>';
}

static void add_found(struct flow *flow, struct scan_name name)
{
    if (!flow->lost && name.word.length > 0)
        flow->lost |= !scan_names_find(flow->guards, name);
}

static bool uses(struct flow *flow, struct scan_word parameter)
{
    const struct scan_text *in = &flow->tokens.in;

    flow->guards->work += (size_t)(in->end - in->text);
    return flow->guards->work > FLOW_MOST_WORK || scan_macro_uses(in, parameter);
}

static void add_of(struct flow *flow, struct scan_name name, const struct scan_guard *guard,
                   bool negated)
{
    if (guard->index == SCAN_PARAMETER && guard->name.length == 0 &&
        (!scan_flow_is_parameter(flow, guard->parameter) ||
         (flow->macro && uses(flow, guard->parameter))))
        return;
    if (guard->filled && negated && name.function == SCOPE_FILE && !name.called)
        return; /* a result that other functions may set */
    name.index = guard->index;
    name.release = guard->release;
    name.negated = negated;
    name.joined |= guard->joined;
    name.filled = guard->filled;
    add_found(flow, name);
}

void scan_answer_name(struct flow *flow, struct scan_name name, const struct flow_facts *facts)
{
    for (int no = 0; no < 2; no++) {
        for (size_t i = no ? facts->no.first : facts->yes.first; i > 0;
             i = scan_flow_guard(flow, i)->next)
            add_of(flow, name, scan_flow_guard(flow, i), no > 0);
    }
    if (facts->version == 0)
        return;
    name.index = facts->part == FLOW_VERSION ? SCAN_VERSION
                 : facts->part == FLOW_MAJOR ? SCAN_MAJOR
                 : facts->part == FLOW_REST  ? SCAN_REST
                                             : SCAN_VOID;
    add_found(flow, name);
}

static void add_void(struct flow *flow, struct scan_name name)
{
    add_found(flow, (struct scan_name){.word = name.word,
                                       .index = SCAN_VOID,
                                       .function = name.function,
                                       .output = name.output});
}

void scan_answer_void(struct flow *flow, struct scan_word word, size_t function)
{
    add_void(flow, (struct scan_name){.word = word, .function = function});
}

static void add_value(struct flow *flow, struct flow_value value)
{
    flow->values = scan_grow(flow->values, flow->value_count, sizeof *flow->values);
    flow->values[flow->value_count++] = value;
}

void scan_answer_other(struct flow *flow, struct scan_name name, struct scan_value value)
{
    const bool own = name.function != SCOPE_FILE && name.output == 0;

    if (!value.yes && !own)
        return;
    if ((!own && value.no) || flow->value_count == FLOW_MOST_VALUES) {
        if (value.yes)
            add_void(flow, name);
        return;
    }
    add_value(flow, (struct flow_value){.name = name, .at = name.origin, .value = value});
}

/* Each other `return` has to be the contrary. */
void scan_answer_return(struct flow *flow, const struct flow_facts *facts,
                        const struct scan_token *first)
{
    struct flow_owner *owner = flow->owner;
    const struct scan_value value = scan_answer_value(flow, first);
    const bool version = facts->version > 0;
    bool yes = !version && facts->yes.first == 0 && value.yes;
    bool no = !version && facts->no.first == 0 && value.no;

    owner->yes |= yes && !(owner->whole && flow->macro);
    owner->no |= no;
    bool answers = facts->yes.first + facts->no.first + facts->version > 0;
    owner->answers += answers || flow->value_count == FLOW_MOST_VALUES;
    if (owner->whole && !answers && flow->value_count < FLOW_MOST_VALUES)
        add_value(flow, (struct flow_value){.at = first->at, .returned = true, .value = value});
    scan_answer_name(flow,
                     (struct scan_name){.word = owner->name,
                                        .function = owner->function,
                                        .origin = owner->name.text,
                                        .called = !owner->once},
                     facts);
}

void scan_answer_macro(struct flow *flow, const struct flow_facts *facts,
                       const struct scan_token *first)
{
    flow->owner->yes |= facts->yes.first == 0 && scan_answer_value(flow, first).yes;
    scan_answer_name(
        flow, (struct scan_name){.word = flow->owner->name, .origin = flow->owner->name.text},
        facts);
}

void scan_answer_end(struct flow *flow, const struct flow_owner *owner)
{
    struct scan_guards *guards = flow->guards;
    size_t kept = owner->first;

    for (size_t i = owner->first; i < guards->found_count; i++) {
        const struct scan_name *name = &guards->found[i];
        bool other = owner->answers > 1 || (name->negated ? owner->no : owner->yes);
        if (!other || name->word.text != owner->name.text || name->index == SCAN_VOID)
            guards->found[kept++] = *name;
    }
    guards->found_count = kept;
}

static bool holds(const struct flow *flow, const struct scan_guard *guard, const char *at)
{
    return guard->function == flow->function && !guard->comment &&
           ((guard->at < at && at < guard->until) || (guard->from <= at && at < guard->end));
}

/* Whether a guard holds where a value is given. */
static bool is_held(const struct flow *flow, const struct flow_value *value)
{
    flow->guards->work += flow->next - flow->first;
    for (size_t i = flow->first; i < flow->next && flow->guards->work < FLOW_MOST_WORK; i++) {
        if (holds(flow, &flow->guards->guards[i], value->at))
            return true;
    }
    return false;
}

/* "r = CUDA_ERROR_NOT_SUPPORTED; if (CUSHIM_HAS(...)) r = cu->cuName();": it is 0 only where guards
 * hold. */
static bool tells_by_zero(const struct flow *flow, const struct flow_value *value)
{
    bool other = false, any = false;

    for (size_t i = 0; i < flow->value_count; i++) {
        const struct flow_value *one = &flow->values[i];
        if (one->returned || one->name.function != value->name.function ||
            scan_word_compare(one->name.word, value->name.word) != 0)
            continue;
        if (one->value.no && !one->held)
            return false;
        other |= !one->value.no;
        any |= one->value.no;
    }
    return other && any && value->name.function != SCOPE_FILE;
}

/* Whether the name is an answer by being false, as "missing = !CUSHIM_HAS(...)" and the result of a
 * helper of cushim's, or by being true. */
static bool tells_by(const struct flow *flow, const struct scan_name *name, bool negated)
{
    const struct scan_guards *guards = flow->guards;

    flow->guards->work += guards->found_count - flow->owner->first;
    for (size_t i = flow->owner->first; i < guards->found_count; i++) {
        const struct scan_name *found = &guards->found[i];
        if (found->index != SCAN_VOID && found->negated == negated &&
            found->function == name->function && scan_word_compare(found->word, name->word) == 0)
            return true;
    }
    return false;
}

/* A name that is made true, or false, where guards hold tells that they do. */
static void settle_value(struct flow *flow, const struct flow_value *value)
{
    const struct scan_value may = value->value;
    const bool zero = tells_by_zero(flow, value);
    struct scan_name name = value->name;

    const bool no = !zero && !value->held && !value->returned && tells_by(flow, &name, true);
    if (no && may.no)
        add_void(flow, name);
    if (zero ? !may.no : !may.yes || (no && !may.no && !tells_by(flow, &name, false)))
        return;
    if (!value->held ||
        ((zero || may.no) && scan_filled_parameter(flow->scope, &flow->guards->text, flow->function,
                                                   name.word, '\0') > 0)) {
        add_void(flow, name);
        return;
    }
    name.joined = true;
    name.origin = name.word.text;
    for (size_t i = flow->first; i < flow->next; i++) {
        if (holds(flow, &flow->guards->guards[i], value->at))
            add_of(flow, name, &flow->guards->guards[i], zero);
    }
}

/* Whether each `return` that may be true, or false, is where a guard holds. */
static bool holds_at_all(const struct flow *flow, const struct scan_guard *guard, bool no)
{
    size_t count = 0;

    for (size_t i = 0; i < flow->value_count; i++) {
        const struct flow_value *value = &flow->values[i];
        if (!value->returned || !(no ? value->value.no : value->value.yes))
            continue;
        if (!holds(flow, guard, value->at))
            return false;
        count++;
    }
    return count > 0;
}

/* if (CUSHIM_HAS(...)) return true; return false; */
static bool settle_returns(struct flow *flow)
{
    const struct flow_owner *owner = flow->owner;
    const struct scan_name name = {.word = owner->name,
                                   .function = owner->function,
                                   .origin = owner->name.text,
                                   .called = !owner->once};
    bool any = false;

    for (size_t i = flow->first; i < flow->next && owner->answers == 0; i++) {
        const struct scan_guard *guard = &flow->guards->guards[i];
        for (int no = 0; no < 2; no++) {
            if (!holds_at_all(flow, guard, no > 0))
                continue;
            add_of(flow, name, guard, no > 0);
            any = true;
        }
    }
    return any;
}

void scan_answer_settle(struct flow *flow)
{
    static const struct scan_function none = {0};
    const struct flow_owner *owner = flow->owner;
    const struct scan_function *function =
        flow->function != SCOPE_FILE ? &flow->scope->functions[flow->function - 1] : &none;
    size_t found = flow->guards->found_count;

    for (size_t i = 0; i < flow->value_count; i++)
        flow->values[i].held = !flow->values[i].returned && is_held(flow, &flow->values[i]);
    for (size_t i = 0; i < flow->value_count; i++) {
        if (!flow->values[i].returned)
            settle_value(flow, &flow->values[i]);
    }
    bool answers = flow->value_count > 0 && settle_returns(flow);
    for (size_t i = owner->first; i < found; i++)
        answers |= flow->guards->found[i].word.text == owner->name.text;
    for (size_t i = flow->first; i < flow->next && flow->macro; i++)
        flow->guards->guards[i].answers |= answers;
    if (!answers && owner->yes && scan_names_is_answer(flow->guards, function))
        scan_answer_void(flow, owner->name, SCOPE_FILE);
}
