/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a program under `cushim matrix` prints, read from a pipe: the disk may be full.
 */
#ifndef CUSHIM_TOOLS_MATRIX_STREAM_H
#define CUSHIM_TOOLS_MATRIX_STREAM_H

#include "matrix.h"

/** What lines of either stream tell. */
struct matrix_told {
    char check[MATRIX_CALL_SIZE]; /* what the check found first; or "" */
    unsigned found;               /* how much it found */
    bool wants_runtime;           /* it asked for the CUDA runtime */
    bool log_ended;               /* the log of the simulated driver could not be written */
};

struct matrix_stream {
    int from; /* -1: at its end */
    char line[MATRIX_OUTPUT_SIZE];
    size_t used;
};

/** Open a pipe of which `*to` is the program's end; false with errno. */
bool matrix_stream_open(struct matrix_stream *stream, int *to);

/** Read what is there now into a text whose beginning goes when it is full. */
void matrix_stream_read(struct matrix_stream *stream, char text[MATRIX_OUTPUT_SIZE],
                        struct matrix_told *told);

/** Read the rest, of a program that has ended, and close. */
void matrix_stream_end(struct matrix_stream *stream, char text[MATRIX_OUTPUT_SIZE],
                       struct matrix_told *told);

#endif
