/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "module_internal.h"

/* PTX as words and single characters; comments and space are passed over. */
struct module_ptx_text {
    const char *text;
    size_t bytes, at;
    const char *word; /* NULL at the end */
    size_t length;
    int line;
    int open_line; /* of a comment or string that nothing closes */
};

static bool module_ptx_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '%' || c == '.';
}

static bool module_ptx_is_name(const struct module_ptx_text *ptx)
{
    char first = ptx->word[0];
    return module_ptx_is_word(first) && first != '.' && !(first >= '0' && first <= '9');
}

static bool module_ptx_is(const struct module_ptx_text *ptx, const char *word)
{
    return ptx->word && strlen(word) == ptx->length && memcmp(ptx->word, word, ptx->length) == 0;
}

/* Pass over a comment or a string; false where there is none here. */
static bool module_ptx_skip(struct module_ptx_text *ptx)
{
    const char *here = ptx->text + ptx->at;
    const size_t left = ptx->bytes - ptx->at;
    const int line = ptx->line;
    size_t i;
    if (left >= 2 && here[0] == '/' && here[1] == '/') {
        const char *end = memchr(here, '\n', left);
        ptx->at += end ? (size_t)(end - here) : left;
        return true;
    }
    if (here[0] == '"') {
        for (i = 1; i < left && here[i] != '"'; i++)
            ptx->line += here[i] == '\n';
        if (i == left)
            ptx->open_line = line;
        ptx->at += i < left ? i + 1 : i;
        return true;
    }
    if (left < 2 || here[0] != '/' || here[1] != '*')
        return false;
    for (i = 2; i + 1 < left && !(here[i] == '*' && here[i + 1] == '/'); i++)
        ptx->line += here[i] == '\n';
    if (i + 1 >= left)
        ptx->open_line = line;
    ptx->at = i + 1 < left ? ptx->at + i + 2 : ptx->bytes;
    return true;
}

static void module_ptx_next(struct module_ptx_text *ptx)
{
    ptx->word = NULL;
    while (ptx->at < ptx->bytes) {
        char c = ptx->text[ptx->at];
        if (c == '\n' || c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            ptx->line += c == '\n';
            ptx->at++;
            continue;
        }
        if ((c == '/' || c == '"') && module_ptx_skip(ptx))
            continue;
        size_t begin = ptx->at++;
        if (module_ptx_is_word(c))
            while (ptx->at < ptx->bytes && module_ptx_is_word(ptx->text[ptx->at]))
                ptx->at++;
        ptx->word = ptx->text + begin;
        ptx->length = ptx->at - begin;
        return;
    }
}

static int module_ptx_number(const struct module_ptx_text *ptx, size_t *at)
{
    int value = 0;
    while (*at < ptx->length && ptx->word[*at] >= '0' && ptx->word[*at] <= '9' && value < 1000000)
        value = 10 * value + (ptx->word[(*at)++] - '0');
    return value;
}

static void module_ptx_version(struct module_ptx_text *ptx, struct cushim_image *image)
{
    size_t at = 0;
    module_ptx_next(ptx);
    if (!ptx->word)
        return;
    image->version_major = module_ptx_number(ptx, &at);
    if (at < ptx->length && ptx->word[at] == '.') {
        at++;
        image->version_minor = module_ptx_number(ptx, &at);
    }
}

static void module_ptx_target(const struct module_ptx_text *ptx, struct cushim_image *image)
{
    size_t at = 3;
    if (ptx->length < 4 || memcmp(ptx->word, "sm_", 3) != 0)
        return;
    image->arch = module_ptx_number(ptx, &at);
    if (at < ptx->length)
        image->arch_suffix = ptx->word[at];
}

/* Where in a statement outside of all bodies the reader is. */
enum { MODULE_PTX_ANY, MODULE_PTX_TARGET, MODULE_PTX_ENTRY, MODULE_PTX_GLOBAL, MODULE_PTX_GIVEN };

static int module_ptx_state(const struct module_ptx_text *ptx, int state)
{
    if (module_ptx_is(ptx, ".target"))
        return MODULE_PTX_TARGET;
    if (module_ptx_is(ptx, ".entry"))
        return MODULE_PTX_ENTRY;
    if (module_ptx_is(ptx, ".global") || module_ptx_is(ptx, ".const"))
        return MODULE_PTX_GLOBAL;
    if (ptx->word[0] == ';' || module_ptx_is(ptx, ".func"))
        return MODULE_PTX_ANY;
    if (ptx->word[0] == ',' && state == MODULE_PTX_GIVEN)
        return MODULE_PTX_GLOBAL;
    return state;
}

/* A name outside of all bodies and parentheses. */
static int module_ptx_name(const struct module_ptx_text *ptx, int state, struct cushim_image *image,
                           struct cushim_names names[CUSHIM_NAMES_KINDS])
{
    if (state == MODULE_PTX_TARGET) {
        module_ptx_target(ptx, image);
        return MODULE_PTX_ANY;
    }
    if (state != MODULE_PTX_ENTRY && state != MODULE_PTX_GLOBAL)
        return state;
    if (names)
        cushim_names_add(
            &names[state == MODULE_PTX_ENTRY ? CUSHIM_NAMES_KERNELS : CUSHIM_NAMES_GLOBALS],
            ptx->word, ptx->length);
    return state == MODULE_PTX_ENTRY ? MODULE_PTX_ANY : MODULE_PTX_GIVEN;
}

/* Length of the text before its end or first NUL; notes a NUL that other text follows. */
static size_t module_ptx_length(const char *text, size_t bytes, size_t *nul)
{
    const char *end = memchr(text, 0, bytes);
    size_t length = end ? (size_t)(end - text) : bytes;
    *nul = SIZE_MAX;
    for (size_t i = length; i < bytes; i++)
        if (text[i]) {
            *nul = length;
            break;
        }
    return length;
}

void cushim_ptx_read(const char *text, size_t bytes, struct cushim_ptx *ptx,
                     struct cushim_names names[CUSHIM_NAMES_KINDS])
{
    struct module_ptx_text at = {.text = text, .line = 1};
    int depth = 0, parentheses = 0, open_line = 0, state = MODULE_PTX_ANY;
    memset(ptx, 0, sizeof *ptx);
    at.bytes = module_ptx_length(text, bytes, &ptx->nul);
    module_ptx_next(&at);
    ptx->is_ptx = module_ptx_is(&at, ".version");
    if (!ptx->is_ptx)
        return;
    ptx->image.kind = CUSHIM_IMAGE_PTX;
    module_ptx_version(&at, &ptx->image);
    if (at.word)
        for (module_ptx_next(&at); at.word; module_ptx_next(&at)) {
            char c = at.word[0];
            if (c == '{' && depth++ == 0)
                open_line = at.line;
            else if (c == '}' && depth > 0)
                depth--;
            if (depth > 0)
                continue;
            parentheses += c == '(' ? 1 : c == ')' && parentheses > 0 ? -1 : 0;
            if (parentheses > 0)
                continue;
            if (module_ptx_is_name(&at))
                state = module_ptx_name(&at, state, &ptx->image, names);
            else
                state = module_ptx_state(&at, state);
        }
    ptx->open_line = depth > 0 ? open_line : at.open_line;
    if (names)
        names[CUSHIM_NAMES_KERNELS].complete = names[CUSHIM_NAMES_GLOBALS].complete = true;
}
