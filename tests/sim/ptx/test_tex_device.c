/* SPDX-License-Identifier: MIT */
/* Linear filters give the bits that a device gives: integers, normalized ones, borders, levels.
 * Each sample is fetched by a whole warp and by one lane, which go two ways through the engine. */
#include <string.h>

#include "ops_harness.h"

enum { HANDLE = 5, TEXELS = 8, LINE = 64, SIDE = 8, REGISTERS = 10 };

struct texel {
    unsigned level, index;
    uint32_t bits;
};
struct sample {
    enum ptx_channel channel;
    bool as_integer;
    unsigned dimensions;
    bool surrounded;
    float border, at[3], level;
    uint32_t result;
    struct texel texels[TEXELS];
};
#define LIST(...) __VA_ARGS__
#define SAMPLE(channel, integer, dimensions, surrounded, border, at, level, result, texels)        \
    {PTX_CHANNEL_##channel, integer, dimensions, surrounded, border, {LIST at}, level, result,     \
     {LIST texels}},
static const struct sample samples[] = {
#include "tex_device.def"
};

static char memory[2][SIDE * SIDE * SIDE * 4];
static struct ptx_level levels[2];
static struct ptx_texture texture;
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

/* Texels that the sample does not name are not read: they are of other bits. */
static void make_texture(const struct sample *sample)
{
    static const uint8_t sizes[] = {
        [PTX_CHANNEL_U8] = 1,  [PTX_CHANNEL_S8] = 1,  [PTX_CHANNEL_U16] = 2,
        [PTX_CHANNEL_S16] = 2, [PTX_CHANNEL_U32] = 4, [PTX_CHANNEL_S32] = 4};
    const unsigned size = sizes[sample->channel];
    const bool mipmapped = sample->level >= 0;

    memset(memory, 0x5a, sizeof memory);
    for (unsigned i = 0; i < TEXELS; i++) {
        const struct texel *texel = &sample->texels[i];
        for (unsigned byte = 0; byte < size && (i == 0 || texel->index); byte++)
            memory[texel->level][texel->index * size + byte] = (char)(texel->bits >> 8 * byte);
    }
    for (unsigned i = 0; i < 2; i++)
        levels[i] = (struct ptx_level){.data = memory[i], .width = LINE >> i};
    if (sample->dimensions == 3)
        levels[0] = (struct ptx_level){memory[0], SIDE,        SIDE,
                                       SIDE,      SIDE * size, (uint64_t)SIDE * SIDE * size};
    texture = (struct ptx_texture){.levels = levels,
                                   .level_count = mipmapped ? 2 : 1,
                                   .max_level = mipmapped,
                                   .linear_mipmap = mipmapped,
                                   .normalized = mipmapped,
                                   .channel = sample->channel,
                                   .channels = 1,
                                   .as_integer = sample->as_integer,
                                   .linear_filter = true,
                                   .border = {sample->border}};
    for (unsigned i = 0; i < 3; i++)
        texture.address[i] = sample->surrounded ? PTX_BORDER : PTX_CLAMP;
}

/* Registers: 0-3 results, 4 the handle, 5-8 coordinates, 9 the level. */
static uint32_t fetch(const struct sample *sample, uint32_t mask)
{
    const unsigned width = sample->dimensions == 3 ? 4 : 1, lane = (unsigned)__builtin_ctz(mask);
    const bool mipmapped = sample->level >= 0;
    struct ir_operand coordinates = {
        .kind = IR_OPERAND_VECTOR, .count = (uint8_t)width, .parts = parts};
    struct ir_operand group[2] = {{.kind = IR_OPERAND_REG}, coordinates};
    const struct ir_insn insn = {
        .op = IR_TEX,
        .geometry = sample->dimensions == 3 ? IR_3D : IR_1D,
        .types = {IR_F32, IR_F32},
        .type_count = 2,
        .vector = 4,
        .level = mipmapped ? IR_LEVEL : 0,
        .count = mipmapped ? 3 : 2,
        .destinations = 1,
        .operands = {{.kind = IR_OPERAND_VECTOR, .count = 4, .parts = parts},
                     {.kind = IR_OPERAND_GROUP, .count = 2, .parts = group},
                     {.kind = IR_OPERAND_REG}}};
    const char *reason = NULL;
    uint32_t list[REGISTERS], count = 0;

    warp_reset(&test);
    for (unsigned i = 0; i < PTX_LANES; i++) {
        test.registers[4][i] = HANDLE;
        for (unsigned k = 0; k < sample->dimensions; k++)
            memcpy((char *)test.registers[5 + k] + 4 * i, &sample->at[k], 4);
        memcpy((char *)test.registers[9] + 4 * i, &sample->level, 4);
    }
    ptx_run *const run = select_run(&insn, &test.step.how, &reason);
    assert_non_null(run);
    for (unsigned i = 0; i < REGISTERS; i++)
        if (i < 5 + width || (i == 9 && mipmapped))
            list[count++] = i * (uint32_t)sizeof test.registers[0];
    test.step.list = list;
    test.step.list_count = (uint16_t)count;
    run(&test.warp, &test.step, mask);
    assert_int_equal(take_fault(), PTX_FAULT_NONE);
    return ((const uint32_t *)(const void *)test.registers[0])[lane];
}

static void test_device(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        make_texture(&samples[i]);
        const uint32_t all = fetch(&samples[i], PTX_FULL), one = fetch(&samples[i], 8);
        if (all != samples[i].result || one != samples[i].result)
            fail_msg("sample %zu: %08x in a warp, %08x alone, %08x on the device", i, all, one,
                     samples[i].result);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_device)};
    test_world = &world;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
