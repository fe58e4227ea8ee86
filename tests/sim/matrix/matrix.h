/* SPDX-License-Identifier: MIT */
/* Problems for the matrix instructions: their elements, where those are in registers or memory, and
 * what the products have to be. */
#ifndef CUSHIM_TEST_SIM_MATRIX_H
#define CUSHIM_TEST_SIM_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum type { F16, BF16, TF32, E4M3, E5M2, F32, F64, S8, U8, S4, U4, B1, S32 };

struct instruction {
    const char *name, *text;
    unsigned sm, m, n, k;
    enum type a, b, c, d;
    unsigned registers[4];
    const char *layout_a, *layout_b; /* of those that work in memory; NULL: in registers */
};

/* Elements as bits: a by rows of k, b by rows of n, c and d by rows of n. Of m8n8k4 with f16 there
 * are four of each, one behind the other. */
struct problem {
    uint64_t a[16 * 256], b[256 * 8], c[256], d[256];
};

struct batch {
    const struct instruction *one;
    unsigned count;
    struct problem *problems;
    unsigned char *arrays[4]; /* as the kernel sees them: a, b, c, d */
    size_t bytes[4], each[4]; /* of all, of one problem */
    uint32_t sizes[8];        /* distances of matrices in bytes and of lines in elements */
};

unsigned matrix_quads(const struct instruction *one);
/* Of a, b and c together. */
unsigned matrix_elements(const struct instruction *one);
void matrix_batch(struct batch *batch, const struct instruction *one, unsigned count);
void matrix_batch_free(struct batch *batch);
/* Problem into the arrays, answer out of them. */
void matrix_put(struct batch *batch, unsigned index);
void matrix_get(struct batch *batch, unsigned index);

/* 1 at element `which`, counted through a, b and c, and small numbers in the other factor. */
void matrix_fill_one(const struct instruction *one, struct problem *problem, unsigned which);
/* Small integers, or random elements. */
void matrix_fill(const struct instruction *one, struct problem *problem, bool random);
/* The largest error of d, in parts of what is allowed; nothing is where it is to be exact. */
double matrix_error(const struct instruction *one, const struct problem *problem, bool exact);

unsigned element_bits(enum type type);
double element_value(enum type type, uint64_t bits);
uint64_t element_of(enum type type, double value); /* an element that is exactly this */
uint64_t element_random(enum type type);

#endif
