/* SPDX-License-Identifier: MIT */
/*
 * The command `cushim`: finds the subcommand and makes sure that what it printed has arrived.
 */
#include "command.h"
#include "complete.h"
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

const struct command *const command_all[] = {
    &command_info,
    &command_symbols,
    &command_features,
    &command_compat,
#ifdef HAVE_ELF
    &command_scan,
    &command_newer,
    &command_diff,
#endif
    &command_explain,
#ifndef _WIN32
    &command_doctor,
    &command_measure,
#endif
    &command_report,
#ifndef _WIN32
    &command_demo,
#endif
#ifdef HAVE_SIM
    &command_matrix,
    &command_sim,
#endif
    NULL,
};

struct arguments {
    const struct command *command;
    int argc; /* the command's own, argv[0] being its name */
    char **argv;
};

const struct command *command_find(const char *name)
{
    for (size_t i = 0; command_all[i]; i++) {
        if (strcmp(command_all[i]->name, name) == 0)
            return command_all[i];
    }
    return NULL;
}

/* The names of all commands, as a sentence lists them. */
static const char *command_names(void)
{
    static char names[320];
    size_t length = 0;

    for (size_t i = 0; command_all[i] && length < sizeof names; i++) {
        const char *before = i == 0 ? "" : command_all[i + 1] ? ", " : " and ";
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", before,
                                   command_all[i]->name);
    }
#if !defined(HAVE_SIM) && !defined(_WIN32)
    if (length < sizeof names)
        snprintf(names + length, sizeof names - length,
                 "; sim and matrix need a build with -Dsim=true");
#endif
    return names;
}

static char title[] = "cushim";

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'h':
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        return 0;
    case ARGP_KEY_ARG:
        arguments->command = command_find(argument);
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
    char *list = NULL, *more;

    (void)input;
    if (key != ARGP_KEY_HELP_PRE_DOC || asprintf(&list, "%s\n\nCommands:\n", text) < 0)
        return (char *)text;
    for (size_t i = 0; command_all[i]; i++) {
        const char *end =
            command_all[i + 1] ? "" : "\n'cushim COMMAND --help' lists a command's options.";
        if (asprintf(&more, "%s  %-8s  %s\n%s", list, command_all[i]->name, command_all[i]->summary,
                     end) < 0)
            return list;
        free(list);
        list = more;
    }
    return list;
}

/* argp itself has -? alone. */
static const struct argp_option own_options[] = {{.key = 'h', .flags = OPTION_HIDDEN}, {0}};

static const struct argp parser = {
    .options = own_options,
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
#ifndef _WIN32
    static const int flags[] = {O_WRONLY, O_RDONLY, O_RDONLY};

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags[fd]) != fd)
            _exit(COMMAND_SYSTEM);
    }
#endif
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

#ifdef _WIN32
    windows_begin(&argc, &argv);
#endif
    open_standard_descriptors();
    if (atexit(close_output) != 0)
        return COMMAND_SYSTEM;

    if (argc > 1 && strcmp(argv[1], "--complete") == 0) /* asked by tools/completion */
        return complete(argc - 2, argv + 2);
    if (argc > 0)
        argv[0] = title;
    argp_err_exit_status = COMMAND_USAGE;
    argp_program_version_hook = print_version;
    if (argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &arguments) != 0)
        return COMMAND_USAGE;

    return options_run(arguments.command, arguments.argc, arguments.argv);
}
