/* SPDX-License-Identifier: MIT */
#include "scan_around.h"

#include "known.h"
#include "scan_flow.h"
#include "scan_names.h"
#include "scan_shown.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 200 };

struct around {
    struct scan_shown shown;
    size_t function; /* whose nodes these are */
    struct scan_nodes nodes;
};

static int kind_at(const struct around *around, size_t i)
{
    return i < around->nodes.count ? around->nodes.node[i].token.kind : TOKEN_END;
}

static bool is_word(const struct around *around, size_t i, const char *text)
{
    return kind_at(around, i) == TOKEN_WORD && scan_word_is(around->nodes.node[i].token.word, text);
}

static size_t behind_bracket(const struct around *around, size_t i)
{
    const size_t match = around->nodes.node[i].match;

    return match > i ? match + 1 : around->nodes.count;
}

/* The parenthesis of an `if`, or of a loop or a `switch`; 0: another word. */
static size_t find_head(const struct around *around, size_t i)
{
    static const char *const words[] = {"if", "while", "for", "switch", NULL};

    if (kind_at(around, i) != TOKEN_WORD ||
        !scan_word_is_one_of(around->nodes.node[i].token.word, words))
        return 0;
    i += 1 + is_word(around, i + 1, "constexpr");
    return kind_at(around, i) == '(' ? i : 0;
}

/* Behind a statement, with its `else`. */
static size_t behind_statement(const struct around *around, size_t i, int depth)
{
    const size_t head = find_head(around, i);

    around->shown.guards->work++;
    if (depth == MOST_DEPTH || i >= around->nodes.count)
        return around->nodes.count;
    if (head > 0) {
        size_t end = behind_statement(around, behind_bracket(around, head), depth + 1);
        return is_word(around, i, "if") && is_word(around, end, "else")
                   ? behind_statement(around, end + 1, depth + 1)
                   : end;
    }
    if (kind_at(around, i) == '{')
        return behind_bracket(around, i);
    while (i < around->nodes.count && kind_at(around, i) != ';' && kind_at(around, i) != '}') {
        around->shown.guards->work++;
        i = around->nodes.node[i].match > i ? behind_bracket(around, i) : i + 1;
    }
    return i + (kind_at(around, i) == ';');
}

static bool leaves(const struct around *around, size_t from, size_t until)
{
    static const char *const words[] = {"return", "goto",       "break",     "continue",
                                        "throw",  "exit",       "abort",     "_exit",
                                        "SKIP",   "GTEST_SKIP", "co_return", NULL};
    const struct scan_scope *scope = around->shown.scope;

    around->shown.guards->work += until - from;
    for (size_t i = from; i < until; i++) {
        if (kind_at(around, i) != TOKEN_WORD)
            continue;
        const struct scan_word word = around->nodes.node[i].token.word;
        if (scan_word_is_one_of(word, words) ||
            scan_names_seeded(around->shown.guards, word, SCAN_LEAVER))
            return true;
        for (size_t k = 0; k < scope->leaver_count; k++) {
            if (scan_word_compare(scope->leavers[k], word) == 0)
                return true;
        }
    }
    return false;
}

static bool lacks(struct around *around, size_t from, size_t until)
{
    return scan_shown_lacks(&around->shown, &around->nodes, from, until, around->function);
}

/* The last statement that decides about the call; 0: none. */
static size_t find_statement(struct around *around, size_t call)
{
    const struct scan_node *nodes = around->nodes.node;

    for (size_t i = call; i-- > 1 && around->shown.guards->work < FLOW_MOST_WORK;) {
        const size_t head = find_head(around, i), block = nodes[i].outer;
        around->shown.guards->work++;
        if (head == 0 || (block > 0 && nodes[block].match < call))
            continue;
        const size_t body = behind_bracket(around, head);
        const size_t end = body <= call ? behind_statement(around, i, 0) : 0;
        if (end == 0 || (end <= call && !(is_word(around, i, "if") && leaves(around, body, end))))
            continue;
        if (lacks(around, head + 1, body - 1))
            return i;
    }
    return 0;
}

/* "gpu->pools && cu->cuName(...)", "gpu->pools ? cu->cuName(...) : 0"; 0: no such operator. */
static size_t find_operator(struct around *around, size_t call)
{
    size_t until = 0, i = call;

    for (; i > 1; i--) {
        const size_t match = around->nodes.node[i - 1].match;
        const int kind = kind_at(around, i - 1);
        around->shown.guards->work++;
        if (kind == ';' || kind == '{' || kind == '}' || is_word(around, i - 1, "return") ||
            (kind == '=' && until > 0))
            break;
        if (until == 0 && (kind == TOKEN_AND || kind == TOKEN_OR || kind == '?'))
            until = i - 1;
        if (match > 0 && match < i - 1)
            i = match + 1;
    }
    return until > 0 && lacks(around, i, until) ? until : 0;
}

static void read_function(struct around *around, size_t function)
{
    const struct scan_function *own = &around->shown.scope->functions[function - 1];
    const char *end = own->until ? own->until : around->shown.guards->text.end;

    free(around->nodes.node);
    around->nodes =
        scan_nodes_read((struct scan_text){own->from, own->from, end, own->line}, own->macro);
    around->function = function;
}

static void find_around(struct around *around, struct scan_source_call *call)
{
    size_t low = 1, high;

    if (around->function != call->function)
        read_function(around, call->function);
    if (around->shown.file.count == 0)
        around->shown.file = scan_nodes_read(around->shown.guards->text, false);
    for (high = around->nodes.count; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (around->nodes.node[middle].token.at < call->at)
            low = middle + 1;
        else
            high = middle;
    }
    size_t found = find_operator(around, low);
    found = found > 0 ? found : find_statement(around, low);
    if (found == 0)
        return;
    call->asked = around->nodes.node[found].token.line;
    call->why = SCAN_WHY_FOREIGN;
}

/* "cushim_feature(cu, 0, feature)" before the call, and "cushim_has(cu, names[i])" where the file
 * has the entry's name as a string: the line of one. */
static size_t find_listed(struct scan_guards *guards, const struct scan_source_call *call)
{
    const char *symbol = known_entry(call->index).symbol, *at = guards->text.text;
    const size_t length = strlen(symbol), left = (size_t)(guards->text.end - at);
    size_t line = 0;

    for (size_t i = 0; i < guards->count && line == 0; i++) {
        const struct scan_guard *guard = &guards->guards[i];
        if (guard->index != SCAN_PARAMETER || guard->name.length > 0)
            continue;
        if (guard->compared && guard->function == call->function && guard->at < call->at)
            return guard->line; /* of a feature */
        line = guard->compared ? 0 : guard->line;
    }
    guards->work += guards->count + (line > 0 ? left : 0);
    while (line > 0 && (at = memmem(at, (size_t)(guards->text.end - at), symbol, length))) {
        if (at > guards->text.text && at[-1] == '"' && at + length < guards->text.end &&
            at[length] == '"')
            return line;
        at += length;
    }
    return 0;
}

void scan_around_find(struct scan_guards *guards, const struct scan_scope *scope,
                      struct scan_source *source)
{
    struct around around = {.shown = {.guards = guards, .scope = scope}};

    guards->work = 0; /* what reading it took is no reason to know less here */
    for (size_t i = 0; i < source->count; i++) {
        struct scan_source_call *call = &source->calls[i];
        if (!call->has && call->asked == 0 && call->function != SCOPE_FILE &&
            guards->work < FLOW_MOST_WORK)
            find_around(&around, call);
        if (call->has || call->asked + call->old > 0 || guards->work >= FLOW_MOST_WORK)
            continue;
        call->asked = find_listed(guards, call);
        call->why = SCAN_WHY_FOREIGN;
    }
    free(around.nodes.node);
    free(around.shown.file.node);
}
