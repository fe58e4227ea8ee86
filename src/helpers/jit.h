/* SPDX-License-Identifier: MIT */
/* Options of the driver's compiler and linker, and their logs; internal to the library. */
#ifndef CUSHIM_HELPERS_JIT_H
#define CUSHIM_HELPERS_JIT_H

#include <cushim/module.h>

enum { CUSHIM_JIT_MOST_OPTIONS = 24, CUSHIM_JIT_MOST_EXTRA = 64 };

/* The driver's arrays for one compilation. Stays where it is while the driver may write into it. */
struct cushim_jit {
    const struct cushim_api *cu;
    const char *helper;
    struct cushim_jit_options wanted;
    struct cushim_jit_result *result; /* the caller's; NULL: none */
    CUjit_option options[CUSHIM_JIT_MOST_OPTIONS + CUSHIM_JIT_MOST_EXTRA];
    void *values[CUSHIM_JIT_MOST_OPTIONS + CUSHIM_JIT_MOST_EXTRA];
    unsigned count, wall_at;
    char *error_log, *info_log;
    float wall_ms;
};

/* Read the caller's options and make room for the logs. To be ended also if it fails. */
CUresult cushim_jit_begin(struct cushim_jit *jit, const struct cushim_api *cu, const char *helper,
                          const struct cushim_jit_options *options,
                          struct cushim_jit_result *result);

/* Fill the arrays: logs and wall time, and with `compiling` all that has to do with code. */
void cushim_jit_arrange(struct cushim_jit *jit, bool compiling, bool in_context);

/* Note what the driver wrote into the arrays. */
void cushim_jit_note(struct cushim_jit *jit);

/* The sentence for a call that failed on an image. `what` is the argument's name and more. */
CUresult cushim_jit_check(struct cushim_jit *jit, CUresult code, const char *call, const char *what,
                          const struct cushim_image *image);

/* Hand the logs over to the result, or free them. Passes the code on. */
CUresult cushim_jit_end(struct cushim_jit *jit, CUresult code);

#endif
