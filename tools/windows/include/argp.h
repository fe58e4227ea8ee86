/* SPDX-License-Identifier: MIT */
/* What the command uses of GNU's argp, for systems without it. */
#ifndef CUSHIM_WINDOWS_ARGP_H
#define CUSHIM_WINDOWS_ARGP_H

#include <errno.h>
#include <stdio.h>

typedef int error_t;

enum { OPTION_ARG_OPTIONAL = 1, OPTION_HIDDEN = 2, ARGP_IN_ORDER = 8 };
enum { ARGP_ERR_UNKNOWN = E2BIG, ARGP_HELP_STD_HELP = 1 };
enum {
    ARGP_KEY_ARG = 0,
    ARGP_KEY_ARGS = 0x1000006,
    ARGP_KEY_END = 0x1000001,
    ARGP_KEY_NO_ARGS = 0x1000002,
    ARGP_KEY_INIT = 0x1000003,
    ARGP_KEY_HELP_PRE_DOC = 0x2000001
};

struct argp_option {
    const char *name;
    int key; /* the letter, if it is one */
    const char *arg;
    int flags;
    const char *doc;
};

struct argp_state;

struct argp {
    const struct argp_option *options; /* the last one is all zero */
    error_t (*parser)(int key, char *argument, struct argp_state *state);
    const char *args_doc, *doc;
    char *(*help_filter)(int key, const char *text, void *input);
};

struct argp_state {
    const struct argp *root_argp;
    int argc;
    char **argv;
    int next;
    void *input;
};

extern int argp_err_exit_status;
extern void (*argp_program_version_hook)(FILE *stream, struct argp_state *state);

error_t argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags, int *index,
                   void *input);
void argp_state_help(const struct argp_state *state, FILE *stream, unsigned flags);
__attribute__((format(gnu_printf, 2, 3))) void argp_error(const struct argp_state *state,
                                                          const char *format, ...);

#endif
