/* SPDX-License-Identifier: MIT */
#include "scan_text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Of all that C, C++ and CUDA sources are called, also before a build fills them in (".h.in"). */
static const char *const suffixes[] = {
    ".h",    ".hh",  ".hp",  ".hpp", ".hxx", ".h++",  ".h_",   ".inc", ".inl",
    ".ipp",  ".tpp", ".txx", ".tcc", ".icc", ".impl", ".def",  ".cuh", /* of headers */
    ".c",    ".cc",  ".cp",  ".cpp", ".cxx", ".c++",  ".cppm", ".ccm", ".cxxm",
    ".c++m", ".ixx", ".mpp", ".cu",  ".i",   ".ii"};

enum { SUFFIXES = sizeof suffixes / sizeof suffixes[0], HEADERS = 17 };

static bool has_suffix(const char *name, size_t count)
{
    size_t length = strlen(name);
    const char *suffix;

    if (length > 3 && strcasecmp(name + length - 3, ".in") == 0)
        length -= 3;
    for (size_t i = 0; i < count; i++) {
        const size_t size = strlen(suffixes[i]);
        suffix = length > size ? name + length - size : "";
        if (strncasecmp(suffix, suffixes[i], size) == 0)
            return true;
    }
    return false;
}

bool scan_text_is_source(const char *name)
{
    return has_suffix(name, SUFFIXES);
}

bool scan_text_is_header(const char *name)
{
    return has_suffix(name, HEADERS);
}

enum { LONGEST_DECLARATION = 128 };

bool scan_text_is_own(const char *text, size_t size)
{
    static const char begin[] = "/*\n * cushim ";

    return size >= sizeof begin && memcmp(text, begin, sizeof begin - 1) == 0;
}

size_t scan_text_mark(const char *text, size_t size)
{
    return size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

bool scan_text_is_wide(const char *text, size_t size)
{
    return size >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0);
}

bool scan_text_is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool scan_text_begins(const struct scan_text *in, const char *text)
{
    if (in->at == in->end || *in->at != *text)
        return false;
    const size_t length = strlen(text);

    return (size_t)(in->end - in->at) >= length && memcmp(in->at, text, length) == 0;
}

void scan_text_step(struct scan_text *in)
{
    in->line += *in->at == '\n';
    in->at++;
}

/* Go behind the next `text`, or to the end. */
void scan_text_skip_behind(struct scan_text *in, const char *text, size_t length)
{
    const char *found = memmem(in->at, (size_t)(in->end - in->at), text, length);
    const char *stop = found ? found + length : in->end;

    while (in->at < stop)
        scan_text_step(in);
}

/* A string or a character ends at its mark, and without one at the end of the line. A comment of
 * one line ends there alone. */
void scan_text_skip_line(struct scan_text *in, char mark)
{
    for (scan_text_step(in); in->at < in->end && *in->at != '\n'; scan_text_step(in)) {
        if (*in->at == mark) {
            scan_text_step(in);
            return;
        }
        if (*in->at == '\\' && in->at + 1 < in->end)
            scan_text_step(in);
        if (*in->at == '\r' && in->at[-1] == '\\' && in->at + 1 < in->end)
            scan_text_step(in);
    }
}

bool scan_text_is_first(const struct scan_text *in)
{
    const char *at = in->at;

    while (at > in->text && (at[-1] == ' ' || at[-1] == '\t'))
        at--;
    return at == in->text || at[-1] == '\n';
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

/* "if 0", behind the '#'. */
static bool is_dead(const struct scan_text *in)
{
    const struct scan_word word = scan_word_at(in->at, in->end);
    const char *at = skip_blanks(word.text + word.length, in->end);

    if (!scan_word_is(word, "if") || skip_blanks(in->at + 1, in->end) != word.text ||
        at == in->end || *at != '0')
        return false;
    at = skip_blanks(at + 1, in->end);
    return at == in->end || memchr("\r\n/", *at, 3);
}

bool scan_text_skip_dead(struct scan_text *in)
{
    struct scan_text at = *in;
    size_t depth = 1;

    if (!is_dead(in))
        return false;
    for (scan_text_skip_line(&at, '\n'); at.at < at.end;) {
        if (*at.at == '#' && scan_text_is_first(&at)) {
            const struct scan_word word = scan_word_at(at.at, at.end);
            const bool other = word.length >= 4 && memcmp(word.text, "el", 2) == 0;
            const bool ends = scan_word_is(word, "endif");
            depth += word.length >= 2 && memcmp(word.text, "if", 2) == 0;
            depth -= ends;
            if (ends ? depth == 0 : other && depth == 1) {
                if (ends)
                    scan_text_skip_line(&at, '\n');
                *in = at;
                return true;
            }
            scan_text_skip_line(&at, '\n');
        } else if (scan_text_begins(&at, "/*")) {
            at.at += 2;
            scan_text_skip_behind(&at, "*/", 2);
        } else if (scan_text_begins(&at, "//")) {
            scan_text_skip_line(&at, '\n');
        } else if (*at.at == '"' || *at.at == '\'') {
            scan_text_skip_line(&at, *at.at);
        } else {
            scan_text_step(&at);
        }
    }
    *in = at;
    return true;
}

/* R"name(text)name": behind the R. */
void scan_text_skip_raw(struct scan_text *in)
{
    const char *name = in->at + 1, *at = name;
    char stop[20] = ")";

    while (at < in->end && (size_t)(at - name) + 2 < sizeof stop && !strchr(" ()\\\"\n", *at))
        at++;
    if (at == in->end || *at != '(')
        return; /* a string as others */
    size_t length = (size_t)(at - name) + 2;
    memcpy(stop + 1, name, length - 2);
    stop[length - 1] = '"';
    scan_text_skip_behind(in, stop, length);
}

struct scan_word scan_text_word(struct scan_text *in)
{
    struct scan_word word = {in->at, 0};
    bool number = isdigit((unsigned char)*in->at);

    while (in->at < in->end &&
           (scan_text_is_letter(*in->at) || (number && (*in->at == '\'' || *in->at == '.'))))
        in->at++;
    word.length = (size_t)(in->at - word.text);
    return word;
}

bool scan_word_is(struct scan_word word, const char *text)
{
    return word.length > 0 && *word.text == *text && word.length == strlen(text) &&
           memcmp(word.text, text, word.length) == 0;
}

bool scan_word_is_one_of(struct scan_word word, const char *const *list)
{
    for (; *list; list++) {
        if (scan_word_is(word, *list))
            return true;
    }
    return false;
}

int scan_word_compare(struct scan_word a, struct scan_word b)
{
    if (a.length != b.length)
        return a.length < b.length ? -1 : 1;
    return a.length > 0 ? memcmp(a.text, b.text, a.length) : 0;
}

const void *scan_word_find(const void *rows, size_t count, size_t size, struct scan_word word)
{
    const char *const first = rows;
    size_t low = 0, high = count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (scan_word_compare(*(const struct scan_word *)(first + middle * size), word) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count)
        return NULL;
    const struct scan_word *found = (const void *)(first + low * size);
    return scan_word_compare(*found, word) == 0 ? found : NULL;
}

bool scan_word_is_raw(struct scan_word word)
{
    return scan_word_is(word, "R") || scan_word_is(word, "LR") || scan_word_is(word, "uR") ||
           scan_word_is(word, "UR") || scan_word_is(word, "u8R");
}

const char *scan_text_skip_spaces(const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at))
        at++;
    return at;
}

const char *scan_text_back_over_spaces(const char *from, const char *at)
{
    while (at > from && isspace((unsigned char)at[-1]))
        at--;
    return at;
}

const char *scan_text_find_word(const char *at, const char *end, struct scan_word word)
{
    const char *from = at;

    for (; (at = memmem(at, (size_t)(end - at), word.text, word.length)); at++) {
        const char *behind = at + word.length;
        if ((at == from || !scan_text_is_letter(at[-1])) &&
            (behind == end || !scan_text_is_letter(*behind)))
            return at;
    }
    return NULL;
}

const char *scan_text_find_close(const char *at, const char *end)
{
    for (int depth = 0; at < end; at++) {
        depth += (*at == '(') - (*at == ')');
        if (depth == 0)
            break;
    }
    return at;
}

enum { MOST_NUMBER = 1000000, MOST_PARENTHESES = 8 };

/* Behind spaces of the line. */
/* "12000", "11'020u"; 0: something else. */
static int read_literal(const char **from, const char *end)
{
    const char *at = *from;
    int number = 0;

    for (; at < end && (isdigit((unsigned char)*at) || *at == '\''); at++) {
        if (*at != '\'' && number < MOST_NUMBER)
            number = number * 10 + (*at - '0');
    }
    while (at < end && memchr("uUlL", *at, 4))
        at++;
    *from = at;
    return at < end && scan_text_is_letter(*at) ? 0 : number;
}

/* A sum of products of numbers, from `from` to behind it. 0: something else. */
static int read_sum(const char **from, const char *end, int depth)
{
    const char *at = skip_blanks(*from, end);
    int sum = 0, product = 1;

    for (char joint = '+';; at = skip_blanks(at + 1, end)) {
        const bool inner = at < end && *at == '(' && depth < MOST_PARENTHESES;
        at += inner;
        const int number = inner ? read_sum(&at, end, depth + 1) : read_literal(&at, end);
        product = joint != '*'                           ? number
                  : product < MOST_NUMBER / (number + 1) ? product * number
                                                         : MOST_NUMBER;
        at += inner && at < end && *at == ')';
        *from = at;
        at = skip_blanks(at, end);
        joint = at < end ? *at : '\0';
        if (number == 0)
            return 0;
        if (joint == '*')
            continue;
        sum += sum < MOST_NUMBER ? product : 0;
        if (joint != '+')
            break;
    }
    const bool comment = end - at > 1 && *at == '/' && (at[1] == '/' || at[1] == '*');
    return at < end && memchr("-/%", *at, 3) && !comment ? 0 : sum;
}

int scan_text_sum(const char *at, const char *end, const char **behind)
{
    while (at < end && isspace((unsigned char)*at))
        at++;
    *behind = at;
    return read_sum(behind, end, 0);
}

int scan_text_number(const struct scan_text *in, const char *at)
{
    const char *behind;

    return scan_text_sum(at, in->end, &behind);
}

int scan_text_pair(const char *at, const char *end)
{
    const struct scan_text in = {at, at, end, 1};
    const char *comma = memchr(at, ',', (size_t)(end - at));
    const char *minor = comma ? scan_text_skip_spaces(comma + 1, end) : end;
    const int major = scan_text_number(&in, at);

    return minor < end && isdigit((unsigned char)*minor) && major > 0 && major < 100
               ? major * 1000 + scan_text_number(&in, minor) * 10
               : 0;
}

struct scan_word scan_word_at(const char *at, const char *end)
{
    const char *stop;

    while (at < end && !scan_text_is_letter(*at))
        at++;
    for (stop = at; stop < end && scan_text_is_letter(*stop);)
        stop++;
    return (struct scan_word){at, (size_t)(stop - at)};
}

bool scan_word_has(struct scan_word word, const char *text)
{
    size_t length = strlen(text);

    for (size_t i = 0; i + length <= word.length; i++) {
        if (strncasecmp(word.text + i, text, length) == 0)
            return true;
    }
    return false;
}

bool scan_word_ends(struct scan_word word, const char *text)
{
    size_t length = strlen(text);

    return word.length >= length &&
           strncasecmp(word.text + word.length - length, text, length) == 0;
}

/* Whether the ',' before a place is of "type one, other": no argument's and no list's. */
static bool is_declared_beside(const char *from, const char *at)
{
    const char *least = at - from > LONGEST_DECLARATION ? at - LONGEST_DECLARATION : from;

    for (int depth = 0; at > least; at--) {
        depth += (at[-1] == ')') - (at[-1] == '(');
        if (depth < 0)
            return false;
        if (depth == 0 && memchr(";{}", at[-1], 3)) {
            const char *before = scan_text_back_over_spaces(from, at - 1);
            return at[-1] != '{' || before == from || before[-1] != '=';
        }
    }
    return false;
}

bool scan_text_declares(const char *from, struct scan_word word, const char *marks)
{
    const char *at = from, *found;

    for (; (found = memmem(at, (size_t)(word.text - at), word.text, word.length)); at = found + 1) {
        const char *before = found;
        while (before > from && isspace((unsigned char)before[-1]))
            before--;
        if (before > from && !scan_text_is_letter(found[word.length]) &&
            (before[-1] == ',' ? is_declared_beside(from, before)
                               : strchr(marks, before[-1]) ||
                                     (before < found && scan_text_is_letter(before[-1]))))
            return true;
    }
    return false;
}

bool scan_text_is_equality(const char *at, const char *end)
{
    return end - at > 1 && (at[0] == '=' || at[0] == '!') && at[1] == '=';
}

const char *scan_text_find_begin(const char *from, const char *at)
{
    while (at > from && (scan_text_is_letter(at[-1]) || memchr(".->:( \t\r\n", at[-1], 9)))
        at--;
    return at;
}
