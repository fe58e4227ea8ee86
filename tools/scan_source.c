/* SPDX-License-Identifier: MIT */
#include "scan_source.h"

#include "known.h"
#include "names.h"
#include "output.h"
#include "scan_wheel.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names that do not mean the newest ABI of CUSHIM_CUDA_VERSION's release; the headers tell. */
static const struct {
    const char *name, *symbol;
} plain[] = {
    {"cuCtxCreate", NAMES_VALUE(cuCtxCreate)},
    {"cuDeviceGetUuid", NAMES_VALUE(cuDeviceGetUuid)},
    {"cuGraphInstantiate", NAMES_VALUE(cuGraphInstantiate)},
};

enum { MOST_BRACKETS = 64 }; /* deeper ones are no lists */

struct reader {
    const char *text, *at, *end;
    size_t line;
    struct scan_source found;
    bool has[CUSHIM_ENTRY_COUNT];    /* it was asked for */
    bool listed[CUSHIM_ENTRY_COUNT]; /* its name is in a list */
    bool requires;                   /* a cushim_require was read */
    int required;                    /* its release; 0: none */
    int level;                       /* the release that plain names mean */
    size_t depth;
    char brackets[MOST_BRACKETS]; /* that are open */
};

struct word {
    const char *text;
    size_t length;
};

bool scan_source_is(const char *name)
{
    static const char *const suffixes[] = {".c",   ".h",   ".cc", ".cpp", ".cxx",
                                           ".hpp", ".hxx", ".hh", ".cu",  ".cuh"};
    const char *suffix = strrchr(name, '.');

    for (size_t i = 0; suffix && i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (strcmp(suffix, suffixes[i]) == 0)
            return true;
    }
    return false;
}

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool begins(const struct reader *reader, const char *text)
{
    size_t length = strlen(text);

    return (size_t)(reader->end - reader->at) >= length && memcmp(reader->at, text, length) == 0;
}

static void step(struct reader *reader)
{
    reader->line += *reader->at == '\n';
    reader->at++;
}

/* Go behind the next `text`, or to the end. */
static void skip_behind(struct reader *reader, const char *text, size_t length)
{
    const char *found = memmem(reader->at, (size_t)(reader->end - reader->at), text, length);
    const char *stop = found ? found + length : reader->end;

    while (reader->at < stop)
        step(reader);
}

/* A string or a character ends at its mark, and without one at the end of the line. A comment of
 * one line ends there alone. */
static void skip_line(struct reader *reader, char mark)
{
    for (step(reader); reader->at < reader->end && *reader->at != '\n'; step(reader)) {
        if (*reader->at == mark) {
            step(reader);
            return;
        }
        if (*reader->at == '\\' && reader->at + 1 < reader->end)
            step(reader);
    }
}

/* R"name(text)name": behind the R. */
static void skip_raw(struct reader *reader)
{
    char stop[20] = ")";
    size_t length = 1;

    for (step(reader); reader->at < reader->end && *reader->at != '('; step(reader)) {
        if (length + 2 == sizeof stop)
            return;
        stop[length++] = *reader->at;
    }
    stop[length++] = '"';
    skip_behind(reader, stop, length);
}

/* An entry's name in a list, such as cushim_require takes; no argument of a call. */
static void note_listed(struct reader *reader, const char *string)
{
    bool in_list = reader->depth > 0 && reader->depth <= MOST_BRACKETS &&
                   reader->brackets[reader->depth - 1] == '{';
    size_t index = in_list && reader->at > string
                       ? known_symbol_of(string, (size_t)(reader->at - string - 1))
                       : KNOWN_NONE;

    if (index != KNOWN_NONE)
        reader->listed[index] = true;
}

static void note_bracket(struct reader *reader, char bracket)
{
    if (strchr("({[", bracket)) {
        if (reader->depth < MOST_BRACKETS)
            reader->brackets[reader->depth] = bracket;
        reader->depth++;
    } else if (strchr(")}]", bracket) && reader->depth > 0) {
        reader->depth--;
    }
}

static void read_guard(struct reader *reader, bool exact);

/* A comment may say that another file asks: CUSHIM_HAS(cu, cuName). */
static void note_comment(struct reader *reader, const char *comment)
{
    static const char guard[] = "CUSHIM_HAS(";
    const struct reader before = {.at = reader->at, .end = reader->end, .line = reader->line};
    const char *found = comment;

    while ((found = memmem(found, (size_t)(before.at - found), guard, sizeof guard - 1))) {
        reader->at = found + sizeof guard - 2;
        reader->end = before.at;
        read_guard(reader, false);
        found = reader->at;
        reader->end = before.end;
    }
    reader->at = before.at;
    reader->line = before.line;
}

/* What is neither code nor a word; false if there is none. */
static bool skip_other(struct reader *reader)
{
    if (begins(reader, "//")) {
        const char *comment = reader->at;
        skip_line(reader, '\n');
        note_comment(reader, comment);
        return true;
    }
    if (begins(reader, "/*")) {
        const char *comment = reader->at;
        reader->at += 2;
        skip_behind(reader, "*/", 2);
        note_comment(reader, comment);
        return true;
    }
    if (*reader->at == '"' || *reader->at == '\'') {
        const char *string = reader->at + 1;
        skip_line(reader, *reader->at);
        note_listed(reader, string);
        return true;
    }
    if (isspace((unsigned char)*reader->at)) {
        step(reader);
        return true;
    }
    return false;
}

static struct word read_word(struct reader *reader)
{
    struct word word = {reader->at, 0};
    bool number = isdigit((unsigned char)*reader->at);

    while (reader->at < reader->end &&
           (is_letter(*reader->at) || (number && (*reader->at == '\'' || *reader->at == '.'))))
        reader->at++;
    word.length = (size_t)(reader->at - word.text);
    return word;
}

static bool is_word(struct word word, const char *text)
{
    return word.length == strlen(text) && memcmp(word.text, text, word.length) == 0;
}

/* The entry that a member of the table is. */
static size_t find_entry(const struct reader *reader, struct word word)
{
    char name[KNOWN_NAME_SIZE];
    size_t index;

    if (word.length >= sizeof name || word.length < 3 || memcmp(word.text, "cu", 2) != 0)
        return KNOWN_NONE;
    memcpy(name, word.text, word.length);
    name[word.length] = '\0';
    if (word.length > 3 && strcmp(name + word.length - 3, "_v1") == 0) {
        name[word.length - 3] = '\0';
        return known_symbol(name);
    }
    for (size_t i = 0; reader->level == CUSHIM_CUDA_VERSION && i < sizeof plain / sizeof plain[0];
         i++) {
        if (strcmp(name, plain[i].name) == 0)
            return known_symbol(plain[i].symbol);
    }
    index = known_newest(name, CUSHIM_STREAM_LEGACY, reader->level);
    return index != KNOWN_NONE ? index : known_symbol(name);
}

/* CUSHIM_HAS(cu, cuName) and cushim_has(cu, "cuName"): the last word within the parentheses. */
static void read_guard(struct reader *reader, bool exact)
{
    struct word last = {NULL, 0};
    size_t index;

    for (int depth = 0; reader->at < reader->end;) {
        if (is_letter(*reader->at)) {
            last = read_word(reader);
            continue;
        }
        depth += (*reader->at == '(') - (*reader->at == ')');
        step(reader);
        if (depth <= 0)
            break;
    }
    if (!last.text)
        return;
    index = exact ? known_symbol_of(last.text, last.length) : find_entry(reader, last);
    if (index != KNOWN_NONE)
        reader->has[index] = true;
}

static int read_number(const struct reader *reader, const char *at)
{
    int number = 0;

    while (at < reader->end && isspace((unsigned char)*at))
        at++;
    for (; at < reader->end && isdigit((unsigned char)*at) && number < 100000; at++)
        number = number * 10 + (*at - '0');
    return number;
}

/* The number that the file gives a name: "#define NAME 12000", "NAME = 12000". */
static int read_constant(const struct reader *reader, const char *at)
{
    const char *end = at, *found = reader->text;
    size_t length;

    while (at < reader->end && isspace((unsigned char)*at))
        at++;
    for (end = at; end < reader->end && is_letter(*end); end++)
        continue;
    length = (size_t)(end - at);
    while (length > 0 && (found = memmem(found, (size_t)(reader->end - found), at, length))) {
        found += length;
        const char *value = found;
        while (value < reader->end && (*value == ' ' || *value == '='))
            value++;
        if (value > found && read_number(reader, value) > 0)
            return read_number(reader, value);
    }
    return 0;
}

/* cushim_require(cu, 12000, ...): what came up to that release is there behind it. */
static void read_required(struct reader *reader)
{
    const char *at = memchr(reader->at, ',', (size_t)(reader->end - reader->at));
    int release = at ? read_number(reader, at + 1) : 0;

    if (at && release == 0)
        release = read_constant(reader, at + 1);
    reader->required = release > reader->required ? release : reader->required;
    reader->requires = true;
}

static void add_call(struct reader *reader, size_t index, size_t line)
{
    struct scan_source *found = &reader->found;

    found->calls = scan_grow(found->calls, found->count, sizeof *found->calls);
    found->calls[found->count++] = (struct scan_source_call){line, index, false};
}

static void read_name(struct reader *reader, bool member)
{
    size_t line = reader->line;
    struct word word = read_word(reader);
    size_t index;

    if (word.text[word.length - 1] == 'R' && reader->at < reader->end && *reader->at == '"') {
        skip_raw(reader);
        return;
    }
    if (is_word(word, "CUSHIM_CUDA_VERSION") && read_number(reader, reader->at) > 0)
        reader->level = read_number(reader, reader->at);
    while (reader->at < reader->end && skip_other(reader))
        continue;
    if (reader->at == reader->end || *reader->at != '(')
        return;
    if (is_word(word, "CUSHIM_HAS") || is_word(word, "cushim_has")) {
        read_guard(reader, is_word(word, "cushim_has"));
        return;
    }
    if (is_word(word, "cushim_require"))
        read_required(reader);
    index = member ? find_entry(reader, word) : KNOWN_NONE;
    if (index != KNOWN_NONE)
        add_call(reader, index, line);
}

static bool is_guarded(const struct reader *reader, size_t index)
{
    return reader->has[index] || (reader->requires && reader->listed[index]) ||
           known_entry(index).since <= reader->required;
}

bool scan_source_is_own(const char *text, size_t size)
{
    static const char begin[] = "/*\n * cushim ";

    return size >= sizeof begin && memcmp(text, begin, sizeof begin - 1) == 0;
}

struct scan_source scan_source_read(const char *text, size_t size)
{
    struct reader *reader = calloc(1, sizeof *reader);
    struct scan_source found;
    bool member = false;

    if (!reader)
        output_no_memory();
    *reader = (struct reader){
        .text = text, .at = text, .end = text + size, .line = 1, .level = CUSHIM_CUDA_VERSION};
    while (reader->at < reader->end) {
        if (skip_other(reader))
            continue;
        if (is_letter(*reader->at)) {
            read_name(reader, member);
            member = false;
            continue;
        }
        member = *reader->at == '.' || begins(reader, "->");
        note_bracket(reader, *reader->at);
        reader->at += *reader->at == '-' && member ? 2 : 1;
    }
    found = reader->found;
    found.level = reader->level;
    for (size_t i = 0; i < found.count; i++)
        found.calls[i].guarded = is_guarded(reader, found.calls[i].index);
    free(reader);
    return found;
}

static bool is_newer(const struct scan_source_call *call, int oldest)
{
    return oldest > 0 && known_entry(call->index).since > oldest;
}

static bool is_finding(const struct scan_source_call *call, int oldest)
{
    return is_newer(call, oldest) && !call->guarded;
}

static char *words_of(const struct scan_source_call *call)
{
    struct cushim_entry entry = known_entry(call->index);
    char release[VERSION_TEXT_SIZE], *text;

    if (asprintf(&text, "%s came with CUDA %s; no CUSHIM_HAS(..., %s) in this file", entry.symbol,
                 version_text(release, entry.since), entry.symbol) < 0)
        output_no_memory();
    return text;
}

void scan_source_find(const struct scan_source *source, const char *name, int oldest,
                      struct scan_findings *findings)
{
    for (size_t i = 0; i < source->count; i++) {
        const struct scan_source_call *call = &source->calls[i];
        if (!is_finding(call, oldest))
            continue;
        findings->item = scan_grow(findings->item, findings->count, sizeof *findings->item);
        findings->item[findings->count] =
            (struct scan_finding){.file = strdup(name), .text = words_of(call), .line = call->line};
        if (!findings->item[findings->count++].file)
            output_no_memory();
    }
}

void scan_source_forget(struct scan_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->item[i].file);
        free(findings->item[i].text);
    }
    free(findings->item);
    *findings = (struct scan_findings){NULL, 0};
}

/* Each entry once, at its first call. */
static void print_entries(const struct scan_source *source, const char *name)
{
    bool seen[CUSHIM_ENTRY_COUNT] = {false};
    char release[VERSION_TEXT_SIZE];

    for (size_t i = 0; i < source->count; i++) {
        const struct scan_source_call *call = &source->calls[i];
        struct cushim_entry entry = known_entry(call->index);
        if (!seen[call->index])
            printf("%s:%zu: %s came with CUDA %s\n", name, call->line, entry.symbol,
                   version_text(release, entry.since));
        seen[call->index] = true;
    }
}

void scan_source_print(const struct scan_source *source, const char *name, int oldest)
{
    size_t newer = 0, unguarded = 0;
    char release[VERSION_TEXT_SIZE], level[VERSION_TEXT_SIZE];

    if (source->count == 0) {
        printf("%s: no call through cushim's table\n", name);
        return;
    }
    if (oldest == 0) {
        print_entries(source, name);
        return;
    }
    for (size_t i = 0; i < source->count; i++) {
        const struct scan_source_call *call = &source->calls[i];
        newer += is_newer(call, oldest);
        if (!is_finding(call, oldest))
            continue;
        char *words = words_of(call);
        printf("%s:%zu: %s\n", name, call->line, words);
        free(words);
        unguarded++;
    }
    printf("%s: calls through cushim's table: %zu; newer than CUDA %s: %zu, %zu of them behind "
           "CUSHIM_HAS; plain names are those of CUDA %s\n",
           name, source->count, version_text(release, oldest), newer, newer - unguarded,
           version_text(level, source->level));
}

json_t *scan_source_json(const struct scan_source *source, const char *name, int oldest)
{
    json_t *object = json_object(), *calls = json_array();

    for (size_t i = 0; i < source->count; i++) {
        const struct scan_source_call *call = &source->calls[i];
        struct cushim_entry entry = known_entry(call->index);
        json_t *row = json_object();
        output_json_set(row, "line", json_integer((json_int_t)call->line));
        output_json_set(row, "symbol", output_json_text(entry.symbol));
        output_json_set(row, "since", json_integer(entry.since));
        output_json_set(row, "newer", json_boolean(is_newer(call, oldest)));
        output_json_set(row, "guarded", json_boolean(call->guarded));
        output_json_append(calls, row);
    }
    output_json_set(object, "file", output_json_text(name));
    output_json_set(object, "calls", calls);
    return object;
}

void scan_source_free(struct scan_source *source)
{
    free(source->calls);
    *source = (struct scan_source){NULL, 0, 0};
}
