/* SPDX-License-Identifier: MIT */
/* What the checks are to find in a small kernel, worked out from its statements alone: each access
 * of each thread is a record, and each two of them are compared. Slow, and without short cuts.
 * What atomic operations order depends on the order in which warps run, so that there are two
 * answers: pairs that are a race in any order, and those that are one in some order. */
#ifndef CUSHIM_TEST_PTX_CHECK_MODEL_H
#define CUSHIM_TEST_PTX_CHECK_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MODEL_STATEMENTS = 40,
    MODEL_WARPS = 8,
    MODEL_BLOCKS = 3,
    MODEL_AREA = 16384, /* bytes of each kind of memory */
    MODEL_LINES = 700   /* of a text */
};

enum model_kind {
    MODEL_ACCESS,
    MODEL_BARRIER,      /* of all threads */
    MODEL_WARP_BARRIER, /* of each warp */
    MODEL_PAIR_SYNC,    /* warps `a` and `b` */
    MODEL_PAIR_ARRIVE,  /* warp `a` arrives, warp `b` waits */
    MODEL_IF,           /* up to MODEL_ELSE or MODEL_END */
    MODEL_ELSE,
    MODEL_LOOP, /* `a` times */
    MODEL_END,
    MODEL_EXIT /* threads for which the condition holds end */
};

enum model_index { /* which element a thread uses */
                   MODEL_OWN,
                   MODEL_XOR,     /* thread ^ a */
                   MODEL_WRAPPED, /* (thread + a) % threads, rounded up to a power of two */
                   MODEL_LANE,
                   MODEL_WARP,
                   MODEL_ONE,    /* a */
                   MODEL_SPREAD, /* thread * a */
                   MODEL_REVERSED,
                   MODEL_SHARED_BY, /* thread / a */
                   MODEL_NEXT,      /* thread + a */
                   MODEL_TURN,      /* thread + turn of the innermost loop * a */
                   MODEL_HALVES,    /* thread % 16 + thread / 16 * a */
                   MODEL_PLACES
};

enum model_condition { MODEL_BELOW, MODEL_FROM, MODEL_BIT, MODEL_WARP_IS, MODEL_BLOCK_IS };

struct model_test {
    enum model_condition kind;
    uint32_t value;
};

struct model_statement {
    enum model_kind kind;
    bool global, write, read, atomic, constant, guarded;
    uint8_t size;
    enum model_index index;
    uint32_t a, b, offset;
    uint32_t stride; /* from block to block */
    struct model_test test;
    uint32_t line; /* of the text */
};

struct model_program {
    uint32_t blocks, threads;
    uint32_t written; /* bytes of global memory, from the first on */
    uint32_t count;
    struct model_statement statements[MODEL_STATEMENTS];
};

struct model_answer {
    bool race[MODEL_LINES][MODEL_LINES], race_some[MODEL_LINES][MODEL_LINES];
    bool init[MODEL_LINES], init_some[MODEL_LINES];
    uint32_t races, races_some, inits, inits_some;
    bool fits; /* no access leaves the memory, and the records were enough */
};

uint32_t model_element(const struct model_program *program, const struct model_statement *statement,
                       uint32_t thread, uint32_t turn);
/* Of words, and not one of 64 bits. */
bool model_is_vector(const struct model_statement *statement);
bool model_holds(const struct model_test *test, uint32_t thread, uint32_t block);
/* Only statements with a line are compared. */
void model_answer(const struct model_program *program, struct model_answer *answer);

#endif
