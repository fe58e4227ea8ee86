/* SPDX-License-Identifier: MIT */
#include "matrix_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK "cushim sim: check: "

/* More than a pipe holds: another process may have the other end, and write for ever. */
enum { MOST_AT_END = 4 << 20 };

bool matrix_stream_open(struct matrix_stream *stream, int *to)
{
    int ends[2];

    *stream = (struct matrix_stream){.from = -1};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    stream->from = ends[0];
    *to = ends[1];
    return true;
}

/* Add a line to a text whose beginning goes when it is full; control characters become blanks. */
static void append(char text[MATRIX_OUTPUT_SIZE], const char *line, size_t length)
{
    size_t used = strlen(text), room = MATRIX_OUTPUT_SIZE - 1;

    if (used + length > room) {
        size_t gone = used + length - room;
        memmove(text, text + gone, used - gone + 1);
        used -= gone;
    }
    for (size_t i = 0; i < length; i++)
        text[used + i] =
            (unsigned char)line[i] < ' ' && line[i] != '\n' && line[i] != '\t' ? ' ' : line[i];
    text[used + length] = '\0';
}

static bool begins(const char *line, const char *words)
{
    return strncmp(line, words, strlen(words)) == 0;
}

static void take_words(const char *words, size_t length, char text[MATRIX_OUTPUT_SIZE],
                       struct matrix_told *told)
{
    bool found = begins(words, CHECK);

    if (found && told->check[0] == '\0')
        snprintf(told->check, sizeof told->check, "%.*s",
                 (int)strcspn(words, "\n") - (int)strlen(CHECK), words + strlen(CHECK));
    told->found += found;
    told->wants_runtime |= begins(words, "cushim sim: the program uses the CUDA runtime");
    told->log_ended |= begins(words, "cushim: simulated driver: the log ends here: ");
    append(text, words, length);
}

/* A line, or as much of one as there is room for. The program may have left its last one open. */
static void take_line(struct matrix_stream *stream, char text[MATRIX_OUTPUT_SIZE],
                      struct matrix_told *told)
{
    size_t open = 0;
    char *check;

    stream->line[stream->used] = '\0';
    check = strstr(stream->line, CHECK);
    if (check && check > stream->line) {
        open = (size_t)(check - stream->line);
        *check = '\0';
        take_words(stream->line, open, text, told);
        append(text, "\n", 1);
        *check = CHECK[0];
    }
    take_words(stream->line + open, stream->used - open, text, told);
    stream->used = 0;
}

/* How many bytes came; 0: none are there now, or the end. */
static size_t read_some(struct matrix_stream *stream, char text[MATRIX_OUTPUT_SIZE],
                        struct matrix_told *told)
{
    char block[16384];
    ssize_t count = stream->from < 0 ? 0 : read(stream->from, block, sizeof block);

    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (count <= 0 && stream->from >= 0) {
        close(stream->from);
        stream->from = -1;
    }
    for (ssize_t i = 0; i < count; i++) {
        stream->line[stream->used++] = block[i];
        if (block[i] == '\n' || stream->used == sizeof stream->line - 1)
            take_line(stream, text, told);
    }
    return count > 0 ? (size_t)count : 0;
}

void matrix_stream_read(struct matrix_stream *stream, char text[MATRIX_OUTPUT_SIZE],
                        struct matrix_told *told)
{
    read_some(stream, text, told);
}

void matrix_stream_end(struct matrix_stream *stream, char text[MATRIX_OUTPUT_SIZE],
                       struct matrix_told *told)
{
    size_t count, whole = 0;

    while (whole < MOST_AT_END && (count = read_some(stream, text, told)) > 0)
        whole += count;
    take_line(stream, text, told);
    if (stream->from >= 0)
        close(stream->from);
    stream->from = -1;
}
