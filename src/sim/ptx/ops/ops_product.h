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

/* Elements of a or b by their place along k, then by row of a or column of b: those of place k
 * begin at k * rows. */
struct product_elements {
    unsigned count; /* along k */
    unsigned rows;
    bool special; /* some are not finite */
    bool far;     /* the exponents of some are so large or small that a product is no float */
    int32_t number[PRODUCT_BYTES * PRODUCT_ROWS];   /* integers, words of bits, or bits of floats */
    int32_t exponent[PRODUCT_BYTES * PRODUCT_ROWS]; /* of floats */
};

typedef uint8_t product_line[PRODUCT_BYTES];    /* of a or b, along k */
typedef uint32_t product_sums[PRODUCT_COLUMNS]; /* of a row of d: bits of elements */

/* How a or b are read. */
struct product_side {
    uint8_t type;  /* enum ir_type of elements */
    uint8_t bytes; /* of a line */
    bool minus;
    bool as_f16; /* e4m3: subnormals have the exponents that they have as f16 */
};

struct product_kind {
    uint8_t type; /* enum ir_type of the elements of a; b has the like */
    uint8_t d;    /* enum ir_type of sums */
    bool satfinite;
    bool differ; /* bits: .xor, not .and */
    bool narrow; /* sums of fewer bits, as wgmma has of floats of 8 bits */
};

/* Take `count` rows of a, or columns of b. */
typedef void ops_product_take_of(const struct product_side *side, unsigned count,
                                 const product_line *lines, struct product_elements *to);
/* Add the products of `rows` rows to the sums, or if not `add`, to 0. */
typedef void ops_product_multiply_of(const struct product_kind *kind, unsigned rows,
                                     const struct product_elements *a,
                                     const struct product_elements *b, bool add,
                                     product_sums *sums);
ops_product_take_of OPS_NAME(ops_product_take);
ops_product_multiply_of OPS_NAME(ops_product_multiply);

#endif
