/* SPDX-License-Identifier: MIT */
/* Live objects, counted as a user thinks of them. */
#ifndef CUSHIM_SIM_CONTEXT_LIVE_H
#define CUSHIM_SIM_CONTEXT_LIVE_H

#include <stdio.h>

#include "core/object.h"

struct sim_context;

/* Objects and memory of the program. */
struct sim_count {
    size_t objects[SIM_KIND_COUNT];
    size_t blocks, bytes;
};

/* Objects of the kind that the program made and must destroy: not those that come and go with
 * others (functions with modules, the streams that every context has). */
size_t sim_live(enum sim_kind kind);
/* What is alive now. */
void sim_live_count(struct sim_count *count);
/* Remember what the end of a context takes with it: for sim_live_taken. */
void sim_live_take(const struct sim_context *context);
void sim_live_taken(struct sim_count *count);
bool sim_live_is_empty(const struct sim_count *count);
/* A line for each kind: prefix, number and kind, suffix. */
void sim_live_print(const struct sim_count *count, FILE *file, const char *prefix,
                    const char *suffix);
/* A JSON object: {"stream": 1, "memory": {"blocks": 2, "bytes": 8192}}. */
void sim_live_json(const struct sim_count *count, FILE *file);

#endif
