/* SPDX-License-Identifier: MIT */
/* What the files of sim-mma share. */
#ifndef CUSHIM_TEST_MMA_H
#define CUSHIM_TEST_MMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MMA_LANES = 32, MMA_MOST = 8 }; /* registers of a matrix */

/* One line of mma.def, with one selector. */
struct instruction {
    const char *name;          /* with all modifiers; of wmma: those behind wmma.mma */
    const char *shape;         /* of wmma, which loads a, b and c; else NULL */
    const char *a, *b, *c, *d; /* types */
    unsigned registers[4];     /* of a, b, c, d */
    int selector;              /* of metadata; -1: the matrix is not sparse */
};

/* The registers of a warp; or of wmma the matrices, by rows. */
struct problem {
    uint32_t a[MMA_MOST][MMA_LANES], b[MMA_MOST][MMA_LANES], c[MMA_MOST][MMA_LANES];
    uint32_t metadata[MMA_LANES];
    uint32_t d[MMA_MOST][MMA_LANES];
};

/* The module of a kernel `k` with that instruction, whose block i has the problem i; the caller
 * frees it. */
char *mma_text(const struct instruction *one);

#endif
