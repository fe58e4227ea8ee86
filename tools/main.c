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
};

static char title[] = "cushim";
static char info_title[] = "cushim info";
static char symbols_title[] = "cushim symbols";
static char demo_title[] = "cushim demo";
#ifdef HAVE_SIM
static char sim_title[] = "cushim sim";
#endif

static const struct command commands[] = {
    {"info", info_title, command_info},
    {"symbols", symbols_title, command_symbols},
    {"demo", demo_title, command_demo},
#ifdef HAVE_SIM
    {"sim", sim_title, command_sim},
#endif
};

#ifdef HAVE_SIM
#define COMMANDS "info, symbols, demo and sim"
#else
#define COMMANDS "info, symbols and demo; sim needs a build with -Dsim=true"
#endif

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

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_ARG:
        arguments->command = find_command(argument);
        if (arguments->command == NULL)
            argp_error(state, "no command '%s'; there are " COMMANDS "", argument);
        /* What follows belongs to the command. */
        arguments->argc = state->argc - state->next + 1;
        arguments->argv = state->argv + state->next - 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no command given; there are " COMMANDS "");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {
    .parser = parse_option,
    .args_doc = "COMMAND [OPTION...]",
    .doc = "Find, probe and compare CUDA drivers, without linking to one.\n"
           "\n"
           "Commands:\n"
           "  info     which driver a program here gets, and why that one\n"
           "  symbols  every entry of the CUDA driver API: is it there, where, and why not\n"
           "  demo     run kernels and check what they computed\n"
#ifdef HAVE_SIM
           "  sim      run a program under a simulated driver\n"
#endif
           "\n"
           "'cushim COMMAND --help' lists a command's options."
           "\v"
           "Environment:\n"
           "  CUSHIM_LIBCUDA  library to use exactly, instead of searching\n"
           "  NO_COLOR        no colours, where it is set and not empty\n"
           "\n" COMMAND_EXIT_CODES,
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
