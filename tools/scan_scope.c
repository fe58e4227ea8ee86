/* SPDX-License-Identifier: MIT */
#include "scan_scope.h"

#include "scan_wheel.h"

#include <stdlib.h>
#include <string.h>

static bool is_in_column_0(const struct scan_text *in, const char *at)
{
    return at == in->text || at[-1] == '\n';
}

static void begin_head(struct scan_scope *scope, const struct scan_text *in, const char *at)
{
    memset(&scope->head, 0, sizeof scope->head);
    scope->head.from = at;
    scope->head.line = in->line;
}

static void begin_function(struct scan_scope *scope, const struct scan_function *function)
{
    scope->functions = scan_grow(scope->functions, scope->count, sizeof *scope->functions);
    scope->functions[scope->count] = *function;
    scope->functions[scope->count++].hidden =
        scope->anonymous > 0 && scope->now.braces == scope->anonymous;
    scope->outer = scope->now.braces;
    scope->now = (struct scan_place){scope->count, 1};
}

static void leave_function(struct scan_scope *scope, const char *at)
{
    scope->functions[scope->now.function - 1].until = at;
}

/* A head ended: it may be a function's that does not return. */
static void note_leaver(struct scan_scope *scope)
{
    if (!scope->head.leaves || !scope->head.named || scope->leaver_count == SCOPE_MOST_LEAVERS)
        return;
    scope->leavers[scope->leaver_count++] = scope->head.name;
}

/* What is behind one of these is no function's body. */
static bool names_function(struct scan_word word)
{
    static const char *const others[] = {
        "if",       "for",     "while",         "switch",     "catch",   "alignas", "decltype",
        "noexcept", "throw",   "requires",      "__declspec", "typeof",  "return",  "sizeof",
        "asm",      "__asm__", "__attribute__", "defined",    "alignof", NULL};

    return word.length > 0 && !scan_word_is_one_of(word, others);
}

static void read_head_word(struct scan_scope *scope, const struct scan_text *in,
                           struct scan_word word)
{
    static const char *const labels[] = {"public", "private", "protected", NULL};
    static const char *const leaves[] = {"noreturn", "_Noreturn", "__noreturn__", NULL};
    static const char *const types[] = {"namespace", "class", "struct", "union", "enum", NULL};

    if (scan_word_is_one_of(word, labels))
        begin_head(scope, in, word.text);
    else if (scope->head.brackets == 0 && scan_word_is_one_of(word, types))
        scope->head.named = false;
    else if (scan_word_is(word, "static") && is_in_column_0(in, word.text))
        scope->head.closed = true;
    else if (scan_word_is(word, "operator"))
        scope->head.named = true;
    else if (scan_word_is_one_of(word, leaves))
        scope->head.leaves = true;
}

void scan_scope_word(struct scan_scope *scope, const struct scan_text *in, struct scan_word word)
{
    if (scope->now.function == SCOPE_FILE)
        read_head_word(scope, in, word);
    scope->before = 'a';
    scope->last = word;
}

/* A namespace, a class, a list: functions in it are its own. */
static void open_outer(struct scan_scope *scope, const struct scan_text *in)
{
    scope->now.braces++;
    if (scope->anonymous == 0 && scope->before == 'a' && scan_word_is(scope->last, "namespace")) {
        scope->anonymous = scope->now.braces;
        scope->first = scope->count;
    }
    begin_head(scope, in, in->at + 1);
}

static void close_outer(struct scan_scope *scope, const struct scan_text *in)
{
    if (scope->anonymous == scope->now.braces && scope->anonymous > 0) {
        for (size_t i = scope->first; i < scope->count; i++)
            scope->functions[i].closed |= scope->functions[i].hidden;
        scope->anonymous = 0;
    }
    scope->now.braces -= scope->now.braces > 0;
    begin_head(scope, in, in->at + 1);
}

/* "list[] = {", "f({": a list; "member{" in a constructor's head: a value. */
static void open_brace(struct scan_scope *scope, const struct scan_text *in)
{
    bool value = scope->head.members && (scope->before == 'a' || scope->before == '>');

    if (scope->head.brackets > 0 || value)
        scope->head.brackets++;
    else if (scope->head.named && !strchr("=,(", scope->before))
        begin_function(scope, &(struct scan_function){.name = scope->head.name,
                                                      .closed = scope->head.closed,
                                                      .from = scope->head.from,
                                                      .line = scope->head.line});
    else
        open_outer(scope, in);
}

static void read_head(struct scan_scope *scope, const struct scan_text *in)
{
    char next = in->at + 1 < in->end ? in->at[1] : '\0';

    switch (*in->at) {
    case '(':
        if (scope->head.brackets++ == 0 && !scope->head.members &&
            (scope->before == ']' || names_function(scope->last))) {
            scope->head.name = scope->last.length > 0 ? scope->last : scope->head.assigned;
            scope->head.named = true;
        }
        break;
    case ')':
        scope->head.brackets -= scope->head.brackets > 0;
        break;
    case '{':
        note_leaver(scope);
        open_brace(scope, in);
        break;
    case '}':
        if (scope->head.brackets > 0 && !is_in_column_0(in, in->at))
            scope->head.brackets--;
        else
            close_outer(scope, in);
        break;
    case ';':
        note_leaver(scope);
        begin_head(scope, in, in->at + 1);
        break;
    case '=':
        if (next != '=' && scope->last.length > 0)
            scope->head.assigned = scope->last;
        break;
    case ',':
        scope->head.named &= scope->head.brackets > 0 || scope->head.members;
        break;
    case ':':
        scope->head.members |=
            scope->head.brackets == 0 && scope->head.named && scope->before != ':' && next != ':';
        break;
    default:
        break;
    }
}

static void read_body(struct scan_scope *scope, const struct scan_text *in)
{
    if (*in->at == '{')
        scope->now.braces++;
    if (*in->at != '}')
        return;
    scope->now.braces = is_in_column_0(in, in->at) ? 0 : scope->now.braces - 1;
    if (scope->now.braces > 0)
        return;
    leave_function(scope, in->at + 1);
    scope->now = (struct scan_place){SCOPE_FILE, scope->outer};
    begin_head(scope, in, in->at + 1);
}

static const char *end_of_line(const struct scan_text *in)
{
    for (const char *at = in->at; (at = memchr(at, '\n', (size_t)(in->end - at))); at++) {
        if (at[-1] != '\\' && !(at[-1] == '\r' && at[-2] == '\\'))
            return at;
    }
    return in->end;
}

/* At #else all is as it was at #if, so that each of two heads may have its brace. */
static void read_condition(struct scan_scope *scope, struct scan_word word)
{
    if (memcmp(word.text, "if", 2) == 0) {
        if (scope->depth < SCOPE_MOST_CONDITIONS)
            scope->conditions[scope->depth] = scope->now;
        scope->depth++;
    } else if (scope->depth > 0 && memcmp(word.text, "el", 2) == 0) {
        if (scope->depth <= SCOPE_MOST_CONDITIONS)
            scope->outside = scope->conditions[scope->depth - 1];
    } else if (scope->depth > 0) {
        scope->depth--;
    }
}

/* A macro is a function whose body is the rest of its definition. */
static void begin_directive(struct scan_scope *scope, const struct scan_text *in)
{
    static const char *const conditions[] = {"if",      "ifdef",    "ifndef", "elif", "else",
                                             "elifdef", "elifndef", "endif",  NULL};
    const char *end = end_of_line(in);
    struct scan_word word = scan_word_at(in->at, end);

    scope->directive = end;
    scope->outside = scope->now;
    scope->condition = scan_word_is_one_of(word, conditions);
    if (scope->condition) {
        read_condition(scope, word);
    } else if (scan_word_is(word, "define")) {
        struct scan_word name = scan_word_at(word.text + word.length, end);
        begin_function(scope, &(struct scan_function){.name = name,
                                                      .closed = true,
                                                      .macro = true,
                                                      .from = name.text + name.length,
                                                      .until = end,
                                                      .line = in->line});
    }
}

void scan_scope_character(struct scan_scope *scope, const struct scan_text *in)
{
    if (!scope->directive && *in->at == '#' && scan_text_is_first(in)) {
        begin_directive(scope, in);
    } else if (!scope->directive && scope->now.function == SCOPE_FILE) {
        read_head(scope, in);
    } else if (!scope->directive) {
        read_body(scope, in);
    }
    scope->before = *in->at;
    scope->last = (struct scan_word){NULL, 0};
}

void scan_scope_move(struct scan_scope *scope, const struct scan_text *in)
{
    if (!scope->directive || in->at < scope->directive)
        return;
    bool left = scope->now.function != scope->outside.function;
    if (left && scope->condition && scope->now.function != SCOPE_FILE)
        leave_function(scope, in->at);
    scope->now = scope->outside;
    scope->directive = NULL;
    if ((left || !scope->condition) && scope->now.function == SCOPE_FILE)
        begin_head(scope, in, in->at);
}

const char *scan_scope_end(const struct scan_scope *scope, const struct scan_text *in)
{
    const char *at = in->at;

    for (size_t braces = scope->now.braces; at < in->end && braces > 0; at++)
        braces = braces + (*at == '{') - (*at == '}');
    return at;
}
