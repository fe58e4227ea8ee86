/* SPDX-License-Identifier: MIT */
#include "scan_names.h"

#include "known.h"
#include "scan_aggregate.h"
#include "scan_filled.h"
#include "scan_flow.h"
#include "scan_macro.h"
#include "scan_wheel.h"

#include <stdlib.h>
#include <string.h>

/* More are not taken, of any file. */
enum { MOST_OPEN = 1 << 9, MOST_MENTIONS = 1 << 14, MOST_FOUND = 1 << 18, LONGEST_CHAIN = 256 };

static int compare_pointers(const char *a, const char *b)
{
    return (a > b) - (a < b);
}

/* Whose value it is. */
static int compare_owners(const struct scan_name *a, const struct scan_name *b)
{
    int words = scan_word_compare(a->word, b->word);

    if (words != 0)
        return words;
    if (a->output != b->output)
        return a->output < b->output ? -1 : 1;
    return (a->function > b->function) - (a->function < b->function);
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

const struct scan_name *scan_names_next(const struct scan_guards *guards, struct scan_name owner,
                                        const struct scan_name *last)
{
    size_t low = 0, high = guards->name_count;

    while (!last && low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_owners(&guards->names[middle], &owner) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    low = last ? (size_t)(last - guards->names) + 1 : low;
    return low < guards->name_count && compare_owners(&guards->names[low], &owner) == 0
               ? &guards->names[low]
               : NULL;
}

/* The next name that is the word in a function, behind `last`: the file's are first. */
static const struct scan_name *next_seen(const struct scan_guards *guards, struct scan_word word,
                                         size_t function, const struct scan_name *last)
{
    struct scan_name owner = {.word = word, .function = last ? last->function : SCOPE_FILE};
    const struct scan_name *next = scan_names_next(guards, owner, last);

    if (next || owner.function == function)
        return next;
    owner.function = function;
    return scan_names_next(guards, owner, NULL);
}

bool scan_names_is_answer(const struct scan_guards *guards, const struct scan_function *function)
{
    const struct scan_name owner = {.word = function->name};

    for (const struct scan_name *name = NULL; (name = scan_names_next(guards, owner, name));) {
        if (name->called || (function->macro && name->index != KNOWN_NONE && !name->asks))
            return true;
    }
    return false;
}

/* Before "name" in "&name", "&a->name" and "& name": behind the '&'. NULL: there is none. */
static const char *find_address(const char *from, const char *at)
{
    const char *least = at - from > LONGEST_CHAIN ? at - LONGEST_CHAIN : from;

    while (at > least && (scan_text_is_letter(at[-1]) || memchr(".->: \t", at[-1], 7)))
        at--;
    return at - least > 1 && at[-1] == '&' && at[-2] != '&' ? at : NULL;
}

/* "[&name]" and "[this, &name]" of a lambda. */
static bool is_captured(const char *from, const char *at)
{
    const char *least = at - from > LONGEST_CHAIN ? at - LONGEST_CHAIN : from;

    while (at > least && (scan_text_is_letter(at[-1]) || memchr("&*=, ", at[-1], 5)))
        at--;
    return at > least && at[-1] == '[';
}

/* Whether "type &other = " is before a place, "type &other{", "type &other(", without `const`. */
static bool binds(const char *text, const char *at)
{
    static const struct scan_word leaves = {"return", 6}, fixed = {"const", 5};

    at = scan_text_back_over_spaces(text, at);
    if (at - text < 4 || !memchr("=({", at[-1], 3))
        return false;
    const char *name = scan_text_back_over_spaces(text, at - 1), *end = name;
    while (name > text && scan_text_is_letter(name[-1]))
        name--;
    const char *mark = scan_text_back_over_spaces(text, name), *type = mark - 1;
    if (name == end || mark - text < 2 || mark[-1] != '&')
        return false;
    while (type > text && (scan_text_is_letter(type[-1]) || memchr(":<> \t\r\n*", type[-1], 8)))
        type--;
    const bool first = type == text || memchr(";{}", type[-1], 3);
    const struct scan_word word = scan_word_at(type, mark);
    return word.length > 0 && (first || (type[-1] == '(' && at[-1] == '=')) &&
           !scan_text_find_word(type, mark, fixed) && !scan_text_find_word(type, mark, leaves);
}

/* "&name" where no name is before the '&', "type &other = name" without `const`, "name++": it may
 * get another value. */
static bool is_changed(const struct scan_guards *guards, struct scan_word word)
{
    const char *text = guards->text.text, *at = word.text, *behind = at + word.length;
    const size_t least = 4; /* "f(& ", "++;" */

    if ((size_t)(at - text) < least || (size_t)(guards->text.end - behind) < least ||
        scan_filled_is(guards, word))
        return false;
    if (memcmp(behind, "++", 2) == 0 || memcmp(behind, "--", 2) == 0 ||
        memcmp(at - 2, "++", 2) == 0 || memcmp(at - 2, "--", 2) == 0)
        return true;
    const char *address = find_address(text, at);
    if (address) {
        const char *before = scan_text_back_over_spaces(text, address - 1);
        const bool returned = before - text > 6 && memcmp(before - 6, "return", 6) == 0;
        return before > text && (returned || memchr("(,={?:;", before[-1], 7)) &&
               !is_captured(text, address);
    }
    return binds(text, at);
}

const struct scan_name *scan_names_parameter(const struct scan_guards *guards,
                                             struct scan_word word, size_t function)
{
    const struct scan_name *name = NULL;

    while ((name = next_seen(guards, word, function, name)) && name->index != SCAN_PARAMETER &&
           name->release >= 0)
        continue;
    return name;
}

/* "a.name", "a->name": no variable of the function. */
static bool is_member(const struct scan_guards *guards, struct scan_word word)
{
    return word.text > guards->text.text && memchr(".>", word.text[-1], 2);
}

/* Whether the function has a variable of this name. */
static bool is_local(struct scan_guards *guards, struct scan_word word,
                     const struct scan_guard *place)
{
    if (place->function == SCOPE_FILE || !place->head || is_member(guards, word) ||
        guards->work > FLOW_MOST_WORK)
        return false;
    guards->work += (size_t)(word.text - place->head);
    return scan_text_declares(place->head, word, "*");
}

void scan_names_word(struct scan_guards *guards, struct scan_word word,
                     const struct scan_guard *place, bool called)
{
    const size_t function = is_member(guards, word) ? SCOPE_FILE : place->function;
    const struct scan_name *name = NULL;
    bool other = false;

    while ((name = next_seen(guards, word, function, name)))
        other |= name->index == SCAN_VOID;
    while ((name = next_seen(guards, word, function, name))) {
        if (name->index != KNOWN_NONE) {
            if (other || name->index == SCAN_VOID || (name->called && !called) ||
                name->release == SCAN_PAIR_RELEASE)
                continue;
            if (!name->called && is_changed(guards, word)) {
                const bool own = name->function == SCOPE_FILE && is_local(guards, word, place);
                scan_names_find(guards,
                                (struct scan_name){.word = word,
                                                   .index = SCAN_VOID,
                                                   .function = own ? function : name->function});
                continue;
            }
            struct scan_guard guard = *place;
            guard.index = name->index;
            guard.release = name->release;
            guard.name = word;
            guard.negated = name->negated;
            guard.joined = name->joined;
            guard.filled = name->filled;
            guard.divided = name->divided;
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
            (struct scan_mention){word.text, place->function, word, called};
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

/* `open` counts those that other files can call, of which not all are taken. */
static void add_function(struct scan_guards *guards, const struct scan_scope *scope, size_t which,
                         size_t *open)
{
    if (which != SCOPE_FILE && scope->functions[which - 1].name.length > 0 &&
        (scope->functions[which - 1].closed || (*open)++ < MOST_OPEN))
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

/* The oldest release of what several values tell. Of a version and a version / 1000 the number that
 * it is compared with tells which one it is. */
static bool merge_values(struct scan_name *names, size_t count)
{
    struct scan_name least = names[0];
    bool versions = true, releases = true;

    for (size_t i = 0; i < count; i++) {
        const struct scan_name *name = &names[i];
        const bool entry = name->index < CUSHIM_ENTRY_COUNT;
        const int release = entry ? known_entry(name->index).since : name->release;
        const bool version = name->index == SCAN_VERSION || name->index == SCAN_MAJOR;
        versions &= version && name->release == 0;
        releases &= (entry || version) && release > 0 && !name->negated;
        least.release = i == 0 || release < least.release ? release : least.release;
        least.filled &= name->filled;
        least.called |= name->called;
        least.joined = true;
    }
    least.index = SCAN_VERSION;
    least.divided = versions;
    names[0] = least;
    return versions || releases;
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
        names[kept++] = merge_values(names, count) ? names[0] : none;
    return kept;
}

/* Of each word without an answer nothing is kept, if that is so wished. */
static size_t sort_names(struct scan_name *names, size_t name_count, bool answers)
{
    const char **origins = scan_grow(NULL, name_count, sizeof *origins);
    size_t count = 0, kept = 0, end;

    if (name_count > 0)
        qsort(names, name_count, sizeof *names, compare_names);
    for (size_t i = 0; i < name_count; i = end) {
        bool answer = !answers;
        for (end = i; end < name_count && scan_word_compare(names[i].word, names[end].word) == 0;
             end++)
            answer |= names[end].index != SCAN_VOID || names[end].output > 0;
        for (size_t k = i; k < end && answer; k++) {
            if (k == i || compare_names(&names[k], &names[count - 1]) != 0)
                names[count++] = names[k];
        }
    }
    for (size_t i = 0; i < count; i = end) {
        for (end = i; end < count && compare_owners(&names[i], &names[end]) == 0;)
            end++;
        const size_t chosen = choose_values(names + i, end - i, origins);
        memmove(names + kept, names + i, chosen * sizeof *names);
        kept += chosen;
    }
    free(origins);
    return kept;
}

size_t scan_names_reduce(struct scan_name *names, size_t count)
{
    return sort_names(names, count, false);
}

/* Those that another reading sees as another value. */
static size_t count_other(const struct scan_guards *guards)
{
    size_t count = 0;

    for (size_t i = 0; i < guards->name_count; i++)
        count += guards->names[i].index == SCAN_VOID || guards->names[i].divided;
    return count;
}

static bool is_known_to_leave(const struct scan_guards *guards, struct scan_word word)
{
    const struct scan_name owner = {.word = word}, *name = NULL;

    while ((name = scan_names_next(guards, owner, name)) && !name->asserts)
        continue;
    return name;
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

/* What a function fills with another value: this reading may know the value. */
static void forget_outputs(struct scan_guards *guards)
{
    size_t kept = 0;

    for (size_t i = 0; i < guards->name_count; i++) {
        if (guards->names[i].output == 0 || guards->names[i].index != SCAN_VOID)
            guards->names[kept++] = guards->names[i];
    }
    guards->name_count = kept;
}

static void add_seeds(struct scan_guards *guards)
{
    for (size_t i = 0; i < guards->seed_count; i++) {
        const struct scan_name *seed = &guards->seeds[i];
        if (seed->index < SCAN_LEAVER)
            add_name(guards, *seed);
        else if (seed->index == SCAN_CALLEE || seed->index == SCAN_REACHED)
            add_name(guards, (struct scan_name){.word = seed->word, .index = KNOWN_NONE});
    }
}

const struct scan_name *scan_names_seeded(const struct scan_guards *guards, struct scan_word word,
                                          size_t index)
{
    const struct scan_name *seed =
        scan_word_find(guards->seeds, guards->seed_count, sizeof *guards->seeds, word);

    for (; seed && (size_t)(seed - guards->seeds) < guards->seed_count &&
           scan_word_compare(seed->word, word) == 0;
         seed++) {
        if (seed->index == index)
            return seed;
    }
    return NULL;
}

void scan_names_seed(struct scan_guards *guards, const struct scan_name *names, size_t count)
{
    guards->seeds = names;
    guards->seed_count = count;
    add_seeds(guards);
    guards->name_count = sort_names(guards->names, guards->name_count, true);
}

bool scan_names_learn(struct scan_guards *guards, const struct scan_scope *scope,
                      const struct scan_source *source)
{
    const size_t before = guards->name_count, other_before = count_other(guards);
    size_t last = SCOPE_FILE, open = 0;

    find_macros(guards, scope);
    scan_aggregate_find(guards);
    forget_outputs(guards);
    add_seeds(guards);
    for (size_t i = 0; i < guards->found_count; i++)
        add_name(guards, guards->found[i]);
    for (size_t i = 0; i < source->count; i++) {
        const struct scan_source_call *call = &source->calls[i];
        if (!call->has && (call->asked > 0 || guards->release_count > 0) && call->function != last)
            add_function(guards, scope, last = call->function, &open);
    }
    open = MOST_OPEN;
    for (size_t i = 0; i < guards->mention_count; i++)
        add_function(guards, scope, guards->mentions[i].function, &open);
    if (guards->name_count == 0)
        return false;
    guards->name_count = sort_names(guards->names, guards->name_count, true);
    return guards->name_count > before || count_other(guards) != other_before;
}
