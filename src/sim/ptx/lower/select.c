/* SPDX-License-Identifier: MIT */
/* select_run: which family serves an instruction, and at which ISA level of this CPU. */
#include "ptx/lower/lower.h"

#include "ptx/texture/texture.h"

/* OPS_LEVELS: the build made the _v3 and _v4 copies of the hot families. */
enum ops_level select_best_level(void)
{
#if defined(OPS_LEVELS) && defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2")) {
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512cd"))
            return OPS_V4;
        return OPS_V3;
    }
#endif
    return OPS_BASE;
}

#if defined(OPS_LEVELS) && defined(__x86_64__)
#define HOT(stem)                                                                                  \
    {                                                                                              \
        stem##_base, stem##_v3, stem##_v4                                                          \
    }
#else
#define HOT(stem)                                                                                  \
    {                                                                                              \
        stem##_base, stem##_base, stem##_base                                                      \
    }
#endif
#define COLD(stem)                                                                                 \
    {                                                                                              \
        stem, stem, stem                                                                           \
    }

/* Asked in this order; the first that knows the instruction serves it. */
static ops_family *const families[][3] = {
    HOT(ops_int),      HOT(ops_bits),          HOT(ops_compare),     HOT(ops_convert),
    HOT(ops_approx),   COLD(ops_math),         HOT(ops_float),       HOT(ops_round),
    HOT(ops_half),     COLD(ops_half_compare), COLD(ops_cvt),        COLD(ops_carry),
    HOT(ops_divide),   HOT(ops_field),         HOT(ops_warp),        HOT(tex_select),
    COLD(surf_select), COLD(ops_video),        COLD(ops_video_simd), HOT(ops_mma),
};

/* What a family lacks of its instructions. */
static const char *reason_of(const struct ir_insn *insn)
{
    switch (insn->op) {
    case IR_CVT:
        return "a conversion between these types is not supported";
    case IR_TEX:
    case IR_TLD4:
        return insn->geometry == IR_2DMS || insn->geometry == IR_A2DMS
                   ? "multi-sample textures are not supported"
                   : "depth comparison is not supported";
    case IR_TXQ:
    case IR_SUQ:
        return "this query of a texture or surface is not supported";
    default:
        return NULL;
    }
}

ptx_run *select_at(enum ops_level level, const struct ir_insn *insn, union ptx_how *how,
                   const char **reason)
{
    ptx_run *run = NULL;

    how->insn = (struct how_insn){.of = insn};
    for (size_t i = 0; i < sizeof families / sizeof families[0] && !run; i++)
        run = families[i][level](insn, how);
    if (reason)
        *reason = run ? NULL : reason_of(insn);
    return run;
}

ptx_run *select_run(const struct ir_insn *insn, union ptx_how *how, const char **reason)
{
    return select_at(select_best_level(), insn, how, reason);
}

/* Checked launches look at each access. */
static bool is_checked(void)
{
    return check_wanted() & (PTX_CHECK_RACE | PTX_CHECK_INIT);
}

/* select_load and select_affine_load, and those of stores. */
#define SELECT(access)                                                                             \
    static struct row_runs access##_runs(enum memory_space space, enum access##_kind kind)         \
    {                                                                                              \
        static memory_row_##access##_of *const rows[] = HOT(memory_row_##access);                  \
                                                                                                   \
        return rows[select_best_level()](space, kind);                                             \
    }                                                                                              \
    ptx_run *select_##access(enum memory_space space, enum access##_kind kind)                     \
    {                                                                                              \
        ptx_run *const run = access##_runs(space, kind).run;                                       \
                                                                                                   \
        return run && !is_checked() ? run : memory_##access##_any;                                 \
    }                                                                                              \
    affine_run *select_affine_##access(enum memory_space space, enum access##_kind kind)           \
    {                                                                                              \
        const struct row_runs runs = access##_runs(space, kind);                                   \
                                                                                                   \
        return is_checked() ? runs.checked : runs.team;                                            \
    }
SELECT(load)
SELECT(store)

ptx_run *select_wgmma(void)
{
    static ptx_run *const runs[] = HOT(memory_wgmma);

    return runs[select_best_level()];
}
