/* SPDX-License-Identifier: MIT */
/*
 * `cushim diff`: what two drivers, two releases, or a driver and a release differ in.
 */
#include "command.h"
#include "known.h"
#include "names.h"
#include "output.h"
#include "subject.h"

#include <cushim/feature.h>

#include <stdio.h>
#include <string.h>

static struct options {
    bool json;
} given;

static struct subject subjects[2];

static const struct option_row option_rows[] = {
    COMMAND_OPTION_JSON(given.json),
    {0},
};

/* Whether all that a feature takes of the driver is there. */
static bool has_feature(const struct subject *subject, const struct cushim_feature_facts *facts)
{
    const char *platform = subject->platform == KNOWN_WINDOWS ? "windows" : "linux";
    size_t entry;

    if (facts->since > subject->release ||
        (facts->platform && strcmp(facts->platform, platform) != 0))
        return false;
    for (size_t i = 0; cushim_feature_entry(facts->feature, i, &entry); i++) {
        if (!subject->has[entry])
            return false;
    }
    return true;
}

/* The next entry that subject `more` has and the other lacks. */
static bool next_entry(int more, size_t *index, struct cushim_entry *entry)
{
    while (cushim_entry_at((*index)++, entry)) {
        if (subjects[more].has[*index - 1] && !subjects[!more].has[*index - 1])
            return true;
    }
    return false;
}

static bool next_feature(int more, size_t *index, struct cushim_feature_facts *facts)
{
    while (cushim_feature_list((*index)++, facts)) {
        if (has_feature(&subjects[more], facts) && !has_feature(&subjects[!more], facts))
            return true;
    }
    return false;
}

/* The next name that both have, with another ABI as its newest. */
static bool next_meaning(size_t *index, size_t meaning[2])
{
    struct cushim_entry entry;

    while (cushim_entry_at((*index)++, &entry)) {
        if (!subjects[0].has[*index - 1])
            continue;
        for (int i = 0; i < 2; i++)
            meaning[i] = subject_newest(&subjects[i], entry.name, entry.stream);
        /* Each name once: at its newest in A. */
        if (meaning[0] == *index - 1 && meaning[1] != KNOWN_NONE && meaning[1] != meaning[0])
            return true;
    }
    return false;
}

static json_t *entries_json(int more)
{
    json_t *array = json_array();
    struct cushim_entry entry;

    for (size_t i = 0; next_entry(more, &i, &entry);)
        output_json_append(array, json_string(entry.symbol));
    for (size_t i = 0; i < subjects[more].unknown_count; i++) {
        bool both = false;
        for (size_t k = 0; k < subjects[!more].unknown_count; k++)
            both |= strcmp(subjects[more].unknown[i], subjects[!more].unknown[k]) == 0;
        if (!both && subjects[!more].path)
            output_json_append(array, output_json_text(subjects[more].unknown[i]));
    }
    return array;
}

static json_t *features_json(int more)
{
    struct cushim_feature_facts facts = {.size = sizeof facts};
    json_t *array = json_array();

    for (size_t i = 0; next_feature(more, &i, &facts);)
        output_json_append(array, json_string(facts.name));
    return array;
}

static json_t *meanings_json(void)
{
    json_t *array = json_array();
    size_t meaning[2];

    for (size_t i = 0; next_meaning(&i, meaning);) {
        json_t *object = json_object();
        struct cushim_entry entry = known_entry(meaning[0]);
        output_json_set(object, "name", json_string(entry.name));
        output_json_set(object, "stream", json_string(stream_name(entry.stream)));
        output_json_set(object, "a", json_string(entry.symbol));
        output_json_set(object, "b", json_string(known_entry(meaning[1]).symbol));
        output_json_append(array, object);
    }
    return array;
}

static json_t *side_json(int side)
{
    json_t *object = json_object();

    output_json_set(object, "what", output_json_text(subjects[side].text));
    output_json_set(object, "release", json_integer(subjects[side].release));
    output_json_set(object, "newer", json_boolean(subjects[side].newer));
    return object;
}

static json_t *difference(void)
{
    json_t *root = json_object();

    output_json_set(root, "a", side_json(0));
    output_json_set(root, "b", side_json(1));
    output_json_set(root, "entries_gained", entries_json(1));
    output_json_set(root, "entries_lost", entries_json(0));
    output_json_set(root, "features_gained", features_json(1));
    output_json_set(root, "features_lost", features_json(0));
    output_json_set(root, "meanings", meanings_json());
    return root;
}

static void print_list(const json_t *root, const char *key, const char *title, char sign,
                       enum output_style style)
{
    const json_t *array = json_object_get(root, key);
    char version[VERSION_TEXT_SIZE];
    size_t i;
    const json_t *item;

    if (json_array_size(array) == 0)
        return;
    printf("%zu %s\n", json_array_size(array), title);
    json_array_foreach(array, i, item)
    {
        printf("  %c ", sign);
        output_text(style, json_string_value(item));
        size_t entry = known_symbol(json_string_value(item));
        if (entry != KNOWN_NONE)
            printf(", CUDA %s", version_text(version, known_entry(entry).since));
        putchar('\n');
    }
}

static void print_meanings(const json_t *root)
{
    struct output_table table = {.columns = 4};
    const json_t *array = json_object_get(root, "meanings");
    size_t i;
    const json_t *item;

    if (json_array_size(array) == 0)
        return;
    printf("%zu name%s for which cuGetProcAddress gives another ABI\n", json_array_size(array),
           output_plural(json_array_size(array)));
    json_array_foreach(array, i, item)
    {
        output_table_add(&table, OUTPUT_PLAIN, json_string_value(json_object_get(item, "name")));
        output_table_add(&table, OUTPUT_PLAIN, json_string_value(json_object_get(item, "a")));
        output_table_add(&table, OUTPUT_DIM, "->");
        output_table_add(&table, OUTPUT_PLAIN, json_string_value(json_object_get(item, "b")));
    }
    output_table_print(&table, "  ");
}

static void print_text(const json_t *root)
{
    for (int side = 0; side < 2; side++) {
        printf("%c ", side == 0 ? 'A' : 'B');
        output_text(OUTPUT_TITLE, subjects[side].text);
        putchar('\n');
    }
    print_list(root, "entries_gained", "entries gained", '+', OUTPUT_GOOD);
    print_list(root, "entries_lost", "entries lost", '-', OUTPUT_BAD);
    print_list(root, "features_gained", "features gained", '+', OUTPUT_GOOD);
    print_list(root, "features_lost", "features lost", '-', OUTPUT_BAD);
    print_meanings(root);
}

/* Whether any list of the difference has something in it. */
static bool differs(json_t *root)
{
    const char *key;
    json_t *value;

    json_object_foreach(root, key, value)
    {
        if (json_array_size(value) > 0)
            return true;
    }
    return false;
}

static int run(const char *title, char **words)
{
    char newest[VERSION_TEXT_SIZE];
    json_t *root;
    int result = COMMAND_OK;

    for (int i = 0; i < 2 && result == COMMAND_OK; i++)
        result = subject_read(&subjects[i], words[i], title);
    if (result != COMMAND_OK) {
        for (int i = 0; i < 2; i++)
            subject_release(&subjects[i]);
        return result;
    }

    for (int i = 0; i < 2; i++) {
        if (subjects[!i].path && !subjects[i].path)
            subject_on(&subjects[i], subjects[!i].platform);
    }
    root = difference();
    /* What a driver has that is newer than all that is known, is not known: not "no difference". */
    bool hedged = subjects[0].newer || subjects[1].newer;
    result = differs(root) || hedged ? COMMAND_FAILED : COMMAND_OK;
    if (given.json) {
        output_json_print(root);
    } else {
        print_text(root);
        if (hedged)
            printf("%s this build knows CUDA %s at most; the driver's file tells more\n",
                   differs(root) ? "more may differ:" : "no difference is known:",
                   version_text(newest, subjects[subjects[0].newer ? 0 : 1].release));
        else if (result == COMMAND_OK)
            puts("no difference");
        json_decref(root);
    }
    for (int i = 0; i < 2; i++)
        subject_release(&subjects[i]);
    return result;
}

const struct command command_diff = {
    .name = "diff",
    .summary = "what two drivers or releases differ in",
    .synopsis = "A B",
    .doc = "List what B has more and less than A: entries with their ABIs, features as far as the "
           "driver alone decides, and names that stand for another ABI. A and B are CUDA releases "
           "(12.4), Linux drivers' versions (550.163.01) or branches (550), or paths of drivers' "
           "libraries, of which "
           "nothing is executed. A release beside a file has the entries of that file's system, "
           "Linux or Windows. Exits with 1 if they differ, or may differ in what this build "
           "does not know.",
    .options = option_rows,
    .least = 2,
    .most = 2,
    .wanted = "two expected: a release such as 12.4, a Linux driver's version such as "
              "550.163.01, or the path of its library",
    .values = VALUES_DRIVERS,
    .run = run,
};
