/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A cubin: an ELF file of machine code for one architecture.
 */
#ifndef CUSHIM_TOOLS_CUBIN_READ_H
#define CUSHIM_TOOLS_CUBIN_READ_H

#include "fatbin_read.h"

/** How many bytes the cubin at the beginning of some bytes has; 0 where there is none. */
size_t cubin_size(const char *data, size_t size);

/**
 * Read what a cubin tells of itself. Its variant, and that it has no kernel, are added; what it
 * does not tell stays as it was.
 *
 * @param head  its first bytes
 * @return false where `code->toolkit` may stand behind them; until then it is the oldest possible
 */
bool cubin_tell(const char *head, size_t size, struct fatbin_code *code);

/** The architecture of a whole cubin: 90 is sm_90. */
int cubin_architecture(const char *cubin);

/** A number that whole cubins with the same names of kernels share; never 0. */
uint64_t cubin_kernels(const char *cubin, size_t size);

#endif
