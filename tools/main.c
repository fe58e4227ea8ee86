/* SPDX-License-Identifier: MIT */
/*
 * The command `cushim`: finds the subcommand and makes sure that what it printed has arrived.
 */
#include "command.h"
#include "names.h"
#include "output.h"

#include <cushim/cushim.h>

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct command {
    const char *name;
    char *title; /* with the program's name: what its own messages begin with */
    int (*run)(int argc, char **argv);
    const char *summary; /* in --help, and in the manual page's first line */
};

static char title[] = "cushim";
static char info_title[] = "cushim info";
static char symbols_title[] = "cushim symbols";
static char features_title[] = "cushim features";
static char compat_title[] = "cushim compat";
#ifdef HAVE_ELF
static char scan_title[] = "cushim scan";
static char newer_title[] = "cushim newer";
static char diff_title[] = "cushim diff";
#endif
static char report_title[] = "cushim report";
static char demo_title[] = "cushim demo";
#ifdef HAVE_SIM
static char matrix_title[] = "cushim matrix";
static char sim_title[] = "cushim sim";
#endif

static const struct command commands[] = {
    {"info", info_title, command_info, "which driver a program here gets, and why that one"},
    {"symbols", symbols_title, command_symbols,
     "every entry of the CUDA driver API, and why it is missing"},
    {"features", features_title, command_features, "what the driver, and a device, can do"},
    {"compat", compat_title, command_compat, "which driver runs which toolkit's programs"},
#ifdef HAVE_ELF
    {"scan", scan_title, command_scan, "what programs need of the driver, and of a GPU"},
    {"newer", newer_title, command_newer, "what a driver exports that this build does not know"},
    {"diff", diff_title, command_diff, "what two drivers or releases differ in"},
#endif
    {"report", report_title, command_report,
     "a page of every entry and feature, against releases and drivers"},
    {"demo", demo_title, command_demo, "run kernels and check what they computed"},
#ifdef HAVE_SIM
    {"matrix", matrix_title, command_matrix,
     "run a program under many drivers, simulated and real"},
    {"sim", sim_title, command_sim, "run a program under a simulated driver"},
#endif
};

struct arguments {
    const struct command *command;
    int argc; /* the command's own, argv[0] being its name */
    char **argv;
};

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    }
    return NULL;
}

/* The names of all commands, as a sentence lists them. */
static const char *command_names(void)
{
    static char names[320];
    const size_t count = sizeof commands / sizeof commands[0];
    size_t length = 0;

    for (size_t i = 0; i < count && length < sizeof names; i++) {
        const char *before = i == 0 ? "" : i + 1 < count ? ", " : " and ";
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", before,
                                   commands[i].name);
    }
#ifndef HAVE_SIM
    if (length < sizeof names)
        snprintf(names + length, sizeof names - length,
                 "; sim and matrix need a build with -Dsim=true");
#endif
    return names;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_ARG:
        arguments->command = find_command(argument);
        if (!arguments->command)
            argp_error(state, "no command '%s'; there are %s", argument, command_names());
        /* What follows belongs to the command. */
        arguments->argc = state->argc - state->next + 1;
        arguments->argv = state->argv + state->next - 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no command given; there are %s", command_names());
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The text before the options ends with the list of commands. */
static char *filter_help(int key, const char *text, void *input)
{
    char *list = NULL;
    size_t size;

    (void)input;
    if (key != ARGP_KEY_HELP_PRE_DOC)
        return (char *)text;
    FILE *stream = open_memstream(&list, &size);
    if (!stream)
        return (char *)text;
    fprintf(stream, "%s\n\nCommands:\n", text);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        fprintf(stream, "  %-8s  %s\n", commands[i].name, commands[i].summary);
    fputs("\n'cushim COMMAND --help' lists a command's options.", stream);
    return fclose(stream) == 0 ? list : (char *)text;
}

static const struct argp parser = {
    .parser = parse_option,
    .args_doc = "COMMAND [OPTION...]",
    .doc = "Find, probe and compare CUDA drivers, without linking to one."
           "\v"
           "Environment:\n"
           "  CUSHIM_LIBCUDA  library to use exactly, instead of searching\n"
           "  NO_COLOR        no colours, if it is set and not empty\n"
           "\n" COMMAND_EXIT_CODES,
    .help_filter = filter_help,
};

static void print_version(FILE *stream, struct argp_state *state)
{
    char text[VERSION_TEXT_SIZE];

    (void)state;
    version_text(text, cushim_registry_version());
    fprintf(stream, "cushim %s (knows CUDA up to %s)\n", CUSHIM_VERSION_TEXT, text);
}

/*
 * A file that the driver opens must not become stdout. A descriptor that was closed gets one on
 * which writing fails, so that the failure is noticed.
 */
static void open_standard_descriptors(void)
{
    static const int flags[] = {O_WRONLY, O_RDONLY, O_RDONLY};

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags[fd]) != fd)
            _exit(COMMAND_SYSTEM);
    }
}

/* At exit, argp's own exits included. */
static void close_output(void)
{
    int failed = ferror(stdout);

    errno = 0;
    if (fclose(stdout) != 0 || failed) {
        fprintf(stderr, "cushim: the output could not be written: %s\n",
                errno != 0 ? strerror(errno) : "write error");
        _exit(COMMAND_SYSTEM);
    }
}

int main(int argc, char **argv)
{
    struct arguments arguments = {NULL, 0, NULL};

    open_standard_descriptors();
    if (atexit(close_output) != 0)
        return COMMAND_SYSTEM;

    if (argc > 0)
        argv[0] = title;
    argp_err_exit_status = COMMAND_USAGE;
    argp_program_version_hook = print_version;
    if (argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &arguments) != 0)
        return COMMAND_USAGE;

    arguments.argv[0] = arguments.command->title;
    return arguments.command->run(arguments.argc, arguments.argv);
}
