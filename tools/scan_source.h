/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The calls through cushim's table that the text of a C or C++ source has. It is read as text:
 * without macros, and without what decides whether a call is reached.
 */
#ifndef CUSHIM_TOOLS_SCAN_SOURCE_H
#define CUSHIM_TOOLS_SCAN_SOURCE_H

#include "options.h"

#include <stdbool.h>
#include <stddef.h>

/** Why a guard does not count for a call. */
enum scan_why {
    SCAN_WHY_FORM,      /* it is in none of the forms that are known */
    SCAN_WHY_ELSEWHERE, /* it is in another function */
    SCAN_WHY_OR,
    SCAN_WHY_AND, /* and it is inverted */
    SCAN_WHY_INVERTED,
    SCAN_WHY_ELSE,
    SCAN_WHY_ENDED,
    SCAN_WHY_JUMP,
    SCAN_WHY_SWITCH,
    SCAN_WHY_MACRO,
    SCAN_WHY_ARGUMENT,
    SCAN_WHY_LAMBDA,
    SCAN_WHY_NUMBER,
    SCAN_WHY_FOREIGN,
    SCAN_WHY_ATTRIBUTE,
    SCAN_WHY_RESULT,
    SCAN_WHY_TABLE,
    SCAN_WHY_FALLBACK,
    SCAN_WHY_CALLERS /* some of the function's callers ask */
};

struct scan_source_call {
    size_t line, index; /* of the entry */
    bool alone;         /* cuName, and no table before it: a call if a source names cushim */
    bool has;           /* it is behind a guard */
    size_t asked;       /* else the line of one that does not count; 0: none */
    enum scan_why why;  /* it does not */
    size_t why_line;    /* where its branch ends */
    bool certain;       /* and it leads here without the entry */
    size_t late;        /* else the line of one behind it; 0: none */
    size_t old;         /* else the line of one that is too old, and its release; 0: none */
    int old_release;
    size_t compared; /* the line that asks whether its slot is NULL, which it never is; 0: none */
    size_t odd;      /* the line that compares the version with less than any release; 0: none */
    size_t function; /* as scan_scope counts */
    const char *at;  /* where it is in the text, while that is there */
    /* The cushim_require that is of it, and one that does not count; by scan_sources_judge. */
    const struct scan_source_require *require, *lost;
};

/** Why a cushim_require does not count. */
enum scan_require {
    SCAN_REQUIRE_COUNTS,
    SCAN_REQUIRE_UNUSED,
    SCAN_REQUIRE_INVERTED,
    SCAN_REQUIRE_STAYS, /* nothing shows that the program leaves */
    SCAN_REQUIRE_DEAD   /* nothing calls the function that it is in */
};

/** A cushim_require. */
struct scan_source_require {
    enum scan_require use;
    size_t line;
    int release; /* 0: none */
    size_t *entries, count;
    size_t function;  /* as scan_scope counts */
    char *caller;     /* its name, which another file has to have; NULL: none has to */
    bool program;     /* it is in main() */
    bool checked;     /* what takes the result leaves: it counts for its own function, too */
    const char *at;   /* where it is in the text, while that is there */
    const char *file; /* by scan_sources_judge */
};

struct scan_source {
    char *name;
    struct scan_source_call *calls;
    size_t count;
    struct scan_source_require *requirements;
    size_t require_count;
    size_t main;     /* line of its main(); 0: none */
    bool has_cushim; /* it names cushim */
    bool includes_cushim;
    bool own;   /* it is cushim itself */
    bool named; /* by the user, not found in a folder */
    int level;  /* the release that plain names mean */
};

struct scan_shared;

/** A text, and which one of all. */
struct scan_source_text {
    const char *text;
    size_t size, file;
    bool header; /* other files have its text, too */
};

/**
 * @param defines  "NAME=VALUE", of the compiler's command line; NULL: none
 * @param shared   what other files tell, and takes what this one tells
 */
struct scan_source scan_source_read(const struct scan_source_text *in,
                                    const struct option_list *defines, struct scan_shared *shared);

void scan_source_free(struct scan_source *source);

#endif
