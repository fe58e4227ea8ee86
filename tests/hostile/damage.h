/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Damages a library's file: its headers, its dynamic section, its tables, or any bytes. A seed
 * gives the same damage again.
 */
#ifndef CUSHIM_TESTS_HOSTILE_DAMAGE_H
#define CUSHIM_TESTS_HOSTILE_DAMAGE_H

#include <stddef.h>
#include <stdint.h>

struct damage_file {
    unsigned char *bytes; /* from malloc; room for DAMAGE_MORE bytes more than `size` */
    size_t size;
};

enum { DAMAGE_MORE = 1024 };

/** One to three damages. @param text  says which, for a report */
void damage_make(struct damage_file *file, uint64_t seed, char *text, size_t size);

#endif
