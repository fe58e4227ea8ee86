/* SPDX-License-Identifier: MIT */
/* Bit fields, dot products, carry chains, setp's combinations, lanes that talk to each other, video
 * instructions: against loops over bits, bytes and lanes. */
#include <string.h>

#include "ops_harness.h"

#define REF(name, value)                                                                           \
    static void name(const uint64_t in[4], uint64_t out[2])                                        \
    {                                                                                              \
        const uint64_t a = in[0], b = in[1], c = in[2];                                            \
        (void)b;                                                                                   \
        (void)c;                                                                                   \
        out[0] = (uint64_t)(value);                                                                \
    }
#define S32(x) ((int32_t)(uint32_t)(x))

static unsigned ones(uint64_t bits)
{
    unsigned count = 0;
    for (; bits; bits &= bits - 1)
        count++;
    return count;
}
static unsigned zeros_above(uint64_t bits, unsigned width)
{
    unsigned count = 0;
    while (count < width && !(bits >> (width - 1 - count) & 1))
        count++;
    return count;
}
/* Position and length are 8 bits; of 64-bit fields devices look at all 32. */
static uint64_t field(uint64_t a, uint64_t b, uint64_t c, unsigned width, bool is_signed)
{
    const uint64_t position = width == 64 ? b : b & 255, length = width == 64 ? c : c & 255;
    uint64_t result = 0, last = position + length - 1;
    if (last > width - 1)
        last = width - 1;
    const uint64_t sign = is_signed && length ? a >> last & 1 : 0;
    for (uint64_t i = 0; i < width; i++)
        result |= (i < length && position + i < width ? a >> (position + i) & 1 : sign) << i;
    return result;
}
static uint64_t inserted(const uint64_t in[4], unsigned width)
{
    const uint64_t used = width == 64 ? UINT32_MAX : 255;
    const uint64_t position = in[2] & used, length = in[3] & used;
    uint64_t result = in[1];
    for (uint64_t i = 0; i < length && position + i < width; i++) {
        result &= ~(UINT64_C(1) << (position + i));
        result |= (in[0] >> i & 1) << (position + i);
    }
    return result;
}
static uint64_t turned(uint64_t a, unsigned width)
{
    uint64_t result = 0;
    for (unsigned i = 0; i < width; i++)
        result |= (a >> i & 1) << (width - 1 - i);
    return result;
}
static uint64_t highest(uint64_t a, unsigned width, bool is_signed, bool amount)
{
    if (is_signed && a >> (width - 1) & 1)
        a = ~a & (width == 64 ? UINT64_MAX : UINT32_MAX);
    if (a == 0)
        return UINT32_MAX;
    const unsigned above = zeros_above(a, width);
    return amount ? above : width - 1 - above;
}
static uint64_t bits_between(uint64_t a, uint64_t b, bool clamp)
{
    uint64_t result = 0, from = clamp ? a : a & 31, width = clamp ? b : b & 31;
    for (uint64_t i = 0; i < 32; i++)
        result |= (uint64_t)(i >= from && (width >= 32 || i < from + width)) << i;
    return result;
}
static uint64_t extended(uint64_t a, uint64_t b, bool clamp, bool is_signed)
{
    if (clamp && b > 31)
        return a;
    b &= 31;
    if (b == 0)
        return 0;
    return field(a, 0, b, 32, is_signed);
}
REF(popc_32, ones(a))
REF(clz_32, zeros_above(a, 32))
REF(clz_64, zeros_above(a, 64))
REF(bfind_s32, highest(a, 32, true, false))
REF(bfind_u64, highest(a, 64, false, false))
REF(bfind_s64, highest(a, 64, true, true))
REF(brev_32, turned(a, 32))
REF(brev_64, turned(a, 64))
REF(bfe_u32, field(a, b, c, 32, false))
REF(bfe_s32, field(a, b, c, 32, true))
REF(bfe_u64, field(a, b, c, 64, false))
REF(bfe_s64, field(a, b, c, 64, true))
REF(bmsk_clamp, bits_between(a, b, true))
REF(bmsk_wrap, bits_between(a, b, false))
REF(szext_clamp, extended(a, b, true, true))
REF(szext_wrap, extended(a, b, false, false))
static void bfi_32(const uint64_t in[4], uint64_t out[2])
{
    out[0] = inserted(in, 32);
}
static void bfi_64(const uint64_t in[4], uint64_t out[2])
{
    out[0] = inserted(in, 64);
}
static void fns(const uint64_t in[4], uint64_t out[2])
{
    const uint32_t bits = (uint32_t)in[0], base = (uint32_t)in[1];
    const int32_t offset = S32(in[2]);
    out[0] = UINT32_MAX;
    if (base > 31)
        return;
    if (offset == 0) {
        if (bits >> base & 1)
            out[0] = base;
        return;
    }
    int64_t left = offset > 0 ? offset : -(int64_t)offset;
    for (int place = (int)base; place >= 0 && place<32; place += offset> 0 ? 1 : -1)
        if ((bits >> place & 1) && --left == 0) {
            out[0] = (uint64_t)place;
            return;
        }
}
static void dp4a_us(const uint64_t in[4], uint64_t out[2])
{
    int64_t sum = S32(in[2]);
    for (unsigned i = 0; i < 4; i++)
        sum += (int)(in[0] >> (8 * i) & 255) * (int8_t)(uint8_t)(in[1] >> (8 * i));
    out[0] = (uint32_t)sum;
}
static void dp2a_hi_su(const uint64_t in[4], uint64_t out[2])
{
    int64_t sum = S32(in[2]);
    for (unsigned i = 0; i < 2; i++)
        sum += (int16_t)(uint16_t)(in[0] >> (16 * i)) * (int)(in[1] >> (16 + 8 * i) & 255);
    out[0] = (uint32_t)sum;
}

static void test_fields(void **state)
{
    (void)state;
    static const struct op_case cases[] = {
        {"popc.b32", "4:4", popc_32, {.op = IR_POPC, .types = {IR_B32}}, false},
        {"popc.b64", "4:8", popc_32, {.op = IR_POPC, .types = {IR_B64}}, false},
        {"clz.b32", "4:4", clz_32, {.op = IR_CLZ, .types = {IR_B32}}, false},
        {"clz.b64", "4:8", clz_64, {.op = IR_CLZ, .types = {IR_B64}}, false},
        {"bfind.s32", "4:4", bfind_s32, {.op = IR_BFIND, .types = {IR_S32}}, false},
        {"bfind.u64", "4:8", bfind_u64, {.op = IR_BFIND, .types = {IR_U64}}, false},
        {"bfind.shiftamt.s64",
         "4:8",
         bfind_s64,
         {.op = IR_BFIND, .mode = IR_SHIFTAMT, .types = {IR_S64}},
         false},
        {"brev.b32", "4:4", brev_32, {.op = IR_BREV, .types = {IR_B32}}, false},
        {"brev.b64", "8:8", brev_64, {.op = IR_BREV, .types = {IR_B64}}, false},
        {"bfe.u32", "4:444", bfe_u32, {.op = IR_BFE, .types = {IR_U32}}, false},
        {"bfe.s32", "4:444", bfe_s32, {.op = IR_BFE, .types = {IR_S32}}, false},
        {"bfe.u64", "8:844", bfe_u64, {.op = IR_BFE, .types = {IR_U64}}, false},
        {"bfe.s64", "8:844", bfe_s64, {.op = IR_BFE, .types = {IR_S64}}, false},
        {"bfi.b32", "4:4444", bfi_32, {.op = IR_BFI, .types = {IR_B32}}, false},
        {"bfi.b64", "8:8844", bfi_64, {.op = IR_BFI, .types = {IR_B64}}, false},
        {"bmsk.clamp",
         "4:44",
         bmsk_clamp,
         {.op = IR_BMSK, .mode = IR_CLAMP, .types = {IR_B32}},
         false},
        {"bmsk.wrap",
         "4:44",
         bmsk_wrap,
         {.op = IR_BMSK, .mode = IR_WRAP, .types = {IR_B32}},
         false},
        {"szext.clamp.s32",
         "4:44",
         szext_clamp,
         {.op = IR_SZEXT, .mode = IR_CLAMP, .types = {IR_S32}},
         false},
        {"szext.wrap.u32",
         "4:44",
         szext_wrap,
         {.op = IR_SZEXT, .mode = IR_WRAP, .types = {IR_U32}},
         false},
        {"fns", "4:444", fns, {.op = IR_FNS, .types = {IR_B32}}, false},
        {"dp4a.u32.s32", "4:444", dp4a_us, {.op = IR_DP4A, .types = {IR_U32, IR_S32}}, false},
        {"dp2a.hi.s32.u32",
         "4:444",
         dp2a_hi_su,
         {.op = IR_DP2A, .half = IR_HI, .types = {IR_S32, IR_U32}},
         false},
    };
    CHECK(cases);
}

/* setp: p|q, a, b, c with each combination; set. */
static void lt_and(const uint64_t in[4], uint64_t out[2])
{
    out[0] = in[0] < in[1] && in[2];
    out[1] = !(in[0] < in[1]) && in[2];
}
static void eq_or(const uint64_t in[4], uint64_t out[2])
{
    out[0] = in[0] == in[1] || in[2];
    out[1] = in[0] != in[1] || in[2];
}
static void ge_xor(const uint64_t in[4], uint64_t out[2])
{
    out[0] = (S32(in[0]) >= S32(in[1])) != in[2];
    out[1] = (S32(in[0]) < S32(in[1])) != in[2];
}
static void set_ones(const uint64_t in[4], uint64_t out[2])
{
    out[0] = (int64_t)in[0] <= (int64_t)in[1] ? UINT32_MAX : 0;
}
static void set_float(const uint64_t in[4], uint64_t out[2])
{
    out[0] = in[0] != in[1] && in[2] ? 0x3f800000 : 0;
}

static void test_predicates(void **state)
{
    (void)state;
    static const struct op_case cases[] = {
        {"setp.lt.and.u64",
         "pp:88p",
         lt_and,
         {.op = IR_SETP, .compare = IR_LT, .boolean = IR_ATOM_AND, .types = {IR_U64}},
         false},
        {"setp.eq.or.b16",
         "pp:22p",
         eq_or,
         {.op = IR_SETP, .compare = IR_EQ, .boolean = IR_ATOM_OR, .types = {IR_B16}},
         false},
        {"setp.ge.xor.s32",
         "pp:44p",
         ge_xor,
         {.op = IR_SETP, .compare = IR_GE, .boolean = IR_ATOM_XOR, .types = {IR_S32}},
         false},
        {"set.le.u32.s64",
         "4:88",
         set_ones,
         {.op = IR_SET, .compare = IR_LE, .types = {IR_U32, IR_S64}},
         false},
        {"set.ne.and.f32.u32",
         "4:44p",
         set_float,
         {.op = IR_SET, .compare = IR_NE, .boolean = IR_ATOM_AND, .types = {IR_F32, IR_U32}},
         false},
    };
    CHECK(cases);
}

/* --- Carry: 32 and 64 bits at once, as chains of two words and as the wide sum --- */
static void run_chain(struct test_warp *test, struct ir_insn insn, const uint32_t operands[4],
                      uint32_t mask)
{
    const char *reason = NULL;
    ptx_run *const run = select_run(&insn, &test->step.how, &reason);
    assert_non_null(run);
    for (unsigned i = 0; i < 4; i++)
        test->step.operand[i] = operands[i] * (uint32_t)sizeof test->registers[0];
    run(&test->warp, &test->step, mask);
}

static void test_carry(void **state)
{
    static struct test_warp test;
    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        const uint32_t mask = round & 1 ? PTX_FULL : (uint32_t)random_bits() | 1;
        warp_reset(&test);
        for (unsigned lane = 0; lane < PTX_LANES; lane++)
            for (unsigned i = 0; i < 6; i++)
                test.registers[i][lane] = interesting(8);
        const uint32_t carry = test.warp.carry = (uint32_t)random_bits();
        /* 0,1 + 2,3 -> 6,7; 0,1 - 2,3 -> 8,9; mad: 0 * 2 + 4,5 -> 10,11 */
        const struct ir_insn add = {.op = IR_ADD, .cc = true, .types = {IR_U64}};
        const struct ir_insn addc = {.op = IR_ADDC, .types = {IR_U64}};
        const struct ir_insn sub = {.op = IR_SUB, .cc = true, .types = {IR_S64}};
        const struct ir_insn subc = {.op = IR_SUBC, .types = {IR_S64}};
        const struct ir_insn mad = {.op = IR_MAD, .half = IR_LO, .cc = true, .types = {IR_U64}};
        const struct ir_insn madc = {.op = IR_MADC, .half = IR_HI, .types = {IR_U64}};
        run_chain(&test, add, (const uint32_t[]){6, 0, 2, 0}, mask);
        run_chain(&test, addc, (const uint32_t[]){7, 1, 3, 0}, mask);
        run_chain(&test, sub, (const uint32_t[]){8, 0, 2, 0}, mask);
        run_chain(&test, subc, (const uint32_t[]){9, 1, 3, 0}, mask);
        run_chain(&test, mad, (const uint32_t[]){10, 0, 2, 4}, mask);
        run_chain(&test, madc, (const uint32_t[]){11, 0, 2, 5}, mask);
        assert_int_equal(test.warp.carry & ~mask, carry & ~mask);
        for (unsigned lane = 0; lane < PTX_LANES; lane++) {
#define WIDE(low, high)                                                                            \
    ((unsigned __int128)test.registers[high][lane] << 64 | test.registers[low][lane])
            if (!(mask >> lane & 1)) {
                assert_true(WIDE(6, 7) == 0 && WIDE(8, 9) == 0 && WIDE(10, 11) == 0);
                continue;
            }
            const unsigned __int128 product =
                (unsigned __int128)test.registers[0][lane] * test.registers[2][lane];
            assert_true(WIDE(6, 7) == WIDE(0, 1) + WIDE(2, 3));
            assert_true(WIDE(8, 9) == WIDE(0, 1) - WIDE(2, 3));
            assert_true(WIDE(10, 11) == product + WIDE(4, 5));
        }
    }
}

/* --- Lanes --- */
/* The step keeps the instruction's address. */
static void select_into(struct test_warp *test, const struct ir_insn *insn, ptx_run **run)
{
    const char *reason = NULL;
    *run = select_run(insn, &test->step.how, &reason);
    assert_non_null(*run);
}
static uint32_t *words(struct test_warp *test, unsigned index)
{
    return (uint32_t *)(void *)test->registers[index];
}

static void test_shuffle(void **state)
{
    static const uint8_t modes[] = {IR_SHFL_UP, IR_SHFL_DOWN, IR_SHFL_BFLY, IR_SHFL_IDX};
    static struct test_warp test;
    ptx_run *run;
    (void)state;
    for (unsigned round = 0; round < 400; round++) {
        const unsigned mode = modes[round % 4], width = 1U << (round / 4 % 6);
        const uint32_t shift = (uint32_t)random_bits() & 63, steps = 32 - width;
        const uint32_t c = steps << 8 | (mode == IR_SHFL_UP ? 0 : 31);
        warp_reset(&test);
        for (unsigned lane = 0; lane < PTX_LANES; lane++) {
            words(&test, 2)[lane] = 1000 + lane;
            words(&test, 3)[lane] = shift;
            words(&test, 4)[lane] = c;
        }
        select_into(&test,
                    &(struct ir_insn){.op = IR_SHFL,
                                      .mode = (uint8_t)mode,
                                      .count = 5,
                                      .destinations = 2,
                                      .types = {IR_B32}},
                    &run);
        for (unsigned i = 0; i < 5; i++)
            test.step.operand[i] = i == 1 ? 1 : i * (uint32_t)sizeof test.registers[0];
        run(&test.warp, &test.step, PTX_FULL);
        for (unsigned lane = 0; lane < PTX_LANES; lane++) {
            const int first = (int)(lane / width * width), end = first + (int)width;
            const int by = (int)(shift & 31);
            int from = mode == IR_SHFL_UP     ? (int)lane - by
                       : mode == IR_SHFL_DOWN ? (int)lane + by
                       : mode == IR_SHFL_BFLY ? (int)lane ^ by
                                              : first + by % (int)width;
            const bool inside = from < end && (from >= first || mode == IR_SHFL_BFLY);
            if (!inside)
                from = (int)lane;
            assert_int_equal(words(&test, 0)[lane], 1000 + from);
            assert_int_equal(test.predicates[1] >> lane & 1, inside);
        }
    }
}

static void test_votes(void **state)
{
    static struct test_warp test;
    ptx_run *run;
    (void)state;
    for (unsigned round = 0; round < 300; round++) {
        const uint32_t mask = (uint32_t)random_bits() | 1U << round % 32;
        const uint32_t member = round & 1 ? PTX_FULL : mask;
        const uint32_t p = round % 5 == 0 ? PTX_FULL : round % 5 == 1 ? 0 : (uint32_t)random_bits();
        warp_reset(&test);
        test.predicates[1] = p;
        for (unsigned lane = 0; lane < PTX_LANES; lane++) {
            words(&test, 2)[lane] = member;
            words(&test, 3)[lane] = (uint32_t)random_bits() % 4;
        }
        const struct {
            unsigned mode;
            bool want;
        } votes[] = {{IR_VOTE_ALL, (p & mask) == mask},
                     {IR_VOTE_ANY, (p & mask) != 0},
                     {IR_VOTE_UNI, (p & mask) == mask || (p & mask) == 0}};
        for (unsigned i = 0; i < 3; i++) {
            select_into(&test,
                        &(struct ir_insn){.op = IR_VOTE,
                                          .mode = (uint8_t)votes[i].mode,
                                          .count = 3,
                                          .destinations = 1,
                                          .types = {IR_PRED}},
                        &run);
            test.predicates[0] = 0x5a5a5a5a;
            test.step.operand[0] = 0;
            test.step.operand[1] = 1;
            test.step.operand[2] = 2 * (uint32_t)sizeof test.registers[0];
            run(&test.warp, &test.step, mask);
            assert_int_equal(test.predicates[0], (0x5a5a5a5a & ~mask) | (votes[i].want ? mask : 0));
        }
        select_into(&test,
                    &(struct ir_insn){.op = IR_MATCH,
                                      .mode = IR_MATCH_ANY,
                                      .count = 3,
                                      .destinations = 1,
                                      .types = {IR_B32}},
                    &run);
        test.step.operand[1] = 3 * (uint32_t)sizeof test.registers[0];
        run(&test.warp, &test.step, mask);
        for (unsigned lane = 0; lane < PTX_LANES; lane++) {
            uint32_t want = 0;
            for (unsigned other = 0; other < PTX_LANES; other++)
                want |= (uint32_t)(words(&test, 3)[other] == words(&test, 3)[lane]) << other;
            assert_int_equal(words(&test, 0)[lane], mask >> lane & 1 ? want & mask : 0);
        }
        select_into(&test,
                    &(struct ir_insn){.op = IR_REDUX,
                                      .atomic = IR_ATOM_ADD,
                                      .count = 3,
                                      .destinations = 1,
                                      .types = {IR_U32}},
                    &run);
        run(&test.warp, &test.step, mask);
        uint32_t sum = 0;
        for (unsigned lane = 0; lane < PTX_LANES; lane++)
            sum += mask >> lane & 1 ? words(&test, 3)[lane] : 0;
        assert_int_equal(words(&test, 0)[__builtin_ctz(mask)], sum);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields), cmocka_unit_test(test_predicates),
        cmocka_unit_test(test_carry),  cmocka_unit_test(test_shuffle),
        cmocka_unit_test(test_votes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
