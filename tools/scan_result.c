/* SPDX-License-Identifier: MIT */
#include "scan_result.h"

#include "scan_flow.h"

#include <string.h>

/* A part of the text. */
struct part {
    const char *from, *end;
};

/* The next place of the error's name or number; NULL: none. */
static const char *find_code(struct part part)
{
    static const struct scan_word codes[] = {{"CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER",
                                              sizeof "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER" - 1},
                                             {"36", 2}};
    const char *first = NULL;

    for (size_t i = 0; i < 2; i++) {
        const char *at = scan_text_find_word(part.from, part.end, codes[i]);
        first = at && (!first || at < first) ? at : first;
    }
    return first;
}

static bool is_equality(const char *at, const char *end)
{
    return end - at > 1 && (at[0] == '=' || at[0] == '!') && at[1] == '=';
}

/* Behind a comparison that ends at a place, "== ", "!= (CUresult)"; its begin. NULL: none. */
static const char *find_equality(const char *from, const char *at)
{
    at = scan_text_back_over_spaces(from, at);
    if (at > from && at[-1] == ')') { /* a cast */
        while (at > from && *--at != '(')
            continue;
        at = scan_text_back_over_spaces(from, at);
    }
    return at - from > 2 && is_equality(at - 2, at) ? scan_text_back_over_spaces(from, at - 2)
                                                    : NULL;
}

static bool ends_with(const char *from, const char *at, struct scan_word word)
{
    return (size_t)(at - from) > word.length &&
           memcmp(at - word.length, word.text, word.length) == 0 &&
           !scan_text_is_letter(at[-(ptrdiff_t)word.length - 1]);
}

static const struct scan_word label = {"case", 4}, choice = {"switch", 6};

/* "name == code", "code == name", "case code" of "switch (name)". */
static bool compares(struct part part, const char *code, struct scan_word name)
{
    const struct scan_word word = scan_word_at(code, part.end);
    const char *before = find_equality(part.from, code), *at;

    if (before)
        return ends_with(part.from, before, name);
    const char *behind = scan_text_skip_spaces(code + word.length, part.end);
    if (is_equality(behind, part.end))
        return scan_word_compare(scan_word_at(behind + 2, part.end), name) == 0;
    if (!ends_with(part.from, scan_text_back_over_spaces(part.from, code), label))
        return false;
    for (at = part.from; (at = scan_text_find_word(at, code, choice)); at++) {
        if (scan_word_compare(scan_word_at(at + choice.length, code), name) == 0)
            return true;
    }
    return false;
}

/* Where the name is given another value. */
static const char *find_assignment(struct part part, struct scan_word name)
{
    for (const char *at = part.from; (at = scan_text_find_word(at, part.end, name)); at++) {
        const char *behind = scan_text_skip_spaces(at + name.length, part.end);
        if (part.end - behind > 1 && behind[0] == '=' && behind[1] != '=')
            return at;
    }
    return part.end;
}

/* The begin of "name = WRAPPER(cu->", before the name of an entry; "cu->" is its own. */
static const char *find_begin(const char *from, const char *at)
{
    while (at > from && (scan_text_is_letter(at[-1]) || memchr(".->:( \t\r\n", at[-1], 9)))
        at--;
    return at;
}

/* Whether the result of a call is compared with the error. */
static bool is_compared(struct part part, const struct scan_source_call *call)
{
    const char *open = memchr(call->at, '(', (size_t)(part.end - call->at));
    const char *close = open ? scan_text_find_close(open, part.end) : part.end;
    const char *begin = find_begin(part.from, call->at), *behind = close + 1, *code;
    struct scan_word name = {begin, 0};

    if (close == part.end)
        return false;
    while (behind < part.end && (*behind == ')' || *behind == ' ' || *behind == '\n'))
        behind++;
    if (is_equality(behind, part.end)) {
        code = find_code((struct part){behind, part.end});
        return code && find_equality(part.from, code) == scan_text_back_over_spaces(begin, behind);
    }
    if (scan_text_find_word(begin, call->at, choice)) {
        code = find_code((struct part){behind, part.end});
        return code && ends_with(part.from, scan_text_back_over_spaces(behind, code), label);
    }
    if (behind < part.end && *behind == ',') { /* EXPECT_EQ(cu->cuName(), code) */
        behind = scan_text_skip_spaces(behind + 1, part.end);
        if (find_code((struct part){behind, part.end}) == behind)
            return true;
    }
    const bool listed = begin > part.from && begin[-1] == ',';
    if (begin - part.from > 2 && (listed || is_equality(begin - 2, begin))) {
        const char *end = scan_text_back_over_spaces(part.from, begin - (listed ? 1 : 2));
        const char *from = find_begin(part.from, end);
        code = find_code((struct part){from, end});
        return code && code + scan_word_at(code, end).length == end;
    }
    if (begin - part.from < 2 || (begin[-1] != '=' && begin[-1] != '{') ||
        memchr("=!<>+-|&", begin[-2], 8))
        return false;
    name.text = scan_text_back_over_spaces(part.from, begin - 1);
    for (; name.text > part.from && scan_text_is_letter(name.text[-1]); name.text--)
        name.length++;
    if (name.length == 0)
        return false;
    part.from = behind;
    part.end = find_assignment(part, name);
    for (struct part rest = part; (code = find_code(rest)); rest.from = code + 1) {
        if (compares(part, code, name))
            return true;
    }
    return false;
}

static size_t line_of(struct scan_guards *guards, const char *at)
{
    size_t line = 1;

    guards->work += (size_t)(at - guards->text.text);
    for (const char *k = guards->text.text; k < at; k++)
        line += *k == '\n';
    return line;
}

/* Whether it is in "return cu->". */
static bool is_returned(struct part part, const struct scan_source_call *call)
{
    static const struct scan_word word = {"return", 6};
    const char *begin = find_begin(part.from, call->at);

    return scan_text_find_word(begin, call->at, word);
}

void scan_result_find(struct scan_guards *guards, const struct scan_scope *scope,
                      struct scan_source *source)
{
    const struct part all = {guards->text.text, guards->text.end};
    const char *first = find_code(all);

    for (size_t i = 0; first && i < source->count; i++) {
        struct scan_source_call *call = &source->calls[i];
        if (call->has || call->function == SCOPE_FILE)
            continue;
        const struct scan_function *function = &scope->functions[call->function - 1];
        const struct part part = {function->from, function->until ? function->until : all.end};
        guards->work += 4 * (size_t)(part.end - part.from);
        if (guards->work > FLOW_MOST_WORK)
            return;
        call->has = is_compared(part, call);
        const char *other = find_code((struct part){call->at, part.end});
        other = other || !is_returned(part, call) ? other : first;
        if (call->has || call->asked > 0 || !other ||
            !(find_equality(all.from, other) || other[0] == 'C'))
            continue;
        call->asked = line_of(guards, other);
        call->why = SCAN_WHY_RESULT;
    }
}
