/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the subcommands of `cushim` share with main.c: their entry points and the exit codes.
 */
#ifndef CUSHIM_TOOLS_COMMAND_H
#define CUSHIM_TOOLS_COMMAND_H

enum command_exit {
    COMMAND_OK = 0,
    COMMAND_FAILED = 1,    /* something differs or is missing, or a check or a CUDA call failed */
    COMMAND_USAGE = 2,     /* wrong options or arguments */
    COMMAND_NO_DRIVER = 3, /* no usable driver or device */
    COMMAND_SYSTEM = 4,    /* the output could not be written, or memory ran out */
    COMMAND_INPUT = 5      /* a file could not be read, or is not what it should be */
};

/* The same for the end of a --help text. */
#define COMMAND_EXIT_CODES                                                                         \
    "Exit status:\n"                                                                               \
    "  0  success\n"                                                                               \
    "  1  something differs or is missing, or a check or a CUDA call failed\n"                     \
    "  2  wrong options or arguments\n"                                                            \
    "  3  no usable driver or device\n"                                                            \
    "  4  the output could not be written, or memory ran out\n"                                    \
    "  5  a file could not be read, or is not what it should be\n"

/* Options that several subcommands have, as elements of an array of struct argp_option. */
#define COMMAND_OPTION_DRIVER                                                                      \
    {                                                                                              \
        .name = "driver", .key = 'd', .arg = "PATH",                                               \
        .doc = "Use this library exactly, instead of searching for libcuda.so.1"                   \
    }

#define COMMAND_OPTION_JSON                                                                        \
    {                                                                                              \
        .name = "json", .key = 'j', .doc = "Print JSON"                                            \
    }

/* Each gets its own arguments, argv[0] being "cushim NAME", and returns an exit code. */
int command_info(int argc, char **argv);
int command_symbols(int argc, char **argv);
int command_features(int argc, char **argv);
int command_compat(int argc, char **argv);
int command_newer(int argc, char **argv);
int command_diff(int argc, char **argv);
int command_scan(int argc, char **argv);
int command_report(int argc, char **argv);
int command_demo(int argc, char **argv);
int command_matrix(int argc, char **argv);
int command_sim(int argc, char **argv);

#endif
