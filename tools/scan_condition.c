/* SPDX-License-Identifier: MIT */
#include "scan_condition.h"

#include "known.h"
#include "scan_answer.h"
#include "scan_filled.h"
#include "scan_names.h"
#include "scan_version.h"
#include "scan_wheel.h"

#include <ctype.h>
#include <string.h>

static struct flow_facts read_ternary(struct flow *flow);

/* Whether the function has it as "type name" before. */
static bool is_declared(struct flow *flow, struct scan_word word)
{
    flow->guards->work += (size_t)(word.text - flow->tokens.in.text);
    return flow->guards->work > FLOW_MOST_WORK ||
           scan_text_declares(flow->tokens.in.text, word, "*&>");
}

/* The names of what is assigned to, of which its own name is the last token: itself, and what the
 * function fills. Those without a word are none. */
struct target {
    struct scan_name own, filled;
};

static struct target find_target(struct flow *flow)
{
    const int before = flow->earlier.kind;
    struct target target = {.own = {.function = SCOPE_FILE}};

    if ((flow->last.kind != TOKEN_WORD && flow->last.kind != TOKEN_GUARD) || before == '>')
        return target;
    target.own.word = flow->last.word;
    if (flow->blocks == 0 || before == '.' || before == TOKEN_ARROW || before == TOKEN_SCOPE)
        return target;
    target.filled.output = scan_filled_parameter(flow->scope, &flow->guards->text, flow->function,
                                                 flow->last.word, before == '*' ? '*' : '&');
    if (target.filled.output > 0)
        target.filled.word = flow->scope->functions[flow->function - 1].name;
    if (before == '*' && !scan_flow_is_declarator(flow))
        target.own.word.length = 0;
    else if (before == '*' || before == TOKEN_WORD || before == ',' || before == '&' ||
             is_declared(flow, flow->last.word))
        target.own.function = flow->function;
    return target;
}

/* What a name is given: facts, or a value that may be true. */
static void note_assigned(struct flow *flow, struct scan_name name, const struct flow_facts *facts,
                          const struct scan_token *value)
{
    struct scan_value may = scan_answer_value(flow, value);

    if (value->kind == '-' && !may.no) /* -1: not asked yet */
        may.yes = false;
    name.origin = value->at;
    if (name.word.length == 0)
        return;
    if (facts->yes.first + facts->no.first + facts->version > 0)
        scan_answer_name(flow, name, facts);
    else if (value->kind != '[' && !scan_answer_is_own(flow, name.word, value->at))
        scan_answer_other(flow, name, may);
}

/* "name = value", at the '='. */
static struct flow_facts read_assignment(struct flow *flow, bool change)
{
    const struct scan_word outer = flow->target;
    const size_t outer_function = flow->target_function;
    const struct target target = find_target(flow);
    const bool declared = flow->earlier.kind == TOKEN_WORD && flow->blocks > 0;

    const bool own = flow->earlier.kind != ':' && target.own.function != SCOPE_FILE && !change;

    scan_flow_forget(flow);
    if (!scan_flow_enter(flow))
        return (struct flow_facts){0};
    scan_flow_step(flow);
    const struct scan_token value = flow->now;
    flow->target = target.own.word;
    flow->target_function = target.own.function;
    struct flow_facts facts = read_ternary(flow);
    flow->target = outer;
    flow->target_function = outer_function;
    flow->depth--;
    if (change)
        scan_flow_drop_facts(flow, &facts);
    if (own && flow->now.kind == ';' && facts.version == 0)
        flow->fresh = (struct flow_fresh){target.own.word, facts, NULL};
    if (declared && scan_version_is_set_anew(flow, target.own.word))
        return facts;
    if (scan_version_divides(flow, target.own.word, &value)) {
        if (!scan_version_divides_always(flow, target.own.word)) { /* if (old) v /= 1000; */
            scan_answer_void(flow, target.own.word, target.own.function);
            return facts;
        }
        struct scan_name major = target.own;
        major.index = SCAN_MAJOR;
        major.origin = value.at;
        scan_names_find(flow->guards, major);
        return facts;
    }
    note_assigned(flow, target.own, &facts, &value);
    note_assigned(flow, target.filled, &facts, &value);
    return facts;
}

/* Parentheses, from the first to behind the last. `part` of those between ';' counts. */
struct flow_facts scan_condition_group(struct flow *flow, int part, bool *single)
{
    const int close = flow->now.kind == '(' ? ')' : flow->now.kind == '{' ? '}' : ']';
    struct flow_facts chosen = {0};
    bool more = false;

    if (!scan_flow_enter(flow))
        return chosen;
    scan_flow_step(flow);
    if (part == FLOW_FIRST)
        chosen = read_ternary(flow);
    for (int i = 0; flow->now.kind != close && flow->now.kind != TOKEN_END;) {
        struct flow_facts facts = scan_condition_read(flow, true, &more);
        const int kind = flow->now.kind;
        if (part == i || (part == FLOW_LAST && kind == close))
            chosen = facts;
        else
            scan_flow_drop_facts(flow, &facts);
        if (kind == '}' && close != '}')
            break;
        i += kind == ';';
        more |= kind != ';' && kind != close;
        if (kind != close && kind != TOKEN_END)
            scan_flow_step(flow);
    }
    if (flow->now.kind == close)
        scan_flow_step(flow);
    flow->depth--;
    if (single)
        *single = !more;
    return chosen;
}

/* A question's parentheses, and those of a function or a macro that answers. */
static void skip_arguments(struct flow *flow)
{
    scan_flow_step(flow);
    if (flow->now.kind == '(') {
        struct flow_facts facts = scan_condition_group(flow, FLOW_LAST, NULL);
        scan_flow_drop_facts(flow, &facts);
    }
}

static struct flow_facts read_guard(struct flow *flow)
{
    struct scan_guards *guards = flow->guards;
    const char *at = flow->now.at;
    struct flow_facts facts = {0};

    for (; flow->next < guards->count && guards->guards[flow->next].at == at; flow->next++) {
        struct scan_guard *guard = &guards->guards[flow->next];
        const struct flow_list list = {flow->next + 1, flow->next + 1};
        guard->why = guard->asks ? SCAN_WHY_MACRO : guard->why;
        if (guard->asks)
            continue;
        if (scan_guard_is_version(guard) && guard->release == 0) {
            facts.version = flow->next + 1;
            facts.part = guard->index == SCAN_MAJOR ? FLOW_MAJOR : FLOW_VERSION;
        } else if (guard->index == SCAN_REST && guard->release == 0) {
            facts = (struct flow_facts){.version = flow->next + 1, .part = FLOW_REST};
        } else
            scan_flow_join(flow, guard->negated ? &facts.no : &facts.yes, list);
    }
    skip_arguments(flow);
    scan_version_divide(flow, &facts);
    return facts;
}

/* Braces within an expression: a function's body, or a list. */
static void read_braces(struct flow *flow)
{
    const bool body = flow->blocks == 0 && flow->function != SCOPE_FILE && !flow->macro;
    const bool lambda = !body && (flow->last.kind == ')' || flow->last.kind == ']');
    const char *from = flow->now.at;
    struct scan_guards *guards = flow->guards;
    struct flow_owner own = {.name = flow->target,
                             .function = flow->target_function,
                             .first = guards->found_count},
                      *outer = flow->owner;

    if (!body)
        flow->owner = &own;
    flow->target = (struct scan_word){NULL, 0};
    scan_flow_step(flow);
    scan_flow_block(flow, false);
    if (!body)
        scan_answer_end(flow, &own);
    for (size_t i = own.first; !body && flow->now.kind == '(' && i < guards->found_count; i++)
        guards->found[i].called &= guards->found[i].word.text != own.name.text;
    flow->target = own.name;
    flow->owner = outer;
    if (!lambda)
        return;
    guards->lambdas = scan_grow(guards->lambdas, guards->lambda_count, sizeof *guards->lambdas);
    own.name.length *= own.function != SCOPE_FILE;
    guards->lambdas[guards->lambda_count++] =
        (struct scan_lambda){own.name, flow->function, from, flow->passed};
}

/* A name's value: name(value), name{value}. It is a member's in a constructor's head. */
static void note_value(struct flow *flow, const struct scan_token *name,
                       const struct scan_token *before, bool single, const struct flow_facts *facts)
{
    bool head = flow->blocks == 0 && (before->kind == ':' || before->kind == ',');
    bool typed = before->kind == TOKEN_WORD && !scan_flow_is_statement(before) &&
                 !scan_word_is(before->word, "new");

    if (single && name->kind == TOKEN_WORD && (head || typed))
        scan_answer_name(flow,
                         (struct scan_name){.word = name->word,
                                            .function = head ? SCOPE_FILE : flow->function,
                                            .origin = name->at},
                         facts);
}

/* Where an operand is: at its beginning, or behind "a." or "a->"; behind a name or what is called;
 * behind a condition, which the operand is if nothing follows; behind what is none. */
enum part { PART_BEGIN, PART_NAME, PART_WHOLE, PART_OTHER };

struct operand {
    struct flow_facts facts;
    enum part part;
    int number, comparison; /* before the driver's version */
    bool cast;              /* bool(x), static_cast<bool>(x) */
};

static bool is_type(const struct scan_token *token)
{
    static const char *const types[] = {"bool", "_Bool", "int", "unsigned", NULL};

    return token->kind == TOKEN_WORD && scan_word_is_one_of(token->word, types);
}

static void spoil(struct flow *flow, struct operand *operand)
{
    scan_flow_drop_facts(flow, &operand->facts);
    operand->part = PART_OTHER;
}

static struct flow_facts contrary_of(struct flow_facts facts)
{
    return (struct flow_facts){.yes = facts.no, .no = facts.yes};
}

static void read_parentheses(struct flow *flow, struct operand *operand)
{
    static const char *const checks[] = {"CUSHIM_CHECK", "CUSHIM_KEEP", NULL}; /* true: it is 0 */
    const struct scan_token name = flow->last;
    const struct scan_token before = flow->earlier;
    const bool expect = scan_word_is(name.word, "__builtin_expect");
    const bool check = operand->part == PART_NAME && scan_word_is_one_of(name.word, checks);
    const bool same = operand->part == PART_NAME &&
                      (expect || check || operand->cast || scan_word_ends(name.word, "likely"));
    bool single = false;
    struct flow_facts facts = scan_condition_group(flow, expect ? FLOW_FIRST : FLOW_LAST, &single);

    if (operand->part == PART_BEGIN && single && is_type(&flow->earlier))
        return; /* (bool)x */
    note_value(flow, &name, &before, single, &facts);
    if (operand->part == PART_BEGIN || (same && (single || expect || check))) {
        operand->facts = check ? contrary_of(facts) : facts;
        operand->part = PART_WHOLE;
        return;
    }
    const bool argument = operand->part == PART_NAME;
    scan_flow_drop(flow, facts.yes, argument ? SCAN_WHY_ARGUMENT : SCAN_WHY_FORM);
    scan_flow_drop(flow, facts.no, argument ? SCAN_WHY_ARGUMENT : SCAN_WHY_FORM);
    if (operand->part == PART_WHOLE)
        spoil(flow, operand);
}

/* "name(value)" or "name{value}" of a name that holds an answer. */
static bool is_initialised(const struct flow *flow)
{
    const struct scan_guard *guard = &flow->guards->guards[flow->next];
    const int before = flow->last.kind;
    const char next = scan_flow_peek(flow);
    bool head = flow->blocks == 0 && (before == ':' || before == ',');
    bool typed = before == '>' || (before == TOKEN_WORD && !scan_flow_is_statement(&flow->last));

    return guard->name.length > 0 && (head || typed) &&
           (next == '{' || (next == '(' && !guard->answers));
}

static void read_initialised(struct flow *flow, struct operand *operand)
{
    const struct scan_token name = flow->now;
    bool head = flow->blocks == 0, single = false;
    size_t function = head ? SCOPE_FILE : flow->function;

    while (flow->next < flow->guards->count && flow->guards->guards[flow->next].at == name.at)
        flow->next++;
    scan_flow_step(flow);
    const char *open = flow->now.at;
    struct flow_facts facts = scan_condition_group(flow, FLOW_LAST, &single);
    const struct scan_token value = flow->earlier;
    bool one = value.at == open || scan_answer_literal(value.word, false) ||
               scan_answer_is_own(flow, name.word, open + 1);
    if (facts.yes.first + facts.no.first + facts.version > 0)
        scan_answer_name(
            flow, (struct scan_name){.word = name.word, .function = function, .origin = name.at},
            &facts);
    else if (!one)
        scan_answer_void(flow, name.word, function);
    scan_flow_drop_facts(flow, &facts);
    spoil(flow, operand);
}

/* A parameter, also of a lambda, "for (bool name : list)", "auto [name": another variable of this
 * name. */
static bool is_declared_anew(const struct flow *flow, char next)
{
    static const char *const others[] = {"not", "and", "or", "sizeof", "co_await", NULL};
    bool typed = flow->last.kind == TOKEN_WORD && !scan_flow_is_statement(&flow->last) &&
                 !scan_word_is_one_of(flow->last.word, others);
    bool parameter = (flow->blocks == 0 && next == ',') || next == ')';

    return flow->function != SCOPE_FILE &&
           ((typed && (parameter || next == ':')) ||
            (flow->last.kind == '[' && scan_word_is(flow->earlier.word, "auto")));
}

/* A guard within an operand. */
static void read_guarded(struct flow *flow, struct operand *operand)
{
    const char next = scan_flow_peek(flow);
    const bool compared = scan_version_is_comparison(flow->last.kind);

    if (is_initialised(flow)) {
        read_initialised(flow, operand);
        return;
    }
    if (is_declared_anew(flow, next))
        scan_answer_void(flow, flow->now.word, flow->function);
    struct flow_facts facts = read_guard(flow);
    bool version = facts.version > 0 && operand->comparison > 0;
    if (version)
        facts = scan_version_compare(flow, &facts, scan_version_mirrored(operand->comparison),
                                     operand->number);
    if (operand->part == PART_BEGIN || version) {
        operand->facts = facts;
        operand->part = PART_WHOLE;
    } else {
        if (facts.version > 0 && compared) /* "LEAST <= version" */
            scan_flow_guard(flow, facts.version)->why = SCAN_WHY_NUMBER;
        scan_flow_drop_facts(flow, &facts);
        spoil(flow, operand);
    }
}

/* What follows a condition: "== true", or ">= 12000" behind the driver's version. */
static bool read_comparison(struct flow *flow, struct operand *operand)
{
    const int kind = flow->now.kind;
    bool equal = kind == TOKEN_EQUAL || kind == TOKEN_OTHER_THAN;

    if (operand->part != PART_WHOLE)
        return false;
    if (scan_version_goes_on(flow, &operand->facts)) {
        scan_version_divide(flow, &operand->facts);
        return true;
    }
    if (operand->facts.version > 0 && scan_version_is_comparison(kind)) {
        scan_flow_step(flow);
        const int number = scan_version_number(flow);
        operand->facts = scan_version_compare(flow, &operand->facts, kind, number);
        if (number > 0 || operand->facts.yes.first + operand->facts.no.first > 0)
            scan_version_pass(flow);
        return true;
    }
    if (!equal)
        return false;
    scan_flow_step(flow);
    bool value = scan_answer_literal(flow->now.word, true);
    if (!value && !scan_answer_literal(flow->now.word, false)) {
        spoil(flow, operand);
        return true;
    }
    if (value != (kind == TOKEN_EQUAL))
        operand->facts = contrary_of(operand->facts);
    scan_flow_step(flow);
    return true;
}

/* Braces, which may end an operand: then it is false. */
static bool read_list(struct flow *flow, struct operand *operand)
{
    if (flow->blocks == 0 && (flow->earlier.kind == ':' || flow->earlier.kind == ',') &&
        flow->last.kind == TOKEN_WORD) {
        read_parentheses(flow, operand);
        return true;
    }
    spoil(flow, operand);
    read_braces(flow);
    return flow->now.kind != TOKEN_WORD && flow->now.kind != TOKEN_GUARD && flow->now.kind != '{' &&
           flow->now.kind != '#';
}

/* Another token: a number may be compared with the driver's version. */
static void read_rest(struct flow *flow, struct operand *operand)
{
    const int kind = flow->now.kind;
    bool number = kind == TOKEN_NUMBER && operand->part == PART_BEGIN;
    bool compares =
        scan_version_is_comparison(kind) && operand->number > 0 && operand->comparison == 0;

    spoil(flow, operand);
    operand->number = number ? scan_version_number(flow) : compares ? operand->number : 0;
    operand->comparison = compares ? kind : 0;
    scan_flow_step(flow);
}

/* static_cast<bool>, from behind its name. */
static bool read_cast(struct flow *flow, struct operand *operand)
{
    if (flow->now.kind != '<' || !scan_word_is(flow->last.word, "static_cast"))
        return false;
    scan_flow_step(flow);
    operand->cast = is_type(&flow->now);
    for (int i = 0; i < 2 && flow->now.kind != '(' && flow->now.kind != TOKEN_END; i++)
        scan_flow_step(flow);
    return true;
}

/* A token of an operand that is none of those which end it. False: it ends nevertheless. */
static bool read_part(struct flow *flow, struct operand *operand)
{
    const int kind = flow->now.kind;

    if (read_comparison(flow, operand))
        return true;
    if (kind == TOKEN_GUARD) {
        read_guarded(flow, operand);
    } else if (kind == TOKEN_WORD && flow->now.at == flow->fresh.at) {
        operand->facts = flow->fresh.facts;
        operand->part = PART_WHOLE;
        scan_flow_step(flow);
    } else if (kind == '(') {
        read_parentheses(flow, operand);
    } else if (kind == '{') {
        return read_list(flow, operand);
    } else if (kind == '[') {
        struct flow_facts facts = scan_condition_group(flow, FLOW_LAST, NULL);
        scan_flow_drop_facts(flow, &facts);
        if (operand->part != PART_NAME)
            spoil(flow, operand);
    } else if (kind == TOKEN_WORD && operand->part == PART_BEGIN) {
        operand->part = PART_NAME;
        operand->cast = is_type(&flow->now);
        scan_flow_step(flow);
    } else if (kind == '.' || kind == TOKEN_ARROW || kind == TOKEN_SCOPE) {
        bool link = operand->part != PART_OTHER;
        spoil(flow, operand);
        if (link)
            operand->part = PART_BEGIN;
        scan_flow_step(flow);
    } else if (operand->part != PART_NAME || !read_cast(flow, operand)) {
        read_rest(flow, operand);
    }
    return true;
}

static bool ends_operand(const struct flow *flow)
{
    static const int ends[] = {TOKEN_END, TOKEN_AND, TOKEN_OR, '?', ',', ':', ';', ')', ']', '}'};

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (flow->now.kind == ends[i])
            return true;
    }
    return scan_flow_is_statement(&flow->now);
}

static struct flow_facts read_operand(struct flow *flow)
{
    struct operand operand = {.part = PART_BEGIN};
    bool negated = false;

    for (; flow->now.kind == '!'; scan_flow_step(flow))
        negated = !negated;
    while (!ends_operand(flow)) {
        if (flow->now.kind == '=' || flow->now.kind == TOKEN_CHANGE) {
            scan_flow_drop_facts(flow, &operand.facts);
            return read_assignment(flow, flow->now.kind != '=');
        }
        if (!read_part(flow, &operand))
            break;
    }
    if (negated)
        return contrary_of(operand.facts);
    return operand.facts;
}

/* What is behind && runs if all before it is true, and behind || if all before it is false. */
static struct flow_facts read_chain(struct flow *flow, int joint)
{
    const bool both = joint == TOKEN_AND;
    struct flow_facts facts = both ? read_operand(flow) : read_chain(flow, TOKEN_AND);

    if (flow->now.kind != joint)
        return facts;
    struct flow_list *kept = both ? &facts.yes : &facts.no, *lost = both ? &facts.no : &facts.yes;
    const struct flow_list first = *lost;
    size_t least = both ? 0 : scan_version_least(flow, first),
           rest = scan_version_rest(flow, first);
    size_t operands = 1;
    enum scan_why why = both ? SCAN_WHY_AND : SCAN_WHY_OR;
    *lost = (struct flow_list){0, 0};
    facts.version = 0;
    while (flow->now.kind == joint) {
        scan_flow_step(flow);
        struct flow_facts more = both ? read_operand(flow) : read_chain(flow, TOKEN_AND);
        const struct flow_list dropped = both ? more.no : more.yes;
        if (least > 0 && scan_version_least(flow, dropped) > 0)
            why = SCAN_WHY_FORM; /* it is not known which of them is true */
        least = scan_version_lesser(flow, least, scan_version_least(flow, dropped));
        rest = ++operands == 2 ? rest + scan_version_rest(flow, dropped) : 0;
        scan_flow_drop(flow, dropped, why);
        scan_flow_join(flow, kept, both ? more.yes : more.no);
    }
    scan_flow_drop(flow, first, why);
    const size_t alone = scan_version_unite(flow, *kept, both ? rest : 0);
    *lost = both ? (struct flow_list){alone, alone} : (struct flow_list){least, least};
    if (lost->first > 0)
        scan_flow_guard(flow, lost->first)->next = 0;
    scan_flow_hold(flow, *kept);
    for (size_t i = kept->first; i > 0; i = scan_flow_guard(flow, i)->next)
        scan_flow_guard(flow, i)->joined = true;
    for (size_t i = lost->first; i > 0; i = scan_flow_guard(flow, i)->next)
        scan_flow_guard(flow, i)->joined = true;
    return facts;
}

/* What the value of "facts ? first : second" tells, if one of both is a literal. */
static struct flow_facts choose(struct flow_facts facts, struct scan_value first,
                                struct scan_value second)
{
    struct flow_facts value = {0};

    value.yes = !second.yes ? facts.yes : !first.yes ? facts.no : value.yes;
    value.no = !first.no ? facts.no : !second.no ? facts.yes : value.no;
    return value;
}

static struct flow_facts read_ternary(struct flow *flow)
{
    struct flow_facts facts = read_chain(flow, TOKEN_OR);
    bool more;

    if (flow->now.kind != '?' || !scan_flow_enter(flow))
        return facts;
    scan_flow_step(flow);
    const char *from = flow->passed;
    struct scan_token begin = flow->now;
    struct flow_facts either = scan_condition_read(flow, false, &more);
    struct scan_value first = scan_answer_value(flow, &begin), second = {true, true};
    scan_flow_drop_facts(flow, &either);
    scan_flow_hold(flow, facts.yes);
    scan_flow_hold_not(flow, facts.no, from, SCAN_WHY_INVERTED);
    from = flow->passed;
    if (flow->now.kind == ':') {
        scan_flow_step(flow);
        begin = flow->now;
        either = read_ternary(flow);
        second = scan_answer_value(flow, &begin);
        scan_flow_drop_facts(flow, &either);
        scan_flow_hold_from(flow, facts.no, from);
        scan_flow_hold_not(flow, facts.yes, from, SCAN_WHY_ELSE);
    }
    flow->depth--;
    scan_flow_drop(flow, facts.yes, SCAN_WHY_FORM);
    scan_flow_drop(flow, facts.no, SCAN_WHY_FORM);
    return choose(facts, first, second);
}

struct flow_facts scan_condition_read(struct flow *flow, bool colons, bool *more)
{
    struct flow_facts facts = read_ternary(flow);

    while (flow->now.kind == ',' || (colons && flow->now.kind == ':')) {
        *more = true;
        scan_flow_drop_facts(flow, &facts);
        scan_flow_step(flow);
        facts = read_ternary(flow);
    }
    return facts;
}
