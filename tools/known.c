/* SPDX-License-Identifier: MIT */
#include "known.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static struct cushim_entry entries[CUSHIM_ENTRY_COUNT];
static size_t rows[CUSHIM_ENTRY_COUNT]; /* their indexes, in the order of their symbols */
static size_t row_count;

static int compare_rows(const void *a, const void *b)
{
    return strcmp(entries[*(const size_t *)a].symbol, entries[*(const size_t *)b].symbol);
}

static void fill(void)
{
    if (row_count > 0)
        return;
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT && cushim_entry_at(i, &entries[i]); i++)
        rows[row_count++] = i;
    qsort(rows, row_count, sizeof rows[0], compare_rows);
}

size_t known_symbol_of(const char *text, size_t length)
{
    size_t low = 0, high;

    fill();
    if (length >= sizeof entries[0].symbol || memchr(text, '\0', length))
        return KNOWN_NONE;
    for (high = row_count; low < high;) {
        size_t middle = low + (high - low) / 2;
        const char *symbol = entries[rows[middle]].symbol;
        int order = strncmp(symbol, text, length);
        if (order == 0)
            order = symbol[length] == '\0' ? 0 : 1;
        if (order == 0)
            return rows[middle];
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
    fill();
    return entries[index];
}

/* The first row whose symbol is not before the text. */
static size_t find_row(const char *text)
{
    size_t low = 0, high = row_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(entries[rows[middle]].symbol, text) < 0)
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
            const struct cushim_entry *entry = &entries[rows[i]];
            if (strncmp(entry->symbol, text, length + 1) != 0)
                break;
            if (entry->stream == stream && entry->since <= release &&
                strcmp(entry->name, name) == 0 &&
                (entry->since > since || (entry->since == since && rows[i] > best))) {
                best = rows[i];
                since = entry->since;
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

size_t known_distance(const char *word, const char *other)
{
    size_t length = strlen(other), row[KNOWN_NAME_SIZE];

    for (size_t i = 0; i <= length; i++)
        row[i] = i;
    for (size_t k = 0; word[k] != '\0'; k++) {
        size_t before = row[0]++;
        for (size_t i = 1; i <= length; i++) {
            bool same = toupper((unsigned char)word[k]) == toupper((unsigned char)other[i - 1]);
            size_t least = same ? before : 1 + (before < row[i] ? before : row[i]);
            before = row[i];
            row[i] = least < row[i - 1] + 1 ? least : row[i - 1] + 1;
        }
    }
    return row[length];
}

const char *known_near(const char *symbol)
{
    const char *near = NULL;
    size_t least = KNOWN_CHANGES + 1;

    fill();
    for (size_t i = 0; i < row_count; i++) {
        size_t changes = known_distance(symbol, entries[i].symbol);
        if (changes < least) {
            least = changes;
            near = entries[i].symbol;
        }
    }
    return near;
}
