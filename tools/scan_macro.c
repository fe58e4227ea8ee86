/* SPDX-License-Identifier: MIT */
#include "scan_macro.h"

#include "known.h"

#include <ctype.h>
#include <string.h>

/* The next "->parameter"; NULL: none. */
static const char *find_use(const char *at, const char *end, struct scan_word parameter)
{
    for (; (at = memmem(at, (size_t)(end - at), parameter.text, parameter.length)); at++) {
        bool whole = at + parameter.length == end || !scan_text_is_letter(at[parameter.length]);
        const char *joined = memcmp(at - 2, "##", 2) == 0 ? at - 4 : at; /* "->cu##parameter" */
        if (whole && (joined == at || memcmp(joined, "cu", 2) == 0) &&
            memcmp(joined - 2, "->", 2) == 0)
            return at;
    }
    return NULL;
}

bool scan_macro_uses(const struct scan_text *macro, struct scan_word parameter)
{
    return parameter.length > 0 && find_use(macro->text, macro->end, parameter);
}

static bool holds_at(const struct scan_guard *guard, const char *at)
{
    return (guard->at <= at && at < guard->until) || (guard->from <= at && at < guard->end);
}

/* "do { ... } while (0)", and "if (...) ...": the guard holds up to the end, and nothing goes there
 * without. */
static bool leaves(const char *from, const char *end, const struct scan_guard *guard)
{
    static const char last[] = "}while(0)";
    const char *at = guard->end;
    size_t count = 0;

    if (!guard->end || guard->end < guard->from || memmem(from, (size_t)(end - from), "break", 5) ||
        memmem(from, (size_t)(end - from), "continue", 8))
        return false;
    for (; at < end; at++) {
        if (isspace((unsigned char)*at) || *at == '\\')
            continue;
        if (*at != last[count] || last[count] == '\0')
            return false;
        count++;
    }
    return count == 0 || count == sizeof last - 1;
}

struct scan_name scan_macro_name(const struct scan_text *file, const struct scan_function *macro,
                                 const struct scan_guard *guard)
{
    const char *end = macro->until ? macro->until : file->end, *at = macro->from;
    const bool parameter = guard->index == SCAN_PARAMETER && guard->name.length == 0;
    struct scan_name name = {.word = macro->name,
                             .index = guard->index,
                             .release = guard->release,
                             .origin = macro->from,
                             .covers = true};

    while (parameter && (at = find_use(at, end, guard->parameter))) {
        name.covers &= holds_at(guard, at++);
        name.uses = true;
    }
    name.asserts = !name.uses && leaves(macro->from, end, guard);
    name.asks = parameter && (name.uses || !(name.asserts || guard->answers));
    if (!name.asks && !name.asserts)
        name.index = KNOWN_NONE;
    return name;
}
