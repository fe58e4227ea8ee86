/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The options of a subcommand as a table. From it come parsing, --help, the manual page and the
 * completion of all shells. Wrong use is told in one style and ends the program with COMMAND_USAGE.
 */
#ifndef CUSHIM_TOOLS_OPTIONS_H
#define CUSHIM_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/** The values of an option that may be given several times. */
struct option_list {
    const char **item;
    size_t count;
};

/** What a shell offers for a value. */
enum option_values {
    VALUES_NONE = 0,
    VALUES_FILES,
    VALUES_RELEASES,  /* of CUDA */
    VALUES_SIMULATED, /* releases that can be simulated */
    VALUES_DRIVERS,   /* releases, and branches of drivers */
    VALUES_GPUS,
    VALUES_PROFILES, /* of simulated devices */
    VALUES_FAULTS,   /* rules of the simulator */
    VALUES_ERRORS    /* codes' names */
};

/** An option. Exactly one of the pointers is set: what it writes decides what the option takes. Or
 * flag and text are: a value that may be left out, as --check and --check=WHAT. */
struct option_row {
    const char *name;  /* "json". options.c has the letters: one meaning each, in all subcommands */
    bool *flag;        /* takes no value */
    const char **text; /* any text, or one of `words` */
    int *release;      /* "12.4" is 12040 */
    int *number;       /* from `low` to `high` */
    struct option_list *list; /* may be repeated; all others may not */
    bool commas;              /* a value of the list is a list too: "8.0,9.0" */
    int low, high;
    const char *words; /* "both|symbols"; NULL: any */
    const char *value; /* its name in --help: "PATH"; NULL: `words` */
    const char *doc;
    enum option_values values;
};

enum { ANY_NUMBER_OF_WORDS = 1 << 30 };

struct command {
    const char *name;
    const char *summary;  /* in the list of commands, and in the manual page's first line */
    const char *synopsis; /* of the words behind the options: "FILE|FOLDER..."; NULL: none */
    const char *doc;      /* what it does: the text of --help before the options */
    const char *notes;    /* and behind them; NULL: none */
    const char *exits;    /* its exit codes; NULL: those of command.h */
    const struct option_row *options; /* the last one has no name */
    size_t least, most;               /* words behind the options */
    const char *wanted;               /* what is said if there are fewer: "no program given" */
    const char *hint;                 /* what is added if there are more; NULL: nothing */
    bool program;                     /* the first word begins a program's own command line */
    enum option_values values;        /* of the words */

    /**
     * @param title  "cushim NAME", which begins each message
     * @param words  behind the options; ends with NULL
     * @return an exit code
     */
    int (*run)(const char *title, char **words);
};

/**
 * Write the options where the table says, and run the command.
 *
 * @param argv  its own arguments, argv[0] being anything
 * @return its exit code
 */
int options_run(const struct command *command, int argc, char **argv);

/** Say what is wrong with the options of the command that runs, and exit with COMMAND_USAGE. */
__attribute__((format(printf, 1, 2))) _Noreturn void options_refuse(const char *format, ...);

/** Add the values of a text with commas, of which nothing is copied. Want of memory is fatal. */
void option_list_add(struct option_list *list, char *text, bool commas);

/** An option's letter; 0 where it has none. */
int option_letter(const char *name);

#endif
