/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Which calls of a source are behind a guard: a CUSHIM_HAS that decides whether they run, or the
 * name of what holds its answer. Or the function of the call is one that only this file can call,
 * and does so behind guards.
 */
#ifndef CUSHIM_TOOLS_SCAN_GUARD_H
#define CUSHIM_TOOLS_SCAN_GUARD_H

#include "scan_paste.h"
#include "scan_scope.h"
#include "scan_source.h"

/* Indexes that are no entry's: the driver's version, and a name with another value, too. */
#define SCAN_VERSION ((size_t)CUSHIM_ENTRY_COUNT)
#define SCAN_VOID ((size_t)CUSHIM_ENTRY_COUNT + 1)
/* The driver's version / 1000, a parameter of the macro or function that asks, and a device's
 * attribute, which is no guard. */
#define SCAN_MAJOR ((size_t)CUSHIM_ENTRY_COUNT + 2)
#define SCAN_PARAMETER ((size_t)CUSHIM_ENTRY_COUNT + 3)
#define SCAN_ATTRIBUTE ((size_t)CUSHIM_ENTRY_COUNT + 4)
/* The driver's version % 1000 / 10, which tells a release only together with the version / 1000. */
#define SCAN_REST ((size_t)CUSHIM_ENTRY_COUNT + 5)
/* Of other files: a function that does not return, a name of a release, and what compares with the
 * error of a missing entry. */
#define SCAN_LEAVER ((size_t)CUSHIM_ENTRY_COUNT + 6)
#define SCAN_CONSTANT ((size_t)CUSHIM_ENTRY_COUNT + 7)
#define SCAN_MISSING ((size_t)CUSHIM_ENTRY_COUNT + 8)
/* A function that calls an entry without a guard, and how others call it: scan_callers.h. */
#define SCAN_CALLEE ((size_t)CUSHIM_ENTRY_COUNT + 9)
#define SCAN_REACHED ((size_t)CUSHIM_ENTRY_COUNT + 10)
/* A macro that makes an entry's name of the parameter `release`, or of none the entry -release. */
#define SCAN_PASTED ((size_t)CUSHIM_ENTRY_COUNT + 11)
/* What makes a release of its major and minor number. */
#define SCAN_MAKER ((size_t)CUSHIM_ENTRY_COUNT + 12)
/* The release that a parameter is, and the one that two are: major * 1000 + minor * 10. */
#define SCAN_ANY_RELEASE (-1)
#define SCAN_PAIR_RELEASE (-2)

/** A question, or a word that holds its answer. */
struct scan_guard {
    const char *at;
    size_t line, function, index; /* of the entry; SCAN_VERSION */
    int release;                  /* that the version is at least; 0: it is not compared */
    bool compared;                /* with it here, or it is an argument here */
    bool whole; /* of the version / 1000; of a SCAN_REST: it is within the release of such a one */
    struct scan_word name; /* by which it is known; empty: it is a question */
    const char *head;      /* of a question outside functions: where its declaration begins */
    bool negated;          /* the name holds the contrary */
    bool joined;  /* by && or ||: its contrary is not certain where the condition is false */
    bool answers; /* the name is a function's, or the question is what its macro answers */
    bool asks;    /* the name is a macro's that asks, and is no answer itself */
    bool asserts; /* or leaves if it does not hold */
    struct scan_word parameter; /* SCAN_PARAMETER: it */
    bool comment;               /* it counts for all behind it */
    bool filled;  /* it asks nothing: the name of a handle, and what a helper of cushim's returns */
    bool divided; /* the name is that of a version that is also one / 1000 */
    /* By scan_flow: it holds from `at` to `until`, and from `from` to `end`; NULL: nowhere. */
    const char *until, *from, *end;
    const char *contrary, *contrary_end; /* between them its contrary holds */
    enum scan_why contrary_why, why;     /* elsewhere: why */
    size_t why_line;
    size_t next; /* in a list of scan_flow */
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
    size_t index;    /* of the entry; SCAN_VERSION, SCAN_VOID; KNOWN_NONE: a function's */
    size_t function; /* that has the name; SCOPE_FILE: all */
    int release;
    bool negated, joined, filled, divided;
    size_t output;     /* the value is that of what the function `word` fills, from 1; 0: its own */
    bool called;       /* a function's, that answers if it is called */
    bool asks;         /* a macro's that asks for its parameter, and is no answer itself */
    bool uses, covers; /* and uses it, behind that alone */
    bool asserts;      /* a macro's that leaves if it does not hold */
    const char *origin; /* where it gets the value */
};

/** Where in a `switch` a guard holds. */
struct scan_case {
    size_t guard, function;
    int release;
    const char *from, *until;
};

/** The body of a lambda in a function with guards. */
struct scan_lambda {
    struct scan_word name; /* of the function's variable that it is assigned to; empty: none */
    size_t function;
    const char *from, *until;
};

/* The first has no names; each of the others goes a level deeper. */
enum { SCAN_READINGS = 4, SCAN_MOST_FILLED = 16 };

struct scan_guards {
    struct scan_text text;
    const struct option_list *defines;
    struct scan_case *cases;
    size_t case_count;
    struct scan_lambda *lambdas;
    size_t lambda_count;
    struct scan_pastes pastes;
    struct scan_guard *guards; /* in the order of the text */
    struct scan_mention *mentions;
    size_t count, mention_count;
    struct scan_name *names, *found; /* found: by this reading */
    size_t name_count, found_count;
    const struct scan_name *seeds; /* of other files, in the order of their words */
    size_t seed_count;
    const char *filled[SCAN_MOST_FILLED]; /* names that calls fill, where they stand: the last */
    size_t filled_count;
    struct asked *held, *asked; /* where guards hold, and where they are */
    size_t held_count, asked_count;
    int releases[128]; /* that a version may be of; none: no version is asked for */
    size_t release_count;
    size_t steps; /* that it took to examine callers */
    size_t work;  /* of scan_flow */
    bool full;    /* there were too many, or too many mentions */
};

bool scan_guard_is_version(const struct scan_guard *guard);

void scan_guards_add(struct scan_guards *guards, const struct scan_guard *guard);

/** A function began: what stands in its head, from `head` on, is its own. */
void scan_guards_begin(struct scan_guards *guards, const char *head, size_t function);

/** All was read: find out which calls have a guard. */
void scan_guards_settle(struct scan_guards *guards, const struct scan_scope *scope,
                        const struct scan_text *text, struct scan_source *source);

/** The first mention of a name, and whether an entry is asked for before a place in a function. */
size_t scan_guards_mention(const struct scan_guards *guards, struct scan_word name);
bool scan_guards_asked(struct scan_guards *guards, const struct scan_scope *scope, size_t function,
                       size_t index, const char *place);

void scan_guards_free(struct scan_guards *guards);

#endif
