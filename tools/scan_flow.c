/* SPDX-License-Identifier: MIT */
#include "scan_flow.h"

#include "known.h"
#include "scan_answer.h"
#include "scan_condition.h"
#include "scan_jump.h"
#include "scan_names.h"
#include "scan_switch.h"
#include "scan_wheel.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool read_statement(struct flow *flow, struct flow_facts *after);

struct scan_guard *scan_flow_guard(const struct flow *flow, size_t number)
{
    return &flow->guards->guards[number - 1];
}

void scan_flow_join(const struct flow *flow, struct flow_list *list, struct flow_list more)
{
    if (list->first == 0)
        *list = more;
    else if (more.first > 0)
        scan_flow_guard(flow, list->last)->next = more.first;
    list->last = more.first > 0 ? more.last : list->last;
}

bool scan_flow_is_parameter(const struct flow *flow, struct scan_word word)
{
    const struct scan_text *in = &flow->tokens.in;

    if (flow->function == SCOPE_FILE || flow->guards->work > FLOW_MOST_WORK)
        return false;
    const char *until = memchr(in->text, flow->macro ? ')' : '{', (size_t)(in->end - in->text));
    flow->guards->work += (size_t)((until ? until : in->end) - in->text);
    return flow->guards->work <= FLOW_MOST_WORK && until && word.length > 0 &&
           memmem(in->text, (size_t)(until - in->text), word.text, word.length);
}

void scan_flow_hold(const struct flow *flow, struct flow_list list)
{
    for (size_t i = list.first; i > 0; i = scan_flow_guard(flow, i)->next)
        scan_flow_guard(flow, i)->until = flow->passed;
}

void scan_flow_hold_from(const struct flow *flow, struct flow_list list, const char *from)
{
    for (size_t i = list.first; i > 0; i = scan_flow_guard(flow, i)->next) {
        struct scan_guard *guard = scan_flow_guard(flow, i);
        guard->from = guard->from ? guard->from : from;
        guard->end = flow->passed;
    }
}

void scan_flow_hold_not(const struct flow *flow, struct flow_list list, const char *from,
                        enum scan_why why)
{
    for (size_t i = list.first; i > 0; i = scan_flow_guard(flow, i)->next) {
        struct scan_guard *guard = scan_flow_guard(flow, i);
        guard->contrary = from ? from : guard->contrary;
        guard->contrary_end = flow->passed;
        guard->contrary_why = why;
    }
}

void scan_flow_drop(const struct flow *flow, struct flow_list list, enum scan_why why)
{
    for (size_t i = list.first; i > 0; i = scan_flow_guard(flow, i)->next) {
        scan_flow_guard(flow, i)->why = why;
        scan_flow_guard(flow, i)->why_line = flow->last.line;
    }
}

void scan_flow_drop_facts(const struct flow *flow, struct flow_facts *facts)
{
    scan_flow_drop(flow, facts->yes, SCAN_WHY_FORM);
    scan_flow_drop(flow, facts->no, SCAN_WHY_FORM);
    *facts = (struct flow_facts){0};
}

void scan_flow_cut(struct flow *flow, struct flow_cut cut)
{
    flow->cuts = scan_grow(flow->cuts, flow->cut_count, sizeof *flow->cuts);
    flow->cuts[flow->cut_count++] = cut;
}

/* Several guards may be at one place: a name that holds several answers. */
static void find_guard(struct flow *flow)
{
    struct scan_guards *guards = flow->guards;

    while (flow->next < guards->count && guards->guards[flow->next].at < flow->now.at)
        flow->next++;
    if (flow->next < guards->count && guards->guards[flow->next].at == flow->now.at &&
        guards->guards[flow->next].function == flow->function)
        flow->now.kind = TOKEN_GUARD;
}

void scan_flow_step(struct flow *flow)
{
    flow->earlier = flow->last;
    flow->last = flow->now;
    flow->passed = flow->tokens.in.at;
    flow->conditions = flow->tokens.depth;
    for (;;) {
        flow->tokens.changed = NULL;
        scan_token_next(&flow->tokens);
        if (!flow->tokens.changed)
            break;
        flow->changes++;
        const char *from = flow->tokens.outside;
        scan_flow_cut(flow, (struct flow_cut){flow->tokens.changed, from, from, true});
    }
    flow->now = flow->tokens.now;
    flow->lost |= flow->tokens.odd;
    if (flow->lost)
        flow->now.kind = TOKEN_END;
    else if (flow->now.kind == TOKEN_WORD)
        find_guard(flow);
}

bool scan_flow_enter(struct flow *flow)
{
    flow->lost |= ++flow->depth > FLOW_MOST_DEPTH;
    if (flow->lost)
        flow->now.kind = TOKEN_END;
    return !flow->lost;
}

static bool is_word(const struct flow *flow, const char *text)
{
    return flow->now.kind == TOKEN_WORD && scan_word_is(flow->now.word, text);
}

bool scan_flow_is_statement(const struct scan_token *token)
{
    static const char *const words[] = {
        "if",   "for",   "while",    "do",   "switch", "case",  "default", "return", "co_return",
        "goto", "break", "continue", "else", "try",    "catch", "throw",   NULL};

    return token->kind == TOKEN_WORD && scan_word_is_one_of(token->word, words);
}

bool scan_flow_is_declarator(const struct flow *flow)
{
    const char *text = flow->tokens.in.text;
    const char *end = scan_text_back_over_spaces(text, flow->earlier.at), *at = end;

    while (at > text && scan_text_is_letter(at[-1]))
        at--;
    const struct scan_token type = {.kind = TOKEN_WORD, .word = {at, (size_t)(end - at)}};
    return at < end && !scan_flow_is_statement(&type);
}

char scan_flow_peek(const struct flow *flow)
{
    const struct scan_text *in = &flow->tokens.in;
    const char *at = in->at;

    while (at < in->end && at < in->at + FLOW_MOST_DEPTH && isspace((unsigned char)*at))
        at++;
    if (at == in->end || (*at == ':' && at + 1 < in->end && at[1] == ':'))
        return '\0';
    return *at;
}

static void read_semicolon(struct flow *flow)
{
    if (flow->now.kind == ';')
        scan_flow_step(flow);
}

/* A statement within another; with an #if between them, nobody knows what it is. True: what follows
 * is not reached. An #else or #endif in it may take its end away. */
static bool read_body(struct flow *flow)
{
    struct flow_facts after = {0};
    size_t before = flow->changes;

    flow->lost |= flow->conditions != flow->tokens.depth;
    scan_flow_forget(flow);
    bool leaves = read_statement(flow, &after);
    scan_flow_forget(flow);
    scan_flow_drop(flow, after.yes, SCAN_WHY_ENDED);
    return leaves && flow->changes == before;
}

/* They hold from here to the end of the block, which is not known yet, or the contrary does. */
static void hold_after(struct flow *flow, struct flow_facts *after, struct flow_list list,
                       struct flow_list contrary)
{
    scan_flow_hold_from(flow, list, flow->passed);
    scan_flow_join(flow, &after->yes, list);
    scan_flow_hold_not(flow, contrary, flow->passed, SCAN_WHY_INVERTED);
    scan_flow_join(flow, &after->no, contrary);
}

void scan_flow_forget(struct flow *flow)
{
    flow->fresh.name.length = 0;
    flow->fresh.at = NULL;
}

static struct flow_facts read_head(struct flow *flow, int part)
{
    if (is_word(flow, "constexpr"))
        scan_flow_step(flow);
    while (flow->now.kind == '!' || is_word(flow, "consteval"))
        scan_flow_step(flow);
    return flow->now.kind == '(' ? scan_condition_group(flow, part, NULL) : (struct flow_facts){0};
}

static bool read_if(struct flow *flow, struct flow_facts *after)
{
    scan_flow_step(flow);
    const struct scan_word first = scan_word_at(flow->now.at, flow->tokens.in.end);
    flow->fresh.at = scan_word_compare(first, flow->fresh.name) == 0 ? first.text : NULL;
    struct flow_facts facts = read_head(flow, FLOW_LAST);
    const char *from = flow->passed;
    bool leaves = read_body(flow), otherwise = is_word(flow, "else"), both = false;
    const struct flow_list none = {0};

    scan_flow_drop(flow, facts.yes, SCAN_WHY_ENDED);
    scan_flow_drop(flow, facts.no, SCAN_WHY_ENDED);
    scan_flow_hold(flow, facts.yes);
    scan_flow_hold_not(flow, facts.no, from, SCAN_WHY_INVERTED);
    if (otherwise) {
        scan_flow_step(flow);
        from = flow->passed;
        both = read_body(flow);
        scan_flow_hold_from(flow, facts.no, from);
        scan_flow_hold_not(flow, facts.yes, from, SCAN_WHY_ELSE);
    }
    if (leaves)
        hold_after(flow, after, facts.no, otherwise ? none : facts.yes);
    else if (both)
        hold_after(flow, after, facts.yes, none);
    return leaves && both;
}

/* `for` and `while`: what they hold runs only if the condition is true. */
static void read_loop(struct flow *flow, int part)
{
    scan_flow_step(flow);
    struct flow_facts facts = read_head(flow, part);

    read_body(flow);
    scan_flow_hold(flow, facts.yes);
    scan_flow_drop(flow, facts.yes, SCAN_WHY_ENDED);
    scan_flow_drop(flow, facts.no, SCAN_WHY_FORM);
}

static void read_other(struct flow *flow)
{
    bool more;
    struct flow_facts facts = scan_condition_read(flow, true, &more);

    scan_flow_drop_facts(flow, &facts);
}

static void read_do(struct flow *flow)
{
    scan_flow_step(flow);
    read_body(flow);
    if (is_word(flow, "while")) {
        scan_flow_step(flow);
        read_other(flow);
    }
    read_semicolon(flow);
}

static void read_switch(struct flow *flow, struct flow_facts *after)
{
    struct flow_switch own = {.at = flow->now.at};

    scan_flow_step(flow);
    scan_switch_begin(flow, &own, read_head(flow, FLOW_LAST));
    const bool leaves = read_body(flow);
    hold_after(flow, after, scan_switch_end(flow, leaves), (struct flow_list){0});
}

static bool read_try(struct flow *flow)
{
    scan_flow_step(flow);
    bool leaves = read_body(flow);

    while (is_word(flow, "catch")) {
        scan_flow_step(flow);
        read_head(flow, FLOW_LAST);
        leaves &= read_body(flow);
    }
    return leaves;
}

static void read_return(struct flow *flow)
{
    bool more;

    scan_flow_step(flow);
    const struct scan_token first = flow->now;
    struct flow_facts facts = scan_condition_read(flow, true, &more);
    scan_answer_return(flow, &facts, &first);
    scan_flow_drop_facts(flow, &facts);
    read_semicolon(flow);
}

static void read_goto(struct flow *flow)
{
    scan_flow_step(flow);
    flow->lost |= flow->goto_count == FLOW_MOST_LABELS || flow->now.kind != TOKEN_WORD;
    scan_switch_leave(flow);
    if (!flow->lost)
        flow->gotos = scan_jump_label(flow->gotos, &flow->goto_count, &flow->now);
    read_other(flow);
    read_semicolon(flow);
}

/* "case value:", "default:", "name:". False: the token begins none of them. */
static bool read_label(struct flow *flow)
{
    if (is_word(flow, "case") || is_word(flow, "default")) {
        scan_switch_label(flow);
    } else if (flow->now.kind == TOKEN_WORD && !scan_flow_is_statement(&flow->now) &&
               scan_flow_peek(flow) == ':') {
        flow->lost |= flow->label_count == FLOW_MOST_LABELS;
        if (!flow->lost)
            flow->labels = scan_jump_label(flow->labels, &flow->label_count, &flow->now);
        scan_flow_step(flow);
        if (flow->now.kind == ':')
            scan_flow_step(flow);
    } else {
        return false;
    }
    return true;
}

static bool leaves_by_call(const struct flow *flow)
{
    static const char *const words[] = {"exit",       "_exit",      "_Exit",
                                        "quick_exit", "abort",      "longjmp",
                                        "siglongjmp", "terminate",  "__builtin_unreachable",
                                        "GTEST_SKIP", "GTEST_FAIL", "SKIP",
                                        NULL};

    if (flow->now.kind != TOKEN_WORD || scan_flow_peek(flow) != '(')
        return false;
    for (size_t i = 0; i < flow->scope->leaver_count; i++) {
        if (scan_word_compare(flow->scope->leavers[i], flow->now.word) == 0)
            return true;
    }
    return scan_names_seeded(flow->guards, flow->now.word, SCAN_LEAVER) ||
           scan_word_is_one_of(flow->now.word, words);
}

/* Those of cushim's that leave if a call fails. */
static bool is_check(struct scan_word word)
{
    return scan_word_is(word, "CUSHIM_RETURN_IF_FAILED") || scan_word_is(word, "CUSHIM_TRY");
}

/* assert(CUSHIM_HAS(...)), REQUIRE, ASSERT_TRUE, assert_false(!...): such a name alone tells that
 * it does not go on. */
static void read_assertion(struct flow *flow, struct flow_facts *after)
{
    const struct scan_word name = flow->now.word;
    bool contrary = scan_word_ends(name, "false") || is_check(name), single;

    scan_flow_step(flow);
    struct flow_facts facts = scan_condition_group(flow, FLOW_LAST, &single);
    struct flow_list *list = contrary ? &facts.no : &facts.yes;
    if (single && (flow->now.kind == ';' || flow->now.kind == TOKEN_OTHER)) {
        hold_after(flow, after, *list, (struct flow_list){0});
        *list = (struct flow_list){0};
    }
    scan_flow_drop_facts(flow, &facts);
}

/* A macro that leaves if its guard does not hold. */
static void read_leaver(struct flow *flow, struct flow_facts *after)
{
    bool more;
    struct flow_facts facts = scan_condition_read(flow, true, &more);

    hold_after(flow, after, facts.yes, (struct flow_list){0});
    facts.yes = (struct flow_list){0};
    scan_flow_drop_facts(flow, &facts);
}

/* Whether it is no macro or function of the file, or one that leaves. */
static bool may_leave(const struct flow *flow, struct scan_word name)
{
    static const char *const words[] = {"return", "exit", "abort", "throw", "goto", "assert", NULL};
    const struct scan_scope *scope = flow->scope;
    bool leaves = true;

    flow->guards->work += scope->count;
    if (flow->guards->work > FLOW_MOST_WORK)
        return false;
    for (size_t i = 0; i < scope->count; i++) {
        const struct scan_function *function = &scope->functions[i];
        if (function->name.length != name.length ||
            memcmp(function->name.text, name.text, name.length) != 0)
            continue;
        const char *from = function->macro ? function->from : function->name.text + name.length;
        const char *until = function->until ? function->until : flow->guards->text.end;
        bool any = false;
        for (size_t k = 0; words[k]; k++)
            any = any || memmem(from, (size_t)(until - from), words[k], strlen(words[k]));
        flow->guards->work += (size_t)(until - from);
        leaves &= any;
    }
    return leaves;
}

static bool is_assertion(const struct flow *flow)
{
    const struct scan_word word = flow->now.word;

    return flow->now.kind == TOKEN_WORD && scan_flow_peek(flow) == '(' &&
           (is_check(word) || scan_word_ends(word, "assert") || scan_word_ends(word, "require") ||
            ((scan_word_has(word, "assert") || scan_word_has(word, "require")) &&
             (scan_word_ends(word, "true") || scan_word_ends(word, "false")))) &&
           may_leave(flow, word);
}

static bool read_expression(struct flow *flow, struct flow_facts *after)
{
    bool whole = flow->macro && flow->depth == 1 && flow->statements == 1, more;

    if (is_word(flow, "std") || flow->now.kind == TOKEN_SCOPE)
        scan_flow_step(flow);
    if (flow->now.kind == TOKEN_SCOPE)
        scan_flow_step(flow);
    bool leaves = leaves_by_call(flow);
    if (flow->now.kind == TOKEN_GUARD && flow->guards->guards[flow->next].asserts)
        read_leaver(flow, after);
    else if (is_assertion(flow))
        read_assertion(flow, after);
    for (;;) {
        const struct scan_token first = flow->now;
        struct flow_facts facts = scan_condition_read(flow, true, &more);
        if (whole && flow->now.kind == TOKEN_END && !flow->lost)
            scan_answer_macro(flow, &facts, &first);
        scan_flow_drop_facts(flow, &facts);
        if (flow->now.kind != ')' && flow->now.kind != ']')
            break;
        leaves = whole = false;
        scan_flow_step(flow);
    }
    leaves &= flow->now.kind == ';';
    read_semicolon(flow);
    return leaves;
}

static void read_end(struct flow *flow)
{
    if (is_word(flow, "break"))
        scan_switch_leave(flow);
    scan_flow_step(flow);
    read_other(flow);
    read_semicolon(flow);
}

static bool read_known(struct flow *flow, struct flow_facts *after)
{
    static const char *const ends[] = {"break", "continue", "throw", "co_return", NULL};

    while (read_label(flow))
        continue;
    if (flow->now.kind == '{') {
        scan_flow_step(flow);
        return scan_flow_block(flow, false);
    }
    if (is_word(flow, "if"))
        return read_if(flow, after);
    if (is_word(flow, "try"))
        return read_try(flow);
    if (is_word(flow, "for") || is_word(flow, "while"))
        read_loop(flow, is_word(flow, "for") ? 1 : FLOW_LAST);
    else if (is_word(flow, "do"))
        read_do(flow);
    else if (is_word(flow, "switch"))
        read_switch(flow, after);
    else if (is_word(flow, "return"))
        return read_return(flow), true;
    else if (is_word(flow, "goto"))
        return read_goto(flow), true;
    else if (flow->now.kind == TOKEN_WORD && scan_word_is_one_of(flow->now.word, ends))
        return read_end(flow), true;
    else if (scan_flow_is_statement(
                 &flow->now)) /* `else` and `catch` without what they belong to */
        scan_flow_step(flow);
    else
        return read_expression(flow, after);
    return false;
}

static bool read_statement(struct flow *flow, struct flow_facts *after)
{
    if (!scan_flow_enter(flow))
        return false;
    while (flow->now.kind == '[' && scan_flow_peek(flow) == '[') { /* [[unlikely]] */
        struct flow_facts facts = scan_condition_group(flow, FLOW_LAST, NULL);
        scan_flow_drop_facts(flow, &facts);
    }
    bool leaves = read_known(flow, after);
    flow->depth--;
    return leaves;
}

bool scan_flow_block(struct flow *flow, bool whole)
{
    struct flow_facts held = {0};
    bool leaves = false;

    flow->blocks += !whole;
    while (flow->now.kind != TOKEN_END && (whole || flow->now.kind != '}')) {
        const char *at = flow->now.at;
        size_t before = flow->changes;
        flow->statements++;
        flow->reached = !leaves;
        if (!is_word(flow, "if"))
            scan_flow_forget(flow);
        const bool once = is_word(flow, "static");
        leaves = read_statement(flow, &held) && flow->changes == before;
        if (flow->changes != before || once)
            scan_flow_forget(flow);
        if (flow->now.at == at)
            scan_flow_step(flow);
    }
    scan_flow_hold_from(flow, held.yes, NULL);
    scan_flow_hold_not(flow, held.no, NULL, SCAN_WHY_INVERTED);
    scan_flow_forget(flow);
    flow->blocks -= !whole;
    if (flow->now.kind == '}')
        scan_flow_step(flow);
    return leaves;
}

/* A lambda: "has = [] { ... }();" */
static bool is_called_at_once(const struct scan_guards *guards,
                              const struct scan_function *function)
{
    const char *at = function->until;

    while (at && at < guards->text.end && isspace((unsigned char)*at))
        at++;
    return at && at < guards->text.end && *at == '(' && !function->macro;
}

void scan_flow_read(struct scan_guards *guards, const struct scan_scope *scope, size_t function,
                    struct scan_text text, size_t first)
{
    static const struct scan_function none = {0};
    const struct scan_function *of =
        function != SCOPE_FILE ? &scope->functions[function - 1] : &none;
    struct flow_owner owner = {.name = of->name,
                               .first = guards->found_count,
                               .whole = true,
                               .once = is_called_at_once(guards, of)};
    const size_t first_case = guards->case_count;
    struct flow flow = {.tokens = {.in = text, .macro = of->macro},
                        .guards = guards,
                        .scope = scope,
                        .function = function,
                        .first = first,
                        .next = first,
                        .macro = of->macro,
                        .owner = &owner};

    scan_flow_step(&flow);
    if (of->macro && text.at < text.end && *text.at == '(') { /* its parameters */
        struct flow_facts facts = scan_condition_group(&flow, FLOW_LAST, NULL);
        scan_flow_drop_facts(&flow, &facts);
    }
    const char *head = function == SCOPE_FILE ? guards->guards[first].head : NULL;
    while (head && flow.now.kind != TOKEN_END && flow.next < guards->count &&
           guards->guards[flow.next].head == head) {
        const char *at = flow.now.at;
        read_body(&flow);
        if (flow.now.at == at)
            scan_flow_step(&flow);
    }
    if (!head)
        scan_flow_block(&flow, true);
    scan_answer_end(&flow, &owner);
    scan_jump_settle(&flow, first_case);
    scan_answer_settle(&flow);
    free(flow.cuts);
    free(flow.values);
    free(flow.labels);
    free(flow.gotos);
}
