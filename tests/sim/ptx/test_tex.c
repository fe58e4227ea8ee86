/* SPDX-License-Identifier: MIT */
/* Textures and surfaces: places that every device agrees on, bounds, handles that are none. What
 * filters and edges give on a GPU is in tests/sim/kernels. */
#include <string.h>

#include "ops_harness.h"

static float texels[4 * 8]; /* 8 columns, 4 rows: 10 * row + column */
static uint32_t words[4 * 8];
static struct ptx_level levels[2] = {{(char *)texels, 8, 4, 0, 32, 128},
                                     {(char *)texels, 4, 2, 0, 32, 64}};
static struct ptx_texture texture = {
    .levels = levels, .level_count = 1, .channel = PTX_CHANNEL_F32, .channels = 1};
static struct ptx_level surface_level = {(char *)words, 8, 4, 0, 32, 128};
static struct ptx_texture surface = {
    .levels = &surface_level, .level_count = 1, .channel = PTX_CHANNEL_U32, .channels = 1};
enum { HANDLE = 77 };

static const struct ptx_texture *find_texture(void *user, uint64_t handle)
{
    (void)user;
    return handle == HANDLE ? &texture : NULL;
}
static const struct ptx_texture *find_surface(void *user, uint64_t handle)
{
    (void)user;
    return handle == HANDLE ? &surface : NULL;
}
static const struct ptx_world world = {.texture = find_texture, .surface = find_surface};

static struct test_warp test;
static struct ir_operand coordinates[2] = {{.kind = IR_OPERAND_REG}, {.kind = IR_OPERAND_REG}};
static struct ir_operand group_parts[2] = {
    {.kind = IR_OPERAND_REG}, {.kind = IR_OPERAND_VECTOR, .count = 2, .parts = coordinates}};
static struct ir_operand results[4] = {{.kind = IR_OPERAND_REG},
                                       {.kind = IR_OPERAND_REG},
                                       {.kind = IR_OPERAND_REG},
                                       {.kind = IR_OPERAND_REG}};

/* Registers: 0-3 results or the value, 4 the handle, 5 and 6 coordinates. */
static void run_fetch(const float *x, const float *y)
{
    static uint32_t list[7];
    const char *reason = NULL;
    const struct ir_insn insn = {
        .op = IR_TEX,
        .geometry = IR_2D,
        .types = {IR_F32, IR_F32},
        .type_count = 2,
        .vector = 4,
        .count = 2,
        .destinations = 1,
        .operands = {{.kind = IR_OPERAND_VECTOR, .count = 4, .parts = results},
                     {.kind = IR_OPERAND_GROUP, .count = 2, .parts = group_parts}}};
    warp_reset(&test);
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        test.registers[4][lane] = HANDLE;
        memcpy((char *)test.registers[5] + 4 * lane, &x[lane], 4);
        memcpy((char *)test.registers[6] + 4 * lane, &y[lane], 4);
    }
    ptx_run *const run = ptx_select(&insn, &test.step, &reason);
    assert_non_null(run);
    for (unsigned i = 0; i < 7; i++)
        list[i] = i * (uint32_t)sizeof test.registers[0];
    test.step.list = list;
    test.step.list_count = 7;
    run(&test.warp, &test.step, PTX_FULL);
}
static float result(unsigned lane)
{
    float value;
    memcpy(&value, (char *)test.registers[0] + 4 * lane, 4);
    return value;
}

static int clamped(int value, int size)
{
    return value < 0 ? 0 : value >= size ? size - 1 : value;
}

static void test_fetch(void **state)
{
    static const enum ptx_address_mode modes[] = {PTX_CLAMP, PTX_BORDER, PTX_WRAP, PTX_MIRROR};
    (void)state;
    for (unsigned mode = 0; mode < 4; mode++) {
        float x[PTX_LANES], y[PTX_LANES];
        texture.address[0] = texture.address[1] = modes[mode];
        texture.normalized = modes[mode] == PTX_WRAP || modes[mode] == PTX_MIRROR;
        texture.border[0] = -5;
        for (unsigned lane = 0; lane < PTX_LANES; lane++) { /* texels' middles */
            x[lane] = (float)((int)lane - 12) + 0.5F;
            y[lane] = (float)((int)(lane % 8) - 2) + 0.5F;
            if (texture.normalized) {
                x[lane] /= 8;
                y[lane] /= 4;
            }
        }
        run_fetch(x, y);
        for (unsigned lane = 0; lane < PTX_LANES; lane++) {
            const int column = (int)lane - 12, row = (int)(lane % 8) - 2;
            const int turn = column & 15, flip = row & 7;
            const bool outside = column < 0 || column > 7 || row < 0 || row > 3;
            float want = (float)(10 * clamped(row, 4) + clamped(column, 8));
            if (modes[mode] == PTX_BORDER && outside)
                want = -5;
            if (modes[mode] == PTX_WRAP)
                want = (float)(10 * (row & 3) + (column & 7));
            if (modes[mode] == PTX_MIRROR)
                want = (float)(10 * (flip < 4 ? flip : 7 - flip) + (turn < 8 ? turn : 15 - turn));
            assert_true(result(lane) == want);
        }
    }
}

/* Any bits as coordinates stay inside of the texture: the address sanitizer watches. */
static void test_wild_coordinates(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 400; round++) {
        float x[PTX_LANES], y[PTX_LANES];
        texture.address[0] = (enum ptx_address_mode)(round & 3);
        texture.address[1] = (enum ptx_address_mode)(round >> 2 & 3);
        texture.normalized = round & 16;
        texture.linear_filter = round & 32;
        texture.level_count = round & 64 ? 2 : 1;
        for (unsigned lane = 0; lane < PTX_LANES; lane++) {
            const uint32_t bits = (uint32_t)interesting(4), other = (uint32_t)interesting(4);
            memcpy(&x[lane], &bits, 4);
            memcpy(&y[lane], &other, 4);
        }
        run_fetch(x, y);
        assert_int_equal(take_fault(), PTX_FAULT_NONE);
        for (unsigned lane = 0; lane < PTX_LANES; lane++)
            assert_true(result(lane) >= -5 && result(lane) <= 37);
    }
    texture.linear_filter = false;
    texture.level_count = 1;
}

static void run_surface(unsigned op, unsigned bounds, int x, int y, uint64_t handle)
{
    static uint32_t list[4];
    const char *reason = NULL;
    struct ir_insn insn = {.op = (uint16_t)op,
                           .geometry = IR_2D,
                           .types = {IR_B32},
                           .mode = (uint8_t)bounds,
                           .vector = 1,
                           .count = 2};
    const struct ir_operand value = {.kind = IR_OPERAND_REG};
    const struct ir_operand group = {.kind = IR_OPERAND_GROUP, .count = 2, .parts = group_parts};
    const unsigned order[2][4] = {{4, 5, 6, 0}, {0, 4, 5, 6}};
    insn.destinations = op == IR_SULD;
    insn.operands[0] = op == IR_SULD ? value : group;
    insn.operands[1] = op == IR_SULD ? group : value;
    warp_reset(&test);
    ((uint32_t *)(void *)test.registers[0])[3] = 1234;
    test.registers[4][3] = handle;
    ((int32_t *)(void *)test.registers[5])[3] = x;
    ((int32_t *)(void *)test.registers[6])[3] = y;
    ptx_run *const run = ptx_select(&insn, &test.step, &reason);
    assert_non_null(run);
    for (unsigned i = 0; i < 4; i++)
        list[i] = order[op == IR_SULD][i] * (uint32_t)sizeof test.registers[0];
    test.step.list = list;
    test.step.list_count = 4;
    run(&test.warp, &test.step, 8);
}

static void test_surface(void **state)
{
    const uint32_t *loaded = (const uint32_t *)(const void *)test.registers[0];
    (void)state;
    for (unsigned i = 0; i < 32; i++)
        words[i] = 100 + i;
    run_surface(IR_SULD, IR_TRAP_SURF, 4 * 3, 2, HANDLE);
    assert_int_equal(loaded[3], 119);
    run_surface(IR_SULD, IR_ZERO_SURF, 4 * 8, 0, HANDLE);
    assert_int_equal(loaded[3], 0);
    run_surface(IR_SULD, IR_CLAMP_SURF, 4 * 100, -7, HANDLE);
    assert_int_equal(loaded[3], 107);
    run_surface(IR_SUST, IR_TRAP_SURF, 4 * 7, 3, HANDLE);
    assert_int_equal(words[31], 1234);
    run_surface(IR_SUST, IR_ZERO_SURF, -4, 1, HANDLE);
    assert_int_equal(words[7], 107);
    assert_int_equal(take_fault(), PTX_FAULT_NONE);
    run_surface(IR_SUST, IR_TRAP_SURF, 0, 4, HANDLE);
    assert_int_equal(take_fault(), PTX_FAULT_ILLEGAL_ADDRESS);
    run_surface(IR_SULD, IR_TRAP_SURF, -4, 0, HANDLE);
    assert_int_equal(take_fault(), PTX_FAULT_ILLEGAL_ADDRESS);
    run_surface(IR_SULD, IR_TRAP_SURF, 0, 0, 5);
    assert_int_equal(take_fault(), PTX_FAULT_ILLEGAL_ADDRESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fetch),
        cmocka_unit_test(test_wild_coordinates),
        cmocka_unit_test(test_surface),
    };
    for (unsigned i = 0; i < 32; i++)
        texels[i] = (float)(10 * (i / 8) + i % 8);
    test_world = &world;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
