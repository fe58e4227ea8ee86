/* SPDX-License-Identifier: MIT */
/* The arithmetic of mma and wgmma: 16 rows of a times 8 columns of b. */
#ifndef CUSHIM_SIM_PTX_OPS_OPS_PRODUCT_H
#define CUSHIM_SIM_PTX_OPS_OPS_PRODUCT_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/ops/how.h"
#include "ptx/ops/ops.h"

/* The rows of a and columns of b at a time, and the bytes that they have along k. */
enum { PRODUCT_ROWS = 16, PRODUCT_COLUMNS = 8, PRODUCT_BYTES = 32 };

/* Elements of a or b by their place along k, then by row of a or column of b. A float is
 * part * 2^exponent; what is not finite is 0 there. */
struct product_elements {
    unsigned count;                              /* along k */
    bool special;                                /* some are not finite */
    int32_t number[PRODUCT_BYTES][PRODUCT_ROWS]; /* integers, or words of bits */
    int32_t exponent[PRODUCT_BYTES][PRODUCT_ROWS];
    float part[PRODUCT_BYTES][PRODUCT_ROWS];
    float value[PRODUCT_BYTES][PRODUCT_ROWS]; /* if special: the part, or what is not finite */
};

typedef uint8_t product_line[PRODUCT_BYTES];    /* of a or b, along k */
typedef uint32_t product_sums[PRODUCT_COLUMNS]; /* of a row of d: bits of elements */

struct product_kind {
    uint8_t type; /* enum ir_type of the elements of a; b has the like */
    uint8_t d;    /* enum ir_type of sums */
    bool satfinite;
    bool differ; /* bits: .xor, not .and */
};

/* Take `count` rows of a, or columns of b. */
typedef void ops_product_take_of(unsigned type, bool minus, unsigned count,
                                 const product_line *lines, struct product_elements *to);
/* Add the products of `rows` rows to the sums, or if not `add`, to 0. */
typedef void ops_product_multiply_of(const struct product_kind *kind, unsigned rows,
                                     const struct product_elements *a,
                                     const struct product_elements *b, bool add,
                                     product_sums *sums);
ops_product_take_of OPS_NAME(ops_product_take);
ops_product_multiply_of OPS_NAME(ops_product_multiply);

#endif
