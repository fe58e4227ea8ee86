/* SPDX-License-Identifier: MIT */
#include "options.h"

#include "command.h"
#include "facts_file.h"
#include "names.h"
#include "output.h"
#ifdef HAVE_SIM
#include "core/config.h"
#endif

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPTIONS = 24, FIRST_KEY = 256, TITLE_SIZE = 64 };

/* An option without a letter is rare, or its letter has another meaning. */
static const struct {
    char letter;
    const char *name;
} letters[] = {
    {'A', "audit"},   {'c', "cuda"},    {'D', "device"},  {'d', "driver"}, {'e', "entries"},
    {'f', "fault"},   {'g', "gpus"},    {'i', "init"},    {'j', "json"},   {'k', "check"},
    {'L', "log"},     {'l', "level"},   {'m', "missing"}, {'n', "name"},   {'o', "order"},
    {'p', "profile"}, {'q', "quiet"},   {'r', "drivers"}, {'s', "since"},  {'t', "timeout"},
    {'w', "html"},    {'x', "explain"},
};

int option_letter(const char *name)
{
    for (size_t i = 0; name && i < sizeof letters / sizeof letters[0]; i++) {
        if (strcmp(letters[i].name, name) == 0)
            return letters[i].letter;
    }
    return 0;
}

/* For argp: the letter, or a number that is none. */
static int option_key(const struct command *command, size_t row)
{
    int letter = option_letter(command->options[row].name);

    return letter ? letter : FIRST_KEY + (int)row;
}

/* Of the subcommand that runs. */
static char title[TITLE_SIZE];

struct parsing {
    const struct command *command;
    bool given[MOST_OPTIONS];
    char **words;
};

void options_refuse(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    fflush(stdout);
    fprintf(stderr, "%s: ", title);
    vfprintf(stderr, format, values); /* NOLINT(clang-analyzer-valist.Uninitialized) */
    va_end(values);
    fprintf(stderr, "\nTry `%s --help' or `%s --usage' for more information.\n", title, title);
    exit(COMMAND_USAGE);
}

void option_list_add(struct option_list *list, char *text, bool commas)
{
    char *next = text;

    while (next) {
        char *comma = commas ? strchr(next, ',') : NULL;
        const char **more = realloc(list->item, (list->count + 1) * sizeof *more);
        if (!more)
            output_no_memory();
        if (comma)
            *comma++ = '\0';
        list->item = more;
        list->item[list->count++] = next;
        next = comma;
    }
}

/* Whether a text is one of "both|symbols". */
static bool is_word(const char *words, const char *text)
{
    size_t length = strlen(text);

    for (const char *word = words; word; word = strchr(word, '|')) {
        word += *word == '|';
        if (strncmp(word, text, length) == 0 && (word[length] == '|' || word[length] == '\0'))
            return length > 0;
    }
    return false;
}

static int read_number(const struct option_row *row, const char *text)
{
    char *end;
    long value;

    errno = 0;
    value = strtol(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0 && value >= row->low && value <= row->high)
        return (int)value;
    if (row->high == INT_MAX)
        options_refuse("--%s: '%s' is no number from %d on", row->name, text, row->low);
    options_refuse("--%s: '%s' is no number from %d to %d", row->name, text, row->low, row->high);
}

static void take(const struct option_row *row, char *text)
{
    if (row->flag)
        *row->flag = true;
    if (row->flag && !text)
        return;
    if (row->text) {
        if (row->words && !is_word(row->words, text))
            options_refuse("--%s: '%s' is none of %s", row->name, text, row->words);
        *row->text = text;
    } else if (row->release) {
        *row->release = version_parse(text);
        if (*row->release == 0)
            options_refuse("--%s: '%s' is no CUDA release such as 12.4", row->name, text);
    } else if (row->number) {
        *row->number = read_number(row, text);
    } else {
        if (*text == '\0')
            options_refuse("--%s: the value is empty", row->name);
        option_list_add(row->list, text, row->commas);
    }
}

static void check_words(const struct command *command, char **words, int count)
{
    if ((size_t)count < command->least)
        options_refuse("%s", command->wanted);
    if (command->most == 0 && count > 0)
        options_refuse("no argument expected, but there is '%s'%s", words[0],
                       command->hint ? command->hint : "");
    if ((size_t)count > command->most)
        options_refuse("no more than %zu expected, but there is also '%s'", command->most,
                       words[command->most]);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct parsing *parsing = state->input;
    const struct option_row *row;

    switch (key) {
    case ARGP_KEY_INIT:
        parsing->words = state->argv + state->argc;
        return 0;
    case ARGP_KEY_ARGS:
        parsing->words = state->argv + state->next;
        return 0;
    case ARGP_KEY_END:
        check_words(parsing->command, parsing->words,
                    (int)(state->argv + state->argc - parsing->words));
        return 0;
    case 'h':
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        return 0;
    default:
        break;
    }
    for (size_t i = 0; (row = &parsing->command->options[i])->name; i++) {
        if (key != option_key(parsing->command, i))
            continue;
        /* Which one would count? A flag, said twice, is the same. */
        if (parsing->given[i] && !row->flag && !row->list)
            options_refuse("--%s is given twice", row->name);
        parsing->given[i] = true;
        take(row, argument);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

/* With the names of all simulated devices, in that option alone that takes one. */
static const char *option_doc(const struct option_row *row)
{
#ifdef HAVE_SIM
    static char text[512];
    int length;

    if (row->values != VALUES_PROFILES)
        return row->doc;
    length = snprintf(text, sizeof text, "%s", row->doc);
    for (size_t i = 0; sim_profile_all[i].name && (size_t)length < sizeof text; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%s%s", i ? ", " : ": ",
                           sim_profile_all[i].name);
    return text;
#else
    return row->doc;
#endif
}

/* The table as argp has it, with -h, which argp leaves to others. */
static void translate(const struct command *command, struct argp_option *to)
{
    const struct option_row *row;

    for (size_t i = 0; (row = &command->options[i])->name; i++) {
        *to++ = (struct argp_option){.name = row->name,
                                     .key = option_key(command, i),
                                     .arg = row->value ? row->value : row->words,
                                     .flags = row->flag && row->text ? OPTION_ARG_OPTIONAL : 0,
                                     .doc = option_doc(row)};
    }
    *to++ = (struct argp_option){.name = NULL, .key = 'h', .flags = OPTION_HIDDEN, .doc = ""};
    *to = (struct argp_option){0};
}

int options_run(const struct command *command, int argc, char **argv)
{
    struct argp_option rows[MOST_OPTIONS + 2];
    struct parsing parsing = {.command = command};
    struct argp parser = {.options = rows, .parser = parse, .args_doc = command->synopsis};
    char *doc = NULL;

    snprintf(title, sizeof title, "cushim %s", command->name);
    argv[0] = title;
    translate(command, rows);
    if (asprintf(&doc, "%s\v%s%s", command->doc, command->notes ? command->notes : "",
                 command->exits ? command->exits : COMMAND_EXIT_CODES) < 0)
        output_no_memory();
    parser.doc = doc;
    if (argp_parse(&parser, argc, argv, command->program ? ARGP_IN_ORDER : 0, NULL, &parsing) != 0)
        options_refuse("the options cannot be read");
    free(doc);
    if (!facts_file_read_all(title))
        return COMMAND_INPUT;
    return command->run(title, parsing.words);
}
