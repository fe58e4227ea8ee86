/* SPDX-License-Identifier: MIT */
/* Random elements, always the same ones, and sums over bits: for sim-wgmma and sim-mma. */
#ifndef CUSHIM_TEST_DATA_H
#define CUSHIM_TEST_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Floats have exponents near 0; exponents of a wide range; any bits; a wide range and many zeros;
 * exponents such that products nearly vanish. Integers have any bits. */
enum { DATA_MODES = 5 };

uint32_t data_next(uint64_t *state);
void data_fill(void *to, size_t bytes, const char *type, unsigned mode, uint64_t *state);
/* Metadata of sparse matrices of that type: as the ISA demands, or any bits. */
void data_fill_metadata(uint32_t *to, unsigned count, const char *type, bool ordered,
                        uint64_t *state);

/* FNV-1a: go on from a sum, of which DATA_SUM is the first. */
#define DATA_SUM UINT64_C(0xcbf29ce484222325)
uint64_t data_sum(uint64_t sum, const void *data, size_t bytes);

#endif
