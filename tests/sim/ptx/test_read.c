/* SPDX-License-Identifier: MIT */
/* The reader: what is accepted, what is refused with which words on which line, and what a module
 * holds afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dump.h"
#include "ptx/ptx.h"
#include "ptx/read/ir.h"
#include "ptx/read/read.h"

#define HEAD ".version 8.4\n.target sm_90\n.address_size 64\n"
/* The beginning of one for sm_90a, in a newer version; its first statement is on line 8. */
#define HEAD_NEW                                                                                   \
    ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n"                     \
    ".reg .b32 %r<9>; .reg .b64 %d<9>;\n.shared .align 16 .b8 sh[64];\n"
/* A kernel around statements; the first of them is on line 8. */
#define BODY(text)                                                                                 \
    HEAD ".visible .entry k(.param .u64 p, .param .align 8 .b8 q[16])\n{\n"                        \
         ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; "  \
         ".reg .f64 %e<4>;\n"                                                                      \
         ".shared .align 16 .b8 sh[64]; .local .align 8 .b8 lo[32]; .global .b32 gv; "             \
         ".const .b32 cv;\n" text "\nL: ret;\n}\n"

struct reading_case {
    const char *text;
    enum ptx_status status;
    unsigned line;     /* of the first message */
    const char *words; /* in it; NULL: none */
};

static struct ir_module *read_text(const char *text, struct ptx_text *errors,
                                   enum ptx_status *status)
{
    struct ptx_options options = {.version = 900, .architecture = 90};
    struct ptx_source source = {
        .name = "application ptx input", .text = text, .size = strlen(text)};
    return parse_module_read(&options, &source, 1, errors, NULL, status);
}

static enum ptx_status compile_text(const char *text)
{
    struct ptx_options options = {.version = 900, .architecture = 90};
    struct ptx_source source = {.text = text, .size = strlen(text)};
    struct ptx_module *module = NULL;
    enum ptx_status status = ptx_compile(&options, &source, 1, NULL, NULL, &module);
    ptx_module_release(module);
    return status;
}

static void check_case(const struct reading_case *one)
{
    struct ptx_text errors = {0};
    enum ptx_status status = PTX_OK;
    char line[32];
    struct ir_module *module = read_text(one->text, &errors, &status);
    if (module && one->status == PTX_UNSUPPORTED) {
        parse_module_free(module); /* told when the only kernel turns out not to run */
        module = NULL;
        status = compile_text(one->text);
    }
    snprintf(line, sizeof line, "line %u; ", one->line);
    bool good = status == one->status && (status == PTX_OK) == !!module;
    if (one->words)
        good = good && errors.data && strstr(errors.data, one->words);
    if (one->line != 0)
        good = good && errors.data && strstr(errors.data, line);
    if (!good)
        fail_msg("status %d, %d expected, with '%s' on line %u\n%s\n%s", status, one->status,
                 one->words ? one->words : "", one->line, errors.data ? errors.data : "no message",
                 one->text);
    parse_module_free(module);
    ptx_text_free(&errors);
}

static const struct reading_case good_cases[] = {
    {BODY("add.s32.sat %r1, %r2, -1; add .u32 %r1, %r2, 0x7U;"), PTX_OK, 0, NULL},
    {BODY("fma.rn.ftz.f32 %f1, %f2, 0f3F800000, 1.5; add.f64 %e1, %e2, 0d3FF0000000000000;"),
     PTX_OK, 0, NULL},
    {BODY("setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3; @!%p1 bra L; bra.uni L;"), PTX_OK, 0, NULL},
    {BODY("ld.global.u8 %d1, [%d2+-4]; ld.shared.v4.b32 {%r1, _, %r2, %r3}, [sh+4*4];"), PTX_OK, 0,
     NULL},
    {BODY("mov.b64 {%r1, _}, %d1; mov.b64 %d1, {%r1, 5}; mov.u64 %d1, gv+4; mov.u32 %r1, sh;"),
     PTX_OK, 0, NULL},
    {BODY("mov.u32 %r1, (5 > 3 ? 010 : 2) | 0b101 << 4; mov.u32 %r2, WARP_SZ;"), PTX_OK, 0, NULL},
    {BODY("{ .reg .b32 x; { .reg .b64 x; mov.u64 x, %clock64; } mov.u32 x, %tid.w; }"), PTX_OK, 0,
     NULL},
    {BODY("{ bra IN; IN: bra OUT; } OUT: exit;"), PTX_OK, 0, NULL},
    {BODY("T: .branchtargets L, M; brx.idx %r1, T; M: trap;"), PTX_OK, 0, NULL},
    {BODY(".reg .v4 .f32 v; tex.2d.v4.f32.f32 v|%p1, [%d1, {%f1, %f2}]; mov.f32 %f1, v.w;"), PTX_OK,
     0, NULL},
    {BODY("cp.async.ca.shared.global [sh], [%d1], 8; cp.async.wait_all;"), PTX_OK, 0, NULL},
    {BODY("suld.b.1d.b32.trap {%r1}, [%d1, {%r2}]; sust.b.1d.b32.zero [%d1, %r1], {7};"), PTX_OK, 0,
     NULL},
    {BODY("ld.global.b32 {%r1}, [%d1]; st.global.f32 [%d1], {%f1};"), PTX_OK, 0, NULL},
    {BODY("sust.p.2d.v4.b32.clamp [%d1, {%r1, %r2}], {%f1, 0f3F800000, %r1, 4}; "
          "sured.p.or.1d.b32.trap [%d1, %r1], 5;"),
     PTX_OK, 0, NULL},
    {BODY("vadd.u32.s32.u32.sat.min %r1, %r2.b3, %r3.h1, %r4; vset4.u32.u32.lt %r1, %r2.b7654, "
          "%r3, %r4;"),
     PTX_OK, 0, NULL},
    {BODY("st.shared.v2.s32 [sh], {%f1, %r1}; isspacep.global %p1, 1; cvt.s16.u8 %h1, %smid; "
          "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2]; mov.u16 %h1, %gridid;"),
     PTX_OK, 0, NULL},
    {BODY(".reg .b32 %r; mov.b32 %r, %r1; setp.lt.s32 _, %r1, %r2;"), PTX_OK, 0, NULL},
    {BODY(".loc 1 2 3, function_name $L__x+4, inlined_at 1 2 3\n.pragma \"nounroll\";"), PTX_OK, 0,
     NULL},
    {HEAD ".section .debug_info { .b32 1 $L: .b8 2, 3 .b64 x+4 }\n.file 1 \"a.cu\", 5, 6\n", PTX_OK,
     0, NULL},
    {HEAD ".global .f32 m[][2] = { {1.0, -0f40000000}, {2.5} }; .global .u64 a[2] = { m+4, "
          "generic(m) }; .global .u8 b[2] = { 0xFF(m), 0xFF00(m) };",
     PTX_OK, 0, NULL},
    {HEAD ".global .b8 b = 1.5; .global .b16 h = 0f3F8CCCCD; .global .f16 f[2] = {};", PTX_OK, 0,
     NULL},
    {HEAD ".global .b8 g; .global .u32 a = 0xFF00(g); .func f(.param .align 128 .b32 a) { ret; }",
     PTX_OK, 0, NULL},
    {HEAD ".func (.reg .f32 r) f(.reg .f32 a) { add.f32 r, a, a; ret; }", PTX_OK, 0, NULL},
    {HEAD ".entry k() .maxntid 32, 2, 1 .minnctapersm 2 .reqnctapercluster 2 { }", PTX_OK, 0, NULL},
    {".version 1.4\n.target sm_10, map_f64_to_f32\n"
     ".entry k (\n.param .u64 __cudaparm_k_p)\n{\n.reg .u16 %rh<4>;\n.reg .u32 %r<6>;\n"
     ".reg .u64 %rd<6>;\n.loc 14 1 0\n$LBB1_k:\nmov.u16 %rh1, %ctaid.x;\n"
     "mov.u16 %rh2, %ntid.x;\nmul.wide.u16 %r1, %rh1, %rh2;\ncvt.u32.u16 %r2, %tid.x;\n"
     "add.u32 %r3, %r2, %r1;\nmul24.lo.u32 %r4, %r3, %r2;\n"
     "ld.param.u64 %rd1, [__cudaparm_k_p];\ncvt.u64.s32 %rd2, %r3;\n"
     "mul.lo.u64 %rd3, %rd2, 4;\nadd.u64 %rd4, %rd1, %rd3;\n"
     "st.global.u32 [%rd4+0], %r4;\nexit;\n$LDWend_k:\n}",
     PTX_OK, 0, NULL},
    {".version 1.0\n.target sm_10\n.address_size 64\n", PTX_INVALID, 3, ".version 2.3"},
    {".version 1.0\n.target sm_12\n", PTX_INVALID, 2, "does not support"},
    {".version 3.2\n.target sm_20, debug\n.entry k() { /* a */ ret; } // b", PTX_OK, 0, NULL},
};

#define SPARSE                                                                                     \
    "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r1, %r2}, {%r1, %r2}, "    \
    "{%r1, %r2}, "
static const struct reading_case bad_cases[] = {
    {HEAD ".global .v8 .b16 a;", PTX_INVALID, 0, "syntax error"},
    {HEAD ".global .bf16 a;", PTX_INVALID, 0, "syntax error"},
    {HEAD ".global .f16 a = 1.0;", PTX_INVALID, 0, "cannot have a value"},
    {HEAD ".global .s32 a[2][2] = {1, 2};", PTX_INVALID, 0, "'{' expected"},
    {HEAD ".global .s32 a[] = {};", PTX_INVALID, 0, "needs a size"},
    {HEAD ".global .b32 g; .global .b64 a = g;", PTX_INVALID, 0, "does not fit"},
    {HEAD ".global .b32 g; .global .b8 a = 0xFF(g);", PTX_INVALID, 0, "does not fit"},
    {HEAD ".func f(.param .align 256 .b32 a) { ret; }", PTX_INVALID, 0, "aligned to more than"},
    {BODY(".param .align 1024 .b32 a;"), PTX_INVALID, 0, "aligned to more than"},
    {BODY("dp4a.u32.u32 %r1, %f1, %r2, %r3;"), PTX_INVALID, 0, "Arguments mismatch"},
    {BODY("redux.sync.or.b32 %r1, %f1, %r2;"), PTX_INVALID, 0, "Arguments mismatch"},
    {BODY("match.any.sync.b32 %f1, %r1, %r2;"), PTX_INVALID, 0, "Arguments mismatch"},
    {BODY("mbarrier.test_wait.shared.b64 %p1, [sh], %e1;"), PTX_INVALID, 0, "Arguments mismatch"},
    {HEAD ".global .v2 .f32 a[2] = {1.0, 2.0};", PTX_INVALID, 0, "'{' expected"},
    {HEAD ".global .v4 .b32 a = {1, 2};", PTX_INVALID, 0, "as many values"},
    {HEAD ".global .b32 a[2] = {1, };", PTX_INVALID, 0, "syntax error"},
    {HEAD ".global .b32 g; .global .s64 a = g;", PTX_INVALID, 0, "does not fit"},
    {HEAD ".shared .b32 s; .global .u64 a = s;", PTX_INVALID, 0, "not in .global or .const"},
    {HEAD ".const .texref t;", PTX_INVALID, 0, "Textures and surfaces"},
    {HEAD ".global .samplerref t;", PTX_INVALID, 0, "texmode_independent"},
    {HEAD ".tex .u32 t;", PTX_INVALID, 0, "since PTX version 1.5"},
    {HEAD ".local .u32 l;", PTX_INVALID, 0, "Local variables"},
    {HEAD ".target sm_80", PTX_INVALID, 0, "syntax error"},
    {HEAD ".entry e(.reg .u32 a) { ret; }", PTX_INVALID, 0, "must be in .param space"},
    {HEAD ".entry e(.param .b8 a[]) { ret; }", PTX_INVALID, 0, "has no size"},
    {HEAD ".entry e(.param .f16x2 a) { ret; }", PTX_INVALID, 0, "Illegal type for a parameter"},
    {HEAD ".func f(.param .b8 a[], .reg .u32 b) { ret; }", PTX_INVALID, 0, "Only the last"},
    {HEAD ".func (.param .b32 a, .param .b32 b) f() { ret; }", PTX_INVALID, 0, "be registers"},
    {HEAD ".func (.reg .b32 a) f() .noreturn { trap; }", PTX_INVALID, 0, "is .noreturn"},
    {HEAD ".entry e() .noreturn { ret; }", PTX_INVALID, 0, "syntax error"},
    {HEAD ".entry e() .maxnreg 0 { ret; }", PTX_INVALID, 0, "must be positive"},
    {HEAD ".entry e() .maxntid 8 .reqntid 8 { ret; }", PTX_INVALID, 0, "Only one of .maxntid"},
    {HEAD ".entry e() .reqnctapercluster 2 .maxclusterrank 4 { ret; }", PTX_INVALID, 0,
     "Only one of .reqncta"},
    {HEAD ".extern .entry e() { ret; }", PTX_INVALID, 0, "is .extern"},
    {HEAD ".func f(.param .b32 a) { ret; } .entry e() { .reg .b64 x; call f, (x); }", PTX_INVALID,
     0, "Type of argument"},
    {HEAD ".func f(.param .u32 a) { ret; } .entry e() { .reg .f32 x; call f, (x); }", PTX_INVALID,
     0, "Type of argument"},
    {"", PTX_INVALID, 1, "Missing .version"},
    {".version 9.9\n", PTX_UNSUPPORTED_VERSION, 1, "current version is '9.0'"},
    {".version 9.0\n.target sm_100\n", PTX_WRONG_TARGET, 2, "sm_100"},
    {".version 9.0\n.target sm_80a\n", PTX_WRONG_TARGET, 2, "sm_80a"},
    {".version 9.0\n.target sm_90\n.address_size 32\n", PTX_UNSUPPORTED, 3, "32-bit"},
    {BODY("add.s32 %r1 %r2, %r3;"), PTX_INVALID, 8, "Parsing error near '%r2': syntax error"},
    {BODY("add.s32 %r1, %r2, %r3"), PTX_INVALID, 9, "Parsing error near 'L'"},
    {BODY("foo.s32 %r1, %r2;"), PTX_INVALID, 8, "Not a name of any known instruction: 'foo'"},
    {BODY("add.foo %r1, %r2, %r3;"), PTX_INVALID, 8, "Unknown modifier '.foo'"},
    {BODY("add.s8 %r1, %r2, %r3;"), PTX_INVALID, 8, "Unexpected instruction types"},
    {BODY("add.s32 %r1, %r2;"), PTX_INVALID, 8, "Arguments mismatch for instruction 'add'"},
    {BODY("add.s32 %r1, %r2, %d3;"), PTX_INVALID, 8, "Arguments mismatch for instruction 'add'"},
    {BODY("add.s32 %r1, %f2, %r3;"), PTX_INVALID, 8, "Arguments mismatch for instruction 'add'"},
    {BODY("add.f32 %f1, %f2, 1;"), PTX_INVALID, 8, "Arguments mismatch for instruction 'add'"},
    {BODY("add.s32 %r1, {%r2}, %r3;"), PTX_INVALID, 8, "Arguments mismatch for instruction 'add'"},
    {BODY("suld.b.1d.b32.trap {_}, [%d1, {%r2}];"), PTX_INVALID, 8, "Arguments mismatch"},
    {BODY("add.s32 5, %r2, %r3;"), PTX_INVALID, 8, "Result register required"},
    {BODY("add.s32 _, %r2, %r3;"), PTX_INVALID, 8, "Result discard mode is not allowed"},
    {BODY("\nadd.s32 %r1, %r2, nothing;"), PTX_INVALID, 9, "Unknown symbol 'nothing'"},
    {BODY("add.s32 %r1, %r2, %r9;"), PTX_INVALID, 8, "Unknown symbol '%r9'"},
    {BODY("div.f32 %f1, %f2, %f3;"), PTX_INVALID, 8, "Rounding modifier required"},
    {BODY("div.rn.s32 %r1, %r2, %r3;"), PTX_INVALID, 8, "Illegal rounding modifier"},
    {BODY("shl.wide.b32 %r1, %r2, %r3;"), PTX_INVALID, 8, "Illegal modifier '.wide'"},
    {BODY("setp.lo.s32 %p1, %r1, %r2;"), PTX_INVALID, 8, "comparison qualifier"},
    {BODY("@%r1 ret;"), PTX_INVALID, 8, "Predicate expression expected"},
    {BODY("bra NOWHERE;"), PTX_INVALID, 8, "Unknown symbol 'NOWHERE'"},
    {BODY("{ IN: exit; } bra IN;"), PTX_INVALID, 8, "Unknown symbol 'IN'"},
    {BODY("X: X: exit;"), PTX_INVALID, 8, "Duplicate definition of label 'X'"},
    {BODY(".reg .b32 a, a;"), PTX_INVALID, 8, "Duplicate definition of variable 'a'"},
    {BODY("ld.shared.b32 %r1, [gv];"), PTX_INVALID, 8, "State space mismatch"},
    {BODY("ld.global.b32 %r1, [16];"), PTX_INVALID, 8, "Immediate addresses"},
    {BODY("ld.global.b32 %r1, [%r2];"), PTX_INVALID, 8, "32-bit address"},
    {BODY("st.const.b32 [cv], %r1;"), PTX_INVALID, 8, "'st'"},
    {BODY("st.param.b64 [p], %d1;"), PTX_INVALID, 8, "function input parameter"},
    {BODY("ld.global.v4.f64 {%e1, %e2, %e3, %e1}, [%d1];"), PTX_INVALID, 8, "256 bit wide"},
    {BODY("ld.relaxed.global.b32 %r1, [%d1];"), PTX_INVALID, 8, "Scope modifier required"},
    {BODY("add.f32x2 %d1, %d2, %d3;"), PTX_INVALID, 8, "sm_100 or higher"},
    {BODY("add.f32x2 %d1, %d2, %d3;"), PTX_INVALID, 8, "PTX ISA .version 8.6 or later"},
    {BODY("shfl.up.b32 %r1, %r2, 1, 0;"), PTX_INVALID, 8, "without '.sync'"},
    {BODY("bar.sync 16;"), PTX_INVALID, 8, "out of range"},
    {BODY("mov.u32 %r1, 5 / 0;"), PTX_INVALID, 8, "Division by zero"},
    {BODY("mov.u32 %r1, %tid;"), PTX_INVALID, 8, "Arguments mismatch"},
    /* Each of these was seen to be refused by ptxas. */
    {BODY("add.u64 %d1, %d2, gv;"), PTX_INVALID, 8, "Arguments mismatch"},
    {BODY("ld.global.b32 _, [%d1];"), PTX_INVALID, 8, "Arguments mismatch"},
    {BODY("shfl.sync.idx.b32 _, %r1, 1, 31, -1;"), PTX_INVALID, 8, "discard mode"},
    {BODY("and.pred _, %p1, %p2;"), PTX_INVALID, 8, "Arguments mismatch"},
    {BODY("ld.global.v2.b8 {%h1, %r1}, [%d1];"), PTX_INVALID, 8, "Arguments mismatch"},
    {BODY(".reg .u32 u; mov.b64 %d1, {%f1, u};"), PTX_INVALID, 8, "Arguments mismatch"},
    {BODY("ld.volatile.local.u32 %r1, [lo];"), PTX_INVALID, 8, ".volatile"},
    {BODY("ld.u32 %r1, [cv];"), PTX_INVALID, 8, "State space mismatch"},
    {BODY("cvt.sat.u32.u8 %r1, %h1;"), PTX_INVALID, 8, "Illegal modifier .sat"},
    {BODY("cvt.rn.bf16.f32 %r1, %f1;"), PTX_INVALID, 8, "Arguments mismatch"},
    {BODY("cvt.rn.satfinite.tf32.f32 %r1, %f1;"), PTX_INVALID, 8, "8.6 or later"},
    {BODY("cvta.to.global.u32 %r1, %r2;"), PTX_INVALID, 8, "32-bit address"},
    {BODY("cvta.global.u64 %d1, %clock64;"), PTX_INVALID, 8, "Arguments mismatch"},
    {BODY("mov.u16 %h1, %smid;"), PTX_INVALID, 8, "Arguments mismatch"},
    {BODY("mbarrier.init.b64 [%r1], 1;"), PTX_INVALID, 8, "32-bit address"},
    {BODY("mbarrier.test_wait.parity.b64 %p1, [%d1], 2;"), PTX_INVALID, 8, "0 or 1"},
    {BODY("bar.arrive 1, 0;"), PTX_INVALID, 8, "must not be zero"},
    {BODY("vadd2.u32.u32.u32 %r1, %r2, %r3, 1;"), PTX_INVALID, 8, "Arguments mismatch"},
    {BODY("movmatrix.sync.aligned.m8n8.trans.b16 %r1, 3;"), PTX_INVALID, 8, "Arguments mismatch"},
    {BODY("pmevent 16;"), PTX_INVALID, 8, "out of range"},
    {BODY("createpolicy.fractional.L2::evict_last.b64 %d1, 1.5;"), PTX_INVALID, 8, "out of range"},
    {BODY("mov.u32 %r1, %r2.x;"), PTX_INVALID, 8, "Unknown field '.x'"},
    {BODY("cp.async.cg.shared.global [sh], [%d1], 8;"), PTX_INVALID, 8, "copy size"},
    {BODY(".shared .b32 s = 5;"), PTX_INVALID, 8, "initial value"},
    {BODY("call nobody;"), PTX_INVALID, 8, "Unknown symbol 'nobody'"},
    {BODY("call %d1, (%r1);"), PTX_INVALID, 8, "Prototype or list of targets expected"},
    {HEAD ".func f(.param .b32 a) { ret; } .entry k() { call f; ret; }", PTX_INVALID, 4,
     "1 expected and 0 given"},
    {HEAD ".global .b32 a[2] = {1, 2, 3};", PTX_INVALID, 4, "Too many initial values"},
    {HEAD ".global .f32 a = 1;", PTX_INVALID, 4, "type mismatch"},
    {HEAD ".global .u64 a = b;", PTX_INVALID, 4, "Unknown symbol 'b'"},
    {HEAD ".global .b8 a[1000000][1000000][1000000];", PTX_INVALID, 4, "too large"},
    {HEAD ".global .b32 a; .global .b32 a;", PTX_INVALID, 4, "Duplicate definition"},
    {HEAD ".entry k() {", PTX_INVALID, 4, "Parsing error near '<EOF>'"},
    {HEAD "/* never ends", PTX_INVALID, 4, "Parsing error"},
    {BODY("tcgen05.wait::ld.sync.aligned;"), PTX_UNSUPPORTED, 8,
     "'tcgen05.wait::ld' is not supported"},
    {BODY("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32 {%r1}, {%r2}, {%r3}, "
          "{%r4};"),
     PTX_UNSUPPORTED, 8, "narrow floats"},
    {BODY(SPARSE "%r1, 4;"), PTX_INVALID, 8,
     "unexpected value '4', expected to be in range [0..3]"},
    {BODY(SPARSE "%r1, -1;"), PTX_INVALID, 8, "unexpected value '-1'"},
    {BODY("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [sh];"), PTX_UNSUPPORTED, 8,
     "6 and 8 bits"},
    {BODY("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1}, [sh];"), PTX_INVALID, 8,
     "Arguments mismatch"},
    {BODY("ldmatrix.sync.aligned.m8n8.x2.global.b16 {%r1, %r2}, [sh];"), PTX_INVALID, 8,
     "Illegal modifier '.global'"},
    {BODY("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16 {%r1, %r1, %r1, %r1}, {%r1, %r1, %r1, "
          "%r1}, {%r1, %r1}, {%r1, %r1};"),
     PTX_INVALID, 8, "Illegal combination"},
    {BODY("mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%r1}, {%r1}, {%r1}, {%r1};"),
     PTX_INVALID, 8, "Illegal combination"},
    {BODY("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1}, {%r1, %r1}, %r1, {%r1, %r1};"),
     PTX_INVALID, 8, "Arguments mismatch"},
    {BODY("mma.sync.aligned.m16n8k8.col.row.f16.f16.f16.f16 {%r1, %r1}, {%r1, %r1}, {%r1}, {%r1, "
          "%r1};"),
     PTX_INVALID, 8, "Illegal combination"},
    {BODY("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1, %r1}, {%r1, %r1}, %r1, {%r1, "
          "%r1};"),
     PTX_INVALID, 8, "Arguments mismatch"},
    {BODY("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1, %r1}, {%r1, _}, {%r1}, {%r1, "
          "%r1};"),
     PTX_INVALID, 8, "Arguments mismatch"},
    {BODY("mma.sync.aligned.m8n8k4.row.col.rz.f64.f64.f64.f64 {%e1, %e1}, {%e1}, {%e1}, {%e1, "
          "%e1};"),
     PTX_UNSUPPORTED, 8, "only the rounding to nearest"},
    {".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<4>;\n"
     "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1, %r1}, {%r1, %r1, %r1, %r1}, "
     "{%r1, %r1}, {%r1, %r1};\n}\n",
     PTX_INVALID, 7, "requires .target sm_80"},
    {HEAD_NEW "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::"
              "bytes [sh], [%d1, {%r1, %r2, %r3, %r4, %r5}], [sh];\nret;\n}\n",
     PTX_UNSUPPORTED, 8, "in the manner of sm_100"},
    {HEAD_NEW "st.async.global.release.gpu.b32 [%d1], %r1;\nret;\n}\n", PTX_UNSUPPORTED, 8,
     "asynchronous stores to global memory"},
    {HEAD_NEW "tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [%d1], 1;\nret;\n}\n",
     PTX_UNSUPPORTED, 8, "this part of a tensor map"},
    {BODY("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d1, {%r1}], [sh];"), PTX_INVALID,
     8, "Arguments mismatch"},
    {BODY("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, %r1], [sh];"), PTX_INVALID,
     8, "Arguments mismatch"},
    {BODY("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1+128, {%r1}], [sh];"),
     PTX_INVALID, 8, "Arguments mismatch"},
    {BODY("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [q, {%r1}], [sh];"), PTX_INVALID,
     8, "Arguments mismatch"},
    {BODY("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, {%f1}], [sh];"), PTX_INVALID,
     8, "Arguments mismatch"},
    {BODY("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, {%r1}], [gv];"), PTX_INVALID,
     8, "State space mismatch"},
    {BODY("cp.async.bulk.tensor.2d.global.shared::cta.im2col_no_offs.bulk_group [%d1, {%r1, %r2}], "
          "[sh];"),
     PTX_INVALID, 8, "Illegal combination"},
    {BODY("cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes [sh], [%d1, "
          "{%r1}], [sh];"),
     PTX_INVALID, 8, "requires PTX ISA .version 8.6"},
    {BODY(
         "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [sh], "
         "[%d1, {%r1, %r2, %r3, %r4}], [sh], {1};"),
     PTX_INVALID, 8, "Arguments mismatch"},
    {BODY("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%d1], [sh], 16;"),
     PTX_INVALID, 8, "Illegal combination"},
    {BODY("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d1], [sh], 24;"),
     PTX_INVALID, 8, "multiple of 16"},
    {BODY(
         "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b64 [sh], {%d1, %d1, %d1, %d1}, "
         "[sh];"),
     PTX_INVALID, 8, "too wide"},
    {BODY("red.async.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [sh], 1, [sh];"),
     PTX_INVALID, 8, "Illegal combination"},
    {BODY("st.bulk.weak.shared::cta [sh], 64, 0;"), PTX_INVALID, 8,
     "requires PTX ISA .version 8.6"},
    {BODY("tensormap.replace.tile.rank.global.b1024.b32 [%d1], 2;"), PTX_INVALID, 8,
     "not supported on .target 'sm_90'"},
    {BODY("fence.proxy.tensormap::generic.acquire.gpu [%d1], 64;"), PTX_INVALID, 8, "out of range"},
    {BODY("cp.async.bulk.global.shared::cta.bulk_group [%d1], [sh], 24;"), PTX_INVALID, 8,
     "multiple of 16"},
    {BODY("cp.async.bulk.global.shared::cta.bulk_group [sh], [sh], 16;"), PTX_INVALID, 8,
     "State space mismatch"},
    /* What is wrong outweighs what is lacking. */
    {BODY("tcgen05.wait::ld.sync.aligned;\nadd.s32 %r1, %r2;"), PTX_INVALID, 9,
     "Arguments mismatch"},
};

static void accepts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good_cases / sizeof *good_cases; i++)
        check_case(&good_cases[i]);
}

static void refuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_cases / sizeof *bad_cases; i++)
        check_case(&bad_cases[i]);
}

static unsigned count_of(const char *text, const char *part)
{
    unsigned count = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

/* All mistakes are in the log, not the first alone, and a limit is kept. */
static void collects(void **state)
{
    static const char text[] = BODY("add.s32 %r1;\nadd.s32 %r1;\nadd.s32 %r1;");
    struct ptx_options options = {.version = 900, .architecture = 90};
    struct ptx_source source = {.text = text, .size = sizeof text};
    enum ptx_status status;
    (void)state;
    for (unsigned limit = 0; limit < 3; limit += 2) {
        struct ptx_text errors = {0};
        options.max_errors = limit;
        assert_null(parse_module_read(&options, &source, 1, &errors, NULL, &status));
        assert_int_equal(status, PTX_INVALID);
        assert_int_equal(count_of(errors.data, "Arguments mismatch"), limit == 0 ? 3 : 2);
        assert_int_equal(count_of(errors.data, "aborted due to errors"), 1);
        ptx_text_free(&errors);
    }
}

/* --- What a module holds --- */
static void dumps(void **state)
{
    static const char *const expected[] = {
        "add.s32 %r1 <- %r2, 0xffffffff sat",
        "@!%p1 bra @3",
        "ld.shared.v2.b32 {%r1, _} <- [sh+8]",
        "fma.f32 %f1 <- %f2, 0x3f800000, 0x3fc00000 ftz rounding=1",
        "3: ret",
    };
    struct ptx_text errors = {0}, dump = {0};
    enum ptx_status status;
    struct ir_module *module =
        read_text(BODY("add.sat.s32 %r1, %r2, -1; @!%p1 bra L; ld.shared.v2.b32 {%r1, _}, [sh+8];"),
                  &errors, &status);
    (void)state;
    assert_non_null(module);
    dump_module(module, &dump);
    assert_non_null(strstr(dump.data, expected[0]));
    assert_non_null(strstr(dump.data, expected[1]));
    assert_non_null(strstr(dump.data, expected[2]));
    assert_non_null(strstr(dump.data, expected[4]));
    assert_non_null(strstr(dump.data, ".param.b8 q: offset 8 size 16 align 8"));
    ptx_text_free(&dump);
    parse_module_free(module);
    module = read_text(BODY("fma.rn.ftz.f32 %f1, %f2, 0f3F800000, 1.5;"), &errors, &status);
    assert_non_null(module);
    dump_module(module, &dump);
    assert_non_null(strstr(dump.data, expected[3]));
    ptx_text_free(&dump);
    parse_module_free(module);
    assert_int_equal(errors.length, 0);
}

static void initial_values(void **state)
{
    struct ptx_text errors = {0};
    enum ptx_status status;
    struct ir_module *module = read_text(
        HEAD
        ".global .b16 a[][2] = {{1}, {0x1234, -1}, {7}}; .global .u64 p[2] = {5, generic(a)+4};"
        ".global .u8 m[3] = {9, 0xFF(a), 0xFF00(a)};"
        ".global .b16 h = 1.1; .global .b32 w = 1.5; .global .b64 d = 0f3FC00000;",
        &errors, &status);
    (void)state;
    assert_non_null(module);
    static const uint8_t bytes[] = {1, 0, 0, 0, 0x34, 0x12, 0xff, 0xff, 7, 0, 0, 0};
    assert_int_equal(module->variables[0].size, sizeof bytes);
    assert_memory_equal(module->variables[0].init, bytes, sizeof bytes);
    const struct ir_variable *p = &module->variables[1], *m = &module->variables[2];
    assert_int_equal(p->init[0], 5);
    assert_int_equal(p->relocation_count, 1);
    assert_int_equal(p->relocations[0].offset, 8);
    assert_int_equal(p->relocations[0].addend, 4);
    assert_true(p->relocations[0].generic);
    assert_int_equal(m->relocation_count, 2);
    assert_int_equal(m->relocations[1].shift, 8);
    assert_int_equal(m->relocations[1].offset, 2);
    /* Bits of 8, 16 and 64 take those of the literal, 32 bits those of a float. */
    assert_memory_equal(module->variables[3].init, "\x9a\x99", 2);
    assert_memory_equal(module->variables[4].init, "\0\0\xc0\x3f", 4);
    assert_memory_equal(module->variables[5].init, "\0\0\xc0\x3f\0\0\0\0", 8);
    parse_module_free(module);
}

/* --- Linking --- */
static enum ptx_status link_two(const char *first, const char *second, struct ptx_text *errors,
                                struct ptx_text *dump)
{
    struct ptx_options options = {.version = 900, .architecture = 90};
    struct ptx_source sources[2] = {{.name = "first", .text = first, .size = strlen(first)},
                                    {.name = "second", .text = second, .size = strlen(second)}};
    enum ptx_status status;
    struct ir_module *module = parse_module_read(&options, sources, 2, errors, NULL, &status);
    if (module)
        dump_module(module, dump);
    parse_module_free(module);
    return status;
}

static void links(void **state)
{
    struct ptx_text errors = {0}, dump = {0};
    (void)state;
    assert_int_equal(
        link_two(HEAD ".extern .global .b32 x; .extern .func f(.param .b32 a);\n"
                      ".visible .entry k() { .reg .b32 %r; .param .b32 a; call f, (a);\n"
                      "ld.global.b32 %r, [x]; ret; }",
                 HEAD ".global .b32 y = 1; .visible .global .b32 x = 5;\n"
                      ".weak .func g() { ret; } .visible .func f(.param .b32 a) { ret; }",
                 &errors, &dump),
        PTX_OK);
    assert_int_equal(count_of(dump.data, ".global.b32 x:"), 1);
    assert_non_null(strstr(dump.data, "05000000"));
    assert_non_null(strstr(dump.data, "f, (a)"));
    assert_null(strstr(dump.data, "without body"));
    ptx_text_free(&dump);

    /* The strong one wins over the weak one, in either order. */
    static const char weak[] = HEAD ".weak .global .b32 x = 1;";
    static const char strong[] = HEAD ".visible .global .b32 x = 2;";
    for (int order = 0; order < 2; order++) {
        assert_int_equal(link_two(order ? weak : strong, order ? strong : weak, &errors, &dump),
                         PTX_OK);
        assert_int_equal(count_of(dump.data, ".global.b32 x:"), 1);
        assert_non_null(strstr(dump.data, "02000000"));
        ptx_text_free(&dump);
    }
    assert_int_equal(link_two(strong, strong, &errors, &dump), PTX_DUPLICATE);
    assert_non_null(strstr(errors.data, "Multiple definitions of variable 'x'"));
    ptx_text_free(&errors);
    assert_int_equal(
        link_two(HEAD ".extern .func f(); .entry k() { call f; ret; }", HEAD, &errors, &dump),
        PTX_UNRESOLVED);
    assert_non_null(strstr(errors.data, "Unresolved extern function 'f'"));
    ptx_text_free(&errors);
    /* Not used, or the device's own: no fault. */
    assert_int_equal(
        link_two(HEAD ".extern .func f(); .extern .func (.param .b32 r) vprintf(.param .b64 a, "
                      ".param .b64 b); .extern .shared .b8 s[];",
                 HEAD, &errors, &dump),
        PTX_OK);
    ptx_text_free(&dump);
}

static void aliases(void **state)
{
    struct ptx_text errors = {0}, dump = {0};
    (void)state;
    assert_int_equal(link_two(HEAD ".visible .func g(); .visible .func f() { ret; }\n"
                                   ".entry k() { call g; ret; } .alias g, f;",
                              HEAD, &errors, &dump),
                     PTX_OK);
    assert_non_null(strstr(dump.data, "call () <- f, ()"));
    ptx_text_free(&dump);
}

/* --- Depth and size --- */
static void deep(void **state)
{
    enum { DEPTH = 100000 };
    static const char openings[] = "({-[<";
    char *text = malloc(sizeof HEAD + 64 + DEPTH);
    (void)state;
    assert_non_null(text);
    for (const char *opening = openings; *opening != '\0'; opening++) {
        struct ptx_text errors = {0};
        enum ptx_status status;
        size_t length = (size_t)sprintf(text, HEAD "%s",
                                        *opening == '{' ? ".entry k() { " : ".global .b32 x = ");
        memset(text + length, *opening, DEPTH);
        text[length + DEPTH] = '\0';
        assert_null(read_text(text, &errors, &status));
        assert_int_equal(status, PTX_INVALID);
        ptx_text_free(&errors);
    }
    free(text);
}

/* A range of registers costs what is used of it. */
static void wide_range(void **state)
{
    struct ptx_text errors = {0};
    enum ptx_status status;
    struct ir_module *module =
        read_text(HEAD ".entry k() { .reg .b32 %r<2000000000>; .reg .b32 %r1<20>;\n"
                       "mov.b32 %r1999999999, %r7; mov.b32 %r7, %r119; ret; }",
                  &errors, &status);
    (void)state;
    assert_non_null(module);
    assert_int_equal(module->functions[0].register_count, 3);
    parse_module_free(module);
}

/* No line of the tables has a word or a type that no table has. */
static void test_tables(void **state)
{
    const struct ptx_options options = {.architecture = 90};
    struct reader *reader = parse_module_open(&options);
    (void)state;
    assert_non_null(reader);
    assert_true(form_table_is_sound(reader));
    parse_module_cancel(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts),        cmocka_unit_test(refuses),
        cmocka_unit_test(collects),       cmocka_unit_test(dumps),
        cmocka_unit_test(initial_values), cmocka_unit_test(links),
        cmocka_unit_test(aliases),        cmocka_unit_test(deep),
        cmocka_unit_test(wide_range),     cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
