/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Whether a program runs with a driver on a GPU. docs/verdicts.md has each rule in words.
 */
#ifndef CUSHIM_TOOLS_VERDICT_H
#define CUSHIM_TOOLS_VERDICT_H

#include "scan_file.h"
#include "subject.h"

/** From good to bad. Only the last one is certain to be an error. */
enum verdict_answer { VERDICT_RUNS = 0, VERDICT_LIMITS, VERDICT_UNKNOWN, VERDICT_FAILS };

enum { VERDICT_TEXT_SIZE = 320 };

struct verdict {
    enum verdict_answer answer;
    int code;                       /* that CUDA returns: 35, 209; 0: none */
    const char *rule;               /* its name on the page; static */
    char reason[VERDICT_TEXT_SIZE]; /* with the sentence that the user sees */
    char fix[VERDICT_TEXT_SIZE];    /* empty: there is none */
    int needs;               /* the release from which on the fix is a driver; 0: it is none */
    int rank;                /* of the rule in their order: the lower one decides */
    size_t fatbins, running; /* on that GPU, with that driver */
};

/**
 * @param driver      NULL: any that is new enough
 * @param capability  90 is 9.0; 0: any GPU that the driver has
 */
struct verdict verdict_of(const struct scan_file *file, const struct subject *driver,
                          int capability);

/**
 * The verdict on all: the worst, and then that of the first rule, with a fix for all that fail.
 *
 * @param count  at least 1
 * @return which of them decides
 */
size_t verdict_worst(const struct verdict *all, size_t count, struct verdict *worst);

/** The command that runs a program under each release: "cushim matrix -- ./program". */
void verdict_run(char text[VERDICT_TEXT_SIZE], const struct scan_file *file);

/** "runs", "limits", "unknown", "fails". */
const char *verdict_name(enum verdict_answer answer);

/** Whether it says that a file's device code does not run: of the file, not of what it is part of.
 */
bool verdict_is_of_code(const struct verdict *verdict);

/** Whether an entry must be there, and the program does not start without it. */
bool verdict_requires(const struct scan_file *file, size_t index);

/** Whether an entry is looked up at its first call, which ends the program if it is not there. */
bool verdict_calls(const struct scan_file *file, size_t index);

/** Whether the program looks an entry up by its symbol, and may or may not do without it. */
bool verdict_may_need(const struct scan_file *file, size_t index);

/** Whether the program may use an entry, and starts without it. */
bool verdict_may_use(const struct scan_file *file, size_t index);

/**
 * The ABI that headers of later releases call by an entry's name, if the program looks up the first
 * one's symbol alone.
 *
 * @param since  the release that it came with; 0: the latest one
 * @return KNOWN_NONE: there is none
 */
size_t verdict_later_abi(const struct scan_file *file, size_t index, int since);

/** Whether a driver has an entry, or none of its platform has. */
bool verdict_driver_has(const struct scan_file *file, const struct subject *driver, size_t index);

#endif
