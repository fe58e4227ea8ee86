/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Which calls of a source are behind a guard: CUSHIM_HAS in the same function and before the call,
 * or the name of what holds its answer. Or the function of the call is one that only this file can
 * call, and does so behind guards.
 */
#ifndef CUSHIM_TOOLS_SCAN_GUARD_H
#define CUSHIM_TOOLS_SCAN_GUARD_H

#include "scan_scope.h"
#include "scan_source.h"

/** A question, or a word that holds its answer. */
struct scan_guard {
    const char *at;
    size_t line, function, index; /* of the entry */
    struct scan_word holder;      /* of the answer; empty: nothing */
    struct scan_word name;        /* by which it is known; empty: it is a question */
};

/** A function or a macro that has a call, where its name is. */
struct scan_mention {
    const char *at;
    size_t function;
    struct scan_word name;
    bool called; /* a '(' is behind it */
};

/** A name to look for: of what holds an answer, or of a function that has a call. */
struct scan_name {
    struct scan_word word;
    size_t index; /* of the entry; KNOWN_NONE: a function's */
};

/* The first has no names; each of the others goes a level deeper. */
enum { SCAN_READINGS = 3 };

struct scan_guards {
    struct scan_guard *guards;
    struct scan_mention *mentions;
    size_t count, mention_count;
    struct scan_name *names;
    size_t name_count;
    struct asked *asked; /* by function, entry and place */
    size_t asked_count;
    size_t steps; /* that it took to examine callers */
    bool full;    /* there were too many, or too many mentions */
};

void scan_guards_add(struct scan_guards *guards, const struct scan_guard *guard);

/** What the statement asks for decides about something else: "a = CUSHIM_HAS(...) ? f() : g()". */
void scan_guards_forget(struct scan_guards *guards, struct scan_word holder);

/** Take a word of the code, if its name is looked for. */
void scan_guards_word(struct scan_guards *guards, struct scan_word word, size_t line,
                      size_t function, bool called);

/** A function began: what stands in its head, from `head` on, is its own. */
void scan_guards_begin(struct scan_guards *guards, const char *head, size_t function);

/** All was read: find out which calls have a guard. */
void scan_guards_settle(struct scan_guards *guards, const struct scan_scope *scope,
                        struct scan_source *source);

/** Add names to look for, when all was settled. If there are more than before, the next reading
 * goes a level deeper. */
bool scan_guards_name(struct scan_guards *guards, const struct scan_scope *scope,
                      const struct scan_source *source);

void scan_guards_free(struct scan_guards *guards);

#endif
