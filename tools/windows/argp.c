/* SPDX-License-Identifier: MIT */
#include <argp.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DOC_COLUMN = 29, LINE = 79, KEY_HELP = -1, KEY_USAGE = -2 };

int argp_err_exit_status = 64;
void (*argp_program_version_hook)(FILE *stream, struct argp_state *state);

/* Those that each program has. */
static const struct argp_option standard[] = {
    {"help", '?', NULL, 0, "Give this help list"},
    {"usage", KEY_USAGE, NULL, 0, "Give a short usage message"},
    {"version", 'V', NULL, 0, "Print program version"},
    {0},
};

static bool is_last(const struct argp_option *option)
{
    return !option->name && option->key == 0;
}

/* ---- help */

/* Words of a text from a column on; further lines begin in `indent`. */
static void print_words(FILE *stream, const char *text, int column, int indent)
{
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");
        if (column > indent && column + length + 1 > LINE) {
            fprintf(stream, "\n%*s", indent, "");
            column = indent;
        }
        fprintf(stream, "%s%.*s", column > indent ? " " : "", length, text);
        column += length + (column > indent);
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', stream);
}

static void print_option(FILE *stream, const struct argp_option *option)
{
    const char *value = option->arg ? option->arg : "", *equals = option->arg ? "=" : "";
    const char *open = option->flags & OPTION_ARG_OPTIONAL ? "[" : "";
    int column;

    if (option->flags & OPTION_HIDDEN)
        return;
    column = option->key > ' ' && option->key < 127 ? fprintf(stream, "  -%c, ", option->key)
                                                    : fprintf(stream, "%6s", "");
    column += fprintf(stream, "--%s%s%s%s%s", option->name, open, equals, value, *open ? "]" : "");
    if (column + 2 > DOC_COLUMN)
        column = fprintf(stream, "\n") - 1;
    fprintf(stream, "%*s", DOC_COLUMN - column, "");
    print_words(stream, option->doc, DOC_COLUMN, DOC_COLUMN);
}

static void print_usage(const struct argp_state *state, FILE *stream)
{
    const char *words = state->root_argp->args_doc;
    fprintf(stream, "Usage: %s [OPTION...]%s%s\n", state->argv[0], words ? " " : "",
            words ? words : "");
}

void argp_state_help(const struct argp_state *state, FILE *stream, unsigned flags)
{
    const struct argp *argp = state->root_argp;
    const char *doc = argp->doc ? argp->doc : "", *after = strchr(doc, '\v');
    size_t length = after ? (size_t)(after - doc) : strlen(doc);
    char *before = calloc(1, length + 1);

    (void)flags;
    print_usage(state, stream);
    if (before) {
        memcpy(before, doc, length);
        fprintf(stream, "%s\n\n",
                argp->help_filter ? argp->help_filter(ARGP_KEY_HELP_PRE_DOC, before, NULL)
                                  : before);
    }
    for (const struct argp_option *option = argp->options; !is_last(option); option++)
        print_option(stream, option);
    for (const struct argp_option *option = standard; option->name; option++)
        print_option(stream, option);
    if (after)
        fprintf(stream, "\n%s%s", after + 1, after[strlen(after) - 1] == '\n' ? "" : "\n");
    free(before);
    exit(0);
}

static void try_help(const char *program)
{
    fprintf(stderr, "Try `%s --help' or `%s --usage' for more information.\n", program, program);
    exit(argp_err_exit_status);
}

void argp_error(const struct argp_state *state, const char *format, ...)
{
    va_list values;

    fprintf(stderr, "%s: ", state->argv[0]);
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
    try_help(state->argv[0]);
}

/* ---- parsing */

static const struct argp_option *find_letter(const struct argp_option *option, char letter)
{
    for (; !is_last(option); option++) {
        if (option->key == letter)
            return option;
    }
    return NULL;
}

/* The one of a name or of its beginning; counts those that begin so, a whole name alone. */
static const struct argp_option *find_name(const struct argp_option *option, const char *text,
                                           size_t length, int *count)
{
    const struct argp_option *found = NULL;

    for (; !is_last(option); option++) {
        if (!option->name || strncmp(option->name, text, length) != 0)
            continue;
        if (option->name[length] == '\0') {
            *count = 1;
            return option;
        }
        found = option;
        ++*count;
    }
    return found;
}

static void take(struct argp_state *state, const struct argp_option *option, char *value)
{
    if (option >= standard && option < standard + sizeof standard / sizeof *standard) {
        if (option->key == '?')
            argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        if (option->key == KEY_USAGE)
            print_usage(state, stdout);
        else
            argp_program_version_hook(stdout, state);
        exit(0);
    }
    state->root_argp->parser(option->key, value, state);
}

/* The value of an option that needs one and has none in its own word. */
static char *next_value(struct argp_state *state, const struct argp_option *option)
{
    if (!option->arg || (option->flags & OPTION_ARG_OPTIONAL))
        return NULL;
    if (state->next == state->argc)
        argp_error(state, "option requires an argument -- '%s'", option->name);
    return state->argv[state->next++];
}

static void read_name(struct argp_state *state, char *text)
{
    size_t length = strcspn(text, "=");
    char *value = text[length] == '=' ? text + length + 1 : NULL;
    int count = 0;
    const struct argp_option *option = find_name(state->root_argp->options, text, length, &count);

    if (count != 1) {
        int more = 0;
        const struct argp_option *own = find_name(standard, text, length, &more);
        option = more == 1 && (count == 0 || own->name[length] == '\0') ? own : option;
        count = option == own ? more : count + more;
    }
    if (count == 0)
        argp_error(state, "unrecognized option '--%s'", text);
    if (count > 1)
        argp_error(state, "option '--%s' is ambiguous", text);
    if (value && !option->arg)
        argp_error(state, "option '--%s' doesn't allow an argument", option->name);
    take(state, option, value ? value : next_value(state, option));
}

static void read_letters(struct argp_state *state, char *text)
{
    for (; *text != '\0'; text++) {
        const struct argp_option *option = find_letter(state->root_argp->options, *text);
        if (!option)
            option = find_letter(standard, *text);
        if (!option)
            argp_error(state, "invalid option -- '%c'", *text);
        if (option->arg && text[1] != '\0') {
            take(state, option, text + 1);
            return;
        }
        take(state, option, next_value(state, option));
    }
}

static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0';
}

/* Words go behind the options, whose values stay with them. */
static void permute(const struct argp *argp, int argc, char **argv)
{
    char **words = calloc((size_t)argc + 1, sizeof *words);
    int kept = 1, count = 0;

    for (int i = 1; words && i < argc; i++) {
        const struct argp_option *option = NULL;
        int many = 0;
        bool whole = strncmp(argv[i], "--", 2) == 0;
        if (strcmp(argv[i], "--") == 0) {
            argv[kept++] = argv[i];
            while (++i < argc)
                words[count++] = argv[i];
            break;
        }
        if (!is_option(argv[i])) {
            words[count++] = argv[i];
            continue;
        }
        argv[kept++] = argv[i];
        if (whole && !strchr(argv[i], '='))
            option = find_name(argp->options, argv[i] + 2, strlen(argv[i] + 2), &many);
        for (char *letter = argv[i] + 1; !whole && *letter != '\0' && !option; letter++) {
            const struct argp_option *found = find_letter(argp->options, *letter);
            if (found && found->arg && letter[1] != '\0')
                break;
            option = found && found->arg ? found : NULL;
        }
        if (option && option->arg && !(option->flags & OPTION_ARG_OPTIONAL) && i + 1 < argc)
            argv[kept++] = argv[++i];
    }
    if (words)
        memcpy(argv + kept, words, (size_t)count * sizeof *words);
    free(words);
}

error_t argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags, int *index,
                   void *input)
{
    struct argp_state state = {argp, argc, argv, 1, input};
    bool words = false, rest = false;

    (void)index;
    if (!(flags & ARGP_IN_ORDER))
        permute(argp, argc, argv);
    argp->parser(ARGP_KEY_INIT, NULL, &state);
    while (state.next < state.argc) {
        char *word = argv[state.next++];
        if (!rest && strcmp(word, "--") == 0) {
            rest = true;
            continue;
        }
        if (!rest && is_option(word)) {
            if (word[1] == '-')
                read_name(&state, word + 2);
            else
                read_letters(&state, word + 1);
            continue;
        }
        words = true;
        if (argp->parser(ARGP_KEY_ARG, word, &state) == ARGP_ERR_UNKNOWN) {
            state.next--;
            argp->parser(ARGP_KEY_ARGS, NULL, &state);
            break;
        }
    }
    if (!words)
        argp->parser(ARGP_KEY_NO_ARGS, NULL, &state);
    argp->parser(ARGP_KEY_END, NULL, &state);
    return 0;
}
