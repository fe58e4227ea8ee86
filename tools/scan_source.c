/* SPDX-License-Identifier: MIT */
#include "scan_source.h"

#include "known.h"
#include "names.h"
#include "output.h"
#include "scan_around.h"
#include "scan_callers.h"
#include "scan_constant.h"
#include "scan_entry.h"
#include "scan_filled.h"
#include "scan_flow.h"
#include "scan_guard.h"
#include "scan_list.h"
#include "scan_names.h"
#include "scan_require.h"
#include "scan_result.h"
#include "scan_scope.h"
#include "scan_shared.h"
#include "scan_use.h"
#include "scan_version.h"
#include "scan_wheel.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_REQUIRES = 64,   /* of a file; more are not taken */
    LONGEST_CALL = 4096,  /* of cushim_require, with its arguments */
    MOST_LOOKED = 1 << 24 /* bytes for variables */
};

struct reader {
    struct scan_text in;
    struct scan_source found;
    struct scan_scope scope;
    struct scan_guards guards;
    struct scan_lists lists;
    struct scan_word named[MOST_REQUIRES]; /* third argument of each cushim_require */
    const struct option_list *defines;
    bool level_given; /* by the defines */
    size_t looked;
    struct scan_compared compared;
};

static void read_guard(struct reader *reader, struct scan_guard guard, bool exact);

/* A guard at a place that the reader has passed. */
static struct scan_guard guard_at(const struct reader *reader, const char *at, size_t line)
{
    const struct scan_scope *scope = &reader->scope;

    return (struct scan_guard){.at = at,
                               .line = line,
                               .function = scope->now.function,
                               .head = scope->directive ? NULL : scope->head.from};
}

/* A comment that is CUSHIM_HAS(cu, cuName), or several, perhaps with words behind a mark, says that
 * another file asks. One that only mentions it says nothing. */
static void note_comment(struct reader *reader, const char *comment, size_t line)
{
    static const char marks[] = " \t\r\n/*!,&";
    const struct scan_text before = reader->in;
    const size_t count = reader->guards.count;
    const char *behind = comment;

    reader->in = (struct scan_text){before.text, comment, before.at, line};
    for (;;) {
        while (reader->in.at < reader->in.end && memchr(marks, *reader->in.at, sizeof marks - 1))
            scan_text_step(&reader->in);
        bool name = scan_text_begins(&reader->in, "cushim_has(");
        if (!name && !scan_text_begins(&reader->in, "CUSHIM_HAS("))
            break;
        struct scan_guard said = guard_at(reader, reader->in.at, reader->in.line);
        said.comment = true;
        said.head = NULL;
        reader->in.at += strlen("CUSHIM_HAS");
        read_guard(reader, said, name);
        behind = reader->in.at;
    }
    while (behind < before.at && isspace((unsigned char)*behind))
        behind++;
    if (behind < before.at && !memchr(":,;.-*", *behind, 6))
        reader->guards.count = count; /* "CUSHIM_HAS(cu, cuName) is not needed" */
    reader->in = before;
}

/* What is neither code nor a word; false if there is none. */
static bool skip_other(struct reader *reader)
{
    if (scan_text_begins(&reader->in, "//")) {
        const char *comment = reader->in.at;
        size_t line = reader->in.line;
        scan_text_skip_line(&reader->in, '\n');
        note_comment(reader, comment, line);
        return true;
    }
    if (scan_text_begins(&reader->in, "/*")) {
        const char *comment = reader->in.at;
        size_t line = reader->in.line;
        reader->in.at += 2;
        scan_text_skip_behind(&reader->in, "*/", 2);
        note_comment(reader, comment, line);
        return true;
    }
    if (*reader->in.at == '"' || *reader->in.at == '\'') {
        const char *string = reader->in.at + 1;
        scan_text_skip_line(&reader->in, *reader->in.at);
        scan_list_name(&reader->lists, &reader->in, string);
        return true;
    }
    if (isspace((unsigned char)*reader->in.at)) {
        scan_text_step(&reader->in);
        return true;
    }
    return false;
}

/* CUSHIM_HAS(cu, cuName) and cushim_has(cu, "cuName"): the last word within the parentheses. */
static void read_guard(struct reader *reader, struct scan_guard guard, bool exact)
{
    struct scan_word last = {NULL, 0};

    for (int depth = 0; reader->in.at < reader->in.end;) {
        if (scan_text_is_letter(*reader->in.at)) {
            last = scan_text_word(&reader->in);
            continue;
        }
        if (*reader->in.at == ';' || *reader->in.at == '{' || *reader->in.at == '}')
            break; /* it has no end, as in a macro */
        depth += (*reader->in.at == '(') - (*reader->in.at == ')');
        scan_text_step(&reader->in);
        if (depth <= 0)
            break;
    }
    if (!last.text)
        return;
    guard.index = exact ? known_symbol_of(last.text, last.length)
                        : scan_entry_named(&reader->guards, reader->found.level, last);
    if (guard.index == KNOWN_NONE && !guard.comment) {
        guard.index = SCAN_PARAMETER;
        guard.parameter = last;
    }
    if (guard.index != KNOWN_NONE)
        scan_guards_add(&reader->guards, &guard);
}

/* Where the reader's parenthesis closes; NULL: not nearby. */
static const char *find_close(const struct reader *reader)
{
    const char *at = reader->in.at;
    const char *end = reader->in.end - at > LONGEST_CALL ? at + LONGEST_CALL : reader->in.end;

    at = scan_text_find_close(at, end);
    return at < end ? at : NULL;
}

/* A whole argument that is a number, or the name of one; 0: another one, as 11000 + x. */
static int read_release(const struct reader *reader, struct scan_word word, const char *end)
{
    const char *before = scan_text_back_over_spaces(reader->in.at, word.text);
    const char *behind = scan_text_skip_spaces(word.text + word.length, end);
    const struct scan_name *other;

    while (before > reader->in.at && before[-1] == '(' && behind < end && *behind == ')') {
        before = scan_text_back_over_spaces(reader->in.at, before - 1);
        behind = scan_text_skip_spaces(behind + 1, end);
    }
    if ((before > reader->in.at + 1 && before[-1] != ',') || (behind < end && *behind != ','))
        return 0;
    if (isdigit((unsigned char)*word.text))
        return scan_text_number(&reader->in, word.text);
    other = scan_names_seeded(&reader->guards, word, SCAN_CONSTANT);
    const int number = scan_constant_read(&reader->in, reader->defines, word, true);
    return number == 0 && other ? other->release : number;
}

/* What is required, or of a feature. */
static void add_requirement(struct scan_guards *guards, struct scan_guard guard,
                            const struct scan_source_require *require)
{
    guard.compared = true;
    for (size_t i = 0; i < require->count; i++) {
        guard.index = require->entries[i];
        scan_guards_add(guards, &guard);
    }
    guard.index = SCAN_VERSION;
    guard.release = require->release;
    if (guard.release > 0)
        scan_guards_add(guards, &guard);
}

/* HAS(cuName) or least(12000), of a macro or a function that asks for its parameter. False: the
 * arguments are still to be read. */
static bool read_argument(struct reader *reader, struct scan_guard guard,
                          const struct scan_name *name)
{
    const char *end = find_close(reader);

    guard.name = name->word;
    guard.negated = name->negated;
    guard.joined = name->joined;
    guard.answers = name->called;
    guard.asks = name->asks;
    guard.asserts = name->asserts;
    guard.index = name->index == SCAN_PARAMETER ? KNOWN_NONE : name->index;
    struct scan_source_require feature = {.line = guard.line};
    if (end && guard.index == KNOWN_NONE && scan_require_feature(reader->in.at, end, &feature)) {
        add_requirement(&reader->guards, guard, &feature);
        free(feature.entries);
        return true;
    }
    for (const char *at = reader->in.at; end && at < end;) {
        struct scan_word word = scan_word_at(at, end);
        at = word.text + word.length;
        if (guard.index != KNOWN_NONE)
            guard.release = scan_version_made(&reader->guards, &reader->scope, word);
        if (guard.index != KNOWN_NONE && guard.release == 0)
            guard.release = name->release == SCAN_PAIR_RELEASE ? scan_text_pair(word.text, end)
                                                               : read_release(reader, word, end);
        if (guard.index == KNOWN_NONE)
            guard.index =
                scan_entry_argument(&reader->guards, reader->found.level, name->word, word);
        if (guard.index < CUSHIM_ENTRY_COUNT || guard.release > 0)
            break;
    }
    if (guard.index == KNOWN_NONE || (guard.index >= CUSHIM_ENTRY_COUNT && guard.release == 0))
        return false;
    guard.compared = true;
    guard.until = name->uses && name->covers ? end : NULL;
    scan_guards_add(&reader->guards, &guard);
    while (!name->uses && reader->in.at <= end)
        scan_text_step(&reader->in);
    return true;
}

/* The number that the file gives a name. */
static int read_constant(const struct reader *reader, struct scan_word name)
{
    int number = scan_constant_read(&reader->in, reader->defines, name, false);

    return number == 0 && scan_word_is(name, "CUSHIM_CUDA_VERSION") ? reader->found.level : number;
}

/* What the lists have that are named in an argument. */
static void add_listed(const struct reader *reader, struct scan_source_require *require,
                       struct scan_word argument)
{
    for (size_t i = 0; argument.text && i < reader->lists.count; i++) {
        const struct scan_listed *listed = &reader->lists.listed[i];
        if (scan_text_find_word(argument.text, argument.text + argument.length, listed->list))
            scan_require_add(require, listed->index);
    }
}

/* cushim_require(cu, 12000, list): what came up to that release is there behind it, and what is in
 * the list, which may be in the call itself. */
static void read_required(struct reader *reader, struct scan_guard guard,
                          const struct scan_require_place *place)
{
    const char *end = find_close(reader), *first, *second;
    struct scan_source *found = &reader->found;
    struct scan_source_require require = {
        .line = guard.line, .at = guard.at, .program = place->program};

    first = end ? memchr(reader->in.at, ',', (size_t)(end - reader->in.at)) : NULL;
    if (!first || found->require_count == MOST_REQUIRES)
        return;
    second = memchr(first + 1, ',', (size_t)(end - first - 1));
    require.use = scan_require_use(&reader->in, place, end);
    require.release = scan_text_number(&reader->in, first + 1);
    if (require.release == 0)
        require.release = read_constant(reader, scan_word_at(first + 1, second ? second : end));
    for (const char *at = second; at && (at = memchr(at, '"', (size_t)(end - at)));) {
        struct scan_word name = scan_word_at(at, end);
        size_t index = known_symbol_of(name.text, name.length);
        if (index != KNOWN_NONE)
            scan_require_add(&require, index);
        at = memchr(at + 1, '"', (size_t)(end - at - 1));
        at = at ? at + 1 : NULL;
    }
    if (second) {
        const struct scan_word list = {second, (size_t)(end - second)};
        reader->named[found->require_count] = list;
        add_listed(reader, &require, list);
    }
    guard.negated = true;
    if (require.use == SCAN_REQUIRE_COUNTS)
        add_requirement(&reader->guards, guard, &require);
    found->requirements = scan_grow(found->requirements, found->require_count, sizeof require);
    found->requirements[found->require_count++] = require;
}

/* cushim_feature(cu, device, CUSHIM_FEATURE_...): it is 0 where the driver has it, as what is
 * required. */
static void read_feature(struct reader *reader, struct scan_guard guard)
{
    const struct scan_scope *scope = &reader->scope;
    struct scan_text part = reader->in;
    const char *end = find_close(reader);
    struct scan_source_require feature = {.line = guard.line};
    struct scan_word last = {NULL, 0};

    for (const char *at = reader->in.at; end && at < end; at = last.text + last.length) {
        const struct scan_word word = scan_word_at(at, end);
        if (word.length == 0)
            break;
        last = word;
    }
    if (last.length == 0)
        return;
    bool known = scan_require_feature(reader->in.at, end, &feature);
    if (!known && reader->looked < MOST_LOOKED) {
        const char *from = guard.function != SCOPE_FILE ? scope->functions[guard.function - 1].from
                                                        : reader->in.at;
        if (scan_text_declares(from, last, ">"))
            part = (struct scan_text){.text = from, .end = scan_scope_end(scope, &reader->in)};
        reader->looked += (size_t)(part.end - part.text) + (size_t)(reader->in.at - from);
        known = scan_require_variable(part, last, &feature);
    }
    if (known) {
        guard.negated = true;
        add_requirement(&reader->guards, guard, &feature);
    } else {
        guard.index = SCAN_PARAMETER;
        guard.parameter = last;
        guard.negated = guard.compared = true;
        scan_guards_add(&reader->guards, &guard);
    }
    free(feature.entries);
}

/* cushim_proc(cu, "cuName", ...): the name. */
static void read_proc(struct reader *reader, struct scan_guard guard)
{
    const char *end = find_close(reader);
    const char *name = end ? memchr(reader->in.at, '"', (size_t)(end - reader->in.at)) : NULL;
    const struct scan_word word = scan_word_at(name ? name : end, end);

    if (!name)
        return;
    guard.index = known_symbol_of(word.text, word.length);
    if (guard.index != KNOWN_NONE)
        scan_guards_add(&reader->guards, &guard);
}

static void add_call(struct reader *reader, const struct scan_source_call *call)
{
    struct scan_source *found = &reader->found;

    found->calls = scan_grow(found->calls, found->count, sizeof *found->calls);
    found->calls[found->count] = *call;
    found->calls[found->count].compared =
        scan_compared_line(&reader->compared, call->index, reader->scope.now.function);
    found->calls[found->count++].function = reader->scope.now.function;
}

/* What a helper of cushim's returns: 0 if the driver has its entry. */
static void add_result(struct scan_guards *guards, struct scan_guard guard, size_t index)
{
    guard.index = index;
    guard.negated = guard.filled = true;
    scan_guards_add(guards, &guard);
}

static bool is_main(struct scan_word word)
{
    return scan_word_is(word, "main") || scan_word_is(word, "wmain") ||
           scan_word_is(word, "WinMain") || scan_word_is(word, "wWinMain");
}

/* A word, and what belongs to it. `typed`: a word is before it, as before a function's name. */
static void read_name(struct reader *reader, bool member, bool typed)
{
    size_t line = reader->in.line;
    const struct scan_scope *scope = &reader->scope;
    struct scan_word word = scan_text_word(&reader->in);
    struct scan_require_place statement = {word.text, scope->last, scope->before, false};
    size_t index;

    if (scan_word_is_raw(word) && reader->in.at < reader->in.end && *reader->in.at == '"') {
        scan_text_skip_raw(&reader->in);
        return;
    }
    scan_scope_word(&reader->scope, &reader->in, word);
    if (scan_word_is(word, "CUSHIM_CUDA_VERSION") &&
        scan_text_number(&reader->in, reader->in.at) > 0 && !reader->level_given)
        reader->found.level = scan_text_number(&reader->in, reader->in.at);
    while (reader->in.at < reader->in.end && skip_other(reader))
        continue;
    bool called = reader->in.at < reader->in.end && *reader->in.at == '(';
    const bool alias = scan_paste_note(&reader->guards.pastes, scope, &reader->in, word, member);
    if (called) {
        struct scan_word at;
        index = scan_entry_pasted(&reader->guards, reader->found.level, &reader->in, word, &at);
        if (index != KNOWN_NONE)
            add_call(reader,
                     &(struct scan_source_call){.line = line, .index = index, .at = at.text});
        if (scan_word_is(word, "CUSHIM_HAS") || scan_word_is(word, "cushim_has")) {
            read_guard(reader, guard_at(reader, word.text, line), scan_word_is(word, "cushim_has"));
            return;
        }
        if (scan_word_is(word, "cushim_driver_version")) {
            struct scan_guard guard = guard_at(reader, word.text, line);
            guard.index = SCAN_VERSION;
            scan_guards_add(&reader->guards, &guard);
            return;
        }
        if (scan_word_is(word, "cushim_require")) {
            const size_t function = scope->now.function;
            statement.program =
                function != SCOPE_FILE && is_main(scope->functions[function - 1].name);
            read_required(reader, guard_at(reader, word.text, line), &statement);
        }
        if (scan_word_is(word, "cushim_feature"))
            read_feature(reader, guard_at(reader, word.text, line));
        else if (scan_word_is(word, "cushim_proc"))
            read_proc(reader, guard_at(reader, word.text, line));
        if (typed && is_main(word) && reader->found.main == 0)
            reader->found.main = line;
    }
    const struct scan_guard place = guard_at(reader, word.text, line);
    const struct scan_name *asks =
        called ? scan_names_parameter(&reader->guards, word, place.function) : NULL;
    if (asks && read_argument(reader, place, asks))
        return;
    if (called)
        scan_filled_by_function(&reader->guards, scope, &reader->in, word);
    scan_names_word(&reader->guards, word, &place, called);
    index = alias ? KNOWN_NONE : scan_entry_named(&reader->guards, reader->found.level, word);
    const size_t helper = scan_filled_helper(word);
    const size_t filler = scan_word_is(word, "cudaDriverGetVersion")
                              ? known_symbol(NAMES_VALUE(cuDriverGetVersion))
                              : (index == KNOWN_NONE ? helper : index);
    if (called && helper != KNOWN_NONE)
        add_result(&reader->guards, place, helper);
    if (filler != KNOWN_NONE)
        scan_filled_by_entry(&reader->guards, scope, &reader->in, filler, helper != KNOWN_NONE);
    if (index == KNOWN_NONE || !scan_use_is_call(&reader->in, scope, word, statement.last, member))
        return;
    if (member && scan_use_is_compared(&reader->in, word))
        scan_compared_add(&reader->compared, index, place.function, line);
    else
        add_call(reader, &(struct scan_source_call){
                             .line = line, .index = index, .alone = !member, .at = word.text});
}

/* What stands in the head of a function is the function's own. */
static void read_scope(struct reader *reader)
{
    struct scan_scope *scope = &reader->scope;
    size_t function = scope->now.function;

    scan_scope_character(scope, &reader->in);
    if (function != SCOPE_FILE || scope->now.function == SCOPE_FILE || scope->directive)
        return;
    scan_guards_begin(&reader->guards, scope->head.from, scope->now.function);
    for (size_t i = reader->found.count; i > 0; i--) {
        struct scan_source_call *call = &reader->found.calls[i - 1];
        if (call->at < scope->head.from)
            break;
        if (call->function == SCOPE_FILE)
            call->function = scope->now.function;
    }
}

/* "#if 0": what is up to its #else is passed over, and all of it if there is none. */
static bool skip_dead(struct reader *reader)
{
    struct scan_text behind = reader->in;

    if (*reader->in.at != '#' || reader->scope.directive || !scan_text_is_first(&reader->in) ||
        !scan_text_skip_dead(&behind))
        return false;
    if (behind.at < behind.end && *behind.at == '#')
        read_scope(reader);
    reader->in = behind;
    return true;
}

static void read_all(struct reader *reader)
{
    bool member = false, typed = false;

    while (reader->in.at < reader->in.end) {
        scan_scope_move(&reader->scope, &reader->in);
        if (skip_other(reader) || skip_dead(reader))
            continue;
        if (scan_text_is_letter(*reader->in.at)) {
            bool word_before = typed;
            typed = !scan_text_begins(&reader->in, "return");
            read_name(reader, member, word_before);
            member = false;
            continue;
        }
        typed = false;
        member = *reader->in.at == '.' || scan_text_begins(&reader->in, "->");
        scan_list_bracket(&reader->lists, &reader->in);
        read_scope(reader);
        reader->in.at += *reader->in.at == '-' && member ? 2 : 1;
    }
}

static struct reader *read_once(const struct scan_source_text *source,
                                const struct option_list *defines, const struct reader *first)
{
    static const struct scan_word level = {"CUSHIM_CUDA_VERSION", sizeof "CUSHIM_CUDA_VERSION" - 1};
    const size_t mark = scan_text_mark(source->text, source->size);
    const char *text = source->text ? source->text + mark : ""; /* an empty file */
    const size_t size = source->size - mark;
    struct reader *reader = calloc(1, sizeof *reader);

    if (!reader)
        output_no_memory();
    reader->in = (struct scan_text){text, text, text + size, 1};
    reader->scope.head.from = text;
    reader->scope.head.line = 1;
    reader->defines = defines;
    reader->guards.text = reader->in;
    reader->guards.defines = defines;
    if (first) {
        reader->guards.names = first->guards.names;
        reader->guards.name_count = first->guards.name_count;
        reader->guards.seeds = first->guards.seeds;
        reader->guards.seed_count = first->guards.seed_count;
    }
    reader->found.level = scan_constant_defined(defines, level);
    reader->level_given = reader->found.level > 0;
    if (!reader->level_given)
        reader->found.level = CUSHIM_CUDA_VERSION;
    reader->found.has_cushim = memmem(text, size, "cushim", strlen("cushim"));
    reader->found.includes_cushim = memmem(text, size, "<cushim/", strlen("<cushim/")) ||
                                    memmem(text, size, "\"cushim", strlen("\"cushim"));
    read_all(reader);
    scan_guards_settle(&reader->guards, &reader->scope, &reader->in, &reader->found);
    return reader;
}

static void free_reader(struct reader *reader)
{
    scan_guards_free(&reader->guards);
    free(reader->scope.functions);
    free(reader->lists.listed);
    free(reader);
}

/* Read it again, with the names that are known now. */
static struct reader *read_again(struct reader *reader, const struct scan_source_text *in,
                                 const struct option_list *defines)
{
    struct reader *next = read_once(in, defines, reader);

    reader->guards.names = NULL; /* handed on */
    scan_source_free(&reader->found);
    free_reader(reader);
    return next;
}

struct scan_source scan_source_read(const struct scan_source_text *in,
                                    const struct option_list *defines, struct scan_shared *shared)
{
    struct reader *reader = read_once(in, defines, NULL);
    size_t seed_count;
    struct scan_name *seeds =
        scan_shared_give(shared, in->file, &reader->guards.text, &reader->scope, &seed_count);
    struct scan_source found;

    if (seed_count > 0) {
        scan_names_seed(&reader->guards, seeds, seed_count);
        reader = read_again(reader, in, defines);
    }
    for (int i = 1;
         scan_names_learn(&reader->guards, &reader->scope, &reader->found) && i < SCAN_READINGS;
         i++)
        reader = read_again(reader, in, defines);
    for (size_t i = 0; i < reader->found.require_count; i++) /* all lists are known now */
        add_listed(reader, &reader->found.requirements[i], reader->named[i]);
    scan_require_settle(&reader->guards, &reader->scope, &reader->found);
    scan_result_find(&reader->guards, &reader->scope, &reader->found);
    scan_around_find(&reader->guards, &reader->scope, &reader->found);
    scan_shared_take(shared, in, &reader->guards, &reader->scope, &reader->found);
    scan_callers_apply(&reader->guards, &reader->scope, &reader->found);
    found = reader->found;
    free_reader(reader);
    free(seeds);
    return found;
}

void scan_source_free(struct scan_source *source)
{
    for (size_t i = 0; i < source->require_count; i++)
        free(source->requirements[i].entries), free(source->requirements[i].caller);
    free(source->requirements);
    free(source->calls);
    free(source->name);
    *source = (struct scan_source){0};
}
