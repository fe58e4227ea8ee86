/* SPDX-License-Identifier: MIT */
/* The arithmetic of wgmma: 16 rows of a times 8 columns of b. */
#ifndef CUSHIM_SIM_PTX_OPS_OPS_WGMMA_H
#define CUSHIM_SIM_PTX_OPS_OPS_WGMMA_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/ops/how.h"
#include "ptx/ops/ops.h"

/* Rows of a that a warp has, columns of b at a time, and the bytes of each along k. */
enum { WGMMA_ROWS = 16, WGMMA_COLUMNS = 8, WGMMA_BYTES = 32 };

/* Elements of a or b by their place along k, then by row of a or column of b. A float is
 * part * 2^exponent; what is not finite is 0 there. */
struct wgmma_elements {
    unsigned count;                          /* along k */
    bool special;                            /* some are not finite */
    int32_t number[WGMMA_BYTES][WGMMA_ROWS]; /* integers, or words of bits */
    int32_t exponent[WGMMA_BYTES][WGMMA_ROWS];
    float part[WGMMA_BYTES][WGMMA_ROWS];
    float value[WGMMA_BYTES][WGMMA_ROWS]; /* if special: the part, or what is not finite */
};

typedef uint8_t wgmma_bytes[WGMMA_ROWS][WGMMA_BYTES];
typedef uint32_t wgmma_sums[WGMMA_ROWS][WGMMA_COLUMNS]; /* bits of elements of d */

/* Take `rows` rows of a, or columns of b. */
typedef void ops_wgmma_take_of(unsigned type, bool minus, unsigned rows, const wgmma_bytes *bytes,
                               struct wgmma_elements *to);
/* Add the products to the sums. */
typedef void ops_wgmma_multiply_of(const struct how_wgmma *how, const struct wgmma_elements *a,
                                   const struct wgmma_elements *b, bool add, wgmma_sums *sums);
ops_wgmma_take_of OPS_NAME(ops_wgmma_take);
ops_wgmma_multiply_of OPS_NAME(ops_wgmma_multiply);

#endif
