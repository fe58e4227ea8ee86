/* SPDX-License-Identifier: MIT */
/* Where the program made the calls of which a report tells. */
#include "matrix.h"

#include "known.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

const char *matrix_place_by(const char *by, char place[PLACE_SIZE])
{
    return place_of(by ? strchr(by, '\t') : NULL, place);
}

/* " at PLACE" behind the call's name in words, but for one that has a place. */
static void insert(char words[MATRIX_CALL_SIZE], const char *by)
{
    char place[PLACE_SIZE], rest[MATRIX_CALL_SIZE], name[MATRIX_CALL_SIZE];
    char *found = words;
    size_t length = by ? strcspn(by, "\t") : 0;

    if (matrix_place_by(by, place)[0] == '\0')
        return;
    snprintf(name, sizeof name, "%.*s", (int)length, by);
    while ((found = strstr(found, name)) && strncmp(found + length, " at ", 4) == 0)
        found += length;
    if (!found)
        return;
    found += length;
    memcpy(rest, found, strlen(found) + 1);
    snprintf(found, MATRIX_CALL_SIZE - (size_t)(found - words), " at %s%s", place, rest);
}

/* " by cuMemFree_v2 at PLACE" behind words. */
static void insert_freed(char text[MATRIX_CALL_SIZE], const char *words, const char *by)
{
    char place[PLACE_SIZE], rest[MATRIX_CALL_SIZE], *end = strstr(text, words);

    if (!end || matrix_place_by(by, place)[0] == '\0')
        return;
    end += strlen(words);
    memcpy(rest, end, strlen(end) + 1);
    snprintf(end, MATRIX_CALL_SIZE - (size_t)(end - text), " by %.*s at %s%s",
             (int)strcspn(by, "\t"), by, place, rest);
}

/* "process 7 leaked 1 stream, made by cuStreamCreate at main.c:4 (main), and 2 more" */
static void place_of_check(const char *check, char place[PLACE_SIZE])
{
    const char *by = strstr(check, " by cu"), *at = by ? strstr(by, " at ") : NULL;
    const char *end = at ? strstr(at, ": destroy each") : NULL;

    if (at && !end)
        end = strstr(at, ", and ");
    if (at)
        snprintf(place, PLACE_SIZE, "%.*s", (int)(end ? end - at - 4 : PLACE_SIZE), at + 4);
}

/* Where a signal ended it, or the command for the time limit; else what it called last. */
static void place_of_end(struct matrix_case *one)
{
    char place[PLACE_SIZE] = "", other[PLACE_SIZE];
    bool hangs = one->end == MATRIX_HANGS;
    int number = one->end == MATRIX_CRASHES ? one->code : hangs ? SIGTERM : one->code - 128;

    if (number <= 0)
        return;
    if (one->ended_by && atoi(one->ended_by) == number)
        matrix_place_by(one->ended_by, place);
    if (place[0] != '\0' && strcmp(place, matrix_place_by(one->missed_by, other)) != 0)
        snprintf(one->ended, sizeof one->ended, " at %s", place);
    else if (place[0] == '\0' && one->last != KNOWN_NONE && (hangs || one->end == MATRIX_CRASHES))
        snprintf(one->ended, sizeof one->ended, " after %s", known_entry(one->last).symbol);
    memcpy(one->place, place, sizeof place);
}

static void fill(struct matrix_case *one)
{
    char kernel[MATRIX_CALL_SIZE], place[PLACE_SIZE];
    const char *late_by = one->first_by ? one->first_by : one->late_by;
    bool ignored = matrix_ignored(one);
    bool by_itself = !one->ruled && (one->code == 0 || matrix_left_behind(one));
    const char *by = ignored || one->fell         ? one->fired_by
                     : late_by                    ? late_by
                     : one->kernel_by             ? one->kernel_by
                     : one->missed_by             ? one->missed_by
                     : by_itself && one->fired_by ? one->fired_by
                                                  : NULL;
    bool told = by && by == one->fired_by && one->call_by && strcmp(one->call_by, by) == 0;

    insert(one->shown, one->missed_by);
    insert(one->shown, late_by);
    insert(one->shown, one->first_by ? one->second_by : one->wait_by);
    matrix_place_by(one->fired_by, one->fired_at);
    if (!told)
        insert(one->shown, one->call_by);
    if (matrix_place_by(one->kernel_by, place)[0] != '\0') {
        size_t length = (size_t)snprintf(kernel, sizeof kernel,
                                         "%.*s at %s: ", (int)strcspn(one->kernel_by, "\t"),
                                         one->kernel_by, place);
        snprintf(kernel + length, sizeof kernel - length, "%s", one->kernel);
        memcpy(one->kernel, kernel, sizeof kernel);
    }
    insert_freed(one->kernel, " bytes was there, and was freed", one->freed_by);
    insert_freed(one->shown, MATRIX_FREED, one->freed_by);
    place_of_end(one);
    if (!by && one->place[0] != '\0')
        return;
    if (!by && one->check[0] != '\0')
        place_of_check(one->check, one->place);
    else
        matrix_place_by(by ? by : one->call_by, one->place);
}

/* A run of which nothing but the result is told. */
static bool is_plain(const struct matrix_case *one)
{
    return (one->end == MATRIX_PASSES && one->fired[0] == '\0' && !one->missed) ||
           (one->end == MATRIX_NOTICES && one->went_on[0] == '\0' && !one->missed);
}

void matrix_place(struct matrix_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        memcpy(cases[i].shown, cases[i].call, sizeof cases[i].shown);
        if (!is_plain(&cases[i]))
            fill(&cases[i]);
    }
}

void matrix_place_free(struct matrix_case *one)
{
    free(one->driver);
    free(one->fired_by);
    free(one->call_by);
    free(one->kernel_by);
    free(one->freed_by);
    free(one->missed_by);
    free(one->ended_by);
    free(one->refused_by);
    free(one->late_by);
    free(one->wait_by);
    free(one->first_by);
    free(one->second_by);
}
