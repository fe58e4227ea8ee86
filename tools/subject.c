/* SPDX-License-Identifier: MIT */
#include "subject.h"

#include "command.h"
#include "elf_file.h"
#include "facts.h"
#include "known.h"
#include "mapped.h"
#include "names.h"
#include "output.h"
#include "pe_file.h"

#include <cushim/compat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define PATH_MARKS "/\\"
#else
#define PATH_MARKS "/"
#endif

static void note_export(void *user, const char *symbol)
{
    struct subject *subject = user;
    size_t index = known_symbol(symbol);

    if (index != KNOWN_NONE) {
        struct cushim_entry entry = known_entry(index);
        subject->has[index] = true;
        if (entry.since > subject->release)
            subject->release = entry.since;
        return;
    }
    if (!known_looks_like_entry(symbol) && !known_private(symbol))
        return;
    char **more = realloc(subject->unknown, (subject->unknown_count + 1) * sizeof *more);
    if (!more)
        output_no_memory();
    subject->unknown = more;
    more[subject->unknown_count] = strdup(symbol);
    if (!more[subject->unknown_count++])
        output_no_memory();
}

int subject_read_file(struct subject *subject, const char *path, const char *command)
{
    struct elf_visitor visitor = {.user = subject, .exported = note_export};
    struct pe_visitor windows = {.user = subject, .exported = note_export};
    struct elf_facts facts;
    struct pe_facts windows_facts;
    struct mapped file;
    const char *problem;
    bool good;

    *subject = (struct subject){.path = path, .platform = KNOWN_LINUX};
    snprintf(subject->text, sizeof subject->text, "%s", path);
    if (!mapped_open(&file, path, &problem)) {
        fprintf(stderr, "%s: %s: %s\n", command, path, problem);
        return COMMAND_INPUT;
    }
    if (pe_file_is(file.data, file.size))
        subject->platform = KNOWN_WINDOWS;
    problem = "neither an ELF file nor a PE file";
    good = elf_file_is(file.data, file.size)
               ? elf_file_read(file.data, file.size, &visitor, &facts, &problem)
               : subject->platform == KNOWN_WINDOWS &&
                     pe_file_read(file.data, file.size, &windows, &windows_facts, &problem);
    if (good && subject->release == 0) {
        problem = "it exports no entry of the CUDA driver API";
        good = false;
    }
    mapped_close(&file);
    subject->branch = facts_release_branch(subject->release);
    if (good)
        return COMMAND_OK;
    fprintf(stderr, "%s: %s: %s\n", command, path, problem);
    subject_release(subject);
    return COMMAND_INPUT;
}

void subject_on(struct subject *subject, enum known_platform platform)
{
    struct cushim_entry entry;

    subject->platform = platform;
    for (size_t i = 0; cushim_entry_at(i, &entry); i++)
        subject->has[i] = entry.since <= subject->release && known_on(i, platform);
}

static void fill_release(struct subject *subject, int release)
{
    *subject = (struct subject){.release = release};
    subject_on(subject, KNOWN_HERE);
}

/* A driver's version, or a branch alone; false for a text that is neither, or not known. */
static bool read_driver(struct subject *subject, const char *word)
{
    char last[FACTS_DRIVER_SIZE], version[VERSION_TEXT_SIZE];
    int release;

    if (!facts_driver_version(word, last))
        return false;
    release = facts_driver_release(last);
    if (release == 0)
        return false;
    fill_release(subject, release);
    snprintf(subject->version, sizeof subject->version, "%s", last);
    subject->branch = (int)strtol(word, NULL, 10);
    subject->newer = subject->branch > facts_newest_branch();
    snprintf(subject->text, sizeof subject->text,
             subject->newer ? "driver %s, newer than this build knows: at least CUDA %s"
                            : "driver %s, CUDA %s",
             word, version_text(version, release));
    return true;
}

int subject_read(struct subject *subject, const char *word, const char *command)
{
    char version[VERSION_TEXT_SIZE];
    int release;

    if (strpbrk(word, PATH_MARKS))
        return subject_read_file(subject, word, command);
    if (read_driver(subject, word))
        return COMMAND_OK;
    release = version_parse(word);
    if (release == 0 ||
        (release > cushim_registry_version() && facts_release_branch(release) == 0)) {
        fprintf(stderr,
                "%s: '%s' is no CUDA release up to %s, no Linux driver's version or branch that is "
                "known, and no path with a slash\n",
                command, word, version_text(version, cushim_registry_version()));
        return COMMAND_USAGE;
    }
    fill_release(subject, release);
    subject->branch = facts_release_branch(release);
    snprintf(subject->text, sizeof subject->text, "CUDA %s", version_text(version, release));
    return COMMAND_OK;
}

size_t subject_newest(const struct subject *subject, const char *name, enum cushim_stream stream)
{
    size_t best = KNOWN_NONE;
    struct cushim_entry entry;
    int since = 0;

    for (size_t i = 0; cushim_entry_at(i, &entry); i++) {
        if (subject->has[i] && entry.stream == stream && entry.since >= since &&
            strcmp(entry.name, name) == 0) {
            best = i;
            since = entry.since;
        }
    }
    return best;
}

void subject_release(struct subject *subject)
{
    for (size_t i = 0; i < subject->unknown_count; i++)
        free(subject->unknown[i]);
    free(subject->unknown);
    *subject = (struct subject){0};
}
