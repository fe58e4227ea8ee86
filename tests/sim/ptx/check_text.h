/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_TEST_PTX_CHECK_TEXT_H
#define CUSHIM_TEST_PTX_CHECK_TEXT_H

#include <stddef.h>

#include "check_model.h"

struct check_text {
    struct model_program program;
    char text[65536];
    size_t size;
    uint32_t lines;
    bool alone; /* each warp runs by itself, and no team of them */
    /* Of the making: a seed, and how often what is chosen, out of 100. */
    uint64_t seed;
    uint32_t owners, globals, barriers, ids, barrier, offset;
    uint8_t element;
    bool atomics, pairs, full;
};

/* A program, the same for the same seed. */
void check_text_make(struct check_text *text, uint64_t seed, bool alone);

#endif
