/* SPDX-License-Identifier: MIT */
#include "scan_token.h"

#include <ctype.h>
#include <string.h>

/* An #if, and what belongs to it. */
static void read_directive(struct scan_tokens *tokens)
{
    const char *at = tokens->in.at;
    struct scan_word word = scan_word_at(at, tokens->in.end);
    bool ends = scan_word_is(word, "endif");
    bool other = word.length >= 4 && memcmp(word.text, "el", 2) == 0;

    const bool dead = scan_text_skip_dead(&tokens->in);
    if (dead && (tokens->in.at == tokens->in.end || *tokens->in.at != '#'))
        return;
    if (!dead)
        scan_text_skip_line(&tokens->in, '\n');
    if (word.length >= 2 && memcmp(word.text, "if", 2) == 0) {
        if (tokens->depth < TOKEN_MOST_CONDITIONS) {
            tokens->conditions[tokens->depth].at = at;
            tokens->conditions[tokens->depth].opened = tokens->opened;
        }
        tokens->odd |= tokens->depth++ == TOKEN_MOST_CONDITIONS;
    }
    if ((!ends && !other) || tokens->depth == 0 || tokens->odd)
        return;
    tokens->depth -= ends;
    tokens->outside = tokens->conditions[tokens->depth - other].at;
    tokens->odd |= tokens->conditions[tokens->depth - other].opened != tokens->opened;
    tokens->changed = at;
}

static bool skip_other(struct scan_tokens *tokens)
{
    struct scan_text *in = &tokens->in;

    if (*in->at == '#' && !tokens->macro && scan_text_is_first(in)) {
        read_directive(tokens);
    } else if (scan_text_begins(in, "//")) {
        scan_text_skip_line(in, '\n');
    } else if (scan_text_begins(in, "/*")) {
        in->at += 2;
        scan_text_skip_behind(in, "*/", 2);
    } else if (isspace((unsigned char)*in->at) || *in->at == '\\') {
        scan_text_step(in);
    } else {
        return false;
    }
    return true;
}

static int kind_of_word(struct scan_word word)
{
    if (isdigit((unsigned char)*word.text))
        return TOKEN_NUMBER;
    if (scan_word_is(word, "and"))
        return TOKEN_AND;
    if (scan_word_is(word, "or"))
        return TOKEN_OR;
    return scan_word_is(word, "not") ? '!' : TOKEN_WORD;
}

static int read_operator(struct scan_text *in)
{
    static const struct {
        const char *text;
        int kind;
    } operators[] = {
        {"<<=", TOKEN_CHANGE},
        {">>=", TOKEN_CHANGE},
        {"<=>", TOKEN_OTHER},
        {"&&", TOKEN_AND},
        {"||", TOKEN_OR},
        {"->", TOKEN_ARROW},
        {"::", TOKEN_SCOPE},
        {"==", TOKEN_EQUAL},
        {"!=", TOKEN_OTHER_THAN},
        {"<=", TOKEN_LESS_EQUAL},
        {">=", TOKEN_GREATER_EQUAL},
        {"&=", '='},
        {"+=", TOKEN_CHANGE},
        {"-=", TOKEN_CHANGE},
        {"*=", TOKEN_CHANGE},
        {"/=", TOKEN_CHANGE},
        {"%=", TOKEN_CHANGE},
        {"|=", TOKEN_CHANGE},
        {"^=", TOKEN_CHANGE},
        {"<<", TOKEN_OTHER},
        {"++", TOKEN_OTHER},
        {"--", TOKEN_OTHER},
    };

    const bool longer = memchr("<>&|-:=!+*/%^", *in->at, 13);
    for (size_t i = 0; longer && i < sizeof operators / sizeof operators[0]; i++) {
        if (scan_text_begins(in, operators[i].text)) {
            in->at += strlen(operators[i].text);
            return operators[i].kind;
        }
    }
    return *in->at ? (unsigned char)*in->at++ : (in->at++, TOKEN_OTHER);
}

static void read_token(struct scan_tokens *tokens)
{
    struct scan_text *in = &tokens->in;

    while (in->at < in->end && skip_other(tokens)) {
        if (tokens->changed)
            return;
    }
    tokens->now = (struct scan_token){.at = in->at, .line = in->line};
    if (in->at >= in->end)
        return;
    if (scan_text_is_letter(*in->at)) {
        tokens->now.word = scan_text_word(in);
        tokens->now.kind = kind_of_word(tokens->now.word);
        if (in->at < in->end && *in->at == '"' && scan_word_is_raw(tokens->now.word)) {
            scan_text_skip_raw(in);
            tokens->now.kind = TOKEN_STRING;
        }
    } else if (*in->at == '"' || *in->at == '\'') {
        tokens->now.kind = TOKEN_STRING;
        scan_text_skip_line(in, *in->at);
    } else {
        tokens->now.kind = read_operator(in);
    }
}

void scan_token_next(struct scan_tokens *tokens)
{
    read_token(tokens);
    if (tokens->changed)
        return;
    tokens->opened += tokens->now.kind == '(' || tokens->now.kind == '{' || tokens->now.kind == '[';
    tokens->opened -= tokens->now.kind == ')' || tokens->now.kind == '}' || tokens->now.kind == ']';
}
