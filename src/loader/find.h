/* SPDX-License-Identifier: MIT */
/* Finds and opens the first driver that will do. */
#ifndef CUSHIM_LOADER_FIND_H
#define CUSHIM_LOADER_FIND_H

#include "loader/lookup.h"

struct cushim_find {
    enum cushim_status status;
    struct cushim_dylib library; /* open if the status is CUSHIM_OK */
    struct cushim_lookup
        lookup;    /* in that library; its version is the driver's, 0 if there is none */
    char *message; /* why there is none */
    struct cushim_attempt attempts[CUSHIM_MAX_ATTEMPTS];
    size_t attempt_count;
};

/* `find` is all zero before, and stays where it is. */
void cushim_find(struct cushim_find *find, const struct cushim_options *options);

void cushim_find_close(struct cushim_find *find, bool unload);

/* Pass a line to the caller's log, if there is one. */
void cushim_find_log(const struct cushim_options *options, enum cushim_log_level level,
                     const char *line);

#endif
