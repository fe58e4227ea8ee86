/* SPDX-License-Identifier: MIT */
#include "scan_require.h"

#include "known.h"
#include "scan_wheel.h"

#include <cushim/feature.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_HEAD = 4096 };

/* Whether the word ends at a place. */
static bool ends_with(const char *from, const char *at, const char *word)
{
    size_t length = strlen(word);

    return (size_t)(at - from) >= length && memcmp(at - length, word, length) == 0 &&
           ((size_t)(at - from) == length || !scan_text_is_letter(at[-(ptrdiff_t)length - 1]));
}

/* "(void)", and the head of an `if` or a loop, whose last parenthesis is before a place. */
static bool is_head(const char *from, const char *at)
{
    const char *least = at - from > LONGEST_HEAD ? at - LONGEST_HEAD : from;
    int depth = 0;

    at = scan_text_back_over_spaces(from, at);
    const char *last = at;
    while (at > least) {
        at--;
        depth += (*at == ')') - (*at == '(');
        if (depth <= 0)
            break;
    }
    if (depth != 0 || at == last)
        return false;
    if (ends_with(at, last - 1, "void"))
        return true;
    at = scan_text_back_over_spaces(from, at);
    return ends_with(from, at, "if") || ends_with(from, at, "while") || ends_with(from, at, "for");
}

/* A statement of its own. */
static bool is_unused(const struct scan_text *in, const struct scan_require_place *place,
                      const char *close)
{
    static const char *const words[] = {"else", "do", NULL};
    const char *behind = scan_text_skip_spaces(close + 1, in->end);

    if (behind == in->end || *behind != ';')
        return false;
    if (place->last.length > 0)
        return scan_word_is_one_of(place->last, words);
    return memchr(";{}", place->before, 3) ||
           (place->before == ')' && is_head(in->text, place->call));
}

/* Behind "== CUSHIM_OK)", or behind ")" of an `if` that inverts; NULL: another condition. */
static const char *find_branch(const struct scan_text *in, const char *call, const char *close)
{
    const char *at = scan_text_back_over_spaces(in->text, call), *end = in->end;
    const bool negated = at > in->text && at[-1] == '!';

    at = scan_text_back_over_spaces(in->text, negated ? at - 1 : at);
    if (at == in->text || *--at != '(' ||
        !ends_with(in->text, scan_text_back_over_spaces(in->text, at), "if"))
        return NULL;
    at = scan_text_skip_spaces(close + 1, end);
    if (!negated) {
        struct scan_word value = scan_word_at(at, end);
        if (end - at < 2 || memcmp(at, "==", 2) != 0 ||
            !(scan_word_is(value, "CUSHIM_OK") || scan_word_is(value, "0")))
            return NULL;
        at = scan_text_skip_spaces(value.text + value.length, end);
    }
    return at < end && *at == ')' ? scan_text_skip_spaces(at + 1, end) : NULL;
}

/* The last statement of a branch: a short block has no block in it. */
static const char *find_last(const char *at, const char *end)
{
    if (at == end || *at != '{')
        return at;
    const char *close = memchr(at, '}', (size_t)(end - at)), *last = at + 1, *next;
    end = close ? close : end;
    while ((next = memchr(last, ';', (size_t)(end - last))) &&
           scan_text_skip_spaces(next + 1, end) < end)
        last = next + 1;
    return last;
}

/* if (cushim_require(...) == CUSHIM_OK) return 77; */
static bool is_inverted(const struct scan_text *in, const struct scan_require_place *place,
                        const char *close)
{
    static const char *const ends[] = {"throw", "abort", NULL};
    const char *at = find_branch(in, place->call, close);

    if (!at)
        return false;
    const struct scan_word word = scan_word_at(find_last(at, in->end), in->end);
    const struct scan_word value = scan_word_at(word.text + word.length, in->end);
    if (scan_word_is_one_of(word, ends))
        return true;
    bool failure = scan_word_is(value, "EXIT_FAILURE") || scan_text_number(in, value.text) > 1;
    bool program = place->program || scan_word_is(word, "exit");
    return (scan_word_is(word, "return") || scan_word_is(word, "exit")) &&
           (failure || (program && scan_word_is(value, "1")));
}

enum scan_require scan_require_use(const struct scan_text *in,
                                   const struct scan_require_place *place, const char *close)
{
    if (is_unused(in, place, close))
        return SCAN_REQUIRE_UNUSED;
    return is_inverted(in, place, close) ? SCAN_REQUIRE_INVERTED : SCAN_REQUIRE_COUNTS;
}

void scan_require_add(struct scan_source_require *require, size_t index)
{
    for (size_t i = 0; i < require->count; i++) {
        if (require->entries[i] == index)
            return;
    }
    require->entries = scan_grow(require->entries, require->count, sizeof *require->entries);
    require->entries[require->count++] = index;
}

bool scan_require_feature(const char *at, const char *end, struct scan_source_require *require)
{
    static const char prefix[] = "CUSHIM_FEATURE_";
    enum { LENGTH = sizeof prefix - 1, LONGEST = 64 };
    struct cushim_feature_facts facts = {.size = sizeof facts};
    enum cushim_feature feature;
    char name[LONGEST];
    size_t entry;

    at = memmem(at, (size_t)(end - at), prefix, LENGTH);
    const struct scan_word word = scan_word_at(at ? at : end, end);
    if (!at || word.length >= LENGTH + sizeof name)
        return false;
    for (size_t i = LENGTH; i < word.length; i++) /* MEMORY_POOLS: "memory-pools" */
        name[i - LENGTH] = word.text[i] == '_' ? '-' : (char)tolower((unsigned char)word.text[i]);
    name[word.length - LENGTH] = '\0';
    if (!cushim_feature_find(name, &feature) || !cushim_feature_list((size_t)feature, &facts))
        return false;
    require->release = facts.since;
    for (size_t i = 0; cushim_feature_entry(feature, i, &entry); i++)
        scan_require_add(require, entry);
    return true;
}

bool scan_require_variable(struct scan_text part, struct scan_word name,
                           struct scan_source_require *require)
{
    static const char prefix[] = "CUSHIM_FEATURE_";
    struct scan_word value = {NULL, 0};

    for (const char *at = part.text, *text = at, *end = part.end;
         name.length > 0 && (at = scan_text_find_word(at, end, name)); at++) {
        const char *before = scan_text_back_over_spaces(text, at);
        const char *behind = scan_text_skip_spaces(at + name.length, end);
        if (before > text && (before[-1] == '&' || before[-1] == '.' || before[-1] == '>'))
            return false;
        if (end - behind < 2 || *behind == '(' || (behind[0] == '=' && behind[1] == '='))
            continue;
        if (*behind != '=' && *behind != '{') {
            const bool typed = before > text && scan_text_is_letter(before[-1]);
            if (typed || memchr("+-|^&*/", *behind, 7) || memchr("+-", before[-1], 2))
                return false; /* a parameter, or without a value; or it changes */
            continue;
        }
        const struct scan_word next = scan_word_at(behind, end);
        const char *last = scan_text_skip_spaces(next.text + next.length, end);
        if (next.text != scan_text_skip_spaces(behind + 1, end) || next.length < sizeof prefix ||
            memcmp(next.text, prefix, sizeof prefix - 1) != 0 || last == end ||
            !memchr(";,})", *last, 4) || (value.length > 0 && scan_word_compare(value, next) != 0))
            return false;
        value = next;
    }
    return value.length > 0 && scan_require_feature(value.text, value.text + value.length, require);
}

/* Whether a guard is the call itself, or a name that holds what it tells. */
static bool is_of(const struct scan_guard *guard, const struct scan_source_require *require)
{
    if (guard->at == require->at)
        return true;
    if (guard->name.length == 0 || guard->comment)
        return false;
    if (guard->index == SCAN_VERSION)
        return guard->release > 0 && guard->release == require->release;
    for (size_t i = 0; i < require->count; i++) {
        if (require->entries[i] == guard->index)
            return true;
    }
    return false;
}

/* What follows runs only if it holds, or only if it does not: then its branch has all the work. */
static bool leaves(const struct scan_guard *guard, const char *text)
{
    if (guard->from && guard->end >= guard->from &&
        !ends_with(text, scan_text_back_over_spaces(text, guard->from), "else"))
        return true;
    return guard->until && guard->contrary >= guard->until &&
           guard->contrary_why == SCAN_WHY_INVERTED;
}

static bool has_leaver(const char *from, const char *end)
{
    static const char *const words[] = {"return", "exit", "abort", "throw", "goto", "assert", NULL};

    for (size_t i = 0; words[i]; i++) {
        if (memmem(from, (size_t)(end - from), words[i], strlen(words[i])))
            return true;
    }
    return false;
}

/* "CHECK(cushim_require(...))": the name before the parenthesis that the call is in is none of what
 * only prints, and no macro or function of the file that cannot leave. */
static bool is_taken(const struct scan_guards *guards, const struct scan_scope *scope,
                     const char *call)
{
    const char *text = guards->text.text, *at = call;
    const char *least = at - text > LONGEST_HEAD ? at - LONGEST_HEAD : text;
    int depth = 1;

    while (depth > 0 && at > least && !memchr(";{}", at[-1], 3)) {
        at--;
        depth += (*at == ')') - (*at == '(');
    }
    const char *end = scan_text_back_over_spaces(text, at), *begin = end;
    while (begin > text && scan_text_is_letter(begin[-1]))
        begin--;
    const struct scan_word name = {begin, (size_t)(end - begin)};
    if (depth > 0 || name.length == 0 || scan_word_has(name, "print") ||
        scan_word_has(name, "expect") || ends_with(text, end, "if") ||
        ends_with(text, end, "while"))
        return false;
    for (size_t i = 0; i < scope->count; i++) {
        const struct scan_function *function = &scope->functions[i];
        if (scan_word_compare(function->name, name) == 0 &&
            !has_leaver(function->macro ? function->from
                                        : function->name.text + function->name.length,
                        function->until ? function->until : guards->text.end))
            return false;
    }
    return true;
}

/* The function's value is the answer: its callers ask. */
static bool is_returned(const struct scan_guards *guards, struct scan_word function,
                        const struct scan_source_require *require)
{
    const struct scan_guard said = {.at = NULL, .name = function};

    for (size_t i = 0; i < guards->name_count; i++) {
        const struct scan_name *name = &guards->names[i];
        struct scan_guard told = said;
        told.index = name->index;
        told.release = name->release;
        if (name->called && scan_word_compare(name->word, function) == 0 && is_of(&told, require))
            return true;
    }
    return false;
}

/* Whether the file has the name elsewhere. */
static bool is_mentioned(const struct scan_guards *guards, struct scan_word name)
{
    const char *at = guards->text.text, *end = guards->text.end;

    while ((at = scan_text_find_word(at, end, name)) && at == name.text)
        at += name.length;
    return at;
}

static void settle(const struct scan_guards *guards, const struct scan_scope *scope,
                   struct scan_source_require *require)
{
    static const struct scan_function none = {0};
    enum { MOST_TRIES = 64 };
    bool counts = false, taken = false, here = false;
    size_t tries = 0;

    for (size_t i = 0; i < guards->count; i++) {
        if (guards->guards[i].at == require->at)
            require->function = guards->guards[i].function;
    }
    const struct scan_function *function =
        require->function != SCOPE_FILE ? &scope->functions[require->function - 1] : &none;
    for (size_t i = 0; i < guards->count; i++) {
        const struct scan_guard *guard = &guards->guards[i];
        if (!is_of(guard, require))
            continue;
        here |= guard->name.length > 0 && guard->function != require->function &&
                scan_word_compare(guard->name, function->name) == 0;
        counts |= leaves(guard, guards->text.text);
        taken |= guard->why == SCAN_WHY_ARGUMENT && tries++ < MOST_TRIES &&
                 is_taken(guards, scope, guard->at);
    }
    require->checked = !counts && taken;
    counts |= taken || (!here && is_returned(guards, function->name, require));
    if (!counts)
        require->use = SCAN_REQUIRE_STAYS;
    else if (function->name.length > 0 && !function->macro && !require->program &&
             !is_mentioned(guards, function->name) &&
             !memmem(function->from, (size_t)(function->name.text - function->from), "constructor",
                     strlen("constructor")))
        require->caller = scan_copy(function->name.text, function->name.length);
}

void scan_require_settle(const struct scan_guards *guards, const struct scan_scope *scope,
                         struct scan_source *source)
{
    for (size_t i = 0; i < source->require_count; i++) {
        if (source->requirements[i].use == SCAN_REQUIRE_COUNTS)
            settle(guards, scope, &source->requirements[i]);
    }
}
