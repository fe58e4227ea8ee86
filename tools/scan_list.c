/* SPDX-License-Identifier: MIT */
#include "scan_list.h"

#include "known.h"
#include "scan_wheel.h"

enum { MOST_LISTED = 1 << 12, LONGEST_BRACKET = 4096 };

static struct scan_word top_list(const struct scan_lists *lists)
{
    return lists->depth > 0 && lists->depth <= SCAN_LIST_DEPTH
               ? lists->brackets[lists->depth - 1].list
               : (struct scan_word){NULL, 0};
}

/* The name before a '{' at the reader: "list[] = {", "list{". */
static struct scan_word name_before(const struct scan_text *in)
{
    const char *at = scan_text_back_over_spaces(in->text, in->at), *end;

    if (at > in->text && at[-1] == '=')
        at = scan_text_back_over_spaces(in->text, at - 1);
    if (at > in->text && at[-1] == ']') {
        const char *least = at - in->text > LONGEST_BRACKET ? at - LONGEST_BRACKET : in->text;
        while (at > least && *at != '[')
            at--;
        at = scan_text_back_over_spaces(in->text, at);
    }
    for (end = at; at > in->text && scan_text_is_letter(at[-1]);)
        at--;
    return (struct scan_word){at, (size_t)(end - at)};
}

void scan_list_name(struct scan_lists *lists, const struct scan_text *in, const char *string)
{
    const struct scan_word list = top_list(lists);

    if (list.length == 0 || in->at == string || lists->count == MOST_LISTED)
        return;
    const size_t index = known_symbol_of(string, (size_t)(in->at - string - 1));
    if (index == KNOWN_NONE)
        return;
    lists->listed = scan_grow(lists->listed, lists->count, sizeof *lists->listed);
    lists->listed[lists->count++] = (struct scan_listed){list, index};
}

void scan_list_bracket(struct scan_lists *lists, const struct scan_text *in)
{
    const char character = *in->at;

    if (character == '(' || character == '{' || character == '[') {
        struct scan_word list = {NULL, 0};
        if (character == '{')
            list = name_before(in);
        if (character == '{' && list.length == 0)
            list = top_list(lists);
        if (lists->depth < SCAN_LIST_DEPTH)
            lists->brackets[lists->depth].list = list;
        lists->depth++;
    } else if ((character == ')' || character == '}' || character == ']') && lists->depth > 0) {
        lists->depth--;
    }
}
