/* SPDX-License-Identifier: MIT */
#include "scan_guard.h"

#include "known.h"
#include "names.h"
#include "scan_wheel.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* More are not taken, of any file. */
enum { MOST_GUARDS = 1 << 20, MOST_MENTIONS = 1 << 14, MOST_STEPS = 1 << 21 };

/* A function of all of them. */
static const size_t anywhere = SIZE_MAX;

/* That a function asks for an entry, or for a release: those have numbers behind the entries'. */
struct asked {
    size_t function, key;
    const struct scan_guard *guard;
};

/* A driver that has one entry of a release has all of it, but for those of other platforms and
 * these two (eleven drivers; tests/drivers). */
static bool is_everywhere(size_t index)
{
    static const char *const late[] = {NAMES_VALUE(cuDeviceGetLuid),
                                       NAMES_VALUE(cuEventCreateFromEGLSync)};

    for (size_t i = 0; i < sizeof late / sizeof late[0]; i++) {
        if (strcmp(known_entry(index).symbol, late[i]) == 0)
            return false;
    }
    return known_platforms[index] == KNOWN_ANYWHERE;
}

static size_t release_key(size_t index)
{
    return CUSHIM_ENTRY_COUNT + (size_t)known_entry(index).since;
}

/* What guards a call: its own CUSHIM_HAS, or that of another entry of its release. One of a newer
 * release says nothing: what is done without the newer entry calls an older one. */
struct wanted {
    size_t keys[2], count;
};

static struct wanted wanted_of(size_t index)
{
    return (struct wanted){{index, release_key(index)}, is_everywhere(index) ? 2 : 1};
}

void scan_guards_add(struct scan_guards *guards, const struct scan_guard *guard)
{
    if (guards->count == MOST_GUARDS)
        return;
    guards->guards = scan_grow(guards->guards, guards->count, sizeof *guards->guards);
    guards->guards[guards->count++] = *guard;
}

void scan_guards_forget(struct scan_guards *guards, struct scan_word holder)
{
    for (size_t i = guards->count; i > 0 && holder.text; i--) {
        if (guards->guards[i - 1].holder.text != holder.text)
            return;
        guards->guards[i - 1].holder = (struct scan_word){NULL, 0};
    }
}

static int compare_words(struct scan_word a, struct scan_word b)
{
    if (a.length != b.length)
        return a.length < b.length ? -1 : 1;
    return a.length > 0 ? memcmp(a.text, b.text, a.length) : 0;
}

static int compare_names(const void *left, const void *right)
{
    const struct scan_name *a = left, *b = right;
    int words = compare_words(a->word, b->word);

    return words != 0 ? words : (a->index > b->index) - (a->index < b->index);
}

static int compare_mentions(const void *left, const void *right)
{
    const struct scan_mention *a = left, *b = right;
    int names = compare_words(a->name, b->name);

    return names != 0 ? names : (a->at > b->at) - (a->at < b->at);
}

static int compare_asked(const void *left, const void *right)
{
    const struct asked *a = left, *b = right;

    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->guard->at > b->guard->at) - (a->guard->at < b->guard->at);
}

void scan_guards_word(struct scan_guards *guards, struct scan_word word, size_t line,
                      size_t function, bool called)
{
    size_t low = 0, high = guards->name_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_words(guards->names[middle].word, word) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < guards->name_count && compare_words(guards->names[low].word, word) == 0; low++) {
        size_t index = guards->names[low].index;
        if (index != KNOWN_NONE) {
            scan_guards_add(guards,
                            &(struct scan_guard){word.text, line, function, index, {0}, word});
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

void scan_guards_begin(struct scan_guards *guards, const char *head, size_t function)
{
    for (size_t i = guards->count; i > 0 && guards->guards[i - 1].at >= head; i--) {
        if (guards->guards[i - 1].function == SCOPE_FILE)
            guards->guards[i - 1].function = function;
    }
    for (size_t i = guards->mention_count; i > 0 && guards->mentions[i - 1].at >= head; i--) {
        if (guards->mentions[i - 1].function == SCOPE_FILE)
            guards->mentions[i - 1].function = function;
    }
}

/* Whether the name is in the head of its own function, or in its body. */
static bool is_within(const struct scan_scope *scope, size_t function, struct scan_word name)
{
    return function != SCOPE_FILE && compare_words(scope->functions[function - 1].name, name) == 0;
}

static void sort_guards(struct scan_guards *guards, const struct scan_scope *scope)
{
    free(guards->asked);
    guards->asked_count = 0;
    guards->asked = scan_grow(NULL, 4 * guards->count, sizeof *guards->asked);
    for (size_t i = 0; i < guards->count; i++) {
        const struct scan_guard *guard = &guards->guards[i];
        const size_t keys[] = {guard->index, release_key(guard->index)};
        if (guard->name.length > 0 && is_within(scope, guard->function, guard->name))
            continue;
        for (size_t k = 0; k < 2; k++) {
            guards->asked[guards->asked_count++] = (struct asked){guard->function, keys[k], guard};
            if (guard->name.length == 0)
                guards->asked[guards->asked_count++] = (struct asked){anywhere, keys[k], guard};
        }
    }
    qsort(guards->asked, guards->asked_count, sizeof *guards->asked, compare_asked);
}

/* The first place where a function asks for it, or the last one; NULL: none. */
static const struct scan_guard *find_asked(const struct scan_guards *guards, size_t function,
                                           size_t key, bool last)
{
    size_t low = 0, high = guards->asked_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct asked *asked = &guards->asked[middle];
        if (asked->function < function || (asked->function == function && asked->key < key) ||
            (last && asked->function == function && asked->key == key))
            low = middle + 1;
        else
            high = middle;
    }
    if (last && low-- == 0)
        return NULL;
    return low < guards->asked_count && guards->asked[low].function == function &&
                   guards->asked[low].key == key
               ? guards->asked[low].guard
               : NULL;
}

static bool is_asked(const struct scan_guards *guards, size_t function, const struct wanted *wanted,
                     const char *before)
{
    for (size_t i = 0; i < wanted->count; i++) {
        const struct scan_guard *guard = find_asked(guards, function, wanted->keys[i], false);
        if (guard && guard->at < before)
            return true;
    }
    return false;
}

/* The first mention of a name; scan_guards_settle sorted them. */
static size_t find_mention(const struct scan_guards *guards, struct scan_word name)
{
    size_t low = 0, high = guards->mention_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_words(guards->mentions[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether each place that calls a function asks before it, or is in a function of which that is
 * true. */
static bool is_asked_by_callers(struct scan_guards *guards, const struct scan_scope *scope,
                                size_t which, const struct wanted *wanted, int levels)
{
    const struct scan_function *function = &scope->functions[which - 1];
    size_t calls = 0, caller = SCOPE_FILE;

    if (levels == 0 || !function->closed || function->name.length == 0 || guards->full)
        return false;
    for (size_t i = find_mention(guards, function->name); i < guards->mention_count; i++) {
        const struct scan_mention *mention = &guards->mentions[i];
        if (compare_words(mention->name, function->name) != 0)
            break;
        if (mention->function == SCOPE_FILE && mention->called)
            continue; /* a declaration */
        if (mention->function == SCOPE_FILE)
            return false;
        if (mention->function == caller || is_within(scope, mention->function, mention->name))
            continue;
        guards->full |= ++guards->steps > MOST_STEPS;
        if (!is_asked(guards, mention->function, wanted, mention->at) &&
            !is_asked_by_callers(guards, scope, mention->function, wanted, levels - 1))
            return false;
        caller = mention->function; /* what is behind its first call is behind the guard, too */
        calls++;
    }
    return calls > 0;
}

/* A guard that is in another function alone, or behind the call. */
static void find_others(const struct scan_guards *guards, const struct wanted *wanted,
                        struct scan_source_call *call)
{
    for (size_t i = 0; i < wanted->count && call->asked == 0; i++) {
        for (int last = 0; last < 2; last++) {
            const struct scan_guard *guard = find_asked(guards, anywhere, wanted->keys[i], last);
            if (guard && guard->function != call->function && call->asked == 0)
                call->asked = guard->line;
            else if (guard && call->late == 0)
                call->late = guard->line;
        }
    }
}

void scan_guards_settle(struct scan_guards *guards, const struct scan_scope *scope,
                        struct scan_source *source)
{
    struct {
        struct wanted wanted;
        size_t function; /* that was examined last */
        bool answer;
    } known[CUSHIM_ENTRY_COUNT] = {{{{0}, 0}, SCOPE_FILE, false}};

    if (guards->count == 0)
        return;
    sort_guards(guards, scope);
    if (guards->mention_count > 0)
        qsort(guards->mentions, guards->mention_count, sizeof *guards->mentions, compare_mentions);
    for (size_t i = 0; i < source->count; i++) {
        struct scan_source_call *call = &source->calls[i];
        size_t index = call->index, function = call->function;
        if (known[index].wanted.count == 0)
            known[index].wanted = wanted_of(index);
        const struct wanted *wanted = &known[index].wanted;
        call->has = is_asked(guards, function, wanted, call->at);
        if (!call->has && function != SCOPE_FILE && known[index].function != function) {
            known[index].function = function;
            known[index].answer =
                is_asked_by_callers(guards, scope, function, wanted, SCAN_READINGS - 1);
        }
        call->has = call->has || (function != SCOPE_FILE && known[index].function == function &&
                                  known[index].answer);
        if (!call->has)
            find_others(guards, wanted, call);
    }
}

static void add_name(struct scan_guards *guards, struct scan_word word, size_t index)
{
    guards->names = scan_grow(guards->names, guards->name_count, sizeof *guards->names);
    guards->names[guards->name_count++] = (struct scan_name){word, index};
}

static void add_function(struct scan_guards *guards, const struct scan_scope *scope, size_t which)
{
    if (which != SCOPE_FILE && scope->functions[which - 1].closed &&
        scope->functions[which - 1].name.length > 0)
        add_name(guards, scope->functions[which - 1].name, KNOWN_NONE);
}

bool scan_guards_name(struct scan_guards *guards, const struct scan_scope *scope,
                      const struct scan_source *source)
{
    size_t before = guards->name_count, last = SCOPE_FILE;

    for (size_t i = 0; i < guards->count; i++) {
        if (guards->guards[i].holder.length > 0)
            add_name(guards, guards->guards[i].holder, guards->guards[i].index);
    }
    for (size_t i = 0; i < source->count; i++) {
        if (source->calls[i].asked > 0 && source->calls[i].function != last)
            add_function(guards, scope, last = source->calls[i].function);
    }
    for (size_t i = 0; i < guards->mention_count; i++)
        add_function(guards, scope, guards->mentions[i].function);
    if (guards->name_count == 0)
        return false;
    qsort(guards->names, guards->name_count, sizeof *guards->names, compare_names);
    size_t count = 1;
    for (size_t i = 1; i < guards->name_count; i++) {
        if (compare_names(&guards->names[i], &guards->names[count - 1]) != 0)
            guards->names[count++] = guards->names[i];
    }
    guards->name_count = count;
    return count > before;
}

void scan_guards_free(struct scan_guards *guards)
{
    free(guards->guards);
    free(guards->mentions);
    free(guards->names);
    free(guards->asked);
}
