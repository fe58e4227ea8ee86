/* SPDX-License-Identifier: MIT */
#include "scan_filled.h"

#include "known.h"
#include "names.h"
#include "scan_flow.h"
#include "scan_names.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST_CALL = 4096, MOST_OUTPUTS = 8 };

/* The end of an argument or a parameter: its ',' or the last parenthesis. */
static const char *find_end(const char *at, const char *end)
{
    for (int depth = 0; at < end; at++) {
        if (depth == 0 && (*at == ',' || *at == ')'))
            break;
        depth +=
            (*at == '(' || *at == '{' || *at == '[') - (*at == ')' || *at == '}' || *at == ']');
    }
    return at;
}

/* The name in "&name", "&a->name", "(void **)&name", and in "name" if `plain`; none: another
 * argument. */
static struct scan_word read_argument(const char *at, const char *end, bool plain, bool *member)
{
    const struct scan_word none = {NULL, 0};
    struct scan_word name = none;

    for (at = scan_text_skip_spaces(at, end); at < end && *at == '(';)
        at = scan_text_skip_spaces(scan_text_find_close(at, end) + 1, end);
    if (at < end && *at == '&')
        at++;
    else if (!plain)
        return none;
    while (at < end) {
        if (scan_text_is_letter(*at)) {
            name = scan_word_at(at, end);
            at = name.text + name.length;
            continue;
        }
        if (!memchr(".->: \t\r\n", *at, 8))
            return none;
        *member |= *at == '.' || *at == '>' || *at == ':';
        at++;
    }
    return name;
}

/* Whether the function declares the name; else it is a member, or the file's. */
static bool is_own(struct scan_guards *guards, const struct scan_scope *scope,
                   struct scan_word word)
{
    if (scope->now.function == SCOPE_FILE)
        return false;
    const char *from = scope->functions[scope->now.function - 1].from;
    guards->work += (size_t)(word.text - from);
    return guards->work > FLOW_MOST_WORK || scan_text_declares(from, word, "*>");
}

static bool has_mark(const char *from, const char *end, char mark)
{
    return mark == '\0' || memchr(from, mark, (size_t)(end - from));
}

size_t scan_filled_parameter(const struct scan_scope *scope, const struct scan_text *text,
                             size_t function, struct scan_word word, char mark)
{
    static const struct scan_function none = {.macro = true};
    const struct scan_function *of =
        function != SCOPE_FILE ? &scope->functions[function - 1] : &none;
    const char *end = text->end;
    size_t number = 0;

    if (of->macro || of->name.length == 0 || word.length == 0)
        return 0;
    const char *at = scan_text_skip_spaces(of->name.text + of->name.length, end);
    if (at == end || *at != '(')
        return 0;
    end = end - at > LONGEST_CALL ? at + LONGEST_CALL : end;
    do {
        const char *stop = find_end(++at, end), *last = scan_text_back_over_spaces(at, stop);
        number++;
        if ((size_t)(last - at) > word.length &&
            memcmp(last - word.length, word.text, word.length) == 0 &&
            !scan_text_is_letter(last[-(ptrdiff_t)word.length - 1]) && has_mark(at, last, mark))
            return number;
        at = stop;
    } while (at < end && *at == ',');
    return 0;
}

static void note_filled(struct scan_guards *guards, const char *at)
{
    guards->filled[guards->filled_count++ % SCAN_MOST_FILLED] = at;
}

bool scan_filled_is(const struct scan_guards *guards, struct scan_word word)
{
    for (size_t i = 0; i < SCAN_MOST_FILLED; i++) {
        if (guards->filled[i] == word.text)
            return true;
    }
    return false;
}

/* What one argument is given. A parameter hands it on to the caller. */
static void take(struct scan_guards *guards, const struct scan_scope *scope, const char *at,
                 const char *end, struct scan_name name, bool reference)
{
    const size_t function = scope->now.function;
    bool member = false;
    struct scan_word word = read_argument(at, end, false, &member);

    if (word.length == 0) {
        word = read_argument(at, end, true, &member);
        size_t output =
            member ? 0 : scan_filled_parameter(scope, &guards->text, function, word, '*');
        if (output > 0)
            scan_names_find(guards, (struct scan_name){.word = scope->functions[function - 1].name,
                                                       .index = name.index,
                                                       .release = name.release,
                                                       .filled = name.filled,
                                                       .output = output,
                                                       .origin = word.text});
        if (output > 0 || !reference || word.length == 0)
            return;
    } else if (name.index == SCAN_VOID) {
        return; /* as "&name" anywhere else */
    }
    if (name.index != SCAN_VOID)
        note_filled(guards, word.text);
    name.word = word;
    name.function = !member && is_own(guards, scope, word) ? function : SCOPE_FILE;
    name.origin = word.text;
    if (name.filled && !member && scan_filled_parameter(scope, &guards->text, function, word, '\0'))
        name.index = SCAN_VOID; /* it has a value before */
    scan_names_find(guards, name);
}

/* All arguments behind `passed` of them, or one alone. */
static void take_all(struct scan_guards *guards, const struct scan_scope *scope,
                     const struct scan_text *in, struct scan_name name, size_t which, size_t passed)
{
    const char *end = in->end - in->at > LONGEST_CALL ? in->at + LONGEST_CALL : in->end;
    const char *at = in->at;
    size_t number = 0;

    do {
        const char *stop = find_end(++at, end);
        number++;
        if (stop < end && number > passed && (which == 0 || which == number))
            take(guards, scope, at, stop, name, which > 0);
        at = stop;
    } while (at < end && *at == ',');
}

void scan_filled_by_entry(struct scan_guards *guards, const struct scan_scope *scope,
                          const struct scan_text *in, size_t index, bool helper)
{
    const char *symbol = known_entry(index).symbol;
    struct scan_name name = {.index = index, .filled = true};

    if (in->at == in->end || (*in->at != '(' && *in->at != ','))
        return;
    if (strcmp(symbol, NAMES_VALUE(cuDriverGetVersion)) == 0)
        name = (struct scan_name){.index = SCAN_VERSION};
    else if (strcmp(symbol, NAMES_VALUE(cuDeviceGetAttribute)) == 0)
        name.index = SCAN_ATTRIBUTE;
    take_all(guards, scope, in, name, 0, helper);
}

size_t scan_filled_helper(struct scan_word word)
{
    static const struct {
        const char *helper, *symbol; /* without which it cannot succeed */
    } helpers[] = {
        {"cushim_capture_begin", "cuStreamEndCapture"},
        {"cushim_graph_instantiate", "cuGraphInstantiate"},
        {"cushim_library_load", "cuLibraryLoadData"},
        {"cushim_library_kernel", "cuLibraryGetKernel"},
    };

    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++) {
        if (scan_word_is(word, helpers[i].helper))
            return known_symbol(helpers[i].symbol);
    }
    return KNOWN_NONE;
}

void scan_filled_by_function(struct scan_guards *guards, const struct scan_scope *scope,
                             const struct scan_text *in, struct scan_word function)
{
    for (size_t which = 1; which <= MOST_OUTPUTS; which++) {
        const struct scan_name owner = {.word = function, .output = which}, *name = NULL;
        bool other = false;
        while ((name = scan_names_next(guards, owner, name)))
            other |= name->index == SCAN_VOID;
        while ((name = scan_names_next(guards, owner, name))) {
            struct scan_name value = *name;
            value.output = 0;
            if (!other || name->index == SCAN_VOID)
                take_all(guards, scope, in, value, which, 0);
        }
    }
}
