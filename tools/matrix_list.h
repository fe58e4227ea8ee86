/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The runs of `cushim matrix`: one for each release and driver asked for, without driver or device,
 * and one for each call that is made to fail.
 */
#ifndef CUSHIM_TOOLS_MATRIX_LIST_H
#define CUSHIM_TOOLS_MATRIX_LIST_H

#include "matrix.h"
#include "options.h"

struct matrix_list {
    struct matrix_case *item; /* from malloc */
    size_t count;
};

/** Add the releases of a text with commas, in its order: "11.4", "11.4-12.4", "11.4+"; NULL: all,
 * the newest first, that know the profile, if one is given. Returns an exit code, after saying what
 * is wrong. */
int matrix_list_releases(struct matrix_list *list, const char *asked, const char *profile);

/** Mark the runs of the releases of such a text: the program must work there. Returns an exit code.
 */
int matrix_list_works(struct matrix_list *list, const char *asked);

/** Add drivers by path, and by branch or version, which are simulated. Returns an exit code. */
int matrix_list_drivers(struct matrix_list *list, const struct option_list *paths);

/** Add a run without a driver, and one under the newest release without a device; if the others
 * have several, another one with a single device. `devices` is a number; NULL: one. */
bool matrix_list_without(struct matrix_list *list, const char *devices);

/** The run of the newest simulated release. */
size_t matrix_list_newest(const struct matrix_list *list);

/** Add runs of the oldest and of the newest release that the program passes, again for each of the
 * entries that do something and release nothing, and each of its first `most` calls, which fails.
 * `used` has what each run called. With `late` also both with the rules `late` and `reorder`; if
 * none passes, and nothing tells why, the newest release. */
void matrix_list_faults(struct matrix_list *list, const struct matrix_used *used, int most,
                        bool late);

/** Leave out the runs of --fault-each that pass, and in which the call that was to fail was not
 * made: how often a program polls differs from run to run. Of MATRIX_LATE and
 * MATRIX_REORDER, too, if they tell nothing new, such as the same under an older release. */
void matrix_list_tried(struct matrix_list *list);

/** Of the runs in which calls fail under one release, put those of one result together, the worst
 * last. */
void matrix_list_sort(struct matrix_list *list);

#endif
