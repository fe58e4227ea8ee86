/* SPDX-License-Identifier: MIT */
/* Warps that run as a team, on values that are affine over it. A kernel that first calls a function
 * leaves its team at once: what programs made at random write is the same both ways, for blocks of
 * many shapes. Then cases where a team has to part. */
#include "exec_case.h"

#include <stdarg.h>

#define ROWS 12          /* words that a thread writes */
#define MOST_THREADS 256 /* of a launch */
#define INPUT (ROWS * MOST_THREADS * 4)

struct program {
    char text[32768];
    size_t size;
    uint64_t seed;
    unsigned labels, depth;
    unsigned narrow, wide; /* registers with a value: %a0 to %a39, %w0 to %w19 */
};

static void __attribute__((format(printf, 2, 3)))
put(struct program *program, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    program->size += (size_t)vsnprintf(program->text + program->size,
                                       sizeof program->text - program->size, format, list);
    va_end(list);
    assert_true(program->size < sizeof program->text);
}

static unsigned any(struct program *program, unsigned past)
{
    program->seed = program->seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(program->seed >> 40) % past;
}

#define PICK(program, table) (table)[any((program), sizeof(table) / sizeof *(table))]

/* A register to write: mostly a new one, so that many are written by one instruction alone. */
static unsigned narrow_to(struct program *program)
{
    return program->narrow < 40 && any(program, 4) ? program->narrow++
                                                   : any(program, program->narrow);
}

static unsigned wide_to(struct program *program)
{
    return program->wide < 20 && any(program, 4) ? program->wide++ : any(program, program->wide);
}

/* A value of 32 bits, and of 64. */
static const char *narrow(struct program *program)
{
    static const char *const table[] = {"1", "-3", "4",  "100",       "%r0",
                                        "7", "-1", "16", "0x7fffffff"};
    static char names[8][16];
    static unsigned turn;
    char *name = names[turn++ % 8];

    if (!any(program, 3))
        return PICK(program, table);
    snprintf(name, sizeof names[0], "%%a%u", any(program, program->narrow));
    return name;
}

static const char *wide(struct program *program)
{
    static const char *const table[] = {"8", "-5", "0x100000000", "%d7"};
    static char names[8][16];
    static unsigned turn;
    char *name = names[turn++ % 8];

    if (!any(program, 4))
        return PICK(program, table);
    snprintf(name, sizeof names[0], "%%w%u", any(program, program->wide));
    return name;
}

static void put_narrow(struct program *program)
{
    static const char *const two[] = {"add.u32", "add.s32", "sub.s32", "mul.lo.s32", "and.b32",
                                      "or.b32",  "xor.b32", "min.s32", "max.u32",    "shl.b32",
                                      "shr.u32", "shr.s32", "add.u32", "sub.u32",    "mul.lo.u32"};
    static const char *const special[] = {"%tid.x",  "%tid.y",    "%tid.z",  "%ctaid.x",
                                          "%ntid.x", "%nctaid.x", "%laneid", "%warpid"};
    const unsigned to = narrow_to(program);

    switch (any(program, 6)) {
    case 0:
        put(program, "mad.lo.s32 %%a%u, %s, %s, %s;\n", to, narrow(program), narrow(program),
            narrow(program));
        break;
    case 1:
        put(program, "mov.u32 %%a%u, %s;\n", to,
            any(program, 2) ? PICK(program, special) : narrow(program));
        break;
    case 2:
        put(program, "cvt.u32.u64 %%a%u, %%w%u;\n", to, any(program, program->wide));
        break;
    case 3:
        put(program, "%s %%a%u, %%a%u;\n", any(program, 2) ? "neg.s32" : "not.b32", to,
            any(program, program->narrow));
        break;
    default:
        put(program, "%s %%a%u, %s, %s;\n", PICK(program, two), to, narrow(program),
            narrow(program));
    }
}

static void put_wide(struct program *program)
{
    static const char *const two[] = {"add.s64", "sub.s64", "mul.lo.s64", "and.b64", "xor.b64"};
    static const char *const shift[] = {"shl.b64", "shr.u64", "shr.s64"};
    static const char *const from[] = {"mul.wide.u32", "mul.wide.s32"};
    static const char *const extend[] = {"cvt.u64.u32", "cvt.s64.s32"};
    const unsigned to = wide_to(program);

    switch (any(program, 5)) {
    case 0:
        put(program, "%s %%w%u, %s, %s;\n", PICK(program, from), to, narrow(program),
            narrow(program));
        break;
    case 1:
        put(program, "mad.wide.%s %%w%u, %s, %s, %s;\n", any(program, 2) ? "u32" : "s32", to,
            narrow(program), narrow(program), wide(program));
        break;
    case 2:
        put(program, "%s %%w%u, %%a%u;\n", PICK(program, extend), to,
            any(program, program->narrow));
        break;
    case 3:
        put(program, "%s %%w%u, %s, %u;\n", PICK(program, shift), to, wide(program),
            any(program, 70));
        break;
    default:
        put(program, "%s %%w%u, %s, %s;\n", PICK(program, two), to, wide(program), wide(program));
    }
}

static void put_compare(struct program *program)
{
    static const char *const compare[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    static const char *const type[] = {"u32", "s32", "u64", "s64"};
    const unsigned which = any(program, 4), to = 1 + any(program, 4);
    const char *(*const of)(struct program *) = which < 2 ? narrow : wide;

    if (any(program, 4))
        put(program, "setp.%s.%s %%p%u, %s, %s;\n", PICK(program, compare), type[which], to,
            of(program), of(program));
    else
        put(program, "setp.%s.or.%s %%p%u|%%p%u, %s, %s, %%p%u;\n", PICK(program, compare),
            type[which], to, to % 4 + 1, of(program), of(program), 1 + any(program, 4));
}

/* %d1: the thread's words of the input; %d8, %d9: its own in shared memory, dense and spread. */
static void put_memory(struct program *program)
{
    const unsigned reg = narrow_to(program);

    switch (any(program, 7)) {
    case 0:
        put(program, "ld.global.u32 %%a%u, [%%d1+%u];\n", reg, any(program, 8) * 4);
        break;
    case 1:
        put(program, "ld.global.u32 %%a%u, [%%d0+%u];\n", reg, INPUT + any(program, 64) * 4);
        break;
    case 2:
        put(program,
            "and.b32 %%r20, %s, 255;\nmul.wide.u32 %%d10, %%r20, 4;\nadd.u64 %%d10, %%d10, %%d0;\n"
            "ld.u32 %%a%u, [%%d10+%u];\n",
            narrow(program), reg, INPUT);
        break;
    case 3:
        put(program, "st.shared.u32 [%%d8], %s;\nld.shared.u8 %%a%u, [%%d8+1];\n", narrow(program),
            reg);
        break;
    case 4:
        put(program, "st.shared.u64 [%%d9+2048], %%w%u;\nld.shared.u16 %%a%u, [%%d9+2050];\n",
            any(program, program->wide), reg);
        break;
    case 5:
        put(program,
            "st.shared.u32 [%%d8], %s;\nred.shared.add.u32 [%%d8], %s;\nld.shared.u32 %%a%u, "
            "[%%d8];\n",
            narrow(program), narrow(program), reg);
        break;
    default:
        put(program, "ld.global.u16 %%a%u, [%%d1+%u];\n", reg, any(program, 16) * 2);
    }
}

static void put_some(struct program *program, unsigned count);

/* Around some of the others: a branch, or a loop. */
static void put_block(struct program *program)
{
    const unsigned label = program->labels++, depth = program->depth++;
    const unsigned kind = any(program, 5);

    if (kind == 0) { /* a counter that is the same for the lanes inside */
        put(program, "and.b32 %%r%u, %s, 3;\nmov.u32 %%r%u, 0;\nL%u:\n", 40 + depth,
            narrow(program), 30 + depth, label);
        put_some(program, 1 + any(program, 4));
        put(program, "add.u32 %%r%u, %%r%u, 1;\nsetp.lt.u32 %%p%u, %%r%u, %%r%u;\n", 30 + depth,
            30 + depth, 8 + depth, 30 + depth, 40 + depth);
        put(program, "@%%p%u bra L%u;\nadd.u32 %%a%u, %%r%u, 1;\n", 8 + depth, label,
            narrow_to(program), 30 + depth);
    } else if (kind == 1) {
        put(program, "and.b32 %%r%u, %s, 3;\nL%u:\n", 30 + depth, narrow(program), label);
        put_some(program, 1 + any(program, 4));
        put(program, "sub.u32 %%r%u, %%r%u, 1;\nsetp.gt.s32 %%p%u, %%r%u, 0;\n@%%p%u bra L%u;\n",
            30 + depth, 30 + depth, 8 + depth, 30 + depth, 8 + depth, label);
    } else {
        put(program, "@%s%%p%u bra L%u;\n", any(program, 2) ? "!" : "", 1 + any(program, 4), label);
        put_some(program, 1 + any(program, 4));
        put(program, "L%u:\n", label);
        if (label < 64) /* what is the same in all blocks, where others meet */
            put(program, "mul.lo.u32 %%u%u, %%r62, %u;\nadd.u32 %%a%u, %%u%u, %s;\n", label,
                label + 3, narrow_to(program), label, narrow(program));
    }
    program->depth--;
}

static void put_some(struct program *program, unsigned count)
{
    while (count--) {
        if (any(program, 6) == 0) {
            put(program, "@%s%%p%u ", any(program, 2) ? "!" : "", 1 + any(program, 4));
            (any(program, 2) ? put_narrow : put_wide)(program);
            continue;
        }
        switch (any(program, 9)) {
        case 0:
        case 1:
            put_compare(program);
            break;
        case 2:
        case 3:
            put_wide(program);
            break;
        case 4:
            put_memory(program);
            break;
        case 5:
            if (program->depth < 3)
                put_block(program);
            break;
        default:
            put_narrow(program);
        }
    }
}

/* The whole program; `alone`: it leaves its team first. */
static void put_program(struct program *program, uint64_t seed, bool alone)
{
    *program = (struct program){.seed = seed};
    put(program, "%s",
        EXEC_MODULE ".func nothing() { ret; }\n"
                    ".visible .entry k(.param .u64 out) {\n" EXEC_REGISTERS
                    ".reg .b32 %a<40>;\n.reg .b32 %u<64>;\n.reg .b64 %w<20>;\n"
                    ".shared .align 8 .b8 words[8192];\n");
    if (alone)
        put(program, "call.uni nothing, ();\n");
    put(program,
        "ld.param.u64 %%d0, [out];\ncvta.to.global.u64 %%d0, %%d0;\n"
        "mov.u32 %%r61, %%tid.x;\nmov.u32 %%r62, %%ntid.x;\nmov.u32 %%r60, %%tid.y;\n"
        "mov.u32 %%r59, %%ntid.y;\nmov.u32 %%r58, %%tid.z;\nmad.lo.u32 %%r57, %%r58, %%r59, "
        "%%r60;\n"
        "mad.lo.u32 %%r0, %%r57, %%r62, %%r61;\nmul.wide.u32 %%d7, %%r0, 4;\n"
        "add.u64 %%d1, %%d0, %%d7;\nadd.u64 %%d1, %%d1, %u;\n"
        "mov.u64 %%d6, words;\nadd.u64 %%d8, %%d6, %%d7;\nmul.wide.u32 %%d9, %%r0, 16;\n"
        "add.u64 %%d9, %%d6, %%d9;\n",
        INPUT);
    for (unsigned i = 0; i < 5; i++)
        put(program, "%s %%a%u, %%r%u, %u;\n", i % 2 ? "add.u32" : "mul.lo.u32", i, 60 + i % 3,
            i * 3);
    put(program, "mul.wide.u32 %%w0, %%a3, 12;\ncvt.s64.s32 %%w1, %%a1;\n");
    program->narrow = 5;
    program->wide = 2;
    for (unsigned i = 1; i <= 4; i++)
        put(program, "setp.lt.u32 %%p%u, %%a%u, %u;\n", i, i, i * 20);
    for (unsigned part = 0; part < 3; part++) {
        put_some(program, 4 + any(program, 12));
        if (any(program, 2))
            put(program, "bar.sync 0;\nvote.sync.ballot.b32 %%a%u, %%p1, 0xffffffff;\n",
                narrow_to(program));
    }
    if (any(program, 4) == 0)
        put(program, "@%%p%u ret;\n", 1 + any(program, 4));
    put(program,
        "mov.u32 %%r56, %%ctaid.x;\nmul.lo.u32 %%r55, %%r62, %%r59;\n"
        "mov.u32 %%r54, %%ntid.z;\nmul.lo.u32 %%r55, %%r55, %%r54;\n"
        "mad.lo.u32 %%r53, %%r55, %%r56, %%r0;\nmul.wide.u32 %%d11, %%r53, %u;\n"
        "add.u64 %%d11, %%d11, %%d0;\n",
        ROWS * 4);
    /* The sums have registers of their own: what they take may be affine. */
    for (unsigned i = 0; i < 8; i++)
        put(program, "mov.u32 %%r%u, 0;\nmov.u64 %%d%u, 0;\n", i + 1, i % 4 + 2);
    for (unsigned i = 0; i < program->narrow; i++)
        put(program, "mad.lo.u32 %%r%u, %%r%u, 3, %%a%u;\n", i % 8 + 1, i % 8 + 1, i);
    for (unsigned i = 0; i < program->wide; i++)
        put(program, "mad.lo.u64 %%d%u, %%d%u, 5, %%w%u;\n", i % 4 + 2, i % 4 + 2, i);
    for (unsigned i = 0; i < 8; i++)
        put(program, "st.global.u32 [%%d11+%u], %%r%u;\n", i * 4, i + 1);
    for (unsigned i = 0; i < 4; i++)
        put(program,
            "shr.u64 %%d12, %%d%u, 32;\nxor.b64 %%d12, %%d12, %%d%u;\n"
            "st.global.u32 [%%d11+%u], %%d12;\n",
            i + 2, i + 2, 32 + i * 4);
    put(program, "ret;\n}\n");
}

static const uint32_t shapes[][4] = {/* blocks, and their three sizes */
                                     {1, 256, 1, 1}, {2, 128, 1, 1}, {1, 16, 16, 1}, {1, 32, 8, 1},
                                     {2, 64, 2, 1},  {1, 48, 4, 1},  {1, 8, 8, 4},   {2, 100, 1, 1},
                                     {1, 33, 1, 1},  {5, 1, 1, 1},   {2, 16, 3, 2},  {1, 16, 2, 8},
                                     {4, 32, 1, 1},  {1, 96, 2, 1},  {2, 17, 1, 1},  {1, 5, 25, 2}};

static void run_program(const char *text, const uint32_t *shape, uint32_t *words)
{
    struct exec_case one;

    exec_open(&one, text, shape[0], shape[1]);
    one.request.block[1] = shape[2];
    one.request.block[2] = shape[3];
    for (uint32_t i = 0; i < EXEC_WORDS; i++)
        one.words[i] = i * UINT32_C(2654435761) >> (i % 3 * 9);
    exec_good(&one);
    memcpy(words, one.words, EXEC_WORDS * 4);
    exec_close(&one);
}

static void same_alone(void **state)
{
    static uint32_t together[EXEC_WORDS], alone[EXEC_WORDS];
    static struct program programs[2];
    const char *more = getenv("CUSHIM_TEAM_PROGRAMS");
    const uint64_t count = more ? strtoull(more, NULL, 10) : 400;

    (void)state;
    for (uint64_t seed = 1; seed <= count; seed++) {
        const uint32_t *shape = shapes[seed % (sizeof shapes / sizeof *shapes)];

        put_program(&programs[0], seed, false);
        put_program(&programs[1], seed, true);
        run_program(programs[0].text, shape, together);
        run_program(programs[1].text, shape, alone);
        for (uint32_t i = 0; i < EXEC_WORDS; i++)
            if (together[i] != alone[i])
                fail_msg(
                    "program %u, blocks of (%u,%u,%u), thread %u, value %u: 0x%x, not 0x%x\n%s",
                    (unsigned)seed, (unsigned)shape[1], (unsigned)shape[2], (unsigned)shape[3],
                    (unsigned)(i / ROWS), (unsigned)(i % ROWS), (unsigned)together[i],
                    (unsigned)alone[i], programs[0].text);
    }
}

/* The first fault in the order of the warps is reported, though a later warp comes to its own one
 * step earlier. */
static void first_fault(void **state)
{
    struct exec_case one;

    (void)state;
    exec_open(&one,
              EXEC_BODY("mul.wide.u32 %d2, %r0, 512;\nadd.u64 %d2, %d0, %d2;\n"
                        "ld.global.u32 %r1, [%d2];\nst.global.u32 [%d2+1048576], %r1;\n"),
              1, 64);
    exec_fails(&one, PTX_FAULT_ILLEGAL_ADDRESS, "thread (0,0,0)", "st: writes 4 bytes");
    exec_close(&one);
    exec_open(&one,
              EXEC_BODY("mul.wide.u32 %d2, %r0, 512;\nadd.u64 %d2, %d0, %d2;\n"
                        "ld.global.u32 %r1, [%d2];\nst.global.u32 [%d2], %r1;\n"),
              1, 64);
    exec_fails(&one, PTX_FAULT_ILLEGAL_ADDRESS, "thread (32,0,0)", "ld: reads 4 bytes");
    exec_close(&one);
    /* Where some lanes of each warp are, and the first of them that is wrong. */
    exec_open(&one,
              EXEC_BODY("and.b32 %r1, %r0, 31;\nsetp.lt.u32 %p1, %r1, 5;\n@%p1 bra skip;\n"
                        "st.global.u32 [%d1+16080], %r0;\nskip:\n"),
              1, 128);
    exec_fails(&one, PTX_FAULT_ILLEGAL_ADDRESS, "thread (76,0,0)", "st: writes 4 bytes");
    exec_close(&one);
}

/* Rows whose ends alone are good or bad, strides that wrap around, and other spaces' addresses. */
static void bad_rows(void **state)
{
    static const struct {
        const char *text, *thread;
        enum ptx_fault_kind kind;
    } cases[] = {
        {EXEC_BODY("ld.shared.u32 %r1, [%d0];\n"), "(0,0,0)", PTX_FAULT_ILLEGAL_ADDRESS},
        {EXEC_BODY("ld.global.u32 %r1, [%d1+16132];\n"), "(63,0,0)", PTX_FAULT_ILLEGAL_ADDRESS},
        {EXEC_BODY("sub.u64 %d2, %d1, 4;\nst.global.u32 [%d2], %r0;\n"), "(0,0,0)",
         PTX_FAULT_ILLEGAL_ADDRESS},
        {EXEC_BODY("sub.u64 %d2, %d0, %d1;\nadd.u64 %d2, %d2, %d0;\nadd.u64 %d2, %d2, 248;\n"
                   "st.global.u32 [%d2], %r0;\n"),
         "(63,0,0)", PTX_FAULT_ILLEGAL_ADDRESS},
        {EXEC_BODY("cvt.u64.u32 %d2, %r0;\nmul.lo.u64 %d2, %d2, 0x1000000000000000;\n"
                   "add.u64 %d2, %d0, %d2;\nld.global.u32 %r1, [%d2];\n"),
         "(1,0,0)", PTX_FAULT_ILLEGAL_ADDRESS},
        {EXEC_BODY("mul.wide.u32 %d2, %r0, 6;\nadd.u64 %d2, %d0, %d2;\n"
                   "ld.global.u32 %r1, [%d2];\n"),
         "(1,0,0)", PTX_FAULT_MISALIGNED},
        {EXEC_BODY("add.u32 %r1, %r62, 1;\nbar.sync 1, %r1;\n"), "(0,0,0)",
         PTX_FAULT_ILLEGAL_INSTRUCTION},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct exec_case one;

        exec_open(&one, cases[i].text, 1, 64);
        exec_fails(&one, cases[i].kind, cases[i].thread, "kernel 'k', block (0,0,0)");
        exec_close(&one);
    }
}

/* Atomics and prints have an order: that of the warps, as if none were in a team. */
static void order_of_warps(void **state)
{
    struct exec_case one;

    (void)state;
    exec_run(&one,
             EXEC_BODY("atom.global.add.u32 %r1, [%d0+8192], 1;\nadd.u32 %r2, %r1, 1000;\n"
                       "atom.global.exch.b32 %r3, [%d0+8196], %r2;\nst.global.u32 [%d1], %r3;\n"),
             1, 128);
    /* Each thread finds the number of the one before it: of the same warp, or its last. */
    for (uint32_t i = 0; i < 128; i++)
        assert_int_equal(one.words[i], i ? 1000 + i - 1 : 0);
    exec_close(&one);
}

/* A comparison of 64 bits, signed, of values on both sides of 0. */
static void signed_64(void **state)
{
    struct exec_case one;

    (void)state;
    exec_run(&one,
             EXEC_BODY("cvt.u64.u32 %d2, %r0;\nsub.s64 %d2, 40, %d2;\n"
                       "setp.lt.s64 %p1, %d2, 0;\nsetp.gt.u64 %p2, %d2, 40;\n"
                       "selp.u32 %r1, 1, 0, %p1;\nselp.u32 %r2, 2, 0, %p2;\n"
                       "add.u32 %r1, %r1, %r2;\nst.global.u32 [%d1], %r1;\n"),
             1, 128);
    for (uint32_t i = 0; i < 128; i++)
        assert_int_equal(one.words[i], i > 40 ? 3 : 0);
    exec_close(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_alone),     cmocka_unit_test(first_fault), cmocka_unit_test(bad_rows),
        cmocka_unit_test(order_of_warps), cmocka_unit_test(signed_64),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
