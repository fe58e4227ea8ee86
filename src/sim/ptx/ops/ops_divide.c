/* SPDX-License-Identifier: MIT */
/* Integer division. By zero the device gives all ones, for quotient and remainder; the most
 * negative number by -1 wraps. */
#include <stddef.h>

#include "ptx/ops/exec.h"
#include "ptx/ops/ops.h"
#include "ptx/read/ir.h"

#define UNSIGNED(T, L, in, ones)                                                                   \
    OPS_2(div_##T, L, L, L, in(b) ? in(a) / in(b) : (ones))                                        \
    OPS_2(rem_##T, L, L, L, in(b) ? in(a) % in(b) : (ones))
#define SAME(x) (x)
UNSIGNED(u16, u32, ops_u16, 0xffff)
UNSIGNED(u32, u32, SAME, UINT32_MAX)
UNSIGNED(u64, u64, SAME, UINT64_MAX)

/* By -1 is negation, which C leaves undefined for the most negative number. */
#define SIGNED(T, L, U, in, out)                                                                   \
    static inline lane_##U quotient_##T(lane_##U a, lane_##U b)                                    \
    {                                                                                              \
        if (in(b) == 0)                                                                            \
            return out(-1);                                                                        \
        return in(b) == -1 ? out(0 - a) : out((lane_##U)(in(a) / in(b)));                          \
    }                                                                                              \
    static inline lane_##U remainder_##T(lane_##U a, lane_##U b)                                   \
    {                                                                                              \
        if (in(b) == 0)                                                                            \
            return out(-1);                                                                        \
        return in(b) == -1 ? 0 : out((lane_##U)(in(a) % in(b)));                                   \
    }                                                                                              \
    OPS_APPLY2(run_div_##T, quotient_##T, U, U, U)                                                 \
    OPS_APPLY2(run_rem_##T, remainder_##T, U, U, U)
#define IN32(x) ((int32_t)(x))
#define IN64(x) ((int64_t)(x))
#define OUT16(x) ops_u16((uint32_t)(x))
#define OUT32(x) ((uint32_t)(x))
#define OUT64(x) ((uint64_t)(x))
SIGNED(s16, s32, u32, ops_s16, OUT16)
SIGNED(s32, s32, u32, IN32, OUT32)
SIGNED(s64, s64, u64, IN64, OUT64)

ptx_run *ops_divide(const struct ir_insn *insn, union ptx_how *how, const char **reason)
{
    static ptx_run *const table[2][2][3] = {
        {{run_div_u16, run_div_u32, run_div_u64}, {run_div_s16, run_div_s32, run_div_s64}},
        {{run_rem_u16, run_rem_u32, run_rem_u64}, {run_rem_s16, run_rem_s32, run_rem_s64}},
    };
    const enum ops_size size = ops_size_of(insn->types[0]);
    (void)how;
    (void)reason;
    if ((insn->op != IR_DIV && insn->op != IR_REM) || size == OPS_OTHER)
        return NULL;
    return table[insn->op == IR_REM][ops_is_signed(insn->types[0])][size];
}
