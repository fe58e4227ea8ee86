/* SPDX-License-Identifier: MIT */
/* Fetches of whole warps give what the same fetches give lane by lane, which go another way
 * through the engine: all formats, modes, filters and dimensions, at every ISA level. */
#include <string.h>

#include "ops_harness.h"

enum { HANDLE = 5, SIDE = 9, ROUNDS = 6000, REGISTERS = 12 };

static uint32_t memory[SIDE * SIDE * SIDE * 4];
static struct ptx_level level;
static struct ptx_texture texture = {.levels = &level, .level_count = 1};
static struct test_warp test;
static struct ir_operand parts[4] = {{.kind = IR_OPERAND_REG},
                                     {.kind = IR_OPERAND_REG},
                                     {.kind = IR_OPERAND_REG},
                                     {.kind = IR_OPERAND_REG}};

static const struct ptx_texture *find_texture(void *user, uint64_t handle)
{
    (void)user;
    return handle == HANDLE ? &texture : NULL;
}
static const struct ptx_world world = {.texture = find_texture};

static unsigned below(unsigned limit)
{
    return (unsigned)(random_bits() % limit);
}

static const enum ptx_channel channels[] = {PTX_CHANNEL_U8,  PTX_CHANNEL_U16, PTX_CHANNEL_U32,
                                            PTX_CHANNEL_S8,  PTX_CHANNEL_S16, PTX_CHANNEL_S32,
                                            PTX_CHANNEL_F16, PTX_CHANNEL_F32};

static uint32_t float_bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Texels: any bits, or numbers of a modest size, which do not all sum up to NaN. */
static void random_texture(unsigned round)
{
    static const float borders[] = {0, 1, -1, 0.5F, -2.5F, 1e30F, 1e-42F, 300};
    static const uint8_t sizes[] = {1, 2, 4, 1, 2, 4, 2, 4};
    const unsigned size = sizes[round % 8];
    texture.channel = channels[round % 8];
    texture.channels = 1U << below(3);
    texture.normalized = below(2);
    texture.linear_filter = below(4) != 0;
    texture.as_integer = below(4) == 0;
    for (unsigned i = 0; i < 3; i++)
        texture.address[i] = (enum ptx_address_mode)below(4);
    for (unsigned i = 0; i < 4; i++)
        texture.border[i] = borders[below(8)];
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
        const uint32_t bits = (uint32_t)random_bits();
        memory[i] = round & 8 ? bits : float_bits_of((float)(bits % 4096) / 64 - 32);
        if (texture.channel == PTX_CHANNEL_F16 && !(round & 8)) /* exponents in the middle */
            memory[i] = (bits & UINT32_C(0x8fff8fff)) | UINT32_C(0x30003000);
    }
    level = (struct ptx_level){(char *)memory,
                               1 + below(SIDE),
                               1 + below(SIDE),
                               1 + below(SIDE),
                               (uint64_t)SIDE * size * texture.channels,
                               (uint64_t)SIDE * SIDE * size * texture.channels};
}

/* Registers: 0-3 results, 4 the handle, 5-8 coordinates, 9-11 offsets. */
static void random_coordinates(bool integer, float reach)
{
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        test.registers[4][lane] = HANDLE;
        for (unsigned i = 5; i < 9; i++) {
            const float near = ((float)below(1 << 20) / (1 << 20) * 3 - 1) * reach;
            const uint32_t any = (uint32_t)interesting(4);
            const uint32_t number = integer ? (uint32_t)(int32_t)near : float_bits_of(near);
            const uint32_t bits = below(16) ? number : any;
            memcpy((char *)test.registers[i] + 4 * lane, &bits, 4);
        }
        for (unsigned i = 9; i < 12; i++) {
            const uint32_t bits = below(16);
            memcpy((char *)test.registers[i] + 4 * lane, &bits, 4);
        }
    }
}

static void test_against_lanes(void **state)
{
    static const unsigned geometries[] = {IR_1D, IR_2D, IR_3D, IR_A1D, IR_A2D};
    static const uint8_t widths[] = {1, 2, 4, 2, 4}, dimensions[] = {1, 2, 3, 1, 2};
    static const unsigned types[] = {IR_F32, IR_F16X2, IR_F16};
    unsigned filled = 0;
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        const unsigned which = below(5), count = widths[which];
        const bool integer = below(3) == 0, offset = below(2);
        const unsigned type = types[below(8) < 6 ? 0 : 1 + below(2)];
        const unsigned results = type == IR_F16X2 ? 2 : 4;
        const uint32_t mask = below(2) ? PTX_FULL : (uint32_t)random_bits() | 0xf0;
        struct ir_operand coordinates = {
            .kind = IR_OPERAND_VECTOR, .count = (uint8_t)count, .parts = parts};
        struct ir_operand group[2] = {{.kind = IR_OPERAND_REG}, coordinates};
        const struct ir_insn insn = {
            .op = IR_TEX,
            .geometry = (uint8_t)geometries[which],
            .types = {(uint8_t)type, integer ? IR_S32 : IR_F32},
            .type_count = 2,
            .vector = (uint8_t)results,
            .count = offset ? 3 : 2,
            .destinations = 1,
            .operands = {{.kind = IR_OPERAND_VECTOR, .count = (uint8_t)results, .parts = parts},
                         {.kind = IR_OPERAND_GROUP, .count = 2, .parts = group},
                         {.kind = IR_OPERAND_VECTOR, .count = 2, .parts = parts}}};
        uint32_t list[REGISTERS];
        unsigned at = 0;
        random_texture(round);
        warp_reset(&test);
        random_coordinates(integer, texture.normalized && !integer ? 1 : SIDE);
        for (unsigned i = 0; i < results; i++)
            list[at++] = i * (uint32_t)sizeof test.registers[0];
        for (unsigned i = 4; i < 5 + count; i++)
            list[at++] = i * (uint32_t)sizeof test.registers[0];
        for (unsigned i = 9; offset && i < 9U + dimensions[which]; i++)
            list[at++] = i * (uint32_t)sizeof test.registers[0];
        test.step.list = list;
        test.step.list_count = (uint16_t)at;
        for (enum ops_level isa = OPS_BASE; isa <= select_best_level(); isa++) {
            uint64_t whole[4][PTX_LANES];
            const char *reason = NULL;
            ptx_run *const run = select_at(isa, &insn, &test.step.how, &reason);
            assert_non_null(run);
            memset(test.registers, 0x5a, 4 * sizeof test.registers[0]);
            run(&test.warp, &test.step, mask);
            memcpy(whole, test.registers, sizeof whole);
            memset(test.registers, 0x5a, 4 * sizeof test.registers[0]);
            for (unsigned lane = 0; lane < PTX_LANES; lane++)
                if (mask >> lane & 1)
                    run(&test.warp, &test.step, UINT32_C(1) << lane);
            assert_int_equal(take_fault(), PTX_FAULT_NONE);
            for (unsigned i = 0; i < results; i++)
                for (unsigned lane = 0; lane < PTX_LANES; lane++) {
                    const uint32_t *one = (const uint32_t *)(const void *)test.registers[i];
                    const uint32_t *all = (const uint32_t *)(const void *)whole[i];
                    filled += one[lane] != 0 && one[lane] != UINT32_C(0x7fffffff);
                    if (one[lane] != all[lane])
                        fail_msg("round %u, level %d, channel %d of %d, lane %u, result %u: "
                                 "%08x, alone %08x",
                                 round, (int)isa, (int)texture.channel, (int)texture.channels, lane,
                                 i, all[lane], one[lane]);
                }
        }
    }
    assert_true(filled > ROUNDS * 32);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_lanes)};
    test_world = &world;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
