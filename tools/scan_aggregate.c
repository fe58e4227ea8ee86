/* SPDX-License-Identifier: MIT */
#include "scan_aggregate.h"

#include "known.h"
#include "scan_answer.h"
#include "scan_names.h"
#include "scan_shown.h"
#include "scan_wheel.h"

#include <stdlib.h>

enum { MOST_MEMBERS = 64, FARTHEST = 8 };

/* A member that holds an answer, and which one of its struct it is. */
struct member {
    struct scan_word type, name;
    size_t number;
};

struct aggregate {
    struct scan_guards *guards;
    struct scan_nodes nodes;
    struct member members[MOST_MEMBERS];
    size_t count;
};

static int kind_at(const struct aggregate *aggregate, size_t i)
{
    return i < aggregate->nodes.count ? aggregate->nodes.node[i].token.kind : TOKEN_END;
}

static struct scan_word word_at(const struct aggregate *aggregate, size_t i)
{
    return aggregate->nodes.node[i].token.word;
}

static size_t behind(const struct aggregate *aggregate, size_t i)
{
    const size_t match = aggregate->nodes.node[i].match;

    return match > i ? match + 1 : i + 1;
}

static bool is_answer(const struct scan_name *name)
{
    return name->function == SCOPE_FILE && name->index < SCAN_VOID && !name->called &&
           name->output == 0;
}

static bool holds_answer(const struct scan_guards *guards, struct scan_word word)
{
    const struct scan_name owner = {.word = word}, *name = NULL;

    while ((name = scan_names_next(guards, owner, name))) {
        if (is_answer(name))
            return true;
    }
    return false;
}

/* The members of a struct, from its '{' on. A statement with parentheses is a function's. */
static void read_struct(struct aggregate *aggregate, struct scan_word type, size_t open)
{
    const size_t end = aggregate->nodes.node[open].match;
    size_t number = 0;
    bool function = false;

    for (size_t i = open + 1; i < end; i = behind(aggregate, i)) {
        const int kind = kind_at(aggregate, i), next = kind_at(aggregate, i + 1);
        function |= kind == '(';
        if (kind == ';' || (kind == '{' && function))
            function = false;
        if (kind != TOKEN_WORD || function ||
            (next != ';' && next != ',' && next != '=' && next != '[' && next != '{' &&
             next != ':'))
            continue;
        number++;
        if (aggregate->count < MOST_MEMBERS &&
            holds_answer(aggregate->guards, word_at(aggregate, i)))
            aggregate->members[aggregate->count++] =
                (struct member){type, word_at(aggregate, i), number};
    }
}

/* "struct name {", "typedef struct { ... } name" */
static void find_structs(struct aggregate *aggregate)
{
    for (size_t i = 1; i + 2 < aggregate->nodes.count; i++) {
        const bool named = kind_at(aggregate, i + 1) == TOKEN_WORD;
        const size_t open = i + 1 + named;
        if (kind_at(aggregate, i) != TOKEN_WORD || kind_at(aggregate, open) != '{' ||
            !(scan_word_is(word_at(aggregate, i), "struct") ||
              scan_word_is(word_at(aggregate, i), "class")))
            continue;
        const size_t close = behind(aggregate, open);
        if (named)
            read_struct(aggregate, word_at(aggregate, i + 1), open);
        if (kind_at(aggregate, close) == TOKEN_WORD)
            read_struct(aggregate, word_at(aggregate, close), open);
    }
}

/* The list's element of a member: it is there, and not 0. Lists of a list are an array's. */
static bool sets(const struct aggregate *aggregate, size_t open, size_t number)
{
    const size_t end = aggregate->nodes.node[open].match;
    size_t i = open + 1, from = i;

    for (; i < end && number > 1; i = behind(aggregate, i)) {
        if (kind_at(aggregate, i) == '.' && i == from)
            return false; /* .name = value is read elsewhere */
        if (kind_at(aggregate, i) != ',')
            continue;
        number--;
        from = i + 1;
    }
    if (number > 1 || i >= end || kind_at(aggregate, i) == '.')
        return false;
    const bool one = kind_at(aggregate, i + 1) == ',' || i + 1 == end;
    return !one || !scan_answer_literal(word_at(aggregate, i), false);
}

/* "(type)", "(struct type)", and no head of a function or of an `if`. */
static bool is_cast(const struct aggregate *aggregate, size_t type)
{
    const size_t open = type - 1 - scan_word_is(word_at(aggregate, type - 1), "struct");

    return open > 0 && kind_at(aggregate, open) == '(' &&
           (kind_at(aggregate, open - 1) != TOKEN_WORD ||
            scan_word_is(word_at(aggregate, open - 1), "return"));
}

/* "type name = {", "type name[] = {{", "(type){", "type{": the '{'; 0: it is no list. */
static size_t find_list(const struct aggregate *aggregate, size_t type)
{
    const bool direct = kind_at(aggregate, type + 1) == '{';

    if (direct && (kind_at(aggregate, type - 1) == TOKEN_ARROW ||
                   scan_word_is(word_at(aggregate, type - 1), "struct") ||
                   scan_word_is(word_at(aggregate, type - 1), "class")))
        return 0;
    for (size_t i = type + 1; i < type + FARTHEST; i = behind(aggregate, i)) {
        const int kind = kind_at(aggregate, i);
        if (kind == '{')
            return i;
        const bool cast = kind == ')' && i == type + 1 && is_cast(aggregate, type);
        if (kind != TOKEN_WORD && kind != '[' && kind != '=' && !cast)
            break;
    }
    return 0;
}

/* Whether a list of a type, or of an array of it, gives its member a value that is not 0. */
static bool sets_in(const struct aggregate *aggregate, size_t open, size_t number)
{
    const size_t end = aggregate->nodes.node[open].match;
    bool set = false;

    if (kind_at(aggregate, open + 1) != '{')
        return sets(aggregate, open, number);
    for (size_t i = open + 1; i < end && !set; i = behind(aggregate, i))
        set = kind_at(aggregate, i) == '{' && sets(aggregate, i, number);
    return set;
}

static void find_lists(const struct aggregate *aggregate)
{
    for (size_t i = 1; i < aggregate->nodes.count; i++) {
        for (size_t k = 0; k < aggregate->count && kind_at(aggregate, i) == TOKEN_WORD; k++) {
            const struct member *member = &aggregate->members[k];
            if (scan_word_compare(word_at(aggregate, i), member->type) != 0)
                continue;
            const size_t open = find_list(aggregate, i);
            if (open > 0 && sets_in(aggregate, open, member->number))
                scan_names_find(aggregate->guards, (struct scan_name){.word = member->name,
                                                                      .index = SCAN_VOID,
                                                                      .function = SCOPE_FILE});
        }
    }
}

void scan_aggregate_find(struct scan_guards *guards)
{
    bool any = false;

    for (size_t i = 0; i < guards->name_count && !any; i++)
        any = is_answer(&guards->names[i]);
    if (!any)
        return;
    struct aggregate *aggregate = scan_grow(NULL, 0, sizeof *aggregate);
    *aggregate =
        (struct aggregate){.guards = guards, .nodes = scan_nodes_read(guards->text, false)};
    find_structs(aggregate);
    if (aggregate->count > 0)
        find_lists(aggregate);
    free(aggregate->nodes.node);
    free(aggregate);
}
