/* SPDX-License-Identifier: MIT */
/* Runs one instruction on a warp of its own, at every ISA level of this CPU, and compares each lane
 * with a reference that knows one lane only. */
#ifndef CUSHIM_TEST_OPS_HARNESS_H
#define CUSHIM_TEST_OPS_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above. */
#include <cmocka.h>

#include "ptx/lower/lower.h"
#include "ptx/ops/exec.h"
#include "ptx/ops/ops.h"
#include "ptx/ops/ops.h"

/* Sources in, result out; predicates are 0 or 1. `out[1]` is a second destination. */
typedef void reference(const uint64_t in[4], uint64_t out[2]);

struct op_case {
    const char *name;
    /* Destinations, a colon, sources: 2, 4, 8 bytes, p a predicate, i an immediate, which is no
     * operand of the run function. */
    const char *shape;
    reference *expect;
    struct ir_insn insn;
    bool any_nan; /* floats of the destination's size: NaNs of any sign and payload are equal */
};

void check_ops(const struct op_case *cases, size_t count);
#define CHECK(cases) check_ops(cases, sizeof(cases) / sizeof(cases)[0])

/* A warp for tests that set up more than a table can say. */
struct test_warp {
    struct ptx_warp warp;
    struct ptx_step step;
    uint64_t registers[16][PTX_LANES];
    uint32_t predicates[16];
};
void warp_reset(struct test_warp *test);
uint64_t random_bits(void);
uint64_t interesting(unsigned size);
/* What the last run function reported, and then forget it. */
enum ptx_fault_kind take_fault(void);
extern const struct ptx_world *test_world;

#endif
