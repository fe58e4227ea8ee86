/* SPDX-License-Identifier: MIT */
/* The reader: which instructions which targets and versions have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/ptx.h"
#include "ptx/read/ir.h"
#include "ptx/read/read.h"

#define LAST ""
#define WGMMA(types, d, rest) "wgmma.mma_async.sync.aligned." types " " d ", " rest ";"
#define WGMMA_4 "{%f1, %f2, %f3, %f4}"
#define WGMMA_8 "{%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}"
#define WGMMA_20                                                                                   \
    "{%r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, "  \
    "%r1, %r1}"
#define SPARSE(types, d, a, rest)                                                                  \
    "mma.sp.sync.aligned." types " " d ", " a ", " a ", " d ", " rest ";"
#define SPARSE_2 "{%r1, %r2}"
#define SPARSE_4 "{%r1, %r2, %r3, %r4}"
#define SPARSE_SUM "{%f1, %f2, %f3, %f4}"
#define WGMMA_SPARSE(types, rest)                                                                  \
    "wgmma.mma_async.sp.sync.aligned." types " " SPARSE_4 ", %d1, %d2, %r5, " rest ";"
static const struct target_case {
    const char *insn;
    const char *good[8], *bad[12]; /* ".version target" */
} target_cases[] = {
    {"add.rz.ftz.f32x2 %d1, %d2, %d3; fma.rn.f32x2 %d1, %d2, %d3, %d4;",
     {"8.6 sm_100", "8.6 sm_100a", "9.0 sm_103", "9.0 sm_110f", "9.0 sm_120", LAST},
     {"8.5 sm_100", "9.0 sm_90", "9.0 sm_90a", LAST}},
    {"add.f32.f16 %f1, %h1, %f2; sub.rp.sat.f32.bf16 %f1, %h1, %f2;",
     {"8.6 sm_100", "9.0 sm_103a", "9.0 sm_121", LAST},
     {"8.5 sm_100", "9.0 sm_90", LAST}},
    {"fma.rm.sat.f32.bf16 %f1, %h1, %h2, 0f3F800000;", {"8.6 sm_100", LAST}, {"9.0 sm_90", LAST}},
    {"redux.sync.min.abs.NaN.f32 %f1, %f2, -1; redux.sync.max.f32 %f1, %f2, %r1;",
     {"8.6 sm_100a", "8.8 sm_100f", "9.0 sm_103a", "9.0 sm_103f", LAST},
     {"8.6 sm_100", "9.0 sm_103", "9.0 sm_110a", "9.0 sm_120a", "9.0 sm_121f", "9.0 sm_90a", LAST}},
    {"cvt.rs.relu.satfinite.f16x2.f32 %r1, %f1, %f2, %r3; cvt.rs.bf16x2.f32 %r1, %f1, %f2, %r3;",
     {"8.7 sm_100a", "9.0 sm_103a", LAST},
     {"8.6 sm_100a", "8.8 sm_100f", "9.0 sm_103f", "9.0 sm_100", "9.0 sm_110a", "9.0 sm_120a",
      LAST}},
    {"cvt.rn.satfinite.relu.e2m1x2.f32 %c1, %f1, %f2; cvt.rn.relu.f16x2.e2m1x2 %r1, %c1;",
     {"8.6 sm_100a", "8.8 sm_100f", "9.0 sm_103f", "9.0 sm_110a", "8.7 sm_120a", LAST},
     {"8.5 sm_100a", "9.0 sm_100", "9.0 sm_90a", LAST}},
    {"cvt.rn.satfinite.e2m3x2.f32 %h1, %f1, %f2; cvt.rn.f16x2.e3m2x2 %r1, %h1;",
     {"8.6 sm_100a", "8.8 sm_120f", LAST},
     {"9.0 sm_120", "9.0 sm_90a", LAST}},
    {"sured.p.min.1d.b64.trap [%d1, {%r1}], %d2; sured.p.max.1d.b64.zero [%d1, {%r1}], %d2;",
     {"8.1 sm_50", "9.0 sm_90", LAST},
     {"8.0 sm_50", "8.1 sm_30", LAST}},
    {"cvt.pack.sat.s2.s32.b32 %r1, %r2, %r3, 0; cvt.pack.sat.u4.s32.b32 %r1, 5, %r3, %r4;",
     {"6.5 sm_75", "9.0 sm_120", LAST},
     {"6.4 sm_75", "6.5 sm_70", LAST}},
    {"wgmma.fence.sync.aligned; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync 7;",
     {"8.0 sm_90a", "9.0 sm_90a", LAST},
     {"7.8 sm_90a", "8.0 sm_90", "8.6 sm_100a", "9.0 sm_103f", "9.0 sm_120a", LAST}},
    {WGMMA("m64n8k16.f32.f16.f16", WGMMA_4, "%d1, %d2, %p1, 1, -1, 0, 1")
         WGMMA("m64n16k16.f16.f16.f16", "{%r1, %r2, %r3, %r4}", "%d1, 64, !%p1, -1, -1, 1, 1")
             WGMMA("m64n8k16.f32.bf16.bf16", WGMMA_4, "{%r1, %r2, %r3, %r4}, %d2, 1, 1, 1, 0")
                 WGMMA("m64n16k8.f32.tf32.tf32", WGMMA_8, "%d1, %d2, %p1, 1, 1")
                     WGMMA("m64n8k32.f32.e4m3.e5m2", WGMMA_4, "%d1, %d2, 0, 1, 1")
                         WGMMA("m64n16k32.f16.e5m2.e4m3", "{%r1, %r2, %r3, %r4}",
                               "{%r1, %r2, %r3, %r4}, %d2, 0, 1, 1")
                             WGMMA("m64n8k32.satfinite.s32.s8.s8", "{%r1, %r2, %r3, %r4}",
                                   "%d1, %d2, 0") WGMMA("m64n8k256.s32.b1.b1.and.popc",
                                                        "{%r1, %r2, %r3, %r4}", "%d1, %d2, 0"),
     {"8.0 sm_90a", LAST},
     {"7.8 sm_90a", "8.0 sm_90", "8.6 sm_100a", LAST}},
    {WGMMA("m64n8k32.s32.s8.u8", "{%r1, %r2, %r3, %r4}", "%d1, %d2, %p1"),
     {"8.4 sm_90a", LAST},
     {"8.3 sm_90a", "8.4 sm_90", LAST}},
    {SPARSE("m16n8k16.row.col.f32.f16.f16.f32", SPARSE_SUM, SPARSE_2,
            "%r5, 3") SPARSE("m16n8k32.row.col.f32.bf16.bf16.f32", SPARSE_SUM, SPARSE_4, "%f5, 1")
         SPARSE("m16n8k8.row.col.f32.tf32.tf32.f32", SPARSE_SUM, SPARSE_2, "%r5, 3")
             SPARSE("m16n8k16.row.col.f32.tf32.tf32.f32", SPARSE_SUM, SPARSE_4, "%r5, 1")
                 SPARSE("m16n8k32.row.col.satfinite.s32.s8.u8.s32", SPARSE_4, SPARSE_2, "%r5, 1")
                     SPARSE("m16n8k64.row.col.s32.u8.u8.s32", SPARSE_4, SPARSE_4, "%r5, 0") SPARSE(
                         "m16n8k64.row.col.s32.s4.u4.s32", SPARSE_4, SPARSE_2, "%r5, 1")
                         SPARSE("m16n8k128.row.col.s32.u4.s4.s32", SPARSE_4, SPARSE_4, "%r5, 0"),
     {"7.1 sm_80", "8.0 sm_90", LAST},
     {"7.0 sm_80", "7.1 sm_75", LAST}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 " SPARSE_2
     ", " SPARSE_2 ", " SPARSE_2 ", " SPARSE_2 ", %r5, 0;",
     {"8.5 sm_80", LAST},
     {"8.4 sm_80", LAST}},
    {SPARSE("m16n8k64.row.col.f32.e4m3.e5m2.f32", SPARSE_SUM, SPARSE_4, "%r5, 0"),
     {"8.4 sm_89", LAST},
     {"8.3 sm_90", "8.4 sm_80", LAST}},
    {WGMMA_SPARSE("m64n8k32.f32.f16.f16", "1, %p1, 1, -1, 0, 1")
         WGMMA_SPARSE("m64n16k32.f16.f16.f16", "0, %p1, 1, -1, 0, 1")
             WGMMA_SPARSE("m64n8k16.f32.tf32.tf32", "1, 1, 1, 1")
                 WGMMA_SPARSE("m64n8k64.f32.e4m3.e5m2", "0, !%p1, 1, 1")
                     WGMMA_SPARSE("m64n8k64.s32.s8.s8.satfinite", "0, %p1"),
     {"8.2 sm_90a", LAST},
     {"8.1 sm_90a", "8.2 sm_90", LAST}},
    {WGMMA_SPARSE("m64n8k64.s32.s8.u8", "0, %p1"), {"8.4 sm_90a", LAST}, {"8.3 sm_90a", LAST}},
    /* Nowhere. */
    {SPARSE("m16n8k32.row.col.f32.f16.f16.f32", SPARSE_SUM, SPARSE_4, "%r5, 2"),
     {LAST},
     {"9.0 sm_90a", LAST}},
    {SPARSE("m16n8k64.row.col.s32.u8.u8.s32", SPARSE_4, SPARSE_4, "%r5, 1"),
     {LAST},
     {"9.0 sm_90a", LAST}},
    {SPARSE("m16n8k16.row.row.f32.f16.f16.f32", SPARSE_SUM, SPARSE_2, "%r5, 0"),
     {LAST},
     {"9.0 sm_90a", LAST}},
    {SPARSE("m16n8k16.row.col.f32.f16.f16.f32", SPARSE_SUM, SPARSE_2, "%h5, 0"),
     {LAST},
     {"9.0 sm_90a", LAST}},
    {SPARSE("m16n8k16.row.col.f32.f16.f16.f32", SPARSE_SUM, SPARSE_2, "%r5, %r6"),
     {LAST},
     {"9.0 sm_90a", LAST}},
    {SPARSE("m16n8k16.row.col.f32.f16.f16.f32", SPARSE_SUM, SPARSE_2, "5, 0"),
     {LAST},
     {"9.0 sm_90a", LAST}},
    {SPARSE("m16n8k16.row.col.f32.f16.f16.f32", SPARSE_SUM, SPARSE_2, "%r5"),
     {LAST},
     {"9.0 sm_90a", LAST}},
    {WGMMA_SPARSE("m64n8k32.f32.f16.f16", "2, %p1, 1, 1, 0, 1"), {LAST}, {"9.0 sm_90a", LAST}},
    {WGMMA_SPARSE("m64n8k64.f32.e4m3.e5m2", "1, %p1, 1, 1"), {LAST}, {"9.0 sm_90a", LAST}},
    {WGMMA_SPARSE("m64n8k16.f32.f16.f16", "1, %p1, 1, 1, 0, 1"), {LAST}, {"9.0 sm_90a", LAST}},
    {WGMMA_SPARSE("m64n8k32.f32.f16.f16", "%p1, 1, 1, 0, 1"), {LAST}, {"9.0 sm_90a", LAST}},
    {WGMMA("m64n40k32.s32.s8.s8", WGMMA_20, "%d1, %d2, %p1"), {LAST}, {"9.0 sm_90a", LAST}},
    {WGMMA("m64n40k32.f32.e4m3.e4m3", WGMMA_8, "%d1, %d2, %p1, 1, 1"),
     {LAST},
     {"9.0 sm_90a", LAST}},
    {WGMMA("m64n8k256.s32.b1.b1.xor.popc", "{%r1, %r2, %r3, %r4}", "%d1, %d2, 0"),
     {LAST},
     {"9.0 sm_90a", LAST}},
    {WGMMA("m64n12k16.f32.f16.f16", WGMMA_4, "%d1, %d2, %p1, 1, 1, 0, 0"),
     {LAST},
     {"9.0 sm_90a", LAST}},
    {WGMMA("m64n8k16.f16.bf16.bf16", "{%r1, %r2}", "%d1, %d2, %p1, 1, 1, 0, 0"),
     {LAST},
     {"9.0 sm_90a", LAST}},
    {WGMMA("m64n8k16.f32.f16.f16", WGMMA_4, "%d1, %d2, %p1, 2, 1, 0, 0"),
     {LAST},
     {"9.0 sm_90a", LAST}},
    {WGMMA("m64n8k16.f32.f16.f16", WGMMA_4, "%d1, %d2, %p1, 1, 1, 0, -1"),
     {LAST},
     {"9.0 sm_90a", LAST}},
    {WGMMA("m64n8k16.f32.f16.f16", WGMMA_4, "{%r1, %r2, %r3, %r4}, %d2, %p1, 1, 1, 0, 0"),
     {LAST},
     {"9.0 sm_90a", LAST}},
    {WGMMA("m64n8k8.f32.tf32.tf32", WGMMA_4, "%d1, %d2, %p1, 1, 1, 0, 0"),
     {LAST},
     {"9.0 sm_90a", LAST}},
    {WGMMA("m64n8k16.f32.f16.f16", "{%f1, %f2, %f3, _}", "%d1, %d2, %p1, 1, 1, 0, 0"),
     {LAST},
     {"9.0 sm_90a", LAST}},
    {"wgmma.wait_group.sync.aligned -1;", {LAST}, {"9.0 sm_90a", LAST}},
    {"wgmma.wait_group.sync.aligned;", {LAST}, {"9.0 sm_90a", LAST}},
    {"add.sat.f32x2 %d1, %d2, %d3;", {LAST}, {"9.0 sm_100a", LAST}},
    {"cvt.rn.e2m1x2.f32 %c1, %f1, %f2;", {LAST}, {"9.0 sm_100a", LAST}},
    {"cvt.rn.satfinite.e2m1x2.f32 %h1, %f1, %f2;", {LAST}, {"9.0 sm_100a", LAST}},
    {"add.f32x2 %d1, %d2, 0;", {LAST}, {"9.0 sm_100a", LAST}},
    {"add.f32x2 %e1, %e2, %e3;", {LAST}, {"9.0 sm_100a", LAST}},
    {"fma.f32x2 %d1, %d2, %d3, %d4;", {LAST}, {"9.0 sm_100a", LAST}},
    {".reg .f32x2 %x;", {LAST}, {"9.0 sm_100a", LAST}},
    {"add.ftz.f32.f16 %f1, %h1, %f2;", {LAST}, {"9.0 sm_100a", LAST}},
    {"mul.f32.f16 %f1, %h1, %f2;", {LAST}, {"9.0 sm_100a", LAST}},
    {"redux.sync.add.f32 %f1, %f2, -1;", {LAST}, {"9.0 sm_100a", LAST}},
    {"redux.sync.min.abs.s32 %r1, %r2, -1;", {LAST}, {"9.0 sm_100a", LAST}},
    {"cvt.rs.bf16x2.f32 %r1, %f1, %f2, 5;", {LAST}, {"9.0 sm_100a", LAST}},
    {"cvt.rs.f16.f32 %h1, %f1, %r3;", {LAST}, {"9.0 sm_100a", LAST}},
    {"cvt.pack.sat.u4.s32 %r1, %r2, %r3;", {LAST}, {"9.0 sm_100a", LAST}},
    {"cvt.pack.u4.s32.b32 %r1, %r2, %r3, %r4;", {LAST}, {"9.0 sm_100a", LAST}},
    {"sust.p.2d.v4.f32.trap [%d1, {%r1, %r2}], {%f1, %f2, %f3, %f4};", {LAST}, {"9.0 sm_90", LAST}},
    {"sust.p.1d.b32 [%d1, {%r1}], {%r2};", {LAST}, {"9.0 sm_90", LAST}},
    {"sured.p.add.1d.b64.trap [%d1, {%r1}], %d2;", {LAST}, {"9.0 sm_90", LAST}},
    {"sured.p.add.a1d.b32.trap [%d1, {%r1, %r2}], %r2;", {LAST}, {"9.0 sm_90", LAST}},
};

static void check_target_case(const char *insn, const char *target, enum ptx_status want)
{
    char text[2000];
    unsigned major, minor, number;
    struct ptx_text errors = {0};
    enum ptx_status status = PTX_OK;
    assert_int_equal(sscanf(target, "%u.%u sm_%u", &major, &minor, &number), 3);
    snprintf(text, sizeof text,
             ".version %u.%u\n.target %s\n.address_size 64\n.entry k() {\n"
             ".reg .b16 %%h<9>; .reg .b32 %%r<9>; .reg .b64 %%d<9>; .reg .f32 %%f<9>; "
             ".reg .f64 %%e<9>; .reg .b8 %%c<9>; .reg .pred %%p<9>;\n%s\nret; }",
             major, minor, strchr(target, ' ') + 1, insn);
    struct ptx_options options = {.version = 900, .architecture = number};
    struct ptx_source source = {.text = text, .size = strlen(text)};
    struct ir_module *module = parse_module_read(&options, &source, 1, &errors, NULL, &status);
    if (status != want)
        fail_msg("%s: status %d\n%s\n%s", target, status, text,
                 errors.data ? errors.data : "no message");
    parse_module_free(module);
    ptx_text_free(&errors);
}

static void targets(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof target_cases / sizeof *target_cases; i++) {
        const struct target_case *one = &target_cases[i];
        for (unsigned t = 0; *one->good[t] != '\0'; t++)
            check_target_case(one->insn, one->good[t], PTX_OK);
        for (unsigned t = 0; *one->bad[t] != '\0'; t++)
            check_target_case(one->insn, one->bad[t], PTX_INVALID);
    }
}

/* Each instruction of a kernel with this variable. */
static void check_each(const char *variable, const char *const *instructions, size_t count,
                       enum ptx_status expected)
{
    for (size_t i = 0; i < count; i++) {
        char text[200];
        snprintf(text, sizeof text, "%s %s", variable, instructions[i]);
        check_target_case(text, "8.0 sm_90", expected);
    }
}

/* Where ptxas takes an element of an array, and which index. */
static void elements(void **state)
{
    static const char *const good[] = {
        "ld.local.b32 %r1, x[%r2];",     "st.local.b32 x[%d2], %r2;", "ld.b32 %r1, x[%h1];",
        "ld.local.b32 %r1, x[%c1 + 1];", "mov.b32 %r1, x[%r2];",      "mov.b64 %d1, x[2];",
        "cvta.local.u64 %d1, x[%r2];",
    };
    static const char *const bad[] = {
        "ld.local.b32 %r1, x[%f1];",     "ld.local.b32 %r1, x[%p1];",
        "ld.local.b32 %r1, x[1 + %r2];", "ld.local.b32 %r1, x[%r1 + %r2];",
        "ld.local.b32 %r1, x[%tid];",    "ld.local.b32 %r1, x[%r1][1];",
        "ld.local.b32 %r1, [x[%r1]];",   "ld.local.b32 %r1, [x + %r1];",
        "ld.local.b32 %r1, %r2[%r1];",   "add.u64 %d1, %d2, x[%r1];",
        "add.u64 %d1, %d2, x[1];",       "prefetch.local.L1 x[1];",
        "red.add.u32 x[1], 1;",          "ld.local.b32 %r1, x[nothing];",
    };
    (void)state;
    check_each(".local .b32 x[4];", good, sizeof good / sizeof *good, PTX_OK);
    check_each(".local .b32 x[4];", bad, sizeof bad / sizeof *bad, PTX_INVALID);
}

/* ptxas wants the words of a name first and in order, and what qualifies it in any. */
static void orders(void **state)
{
    static const char *const good[] = {
        "cp.async.mbarrier.arrive.b64.noinc [x];",
        "cp.async.bulk.wait_group.read 0;",
        "barrier.aligned.sync 0;",
        "barrier.cta.aligned.sync 0;",
        "barrier.cluster.arrive.aligned.release;",
        "bar.red.u32.popc %r1, 0, %p1;",
        "mbarrier.init.b64.shared [x], 1;",
        "mbarrier.arrive.expect_tx.b64.shared %d1, [x], 1;",
        "mbarrier.arrive.b64.release.shared.cta %d1, [x];",
        "fence.proxy.global.async;",
        "createpolicy.fractional.b64.L2::evict_last %d1;",
        "cvta.to.u64.shared %d1, %d2;",
        "mad.lo.u32.cc %r1, %r2, %r3, %r4;",
        "shf.l.b32.wrap %r1, %r2, %r3, %r4;",
        "shfl.b32.idx.sync %r1, %r2, 1, 2, 3;",
        "cvta.shared.u64 %d1, x;",
    };
    static const char *const bad[] = {
        "cp.async.mbarrier.noinc.arrive.b64 [x];",
        "cp.async.bulk.read.wait_group 0;",
        "cp.commit_group.async;",
        "barrier.aligned.arrive 0, 32;",
        "barrier.sync.cta.aligned 0;",
        "barrier.cluster.release.arrive.aligned;",
        "bar.popc.red.u32 %r1, 0, %p1;",
        "bar.sync.cta 0;",
        "mbarrier.shared.init.b64 [x], 1;",
        "mbarrier.arrive.shared.expect_tx.b64 %d1, [x], 1;",
        "mbarrier.release.arrive.shared.cta.b64 %d1, [x];",
        "fence.async.proxy.global;",
        "createpolicy.L2::evict_last.fractional.b64 %d1;",
        "cvta.shared.to.u64 %d1, %d2;",
        "mul.u32.lo %r1, %r2, %r3;",
        "mad.cc.lo.u32 %r1, %r2, %r3, %r4;",
        "shf.wrap.l.b32 %r1, %r2, %r3, %r4;",
        "div.f32.full %f1, %f2, %f3;",
        "cvta.global.u64 %d1, x;",
        "cvta.const.u64 %d1, x+4;",
    };
    (void)state;
    check_each(".shared .b64 x;", good, sizeof good / sizeof *good, PTX_OK);
    check_each(".shared .b64 x;", bad, sizeof bad / sizeof *bad, PTX_INVALID);
}

/* A program alone has the variables that it declares with a size, and the log says so. */
static void declared(void **state)
{
    static const char *const variables[] = {"x[4]", "x", "x[]"};
    static const char *const spaces[] = {"global", "const", "shared"};
    (void)state;
    for (size_t i = 0; i < 9; i++) {
        char text[300];
        struct ptx_text errors = {0}, info = {0};
        enum ptx_status status = PTX_OK;
        bool sized = i / 3 < 2, launch = i == 8; /* of shared memory a launch may give the size */
        snprintf(text, sizeof text,
                 ".version 8.0\n.target sm_90\n.address_size 64\n.extern .%s .b32 %s;\n"
                 ".extern .%s .b32 y[2];\n.entry k() { .reg .b64 d; mov.u64 d, x; ret; }",
                 spaces[i % 3], variables[i / 3], spaces[i % 3]);
        struct ptx_options options = {.version = 900, .architecture = 90};
        struct ptx_source source = {.text = text, .size = strlen(text)};
        struct ir_module *module = parse_module_read(&options, &source, 1, &errors, &info, &status);
        assert_int_equal(status, sized || launch ? PTX_OK : PTX_UNRESOLVED);
        if (status == PTX_OK) {
            assert_true(!strstr(info.data, "variable 'x'") == !sized);
            assert_non_null(strstr(info.data, "variable 'y'"));
        }
        parse_module_free(module);
        ptx_text_free(&errors);
        ptx_text_free(&info);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets),
        cmocka_unit_test(elements),
        cmocka_unit_test(orders),
        cmocka_unit_test(declared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
