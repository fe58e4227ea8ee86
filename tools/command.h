/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the subcommands of `cushim` share with main.c: their tables and the exit codes.
 */
#ifndef CUSHIM_TOOLS_COMMAND_H
#define CUSHIM_TOOLS_COMMAND_H

#include "options.h"

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

/* Options that several subcommands have, as elements of an array of struct option_row. */
#define COMMAND_OPTION_DRIVER(target)                                                              \
    {                                                                                              \
        .name = "driver", .text = &(target), .value = "PATH", .values = VALUES_FILES,              \
        .doc = "Use this library exactly, instead of searching for libcuda.so.1"                   \
    }

#define COMMAND_OPTION_JSON(target)                                                                \
    {                                                                                              \
        .name = "json", .flag = &(target), .doc = "Print JSON"                                     \
    }

extern const struct command command_info, command_symbols, command_features, command_compat,
    command_scan, command_newer, command_diff, command_explain, command_doctor, command_report,
    command_demo, command_matrix, command_measure, command_sim;

/** All that this build has; ends with NULL. */
extern const struct command *const command_all[];

/** NULL where there is none of this name. */
const struct command *command_find(const char *name);

#endif
