/* SPDX-License-Identifier: MIT */
#include "scan_shown.h"

#include "scan_flow.h"
#include "scan_wheel.h"

#include <ctype.h>
#include <string.h>

enum {
    MOST_NODES = 1 << 20,
    MOST_DEPTH = sizeof((struct scan_shown *)0)->names / sizeof(struct scan_word)
};

struct scan_nodes scan_nodes_read(struct scan_text text, bool macro)
{
    struct scan_tokens tokens = {.in = text, .macro = macro};
    struct scan_nodes nodes = {NULL, 0};
    size_t open = 0;

    do {
        nodes.node = scan_grow(nodes.node, nodes.count, sizeof *nodes.node);
        struct scan_node *node = &nodes.node[nodes.count];
        *node = (struct scan_node){tokens.now, 0, open};
        const int kind = node->token.kind;
        if (kind && memchr("([{", kind, 3) && kind < 256) {
            open = nodes.count;
        } else if (kind && kind < 256 && memchr(")]}", kind, 3) && open > 0) {
            node->match = open;
            nodes.node[open].match = nodes.count;
            node->outer = open = nodes.node[open].outer;
        }
        nodes.count++;
        do {
            tokens.changed = NULL;
            scan_token_next(&tokens);
        } while (tokens.changed);
    } while (tokens.now.kind != TOKEN_END && nodes.count < MOST_NODES);
    for (; open > 0; open = nodes.node[open].outer)
        nodes.node[open].match = nodes.count;
    return nodes;
}

static int kind_at(const struct scan_nodes *nodes, size_t i)
{
    return i < nodes->count ? nodes->node[i].token.kind : TOKEN_END;
}

static struct scan_word word_at(const struct scan_nodes *nodes, size_t i)
{
    return i < nodes->count ? nodes->node[i].token.word : (struct scan_word){NULL, 0};
}

/* Keywords, and functions of the language's library that ask nothing of a driver. */
static bool is_plain(struct scan_word word)
{
    static const char *const words[] = {"if",        "while",       "for",      "switch",
                                        "return",    "else",        "case",     "constexpr",
                                        "const",     "auto",        "bool",     "int",
                                        "unsigned",  "long",        "size_t",   "char",
                                        "void",      "struct",      "NULL",     "nullptr",
                                        "true",      "false",       "sizeof",   "this",
                                        "std",       "static_cast", "errno",    "__builtin_expect",
                                        "defined",   "new",         "delete",   "EOF",
                                        "string",    "string_view", "static",   "empty",
                                        "size",      "length",      "strcmp",   "strncmp",
                                        "memcmp",    "abs",         "uint32_t", "uint64_t",
                                        "int32_t",   "int64_t",     "default",  "goto",
                                        "co_return", NULL};

    return scan_word_is_one_of(word, words);
}

/* The driver, cushim, and functions that allocate, read or write: their results tell nothing, and
 * their arguments do not matter. */
static bool is_driver(struct scan_word word)
{
    static const char *const words[] = {"malloc", "calloc", "realloc", "fopen",    "fread",
                                        "fwrite", "printf", "fprintf", "snprintf", "puts",
                                        "getenv", "strlen", "fclose",  "fgets",    NULL};

    if (scan_word_is_one_of(word, words))
        return true;
    if (word.length > 7 &&
        (memcmp(word.text, "cushim_", 7) == 0 || memcmp(word.text, "CUSHIM_", 7) == 0))
        return true;
    if (word.length > 4 && memcmp(word.text, "cuda", 4) == 0 &&
        isupper((unsigned char)word.text[4]))
        return true;
    return word.length > 3 &&
           ((memcmp(word.text, "cu", 2) == 0 && isupper((unsigned char)word.text[2])) ||
            memcmp(word.text, "CU", 2) == 0);
}

static bool is_capital(struct scan_word word)
{
    for (size_t i = 0; i < word.length; i++) {
        if (islower((unsigned char)word.text[i]))
            return false;
    }
    return true;
}

/* The end of a value: ';' or ',', or the bracket that closes around it. */
static size_t end_of_value(const struct scan_nodes *nodes, size_t i)
{
    while (i < nodes->count) {
        const int kind = kind_at(nodes, i);
        if (kind == ';' || kind == ',' || kind == ')' || kind == '}' || kind == ']')
            return i;
        i = nodes->node[i].match > i ? nodes->node[i].match + 1 : i + 1;
    }
    return nodes->count;
}

/* "type name", "type *name": where the statement or the parameter begins; 0: no declaration. */
static size_t find_declared(const struct scan_nodes *nodes, size_t i)
{
    size_t from = i;
    bool typed = false;

    while (from > 1 && i - from < 64) {
        const int kind = kind_at(nodes, from - 1);
        if (kind == ';' || kind == '{' || kind == '}' || kind == '(' || kind == ':' ||
            (kind == ',' && kind_at(nodes, nodes->node[i].outer) == '('))
            break;
        if (kind == TOKEN_WORD && scan_flow_is_statement(&nodes->node[from - 1].token))
            return 0;
        if (kind == '.' || kind == TOKEN_ARROW || kind == TOKEN_CHANGE || kind == '?')
            typed = false;
        from = nodes->node[from - 1].match ? nodes->node[from - 1].match : from - 1;
    }
    const int next = kind_at(nodes, from + 1);
    typed =
        from < i && kind_at(nodes, from) == TOKEN_WORD &&
        (next == TOKEN_WORD || next == '*' || next == '&' || next == '<' || next == TOKEN_SCOPE) &&
        memchr("a*&>,", kind_at(nodes, i - 1) & 255, 5) && kind_at(nodes, i - 1) < 256;
    return typed ? from : 0;
}

/* The function that a place is in. */
static size_t find_function(const struct scan_shown *shown, const char *at)
{
    size_t found = SCOPE_FILE;

    shown->guards->work += shown->scope->count;
    for (size_t i = 0; i < shown->scope->count; i++) {
        const struct scan_function *one = &shown->scope->functions[i];
        if (!one->macro && one->from <= at && (!one->until || at < one->until))
            found = i + 1;
    }
    return found;
}

/* Whether a function has guards: what it gives a value may depend on them. */
static bool asks(struct scan_shown *shown, size_t function)
{
    const struct scan_guards *guards = shown->guards;

    shown->guards->work += guards->count;
    for (size_t i = 0; function != SCOPE_FILE && i < guards->count; i++) {
        if (guards->guards[i].function == function)
            return true;
    }
    return false;
}

/* Whether a place gives the name a value that is not shown. */
static bool lacks_value(struct scan_shown *shown, const struct scan_nodes *nodes, size_t i,
                        size_t function, bool declared, bool *given)
{
    const bool shared = function == SCOPE_FILE;
    const int next = kind_at(nodes, i + 1), before = kind_at(nodes, i - 1);
    size_t from = i + 2;

    if (before == '&' && (kind_at(nodes, i - 2) == '(' || kind_at(nodes, i - 2) == ',')) {
        const size_t open = nodes->node[i].outer;
        *given = true;
        const struct scan_word called = word_at(nodes, open - 1);
        return kind_at(nodes, open) != '(' || !is_driver(called) ||
               scan_word_is(called, "cuDriverGetVersion");
    }
    if (next == '[' && nodes->node[i + 1].match > i)
        from = nodes->node[i + 1].match + 2;
    const int sign = kind_at(nodes, from - 1);
    bool list = (declared || before == ':' || before == ',') && (sign == '(' || sign == '{');
    if (sign != '=' && sign != TOKEN_CHANGE && !list && !(declared && sign == ':'))
        return false;
    *given = true;
    if (shared)
        function = find_function(shown, nodes->node[i].token.at);
    if (shared && asks(shown, function))
        return true;
    return scan_shown_lacks(shown, nodes, from,
                            list ? nodes->node[from - 1].match : end_of_value(nodes, from),
                            function);
}

/* Pointers of a function's head to what tells nothing: CUdeviceptr *, const struct cushim_api *. */
static bool tells_nothing(const struct scan_nodes *nodes, size_t from, size_t i)
{
    bool pointer = kind_at(nodes, i - 1) == '*';

    for (size_t k = from; k < i; k++) {
        const struct scan_word word = word_at(nodes, k);
        if (scan_word_is(word, "CUresult"))
            return true;
        if (pointer &&
            (is_driver(word) || scan_word_is(word, "char") || scan_word_is(word, "void")))
            return true;
    }
    return false;
}

/* Values of a variable of the function; `found`: it is one. */
static bool lacks_local(struct scan_shown *shown, const struct scan_nodes *nodes, size_t place,
                        size_t function, bool *found)
{
    const struct scan_function *own = &shown->scope->functions[function - 1];
    const struct scan_word name = word_at(nodes, place);
    bool lacks = false, given = false, head = true;

    *found = false;
    for (size_t i = 1; i < nodes->count; i++) {
        const struct scan_token *token = &nodes->node[i].token;
        if (token->at < own->from || (own->until && token->at >= own->until))
            continue;
        head &= token->kind != '{';
        if (token->kind != TOKEN_WORD || scan_word_compare(token->word, name) != 0 ||
            kind_at(nodes, i - 1) == '.' || kind_at(nodes, i - 1) == TOKEN_ARROW)
            continue;
        shown->guards->work++;
        const size_t declared = find_declared(nodes, i);
        *found |= declared > 0;
        const bool parameter = head || (kind_at(nodes, nodes->node[i].outer) == '(' &&
                                        (kind_at(nodes, i + 1) == ',' || /* a lambda's */
                                         kind_at(nodes, i + 1) == ')'));
        if (parameter && declared > 0 && !scan_word_is(own->name, "main"))
            lacks |= !tells_nothing(nodes, declared, i);
        else if (*found)
            lacks |= lacks_value(shown, nodes, i, function, declared > 0, &given);
    }
    return lacks && *found;
}

/* Values of a variable of the file, or of a member: it must be declared and be given a value. */
static bool lacks_shared(struct scan_shown *shown, struct scan_word name)
{
    const struct scan_nodes *file = &shown->file;
    bool declared = false, only = false, given = false;

    shown->guards->work += file->count;
    for (size_t i = 1; i < file->count; i++) {
        const struct scan_token *token = &file->node[i].token;
        if (token->kind != TOKEN_WORD || scan_word_compare(token->word, name) != 0)
            continue;
        if (shown->guards->work > FLOW_MOST_WORK)
            return true;
        const size_t from = kind_at(file, i - 1) == '.' || kind_at(file, i - 1) == TOKEN_ARROW
                                ? 0
                                : find_declared(file, i);
        bool here = from > 0 && find_function(shown, token->at) == SCOPE_FILE;
        if (here && scan_word_is(word_at(file, from), "extern"))
            return true;
        declared |= here;
        only |= here && (scan_word_is(word_at(file, from), "static") ||
                         scan_word_is(word_at(file, from), "const"));
        if (lacks_value(shown, file, i, SCOPE_FILE, from > 0, &given))
            return true;
    }
    return !declared || (!only && !given);
}

/* What a function of the file returns, or a macro is. */
static bool lacks_answer(struct scan_shown *shown, struct scan_word name)
{
    bool found = false, lacks = false;

    shown->guards->work += shown->scope->count;
    for (size_t k = 0; k < shown->scope->count && !lacks; k++) {
        if (shown->guards->work > FLOW_MOST_WORK)
            return true;
        const struct scan_function *own = &shown->scope->functions[k];
        if (scan_word_compare(own->name, name) != 0)
            continue;
        found = true;
        const char *end = own->until ? own->until : shown->guards->text.end;
        const struct scan_text text = {own->from, own->from, end, own->line};
        struct scan_nodes nodes = scan_nodes_read(text, own->macro);
        shown->guards->work += nodes.count;
        if (own->macro)
            lacks = scan_shown_lacks(shown, &nodes, 1, nodes.count, k + 1);
        for (size_t i = 1; i < nodes.count && !own->macro && !lacks; i++) {
            if (scan_word_is(word_at(&nodes, i), "return"))
                lacks = scan_shown_lacks(shown, &nodes, i + 1, end_of_value(&nodes, i + 1), k + 1);
        }
        free(nodes.node);
    }
    return !found || lacks;
}

/* "name->cuLaunchKernel": a table. */
static bool is_table(struct scan_shown *shown, struct scan_word name)
{
    shown->guards->work += shown->file.count;
    for (size_t i = 1; i + 2 < shown->file.count; i++) {
        const struct scan_word entry = word_at(&shown->file, i + 2);
        if (kind_at(&shown->file, i + 1) == TOKEN_ARROW && entry.length > 3 &&
            memcmp(entry.text, "cu", 2) == 0 && isupper((unsigned char)entry.text[2]) &&
            scan_word_compare(word_at(&shown->file, i), name) == 0)
            return true;
    }
    return false;
}

/* Whether the place asks, or has a name that holds an answer. */
static bool is_guard(const struct scan_guards *guards, const char *at)
{
    size_t low = 0, high = guards->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (guards->guards[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < guards->count && guards->guards[low].at == at;
}

static bool lacks_name(struct scan_shown *shown, const struct scan_nodes *nodes, size_t i,
                       size_t function)
{
    const struct scan_word name = word_at(nodes, i);
    const int before = kind_at(nodes, i - 1), next = kind_at(nodes, i + 1);
    const bool member = before == '.' || before == TOKEN_ARROW;
    bool found = false, lacks;

    for (size_t k = 0; k < shown->depth; k++) {
        if (scan_word_compare(shown->names[k], name) == 0)
            return false; /* it is made of itself */
    }
    if (shown->depth == MOST_DEPTH || shown->guards->work > FLOW_MOST_WORK)
        return true;
    shown->names[shown->depth++] = name;
    shown->guards->work += nodes->count;
    if (next == '(')
        lacks = lacks_answer(shown, name);
    else {
        lacks = !member && function != SCOPE_FILE && lacks_local(shown, nodes, i, function, &found);
        if (!found)
            lacks = !is_table(shown, name) && lacks_shared(shown, name) &&
                    (member || lacks_answer(shown, name));
    }
    shown->depth--;
    return lacks;
}

bool scan_shown_lacks(struct scan_shown *shown, const struct scan_nodes *nodes, size_t from,
                      size_t until, size_t function)
{
    static const int compared[] = {
        TOKEN_EQUAL, TOKEN_OTHER_THAN, TOKEN_LESS_EQUAL, TOKEN_GREATER_EQUAL, '<', '>'};

    for (size_t i = from; i < until && i < nodes->count; i++) {
        const struct scan_word word = word_at(nodes, i);
        const int before = kind_at(nodes, i - 1), next = kind_at(nodes, i + 1);
        bool constant = false;
        if (kind_at(nodes, i) != TOKEN_WORD || next == TOKEN_SCOPE || next == TOKEN_ARROW ||
            next == '.')
            continue;
        const bool guard = is_guard(shown->guards, nodes->node[i].token.at);
        if (guard && shown->depth > 0)
            return true; /* a value that is made of an answer */
        if ((guard || is_driver(word)) && next == '(') {
            i = nodes->node[i + 1].match > i ? nodes->node[i + 1].match : until;
            continue;
        }
        if (guard || is_plain(word) || is_driver(word))
            continue;
        for (size_t k = 0; k < sizeof compared / sizeof *compared; k++)
            constant |= before == compared[k] || next == compared[k];
        if (constant && next != '(' && is_capital(word))
            continue;
        if (next == '&' || next == '*') {
            if (kind_at(nodes, i + 2) == TOKEN_WORD && find_declared(nodes, i + 2) > 0)
                continue; /* a type */
        }
        if (next == TOKEN_WORD || find_declared(nodes, i) > 0)
            continue; /* a type, or what it declares: the value is examined */
        if (lacks_name(shown, nodes, i, function))
            return true;
    }
    return false;
}
