/* SPDX-License-Identifier: MIT */
#include "scan_shared.h"

#include "known.h"
#include "scan_callers.h"
#include "scan_constant.h"
#include "scan_names.h"
#include "scan_owned.h"
#include "scan_result.h"
#include "scan_wheel.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* More are not taken, of any file. */
enum { MOST_SHARED = 1 << 12 };

/* Names, with copies of their words, in the order of scan_names_reduce. */
struct list {
    struct scan_name *names;
    size_t count;
};

/* The names of a file, and those that it has from the next round on. */
struct scan_shared_file {
    struct list now, next;
    bool changed;
    uint64_t told; /* a hash of what other files told it last; 0: nothing */
};

/* A name of a file. */
struct row {
    const struct scan_name *name;
    size_t file;
};

/* A word, and all names that it is. */
struct scan_shared_word {
    struct scan_word word;
    struct row *rows;
    size_t count; /* of those that answer; behind them are those of callers */
    size_t all;
    size_t declared; /* structs and variables that have it */
};

static struct scan_shared_word *find_word(const struct scan_shared *shared, struct scan_word word)
{
    return (struct scan_shared_word *)scan_word_find(shared->words, shared->word_count,
                                                     sizeof *shared->words, word);
}

/* Whether one of the names is of the file, or one is of another. */
static bool has_row(const struct scan_shared_word *word, size_t file, bool other)
{
    for (size_t i = 0; i < word->count; i++) {
        if ((word->rows[i].file != file) == other)
            return true;
    }
    return false;
}

static bool is_same(const struct scan_name *a, const struct scan_name *b)
{
    return scan_word_compare(a->word, b->word) == 0 && a->output == b->output &&
           a->index == b->index && a->release == b->release && a->negated == b->negated &&
           a->filled == b->filled && a->called == b->called && a->joined == b->joined &&
           a->divided == b->divided && a->asks == b->asks && a->asserts == b->asserts;
}

static void free_list(struct list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free((char *)list->names[i].word.text);
    free(list->names);
    *list = (struct list){NULL, 0};
}

/* Whether other files mean the same by a word. */
static bool is_shared(const struct scan_owned *owned, size_t count, struct scan_word word,
                      bool header)
{
    const struct scan_owned *one = scan_owned_find(owned, count, word);

    for (; one && one < owned + count && scan_word_compare(one->word, word) == 0; one++) {
        if (one->kind == SCAN_OWNED_STATIC || (one->kind == SCAN_OWNED_CLOSED && !header))
            return false;
    }
    return true;
}

/* A function of the file that another file answers by, and that answers by nothing here. */
static size_t add_functions(const struct scan_shared *shared, size_t file,
                            const struct scan_owned *owned, size_t owned_count, bool header,
                            struct scan_name **names, size_t count)
{
    const size_t own = count;

    for (size_t i = 0; i < owned_count; i++) {
        const struct scan_owned *one = &owned[i];
        const struct scan_shared_word *word = find_word(shared, one->word);
        bool known = !word || !has_row(word, file, true);
        if (one->kind != SCAN_OWNED_FUNCTION && !(one->kind == SCAN_OWNED_CLOSED && header))
            continue;
        for (size_t k = 0; k < own && !known; k++)
            known = scan_word_compare((*names)[k].word, one->word) == 0;
        if (known || (i > 0 && scan_word_compare(owned[i - 1].word, one->word) == 0))
            continue;
        *names = scan_grow(*names, count, sizeof **names);
        (*names)[count++] = (struct scan_name){.word = one->word, .index = SCAN_VOID};
    }
    return count;
}

/* Names that other files may have, too; what holds no answer is needed only where another file has
 * one. */
static size_t choose(const struct scan_shared *shared, const struct scan_owned *owned,
                     size_t owned_count, bool header, struct scan_name *names, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0, end; names && i < count; i = end) {
        bool answer = find_word(shared, names[i].word);
        for (end = i; end < count && scan_word_compare(names[i].word, names[end].word) == 0; end++)
            answer |= names[end].index != SCAN_VOID;
        answer = answer && is_shared(owned, owned_count, names[i].word, header);
        for (size_t k = i; k < end && answer; k++)
            names[kept++] = names[k];
    }
    return kept < MOST_SHARED ? kept : MOST_SHARED;
}

/* Names with words of their own. All values of one are of one place. */
static void own_words(struct scan_name *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *copy = scan_copy(names[i].word.text, names[i].word.length);
        names[i].word.text = copy;
        const bool first = i == 0 || names[i].output != names[i - 1].output ||
                           scan_word_compare(names[i].word, names[i - 1].word) != 0;
        names[i].origin = first ? copy : names[i - 1].origin;
    }
}

/* The names are the file's from the next round on. */
static bool keep(struct scan_shared_file *of, struct list next)
{
    bool changed = next.count != of->now.count;

    for (size_t i = 0; i < next.count && !changed; i++)
        changed = !is_same(&next.names[i], &of->now.names[i]);
    if (!changed) {
        free(next.names);
        return false;
    }
    free_list(&of->next);
    own_words(next.names, next.count);
    of->next = next;
    return of->changed = true;
}

static struct scan_name *add(struct scan_name *names, size_t *count, struct scan_name name)
{
    names = scan_grow(names, *count, sizeof *names);
    names[(*count)++] = name;
    return names;
}

/* What the readings found. What once told nothing does so in each later reading and round, which
 * look for it no more. */
static struct scan_name *collect(const struct list *before, const struct scan_guards *guards,
                                 size_t *count)
{
    struct scan_name *names = NULL;

    for (size_t i = 0; i < guards->found_count; i++) {
        if (guards->found[i].function == SCOPE_FILE && guards->found[i].index != KNOWN_NONE)
            names = add(names, count, guards->found[i]);
    }
    for (size_t i = 0; i < guards->name_count; i++) {
        const struct scan_name *name = &guards->names[i];
        bool own = name->function == SCOPE_FILE && name->index == SCAN_VOID;
        for (size_t k = 0; k < guards->seed_count && own; k++)
            own = guards->seeds[k].index != SCAN_VOID ||
                  scan_word_compare(guards->seeds[k].word, name->word) != 0;
        if (own)
            names = add(names, count, *name);
    }
    for (size_t i = 0; i < before->count; i++) {
        if (before->names[i].index == SCAN_VOID)
            names = add(names, count, before->names[i]);
    }
    return names;
}

/* What is known of the file's functions and constants, whatever it asks. */
static struct scan_name *add_facts(const struct scan_guards *guards, const struct scan_scope *scope,
                                   bool header, struct scan_name *names, size_t *count)
{
    struct scan_name constant = {.index = SCAN_CONSTANT};

    for (size_t i = 0; i < scope->leaver_count; i++)
        names =
            add(names, count, (struct scan_name){.word = scope->leavers[i], .index = SCAN_LEAVER});
    for (size_t i = 0; (i = scan_result_next(guards, scope, i + 1)) > 0;) {
        const struct scan_function *function = &scope->functions[i - 1];
        if (!function->closed || header)
            names = add(names, count,
                        (struct scan_name){.word = function->name, .index = SCAN_MISSING});
    }
    for (size_t i = 0; i < scope->count; i++) {
        const struct scan_function *function = &scope->functions[i];
        if ((!function->closed || header) && scan_constant_is_maker(&guards->text, function))
            names =
                add(names, count, (struct scan_name){.word = function->name, .index = SCAN_MAKER});
    }
    for (size_t i = 0; header && i < guards->pastes.count; i++) {
        const struct scan_paste *paste = &guards->pastes.paste[i];
        const size_t index = known_symbol_of(paste->prefix.text, paste->prefix.length);
        const int release = paste->parameter > 0 ? (int)paste->parameter : -(int)index;
        if (paste->parameter == 0 || (scan_word_is(paste->prefix, "cu") && !paste->suffix.length))
            names = add(
                names, count,
                (struct scan_name){.word = paste->macro, .index = SCAN_PASTED, .release = release});
    }
    for (const char *at = header ? guards->text.text : NULL;
         at && *count < 2 * MOST_SHARED &&
         (at = scan_constant_next(&guards->text, at, &constant.word, &constant.release));)
        names = add(names, count, constant);
    return names;
}

void scan_shared_take(struct scan_shared *shared, const struct scan_source_text *in,
                      struct scan_guards *guards, const struct scan_scope *scope,
                      const struct scan_source *source)
{
    struct scan_name *names, *links;
    struct scan_owned *owned = NULL;
    size_t count = 0, owned_count = 0, link_count;

    while (shared->file_count <= in->file) {
        shared->files = scan_grow(shared->files, shared->file_count, sizeof *shared->files);
        shared->files[shared->file_count++] = (struct scan_shared_file){0};
    }
    names = collect(&shared->files[in->file].now, guards, &count);
    if (count > 0 || shared->word_count > 0)
        owned = scan_owned_list(&guards->text, scope, &owned_count);
    count = scan_names_reduce(names, count);
    count = choose(shared, owned, owned_count, in->header, names, count);
    count = add_functions(shared, in->file, owned, owned_count, in->header, &names, count);
    free(owned);
    names = add_facts(guards, scope, in->header, names, &count);
    links = scan_callers_list(guards, scope, source, in->header, &link_count);
    for (size_t i = 0; i < link_count; i++)
        names = add(names, &count, links[i]);
    free(links);
    shared->changed |= keep(&shared->files[in->file], (struct list){names, count});
}

/* It tells nothing in a file without calls. */
static bool is_fact(const struct scan_name *name)
{
    return name->index == SCAN_LEAVER || name->index == SCAN_CONSTANT ||
           name->index == SCAN_MISSING || name->index == SCAN_MAKER;
}

static bool is_link(const struct scan_name *name)
{
    return name->index == SCAN_CALLEE || name->index == SCAN_REACHED;
}

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    const int words = scan_word_compare(a->name->word, b->name->word);

    if (words != 0)
        return words;
    if (is_link(a->name) != is_link(b->name))
        return (int)is_link(a->name) - (int)is_link(b->name);
    return a->file != b->file ? (a->file > b->file) - (a->file < b->file)
                              : (a->name > b->name) - (a->name < b->name);
}

static void forget_words(struct scan_shared *shared)
{
    if (shared->word_count > 0)
        free(shared->words[0].rows); /* one array has all */
    free(shared->words);
    shared->words = NULL;
    shared->word_count = 0;
}

bool scan_shared_begin(struct scan_shared *shared)
{
    struct row *rows = NULL;
    size_t count = 0;

    if (!shared->changed)
        return false;
    shared->changed = false;
    forget_words(shared);
    for (size_t i = 0; i < shared->file_count; i++) {
        struct scan_shared_file *of = &shared->files[i];
        if (of->changed) {
            free_list(&of->now);
            *of = (struct scan_shared_file){.now = of->next, .told = of->told};
        }
        for (size_t k = 0; k < of->now.count; k++) {
            rows = scan_grow(rows, count, sizeof *rows);
            rows[count++] = (struct row){&of->now.names[k], i};
        }
    }
    if (count > 0)
        qsort(rows, count, sizeof *rows, compare_rows);
    for (size_t i = 0; i < count; i++) {
        struct scan_shared_word *last = shared->words + shared->word_count - (i > 0);
        const size_t answers = !is_link(rows[i].name);
        if (i > 0 && scan_word_compare(last->word, rows[i].name->word) == 0) {
            last->count += answers;
            last->all++;
            continue;
        }
        shared->words = scan_grow(shared->words, shared->word_count, sizeof *shared->words);
        shared->words[shared->word_count++] =
            (struct scan_shared_word){rows[i].name->word, &rows[i], answers, 1, 0};
    }
    if (count == 0)
        free(rows);
    return count > 0;
}

static void mark_words(const struct scan_shared *shared, const char *text, size_t size,
                       bool *present)
{
    const char *end = text + size;

    for (struct scan_word word = scan_word_at(text, end); word.length > 0;
         word = scan_word_at(word.text + word.length, end)) {
        const struct scan_shared_word *found = find_word(shared, word);
        if (found)
            present[found - shared->words] = true;
    }
}

static bool *list_present(const struct scan_shared *shared, const char *text, size_t size)
{
    bool *present = scan_grow(NULL, shared->word_count, sizeof *present);

    memset(present, 0, shared->word_count + 1);
    mark_words(shared, text, size, present);
    return present;
}

static uint64_t hash(uint64_t so_far, uint64_t value)
{
    return (so_far ^ value) * 0x100000001b3u + 1;
}

static uint64_t hash_name(uint64_t so_far, const struct row *row)
{
    const struct scan_name *name = row->name;
    const unsigned bits = name->negated | name->joined << 1 | name->filled << 2 |
                          name->called << 3 | name->divided << 4 | name->asks << 5 |
                          name->asserts << 6;

    so_far = hash(hash(so_far, row->file), name->index);
    return hash(hash(hash(so_far, (uint64_t)name->release), name->output), bits);
}

bool scan_shared_concerns(struct scan_shared *shared, size_t file, const char *text, size_t size,
                          bool calls)
{
    bool *present = list_present(shared, text, size);
    uint64_t told = 0;

    for (size_t i = 0; i < shared->word_count; i++) {
        const struct scan_shared_word *word = &shared->words[i];
        uint64_t own = hash(told, word->declared);
        bool concerns = false;
        for (size_t k = 0; present[i] && k < word->all; k++) {
            concerns |= word->rows[k].file != file && (calls || !is_fact(word->rows[k].name));
            own = hash_name(own, &word->rows[k]);
        }
        for (size_t k = 0; k < word->word.length && concerns; k++)
            own = hash(own, (unsigned char)word->word.text[k]);
        told = concerns ? own : told;
    }
    free(present);
    const bool changed = told != shared->files[file].told;
    shared->files[file].told = told;
    return changed;
}

void scan_shared_count(struct scan_shared *shared, const char *text, size_t size)
{
    static const struct scan_scope none = {0};
    const char *begin = text + scan_text_mark(text, size);
    const struct scan_text in = {begin, begin, text + size, 1};
    bool *present = list_present(shared, text, size), any = false;
    size_t count = 0;

    for (size_t i = 0; i < shared->word_count && !any; i++)
        any = present[i] && shared->words[i].count > 0 && !is_fact(shared->words[i].rows[0].name);
    struct scan_owned *owned = any ? scan_owned_list(&in, &none, &count) : NULL;
    for (size_t i = 0; i < count; i++) {
        struct scan_shared_word *word = find_word(shared, owned[i].word);
        if (word && owned[i].kind == SCAN_OWNED_SHARED)
            word->declared++;
    }
    free(owned);
    free(present);
}

/* Whether all files give a name the same values. */
static bool agree(const struct scan_shared_word *word)
{
    const size_t first = word->rows[0].file;
    size_t own = 0;

    while (own < word->count && word->rows[own].file == first)
        own++;
    for (size_t i = 0, end; i < word->count; i = end) {
        for (end = i; end < word->count && word->rows[end].file == word->rows[i].file;)
            end++;
        if (end - i != own)
            return false;
        for (size_t k = 0; k < own; k++) {
            if (!is_same(word->rows[k].name, word->rows[i + k].name) ||
                word->rows[i + k].name->index == SCAN_VOID)
                return false;
        }
    }
    return true;
}

static size_t count_files(const struct scan_shared_word *word)
{
    size_t count = 0;

    for (size_t i = 0; i < word->count; i++)
        count += i == 0 || word->rows[i].file != word->rows[i - 1].file;
    return count;
}

/* Whether the file has a function, a macro or a variable of its own with the word. */
static bool owns(const struct scan_owned *owned, size_t count, struct scan_word word)
{
    const struct scan_owned *one = scan_owned_find(owned, count, word);

    for (; one && one < owned + count && scan_word_compare(one->word, word) == 0; one++) {
        if (one->kind != SCAN_OWNED_SHARED)
            return true;
    }
    return false;
}

/* Whether the file's word is that of the others. Two structs have it: it is, if it is the same in
 * as many files. */
static bool is_common(const struct scan_shared_word *word, size_t file,
                      const struct scan_owned *owned, size_t owned_count)
{
    if (owns(owned, owned_count, word->word))
        return false;
    if (word->declared < 2)
        return true;
    return !has_row(word, file, false) && agree(word) && count_files(word) >= word->declared;
}

/* The names that answer. */
static struct scan_name *give_answers(const struct scan_shared_word *word, size_t file,
                                      struct scan_name *names, size_t *count)
{
    const bool same = agree(word);

    for (size_t i = 0; i < word->count; i++) {
        if (word->rows[i].file == file)
            continue;
        names = add(names, count, *word->rows[i].name);
        if (!same && word->rows[i].name->index != SCAN_PASTED) /* only where the file asks it */
            names[*count - 1].index = SCAN_VOID;
    }
    return names;
}

/* Who calls a function is told to the file that has it, and which function calls an entry to all
 * that may call it. */
static struct scan_name *give_links(const struct scan_shared_word *word, size_t file, bool owns,
                                    struct scan_name *names, size_t *count)
{
    bool own = false;

    for (size_t i = word->count; i < word->all; i++)
        own |= word->rows[i].file == file && word->rows[i].name->index == SCAN_CALLEE;
    for (size_t i = word->count; i < word->all; i++) {
        const bool callee = word->rows[i].name->index == SCAN_CALLEE;
        if (callee ? !owns || own : own && word->rows[i].file != file)
            names = add(names, count, *word->rows[i].name);
    }
    return names;
}

struct scan_name *scan_shared_give(const struct scan_shared *shared, size_t file,
                                   const struct scan_text *text, const struct scan_scope *scope,
                                   size_t *count)
{
    struct scan_name *names = NULL;
    size_t owned_count;

    *count = 0;
    if (shared->word_count == 0)
        return NULL;
    bool *present = list_present(shared, text->text, (size_t)(text->end - text->text));
    struct scan_owned *owned = scan_owned_list(text, scope, &owned_count);
    for (size_t i = 0; i < shared->word_count; i++) {
        const struct scan_shared_word *word = &shared->words[i];
        if (!present[i])
            continue;
        if (has_row(word, file, true) && is_common(word, file, owned, owned_count))
            names = give_answers(word, file, names, count);
        names = give_links(word, file, owns(owned, owned_count, word->word), names, count);
    }
    free(owned);
    free(present);
    return names;
}

void scan_shared_free(struct scan_shared *shared)
{
    for (size_t i = 0; i < shared->file_count; i++) {
        free_list(&shared->files[i].now);
        free_list(&shared->files[i].next);
    }
    free(shared->files);
    forget_words(shared);
    *shared = (struct scan_shared){0};
}
