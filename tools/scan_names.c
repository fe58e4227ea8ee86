/* SPDX-License-Identifier: MIT */
#include "scan_names.h"

#include "known.h"
#include "scan_flow.h"
#include "scan_macro.h"
#include "scan_wheel.h"

#include <stdlib.h>
#include <string.h>

/* More are not taken, of any file. */
enum { MOST_MENTIONS = 1 << 14, MOST_FOUND = 1 << 18 };

static int compare_pointers(const char *a, const char *b)
{
    return (a > b) - (a < b);
}

/* Whose value it is. */
static int compare_owners(const struct scan_name *a, const struct scan_name *b)
{
    int words = scan_word_compare(a->word, b->word);

    return words != 0 ? words : (a->function > b->function) - (a->function < b->function);
}

/* And what the value tells. */
static int compare_values(const struct scan_name *a, const struct scan_name *b)
{
    int owners = compare_owners(a, b);

    if (owners != 0)
        return owners;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    if (a->release != b->release)
        return a->release < b->release ? -1 : 1;
    return (int)a->negated - (int)b->negated;
}

static int compare_names(const void *left, const void *right)
{
    const struct scan_name *a = left, *b = right;
    int values = compare_values(a, b);

    return values != 0 ? values : compare_pointers(a->origin, b->origin);
}

static int compare_origins(const void *left, const void *right)
{
    return compare_pointers(*(const char *const *)left, *(const char *const *)right);
}

static bool is_of(const struct scan_name *name, size_t function)
{
    return name->function == SCOPE_FILE || name->function == function;
}

static size_t find_names(const struct scan_guards *guards, struct scan_word word)
{
    size_t low = 0, high = guards->name_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (scan_word_compare(guards->names[middle].word, word) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_named(const struct scan_guards *guards, size_t at, struct scan_word word)
{
    return at < guards->name_count && scan_word_compare(guards->names[at].word, word) == 0;
}

bool scan_names_is_answer(const struct scan_guards *guards, const struct scan_function *function)
{
    const struct scan_word name = function->name;

    for (size_t i = find_names(guards, name); is_named(guards, i, name); i++) {
        if (guards->names[i].called || (function->macro && guards->names[i].index != KNOWN_NONE))
            return true;
    }
    return false;
}

/* "&name" as an argument, "name++": it may get another value. */
static bool is_changed(const struct scan_guards *guards, struct scan_word word)
{
    const char *at = word.text, *behind = word.text + word.length;
    const size_t least = 4; /* "f(& ", "++;" */

    if ((size_t)(at - guards->text.text) < least || (size_t)(guards->text.end - behind) < least)
        return false;
    bool counts = memcmp(behind, "++", 2) == 0 || memcmp(behind, "--", 2) == 0 ||
                  memcmp(at - 2, "++", 2) == 0 || memcmp(at - 2, "--", 2) == 0;
    return counts || (at[-1] == '&' && (strchr("(,", at[-2]) || memcmp(at - 3, ", ", 2) == 0));
}

const struct scan_name *scan_names_parameter(const struct scan_guards *guards,
                                             struct scan_word word)
{
    for (size_t i = find_names(guards, word); is_named(guards, i, word); i++) {
        if (guards->names[i].index == SCAN_PARAMETER ||
            guards->names[i].release == SCAN_ANY_RELEASE)
            return &guards->names[i];
    }
    return NULL;
}

void scan_names_word(struct scan_guards *guards, struct scan_word word,
                     const struct scan_guard *place, bool called)
{
    const size_t low = find_names(guards, word), function = place->function;
    bool other = false;

    for (size_t i = low; is_named(guards, i, word); i++)
        other |= guards->names[i].index == SCAN_VOID && is_of(&guards->names[i], function);
    for (size_t i = low; is_named(guards, i, word); i++) {
        const struct scan_name *name = &guards->names[i];
        if (name->index != KNOWN_NONE) {
            if (other || !is_of(name, function) || name->index == SCAN_VOID ||
                (name->called && !called))
                continue;
            if (!name->called && is_changed(guards, word)) {
                scan_names_find(guards, (struct scan_name){.word = word,
                                                           .index = SCAN_VOID,
                                                           .function = name->function});
                continue;
            }
            struct scan_guard guard = *place;
            guard.index = name->index;
            guard.release = name->release;
            guard.name = word;
            guard.negated = name->negated;
            guard.joined = name->joined;
            guard.answers = name->called;
            guard.asserts = name->asserts;
            scan_guards_add(guards, &guard);
            continue;
        }
        guards->full |= guards->mention_count == MOST_MENTIONS;
        if (guards->full)
            continue;
        guards->mentions =
            scan_grow(guards->mentions, guards->mention_count, sizeof *guards->mentions);
        guards->mentions[guards->mention_count++] =
            (struct scan_mention){word.text, function, word, called};
    }
}

bool scan_names_find(struct scan_guards *guards, struct scan_name name)
{
    if (guards->found_count == MOST_FOUND)
        return false;
    guards->found = scan_grow(guards->found, guards->found_count, sizeof *guards->found);
    guards->found[guards->found_count++] = name;
    return true;
}

static void add_name(struct scan_guards *guards, struct scan_name name)
{
    guards->names = scan_grow(guards->names, guards->name_count, sizeof *guards->names);
    guards->names[guards->name_count++] = name;
}

static void add_function(struct scan_guards *guards, const struct scan_scope *scope, size_t which)
{
    if (which != SCOPE_FILE && scope->functions[which - 1].closed &&
        scope->functions[which - 1].name.length > 0)
        add_name(guards,
                 (struct scan_name){.word = scope->functions[which - 1].name, .index = KNOWN_NONE});
}

static bool holds_answer(const struct scan_name *name)
{
    return name->index != KNOWN_NONE && name->index != SCAN_VOID;
}

/* How many places give the values of some names. */
static size_t count_origins(const struct scan_name *names, size_t count, const char **origins)
{
    size_t all = 0, different = 0;

    for (size_t i = 0; i < count; i++) {
        if (holds_answer(&names[i]))
            origins[all++] = names[i].origin;
    }
    qsort(origins, all, sizeof *origins, compare_origins);
    for (size_t i = 0; i < all; i++)
        different += i == 0 || origins[i] != origins[i - 1];
    return different;
}

/* What each value of one name tells is kept, and no more: the next reading finds the places again.
 */
static size_t choose_values(struct scan_name *names, size_t count, const char **origins)
{
    const size_t all = count_origins(names, count, origins);
    size_t kept = 0;
    struct scan_name none = {
        .word = names[0].word, .index = SCAN_VOID, .function = names[0].function};

    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && compare_values(&names[i], &names[end]) == 0;)
            end++;
        if (!holds_answer(&names[i]) || end - i == all)
            names[kept++] = names[i];
    }
    if (kept == 0)
        names[kept++] = none;
    return kept;
}

/* One of each, and no other value of what holds no answer. */
static void sort_names(struct scan_guards *guards)
{
    struct scan_name *names = guards->names;
    const char **origins = scan_grow(NULL, guards->name_count, sizeof *origins);
    size_t count = 0, end;

    qsort(names, guards->name_count, sizeof *names, compare_names);
    for (size_t i = 0; i < guards->name_count; i = end) {
        bool answer = false;
        for (end = i;
             end < guards->name_count && scan_word_compare(names[i].word, names[end].word) == 0;
             end++)
            answer |= names[end].index != SCAN_VOID;
        for (size_t k = i; k < end && answer; k++) {
            if (k == i || compare_names(&names[k], &names[count - 1]) != 0)
                names[count++] = names[k];
        }
    }
    guards->name_count = 0;
    for (size_t i = 0; i < count; i = end) {
        for (end = i; end < count && compare_owners(&names[i], &names[end]) == 0;)
            end++;
        size_t kept = choose_values(names + i, end - i, origins);
        memmove(names + guards->name_count, names + i, kept * sizeof *names);
        guards->name_count += kept;
    }
    free(origins);
}

static size_t count_void(const struct scan_guards *guards)
{
    size_t count = 0;

    for (size_t i = 0; i < guards->name_count; i++)
        count += guards->names[i].index == SCAN_VOID;
    return count;
}

static bool is_known_to_leave(const struct scan_guards *guards, struct scan_word word)
{
    for (size_t i = find_names(guards, word); is_named(guards, i, word); i++) {
        if (guards->names[i].asserts)
            return true;
    }
    return false;
}

/* Macros that ask. Where one of several with a name leaves without a guard, each has to. */
static void find_macros(struct scan_guards *guards, const struct scan_scope *scope)
{
    bool *leaves = scan_grow(NULL, scope->count, sizeof *leaves);

    memset(leaves, 0, (scope->count + 1) * sizeof *leaves);
    for (size_t i = 0; i < guards->count; i++) {
        const struct scan_guard *guard = &guards->guards[i];
        if (guard->function == SCOPE_FILE || !scope->functions[guard->function - 1].macro)
            continue;
        const struct scan_function *macro = &scope->functions[guard->function - 1];
        guards->work += (size_t)((macro->until ? macro->until : guards->text.end) - macro->from);
        if (guards->work > FLOW_MOST_WORK)
            break;
        struct scan_name name = scan_macro_name(&guards->text, macro, guard);
        if (name.index != KNOWN_NONE)
            scan_names_find(guards, name);
        leaves[guard->function - 1] |= name.asserts;
    }
    for (size_t i = 0; i < scope->count; i++) {
        const struct scan_word word = scope->functions[i].name;
        if (scope->functions[i].macro && !leaves[i] && is_known_to_leave(guards, word))
            scan_names_find(guards, (struct scan_name){.word = word, .index = SCAN_VOID});
    }
    free(leaves);
}

bool scan_names_learn(struct scan_guards *guards, const struct scan_scope *scope,
                      const struct scan_source *source)
{
    const size_t before = guards->name_count, void_before = count_void(guards);
    size_t last = SCOPE_FILE;

    find_macros(guards, scope);
    for (size_t i = 0; i < guards->found_count; i++)
        add_name(guards, guards->found[i]);
    for (size_t i = 0; i < source->count; i++) {
        const struct scan_source_call *call = &source->calls[i];
        if (!call->has && (call->asked > 0 || guards->release_count > 0) && call->function != last)
            add_function(guards, scope, last = call->function);
    }
    for (size_t i = 0; i < guards->mention_count; i++)
        add_function(guards, scope, guards->mentions[i].function);
    if (guards->name_count == 0)
        return false;
    sort_names(guards);
    return guards->name_count > before || count_void(guards) > void_before;
}
