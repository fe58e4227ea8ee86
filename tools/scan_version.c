/* SPDX-License-Identifier: MIT */
#include "scan_version.h"

#include "known.h"
#include "scan_constant.h"
#include "scan_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MAJOR = 99, FARTHEST = 1024, PAIR_TOKENS = 7, HUNDRED = 100 };

int scan_version_mirrored(int comparison)
{
    static const int pairs[][2] = {{'<', '>'}, {TOKEN_LESS_EQUAL, TOKEN_GREATER_EQUAL}};

    for (size_t i = 0; i < 2; i++) {
        if (comparison == pairs[i][0] || comparison == pairs[i][1])
            return pairs[i][comparison == pairs[i][0]];
    }
    return comparison;
}

bool scan_version_is_comparison(int kind)
{
    return kind == '<' || kind == '>' || kind == TOKEN_LESS_EQUAL || kind == TOKEN_GREATER_EQUAL ||
           kind == TOKEN_EQUAL;
}

int scan_version_made(struct scan_guards *guards, const struct scan_scope *scope,
                      struct scan_word word)
{
    const char *at = word.text + word.length, *last = guards->text.end;
    const char *end = last - at > FARTHEST ? at + FARTHEST : last;
    bool makes = scan_names_seeded(guards, word, SCAN_MAKER);

    guards->work += scope->count;
    for (size_t i = 0; i < scope->count; i++) {
        if (scan_word_compare(scope->functions[i].name, word) != 0)
            continue;
        makes = scan_constant_is_maker(&guards->text, &scope->functions[i]);
        if (!makes)
            return 0;
    }
    at = makes ? scan_text_skip_spaces(at, end) : end;
    return at < end && *at == '(' ? scan_text_pair(at + 1, scan_text_find_close(at, end)) : 0;
}

int scan_version_number(struct flow *flow)
{
    const struct scan_word word = flow->now.word;

    if (flow->now.kind == TOKEN_WORD && scan_flow_peek(flow) == '(')
        return flow->guards->work > FLOW_MOST_WORK
                   ? 0
                   : scan_version_made(flow->guards, flow->scope, word);

    if (flow->now.kind == TOKEN_WORD) {
        const struct scan_name *other = scan_names_seeded(flow->guards, word, SCAN_CONSTANT);
        flow->guards->work += (size_t)(flow->guards->text.end - flow->guards->text.text);
        if (flow->guards->work > FLOW_MOST_WORK || memchr("*+-/%", scan_flow_peek(flow), 5))
            return 0;
        const int number =
            scan_constant_read(&flow->guards->text, flow->guards->defines, word, true);
        return number == 0 && other ? other->release : number;
    }
    const bool literal = flow->now.kind == TOKEN_NUMBER && word.text[0] != '0';
    return literal || flow->now.kind == '(' ? scan_text_number(&flow->tokens.in, flow->now.at) : 0;
}

/* "major * 1000 + minor * 10" of two parameters, at the first. */
static bool is_pair(const struct flow *flow)
{
    static const int kinds[] = {'*', TOKEN_NUMBER, '+', TOKEN_WORD, '*', TOKEN_NUMBER};
    const char *head = flow->tokens.in.text, *end = flow->now.at;
    struct scan_tokens tokens = flow->tokens;
    struct scan_word minor = {NULL, 0};

    if (flow->now.kind != TOKEN_WORD || !scan_flow_is_parameter(flow, flow->now.word))
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        scan_token_next(&tokens);
        const struct scan_word word = tokens.now.word;
        if (tokens.now.kind != kinds[i] || (i == 1 && !scan_word_is(word, "1000")) ||
            (i == 3 && !scan_flow_is_parameter(flow, word)) ||
            (i == 5 && !scan_word_is(word, "10")))
            return false;
        minor = i == 3 ? word : minor;
    }
    return scan_text_find_word(head, end, flow->now.word) < scan_text_find_word(head, end, minor);
}

void scan_version_pass(struct flow *flow)
{
    const char *end = flow->now.at + 1;

    if (is_pair(flow)) {
        for (int i = 0; i < PAIR_TOKENS; i++)
            scan_flow_step(flow);
        return;
    }
    if (flow->now.kind == TOKEN_WORD &&
        scan_version_made(flow->guards, flow->scope, flow->now.word) > 0)
        end = scan_text_find_close(flow->tokens.in.at, flow->tokens.in.end) + 1;
    if (flow->now.kind == TOKEN_NUMBER || flow->now.kind == '(')
        scan_text_sum(flow->now.at, flow->tokens.in.end, &end);
    while (flow->now.at < end && flow->now.kind != TOKEN_END)
        scan_flow_step(flow);
}

/* Whether a '/' and spaces alone are between two places. */
static bool is_division(const char *at, const char *end)
{
    at = scan_text_skip_spaces(at, end);
    return at < end && *at == '/' && scan_text_skip_spaces(at + 1, end) == end;
}

bool scan_version_divides(const struct flow *flow, struct scan_word name,
                          const struct scan_token *value)
{
    const char *number = flow->last.at, *text = flow->tokens.in.text;

    if (!scan_word_is(flow->last.word, "1000"))
        return false;
    if (number != value->at)
        return scan_word_compare(value->word, name) == 0 &&
               is_division(value->at + name.length, number);
    number = scan_text_back_over_spaces(text, number);
    return number - text > 2 && number[-1] == '=' && number[-2] == '/';
}

/* Whether a name at a place is given a value: "name = ", "&name". */
static bool is_given(const char *from, const char *at, const char *end, struct scan_word name)
{
    const char *behind = scan_text_skip_spaces(at + name.length, end);

    return (at > from && at[-1] == '&') ||
           (end - behind > 1 && (*behind == '{' || (*behind == '=' && behind[1] != '=')));
}

bool scan_version_divides_always(struct flow *flow, struct scan_word name)
{
    const char *from = flow->tokens.in.text, *end = flow->passed, *at = end, *given = NULL;
    int depth = 0;

    while (at > from && (at[-1] != '/' || (size_t)(at - from) <= name.length))
        at--;
    while (at > from && !memchr(";{})", at[-1], 4))
        at--;
    if (at == from || at[-1] == ')')
        return false;
    const struct scan_word first = scan_word_at(at, end);
    if (scan_word_is(first, "else") || scan_word_is(first, "do"))
        return false;
    for (; at > from && depth >= 0 && !given; at--) {
        flow->guards->work++;
        depth += (at[-1] == '}') - (at[-1] == '{');
        const struct scan_word word =
            scan_word_at(at, at + name.length < end ? at + name.length : end);
        if (depth == 0 && word.text == at && scan_word_compare(word, name) == 0 &&
            !scan_text_is_letter(at[-1]) && is_given(from, at, end, name))
            given = at;
    }
    return given;
}

/* "&= CUSHIM_HAS(...)", "= name && CUSHIM_HAS(...)" */
static bool narrows(const char *at, const char *end, struct scan_word name)
{
    bool both = end - at > 2 && memcmp(at, "&=", 2) == 0;

    if (!both && end - at > 2 && *at == '=') {
        const struct scan_word own = scan_word_at(at, end);
        at = scan_text_skip_spaces(own.text + own.length, end);
        both = scan_word_compare(own, name) == 0 && end - at > 2 && memcmp(at, "&&", 2) == 0;
    }
    return both && !memchr(at, '|', (size_t)(end - at)) &&
           memmem(at, (size_t)(end - at), "CUSHIM_HAS(", sizeof "CUSHIM_HAS(" - 1);
}

/* "int v = 12000; v = cushim_driver_version(cu);", and cu->cuDriverGetVersion(&v) */
bool scan_version_is_set_anew(struct flow *flow, struct scan_word name)
{
    static const char fills[] = "cuDriverGetVersion(&";
    const struct scan_text *in = &flow->tokens.in;
    const char *most = in->end - flow->passed > FARTHEST ? flow->passed + FARTHEST : in->end;
    const char *at = name.length > 0 ? scan_text_find_word(flow->passed, most, name) : NULL;

    if (!at)
        return false;
    const struct scan_word before = {flow->passed, (size_t)(at - flow->passed)};
    const char *from = at;
    while (from > before.text && from[-1] != ';')
        from--;
    if (from == before.text || memchr(before.text, '{', before.length) ||
        memchr(before.text, '}', before.length) || memchr(before.text, '#', before.length) ||
        memmem(before.text, before.length, "goto", 4))
        return false;
    from = scan_text_skip_spaces(from, at);
    if (from == at) {
        const char *value = scan_text_skip_spaces(at + name.length, in->end);
        const char *end = memchr(value, ';', (size_t)(in->end - value));
        const bool anew = end && end - value > 2 && value[0] == '=' && value[1] != '=' &&
                          !scan_text_find_word(value, end, name);
        return anew || (end && narrows(value, end, name));
    }
    const size_t length = (size_t)(at - from);
    return length >= sizeof fills - 1 &&
           memcmp(at - (sizeof fills - 1), fills, sizeof fills - 1) == 0 &&
           !memchr(from, ')', length) && !memmem(from, length, "else", 4);
}

bool scan_version_goes_on(const struct flow *flow, const struct flow_facts *facts)
{
    const int kind = flow->now.kind;

    return facts->version > 0 &&
           (kind == '/' || kind == '%' || kind == '*' || kind == '-' || kind == '+');
}

static bool is_number(const struct flow *flow, int number)
{
    return flow->now.kind == TOKEN_NUMBER && atoi(flow->now.word.text) == number;
}

/* "name * factor", "factor * name", "name" if it is 1: of a name that is such a part of a version.
 * What follows goes no deeper. */
static bool read_product(struct flow *flow, size_t index, int factor)
{
    const struct scan_guards *guards = flow->guards;
    const bool first = is_number(flow, factor);

    if (first) {
        scan_flow_step(flow);
        if (flow->now.kind != '*')
            return false;
        scan_flow_step(flow);
    }
    const struct scan_guard *guard = &guards->guards[flow->next];
    if (flow->now.kind != TOKEN_GUARD || guard->index != index || guard->release != 0 ||
        (flow->next + 1 < guards->count && guard[1].at == guard->at))
        return false;
    scan_flow_step(flow);
    if (!first && factor > 1) {
        if (flow->now.kind != '*')
            return false;
        scan_flow_step(flow);
        if (!is_number(flow, factor))
            return false;
        scan_flow_step(flow);
    }
    return flow->now.kind != '*' && flow->now.kind != '/' && flow->now.kind != '%';
}

/* "version - major * 1000", "version / 10 - major * 100", "major * 1000 + minor * 10". */
static bool add_part(struct flow *flow, struct flow_facts *facts, bool minus)
{
    const enum flow_part part = facts->part;
    const bool all = part == FLOW_VERSION, parentheses = flow->now.kind == '(';

    if (minus == facts->rounded ||
        (minus ? part != FLOW_VERSION && part != FLOW_TENTH : part == FLOW_MAJOR))
        return false;
    if (parentheses)
        scan_flow_step(flow);
    if (!read_product(flow, minus ? SCAN_MAJOR : SCAN_REST,
                      minus ? (all ? SCAN_THOUSAND : HUNDRED) : (all ? SCAN_MINOR : 1)))
        return false;
    if (parentheses && flow->now.kind != ')')
        return false;
    if (parentheses)
        scan_flow_step(flow);
    facts->part = !minus ? part : all ? FLOW_MILL : FLOW_REST;
    facts->rounded = false;
    return true;
}

void scan_version_divide(struct flow *flow, struct flow_facts *facts)
{
    static const struct {
        enum flow_part from;
        int operator, number;
        enum flow_part to;
    } steps[] = {
        {FLOW_VERSION, '/', SCAN_THOUSAND, FLOW_MAJOR},
        {FLOW_VERSION, '/', SCAN_MINOR, FLOW_TENTH},
        {FLOW_VERSION, '%', SCAN_THOUSAND, FLOW_MILL},
        {FLOW_VERSION, '%', HUNDRED, FLOW_MILL},
        {FLOW_TENTH, '/', HUNDRED, FLOW_MAJOR},
        {FLOW_TENTH, '%', HUNDRED, FLOW_REST},
        {FLOW_MILL, '/', SCAN_MINOR, FLOW_REST},
        {FLOW_MAJOR, '*', SCAN_THOUSAND, FLOW_VERSION},
        {FLOW_MAJOR, '*', HUNDRED, FLOW_TENTH},
        {FLOW_MAJOR, '*', SCAN_MINOR, FLOW_DIGITS},
    };

    while (scan_version_goes_on(flow, facts)) {
        const int operator= flow->now.kind;
        size_t i = 0;
        scan_flow_step(flow);
        if (operator== '-' || operator== '+') {
            if (add_part(flow, facts, operator== '-'))
                continue;
            scan_flow_guard(flow, facts->version)->why = SCAN_WHY_NUMBER;
            *facts = (struct flow_facts){0};
            return;
        }
        const int number =
            flow->now.kind == TOKEN_NUMBER ? atoi(flow->now.word.text) : scan_version_number(flow);
        while (i < sizeof steps / sizeof steps[0] &&
               (steps[i].from != facts->part ||
                steps[i].operator!= operator|| steps[i].number != number))
            i++;
        if (i == sizeof steps / sizeof steps[0]) {
            scan_flow_guard(flow, facts->version)->why = SCAN_WHY_NUMBER;
            *facts = (struct flow_facts){0};
            return;
        }
        facts->part = steps[i].to;
        facts->rounded = operator== '*';
        scan_flow_step(flow);
    }
}

size_t scan_version_least(const struct flow *flow, struct flow_list list)
{
    size_t found = 0;

    for (size_t i = list.first; i > 0; i = scan_flow_guard(flow, i)->next) {
        const struct scan_guard *guard = scan_flow_guard(flow, i);
        if (scan_guard_is_version(guard) && guard->release > 0 &&
            (found == 0 || scan_flow_guard(flow, found)->release < guard->release))
            found = i;
    }
    return found;
}

size_t scan_version_lesser(const struct flow *flow, size_t one, size_t other)
{
    if (one == 0 || other == 0)
        return 0;
    return scan_flow_guard(flow, one)->release <= scan_flow_guard(flow, other)->release ? one
                                                                                        : other;
}

size_t scan_version_rest(const struct flow *flow, struct flow_list list)
{
    size_t i = list.first;

    while (i > 0 &&
           (scan_flow_guard(flow, i)->index != SCAN_REST || scan_flow_guard(flow, i)->release <= 0))
        i = scan_flow_guard(flow, i)->next;
    return i;
}

size_t scan_version_unite(const struct flow *flow, struct flow_list list, size_t rest)
{
    const size_t own = scan_version_rest(flow, list), found = scan_version_least(flow, list);
    struct scan_guard *major = found > 0 ? scan_flow_guard(flow, found) : NULL;

    if (!major || !major->whole)
        return 0;
    if (own > 0) {
        struct scan_guard *guard = scan_flow_guard(flow, own);
        const int thousands = guard->release - guard->release % SCAN_THOUSAND;
        if (thousands > 0 && thousands != major->release)
            return 0;
        major->release = major->release + guard->release - thousands;
        major->whole = false;
        guard->whole = true;
        return 0;
    }
    if (rest > 0)
        scan_flow_guard(flow, rest)->release += major->release;
    return rest;
}

/* "version >= 12000": which release it has at least, if that is true, or if it is not. */
struct flow_facts scan_version_compare(const struct flow *flow, const struct flow_facts *version,
                                       int comparison, int number)
{
    struct scan_guard *guard = scan_flow_guard(flow, version->version);
    const struct flow_list list = {version->version, version->version};
    const enum flow_part part = version->part;
    const bool all = part == FLOW_VERSION;
    const bool major = part == FLOW_MAJOR || (all && guard->divided && number <= MOST_MAJOR);
    const bool rest = part == FLOW_REST || part == FLOW_MILL;
    const int scale = major ? SCAN_THOUSAND : all || part == FLOW_MILL ? 1 : SCAN_MINOR;
    const int least = scale == 1 ? SCAN_MINOR : 1;
    const int more = comparison == '>' || comparison == TOKEN_LESS_EQUAL ? least : 0;
    const int whole = number + more;

    if (number == 0 && all && scan_flow_is_parameter(flow, flow->now.word)) {
        guard->release = is_pair(flow) ? SCAN_PAIR_RELEASE : SCAN_ANY_RELEASE;
        return comparison == '<' || comparison == TOKEN_LESS_EQUAL
                   ? (struct flow_facts){.no = list}
                   : (struct flow_facts){.yes = list};
    }
    if (number == 0 || (major && number > MOST_MAJOR) ||
        (rest && number * scale >= SCAN_THOUSAND) || (part > FLOW_MAJOR && guard->divided)) {
        guard->why = SCAN_WHY_NUMBER;
        return (struct flow_facts){0};
    }
    guard->release = part == FLOW_DIGITS
                         ? whole / SCAN_MINOR * SCAN_THOUSAND + whole % SCAN_MINOR * SCAN_MINOR
                         : whole * scale;
    guard->compared = !rest;
    guard->whole = major;
    guard->index = rest ? SCAN_REST : guard->index;
    return comparison == '<' || comparison == TOKEN_LESS_EQUAL ? (struct flow_facts){.no = list}
                                                               : (struct flow_facts){.yes = list};
}
