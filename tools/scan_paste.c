/* SPDX-License-Identifier: MIT */
#include "scan_paste.h"

#include "known.h"

#include <string.h>

const struct scan_paste *scan_paste_find(const struct scan_pastes *pastes, struct scan_word macro)
{
    for (size_t i = 0; i < pastes->count; i++) {
        if (scan_word_compare(pastes->paste[i].macro, macro) == 0)
            return &pastes->paste[i];
    }
    return NULL;
}

static int since(struct scan_word entry)
{
    return known_entry(known_symbol_of(entry.text, entry.length)).since;
}

/* Of two entries of one name, as in #if and #else, the newer one. */
static void add(struct scan_pastes *pastes, struct scan_paste paste)
{
    for (size_t i = 0; i < pastes->count && paste.parameter == 0; i++) {
        struct scan_paste *other = &pastes->paste[i];
        if (other->parameter > 0 || scan_word_compare(other->macro, paste.macro) != 0)
            continue;
        *other = since(other->prefix) < since(paste.prefix) ? paste : *other;
        return;
    }
    if (pastes->count < SCAN_MOST_PASTES)
        pastes->paste[pastes->count++] = paste;
}

/* The word that is an argument, behind a parenthesis; its length is 0: it is none, or more. */
static struct scan_word find_argument(const char *at, const char *end, size_t which)
{
    const struct scan_word none = {at, 0};

    for (int depth = 0; at < end && which > 1; at++) {
        depth += (*at == '(' || *at == '{') - (*at == ')' || *at == '}');
        which -= depth == 0 && *at == ',';
        if (depth < 0)
            return none;
    }
    const struct scan_word word = scan_word_at(at, end);
    at = scan_text_skip_spaces(at, end);
    const char *behind = scan_text_skip_spaces(word.text + word.length, end);
    return word.text == at && behind < end && (*behind == ',' || *behind == ')') ? word : none;
}

enum { MOST_PARAMETERS = 16 };

/* Which parameter of a macro the word is, from 1; 0: none. */
static size_t find_parameter(const struct scan_function *macro, struct scan_word word)
{
    for (size_t i = 1; *macro->from == '(' && word.length > 0 && i <= MOST_PARAMETERS; i++) {
        const struct scan_word parameter = find_argument(macro->from + 1, macro->until, i);
        if (parameter.length == 0)
            break;
        if (scan_word_compare(parameter, word) == 0)
            return i;
    }
    return 0;
}

/* The word behind "##"; its length is 0: there is none. */
static struct scan_word find_joined(const char *at, const char *end)
{
    at = scan_text_skip_spaces(at, end);
    if (end - at < 3 || memcmp(at, "##", 2) != 0)
        return (struct scan_word){at, 0};
    return scan_word_at(at + 2, end);
}

bool scan_paste_note(struct scan_pastes *pastes, const struct scan_scope *scope,
                     const struct scan_text *in, struct scan_word word, bool member)
{
    if (!scope->directive || scope->now.function == SCOPE_FILE)
        return false;
    const struct scan_function *macro = &scope->functions[scope->now.function - 1];
    if (!macro->macro || !macro->until || macro->from >= macro->until || word.text < macro->from)
        return false;
    const char *end = macro->until, *behind = word.text + word.length;
    if (scan_text_skip_spaces(macro->from, end) == word.text &&
        scan_text_back_over_spaces(word.text, end) == behind) {
        if (known_symbol_of(word.text, word.length) != KNOWN_NONE)
            add(pastes, (struct scan_paste){.macro = macro->name, .prefix = word});
        return true;
    }
    struct scan_paste paste = {.macro = macro->name, .prefix = word};
    const struct scan_paste *other = scan_paste_find(pastes, word);
    struct scan_word parameter = find_joined(behind, end);
    if (other && other->parameter > 0 && in->at < end && *in->at == '(') { /* one of the other's */
        paste = *other;
        paste.macro = macro->name;
        parameter = find_argument(in->at + 1, end, other->parameter);
    } else if (!member || parameter.length == 0) {
        return false;
    } else {
        paste.suffix = find_joined(parameter.text + parameter.length, end);
    }
    paste.parameter = find_parameter(macro, parameter);
    behind = other ? end : paste.suffix.length > 0 ? paste.suffix.text : parameter.text;
    behind += other ? 0 : paste.suffix.length > 0 ? paste.suffix.length : parameter.length;
    behind = scan_text_skip_spaces(behind, end);
    if (paste.parameter > 0 && (behind == end || *behind == '(')) /* and no "= fake_##name" */
        add(pastes, paste);
    return false;
}

bool scan_paste_join(const struct scan_paste *paste, struct scan_word argument, char *name,
                     size_t size)
{
    const struct scan_word parts[] = {paste->prefix, argument, paste->suffix};
    size_t length = 0;

    if (argument.length == 0)
        return false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (length + parts[i].length >= size)
            return false;
        if (parts[i].length > 0)
            memcpy(name + length, parts[i].text, parts[i].length);
        length += parts[i].length;
    }
    name[length] = '\0';
    return true;
}

bool scan_paste_name(const struct scan_paste *paste, const struct scan_text *in, char *name,
                     size_t size, struct scan_word *argument)
{
    enum { LONGEST = 4096 };
    const char *end = in->end - in->at > LONGEST ? in->at + LONGEST : in->end;

    if (paste->parameter == 0 || in->at == in->end || *in->at != '(')
        return false;
    *argument = find_argument(in->at + 1, end, paste->parameter);
    return scan_paste_join(paste, *argument, name, size);
}
