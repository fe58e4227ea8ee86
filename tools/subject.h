/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A release, or a driver's file: which entries it has. Files are read and never loaded.
 */
#ifndef CUSHIM_TOOLS_SUBJECT_H
#define CUSHIM_TOOLS_SUBJECT_H

#include "facts.h"
#include "known.h"

#include <cushim/cushim.h>

enum { SUBJECT_TEXT_SIZE = 512 };

struct subject {
    char text[SUBJECT_TEXT_SIZE]; /* what it is, for people: "CUDA 12.4", or a path */
    const char *path;             /* of a driver's file; NULL for a release */
    enum known_platform platform; /* of the file; for a release this program's own */
    int release; /* that it is of. A driver's file: the newest of the entries that it exports */
    char version[FACTS_DRIVER_SIZE]; /* of a Linux driver; "" for others */
    int branch; /* of a driver: 535; of a release the first driver's; 0: not known */
    bool newer; /* than all that this build knows: `release` is the newest known one */
    bool has[CUSHIM_ENTRY_COUNT];
    char **unknown; /* exported symbols that look like the driver's and are not in the registry */
    size_t unknown_count;
};

/**
 * Read what a word names: a release ("12.4"), a Linux driver's version ("550.163.01"), the last one
 * of a branch ("550") or the path of a driver's library.
 *
 * @param command  begins the sentence on stderr, on failure
 * @return an exit code: COMMAND_OK, COMMAND_USAGE, COMMAND_INPUT
 */
int subject_read(struct subject *subject, const char *word, const char *command);

/** The same for a path alone. */
int subject_read_file(struct subject *subject, const char *path, const char *command);

/** Give a release the entries that it has on a platform. */
void subject_on(struct subject *subject, enum known_platform platform);

/** The newest ABI of a name that it has; (size_t)-1 for none. */
size_t subject_newest(const struct subject *subject, const char *name, enum cushim_stream stream);

void subject_release(struct subject *subject);

#endif
