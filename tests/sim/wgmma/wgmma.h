/* SPDX-License-Identifier: MIT */
/* What the files of sim-wgmma share. */
#ifndef CUSHIM_TEST_WGMMA_H
#define CUSHIM_TEST_WGMMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WGMMA_THREADS = 128,
    WGMMA_SHARED = 65536, /* bytes of shared memory: a quarter for a, the rest for b */
    WGMMA_MOST = 128,     /* registers of d */
};

/* One line of wgmma.def, with one n. */
struct instruction {
    const char *d, *a, *b; /* types */
    const char *rest;      /* modifiers behind them */
    unsigned n, k;
    bool registers;     /* a is in registers */
    bool signs;         /* a and b may be negated */
    bool halves;        /* elements of 16 bits, which may be transposed */
    unsigned selectors; /* of metadata: how many the assembler takes; 0: a is not sparse */
    unsigned selector;
    int sign_a, sign_b;
    bool transposed_a, transposed_b;
};

/* What one launch reads: shared memory, a in registers, d before, and the rest for each thread. */
struct problem {
    uint8_t shared[WGMMA_SHARED];
    uint32_t a[4][WGMMA_THREADS];
    uint32_t d[WGMMA_MOST][WGMMA_THREADS];
    uint32_t metadata[WGMMA_THREADS];
    uint64_t descriptor_a, descriptor_b;
    uint32_t add;   /* whether d counts */
    uint32_t times; /* how often it is added to */
};

unsigned wgmma_registers(const struct instruction *one); /* of d */
/* The module of a kernel `k` with that instruction; the caller frees it. */
char *wgmma_text(const struct instruction *one);
/* Fill the problem number `number` of an instruction, always in the same way. */
void wgmma_fill(const struct instruction *one, unsigned number, struct problem *problem);

#endif
