/* SPDX-License-Identifier: MIT */
#include "complete.h"

#include "command.h"
#include "facts_file.h"
#include "names.h"
#ifdef HAVE_SIM
#include "sim_library.h"

#include "core/config.h"
#endif

#include <cushim/compat.h>

#include <stdio.h>
#include <string.h>

/* A word that is being typed: all before `begin` stays as it is. */
struct typed {
    const char *word;
    size_t begin;
};

static void offer(const struct typed *typed, const char *candidate, const char *description)
{
    const char *rest = typed->word + typed->begin;

    if (strncmp(candidate, rest, strlen(rest)) != 0)
        return;
    printf("%.*s%s", (int)typed->begin, typed->word, candidate);
    if (description)
        printf("\t%s", description);
    putchar('\n');
}

static void offer_version(const struct typed *typed, int release)
{
    char text[VERSION_TEXT_SIZE];

    offer(typed, version_text(text, release), NULL);
}

static void offer_releases(const struct typed *typed)
{
    struct cushim_toolkit toolkit = {.size = sizeof toolkit};
    int last = 0;

    for (size_t i = 0; facts_toolkit_at(i, &toolkit); i++) {
        if (toolkit.release != last)
            offer_version(typed, toolkit.release);
        last = toolkit.release;
    }
}

static void offer_simulated(const struct typed *typed)
{
#ifdef HAVE_SIM
    int versions[256], count = sim_versions(versions, 256);

    for (int i = 0; i < count; i++)
        offer_version(typed, versions[i]);
#else
    (void)typed;
#endif
}

static void offer_profiles(const struct typed *typed)
{
#ifdef HAVE_SIM
    for (size_t i = 0; sim_profile_all[i].name; i++)
        offer(typed, sim_profile_all[i].name, sim_profile_all[i].device_name);
#else
    (void)typed;
#endif
}

static void offer_faults(const struct typed *typed)
{
    struct cushim_entry entry;

    offer(typed, "out-of-memory:after=", NULL);
    offer(typed, "device-lost:device=", NULL);
    offer(typed, "missing:", NULL);
    offer(typed, "wrong-abi", NULL);
    offer(typed, "late", NULL);
    offer(typed, "reorder", NULL);
    offer(typed, "early", NULL);
    for (size_t i = 0; cushim_entry_at(i, &entry); i++)
        offer(typed, entry.symbol, NULL);
}

static void offer_gpus(const struct typed *typed)
{
    const struct facts_architecture *one;
    const struct facts_gpu *gpu;
    const char *last = "";

    for (size_t i = 0; (one = facts_architecture_at(i)); i++) {
        char text[16];
        snprintf(text, sizeof text, "%d.%d", one->capability / 10, one->capability % 10);
        offer(typed, text, one->name);
        if (!one->tegra && strcmp(last, one->name) != 0)
            offer(typed, one->name, NULL);
        last = one->name;
    }
    for (size_t i = 0; (gpu = facts_gpu_at(i)); i++)
        offer(typed, gpu->name, NULL);
}

static void offer_branches(const struct typed *typed)
{
    const struct facts_branch *one;

    for (size_t i = 0; (one = facts_branch_at(i)); i++) {
        char branch[16], text[VERSION_TEXT_SIZE], cuda[VERSION_TEXT_SIZE + 8];
        snprintf(branch, sizeof branch, "%d", one->branch);
        snprintf(cuda, sizeof cuda, "CUDA %s", version_text(text, one->release));
        offer(typed, branch, cuda);
    }
}

static void offer_errors(const struct typed *typed)
{
    for (int code = 0; code <= 999; code++) {
        const char *name = cushim_error_name((CUresult)code);
        if (name)
            offer(typed, name, cushim_error_string((CUresult)code));
    }
}

static void offer_words(const struct typed *typed, const char *words)
{
    char word[64];

    while (*words != '\0') {
        size_t length = strcspn(words, "|");
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        offer(typed, word, NULL);
        words += length + (words[length] == '|');
    }
}

static void offer_values(const struct typed *typed, enum option_values values)
{
    switch (values) {
    case VALUES_FILES:
        puts(":files");
        break;
    case VALUES_RELEASES:
        offer_releases(typed);
        break;
    case VALUES_SIMULATED:
        offer_simulated(typed);
        break;
    case VALUES_DRIVERS:
        if (strchr(typed->word + typed->begin, '/'))
            puts(":files");
        else {
            offer_releases(typed);
            offer_branches(typed);
        }
        break;
    case VALUES_GPUS:
        offer_gpus(typed);
        break;
    case VALUES_PROFILES:
        offer_profiles(typed);
        break;
    case VALUES_FAULTS:
        offer_faults(typed);
        break;
    case VALUES_ERRORS:
        offer_errors(typed);
        break;
    default:
        break;
    }
}

static void offer_value(const struct option_row *row, const char *word, size_t begin)
{
    struct typed typed = {word, begin};
    const char *comma = row->commas || row->values == VALUES_SIMULATED ? strrchr(word, ',') : NULL;

    if (comma && row->values != VALUES_FILES)
        typed.begin = (size_t)(comma + 1 - word);
    if (row->words)
        offer_words(&typed, row->words);
    else
        offer_values(&typed, row->values);
}

static void offer_options(const struct typed *typed, const struct option_row *rows)
{
    char option[64];

    for (; rows && rows->name; rows++) {
        snprintf(option, sizeof option, "--%s", rows->name);
        offer(typed, option, rows->doc);
    }
    offer(typed, "--help", "Give this help list");
    offer(typed, "--usage", "Give a short usage message");
    offer(typed, "--version", "Print program version");
}

static bool is_name(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && strncmp(name, text, length) == 0;
}

/* The row of "--name", "--name=value", or "-n"; NULL for any other word. */
static const struct option_row *find_row(const struct option_row *rows, const char *word)
{
    for (; rows->name; rows++) {
        size_t length = strcspn(word, "=");
        if (length > 2 && word[1] == '-' && is_name(rows->name, word + 2, length - 2))
            return rows;
        if (word[0] == '-' && word[1] != '\0' && word[1] != '-' && word[2] == '\0' &&
            word[1] == option_letter(rows->name))
            return rows;
    }
    return NULL;
}

/* Whether a program's own command line began before the last word. */
static bool in_program(const struct command *command, int count, char **words)
{
    for (int i = 0; i + 1 < count; i++) {
        const struct option_row *row = find_row(command->options, words[i]);
        if (strcmp(words[i], "--") == 0 || words[i][0] != '-')
            return true;
        if (row && !row->flag && !strchr(words[i], '='))
            i++;
    }
    return false;
}

static void complete_words(const struct command *command, int count, char **words)
{
    const char *last = words[count - 1], *before = count > 1 ? words[count - 2] : "";
    const struct option_row *row;
    struct typed typed = {last, 0};

    if (command->program && in_program(command, count, words)) {
        puts(":program");
        return;
    }
    if (strncmp(last, "--", 2) == 0 && strchr(last, '=')) {
        row = find_row(command->options, last);
        if (row && (!row->flag || row->text))
            offer_value(row, last, (size_t)(strchr(last, '=') + 1 - last));
        return;
    }
    row = find_row(command->options, before);
    if (row && !row->flag && !strchr(before, '='))
        offer_value(row, last, 0);
    else if (last[0] == '-')
        offer_options(&typed, command->options);
    else if (command->program)
        puts(":program");
    else
        offer_values(&typed, command->values);
}

int complete(int count, char **words)
{
    const struct command *command = count > 1 ? command_find(words[0]) : NULL;
    static char nothing[] = "";
    static char *no_words[] = {nothing};
    struct typed typed;

    if (count == 0) {
        count = 1;
        words = no_words;
    }
    typed = (struct typed){words[count - 1], 0};
    if (!facts_file_read_all("cushim"))
        return COMMAND_INPUT;
    if (command)
        complete_words(command, count - 1, words + 1);
    else if (count == 1 && words[0][0] == '-')
        offer_options(&typed, NULL);
    else if (count == 1)
        for (size_t i = 0; command_all[i]; i++)
            offer(&typed, command_all[i]->name, command_all[i]->summary);
    return COMMAND_OK;
}
