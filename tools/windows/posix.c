/* SPDX-License-Identifier: MIT */
#include "posix.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <fts.h>
#include <io.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <shellapi.h>

#undef fopen

void *memmem(const void *in, size_t in_size, const void *bytes, size_t size)
{
    const char *at = in, *first = bytes;

    while (size > 0 && in_size >= size) {
        const char *found = memchr(at, *first, in_size - size + 1);
        if (!found)
            return NULL;
        if (memcmp(found, bytes, size) == 0)
            return (void *)(uintptr_t)found;
        in_size -= (size_t)(found + 1 - at);
        at = found + 1;
    }
    return NULL;
}

ssize_t getline(char **line, size_t *room, FILE *file)
{
    size_t length = 0;
    int c = 0;

    while (c != '\n' && (c = fgetc(file)) != EOF) {
        if (length + 2 > *room) {
            size_t more = 2 * *room + 256;
            char *larger = realloc(*line, more);
            if (!larger)
                return -1;
            *line = larger;
            *room = more;
        }
        (*line)[length++] = (char)c;
        (*line)[length] = '\0';
    }
    return length > 0 ? (ssize_t)length : -1;
}

char *strcasestr(const char *in, const char *text)
{
    size_t length = strlen(text);

    for (; *in != '\0' || length == 0; in++) {
        if (_strnicmp(in, text, length) == 0)
            return (char *)(uintptr_t)in;
    }
    return NULL;
}

wchar_t *windows_wide(const char *text)
{
    int size = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
    wchar_t *wide = size > 0 ? calloc((size_t)size, sizeof *wide) : NULL;

    if (wide)
        MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, size);
    return wide;
}

char *windows_narrow(const wchar_t *text)
{
    int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
    char *narrow = size > 0 ? calloc((size_t)size, 1) : NULL;

    if (narrow)
        WideCharToMultiByte(CP_UTF8, 0, text, -1, narrow, size, NULL, NULL);
    return narrow;
}

FILE *windows_open(const char *path, const char *mode)
{
    wchar_t *wide = windows_wide(path);
    FILE *file;

    errno = ENOENT;
    file = wide ? _wfopen(wide, strchr(mode, 'w') ? L"wb" : L"rb") : NULL;
    free(wide);
    return file;
}

/* Arguments in UTF-8, whatever the system's code page has; output without added returns. */
void windows_begin(int *argc, char ***argv)
{
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), argc);
    char **words = wide ? calloc((size_t)*argc + 1, sizeof *words) : NULL;

    for (int i = 0; words && i < *argc; i++) {
        words[i] = windows_narrow(wide[i]);
        if (!words[i])
            exit(4);
    }
    if (!words)
        exit(4);
    *argv = words;
    SetConsoleOutputCP(CP_UTF8);
    _setmode(_fileno(stdout), _O_BINARY);
}

/* ---- fnmatch */

/* Behind a set "[a-z]"; NULL where the character is not in it. */
static const char *match_set(const char *pattern, char character)
{
    bool negated = *pattern == '!' || *pattern == '^', in = false;
    const char *at = pattern + negated;

    do {
        char low = *at++;
        if (low == '\0')
            return NULL;
        char high = *at == '-' && at[1] != ']' && at[1] != '\0' ? at[1] : low;
        at += high != low || (*at == '-' && at[1] == low) ? 2 : 0;
        in |= low <= character && character <= high;
    } while (*at != ']');
    return in != negated ? at + 1 : NULL;
}

int fnmatch(const char *pattern, const char *text, int flags)
{
    const char *star = NULL, *again = NULL;

    (void)flags;
    while (*text != '\0') {
        const char *next = *pattern == '[' ? match_set(pattern + 1, *text)
                           : *pattern == '?' || (*pattern != '*' && *pattern == *text) ? pattern + 1
                                                                                       : NULL;
        if (*pattern == '*') {
            star = ++pattern;
            again = text;
        } else if (next) {
            pattern = next;
            text++;
        } else if (star) {
            pattern = star;
            text = ++again;
        } else {
            return 1;
        }
    }
    pattern += strspn(pattern, "*");
    return *pattern != '\0';
}

/* ---- fts */

struct entry {
    char *path;
    int level;
};

struct fts {
    struct entry *waiting; /* the last one is read next */
    size_t count, room;
    FTSENT entry;
};

static bool add(FTS *tree, char *path, int level)
{
    if (tree->count == tree->room) {
        size_t room = tree->room ? 2 * tree->room : 64;
        struct entry *more = realloc(tree->waiting, room * sizeof *more);
        if (!more)
            return false;
        tree->waiting = more;
        tree->room = room;
    }
    if (path)
        tree->waiting[tree->count++] = (struct entry){path, level};
    return path;
}

FTS *fts_open(char *const *paths, int options, int (*compare)(const FTSENT **a, const FTSENT **b))
{
    FTS *tree = calloc(1, sizeof *tree);
    size_t count = 0;

    (void)options, (void)compare;
    while (paths[count])
        count++;
    while (tree && count-- > 0) {
        if (!add(tree, strdup(paths[count]), FTS_ROOTLEVEL))
            return NULL;
    }
    return tree;
}

static int last_first(const void *a, const void *b)
{
    return strcmp(((const struct entry *)b)->path, ((const struct entry *)a)->path);
}

/* All that a folder holds, but for links; false where it cannot be read. */
static bool add_folder(FTS *tree, const char *path, int level)
{
    size_t room = strlen(path) + 3, first = tree->count;
    char *pattern = calloc(1, room);
    WIN32_FIND_DATAW found;
    HANDLE search = INVALID_HANDLE_VALUE;
    wchar_t *wide = NULL;

    if (pattern) {
        snprintf(pattern, room, "%s/*", path);
        wide = windows_wide(pattern);
    }
    if (wide)
        search = FindFirstFileW(wide, &found);
    free(wide);
    free(pattern);
    if (search == INVALID_HANDLE_VALUE)
        return false;
    do {
        char *name = windows_narrow(found.cFileName), *whole;
        bool itself = name && (strcmp(name, ".") == 0 || strcmp(name, "..") == 0);
        if (name && !itself && !(found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT)) {
            room = strlen(path) + strlen(name) + 2;
            whole = calloc(1, room);
            if (whole)
                snprintf(whole, room, "%s/%s", path, name);
            add(tree, whole, level);
        }
        free(name);
    } while (FindNextFileW(search, &found));
    FindClose(search);
    qsort(tree->waiting + first, tree->count - first, sizeof *tree->waiting, last_first);
    return true;
}

FTSENT *fts_read(FTS *tree)
{
    free(tree->entry.fts_path);
    tree->entry = (FTSENT){0};
    if (tree->count == 0)
        return NULL;
    struct entry now = tree->waiting[--tree->count];
    wchar_t *wide = windows_wide(now.path);
    DWORD attributes = wide ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
    free(wide);
    tree->entry = (FTSENT){FTS_F, now.level, 0, now.path, now.path, now.path};
    if (attributes == INVALID_FILE_ATTRIBUTES) {
        tree->entry.fts_info = FTS_NS;
        tree->entry.fts_errno = GetLastError() == ERROR_ACCESS_DENIED ? EACCES : ENOENT;
    } else if (attributes & FILE_ATTRIBUTE_DIRECTORY) {
        tree->entry.fts_info = add_folder(tree, now.path, now.level + 1) ? FTS_D : FTS_DNR;
        tree->entry.fts_errno = EACCES;
    }
    return &tree->entry;
}

int fts_close(FTS *tree)
{
    free(tree->entry.fts_path);
    while (tree->count > 0)
        free(tree->waiting[--tree->count].path);
    free(tree->waiting);
    free(tree);
    return 0;
}
