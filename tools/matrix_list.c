/* SPDX-License-Identifier: MIT */
/* The runs that options ask for. */
#include "matrix_list.h"

#include "command.h"
#include "facts.h"
#include "known.h"
#include "names.h"
#include "output.h"
#include "sim_library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VERSIONS = 256 };

static struct matrix_case *add(struct matrix_list *list)
{
    struct matrix_case *item = realloc(list->item, (list->count + 1) * sizeof *item);

    if (!item)
        output_no_memory();
    list->item = item;
    item += list->count++;
    memset(item, 0, sizeof *item);
    return item;
}

static void add_release(struct matrix_list *list, int release)
{
    struct matrix_case *one = add(list);
    char version[VERSION_TEXT_SIZE];

    snprintf(one->cuda, sizeof one->cuda, "%s", version_text(version, release));
    snprintf(one->name, sizeof one->name, "CUDA %s", one->cuda);
}

/* "; near it are 9.1 and 10.0" */
static const char *neighbours(char text[64], const int *versions, int count, int release)
{
    char version[VERSION_TEXT_SIZE], later[VERSION_TEXT_SIZE];

    text[0] = '\0';
    for (int i = 1; i < count; i++) {
        if (versions[i - 1] < release && release < versions[i])
            snprintf(text, 64, "near it are %s and %s; ", version_text(version, versions[i - 1]),
                     version_text(later, versions[i]));
    }
    return text;
}

/* One release; false after saying why there is none. */
static bool add_word(struct matrix_list *list, const char *word, const int *versions, int count)
{
    int release = version_parse(word);
    char near[64];

    for (int i = 0; i < count; i++) {
        if (versions[i] != release)
            continue;
        add_release(list, release);
        return true;
    }
    if (strcmp(word, "none") == 0)
        fputs("cushim matrix: --cuda: 'none' stands alone, and simulates no release; run the "
              "program by itself with CUSHIM_LIBCUDA= to see it without a driver\n",
              stderr);
    else
        fprintf(stderr,
                "cushim matrix: --cuda: no simulated CUDA '%s'; %s'cushim sim --list' shows all\n",
                word, neighbours(near, versions, count, release));
    return false;
}

int matrix_list_releases(struct matrix_list *list, const char *asked)
{
    int versions[MOST_VERSIONS], count = sim_versions(versions, MOST_VERSIONS);
    char *words, *rest = NULL;
    int result = COMMAND_OK;

    if (asked && strcmp(asked, "none") == 0)
        return COMMAND_OK;
    if (!asked) {
        for (int i = count; i-- > 0;)
            add_release(list, versions[i]);
        return COMMAND_OK;
    }
    words = strdup(asked);
    if (!words)
        output_no_memory();
    for (char *word = strtok_r(words, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (!add_word(list, word, versions, count))
            result = COMMAND_USAGE;
    }
    free(words);
    return result;
}

/* A driver that is simulated, by its branch or version. */
static bool add_branch(struct matrix_list *list, const char *word, const char *version)
{
    int versions[MOST_VERSIONS], count = sim_versions(versions, MOST_VERSIONS);
    int release = facts_driver_release(version);
    char text[VERSION_TEXT_SIZE];

    for (int i = 0; i < count; i++) {
        if (versions[i] != release)
            continue;
        add_release(list, release);
        struct matrix_case *one = &list->item[list->count - 1];
        snprintf(one->name, sizeof one->name, "driver %s, CUDA %s", word,
                 version_text(text, release));
        return true;
    }
    fprintf(stderr, "cushim matrix: --drivers: the release of driver %s is not simulated\n", word);
    return false;
}

int matrix_list_drivers(struct matrix_list *list, const struct option_list *paths)
{
    for (size_t i = 0; i < paths->count; i++) {
        const char *path = paths->item[i];
        char version[FACTS_DRIVER_SIZE];
        if (facts_driver_version(path, version)) {
            if (!add_branch(list, path, version))
                return COMMAND_USAGE;
            continue;
        }
        char *real = realpath(path, NULL);
        struct matrix_case *one;
        if (!real) {
            fprintf(stderr, "cushim matrix: --drivers: %s: %s\n", path, strerror(errno));
            return COMMAND_INPUT;
        }
        one = add(list);
        one->driver = real;
        snprintf(one->name, sizeof one->name, "driver %s", path);
    }
    return COMMAND_OK;
}

int matrix_list_floor(const char *word)
{
    char version[FACTS_DRIVER_SIZE];

    int release = version_parse(word);

    if (facts_driver_version(word, version))
        return facts_driver_release(version);
    return release % 1000 < 100 && release <= CUSHIM_REGISTRY_VERSION ? release : 0;
}

void matrix_list_note(void *user, const char *symbol)
{
    struct matrix_used *used = user;
    size_t index = known_symbol(symbol);

    bool waits = strstr(symbol, "Synchronize"), later = strstr(symbol, "Async");

    if (index == KNOWN_NONE)
        return;
    if (waits && !used->queued && used->calls[index] < MATRIX_FAULTS)
        used->idle[index] |= 1U << used->calls[index];
    if (used->calls[index]++ == 0)
        used->index[used->count++] = index;
    if (waits || (strstr(symbol, "Memcpy") && !later))
        used->queued = false;
    else if (matrix_log_acts(symbol) && (later || strstr(symbol, "Launch")))
        used->queued = true;
}

size_t matrix_list_newest(const struct matrix_list *list)
{
    size_t newest = 0;

    for (size_t i = 1; i < list->count; i++) {
        if (version_parse(list->item[i].cuda) > version_parse(list->item[newest].cuda))
            newest = i;
    }
    return newest;
}

static struct matrix_case *add_again(struct matrix_list *list, size_t which)
{
    struct matrix_case *one = add(list);

    memcpy(one->cuda, list->item[which].cuda, sizeof one->cuda);
    return one;
}

void matrix_list_missing(struct matrix_list *list, size_t newest, const struct matrix_used *used,
                         int floor)
{
    for (size_t i = 0; i < used->count; i++) {
        struct cushim_entry entry = known_entry(used->index[i]);
        if (entry.since <= floor || matrix_missing_is_own(entry.symbol))
            continue;
        struct matrix_case *one = add_again(list, newest);
        snprintf(one->missing, sizeof one->missing, "%s", entry.symbol);
        snprintf(one->name, sizeof one->name, "%.100s without %s", list->item[newest].name,
                 one->missing);
    }
}

/* What such a call fails with; late, where it waits. */
static const char *error_of(const char *name)
{
    if (strstr(name, "Synchronize"))
        return "after,error=LAUNCH_FAILED";
    return strstr(name, "Alloc") || strstr(name, "Create") ? "error=OUT_OF_MEMORY"
                                                           : "error=UNKNOWN";
}

void matrix_list_faults(struct matrix_list *list, size_t newest, const struct matrix_used *used,
                        int most)
{
    for (size_t i = 0; i < used->count; i++) {
        struct cushim_entry entry = known_entry(used->index[i]);
        unsigned calls = used->calls[used->index[i]], idle = used->idle[used->index[i]];
        int runs = matrix_log_acts(entry.name) ? most : 0;
        for (unsigned call = 1; call <= calls && call <= MATRIX_FAULTS && runs > 0; call++) {
            if (idle >> (call - 1) & 1)
                continue;
            runs--;
            struct matrix_case *one = add_again(list, newest);
            snprintf(one->fault, sizeof one->fault, "%s:call=%u,%s", entry.symbol, call,
                     error_of(entry.name));
            snprintf(one->name, sizeof one->name, "%.100s, %s fails", list->item[newest].name,
                     entry.symbol);
            if (call > 1)
                snprintf(one->name, sizeof one->name, "%.100s, call %u of %s fails",
                         list->item[newest].name, call, entry.symbol);
        }
    }
}
