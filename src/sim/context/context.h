/* SPDX-License-Identifier: MIT */
/* The beginning and end of contexts. core/core.h has what they are. */
#ifndef CUSHIM_SIM_CONTEXT_CONTEXT_H
#define CUSHIM_SIM_CONTEXT_CONTEXT_H

#include <stdio.h>

#include "graph/graph.h"

/* --- context_create.c --- */
bool sim_context_create_flags_valid(unsigned flags);

/* --- coredump.c --- */
extern struct sim_dumps sim_coredump_process;

/* --- green.c --- */
CUgreenCtx sim_green_of(const struct sim_context *context); /* NULL: the context is a whole one */

/* --- kinds.c --- */
const char *sim_kinds_name(enum sim_kind kind);  /* of SIM_KIND_COUNT: memory */
void sim_kinds_end(struct sim_context *context); /* all that the context owns */

/* --- life.c --- */
CUresult sim_life_begin(struct sim_device *device, unsigned flags, bool primary,
                        struct sim_context **context);
void sim_life_end(struct sim_context *context); /* with all that it owns */
/* The end of all that the context owns; a primary one can be opened again. */
CUresult sim_life_open(struct sim_context *context, unsigned flags);
void sim_life_close(struct sim_context *context);

/* --- limit.c --- */
void sim_limit_reset(struct sim_context *context);

/* --- live.c --- Live objects, counted as a user thinks of them. */
/* Objects and memory of the program. */
struct sim_count {
    size_t objects[SIM_KIND_COUNT + 1]; /* of each kind, and blocks of memory */
    size_t bytes;
    const char *origins[SIM_KIND_COUNT + 1]; /* of the first of each; NULL: not known */
};

bool sim_live_counts(enum sim_kind kind); /* whether there are such objects of the program */
/* What is alive now, and with it what the ends of contexts took. */
struct sim_count sim_live_count(bool with_taken);
extern struct sim_count sim_live_taken;                /* that alone */
void sim_live_take(const struct sim_context *context); /* it ends now */
bool sim_live_is_empty(const struct sim_count *count);
/* A line for each kind: prefix, number and kind, suffix. */
void sim_live_print(const struct sim_count *count, FILE *file, const char *prefix,
                    const char *suffix);
/* A JSON object: {"stream": 1, "memory": {"blocks": 2, "bytes": 8192}}. */
void sim_live_json(const struct sim_count *count, FILE *file);

/* --- peer.c --- */
void sim_peer_forget(struct sim_context *context);

#endif
