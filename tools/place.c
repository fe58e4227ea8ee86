/* SPDX-License-Identifier: MIT */
#include "place.h"

#include "known.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_FRAMES = 16, MOST_SPOTS = 128, FUNCTION_SIZE = 80 };

/* A return address. */
struct frame {
    const char *path;
    const char *offset; /* "0x12" */
};

/* One of the functions that a return address is in: the last one has the others inlined. */
struct spot {
    const struct frame *frame;
    char function[FUNCTION_SIZE]; /* empty: not known */
    bool destructor;
    char source[PATH_MAX];
    int line; /* 0: not known */
};

struct spots {
    size_t count;
    struct spot item[MOST_SPOTS];
};

static bool begins(const char *text, const char *words)
{
    return strncmp(text, words, strlen(words)) == 0;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* "cushim::buffer ns::upload<int>(int) const" as "ns::upload<int>": without result and parameters.
 */
static void put_function(char text[FUNCTION_SIZE], char *name)
{
    char *end = name[0] != '\0' ? strrchr(name, ')') : NULL, *begin;
    int depth = 0;

    for (char *at = end; at && at >= name; at--) {
        depth += *at == ')' ? 1 : *at == '(' ? -1 : 0;
        if (depth == 0 && at > name) {
            *at = '\0';
            break;
        }
    }
    depth = 0;
    for (begin = name + strlen(name); begin > name; begin--) {
        char before = begin[-1];
        depth += strchr(">)}", before) ? 1 : strchr("<({", before) ? -1 : 0;
        if (depth == 0 && before == ' ')
            break;
    }
    snprintf(text, FUNCTION_SIZE, "%s", strcmp(name, "??") == 0 ? "" : begin);
}

static struct spot *add_spot(struct spots *spots, const struct frame *frame)
{
    struct spot *spot = &spots->item[spots->count];

    if (spots->count == MOST_SPOTS)
        return NULL;
    spots->count++;
    spot->frame = frame;
    spot->function[0] = spot->source[0] = '\0';
    spot->destructor = false;
    spot->line = 0;
    return spot;
}

/* Of addr2line: a line with the address, and for each function its name and "FILE:LINE". Returns
 * how many addresses it told. */
static size_t read_spots(FILE *answer, const struct frame *frames, size_t count,
                         struct spots *spots)
{
    char *line = NULL;
    size_t room = 0, told = 0;
    struct spot *spot = NULL;

    while (getline(&line, &room, answer) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if (spot) {
            char *colon = strrchr(line, ':');
            spot->line = colon ? atoi(colon + 1) : 0;
            snprintf(spot->source, sizeof spot->source, "%.*s", (int)(colon ? colon - line : 0),
                     line);
            spot = NULL;
        } else if (begins(line, "0x") && told < count) {
            told++;
        } else if (told > 0 && (spot = add_spot(spots, &frames[told - 1]))) {
            spot->destructor = begins(line, "~") || strstr(line, "::~");
            put_function(spot->function, line);
        }
    }
    free(line);
    return told;
}

/* Whether a file names its functions: addr2line takes the nearest exported one otherwise. */
static bool has_symbols(const char *path)
{
    FILE *file = fopen(path, "re");
    ElfW(Ehdr) head = {.e_shnum = 0};
    ElfW(Shdr) part;
    bool found = false;

    if (file && fread(&head, sizeof head, 1, file) == 1 && head.e_shentsize == sizeof part &&
        fseek(file, (long)head.e_shoff, SEEK_SET) == 0) {
        for (int i = 0; i < head.e_shnum && !found && fread(&part, sizeof part, 1, file) == 1; i++)
            found = part.sh_type == SHT_SYMTAB;
    }
    if (file)
        fclose(file);
    return found;
}

static pid_t start(char **words, int to)
{
    static const char *const names[] = {"addr2line", "llvm-addr2line"};
    posix_spawn_file_actions_t actions;
    pid_t pid = -1;

    if (posix_spawn_file_actions_init(&actions) != 0)
        return -1;
    if (posix_spawn_file_actions_adddup2(&actions, to, 1) == 0 &&
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) == 0 &&
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) == 0) {
        for (size_t i = 0; i < sizeof names / sizeof *names && pid < 0; i++) {
            words[0] = (char *)names[i];
            if (posix_spawnp(&pid, names[i], &actions, NULL, words, environ) != 0)
                pid = -1;
        }
    }
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

/* Of return addresses in one file. */
static void resolve(const struct frame *frames, size_t count, struct spots *spots)
{
    char *words[MOST_FRAMES + 6] = {NULL, "-Cfia", "-e", (char *)frames->path};
    int ends[2] = {-1, -1}, status;
    size_t told = 0, first = spots->count;

    for (size_t i = 0; i < count; i++)
        words[4 + i] = (char *)frames[i].offset;
    if (pipe2(ends, O_CLOEXEC) == 0) {
        pid_t pid = start(words, ends[1]);
        FILE *answer = fdopen(ends[0], "r");
        close(ends[1]);
        if (answer && pid > 0)
            told = read_spots(answer, frames, count, spots);
        if (answer)
            fclose(answer);
        while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    for (; told < count; told++)
        add_spot(spots, &frames[told]);
    for (bool named = has_symbols(frames->path); !named && first < spots->count; first++) {
        if (spots->item[first].line == 0)
            spots->item[first].function[0] = '\0';
    }
}

/* Whether a function is the library's. A static one has a plain name, and is called by another. */
static bool is_cushim(const struct spots *spots, size_t i)
{
    const struct spot *spot = &spots->item[i];
    const char *name = spot->function;

    if (begins(name, "cushim_") || begins(name, "cushim::") || known_symbol(name) != KNOWN_NONE ||
        strstr(spot->source, "/include/cushim/"))
        return true;
    if (spot->line > 0 && !strstr(spot->source, "src/loader/") &&
        !strstr(spot->source, "src/helpers/") && !strstr(spot->source, "src/dropin/") &&
        strcmp(base_of(spot->source), "cushim.c") != 0)
        return false;
    return i + 1 < spots->count && spot->frame->path == spots->item[i + 1].frame->path &&
           is_cushim(spots, i + 1);
}

/* Between Python and C: the line of Python that called is not to be had by addresses. */
static bool is_python(const char *file)
{
    static const char *const names[] = {"libffi", "_ctypes.", "_cffi_backend.", "python",
                                        "libpython"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (begins(file, names[i]))
            return true;
    }
    return false;
}

/* Of the system: a program crashes and waits in its functions. */
static bool is_system(const char *file)
{
    static const char *const names[] = {"libc.",      "libc-",    "libm.", "libm-", "libpthread",
                                        "libstdc++.", "libgcc_s", "ld-",   "[vdso]"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (begins(file, names[i]))
            return true;
    }
    return false;
}

static bool is_own(const struct spots *spots, size_t i)
{
    const struct spot *spot = &spots->item[i];
    const char *file = base_of(spot->frame->path), *name = spot->function;

    return begins(file, "libcushim") || begins(file, "libcuda") || is_system(file) ||
           is_cushim(spots, i) || begins(name, "std::") || begins(name, "__gnu_cxx::") ||
           strstr(spot->source, "/include/c++/") || begins(spot->source, "/usr/include/");
}

/* Whether it is a destructor of cushim.hpp. addr2line may name another file for one at -O0. */
static bool is_owner(const struct spot *spot)
{
    return spot->destructor &&
           (begins(spot->function, "cushim::") || strcmp(base_of(spot->source), "cushim.hpp") == 0);
}

void place_source(char text[PATH_MAX], const char *source)
{
    char path[PATH_MAX], here[PATH_MAX];
    const char *whole = realpath(source, path) ? path : source;
    size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;

    if (length > 1 && begins(whole, here) && whole[length] == '/')
        whole += length + 1;
    snprintf(text, PATH_MAX, "%s", begins(whole, "./") ? whole + 2 : whole);
}

static void put_spot(char text[PLACE_SIZE], const struct spot *spot)
{
    char place[PATH_MAX + 16];
    const char *name = spot->function;
    bool named = name[0] != '\0';

    if (spot->line > 0) {
        char source[PATH_MAX];
        place_source(source, spot->source);
        snprintf(place, sizeof place, "%s:%d", source, spot->line);
    } else {
        snprintf(place, sizeof place, "%s+%s", base_of(spot->frame->path), spot->frame->offset);
    }
    snprintf(text, PLACE_SIZE, "%.*s%s%s%s", PLACE_SIZE - FUNCTION_SIZE - 4, place,
             named ? " (" : "", name, named ? ")" : "");
}

/* The frames of a text, which is cut to pieces. One path is one pointer. */
static size_t split(char *text, struct frame frames[MOST_FRAMES])
{
    size_t count = 0;
    char *rest = NULL;

    for (char *word = strtok_r(text, "\t\n", &rest); word && count < MOST_FRAMES;
         word = strtok_r(NULL, "\t\n", &rest)) {
        char *plus = strrchr(word, '+');
        if (!plus || !begins(plus, "+0x"))
            continue;
        *plus = '\0';
        frames[count] = (struct frame){.path = word, .offset = plus + 1};
        if (count > 0 && strcmp(word, frames[count - 1].path) == 0)
            frames[count].path = frames[count - 1].path;
        count++;
    }
    return count;
}

/* What was asked last: runs under other releases have the same callers. */
static struct {
    char *callers;
    char place[PLACE_SIZE];
    bool owner;
} last;

static void find(const char *callers)
{
    struct frame frames[MOST_FRAMES];
    struct spots *spots = calloc(1, sizeof *spots);
    char *copy = strdup(callers);
    size_t count = copy && spots ? split(copy, frames) : 0, i = 0;

    last.place[0] = '\0';
    last.owner = false;
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && frames[to].path == frames[from].path;)
            to++;
        resolve(&frames[from], to - from, spots);
    }
    for (; count > 0 && i + 1 < spots->count && is_own(spots, i); i++)
        last.owner |= is_owner(&spots->item[i]);
    const char *file = count > 0 ? base_of(spots->item[i].frame->path) : NULL;
    if (file && !is_python(file) && !is_system(file)) /* a thread of a library has no other */
        put_spot(last.place, &spots->item[i]);
    free(spots);
    free(copy);
    free(last.callers);
    last.callers = strdup(callers);
}

static bool is_known(const char *callers)
{
    if (!callers || callers[0] == '\0')
        return false;
    if (!last.callers || strcmp(last.callers, callers) != 0)
        find(callers);
    return true;
}

const char *place_of(const char *callers, char text[PLACE_SIZE])
{
    text[0] = '\0';
    return is_known(callers) ? memcpy(text, last.place, PLACE_SIZE) : text;
}

bool place_is_owner(const char *callers)
{
    return is_known(callers) && last.owner;
}
