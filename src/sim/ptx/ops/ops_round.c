/* SPDX-License-Identifier: MIT */
/* float and double arithmetic under .rz, .rm and .rp: the same loops as to nearest, run with the
 * CPU's rounding mode set. Compiled with -frounding-math; they are called by pointer, so that the
 * compiler moves nothing across the changes of mode. */
#if !defined(__x86_64__)
#include <fenv.h>
#endif

#include "ptx/ops/ops_arith.h"

#if defined(__x86_64__)
/* The vector unit's control word alone, which is much faster than fesetround. */
static unsigned enter_mode(unsigned rounding)
{
    const unsigned before = __builtin_ia32_stmxcsr();
    const unsigned mode = rounding == IR_RZ ? 0x6000 : rounding == IR_RM ? 0x2000 : 0x4000;
    __builtin_ia32_ldmxcsr((before & ~0x6000U) | mode);
    return before;
}
static void leave_mode(unsigned before)
{
    __builtin_ia32_ldmxcsr(before);
}
#else
static unsigned enter_mode(unsigned rounding)
{
    const int before = fegetround();
    fesetround(rounding == IR_RZ ? FE_TOWARDZERO : rounding == IR_RM ? FE_DOWNWARD : FE_UPWARD);
    return (unsigned)before;
}
static void leave_mode(unsigned before)
{
    fesetround((int)before);
}
#endif

static void run_rounded(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const unsigned before = enter_mode(step->how.round.rounding);
    step->how.round.run(warp, step, mask);
    leave_mode(before);
}

ptx_run *OPS_NAME(ops_round)(const struct ir_insn *insn, union ptx_how *how)
{
    if (insn->rounding < IR_RZ || insn->rounding > IR_RP)
        return NULL;
    ptx_run *run = OPS_PICK(arithmetic, insn, ops_modifiers(insn));
    if (!run)
        return NULL;
    how->round = (struct how_round){.run = run, .rounding = insn->rounding};
    return run_rounded;
}
