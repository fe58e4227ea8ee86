/* SPDX-License-Identifier: MIT */
#include "scan_condition.h"

#include "scan_wheel.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { MOST_FOUND = 1 << 18 }; /* names of a file */

static struct flow_facts read_ternary(struct flow *flow);

bool scan_condition_literal(struct scan_word word, bool value)
{
    static const char *const no[] = {"false", "0", "NULL", "nullptr", "FALSE", NULL};
    static const char *const yes[] = {"true", "1", "TRUE", NULL};

    return scan_word_is_one_of(word, value ? yes : no);
}

static void add_found(struct flow *flow, struct scan_name name)
{
    struct scan_guards *guards = flow->guards;

    flow->lost |= guards->found_count == MOST_FOUND;
    if (flow->lost || name.word.length == 0)
        return;
    guards->found = scan_grow(guards->found, guards->found_count, sizeof *guards->found);
    guards->found[guards->found_count++] = name;
}

/* The name is true only if they hold, or false. */
void scan_condition_name(struct flow *flow, struct scan_word word, size_t function,
                         const struct flow_facts *facts)
{
    for (int no = 0; no < 2; no++) {
        size_t first = no ? facts->no.first : facts->yes.first;
        for (size_t i = first; i > 0; i = scan_flow_guard(flow, i)->next) {
            const struct scan_guard *guard = scan_flow_guard(flow, i);
            add_found(flow,
                      (struct scan_name){word, guard->index, function, guard->release, no > 0});
        }
    }
    if (facts->version > 0)
        add_found(flow, (struct scan_name){word, SCAN_VERSION, function, 0, false});
}

/* Whether the function has it as "type name" before. */
static bool is_declared(struct flow *flow, struct scan_word word)
{
    const char *at = flow->tokens.in.text, *found;

    flow->guards->work += (size_t)(word.text - at);
    if (flow->guards->work > FLOW_MOST_WORK)
        return true;
    for (; (found = memmem(at, (size_t)(word.text - at), word.text, word.length)); at = found + 1) {
        const char *before = found;
        while (before > flow->tokens.in.text && isspace((unsigned char)before[-1]))
            before--;
        if (before > flow->tokens.in.text && !scan_text_is_letter(found[word.length]) &&
            (strchr("*&>", before[-1]) || (before < found && scan_text_is_letter(before[-1]))))
            return true;
    }
    return false;
}

/* The function of a name that is assigned to, which its own name is the last token; SCOPE_FILE: it
 * is a member, or the file's. False: nothing is known of it. */
static bool find_target(struct flow *flow, size_t *function)
{
    int before = flow->earlier.kind;

    if (flow->last.kind != TOKEN_WORD && flow->last.kind != TOKEN_GUARD)
        return false;
    if (before == '*' || before == '&' || before == '>')
        return false;
    if (flow->blocks == 0 || before == '.' || before == TOKEN_ARROW || before == TOKEN_SCOPE)
        return true;
    if (before == TOKEN_WORD || before == ',' || is_declared(flow, flow->last.word))
        *function = flow->function;
    return true;
}

/* "name = value", at the '='. */
static struct flow_facts read_assignment(struct flow *flow, bool change)
{
    struct scan_word name = flow->last.word, target = flow->target;
    size_t function = SCOPE_FILE, target_function = flow->target_function;
    bool known = find_target(flow, &function);

    if (!scan_flow_enter(flow))
        return (struct flow_facts){0};
    scan_flow_step(flow);
    const struct scan_token value = flow->now;
    flow->target = known ? name : (struct scan_word){NULL, 0};
    flow->target_function = function;
    struct flow_facts facts = read_ternary(flow);
    flow->target = target;
    flow->target_function = target_function;
    flow->depth--;
    if (change)
        scan_flow_drop_facts(flow, &facts);
    if (!known)
        return facts;
    if (facts.yes.first + facts.no.first + facts.version > 0)
        scan_condition_name(flow, name, function, &facts);
    else if ((flow->last.at != value.at || !scan_condition_literal(value.word, false)) &&
             value.kind != '[')
        add_found(flow, (struct scan_name){name, SCAN_VOID, function, 0, false});
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

static int mirrored(int comparison)
{
    static const int pairs[][2] = {{'<', '>'}, {TOKEN_LESS_EQUAL, TOKEN_GREATER_EQUAL}};

    for (size_t i = 0; i < 2; i++) {
        if (comparison == pairs[i][0] || comparison == pairs[i][1])
            return pairs[i][comparison == pairs[i][0]];
    }
    return comparison;
}

static bool is_comparison(int kind)
{
    return kind == '<' || kind == '>' || kind == TOKEN_LESS_EQUAL || kind == TOKEN_GREATER_EQUAL ||
           kind == TOKEN_EQUAL;
}

/* A literal number, as "12040"; 0: another token. */
static int number_of(const struct scan_token *token)
{
    size_t digits = 0;
    int number = 0;

    if (token->kind != TOKEN_NUMBER || token->word.text[0] == '0')
        return 0;
    for (; digits < token->word.length && digits < 8; digits++) {
        if (!isdigit((unsigned char)token->word.text[digits]))
            break;
        number = number * 10 + (token->word.text[digits] - '0');
    }
    for (; digits < token->word.length; digits++) {
        if (!strchr("uUlL", token->word.text[digits]))
            return 0;
    }
    return number;
}

/* "version >= 12000": which release it has at least, if that is true, or if it is not. */
static struct flow_facts compare(const struct flow *flow, size_t version, int comparison,
                                 int number)
{
    struct scan_guard *guard = scan_flow_guard(flow, version);
    const struct flow_list list = {version, version};
    bool more = comparison == '>' || comparison == TOKEN_LESS_EQUAL;

    if (number == 0) {
        guard->why = SCAN_WHY_NUMBER;
        return (struct flow_facts){0};
    }
    guard->release = number + more;
    return comparison == '<' || comparison == TOKEN_LESS_EQUAL ? (struct flow_facts){.no = list}
                                                               : (struct flow_facts){.yes = list};
}

static struct flow_facts read_guard(struct flow *flow)
{
    struct scan_guards *guards = flow->guards;
    const char *at = flow->now.at;
    struct flow_facts facts = {0};

    for (; flow->next < guards->count && guards->guards[flow->next].at == at; flow->next++) {
        struct scan_guard *guard = &guards->guards[flow->next];
        const struct flow_list list = {flow->next + 1, flow->next + 1};
        if (guard->index == SCAN_VERSION && guard->release == 0)
            facts.version = flow->next + 1;
        else
            scan_flow_join(flow, guard->negated ? &facts.no : &facts.yes, list);
    }
    skip_arguments(flow);
    if (facts.version > 0 && is_comparison(flow->now.kind)) {
        int comparison = flow->now.kind;
        scan_flow_step(flow);
        int number = number_of(&flow->now);
        facts = compare(flow, facts.version, comparison, number);
        if (number > 0)
            scan_flow_step(flow);
    }
    return facts;
}

/* Braces within an expression: a function's body, or a list. */
static void read_braces(struct flow *flow)
{
    const bool body = flow->blocks == 0 && flow->function != SCOPE_FILE && !flow->macro;
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
        scan_flow_end(flow, &own);
    flow->target = own.name;
    flow->owner = outer;
}

/* A name's value: name(value), name{value}. It is a member's in a constructor's head. */
static void note_value(struct flow *flow, const struct scan_token *name,
                       const struct scan_token *before, bool single, const struct flow_facts *facts)
{
    bool head = flow->blocks == 0 && (before->kind == ':' || before->kind == ',');
    bool typed = before->kind == TOKEN_WORD && !scan_flow_is_statement(before) &&
                 !scan_word_is(before->word, "new");

    if (single && name->kind == TOKEN_WORD && (head || typed))
        scan_condition_name(flow, name->word, head ? SCOPE_FILE : flow->function, facts);
}

bool scan_condition_has(struct scan_word word, const char *text)
{
    size_t length = strlen(text);

    for (size_t i = 0; i + length <= word.length; i++) {
        if (strncasecmp(word.text + i, text, length) == 0)
            return true;
    }
    return false;
}

bool scan_condition_ends(struct scan_word word, const char *text)
{
    size_t length = strlen(text);

    return word.length >= length &&
           strncasecmp(word.text + word.length - length, text, length) == 0;
}

/* Where an operand is: at its beginning, or behind "a." or "a->"; behind a name or what is called;
 * behind a condition, which the operand is if nothing follows; behind what is none. */
enum part { PART_BEGIN, PART_NAME, PART_WHOLE, PART_OTHER };

struct operand {
    struct flow_facts facts;
    enum part part;
    int number, comparison; /* before the driver's version */
};

static void spoil(struct flow *flow, struct operand *operand)
{
    scan_flow_drop_facts(flow, &operand->facts);
    operand->part = PART_OTHER;
}

static void read_parentheses(struct flow *flow, struct operand *operand)
{
    const struct scan_token name = flow->last;
    const struct scan_token before = flow->earlier;
    bool single = false;
    struct flow_facts facts = scan_condition_group(flow, FLOW_LAST, &single);

    note_value(flow, &name, &before, single, &facts);
    if (operand->part == PART_BEGIN ||
        (operand->part == PART_NAME && single && scan_condition_ends(name.word, "likely"))) {
        operand->facts = facts;
        operand->part = PART_WHOLE;
        return;
    }
    scan_flow_drop_facts(flow, &facts);
    if (operand->part == PART_WHOLE)
        spoil(flow, operand);
}

/* A token of an operand that is none of those which end it. False: it ends nevertheless. */
static bool read_part(struct flow *flow, struct operand *operand)
{
    const int kind = flow->now.kind;

    if (kind == TOKEN_GUARD) {
        const char next = scan_flow_peek(flow);
        if (flow->blocks == 0 && flow->last.kind == TOKEN_WORD && (next == ',' || next == ')'))
            add_found(flow,
                      (struct scan_name){flow->now.word, SCAN_VOID, flow->function, 0, false});
        struct flow_facts facts = read_guard(flow);
        bool version = facts.version > 0 && operand->comparison > 0;
        if (version)
            facts = compare(flow, facts.version, mirrored(operand->comparison), operand->number);
        if (operand->part == PART_BEGIN || version) {
            operand->facts = facts;
            operand->part = PART_WHOLE;
        } else {
            scan_flow_drop_facts(flow, &facts);
            spoil(flow, operand);
        }
    } else if (kind == '(') {
        read_parentheses(flow, operand);
    } else if (kind == '{') {
        if (flow->blocks == 0 && (flow->earlier.kind == ':' || flow->earlier.kind == ',') &&
            flow->last.kind == TOKEN_WORD) {
            read_parentheses(flow, operand);
            return true;
        }
        spoil(flow, operand);
        read_braces(flow);
        return flow->now.kind != TOKEN_WORD && flow->now.kind != TOKEN_GUARD &&
               flow->now.kind != '{' && flow->now.kind != '#';
    } else if (kind == '[') {
        struct flow_facts facts = scan_condition_group(flow, FLOW_LAST, NULL);
        scan_flow_drop_facts(flow, &facts);
        if (operand->part != PART_NAME)
            spoil(flow, operand);
    } else if (kind == TOKEN_WORD && operand->part == PART_BEGIN) {
        operand->part = PART_NAME;
        scan_flow_step(flow);
    } else if (kind == '.' || kind == TOKEN_ARROW || kind == TOKEN_SCOPE) {
        bool link = operand->part != PART_OTHER;
        spoil(flow, operand);
        if (link)
            operand->part = PART_BEGIN;
        scan_flow_step(flow);
    } else if ((kind == TOKEN_EQUAL || kind == TOKEN_OTHER_THAN) && operand->part == PART_WHOLE) {
        scan_flow_step(flow);
        bool value = scan_condition_literal(flow->now.word, true);
        if (!value && !scan_condition_literal(flow->now.word, false)) {
            spoil(flow, operand);
        } else {
            if (value != (kind == TOKEN_EQUAL))
                operand->facts = (struct flow_facts){operand->facts.no, operand->facts.yes, 0};
            scan_flow_step(flow);
        }
    } else {
        bool number = kind == TOKEN_NUMBER && operand->part == PART_BEGIN;
        bool compares = is_comparison(kind) && operand->number > 0 && operand->comparison == 0;
        spoil(flow, operand);
        operand->number = number ? number_of(&flow->now) : compares ? operand->number : 0;
        operand->comparison = compares ? kind : 0;
        scan_flow_step(flow);
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
        return (struct flow_facts){operand.facts.no, operand.facts.yes, 0};
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
    scan_flow_drop(flow, *lost, both ? SCAN_WHY_AND : SCAN_WHY_OR);
    *lost = (struct flow_list){0, 0};
    facts.version = 0;
    while (flow->now.kind == joint) {
        scan_flow_step(flow);
        struct flow_facts more = both ? read_operand(flow) : read_chain(flow, TOKEN_AND);
        scan_flow_drop(flow, both ? more.no : more.yes, both ? SCAN_WHY_AND : SCAN_WHY_OR);
        scan_flow_join(flow, kept, both ? more.yes : more.no);
    }
    scan_flow_hold(flow, *kept);
    return facts;
}

static struct flow_facts read_ternary(struct flow *flow)
{
    struct flow_facts facts = read_chain(flow, TOKEN_OR);
    bool more;

    if (flow->now.kind != '?' || !scan_flow_enter(flow))
        return facts;
    scan_flow_step(flow);
    const char *from = flow->passed;
    struct flow_facts either = scan_condition_read(flow, false, &more);
    scan_flow_drop_facts(flow, &either);
    scan_flow_hold(flow, facts.yes);
    scan_flow_hold_not(flow, facts.no, from, SCAN_WHY_INVERTED);
    from = flow->passed;
    if (flow->now.kind == ':') {
        scan_flow_step(flow);
        either = read_ternary(flow);
        scan_flow_drop_facts(flow, &either);
        scan_flow_hold_from(flow, facts.no, from);
        scan_flow_hold_not(flow, facts.yes, from, SCAN_WHY_ELSE);
    }
    flow->depth--;
    scan_flow_drop(flow, facts.yes, SCAN_WHY_ENDED);
    scan_flow_drop(flow, facts.no, SCAN_WHY_ENDED);
    return (struct flow_facts){0};
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
