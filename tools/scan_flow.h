/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Where in a function its guards hold: statements are read as C reads them, and what is not known
 * guards nothing. docs/scan.md has the rule. scan_condition.c reads what is between statements.
 */
#ifndef CUSHIM_TOOLS_SCAN_FLOW_H
#define CUSHIM_TOOLS_SCAN_FLOW_H

#include "scan_guard.h"
#include "scan_token.h"

enum {
    TOKEN_GUARD = 512,
    FLOW_MOST_DEPTH = 400,  /* of what is in one another */
    FLOW_MOST_LABELS = 256, /* of a function, and as many goto */
    FLOW_MOST_VALUES = 1024,
    FLOW_MOST_WORK = 1 << 25, /* for what takes more than a step for each byte */
    FLOW_LAST = -1,           /* part of a group */
    FLOW_FIRST = -2           /* of those between commas */
};

/* Guards, by their numbers from 1, each linked to the next. */
struct flow_list {
    size_t first, last;
};

/* What an expression is of the driver's version: all, / 1000, / 10, % 1000, % 1000 / 10, and 112 of
 * 11020. */
enum flow_part { FLOW_VERSION, FLOW_MAJOR, FLOW_TENTH, FLOW_MILL, FLOW_REST, FLOW_DIGITS };

/* What is known if an expression is true, and if it is not. */
struct flow_facts {
    struct flow_list yes, no;
    size_t version; /* the guard that the expression is, if it is the driver's version */
    enum flow_part part;
    bool rounded; /* of which the version % 1000 is not added yet */
};

/* What a `return` gives its value to. */
struct flow_owner {
    struct scan_word name;
    size_t function; /* of the name */
    size_t first;    /* name that was found in it */
    size_t answers;
    bool no, yes; /* another value may be false, or true */
    bool whole;   /* of the function itself */
    bool once;    /* called where it ends: the name is that of the value */
};

/* What a value may be, of its first and last token. */
struct scan_value {
    bool yes, no;
};

/* A value without facts: of a name, or of a `return`. */
struct flow_value {
    struct scan_name name;
    const char *at;
    bool returned, held; /* held: a guard holds there */
    struct scan_value value;
};

/* The labels of a switch. */
struct flow_switch {
    struct flow_facts facts; /* of its value */
    struct flow_switch *outer;
    const char *at, *from; /* from: behind the last label; NULL: none was seen */
    size_t depth;
    bool yes, no;          /* a label of it was seen */
    bool all, other;       /* `default` was, and what goes on behind the switch where it is not 0 */
    struct flow_list list; /* what holds behind the last labels */
    int release;
};

/* A place that is reached from others: from `low` and `high`, and from none that lies outside. */
struct flow_cut {
    const char *at, *low, *high;
    bool condition; /* #else or #endif */
};

struct flow_label {
    struct scan_word name;
    const char *at;
};

/* What the statement before assigned, and where the `if` behind it begins with that name. */
struct flow_fresh {
    struct scan_word name;
    struct flow_facts facts;
    const char *at;
};

struct flow {
    struct scan_tokens tokens;
    struct scan_token now, last, earlier;
    struct scan_guards *guards;
    const struct scan_scope *scope;
    size_t function, first, next; /* next: guard that no token was compared with */
    const char *passed;           /* end of `last` */
    size_t conditions;            /* #if that were open there */
    size_t depth, blocks, changes, statements;
    bool macro, lost;
    struct flow_fresh fresh;
    struct flow_owner *owner;
    struct scan_word target; /* that is assigned to */
    size_t target_function;
    struct flow_switch *choice;
    bool reached; /* the place is, from the statement before it */
    struct flow_cut *cuts;
    size_t cut_count;
    struct flow_label *labels, *gotos;
    size_t label_count, goto_count;
    struct flow_value *values;
    size_t value_count;
};

/**
 * Find out where the guards of a text hold, and which names hold their answers.
 *
 * @param function  as scan_scope counts; SCOPE_FILE: a declaration outside functions
 * @param first     the first guard that may be in the text
 */
void scan_flow_read(struct scan_guards *guards, const struct scan_scope *scope, size_t function,
                    struct scan_text text, size_t first);

void scan_flow_step(struct flow *flow);

/** Go into what may be within itself; false if that is too deep. `depth` counts. */
bool scan_flow_enter(struct flow *flow);

/** Read what is between braces, from behind the first to behind the last. True: what follows is not
 * reached. */
bool scan_flow_block(struct flow *flow, bool whole);

/** What was assigned is not that any more. */
void scan_flow_forget(struct flow *flow);

/** The character behind the token. */
char scan_flow_peek(const struct flow *flow);

void scan_flow_cut(struct flow *flow, struct flow_cut cut);

bool scan_flow_is_statement(const struct scan_token *token);

/** Whether a type is before the '*' before the last token: "type *name". */
bool scan_flow_is_declarator(const struct flow *flow);

struct scan_guard *scan_flow_guard(const struct flow *flow, size_t number);
void scan_flow_join(const struct flow *flow, struct flow_list *list, struct flow_list more);

/** Whether the function or macro that is read has such a parameter. */
bool scan_flow_is_parameter(const struct flow *flow, struct scan_word word);

/** They hold up to here: what is between a guard and the end of what it decides runs only then. */
void scan_flow_hold(const struct flow *flow, struct flow_list list);

/** They hold from there to here. */
void scan_flow_hold_from(const struct flow *flow, struct flow_list list, const char *from);

/** From there to here the contrary of them holds. */
void scan_flow_hold_not(const struct flow *flow, struct flow_list list, const char *from,
                        enum scan_why why);

/** Nothing else is known of them. */
void scan_flow_drop(const struct flow *flow, struct flow_list list, enum scan_why why);
void scan_flow_drop_facts(const struct flow *flow, struct flow_facts *facts);

#endif
