/* SPDX-License-Identifier: MIT */
/* Textures and surfaces: places that every device agrees on, bounds, handles that are none. What
 * filters and edges give on a GPU is in tests/sim/kernels. */
#include <math.h>
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
    ptx_run *const run = select_run(&insn, &test.step.how, &reason);
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
    ptx_run *const run = select_run(&insn, &test.step.how, &reason);
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

/* --- sust.p, sured.p: a surface of 5 columns and 3 rows in the middle of other memory --- */
enum { COLUMNS = 5, ROWS = 3, MARGIN = 64, AREA = 2 * MARGIN + ROWS * (COLUMNS * 16 + 1) };
static _Alignas(16) unsigned char area[AREA], wanted[AREA];
static struct ptx_level area_level;

static void set_area(enum ptx_channel channel, unsigned channels, unsigned texel, unsigned gap)
{
    area_level = (struct ptx_level){(char *)area + MARGIN, COLUMNS, ROWS, 0, 0, 0};
    area_level.row_pitch = COLUMNS * texel + gap;
    surface = (struct ptx_texture){.levels = &area_level, .level_count = 1};
    surface.channel = channel;
    surface.channels = channels;
    for (unsigned i = 0; i < AREA; i++)
        area[i] = wanted[i] = (unsigned char)random_bits();
}

/* Lane 3 of an instruction of two dimensions; registers: 0 to 3 the values. */
static void run_formatted(const struct ir_insn *form, unsigned count, int x, int y,
                          const uint64_t values[4])
{
    static uint32_t list[7];
    const char *reason = NULL;
    struct ir_insn insn = *form;
    const struct ir_operand group = {.kind = IR_OPERAND_GROUP, .count = 2, .parts = group_parts};
    const struct ir_operand one = {.kind = IR_OPERAND_REG};
    const struct ir_operand many = {
        .kind = IR_OPERAND_VECTOR, .count = (uint8_t)count, .parts = results};
    insn.geometry = IR_2D;
    insn.formatted = true;
    insn.count = 2;
    insn.vector = (uint8_t)count;
    insn.operands[0] = group;
    insn.operands[1] = count == 1 ? one : many;
    warp_reset(&test);
    for (unsigned i = 0; i < 4 && insn.types[0] == IR_B64; i++)
        test.registers[i][3] = values[i];
    for (unsigned i = 0; i < 4 && insn.types[0] == IR_B32; i++)
        ((uint32_t *)(void *)test.registers[i])[3] = (uint32_t)values[i];
    test.registers[4][3] = HANDLE;
    ((int32_t *)(void *)test.registers[5])[3] = x;
    ((int32_t *)(void *)test.registers[6])[3] = y;
    ptx_run *const run = select_run(&insn, &test.step.how, &reason);
    assert_non_null(run);
    for (unsigned i = 0; i < 3 + count; i++)
        list[i] = (i < 3 ? 4 + i : i - 3) * (uint32_t)sizeof test.registers[0];
    test.step.list = list;
    test.step.list_count = (uint16_t)(3 + count);
    run(&test.warp, &test.step, 8);
}

/* Where an access lands; NULL: nowhere. The bounds that trap also have to. */
static unsigned char *landing(unsigned bounds, int x, int y, unsigned texel)
{
    const bool outside = x < 0 || x >= COLUMNS || y < 0 || y >= ROWS;
    assert_int_equal(take_fault(), outside && bounds == IR_TRAP_SURF
                                       ? (int)PTX_FAULT_ILLEGAL_ADDRESS
                                       : (int)PTX_FAULT_NONE);
    if (outside && bounds != IR_CLAMP_SURF)
        return NULL;
    return wanted + MARGIN + (size_t)clamped(y, ROWS) * area_level.row_pitch +
           (size_t)clamped(x, COLUMNS) * texel;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* By trying all of them; 65520 is in the middle between the largest and what would follow. */
static uint32_t nearest_half(float value)
{
    const double magnitude = fabs((double)value);
    uint32_t best = 0;
    double distance = magnitude;
    if (isnan(value))
        return 0x7fff;
    for (uint32_t bits = 1; bits < 0x7c00 && magnitude < 65520; bits++) {
        const int exponent = (int)(bits >> 10);
        const double number =
            exponent ? ldexp(1024 + (bits & 1023), exponent - 25) : ldexp(bits, -24);
        const double here = fabs(number - magnitude);
        if (here < distance || (here == distance && !(bits & 1))) {
            best = bits;
            distance = here;
        }
    }
    return (magnitude < 65520 ? best : 0x7c00) | (signbit(value) ? 0x8000 : 0);
}

static long fixed_point(float value, long least, long most)
{
    if (isnan(value))
        return 0;
    const double scaled = (double)value * (double)most;
    return scaled < (double)least ? least : scaled > (double)most ? most : lround(scaled);
}

struct channel_case {
    enum ptx_channel channel;
    unsigned size;
    bool unit;
    long long least, most; /* 0, 0: a float */
};
static const struct channel_case channel_cases[] = {
    {PTX_CHANNEL_U8, 1, false, 0, 255},         {PTX_CHANNEL_S8, 1, false, -128, 127},
    {PTX_CHANNEL_U16, 2, false, 0, 65535},      {PTX_CHANNEL_S16, 2, false, -32768, 32767},
    {PTX_CHANNEL_U32, 4, false, 0, UINT32_MAX}, {PTX_CHANNEL_S32, 4, false, INT32_MIN, INT32_MAX},
    {PTX_CHANNEL_U8, 1, true, 0, 255},          {PTX_CHANNEL_S8, 1, true, -127, 127},
    {PTX_CHANNEL_U16, 2, true, 0, 65535},       {PTX_CHANNEL_S16, 2, true, -32767, 32767},
    {PTX_CHANNEL_F16, 2, false, 0, 0},          {PTX_CHANNEL_F32, 4, false, 0, 0},
};

static uint32_t stored_channel(const struct channel_case *one, uint32_t bits)
{
    if (one->most == 0)
        return one->size == 2 ? nearest_half(float_of(bits)) : bits;
    if (one->unit)
        return (uint32_t)fixed_point(float_of(bits), (long)one->least, (long)one->most);
    const long long number = one->least < 0 ? (long long)(int32_t)bits : (long long)bits;
    return (uint32_t)(number < one->least ? one->least : number > one->most ? one->most : number);
}

static uint32_t channel_input(const struct channel_case *one)
{
    const uint32_t bits = (uint32_t)interesting(4);
    if (!one->unit && one->channel != PTX_CHANNEL_F16)
        return bits;
    if (random_bits() & 1) /* near to one, and above and below it */
        return (bits & 0x80ffffff) | ((random_bits() & 1) ? 0x3e000000 : 0x3f000000);
    return bits;
}

static void test_formatted_store(void **state)
{
    static const uint8_t bounds[] = {IR_TRAP_SURF, IR_CLAMP_SURF, IR_ZERO_SURF};
    const struct ptx_texture old = surface;
    (void)state;
    for (unsigned round = 0; round < 40 * 9 * 12; round++) {
        const struct channel_case *one = &channel_cases[round % 12];
        const unsigned channels = 1U << round / 12 % 3, count = 1U << round / 36 % 3;
        const int x = (int)(random_bits() % 9) - 2, y = (int)(random_bits() % 7) - 2;
        struct ir_insn insn = {.op = IR_SUST, .types = {IR_B32}};
        uint64_t values[4];
        insn.mode = bounds[random_bits() % 3];
        set_area(one->channel, channels, channels * one->size, round & 1);
        surface.as_integer = !one->unit;
        for (unsigned i = 0; i < 4; i++)
            values[i] = channel_input(one);
        run_formatted(&insn, count, x, y, values);
        unsigned char *place = landing(insn.mode, x, y, channels * one->size);
        for (unsigned i = 0; place && i < channels; i++) {
            const uint32_t bits = i < count ? stored_channel(one, (uint32_t)values[i]) : 0;
            for (unsigned byte = 0; byte < one->size; byte++)
                *place++ = (unsigned char)(bits >> 8 * byte);
        }
        assert_memory_equal(area, wanted, AREA);
    }
    surface = old;
}

static uint64_t reduction_of(unsigned operation, bool is_signed, bool wide, uint64_t old,
                             uint64_t value)
{
    /* As numbers of 64 bits that are in the same order. */
    const uint64_t flip = UINT64_C(1) << (wide ? 63 : 31);
    const uint64_t a = is_signed ? old ^ flip : old, b = is_signed ? value ^ flip : value;
    switch (operation) {
    case IR_ATOM_ADD:
        return old + value;
    case IR_ATOM_MIN:
        return a < b ? old : value;
    case IR_ATOM_MAX:
        return a > b ? old : value;
    case IR_ATOM_AND:
        return old & value;
    default:
        return old | value;
    }
}

static void test_formatted_reduction(void **state)
{
    static const uint8_t bounds[] = {IR_TRAP_SURF, IR_CLAMP_SURF, IR_ZERO_SURF};
    static const uint8_t operations[] = {IR_ATOM_MIN, IR_ATOM_MAX, IR_ATOM_ADD, IR_ATOM_AND,
                                         IR_ATOM_OR};
    const struct ptx_texture old = surface;
    (void)state;
    for (unsigned round = 0; round < 2000; round++) {
        const bool wide = round & 1, is_signed = round & 2;
        const int x = (int)(random_bits() % 9) - 2, y = (int)(random_bits() % 7) - 2;
        const unsigned size = wide ? 8 : 4;
        struct ir_insn insn = {.op = IR_SURED, .types = {wide ? IR_B64 : IR_B32}};
        uint64_t values[4] = {interesting(size), 0, 0, 0}, before = 0, after;
        insn.mode = bounds[random_bits() % 3];
        insn.atomic = operations[random_bits() % (wide ? 2 : 5)];
        set_area(is_signed ? PTX_CHANNEL_S32 : PTX_CHANNEL_U32, wide ? 2 : 1, size, 0);
        run_formatted(&insn, 1, x, y, values);
        unsigned char *place = landing(insn.mode, x, y, size);
        if (place) {
            memcpy(&before, place, size);
            after = reduction_of(insn.atomic, is_signed, wide, before, values[0]);
            memcpy(place, &after, size);
        }
        assert_memory_equal(area, wanted, AREA);
    }
    /* Elements that have no room for it. */
    const struct ir_insn narrow = {
        .op = IR_SURED, .types = {IR_B32}, .atomic = IR_ATOM_ADD, .mode = IR_ZERO_SURF};
    const uint64_t values[4] = {1, 0, 0, 0};
    set_area(PTX_CHANNEL_U16, 1, 2, 0);
    run_formatted(&narrow, 1, 0, 0, values);
    assert_int_equal(take_fault(), PTX_FAULT_ILLEGAL_ADDRESS);
    assert_memory_equal(area, wanted, AREA);
    surface = old;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fetch),
        cmocka_unit_test(test_wild_coordinates),
        cmocka_unit_test(test_surface),
        cmocka_unit_test(test_formatted_store),
        cmocka_unit_test(test_formatted_reduction),
    };
    for (unsigned i = 0; i < 32; i++)
        texels[i] = (float)(10 * (i / 8) + i % 8);
    test_world = &world;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
