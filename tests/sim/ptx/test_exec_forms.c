/* SPDX-License-Identifier: MIT */
/* Forms that newer targets have, and stores to surfaces, from text to result; what each computes
 * for any numbers is in test_ops_mixed.c and test_tex.c. */
#include "exec_case.h"

#define NEWER ".version 8.8\n.target sm_100a\n.address_size 64\n"

static float as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* 32 threads, eight words each. */
static void newer_forms(void **state)
{
    struct exec_case one;
    (void)state;
    exec_open_on(&one, 100,
                 NEWER EXEC_ENTRY "mul.wide.u32 %d2, %r0, 32;\nadd.u64 %d1, %d0, %d2;\n"
                                  "cvt.rn.f32.u32 %f1, %r0;\nmov.f32 %f2, 0f40000000;\n"
                                  "mov.b64 %d2, {%f1, %f2};\nand.b32 %r1, %r0, 1;\n"
                                  "setp.eq.u32 %p1, %r1, 1;\n"
                                  "fma.rn.f32x2 %d3, %d2, %d2, %d2;\n"
                                  "@%p1 sub.f32x2 %d3, %d3, %d2;\n"
                                  "st.global.b64 [%d1], %d3;\n"
                                  "cvt.rn.f16.f32 %h1, %f1;\n"
                                  "add.rz.f32.f16 %f3, %h1, 0f3F000000;\n"
                                  "st.global.f32 [%d1 + 8], %f3;\n"
                                  "fma.rn.f32.f16 %f3, %h1, %h1, %f3;\n"
                                  "st.global.f32 [%d1 + 12], %f3;\n"
                                  "add.f32 %f4, %f1, 0fC1A00000;\n"
                                  "redux.sync.max.abs.f32 %f5, %f4, -1;\n"
                                  "st.global.f32 [%d1 + 16], %f5;\n"
                                  "redux.sync.min.f32 %f5, %f4, 0xffffffff;\n"
                                  "st.global.f32 [%d1 + 20], %f5;\n"
                                  "mov.b32 %f6, 0x3f808000;\nmov.b32 %r2, 0x80007fff;\n"
                                  "cvt.rs.bf16x2.f32 %r3, %f6, %f6, %r2;\n"
                                  "st.global.b32 [%d1 + 24], %r3;\n"
                                  "cvt.pack.sat.u4.s32.b32 %r4, %r0, -1, %r0;\n"
                                  "st.global.b32 [%d1 + 28], %r4;\nret;\n}\n",
                 1, 32);
    exec_good(&one);
    for (uint32_t t = 0; t < 32; t++) {
        const uint32_t *words = one.words + (size_t)8 * t;
        const uint32_t square = t * t;
        assert_true(as_float(words[0]) == (float)(square + (t & 1 ? 0 : t)));
        assert_true(as_float(words[1]) == (t & 1 ? 4.0F : 6.0F));
        assert_true(as_float(words[2]) == (float)t + 0.5F);
        assert_true(as_float(words[3]) == (float)(square + t) + 0.5F);
        assert_true(as_float(words[4]) == 20.0F);
        assert_true(as_float(words[5]) == -20.0F);
        assert_int_equal(words[6], 0x3f813f80);
        assert_int_equal(words[7], (t < 15 ? t : 15) << 4 | t << 8);
    }
    exec_close(&one);
}

/* d|p, a, b, c, table, q has more operands than any other form without a vector. */
static void lop3_predicate(void **state)
{
    static const char *const bodies[] = {
        "lop3.or.b32 %r5|%p2, %r1, %r2, %r3, 0x96, %p1;\n",
        "lop3.or.b32 %r5|%p2, %r1, %r2, %r3, 0x96, !%p1;\n",
        "lop3.and.b32 %r5|%p2, %r1, %r2, %r3, 0x96, %p1;\n",
        "lop3.and.b32 %r5|%p2, %r1, %r2, %r3, 0x96, !%p1;\n",
    };
    (void)state;
    for (unsigned i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct exec_case one;
        char text[4096];
        snprintf(text, sizeof text, "%s%s%s",
                 ".version 8.2\n.target sm_90\n" EXEC_ENTRY
                 "and.b32 %r1, %r0, 1;\nand.b32 %r2, %r0, 2;\nmov.u32 %r3, 2;\n"
                 "and.b32 %r4, %r0, 4;\nsetp.ne.u32 %p1, %r4, 0;\n",
                 bodies[i],
                 "selp.u32 %r6, 16, 0, %p2;\nadd.u32 %r5, %r5, %r6;\n"
                 "st.global.u32 [%d1], %r5;\nret;\n}\n");
        exec_open(&one, text, 1, 32);
        exec_good(&one);
        for (uint32_t t = 0; t < 32; t++) {
            const uint32_t d = (t & 1) ^ (t & 2) ^ 2;
            const bool q = ((t & 4) != 0) != (i % 2 != 0), p = i < 2 ? d || q : d && q;
            assert_int_equal(one.words[t], d + (p ? 16 : 0));
        }
        exec_close(&one);
    }
}

/* mov.v2 and mov.v4, also of parts that change places; registers of parts as one number. */
static void vector_moves(void **state)
{
    struct exec_case one;
    (void)state;
    exec_open(&one,
              EXEC_BODY(".reg .v2 .b32 %v;\n.reg .v2 .b64 %w;\n.reg .v4 .b32 %q;\n"
                        "mul.lo.u32 %r1, %r0, 64;\ncvt.u64.u32 %d2, %r1;\nadd.u64 %d1, %d0, %d2;\n"
                        "mov.v2.u32 %v, {%r0, 7};\nmov.v2.u32 %v, {%v.y, %v.x};\n"
                        "st.global.v2.u32 [%d1], %v;\n"
                        "mov.b64 %d3, %v;\nst.global.u64 [%d1 + 8], %d3;\n"
                        "mov.v2.u64 %w, {-1, %d3};\nst.global.v2.u64 [%d1 + 16], %w;\n"
                        "mov.v4.u32 %q, %tid;\nand.b32 %r2, %r0, 1;\nsetp.eq.u32 %p1, %r2, 0;\n"
                        "@%p1 mov.v4.b32 %q, {%q.w, %ntid.x, %q.x, 3};\n"
                        "st.global.v4.u32 [%d1 + 32], %q;\n"
                        "mov.b64 %v, %d3;\nmov.v2.f32 {%f1, _}, {%v.y, %v.x};\n"
                        "st.global.f32 [%d1 + 48], %f1;\n"),
              1, 32);
    exec_good(&one);
    for (uint32_t t = 0; t < 32; t++) {
        const bool even = t % 2 == 0;
        const uint32_t want[13] = {7,
                                   t,
                                   7,
                                   t,
                                   UINT32_MAX,
                                   UINT32_MAX,
                                   7,
                                   t,
                                   even ? 0 : t,
                                   even ? 32 : 0,
                                   even ? t : 0,
                                   even ? 3 : 0,
                                   t};
        assert_memory_equal(one.words + (size_t)16 * t, want, sizeof want);
    }
    exec_close(&one);
}

/* name<3>: variables name0 to name2, each of its own. */
static void variable_ranges(void **state)
{
    struct exec_case one;
    (void)state;
    exec_open(&one,
              EXEC_MODULE ".global .u32 g<3>;\n"
                          ".func add(.param .u64 to, .param .u32 a, .param .u32 b) {\n"
                          ".reg .b64 %d<2>;\n.reg .b32 %r<3>;\n"
                          "ld.param.u64 %d0, [to];\nld.param.u32 %r0, [a];\n"
                          "ld.param.u32 %r1, [b];\nsub.u32 %r2, %r0, %r1;\n"
                          "st.u32 [%d0], %r2;\nret;\n}\n" EXEC_ENTRY
                          ".local .u32 l<11>, last;\n{\n.param .u64 p;\n.param .u32 %P<2>;\n"
                          "st.local.u32 [l1], 5;\nst.local.u32 [l10], 50;\n"
                          "st.local.u32 [last], 500;\n"
                          "ld.local.u32 %r1, [l1];\nld.local.u32 %r2, [l10];\n"
                          "add.u32 %r2, %r2, %r1;\nld.local.u32 %r1, [last];\n"
                          "add.u32 %r2, %r2, %r1;\n"
                          "st.global.u32 [g0], 1;\nst.global.u32 [g2], 3;\n"
                          "ld.global.u32 %r3, [g0];\nadd.u32 %r2, %r2, %r3;\n"
                          "st.param.u64 [p], %d1;\nst.param.u32 [%P0], %r2;\n"
                          "st.param.u32 [%P1], %r0;\ncall.uni add, (p, %P0, %P1);\n}\nret;\n}\n",
              1, 32);
    exec_good(&one);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(one.words[t], 556 - t);
    exec_close(&one);
}

/* --- A surface of 40 columns and 2 rows of four bytes, and one of a 32-bit number --- */
enum { BYTES = 7, NUMBERS = 9 };
static uint8_t bytes[2][40][4];
static int32_t numbers[4];
static struct ptx_level byte_level = {(char *)bytes, 40, 2, 0, sizeof *bytes, sizeof bytes};
static struct ptx_level number_level = {(char *)numbers, 4, 0, 0, sizeof numbers, sizeof numbers};
static const struct ptx_texture surfaces[2] = {
    {.levels = &byte_level,
     .level_count = 1,
     .channel = PTX_CHANNEL_U8,
     .channels = 4,
     .as_integer = true},
    {.levels = &number_level, .level_count = 1, .channel = PTX_CHANNEL_S32, .channels = 1},
};
static const struct ptx_texture *find_surface(void *user, uint64_t handle)
{
    (void)user;
    return handle == BYTES ? &surfaces[0] : handle == NUMBERS ? &surfaces[1] : NULL;
}

static void surface_forms(void **state)
{
    struct exec_case one;
    (void)state;
    memset(bytes, 0xaa, sizeof bytes);
    exec_open(&one,
              EXEC_BODY("mov.u64 %d2, 7;\nmov.u64 %d3, 9;\nadd.u32 %r2, %r0, 10;\n"
                        "sust.p.2d.v4.b32.trap [%d2, {%r0, 1}], {%r0, 300, %r2, %r0};\n"
                        "sust.p.2d.b32.clamp [%d2, {%r2, -5}], {%r0};\n"
                        "sub.u32 %r3, 16, %r0;\n"
                        "sured.p.min.1d.b32.trap [%d3, {1}], %r3;\n"
                        "sured.p.add.1d.b32.zero [%d3, {%r0}], 5;\n"
                        "suld.b.1d.b32.zero {%r4}, [%d3, {4}];\nst.global.b32 [%d1], {%r4};\n"),
              1, 32);
    one.world.calls.surface = find_surface;
    exec_good(&one);
    for (uint32_t x = 0; x < 40; x++) {
        const uint8_t low = (uint8_t)x, high = (uint8_t)(x + 10);
        const uint8_t row[4] = {low, 255, high, low}, none[4] = {0xaa, 0xaa, 0xaa, 0xaa};
        assert_memory_equal(bytes[1][x], x < 32 ? row : none, 4);
        /* Those beyond meet at the edge, where any of them may win. */
        assert_int_equal(bytes[0][x][1], x < 10 ? 0xaa : 0);
        if (x >= 10 && x < 39)
            assert_int_equal(bytes[0][x][0], x - 10);
    }
    assert_true(bytes[0][39][0] >= 29 && bytes[0][39][0] < 32);
    assert_int_equal(numbers[0], 5);
    assert_int_equal(numbers[1], 16 - 31 + 5);
    assert_int_equal(numbers[2], 5);
    assert_int_equal((int32_t)one.words[0], 16 - 31 + 5);
    exec_close(&one);
}

/* The address of an element, as a number: x[2] of a shared, a local and a global variable. */
static void element_addresses(void **state)
{
    struct exec_case one;
    (void)state;
    exec_open(&one,
              EXEC_MODULE ".global .align 4 .b32 g[4] = {1, 2, 3, 4};\n"
                          ".shared .align 4 .b32 s[4];\n" EXEC_ENTRY ".local .align 4 .b32 l[4];\n"
                          "mov.u64 %d2, g[0];\nld.global.u32 %r1, [%d2 + 4];\n"
                          "st.global.u32 [%d0], %r1;\n"
                          "mov.u64 %d2, g[3];\nld.global.u32 %r1, [%d2];\n"
                          "st.global.u32 [%d0 + 4], %r1;\n"
                          "mov.u32 %r2, s[2];\nst.shared.u32 [%r2], 7;\n"
                          "ld.shared.u32 %r1, [s + 8];\nst.global.u32 [%d0 + 8], %r1;\n"
                          "mov.u64 %d3, l[1];\nst.local.u32 [%d3], 9;\n"
                          "ld.local.u32 %r1, [l + 4];\nst.global.u32 [%d0 + 12], %r1;\n"
                          "ret;\n}\n",
              1, 1);
    exec_good(&one);
    const uint32_t expected[4] = {2, 4, 7, 9};
    assert_memory_equal(one.words, expected, sizeof expected);
    exec_close(&one);
}

/* An element by a register, in each space and of each width of the register. All as ptxas makes it:
 * vectors count by their scalars and arrays without a size by bytes, a sign is none, and what
 * stands before a variable of 32-bit addresses can be reached. */
static void elements_by_register(void **state)
{
    struct exec_case one;
    (void)state;
    exec_open(&one,
              EXEC_MODULE
              ".global .align 8 .u64 g[4] = {10, 11, 12, 13};\n"
              ".global .align 8 .v2 .u32 pairs[2] = {{20, 21}, {22, 23}};\n"
              ".const .align 2 .u16 c[3] = {30, 31, 32};\n"
              ".extern .shared .align 4 .b32 open[];\n"
              ".func (.param .b32 r) pick(.param .align 4 .b32 a[3], .param .b32 i)\n{\n"
              ".reg .b32 %r<2>;\nld.param.u32 %r0, [i];\n"
              "ld.param.u32 %r1, a[%r0];\nst.param.u32 [r], %r1;\nret;\n}\n" EXEC_ENTRY
              ".local .align 4 .b32 l[4];\n.shared .align 4 .b32 s[4];\n"
              ".reg .s16 short;\n.reg .b32 v<20>;\n.reg .b64 w<4>;\n"
              "mov.u64 w0, 0x500000002;\nmov.s16 short, 1;\nmov.u32 %r1, 1;\n"
              "ld.global.u64 w1, g[w0];\ncvt.u32.u64 v0, w1;\n" /* 12 */
              "ld.u64 w1, g[short];\ncvt.u32.u64 v1, w1;\n"     /* 11 */
              "ld.global.u64 w1, g[%r1+2];\ncvt.u32.u64 v2, w1;\n"
              "mov.b32 v3, -1;\nld.global.u64 w1, g[v3+1];\ncvt.u32.u64 v3, w1;\n"
              "ld.global.v2.u32 {v4, v5}, pairs[w0];\n" /* 22, 23 */
              "ld.global.u32 v6, pairs[1];\n"           /* 21 */
              "ld.const.u16 v7, c[%r1 + -1];\n"
              "st.local.u32 l[%r1], 41;\nld.local.u32 v8, [l + 4];\n"
              "mov.u32 %r2, -1;\nst.shared.u32 [s + 4], 50;\n"
              "mov.u32 %r3, s[%r1];\nld.shared.u32 v9, [%r3];\n"
              "add.u32 %r3, %r3, 4;\nmov.u64 w2, s[2];\ncvt.u32.u64 v10, w2;\n"
              "sub.u32 v10, v10, %r3;\n"
              "mov.u32 %r4, open[%r1];\nmov.u32 %r3, open;\nsub.u32 v11, %r4, %r3;\n"
              "mov.u32 %r3, open[3];\nsub.u32 v12, %r3, %r4;\n"
              "mov.u32 %r3, l[%r2];\nmov.u32 %r4, l;\nsub.u32 v13, %r4, %r3;\n"
              "{\n.param .align 4 .b32 a[3];\n.param .b32 i, r;\n"
              "st.param.u32 [a], 60;\nst.param.u32 a[1], 61;\nst.param.u32 a[2], 62;\n"
              "st.param.u32 [i], 2;\ncall (r), pick, (a, i);\nld.param.u32 v14, [r];\n}\n"
              "setp.eq.u32 %p1, %r0, 99;\n@%p1 ld.global.u32 v14, pairs[%r2];\n"
              "st.global.v4.u32 [%d0], {v0, v1, v2, v3};\n"
              "st.global.v4.u32 [%d0 + 16], {v4, v5, v6, v7};\n"
              "st.global.v4.u32 [%d0 + 32], {v8, v9, v10, v11};\n"
              "st.global.v2.u32 [%d0 + 48], {v12, v13};\n"
              "st.global.u32 [%d0 + 56], v14;\nret;\n}\n",
              1, 1);
    exec_good(&one);
    const uint32_t expected[15] = {12, 11, 13, 10, 22, 23, 21, 30, 41, 50, 0, 1, 2, 4, 62};
    assert_memory_equal(one.words, expected, sizeof expected);
    exec_close(&one);
}

/* Variables of known size that nobody defines are there, each in its space. */
static void declared_variables(void **state)
{
    struct exec_case one;
    (void)state;
    exec_open(&one,
              EXEC_MODULE ".extern .shared .align 128 .b8 s[128];\n"
                          ".extern .global .align 4 .b32 g[32];\n"
                          ".extern .const .align 4 .b32 c[2];\n" EXEC_ENTRY
                          "shl.b32 %r1, %r0, 2;\nmov.u32 %r2, s;\nadd.u32 %r2, %r2, %r1;\n"
                          "st.shared.u32 [%r2], %r0;\nst.global.u32 g[%r0], 7;\nbar.sync 0;\n"
                          "xor.b32 %r3, %r2, 124;\nld.shared.u32 %r3, [%r3];\n"
                          "ld.global.u32 %r4, g[%r3];\nld.const.u32 %r5, c[1];\n"
                          "mad.lo.u32 %r3, %r4, 100, %r3;\nadd.u32 %r3, %r3, %r5;\n"
                          "st.global.u32 [%d1], %r3;\nret;\n}\n",
              1, 32);
    exec_good(&one);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(one.words[i], 700 + 31 - i);
    exec_close(&one);
}

/* A widened load at the end of 28 bytes: 12 of its 16 bytes are there, and a pragma may say that no
 * other counts. */
static void used_bytes(void **state)
{
    static const char *const loads[3] = {".pragma \"used_bytes_mask 3855\";\n", "",
                                         ".pragma \"used_bytes_mask 65535\";\n"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct exec_case one;
        char text[2000];
        snprintf(text, sizeof text,
                 EXEC_MODULE
                 ".visible .entry k(.param .u64 out)\n{\n.reg .b64 d;\n.reg .f32 f<5>;\n"
                 "ld.param.u64 d, [out];\n%s"
                 "ld.global.v4.f32 {f1, f2, f3, f4}, [d + 16];\n"
                 "add.f32 f1, f1, f3;\nst.global.f32 [d], f1;\nret;\n}\n",
                 loads[i]);
        exec_open(&one, text, 1, 1);
        one.world.ranges[one.world.count - 1].size = 28;
        ((float *)one.words)[4] = 3;
        ((float *)one.words)[6] = 4;
        assert_int_equal(ptx_launch(&one.request, &one.world.fault), i == 0);
        if (i == 0)
            assert_true(((float *)one.words)[0] == 7);
        exec_close(&one);
    }
}

/* Each kind of vector atomic: sums and extremes of the threads' numbers and their negatives. */
static void vector_atomics(void **state)
{
    struct exec_case one;
    (void)state;
    exec_open_on(&one, 90,
                 ".version 8.1\n.target sm_90\n.address_size 64\n" EXEC_ENTRY
                 "cvt.rn.f32.u32 %f1, %r0;\nneg.f32 %f2, %f1;\ncvt.rn.f16.f32 %h1, %f1;\n"
                 "cvt.rn.f16.f32 %h2, %f2;\ncvt.rn.bf16.f32 %h3, %f1;\ncvt.rn.bf16.f32 %h4, %f2;\n"
                 "mov.b32 %r1, {%h1, %h2};\nmov.b32 %r2, {%h3, %h4};\nmov.f32 %f3, 0f3F800000;\n"
                 "red.global.v2.add.f32 [%d0], {%f1, %f3};\n"
                 "red.global.v2.add.noftz.f16 [%d0 + 8], {%h1, %h2};\n"
                 "red.global.v2.min.noftz.f16 [%d0 + 12], {%h1, %h2};\n"
                 "red.global.v2.max.noftz.f16 [%d0 + 16], {%h1, %h2};\n"
                 "red.global.v2.add.noftz.bf16 [%d0 + 20], {%h3, %h4};\n"
                 "red.global.v2.min.noftz.bf16 [%d0 + 24], {%h3, %h4};\n"
                 "red.global.v2.max.noftz.bf16 [%d0 + 28], {%h3, %h4};\n"
                 "red.global.v2.add.noftz.f16x2 [%d0 + 32], {%r1, %r1};\n"
                 "red.global.v2.min.noftz.f16x2 [%d0 + 40], {%r1, %r1};\n"
                 "red.global.v2.max.noftz.f16x2 [%d0 + 48], {%r1, %r1};\n"
                 "red.global.v2.add.noftz.bf16x2 [%d0 + 56], {%r2, %r2};\n"
                 "red.global.v2.min.noftz.bf16x2 [%d0 + 64], {%r2, %r2};\n"
                 "red.global.v2.max.noftz.bf16x2 [%d0 + 72], {%r2, %r2};\n"
                 "ret;\n}\n",
                 1, 16);
    exec_good(&one);
    /* Sums of 0 to 15: 120 and -120; the least and greatest beside the 0 that was there. */
    static const uint32_t f16[3] = {0xd7805780, 0xcb800000, 0x00004b80};
    static const uint32_t bf16[3] = {0xc2f042f0, 0xc1700000, 0x00004170};
    assert_true(as_float(one.words[0]) == 120.0F && as_float(one.words[1]) == 16.0F);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(one.words[2 + i], f16[i]);
        assert_int_equal(one.words[5 + i], bf16[i]);
        for (unsigned k = 0; k < 2; k++) {
            assert_int_equal(one.words[8 + 2 * i + k], f16[i]);
            assert_int_equal(one.words[14 + 2 * i + k], bf16[i]);
        }
    }
    exec_close(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newer_forms),        cmocka_unit_test(lop3_predicate),
        cmocka_unit_test(vector_moves),       cmocka_unit_test(variable_ranges),
        cmocka_unit_test(surface_forms),      cmocka_unit_test(element_addresses),
        cmocka_unit_test(declared_variables), cmocka_unit_test(elements_by_register),
        cmocka_unit_test(used_bytes),         cmocka_unit_test(vector_atomics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
