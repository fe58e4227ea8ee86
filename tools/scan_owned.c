/* SPDX-License-Identifier: MIT */
#include "scan_owned.h"

#include "scan_shown.h"
#include "scan_wheel.h"

#include <stdlib.h>
#include <string.h>

/* What is between braces; behind none is the file. */
enum braces { BRACES_OTHER, BRACES_STRUCT, BRACES_FILE, BRACES_HIDDEN };

/* Tokens of a statement; in a longer one nothing is declared. */
enum { LONGEST_STATEMENT = 256 };

struct owner {
    struct scan_nodes nodes;
    unsigned char *braces; /* of each node that is a '{' */
    struct scan_owned *list;
    size_t count;
};

static int kind_at(const struct owner *owner, size_t i)
{
    return i < owner->nodes.count ? owner->nodes.node[i].token.kind : TOKEN_END;
}

static bool is_word(const struct owner *owner, size_t i, const char *text)
{
    return kind_at(owner, i) == TOKEN_WORD && scan_word_is(owner->nodes.node[i].token.word, text);
}

/* What begins at a '{': a function's body and a list are others. */
static enum braces find_braces(const struct owner *owner, size_t open)
{
    static const char *const types[] = {"struct", "class", "union", NULL};
    static const char *const marks[] = {"__attribute__", "alignas", "__declspec", NULL};
    bool type = false;

    if (is_word(owner, open - 1, "namespace"))
        return BRACES_HIDDEN;
    for (size_t i = open; i-- > 1 && open - i < LONGEST_STATEMENT;) {
        const int kind = kind_at(owner, i);
        const struct scan_node *node = &owner->nodes.node[i];
        if (kind == ';' || kind == '{' || kind == '}')
            break;
        if (kind == '=' || is_word(owner, i, "enum"))
            return BRACES_OTHER;
        if (kind == ')' && node->match > 0) {
            i = node->match;
            if (!scan_word_is_one_of(owner->nodes.node[i - 1].token.word, marks))
                return BRACES_OTHER;
        }
        if (is_word(owner, i, "namespace") ||
            (kind == TOKEN_STRING && is_word(owner, i - 1, "extern")))
            return BRACES_FILE;
        type |= kind == TOKEN_WORD && scan_word_is_one_of(node->token.word, types);
    }
    return type ? BRACES_STRUCT : BRACES_OTHER;
}

static void add(struct owner *owner, struct scan_word word, enum scan_owned_kind kind)
{
    owner->list = scan_grow(owner->list, owner->count, sizeof *owner->list);
    owner->list[owner->count++] = (struct scan_owned){word, kind};
}

/* The first token of the statement that a name is in. */
static size_t find_first(const struct owner *owner, size_t i)
{
    const size_t name = i;

    while (i > 1 && name - i < LONGEST_STATEMENT) {
        const int kind = kind_at(owner, i - 1);
        const size_t match = owner->nodes.node[i - 1].match;
        if (kind == ';' || kind == '{' || (kind == '}' && kind_at(owner, i) != ',') || kind == ':')
            break;
        i = match > 0 && match < i - 1 ? match : i - 1;
    }
    return i;
}

/* "type name;", "type *name = ", "name : 1", at a name of a struct or of the file. */
static void add_declared(struct owner *owner, size_t i)
{
    static const char *const others[] = {"extern", "typedef", "using", "friend",
                                         "return", "struct",  "class", "namespace",
                                         "union",  "enum",    NULL};
    static const int ends[] = {';', '=', ',', '[', '{', ':'};
    const struct scan_node *node = &owner->nodes.node[i];
    const enum braces braces = node->outer == 0 ? BRACES_FILE : owner->braces[node->outer];
    const int before = kind_at(owner, i - 1), next = kind_at(owner, i + 1);
    bool ended = false;

    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
        ended |= next == ends[k];
    if (!ended || braces == BRACES_OTHER || (node->outer > 0 && kind_at(owner, node->outer) != '{'))
        return;
    if (before != TOKEN_WORD && before != '*' && before != '&' && before != '>' && before != ',')
        return;
    const size_t first = find_first(owner, i);
    const struct scan_word head = owner->nodes.node[first].token.word;
    if (first == i ||
        (before == TOKEN_WORD && scan_word_is_one_of(owner->nodes.node[i - 1].token.word, others)))
        return;
    if (scan_word_is_one_of(head, others) && !scan_word_is(head, "struct") &&
        !scan_word_is(head, "enum"))
        return;
    const bool own =
        braces == BRACES_HIDDEN || (braces == BRACES_FILE && scan_word_is(head, "static"));
    add(owner, node->token.word, own ? SCAN_OWNED_STATIC : SCAN_OWNED_SHARED);
}

static int compare(const void *left, const void *right)
{
    const struct scan_owned *a = left, *b = right;
    const int words = scan_word_compare(a->word, b->word);

    return words != 0 ? words : (int)a->kind - (int)b->kind;
}

struct scan_owned *scan_owned_list(const struct scan_text *text, const struct scan_scope *scope,
                                   size_t *count)
{
    struct owner owner = {
        .nodes = scan_nodes_read((struct scan_text){text->text, text->text, text->end, 1}, false)};

    owner.braces = scan_grow(NULL, owner.nodes.count, 1);
    for (size_t i = 1; i < owner.nodes.count; i++) {
        owner.braces[i] =
            kind_at(&owner, i) == '{' ? (unsigned char)find_braces(&owner, i) : BRACES_OTHER;
        if (kind_at(&owner, i) == TOKEN_WORD)
            add_declared(&owner, i);
    }
    for (size_t i = 0; i < scope->count; i++) {
        const struct scan_function *function = &scope->functions[i];
        if (function->name.length > 0)
            add(&owner, function->name, function->closed ? SCAN_OWNED_CLOSED : SCAN_OWNED_FUNCTION);
    }
    if (owner.count > 0)
        qsort(owner.list, owner.count, sizeof *owner.list, compare);
    free(owner.braces);
    free(owner.nodes.node);
    *count = owner.count;
    return owner.list;
}

const struct scan_owned *scan_owned_find(const struct scan_owned *list, size_t count,
                                         struct scan_word word)
{
    return scan_word_find(list, count, sizeof *list, word);
}
