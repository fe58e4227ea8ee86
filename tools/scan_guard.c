/* SPDX-License-Identifier: MIT */
#include "scan_guard.h"

#include "known.h"
#include "names.h"
#include "scan_callers.h"
#include "scan_flow.h"
#include "scan_instance.h"
#include "scan_names.h"
#include "scan_wheel.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* More are not taken, of any file. */
enum { MOST_GUARDS = 1 << 19, MOST_STEPS = 1 << 21, MOST_RELEASES = 128 };
enum { NEXT = 10 }; /* from a release to the next one that there can be */

/* Keys of guards are entries' indexes; behind those are releases of entries, and behind those
 * releases of a driver; a version that is compared with no number, or with less than any has. */
enum {
    RELEASES = CUSHIM_ENTRY_COUNT,
    VERSIONS = RELEASES + (1 << 20),
    NO_NUMBER = VERSIONS + (1 << 20),
    NO_RELEASE,
    ATTRIBUTES,
    NO_KEY
};

/* A function of all of them. */
static const size_t anywhere = SIZE_MAX;

/* Where a guard with a key is, or from where to where it holds. In a sorted array `last` is the one
 * with the latest end of all up to this one. */
struct asked {
    size_t function, key;
    const char *from, *until;
    const struct scan_guard *guard;
    const struct asked *last;
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

/* All releases, from the oldest. */
static size_t list_releases(int releases[MOST_RELEASES])
{
    size_t count = 0, at;

    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        int release = known_entry(i).since;
        for (at = count; at > 0 && releases[at - 1] > release;)
            at--;
        if (count == MOST_RELEASES || (at > 0 && releases[at - 1] == release))
            continue;
        memmove(&releases[at + 1], &releases[at], (count++ - at) * sizeof *releases);
        releases[at] = release;
    }
    return count;
}

/* The keys of what guards a call, one by one: its own CUSHIM_HAS, that of another entry of its
 * release, a version that is compared with no number, which guards nothing, and a version of that
 * release or a later one, as which each CUSHIM_HAS holds too. One of a newer release that does not
 * hold says nothing: without the newer entry an older one is called. */
static size_t wanted_key(const struct scan_guards *guards, size_t index, size_t which)
{
    const int since = known_entry(index).since;

    if (which == 0)
        return index;
    if (!is_everywhere(index))
        return NO_KEY;
    if (which == 1)
        return RELEASES + (size_t)since;
    if (which == 2)
        return NO_NUMBER;
    return guards->releases[which - 3] >= since ? VERSIONS + (size_t)guards->releases[which - 3]
                                                : NO_KEY;
}

static size_t count_keys(const struct scan_guards *guards)
{
    return 3 + guards->release_count;
}

/* The keys of a guard; the second may be none. */
static void find_keys(const struct scan_guards *guards, const struct scan_guard *guard,
                      size_t keys[2])
{
    keys[0] = keys[1] = NO_KEY;
    const bool version = scan_guard_is_version(guard);
    if (guard->index < CUSHIM_ENTRY_COUNT) {
        keys[0] = guard->index;
        keys[1] = RELEASES + (size_t)known_entry(guard->index).since;
    } else if (version && (guard->release < 0 || guard->why == SCAN_WHY_NUMBER ||
                           guard->why == SCAN_WHY_SWITCH)) {
        keys[0] = NO_NUMBER;
    } else if (guard->index == SCAN_REST && guard->name.length > 0 && guard->release > 0 &&
               !guard->whole) {
        keys[0] = NO_NUMBER;
    } else if (guard->index == SCAN_ATTRIBUTE) {
        keys[0] = ATTRIBUTES;
    }
    for (size_t i = 0; version && i < guards->release_count; i++) {
        if (guards->releases[i] <= guard->release)
            keys[0] = VERSIONS + (size_t)guards->releases[i];
    }
    if (version && keys[0] == NO_KEY && guard->release > 0)
        keys[0] = NO_RELEASE;
}

/* A driver that has an entry is of its release or a later one. */
static size_t held_key(size_t key)
{
    return key >= RELEASES && key < VERSIONS ? VERSIONS + key - RELEASES : key;
}

bool scan_guard_is_version(const struct scan_guard *guard)
{
    return guard->index == SCAN_VERSION || guard->index == SCAN_MAJOR;
}

void scan_guards_add(struct scan_guards *guards, const struct scan_guard *guard)
{
    if (guards->count == MOST_GUARDS)
        return;
    guards->guards = scan_grow(guards->guards, guards->count, sizeof *guards->guards);
    guards->guards[guards->count++] = *guard;
}

static int compare_mentions(const void *left, const void *right)
{
    const struct scan_mention *a = left, *b = right;
    int names = scan_word_compare(a->name, b->name);

    return names != 0 ? names : (a->at > b->at) - (a->at < b->at);
}

static int compare_asked(const void *left, const void *right)
{
    const struct asked *a = left, *b = right;

    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
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
    return function != SCOPE_FILE &&
           scan_word_compare(scope->functions[function - 1].name, name) == 0;
}

static struct asked *add_asked(struct asked *array, size_t *count, struct asked asked)
{
    array = scan_grow(array, *count, sizeof *array);
    array[(*count)++] = asked;
    return array;
}

static void add_held(struct scan_guards *guards, const struct scan_guard *guard, size_t key,
                     const char *from, const char *until)
{
    if (until && from < until)
        guards->held = add_asked(guards->held, &guards->held_count,
                                 (struct asked){guard->function, key, from, until, guard, NULL});
}

/* One that asks itself, or by a name of which another file has the question. */
static bool is_question(const struct scan_guards *guards, const struct scan_guard *guard)
{
    return !guard->filled &&
           (guard->name.length == 0 || scan_names_seeded(guards, guard->name, guard->index));
}

static void sort_guards(struct scan_guards *guards, const struct scan_scope *scope, const char *end)
{
    for (size_t i = 0; i < guards->count; i++) {
        const struct scan_guard *guard = &guards->guards[i];
        size_t keys[2];
        if (guard->name.length > 0 && is_within(scope, guard->function, guard->name))
            continue;
        find_keys(guards, guard, keys);
        for (size_t k = 0; k < 2 && keys[k] != NO_KEY; k++) {
            struct asked asked = {guard->function, keys[k], guard->at, NULL, guard, NULL};
            if (!guard->filled || guard->why == SCAN_WHY_ARGUMENT)
                guards->asked = add_asked(guards->asked, &guards->asked_count, asked);
            asked.function = anywhere;
            if (is_question(guards, guard) && !scan_guard_is_version(guard))
                guards->asked = add_asked(guards->asked, &guards->asked_count, asked);
            const size_t key = held_key(keys[k]);
            add_held(guards, guard, key, guard->at, guard->comment ? end + 1 : guard->until);
            add_held(guards, guard, key, guard->from, guard->end);
        }
    }
    for (size_t i = 0; i < guards->case_count; i++) {
        const struct scan_case *one = &guards->cases[i];
        struct scan_guard guard = guards->guards[one->guard];
        size_t keys[2];
        guard.release = one->release > 0 ? one->release : guard.release;
        find_keys(guards, &guard, keys);
        for (size_t k = 0; k < 2 && keys[k] != NO_KEY; k++)
            add_held(guards, &guards->guards[one->guard], held_key(keys[k]), one->from, one->until);
    }
    if (guards->asked_count > 0)
        qsort(guards->asked, guards->asked_count, sizeof *guards->asked, compare_asked);
    if (guards->held_count > 0)
        qsort(guards->held, guards->held_count, sizeof *guards->held, compare_asked);
    for (size_t i = 0; i < guards->held_count; i++) {
        struct asked *held = &guards->held[i];
        held->last = i > 0 && held->function == held[-1].function && held->key == held[-1].key &&
                             held->until < held[-1].last->until
                         ? held[-1].last
                         : held;
    }
}

/* How many are before those with a key that are behind a place. */
static size_t count_asked(const struct asked *array, size_t count, struct asked wanted)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_asked(&array[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The last one with a key that is not behind a place, or the first one of all; NULL: none. */
static const struct asked *find_asked(const struct asked *array, size_t count, size_t function,
                                      size_t key, const char *place)
{
    size_t at =
        count_asked(array, count, (struct asked){.function = function, .key = key, .from = place});

    if (place && at-- == 0)
        return NULL;
    return at < count && array[at].function == function && array[at].key == key ? &array[at] : NULL;
}

/* The guard with the latest end of those with a key that hold at a place. */
static const struct scan_guard *find_held(const struct scan_guards *guards, size_t function,
                                          size_t key, const char *place)
{
    const struct asked *held = find_asked(guards->held, guards->held_count, function, key, place);

    return held && held->last->until > place ? held->last->guard : NULL;
}

static bool is_asked(const struct scan_guards *guards, size_t function, size_t index,
                     const char *place)
{
    for (size_t i = 0; i < count_keys(guards); i++) {
        const size_t key = wanted_key(guards, index, i);
        if (key != NO_NUMBER && find_held(guards, function, key, place))
            return true;
    }
    return false;
}

/* Each guard that holds at a call asks another table: the line of one. */
static size_t find_other_table(struct scan_guards *guards, const struct scan_scope *scope,
                               const struct scan_source_call *call)
{
    size_t line = 0;

    for (size_t i = 0; i < count_keys(guards); i++) {
        const size_t key = wanted_key(guards, call->index, i);
        const struct asked *held =
            find_asked(guards->held, guards->held_count, call->function, key, call->at);
        for (; held && held >= guards->held && held->function == call->function &&
               held->key == key && held->last->until > call->at;
             held--) {
            if (held->until <= call->at)
                continue;
            if (!scan_instance_differs(guards, scope, held->guard, call))
                return 0;
            line = held->guard->line;
        }
    }
    return line;
}

size_t scan_guards_mention(const struct scan_guards *guards, struct scan_word name)
{
    size_t low = 0, high = guards->mention_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (scan_word_compare(guards->mentions[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* "if (...) MACRO();" decides about the first of its statements alone. */
static bool has_statements(const struct scan_guards *guards, const struct scan_function *function)
{
    const char *until = function->until ? function->until : guards->text.end;
    bool ended = false;
    int depth = 0;

    for (const char *at = function->from; function->macro && at < until; at++) {
        depth += (*at == '(' || *at == '{') - (*at == ')' || *at == '}');
        if (ended && !isspace((unsigned char)*at) && *at != '\\')
            return true;
        ended |= *at == ';' && depth == 0;
    }
    return false;
}

/* Behind the statement that a mention is in. */
static const char *behind_statement(const struct scan_guards *guards, const char *at)
{
    const char *end = memchr(at, ';', (size_t)(guards->text.end - at));

    return end ? end + 1 : guards->text.end;
}

/* Whether each place that calls a function asks before it, or is in a function of which that is
 * true. */
static bool is_asked_by_callers(struct scan_guards *guards, const struct scan_scope *scope,
                                size_t which, size_t index, int levels)
{
    const struct scan_function *function = &scope->functions[which - 1];
    const bool several = has_statements(guards, function);
    size_t calls = 0;

    if (levels == 0 || !function->closed || function->name.length == 0 || guards->full)
        return false;
    for (size_t i = scan_guards_mention(guards, function->name); i < guards->mention_count; i++) {
        const struct scan_mention *mention = &guards->mentions[i];
        if (scan_word_compare(mention->name, function->name) != 0)
            break;
        if (mention->function == SCOPE_FILE && mention->called)
            continue; /* a declaration */
        if (mention->function == SCOPE_FILE)
            return false;
        if (is_within(scope, mention->function, mention->name))
            continue;
        guards->full |= ++guards->steps > MOST_STEPS;
        const char *place = several ? behind_statement(guards, mention->at) : mention->at;
        if (!is_asked(guards, mention->function, index, place) &&
            !is_asked_by_callers(guards, scope, mention->function, index, levels - 1))
            return false;
        calls++;
    }
    return calls > 0;
}

bool scan_guards_asked(struct scan_guards *guards, const struct scan_scope *scope, size_t function,
                       size_t index, const char *place)
{
    return is_asked(guards, function, index, place) ||
           (function != SCOPE_FILE &&
            is_asked_by_callers(guards, scope, function, index, SCAN_READINGS - 1));
}

/* Whether a version is compared with the release of an entry, as "< 11020" or "<= 11020", and with
 * no newer one. */
static bool is_release(const struct scan_guards *guards, const struct scan_guard *guard,
                       size_t index)
{
    size_t keys[2];

    find_keys(guards, guard, keys);
    return guard->compared && (keys[0] == VERSIONS + (size_t)known_entry(index).since ||
                               guard->release == known_entry(index).since + NEXT);
}

/* The last guard before the call in its function does not count. */
static void find_why(const struct scan_guards *guards, struct scan_source_call *call)
{
    const struct scan_guard *found = NULL;

    for (size_t i = 0; i < count_keys(guards); i++) {
        const struct asked *asked = find_asked(guards->asked, guards->asked_count, call->function,
                                               wanted_key(guards, call->index, i), call->at);
        if (asked && (!found || found->at < asked->guard->at))
            found = asked->guard;
    }
    if (!found)
        return;
    const bool contrary = found->contrary <= call->at && call->at < found->contrary_end;
    call->asked = found->line;
    call->why = contrary ? found->contrary_why : found->why;
    call->certain = contrary && !found->joined &&
                    (found->index < CUSHIM_ENTRY_COUNT || is_release(guards, found, call->index));
    if ((scan_guard_is_version(found) && found->release < 0) || found->index == SCAN_REST)
        call->why = SCAN_WHY_NUMBER;
    call->why_line = found->why_line;
}

/* A guard that is in another function alone, or behind the call. */
static void find_others(const struct scan_guards *guards, const char *end,
                        struct scan_source_call *call)
{
    for (size_t i = 0; i < 2 * count_keys(guards) && call->asked == 0; i++) {
        const struct asked *asked =
            find_asked(guards->asked, guards->asked_count, anywhere,
                       wanted_key(guards, call->index, i / 2), i % 2 > 0 ? end : NULL);
        if (asked && asked->guard->function != call->function) {
            call->asked = asked->guard->line;
            call->why = SCAN_WHY_ELSEWHERE;
        } else if (asked && call->late == 0) {
            call->late = asked->guard->line;
        }
    }
}

/* A condition around the call is an attribute of the device. */
static void find_attribute(const struct scan_guards *guards, struct scan_source_call *call)
{
    const struct scan_guard *held = find_held(guards, call->function, ATTRIBUTES, call->at);

    if (!held)
        return;
    call->asked = held->line;
    call->why = SCAN_WHY_ATTRIBUTE;
}

/* A guard that holds, and is of an older release. A name may have another answer, too. */
static void find_old(const struct scan_guards *guards, struct scan_source_call *call, bool names)
{
    const int since = known_entry(call->index).since;

    for (size_t i = guards->release_count; i-- > 0 && call->old == 0;) {
        const size_t key = VERSIONS + (size_t)guards->releases[i];
        const struct scan_guard *held = find_held(guards, call->function, key, call->at);
        if (guards->releases[i] >= since || !held || held->filled || held->comment)
            continue;
        if (!names && !held->compared && !is_question(guards, held))
            continue;
        call->old = held->line;
        call->old_release = guards->releases[i];
    }
}

/* A lambda runs later, perhaps behind the guard that comes after it. */
static void find_lambda(struct scan_guards *guards, struct scan_source_call *call)
{
    guards->steps += guards->lambda_count;
    for (size_t i = 0; call->late > 0 && guards->steps < MOST_STEPS && i < guards->lambda_count;
         i++) {
        const struct scan_lambda *lambda = &guards->lambdas[i];
        if (lambda->function != call->function || call->at < lambda->from ||
            call->at >= lambda->until)
            continue;
        call->asked = call->late;
        call->late = 0;
        call->why = SCAN_WHY_LAMBDA;
    }
}

/* A declaration outside functions: what is behind its last guard is not far. */
enum { LONGEST_REST = 256 };

/* Each function with guards, and each declaration. */
static void read_flow(struct scan_guards *guards, const struct scan_scope *scope,
                      const struct scan_text *text)
{
    bool *seen = scan_grow(NULL, scope->count, sizeof *seen);
    size_t low, high;

    memset(seen, 0, (scope->count + 1) * sizeof *seen);
    for (size_t i = 0; i < guards->count; i++) {
        const struct scan_guard *guard = &guards->guards[i];
        struct scan_text part = {guard->head, guard->head, guard->at, guard->line};
        if (guard->function != SCOPE_FILE) {
            seen[guard->function - 1] |= !guard->comment;
            continue;
        }
        if (!guard->head || (i > 0 && guard[-1].head == guard->head))
            continue;
        for (high = i; high + 1 < guards->count && guards->guards[high + 1].head == guard->head;)
            high++;
        part.end = guards->guards[high].at;
        part.end += text->end - part.end < LONGEST_REST ? text->end - part.end : LONGEST_REST;
        scan_flow_read(guards, scope, SCOPE_FILE, part, i);
    }
    for (size_t i = 0; i < scope->count; i++) {
        const struct scan_function *function = &scope->functions[i];
        if (!seen[i] && !scan_names_is_answer(guards, function))
            continue;
        for (low = 0, high = guards->count; low < high;) {
            size_t middle = low + (high - low) / 2;
            if (guards->guards[middle].at < function->from)
                low = middle + 1;
            else
                high = middle;
        }
        const struct scan_text part = {function->from, function->from,
                                       function->until ? function->until : text->end,
                                       function->line};
        scan_flow_read(guards, scope, i + 1, part, low);
    }
    free(seen);
}

void scan_guards_settle(struct scan_guards *guards, const struct scan_scope *scope,
                        const struct scan_text *text, struct scan_source *source)
{
    struct {
        size_t function; /* that was examined last */
        bool answer;
    } known[CUSHIM_ENTRY_COUNT] = {{SCOPE_FILE, false}};

    if (guards->mention_count > 0)
        qsort(guards->mentions, guards->mention_count, sizeof *guards->mentions, compare_mentions);
    if (guards->count == 0)
        return;
    guards->release_count = list_releases(guards->releases);
    read_flow(guards, scope, text);
    sort_guards(guards, scope, text->end);
    for (size_t i = 0; i < source->count; i++) {
        struct scan_source_call *call = &source->calls[i];
        size_t index = call->index, function = call->function;
        call->has = is_asked(guards, function, index, call->at);
        const size_t other = call->has ? find_other_table(guards, scope, call) : 0;
        if (other > 0) {
            call->has = false;
            call->asked = other;
            call->why = SCAN_WHY_TABLE;
            continue;
        }
        if (!call->has && function != SCOPE_FILE && known[index].function != function) {
            known[index].function = function;
            known[index].answer =
                is_asked_by_callers(guards, scope, function, index, SCAN_READINGS - 1);
        }
        call->has = call->has || (function != SCOPE_FILE && known[index].function == function &&
                                  known[index].answer);
        call->has = call->has || scan_callers_of_lambda(guards, scope, call);
        if (call->has)
            continue;
        find_why(guards, call);
        if (call->asked == 0)
            find_old(guards, call, false);
        if (call->old == 0)
            find_others(guards, text->end, call);
        find_lambda(guards, call);
        if (call->asked + call->late + call->old == 0)
            find_attribute(guards, call);
        const bool farther = call->why == SCAN_WHY_FORM || call->why == SCAN_WHY_ENDED;
        const struct scan_guard *odd = find_held(guards, function, NO_RELEASE, call->at);
        call->odd = odd ? odd->line : 0;
        if (call->asked + call->late == 0 || (farther && call->asked > 0))
            find_old(guards, call, true);
        if (call->asked > 0 && call->old <= call->asked)
            call->old = 0; /* it is no nearer */
    }
}

void scan_guards_free(struct scan_guards *guards)
{
    free(guards->guards);
    free(guards->cases);
    free(guards->lambdas);
    free(guards->mentions);
    free(guards->names);
    free(guards->found);
    free(guards->held);
    free(guards->asked);
}
