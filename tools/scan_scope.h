/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Which function of a source the reader is in. Nothing is parsed: a '{' outside a function begins
 * one if "name(...)" stands before it, and the '}' that matches ends it, or one in column 0. So
 * braces that do not match, as those of macros, mislead it within one function alone.
 */
#ifndef CUSHIM_TOOLS_SCAN_SCOPE_H
#define CUSHIM_TOOLS_SCAN_SCOPE_H

#include "scan_text.h"

enum { SCOPE_FILE = 0, SCOPE_MOST_CONDITIONS = 32, SCOPE_MOST_LEAVERS = 64 };

/** A function with a body, or a macro. */
struct scan_function {
    struct scan_word name; /* empty: a lambda's */
    bool closed;           /* other files cannot call it: a macro, `static` in column 0, or in a
                              namespace without a name */
    bool macro;
    bool hidden; /* in a namespace without a name, which may not end */
    const char *from,
        *until;  /* its text with its head; a macro's, behind its name. NULL: the end */
    size_t line; /* of `from` */
};

struct scan_place {
    size_t function; /* from 1; SCOPE_FILE: none */
    size_t braces;   /* that are open in it; outside functions those of namespaces and classes */
};

struct scan_scope {
    struct scan_place now;
    struct scan_function *functions;
    size_t count;
    /* What stands before a '{', outside functions. */
    struct {
        const char *from;
        size_t line, brackets; /* that are open */
        struct scan_word name, assigned;
        bool named, closed, leaves, members; /* members: a constructor's, behind ':' */
    } head;
    size_t outer;          /* braces that are open around the function */
    size_t anonymous;      /* which of those is a namespace's without a name; 0: none */
    size_t first;          /* function behind its beginning */
    struct scan_word last; /* what was read last, if it is a word */
    char before;           /* its last character */
    struct scan_word leavers[SCOPE_MOST_LEAVERS]; /* functions that do not return */
    size_t leaver_count;
    const char *directive; /* where the one that is read ends; NULL: none */
    bool condition;        /* it is #if or such */
    struct scan_place outside;
    struct scan_place conditions[SCOPE_MOST_CONDITIONS]; /* at each #if */
    size_t depth;                                        /* of them */
};

/** A word of the code; `in` may be behind it. */
void scan_scope_word(struct scan_scope *scope, const struct scan_text *in, struct scan_word word);

/** Another character of the code, that `in` is at. */
void scan_scope_character(struct scan_scope *scope, const struct scan_text *in);

/** `in` went on: a directive may have ended. */
void scan_scope_move(struct scan_scope *scope, const struct scan_text *in);

/** The end of the function that `in` is in. */
const char *scan_scope_end(const struct scan_scope *scope, const struct scan_text *in);

#endif
