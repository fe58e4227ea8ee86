/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The runs of `cushim matrix`: one for each release and driver asked for, and each without an
 * entry.
 */
#ifndef CUSHIM_TOOLS_MATRIX_LIST_H
#define CUSHIM_TOOLS_MATRIX_LIST_H

#include "matrix.h"
#include "options.h"

struct matrix_list {
    struct matrix_case *item; /* from malloc */
    size_t count;
};

/** Add the releases of a text with commas, in its order; NULL: all, the newest first. Returns an
 * exit code, after saying what is wrong. */
int matrix_list_releases(struct matrix_list *list, const char *asked);

/** Add drivers by path, and by branch or version, which are simulated. Returns an exit code. */
int matrix_list_drivers(struct matrix_list *list, const struct option_list *paths);

/** The release of "10.2", or of a driver's branch or version; 0: neither. */
int matrix_list_floor(const char *word);

/** For matrix_run: `user` is a struct matrix_used. */
void matrix_list_note(void *user, const char *symbol);

/** The run of the newest simulated release. */
size_t matrix_list_newest(const struct matrix_list *list);

/** Add the run `newest` again without each of the entries that came later than the release `floor`.
 */
void matrix_list_missing(struct matrix_list *list, size_t newest, const struct matrix_used *used,
                         int floor);

/** Add the run `newest` again for each of the entries that do something and release nothing, and
 * each of its first `most` calls there, which fails. */
void matrix_list_faults(struct matrix_list *list, size_t newest, const struct matrix_used *used,
                        int most);

#endif
