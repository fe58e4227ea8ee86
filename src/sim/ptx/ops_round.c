/* SPDX-License-Identifier: MIT */
/* float and double arithmetic under .rz, .rm and .rp: the same loops as to nearest, run with the
 * CPU's rounding mode set. Compiled with -frounding-math; memory is read and written between the
 * two changes of mode, which are calls that the compiler cannot see through. */
#include <fenv.h>

#include "ops_arith.h"

/* step->extra: the function to run, as it was selected; step->detail: enum ir_rounding. */
static void run_rounded(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    ptx_run *const run = (ptx_run *)(uintptr_t)step->extra;
    const int mode = step->detail == IR_RZ   ? FE_TOWARDZERO
                     : step->detail == IR_RM ? FE_DOWNWARD
                                             : FE_UPWARD;
    const int before = fegetround();
    fesetround(mode);
    run(warp, step, mask);
    fesetround(before);
}

ptx_run *OPS_NAME(ops_round)(const struct ir_insn *insn, struct ptx_step *step, const char **reason)
{
    ptx_run *const run = arith_select(insn);
    (void)reason;
    if (!run || insn->rounding < IR_RZ || insn->rounding > IR_RP)
        return NULL;
    step->detail = insn->rounding;
    step->extra = (uintptr_t)run;
    return run_rounded;
}
