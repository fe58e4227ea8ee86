/* SPDX-License-Identifier: MIT */
/* Loops over the lanes of a warp, and registers as such loops see them. */
#ifndef CUSHIM_SIM_PTX_OPS_LANES_H
#define CUSHIM_SIM_PTX_OPS_LANES_H

#include <stdint.h>

#include "ptx/ops/exec.h"

/* Registers, whatever wrote them before. */
typedef uint32_t __attribute__((may_alias)) reg32;
typedef uint64_t __attribute__((may_alias)) reg64;

/* For all lanes of `mask`: the compiler turns the first into vectors. A destination is one of the
 * sources or apart from it, never shifted against it. */
#if defined(__clang__)
#define IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define IVDEP _Pragma("GCC ivdep")
#endif
#define EACH_LANE(mask, lane, statement)                                                           \
    do {                                                                                           \
        if ((mask) == PTX_FULL) {                                                                  \
            IVDEP                                                                                  \
            for (unsigned lane = 0; lane < PTX_LANES; lane++)                                      \
                statement;                                                                         \
        } else {                                                                                   \
            FOR_LANES (lane, mask)                                                                 \
                statement;                                                                         \
        }                                                                                          \
    } while (0)

#define FOR_LANES(lane, mask)                                                                      \
    for (uint32_t lane##_left = (mask), lane = 0;                                                  \
         lane##_left && ((lane = (uint32_t)__builtin_ctz(lane##_left)), true);                     \
         lane##_left &= lane##_left - 1)

#endif
