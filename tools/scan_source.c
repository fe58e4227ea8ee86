/* SPDX-License-Identifier: MIT */
#include "scan_source.h"

#include "known.h"
#include "names.h"
#include "output.h"
#include "scan_wheel.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Names that do not mean the newest ABI of CUSHIM_CUDA_VERSION's release; the headers tell. */
static const struct {
    const char *name, *symbol;
} plain[] = {
    {"cuCtxCreate", NAMES_VALUE(cuCtxCreate)},
    {"cuDeviceGetUuid", NAMES_VALUE(cuDeviceGetUuid)},
    {"cuGraphInstantiate", NAMES_VALUE(cuGraphInstantiate)},
};

enum {
    MOST_BRACKETS = 64,    /* deeper ones are no lists */
    MOST_REQUIRES = 64,    /* of a file; more are not taken */
    MOST_LISTED = 1 << 12, /* names in lists of a file */
    LONGEST_CALL = 4096    /* of cushim_require, with its arguments */
};

struct word {
    const char *text;
    size_t length;
};

/* An entry's name in the list that `list` names: const char *const list[] = {"cuName"}. */
struct listed {
    struct word list;
    size_t index;
};

/* A bracket that is open, and the name of the list that it begins. */
struct bracket {
    char character;
    struct word list;
};

struct reader {
    const char *text, *at, *end;
    size_t line;
    struct scan_source found;
    bool has[CUSHIM_ENTRY_COUNT]; /* it was asked for */
    struct listed *listed;
    size_t listed_count;
    struct word lists[MOST_REQUIRES]; /* third argument of each cushim_require */
    const struct option_list *defines;
    bool level_given; /* by the defines */
    size_t depth;
    struct bracket brackets[MOST_BRACKETS];
};

/* Of all that C, C++ and CUDA sources are called, also before a build fills them in (".h.in"). */
bool scan_source_is(const char *name)
{
    static const char *const suffixes[] = {
        ".c",   ".cc",  ".cp",  ".cpp", ".cxx", ".c++",  ".cppm", ".ccm", ".cxxm", ".c++m", ".ixx",
        ".mpp", ".h",   ".hh",  ".hp",  ".hpp", ".hxx",  ".h++",  ".h_",  ".inc",  ".inl",  ".ipp",
        ".ixx", ".tpp", ".txx", ".tcc", ".icc", ".impl", ".def",  ".cu",  ".cuh",  ".i",    ".ii"};
    size_t length = strlen(name);
    const char *suffix;

    if (length > 3 && strcasecmp(name + length - 3, ".in") == 0)
        length -= 3;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        size_t count = strlen(suffixes[i]);
        suffix = length > count ? name + length - count : "";
        if (strncasecmp(suffix, suffixes[i], count) == 0)
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
        if (*reader->at == '\r' && reader->at[-1] == '\\' && reader->at + 1 < reader->end)
            step(reader);
    }
}

/* R"name(text)name": behind the R. */
static void skip_raw(struct reader *reader)
{
    const char *name = reader->at + 1, *at = name;
    char stop[20] = ")";

    while (at < reader->end && (size_t)(at - name) + 2 < sizeof stop && !strchr(" ()\\\"\n", *at))
        at++;
    if (at == reader->end || *at != '(')
        return; /* a string as others */
    size_t length = (size_t)(at - name) + 2;
    memcpy(stop + 1, name, length - 2);
    stop[length - 1] = '"';
    skip_behind(reader, stop, length);
}

static const struct bracket *top_bracket(const struct reader *reader)
{
    return reader->depth > 0 && reader->depth <= MOST_BRACKETS
               ? &reader->brackets[reader->depth - 1]
               : NULL;
}

static const char *back_over_spaces(const struct reader *reader, const char *at)
{
    while (at > reader->text && isspace((unsigned char)at[-1]))
        at--;
    return at;
}

/* The name before a '{' at the reader: "list[] = {", "list{". */
static struct word name_before(const struct reader *reader)
{
    const char *at = back_over_spaces(reader, reader->at), *end;

    if (at > reader->text && at[-1] == '=')
        at = back_over_spaces(reader, at - 1);
    if (at > reader->text && at[-1] == ']') {
        const char *least = at - reader->text > LONGEST_CALL ? at - LONGEST_CALL : reader->text;
        while (at > least && *at != '[')
            at--;
        at = back_over_spaces(reader, at);
    }
    for (end = at; at > reader->text && is_letter(at[-1]);)
        at--;
    return (struct word){at, (size_t)(end - at)};
}

/* An entry's name in a list, such as cushim_require takes; no argument of a call. */
static void note_listed(struct reader *reader, const char *string)
{
    const struct bracket *top = top_bracket(reader);
    size_t index;

    if (!top || top->list.length == 0 || reader->at == string ||
        reader->listed_count == MOST_LISTED)
        return;
    index = known_symbol_of(string, (size_t)(reader->at - string - 1));
    if (index == KNOWN_NONE)
        return;
    reader->listed = scan_grow(reader->listed, reader->listed_count, sizeof *reader->listed);
    reader->listed[reader->listed_count++] = (struct listed){top->list, index};
}

static void note_bracket(struct reader *reader, char character)
{
    if (character == '(' || character == '{' || character == '[') {
        const struct bracket *outer = top_bracket(reader);
        struct bracket bracket = {character, {NULL, 0}};
        if (character == '{')
            bracket.list = name_before(reader);
        if (character == '{' && bracket.list.length == 0 && outer)
            bracket.list = outer->list;
        if (reader->depth < MOST_BRACKETS)
            reader->brackets[reader->depth] = bracket;
        reader->depth++;
    } else if ((character == ')' || character == '}' || character == ']') && reader->depth > 0) {
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
    for (size_t i = 0;
         reader->found.level == CUSHIM_CUDA_VERSION && i < sizeof plain / sizeof plain[0]; i++) {
        if (strcmp(name, plain[i].name) == 0)
            return known_symbol(plain[i].symbol);
    }
    index = known_newest(name, CUSHIM_STREAM_LEGACY, reader->found.level);
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
        if (*reader->at == ';' || *reader->at == '{' || *reader->at == '}')
            break; /* it has no end, as in a macro */
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

    while (at < reader->end && (isspace((unsigned char)*at) || *at == '('))
        at++;
    for (; at < reader->end && isdigit((unsigned char)*at) && number < 100000; at++)
        number = number * 10 + (*at - '0');
    return number;
}

/* The number that the defines give a name; 0: none. */
static int defined_number(const struct reader *reader, struct word name)
{
    const struct option_list *defines = reader->defines;

    for (size_t i = 0; defines && i < defines->count; i++) {
        const char *define = defines->item[i];
        if (strncmp(define, name.text, name.length) == 0 && define[name.length] == '=')
            return atoi(define + name.length + 1);
    }
    return 0;
}

/* The number that the file gives a name: "#define NAME 12000", "NAME = 12000". */
static int read_constant(const struct reader *reader, struct word name)
{
    const char *found = reader->text;
    int number = defined_number(reader, name);

    if (number > 0 || name.length == 0)
        return number;
    if (is_word(name, "CUSHIM_CUDA_VERSION"))
        return reader->found.level;
    while ((found = memmem(found, (size_t)(reader->end - found), name.text, name.length))) {
        bool whole = found == reader->text || !is_letter(found[-1]);
        found += name.length;
        const char *value = found;
        while (value < reader->end && (*value == ' ' || *value == '\t' || *value == '='))
            value++;
        if (whole && value > found && read_number(reader, value) > 0)
            return read_number(reader, value);
    }
    return 0;
}

static struct word word_at(const char *at, const char *end)
{
    const char *stop;

    while (at < end && !is_letter(*at))
        at++;
    for (stop = at; stop < end && is_letter(*stop);)
        stop++;
    return (struct word){at, (size_t)(stop - at)};
}

/* Where the reader's parenthesis closes; NULL: not nearby. */
static const char *find_close(const struct reader *reader)
{
    int depth = 0;

    for (const char *at = reader->at; at < reader->end && at < reader->at + LONGEST_CALL; at++) {
        depth += (*at == '(') - (*at == ')');
        if (depth == 0)
            return at;
    }
    return NULL;
}

static void add_required(struct scan_source_require *require, size_t index)
{
    require->entries = scan_grow(require->entries, require->count, sizeof *require->entries);
    require->entries[require->count++] = index;
}

/* cushim_require(cu, 12000, list): what came up to that release is there behind it, and what is in
 * the list, which may be in the call itself. */
static void read_required(struct reader *reader, size_t line)
{
    const char *end = find_close(reader), *first, *second;
    struct scan_source *found = &reader->found;
    struct scan_source_require require = {.line = line};

    first = end ? memchr(reader->at, ',', (size_t)(end - reader->at)) : NULL;
    if (!first || found->require_count == MOST_REQUIRES)
        return;
    second = memchr(first + 1, ',', (size_t)(end - first - 1));
    require.release = read_number(reader, first + 1);
    if (require.release == 0)
        require.release = read_constant(reader, word_at(first + 1, second ? second : end));
    if (second)
        reader->lists[found->require_count] = (struct word){second, (size_t)(end - second)};
    for (const char *at = second; at && (at = memchr(at, '"', (size_t)(end - at)));) {
        struct word name = word_at(at, end);
        size_t index = known_symbol_of(name.text, name.length);
        if (index != KNOWN_NONE)
            add_required(&require, index);
        at = memchr(at + 1, '"', (size_t)(end - at - 1));
        at = at ? at + 1 : NULL;
    }
    found->requires = scan_grow(found->requires, found->require_count, sizeof require);
    found->requires[found->require_count++] = require;
}

/* The lists are known when the file was read to its end. */
static void add_listed(struct reader *reader, size_t which)
{
    struct word argument = reader->lists[which];

    for (size_t i = 0; argument.text && i < reader->listed_count; i++) {
        struct word list = reader->listed[i].list;
        const char *at = argument.text, *end = argument.text + argument.length;
        while (at < end) {
            struct word word = word_at(at, end);
            if (word.length == list.length && memcmp(word.text, list.text, list.length) == 0) {
                add_required(&reader->found.requires[which], reader -> listed[i].index);
                break;
            }
            at = word.text + word.length;
        }
    }
}

static void add_call(struct reader *reader, size_t index, size_t line)
{
    struct scan_source *found = &reader->found;

    found->calls = scan_grow(found->calls, found->count, sizeof *found->calls);
    found->calls[found->count++] = (struct scan_source_call){.line = line, .index = index};
}

static bool is_main(struct word word)
{
    return is_word(word, "main") || is_word(word, "wmain") || is_word(word, "WinMain") ||
           is_word(word, "wWinMain");
}

static bool is_raw(struct word word)
{
    return is_word(word, "R") || is_word(word, "LR") || is_word(word, "uR") ||
           is_word(word, "UR") || is_word(word, "u8R");
}

/* A word, and what belongs to it. `typed`: a word is before it, as before a function's name. */
static void read_name(struct reader *reader, bool member, bool typed)
{
    size_t line = reader->line;
    struct word word = read_word(reader);
    size_t index;

    if (is_raw(word) && reader->at < reader->end && *reader->at == '"') {
        skip_raw(reader);
        return;
    }
    if (is_word(word, "CUSHIM_CUDA_VERSION") && read_number(reader, reader->at) > 0 &&
        !reader->level_given)
        reader->found.level = read_number(reader, reader->at);
    while (reader->at < reader->end && skip_other(reader))
        continue;
    if (reader->at == reader->end || *reader->at != '(')
        return;
    if (is_word(word, "CUSHIM_HAS") || is_word(word, "cushim_has")) {
        read_guard(reader, is_word(word, "cushim_has"));
        return;
    }
    if (is_word(word, "cushim_require"))
        read_required(reader, line);
    if (typed && is_main(word) && reader->found.main == 0)
        reader->found.main = line;
    index = member ? find_entry(reader, word) : KNOWN_NONE;
    if (index != KNOWN_NONE)
        add_call(reader, index, line);
}

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

/* By its own CUSHIM_HAS, or by that of another entry of its release. One of a newer release says
 * nothing: what is done without the newer entry calls an older one. */
static void settle_guards(struct reader *reader)
{
    int releases[CUSHIM_ENTRY_COUNT];
    size_t count = 0;

    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        if (reader->has[i])
            releases[count++] = known_entry(i).since;
    }
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        for (size_t k = 0; k < count && !reader->has[i]; k++)
            reader->has[i] = releases[k] == known_entry(i).since && is_everywhere(i);
    }
    for (size_t i = 0; i < reader->found.count; i++)
        reader->found.calls[i].has = reader->has[reader->found.calls[i].index];
}

bool scan_source_is_own(const char *text, size_t size)
{
    static const char begin[] = "/*\n * cushim ";

    return size >= sizeof begin && memcmp(text, begin, sizeof begin - 1) == 0;
}

bool scan_source_is_wide(const char *text, size_t size)
{
    return size >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0);
}

static void read_all(struct reader *reader)
{
    bool member = false, typed = false;

    while (reader->at < reader->end) {
        if (skip_other(reader))
            continue;
        if (is_letter(*reader->at)) {
            bool word_before = typed;
            typed = !begins(reader, "return");
            read_name(reader, member, word_before);
            member = false;
            continue;
        }
        typed = false;
        member = *reader->at == '.' || begins(reader, "->");
        note_bracket(reader, *reader->at);
        reader->at += *reader->at == '-' && member ? 2 : 1;
    }
}

struct scan_source scan_source_read(const char *text, size_t size,
                                    const struct option_list *defines)
{
    static const struct word level = {"CUSHIM_CUDA_VERSION", sizeof "CUSHIM_CUDA_VERSION" - 1};
    struct reader *reader = calloc(1, sizeof *reader);
    struct scan_source found;

    if (!reader)
        output_no_memory();
    *reader = (struct reader){
        .text = text, .at = text, .end = text + size, .line = 1, .defines = defines};
    reader->found.level = defined_number(reader, level);
    reader->level_given = reader->found.level > 0;
    if (!reader->level_given)
        reader->found.level = CUSHIM_CUDA_VERSION;
    read_all(reader);
    settle_guards(reader);
    for (size_t i = 0; i < reader->found.require_count; i++)
        add_listed(reader, i);
    found = reader->found;
    free(reader->listed);
    free(reader);
    return found;
}

void scan_source_free(struct scan_source *source)
{
    for (size_t i = 0; i < source->require_count; i++)
        free(source->requires[i].entries);
    free(source->requires);
    free(source->calls);
    free(source->name);
    *source = (struct scan_source){0};
}
