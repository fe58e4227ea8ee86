/* SPDX-License-Identifier: MIT */
#include "known.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct row {
    char symbol[sizeof((struct cushim_entry *)0)->symbol];
    size_t index;
};

static struct row rows[CUSHIM_ENTRY_COUNT];
static size_t row_count;

static int compare_rows(const void *a, const void *b)
{
    return strcmp(((const struct row *)a)->symbol, ((const struct row *)b)->symbol);
}

static void fill(void)
{
    struct cushim_entry entry;

    if (row_count > 0)
        return;
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT && cushim_entry_at(i, &entry); i++) {
        memcpy(rows[row_count].symbol, entry.symbol, sizeof entry.symbol);
        rows[row_count++].index = i;
    }
    qsort(rows, row_count, sizeof rows[0], compare_rows);
}

size_t known_symbol_of(const char *text, size_t length)
{
    size_t low = 0, high;

    fill();
    if (length >= sizeof rows[0].symbol || memchr(text, '\0', length))
        return KNOWN_NONE;
    for (high = row_count; low < high;) {
        size_t middle = low + (high - low) / 2;
        int order = strncmp(rows[middle].symbol, text, length);
        if (order == 0)
            order = rows[middle].symbol[length] == '\0' ? 0 : 1;
        if (order == 0)
            return rows[middle].index;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return KNOWN_NONE;
}

size_t known_symbol(const char *symbol)
{
    return known_symbol_of(symbol, strlen(symbol));
}

struct cushim_entry known_entry(size_t index)
{
    struct cushim_entry entry = {0};

    cushim_entry_at(index, &entry);
    return entry;
}

/* The first row whose symbol is not before the text. */
static size_t find_row(const char *text)
{
    size_t low = 0, high = row_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(rows[middle].symbol, text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Symbols of a name are the name itself, and those that begin with it and '_'. */
size_t known_newest(const char *name, enum cushim_stream stream, int release)
{
    char begin[KNOWN_NAME_SIZE];
    size_t length = strlen(name), best = KNOWN_NONE;
    int since = 0;

    fill();
    if (length + 2 > sizeof begin)
        return KNOWN_NONE;
    memcpy(begin, name, length);
    memcpy(begin + length, "_", 2);
    for (int kind = 0; kind < 2; kind++) {
        const char *text = kind == 0 ? name : begin; /* with its end; with '_' */
        for (size_t i = find_row(text); i < row_count; i++) {
            struct cushim_entry entry = known_entry(rows[i].index);
            if (strncmp(entry.symbol, text, length + 1) != 0)
                break;
            if (entry.stream == stream && entry.since <= release && strcmp(entry.name, name) == 0 &&
                (entry.since > since || (entry.since == since && rows[i].index > best))) {
                best = rows[i].index;
                since = entry.since;
            }
        }
    }
    return best;
}

bool known_on(size_t index, enum known_platform platform)
{
    return known_platforms[index] == KNOWN_ANYWHERE || known_platforms[index] == platform;
}

bool known_looks_like_entry(const char *symbol)
{
    /* libcufile's names begin so, too. */
    return symbol[0] == 'c' && symbol[1] == 'u' && isupper((unsigned char)symbol[2]) &&
           strncmp(symbol, "cuFile", 6) != 0;
}

bool known_private(const char *symbol)
{
    static const char *const names[] = {"cuEGLApiInit", "cuMemGetAttribute",
                                        "cuMemGetAttribute_v2"};

    if (strncmp(symbol, "cudbg", 5) == 0)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(symbol, names[i]) == 0)
            return true;
    }
    return false;
}

/* Take an ending off; whether it was there. */
static bool take_off(char *text, const char *ending)
{
    size_t length = strlen(text), end = strlen(ending);

    if (length <= end || strcmp(text + length - end, ending) != 0)
        return false;
    text[length - end] = '\0';
    return true;
}

void known_split(const char *symbol, char name[KNOWN_NAME_SIZE], enum cushim_stream *stream)
{
    char *version;

    strncpy(name, symbol, KNOWN_NAME_SIZE - 1);
    name[KNOWN_NAME_SIZE - 1] = '\0';
    *stream = take_off(name, "_ptsz")   ? CUSHIM_STREAM_PTSZ
              : take_off(name, "_ptds") ? CUSHIM_STREAM_PTDS
                                        : CUSHIM_STREAM_LEGACY;
    version = strrchr(name, '_');
    if (version && version[1] == 'v' && isdigit((unsigned char)version[2]) &&
        version[2 + strspn(version + 2, "0123456789")] == '\0')
        *version = '\0';
}
