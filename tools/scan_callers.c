/* SPDX-License-Identifier: MIT */
#include "scan_callers.h"

#include "known.h"
#include "scan_filled.h"
#include "scan_flow.h"
#include "scan_names.h"
#include "scan_owner.h"
#include "scan_wheel.h"

#include <stdlib.h>
#include <string.h>

/* How a function is called, before each call of which its entry may be asked for. */
enum reach { REACH_NONE, REACH_ALL, REACH_SOME, REACH_NEVER };

enum {
    MOST_LEVELS = 3,
    MOST_LINKS = 1 << 10,  /* of a file */
    OUTPUTS = 1 << 10,     /* behind the numbers of parameters */
    OLDEST_RELEASE = 10000 /* an entry of an older one is in each driver that people ask about */
};

static enum reach join(enum reach a, enum reach b)
{
    return a == REACH_NONE || a == b ? b : b == REACH_NONE ? a : REACH_SOME;
}

/* How other files call it. */
static enum reach reach_elsewhere(const struct scan_guards *guards, struct scan_word word,
                                  size_t index)
{
    const struct scan_name *seed = scan_names_seeded(guards, word, SCAN_REACHED);
    enum reach reach = REACH_NONE;

    for (; seed && seed < guards->seeds + guards->seed_count &&
           scan_word_compare(seed->word, word) == 0;
         seed++) {
        if (seed->index == SCAN_REACHED && seed->output == OUTPUTS + index)
            reach = join(reach, (enum reach)seed->release);
    }
    return reach;
}

static enum reach reach_here(struct scan_guards *guards, const struct scan_scope *scope,
                             struct scan_word word, size_t index, int levels);

/* "class Name", "Name::", "name(" and "name =" outside functions. */
static bool is_declaration(const struct scan_guards *guards, const struct scan_mention *mention)
{
    static const char *const types[] = {"class", "struct", "typename", NULL};
    const char *text = guards->text.text, *end = guards->text.end;
    const char *behind = scan_text_skip_spaces(mention->at + mention->name.length, end);
    const char *before = scan_text_back_over_spaces(text, mention->at), *at = before;

    while (at > text && scan_text_is_letter(at[-1]))
        at--;
    if (scan_word_is_one_of((struct scan_word){at, (size_t)(before - at)}, types) ||
        (end - behind > 1 && behind[0] == ':' && behind[1] == ':'))
        return true;
    return mention->function == SCOPE_FILE &&
           (mention->called || (behind < end && memchr("=[;", *behind, 3)));
}

static enum reach reach_of(struct scan_guards *guards, const struct scan_scope *scope,
                           const struct scan_mention *mention, size_t index, int levels)
{
    if (++guards->work > FLOW_MOST_WORK)
        return REACH_NEVER;
    if (is_declaration(guards, mention))
        return REACH_NONE;
    if (mention->function == SCOPE_FILE)
        return REACH_NEVER; /* in a list */
    const struct scan_function *function = &scope->functions[mention->function - 1];
    if (scan_word_compare(function->name, mention->name) == 0)
        return REACH_NONE; /* its own head, or it calls itself */
    if (scan_guards_asked(guards, scope, mention->function, index, mention->at))
        return REACH_ALL;
    if (function->closed || levels == 0 ||
        (!scan_names_seeded(guards, function->name, SCAN_CALLEE) &&
         !scan_names_seeded(guards, function->name, SCAN_REACHED)))
        return REACH_NEVER;
    const enum reach reach = join(reach_elsewhere(guards, function->name, index),
                                  reach_here(guards, scope, function->name, index, levels - 1));
    return reach == REACH_NONE ? REACH_NEVER : reach;
}

/* How the file itself calls it. */
static enum reach reach_here(struct scan_guards *guards, const struct scan_scope *scope,
                             struct scan_word word, size_t index, int levels)
{
    enum reach reach = REACH_NONE;

    for (size_t i = scan_guards_mention(guards, word);
         i < guards->mention_count && scan_word_compare(guards->mentions[i].name, word) == 0; i++)
        reach = join(reach, reach_of(guards, scope, &guards->mentions[i], index, levels));
    return reach;
}

static bool is_called_asked(struct scan_guards *guards, const struct scan_scope *scope,
                            const struct scan_lambda *lambda, size_t index)
{
    const char *end = scope->functions[lambda->function - 1].until, *at = lambda->until;
    size_t calls = 0;

    end = end ? end : guards->text.end;
    guards->work += (size_t)(end - at);
    const char *next = scan_text_skip_spaces(at, end);
    if (next == end || *next != ';' || /* an argument of what may call it */
        scan_filled_parameter(scope, &guards->text, lambda->function, lambda->name, '\0') > 0)
        return false;
    for (; (at = scan_text_find_word(at, end, lambda->name)); at++, calls++) {
        const char *behind = scan_text_skip_spaces(at + lambda->name.length, end);
        if (behind == end || *behind != '(' ||
            !scan_guards_asked(guards, scope, lambda->function, index, at))
            return false;
    }
    return calls > 0;
}

bool scan_callers_of_lambda(struct scan_guards *guards, const struct scan_scope *scope,
                            const struct scan_source_call *call)
{
    for (size_t i = 0; i < guards->lambda_count && guards->work < FLOW_MOST_WORK; i++) {
        const struct scan_lambda *lambda = &guards->lambdas[i];
        guards->work++;
        if (lambda->function == call->function && lambda->name.length > 0 &&
            call->at > lambda->from && call->at < lambda->until &&
            is_called_asked(guards, scope, lambda, call->index))
            return true;
    }
    return false;
}

/* A function that other files can call. */
static bool is_open(const struct scan_scope *scope, size_t function, bool header)
{
    if (function == SCOPE_FILE)
        return false;
    const struct scan_function *of = &scope->functions[function - 1];
    return of->name.length > 0 && !of->macro && (!of->closed || header) &&
           !scan_word_is(of->name, "main");
}

/* The names by which a function is reached: its own, its class, and a list that has it. */
enum { OWNER_NAME, OWNER_CLASS, OWNER_TABLE, OWNERS };

struct owners {
    struct scan_word words[OWNERS];
};

static struct owners find_owners(struct scan_guards *guards, const struct scan_scope *scope,
                                 size_t function, bool header)
{
    struct owners owners = {{{"", 0}}};

    if (is_open(scope, function, header))
        owners.words[OWNER_NAME] = scope->functions[function - 1].name;
    if (!scope->functions[function - 1].macro) {
        owners.words[OWNER_CLASS] = scan_owner_class(guards, scope, function);
        owners.words[OWNER_TABLE] = scan_owner_table(guards, scope, function);
    }
    return owners;
}

static struct scan_name *add(struct scan_name *names, size_t *count, struct scan_name name)
{
    for (size_t i = 0; i < *count; i++) {
        if (names[i].index == name.index && names[i].output == name.output &&
            scan_word_compare(names[i].word, name.word) == 0)
            return names;
    }
    if (*count == MOST_LINKS)
        return names;
    names = scan_grow(names, *count, sizeof *names);
    names[(*count)++] = name;
    return names;
}

struct scan_name *scan_callers_list(struct scan_guards *guards, const struct scan_scope *scope,
                                    const struct scan_source *source, bool header, size_t *count)
{
    struct scan_name *names = NULL;

    *count = 0;
    for (size_t i = 0; i < source->count; i++) {
        const struct scan_source_call *call = &source->calls[i];
        if (call->has || known_entry(call->index).since < OLDEST_RELEASE ||
            call->function == SCOPE_FILE)
            continue;
        struct scan_name callee = {.index = SCAN_CALLEE, .output = OUTPUTS + call->index};
        struct owners owners = find_owners(guards, scope, call->function, header);
        for (size_t k = 0; k < OWNERS; k++) {
            callee.word = owners.words[k];
            if (callee.word.length > 0)
                names = add(names, count, callee);
        }
    }
    for (size_t i = 0; i < guards->seed_count; i++) {
        const struct scan_name *seed = &guards->seeds[i];
        const size_t index = seed->output - OUTPUTS;
        struct scan_name reached = *seed;
        if (seed->index != SCAN_CALLEE)
            continue;
        for (size_t k = scan_guards_mention(guards, seed->word);
             k < guards->mention_count &&
             scan_word_compare(guards->mentions[k].name, seed->word) == 0;
             k++) {
            const struct scan_mention *mention = &guards->mentions[k];
            if (is_open(scope, mention->function, header) &&
                reach_of(guards, scope, mention, index, 0) == REACH_NEVER)
                names = add(names, count,
                            (struct scan_name){.word = scope->functions[mention->function - 1].name,
                                               .index = SCAN_CALLEE,
                                               .output = seed->output});
        }
        reached.index = SCAN_REACHED;
        reached.release = (int)reach_here(guards, scope, seed->word, index, MOST_LEVELS);
        if (reached.release != REACH_NONE)
            names = add(names, count, reached);
    }
    return names;
}

/* The line of the first call in this file of a function before all of whose calls here the entry is
 * asked for; 0: there is none. */
static size_t find_asked_call(struct scan_guards *guards, const struct scan_scope *scope,
                              size_t function, size_t index)
{
    const struct scan_word name = scope->functions[function - 1].name;
    size_t i = scan_guards_mention(guards, name), line = 1;

    if (name.length == 0 || guards->full || guards->work > FLOW_MOST_WORK ||
        reach_here(guards, scope, name, index, 0) != REACH_ALL)
        return 0;
    while (is_declaration(guards, &guards->mentions[i]) || guards->mentions[i].function == function)
        i++;
    if (!guards->mentions[i].called) /* a variable has this name, too */
        return 0;
    guards->work += (size_t)(guards->mentions[i].at - guards->text.text);
    for (const char *at = guards->text.text; at < guards->mentions[i].at; at++)
        line += *at == '\n';
    return line;
}

void scan_callers_apply(struct scan_guards *guards, const struct scan_scope *scope,
                        struct scan_source *source)
{
    for (size_t i = 0; i < source->count; i++) {
        struct scan_source_call *call = &source->calls[i];
        enum reach reach[OWNERS] = {REACH_NONE};
        bool some = false;
        if (call->has || call->function == SCOPE_FILE)
            continue;
        struct owners owners = {{{"", 0}}};
        if (guards->seed_count > 0)
            owners = find_owners(guards, scope, call->function, true);
        for (size_t k = 0; k < OWNERS; k++) {
            reach[k] = reach_elsewhere(guards, owners.words[k], call->index);
            if (reach[k] != REACH_NONE)
                reach[k] = join(
                    reach[k], reach_here(guards, scope, owners.words[k], call->index, MOST_LEVELS));
            some |= reach[k] == REACH_ALL || reach[k] == REACH_SOME;
        }
        call->has = reach[OWNER_CLASS] == REACH_ALL ||
                    (reach[OWNER_NAME] == REACH_ALL && owners.words[OWNER_TABLE].length == 0) ||
                    (reach[OWNER_TABLE] == REACH_ALL && reach[OWNER_NAME] == REACH_NONE);
        if (call->has || call->asked > 0)
            continue;
        call->asked =
            some ? call->line : find_asked_call(guards, scope, call->function, call->index);
        call->why = some ? SCAN_WHY_CALLERS : SCAN_WHY_ELSEWHERE;
    }
}
