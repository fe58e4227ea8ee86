/* SPDX-License-Identifier: MIT */
/* The runs that options ask for. */
#include "matrix_list.h"

#include "command.h"
#include "facts.h"
#include "known.h"
#include "names.h"
#include "output.h"
#include "sim_library.h"
#include "core/config.h"

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

/* The place of a release of `length` characters; -1 after saying that there is none. */
static int find_release(const char *word, size_t length, const char *option, const int *versions,
                        int count)
{
    char text[32], near[64];
    int release;

    snprintf(text, sizeof text, "%.*s", (int)length, word);
    release = version_parse(text);
    for (int i = 0; i < count; i++) {
        if (versions[i] == release)
            return i;
    }
    if (strcmp(word, "none") == 0)
        fprintf(stderr,
                "cushim matrix: %s: 'none' stands alone, and simulates no release; --drivers "
                "/dev/null is a run without a driver\n",
                option);
    else
        fprintf(stderr,
                "cushim matrix: %s: no simulated CUDA '%s'; %s'cushim sim --list' shows all\n",
                option, text, neighbours(near, versions, count, release));
    return -1;
}

/* "11.4", "11.4-12.4" or "11.4+", a range the newest first; false after saying what is wrong. */
static bool add_word(struct matrix_list *list, const char *word, const char *option,
                     const int *versions, int count)
{
    size_t length = strcspn(word, "+-");
    bool open = strcmp(word + length, "+") == 0, single = word[length] == '\0';
    int first = find_release(word, length, option, versions, count), last = first;

    if (first < 0)
        return false;
    if (open)
        last = count - 1;
    else if (!single)
        last = find_release(word + length + 1, strlen(word + length + 1), option, versions, count);
    if (last < 0)
        return false;
    if (last < first) {
        fprintf(stderr, "cushim matrix: %s: '%s' ends before it begins\n", option, word);
        return false;
    }
    for (int i = last; i >= first; i--)
        add_release(list, versions[i]);
    return true;
}

static int add_releases(struct matrix_list *list, const char *asked, const char *option)
{
    int versions[MOST_VERSIONS], count = sim_versions(versions, MOST_VERSIONS);
    char *words = strdup(asked), *rest = NULL;
    int result = COMMAND_OK;

    if (!words)
        output_no_memory();
    for (char *word = strtok_r(words, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (!add_word(list, word, option, versions, count))
            result = COMMAND_USAGE;
    }
    free(words);
    return result;
}

int matrix_list_releases(struct matrix_list *list, const char *asked, const char *profile)
{
    const struct sim_profile *device = profile ? sim_profile_find(profile) : NULL;
    int versions[MOST_VERSIONS], count;

    if (asked)
        return strcmp(asked, "none") == 0 ? COMMAND_OK : add_releases(list, asked, "--cuda");
    count = sim_versions(versions, MOST_VERSIONS);
    for (int i = count; i-- > 0 && (!device || versions[i] >= device->since);)
        add_release(list, versions[i]);
    return COMMAND_OK;
}

int matrix_list_works(struct matrix_list *list, const char *asked)
{
    struct matrix_list wanted = {0};
    int result = add_releases(&wanted, asked, "--works");
    bool any = false;

    for (size_t i = 0; i < wanted.count; i++) {
        for (size_t k = 0; k < list->count; k++)
            list->item[k].must |= strcmp(list->item[k].cuda, wanted.item[i].cuda) == 0;
    }
    for (size_t k = 0; k < list->count; k++)
        any |= list->item[k].must;
    free(wanted.item);
    if (result == COMMAND_OK && !any) {
        fprintf(stderr, "cushim matrix: --works: no release of '%s' is run\n", asked);
        return COMMAND_USAGE;
    }
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

static bool add_real(struct matrix_list *list, const char *path, const char *name)
{
    char *real = realpath(path, NULL);
    struct matrix_case *one;

    if (!real) {
        fprintf(stderr, "cushim matrix: --drivers: %s: %s\n", path, strerror(errno));
        return false;
    }
    one = add(list);
    one->driver = real;
    snprintf(one->name, sizeof one->name, "%s%s", name == path ? "driver " : "", name);
    return true;
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
        if (!add_real(list, path, path))
            return COMMAND_INPUT;
    }
    return COMMAND_OK;
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

static void add_devices(struct matrix_list *list, size_t which, const char *devices,
                        const char *words)
{
    struct matrix_case *one = add_again(list, which);

    one->devices = devices;
    snprintf(one->name, sizeof one->name, "%.100s, %s", list->item[which].name, words);
}

bool matrix_list_without(struct matrix_list *list, const char *devices)
{
    size_t newest = matrix_list_newest(list);
    bool simulated = !list->item[newest].driver;

    if (simulated && devices && atoi(devices) > 1)
        add_devices(list, newest, "1", "1 device");
    if (simulated)
        add_devices(list, newest, "0", "no device");
    return add_real(list, MATRIX_NO_DRIVER, "no driver");
}

/* Whether a program asks by it again and again, until work is done. */
static bool is_wait(const char *name)
{
    return strcmp(name, "cuEventQuery") == 0 || strcmp(name, "cuStreamQuery") == 0;
}

/* What such a call fails with; late, where it waits. */
static const char *error_of(const char *name)
{
    if (is_wait(name))
        return "slow=20,error=LAUNCH_FAILED"; /* when the work has ended */
    if (strstr(name, "Synchronize"))
        return "after,error=LAUNCH_FAILED";
    return strstr(name, "Alloc") || strstr(name, "Create") ? "error=OUT_OF_MEMORY"
                                                           : "error=UNKNOWN";
}

static void add_faults(struct matrix_list *list, size_t which, const struct matrix_used *used,
                       int most)
{
    for (size_t i = 0; i < used->count; i++) {
        struct cushim_entry entry = known_entry(used->index[i]);
        unsigned calls = used->calls[used->index[i]], idle = used->idle[used->index[i]];
        int runs = matrix_log_acts(entry.name) || is_wait(entry.name) ? most : 0;
        for (unsigned call = 1; call <= calls && call <= MATRIX_FAULTS && runs > 0; call++) {
            if (idle >> (call - 1) & 1)
                continue;
            runs--;
            struct matrix_case *one = add_again(list, which);
            snprintf(one->fault, sizeof one->fault, "%s:call=%u,%s", entry.symbol, call,
                     error_of(entry.name));
            snprintf(one->name, sizeof one->name, "%.100s, %s fails", list->item[which].name,
                     entry.symbol);
            if (call > 1)
                snprintf(one->name, sizeof one->name, "%.100s, call %u of %s fails",
                         list->item[which].name, call, entry.symbol);
        }
    }
}

static void add_rule(struct matrix_list *list, size_t which, const char *rule, const char *words)
{
    struct matrix_case *one = add_again(list, which);

    snprintf(one->fault, sizeof one->fault, "%s", rule);
    snprintf(one->name, sizeof one->name, "%.100s, %s", list->item[which].name, words);
}

static void add_late(struct matrix_list *list, size_t which)
{
    add_rule(list, which, MATRIX_LATE, "queued work runs late");
    add_rule(list, which, MATRIX_REORDER, "queued work reordered");
}

void matrix_list_faults(struct matrix_list *list, const struct matrix_used *used, int most,
                        bool late)
{
    const size_t count = list->count;
    size_t oldest = count, newest = count;

    for (size_t i = 0; i < count; i++) {
        const struct matrix_case *one = &list->item[i];
        if (one->end != MATRIX_PASSES || one->driver || one->devices)
            continue;
        if (oldest == count || version_parse(one->cuda) < version_parse(list->item[oldest].cuda))
            oldest = i;
        if (newest == count || version_parse(one->cuda) > version_parse(list->item[newest].cuda))
            newest = i;
    }
    const size_t again = newest < count ? newest : matrix_list_newest(list);
    if (late && (newest < count || matrix_may_lack_order(&list->item[again])))
        add_late(list, again);
    if (late && oldest != newest)
        add_late(list, oldest);
    if (newest < count)
        add_faults(list, newest, &used[newest], most);
    if (oldest != newest)
        add_faults(list, oldest, &used[oldest], most);
}

static bool is_order(const struct matrix_case *one, const char *rule)
{
    return one && strcmp(one->fault, rule) == 0;
}

static bool fails(const struct matrix_case *one)
{
    return one && one->end >= MATRIX_FAILS && one->end <= MATRIX_HANGS;
}

/* Whether such a run tells nothing new: it shows no reason, and the release fails by itself; or
 * that of the other rule beside it names two calls without an order, and with one it passes. */
static bool is_told(const struct matrix_list *list, const struct matrix_case *before,
                    const struct matrix_case *one, const struct matrix_case *next)
{
    const struct matrix_case *newest = &list->item[matrix_list_newest(list)];
    const bool silent =
        !one->ordered && matrix_may_lack_order(newest) && strcmp(one->cuda, newest->cuda) == 0;

    if (is_order(one, MATRIX_LATE))
        return silent || (one->crossed && is_order(next, MATRIX_REORDER) && next->second_by);
    return is_order(one, MATRIX_REORDER) && !one->first_by &&
           (silent || (fails(one) && is_order(before, MATRIX_LATE) && fails(before)));
}

static bool is_same_by(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : one == other;
}

/* Whether a rule came to the same under the newest release, whose case is before. */
static bool is_again(const struct matrix_list *list, size_t count, const struct matrix_case *one)
{
    for (size_t i = 0; i < count; i++) {
        const struct matrix_case *before = &list->item[i];
        if ((is_order(one, MATRIX_LATE) || is_order(one, MATRIX_REORDER)) &&
            is_order(before, one->fault) && matrix_is_same(before, one) &&
            is_same_by(before->late_by, one->late_by) &&
            is_same_by(before->first_by, one->first_by) &&
            is_same_by(before->second_by, one->second_by))
            return true;
    }
    return false;
}

void matrix_list_tried(struct matrix_list *list)
{
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++) {
        struct matrix_case *one = &list->item[i], *next = i + 1 < list->count ? one + 1 : NULL;
        bool idle =
            matrix_is_fault(one) && !one->ruled && one->end == MATRIX_PASSES && one->calls >= 0;
        if (idle || is_again(list, count, one) ||
            is_told(list, count > 0 ? &list->item[count - 1] : NULL, one, next))
            matrix_place_free(one);
        else
            list->item[count++] = *one;
    }
    list->count = count;
}

void matrix_list_sort(struct matrix_list *list)
{
    for (size_t i = 1; i < list->count; i++) {
        for (size_t k = i; k > 0; k--) {
            struct matrix_case *one = &list->item[k - 1], *next = one + 1, saved = *one;
            if (!matrix_is_fault(one) || !matrix_is_fault(next) || one->end <= next->end ||
                strcmp(one->cuda, next->cuda) != 0)
                break;
            *one = *next;
            *next = saved;
        }
    }
}
