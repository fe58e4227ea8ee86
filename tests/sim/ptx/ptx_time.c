/* SPDX-License-Identifier: MIT */
/* Time single instructions on the PTX engine alone, and the loading of text:
 *     ptx_time [NAME [RUNS]]      nanoseconds of a warp's step; NAME is a name below, or part of
 * some ptx_time load [LINES]       one function of so many lines, and many functions */
#include "world.h"

#include <sys/resource.h>
#include <time.h>

enum { COPIES = 16, ROUNDS = 256, TEXT = 1 << 16, SIDE = 64, EDGE = 16, TEXTURE = 77 };

static const struct {
    const char *name;
    const char *text; /* f: floats, i and j: integers, l and m: 64 bits, x: the texture's handle;
                         d, k: less than 2^23; A: elements of a matrix, finite */
} steps[] = {
    {"mov.b32", "mov.b32 o, i;"},
    {"add.s32", "add.s32 o, i, j;"},
    {"fma.f32", "fma.rn.f32 g, f, f, f;"},
    {"sin", "sin.approx.f32 g, f;"},
    {"cos", "cos.approx.f32 g, f;"},
    {"ex2", "ex2.approx.f32 g, f;"},
    {"lg2", "lg2.approx.f32 g, f;"},
    {"rcp", "rcp.approx.f32 g, f;"},
    {"sqrt", "sqrt.approx.f32 g, f;"},
    {"rsqrt", "rsqrt.approx.f32 g, f;"},
    {"tanh", "tanh.approx.f32 g, f;"},
    {"sin, one lane", "@p sin.approx.f32 g, f;"},
    {"lg2, one lane", "@p lg2.approx.f32 g, f;"},
    {"div.u32", "div.u32 o, i, j;"},
    {"div.s32", "div.s32 o, i, j;"},
    {"rem.u32", "rem.u32 o, i, j;"},
    {"rem.s32", "rem.s32 o, i, j;"},
    {"div.u32, uniform", "div.u32 o, i, 12;"},
    {"div.u32, below 2^23", "div.u32 o, d, k;"},
    {"div.s32, below 2^23", "div.s32 o, d, k;"},
    {"div.u16", "div.u16 s, t, u;"},
    {"div.u64", "div.u64 n, l, m;"},
    {"rem.s64", "rem.s64 n, l, m;"},
    {"div.s64", "div.s64 n, l, m;"},
    {"rem.u64", "rem.u64 n, l, m;"},
    {"div.u64, wide", "div.u64 n, w, v;"},
    {"div.s64, wide", "div.s64 n, w, v;"},
    {"rem.u64, wide", "rem.u64 n, w, v;"},
    {"rem.s64, wide", "rem.s64 n, w, v;"},
    {"div.u64, wide by short", "div.u64 n, w, m;"},
    {"div.u64, one lane", "@p div.u64 n, w, v;"},
    {"div.u32, one lane", "@p div.u32 o, i, j;"},
    {"setp.lt.s32", "setp.lt.s32 q, i, j;"},
    {"ld.global, row", "ld.global.b32 o, [r];"},
    {"ld.global, uniform", "ld.global.b32 o, [z];"},
    {"ld.global, scattered", "ld.global.b32 o, [y];"},
    {"st.global, row", "st.global.b32 [r], i;"},
    {"tex 1d, linear", "tex.1d.v4.f32.f32 {g, h, h, h}, [x1, {f}];"},
    {"tex 3d, linear", "tex.3d.v4.f32.f32 {g, h, h, h}, [x3, {f, f, f, f}];"},
    {"tex 2d, linear", "tex.2d.v4.f32.f32 {g, h, h, h}, [x, {f, f}];"},
    {"tex 2d, nearest", "tex.2d.v4.f32.s32 {g, h, h, h}, [x, {i, j}];"},
    {"tex 2d, linear, bytes", "tex.2d.v4.f32.f32 {g, h, h, h}, [b, {f, f}];"},
#define MMA(shape, d, ab, c, as, bs, cs)                                                           \
    "mma.sync.aligned." shape ".row.col." d "." ab "." ab "." c " {" cs "}, {" as "}, {" bs        \
    "}, {" cs "};"
    {"mma f16", MMA("m16n8k16", "f32", "f16", "f32", "A, A, A, A", "A, A", "g, g, h, h")},
    {"mma f16, f16 sums", MMA("m16n8k16", "f16", "f16", "f16", "A, A, A, A", "A, A", "B, C")},
    {"mma bf16", MMA("m16n8k16", "f32", "bf16", "f32", "A, A, A, A", "A, A", "g, g, h, h")},
    {"mma tf32", MMA("m16n8k8", "f32", "tf32", "f32", "A, A, A, A", "A, A", "g, g, h, h")},
    {"mma e4m3", MMA("m16n8k32", "f32", "e4m3", "f32", "A, A, A, A", "A, A", "g, g, h, h")},
    {"mma e5m2", MMA("m16n8k32", "f32", "e5m2", "f32", "A, A, A, A", "A, A", "g, g, h, h")},
    {"mma s8", MMA("m16n8k32", "s32", "s8", "s32", "A, A, A, A", "A, A", "B, C, B, C")},
    {"mma.sp f16", "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {g, g, h, h}, "
                   "{A, A, A, A}, {A, A, A, A}, {g, g, h, h}, M, 0;"},
};

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static float texels[SIDE * SIDE * 4];
static struct ptx_level level = {(char *)texels, SIDE, SIDE, 0, SIDE * 16, SIDE *SIDE * 16};
static struct ptx_level line_level = {(char *)texels, SIDE *SIDE, 0, 0, sizeof texels, 0};
static struct ptx_level cube_level = {(char *)texels, EDGE, EDGE, EDGE, EDGE * 16, EDGE *EDGE * 16};
static struct ptx_level byte_level = {(char *)texels, SIDE, SIDE, 0, SIDE * 4, SIDE *SIDE * 4};
#define FLOATS(which)                                                                              \
    {                                                                                              \
        .levels = (which), .level_count = 1, .channel = PTX_CHANNEL_F32, .channels = 4,            \
        .linear_filter = true                                                                      \
    }
static struct ptx_texture textures[] = {
    FLOATS(&level),
    {.levels = &byte_level,
     .level_count = 1,
     .channel = PTX_CHANNEL_U8,
     .channels = 4,
     .linear_filter = true},
    FLOATS(&line_level),
    FLOATS(&cube_level),
};

static const struct ptx_texture *find_texture(void *user, uint64_t handle)
{
    (void)user;
    return handle - TEXTURE < sizeof textures / sizeof *textures ? &textures[handle - TEXTURE]
                                                                 : NULL;
}

static bool open_text(struct world *world, const char *text, size_t size)
{
    struct ptx_text errors = {0};

    world_open(world);
    world->calls.texture = find_texture;
    world->machine.workers = 1;
    if (world_load(world, text, size, &errors))
        return true;
    fprintf(stderr, "%s\n", errors.data ? errors.data : "no memory");
    ptx_text_free(&errors);
    return false;
}

static double time_step(const char *text, const char *copies, int runs)
{
    static char all[TEXT];
    struct world world;
    double best = 1e9;
    uint64_t memory;
    int used;

    used = snprintf(
        all, sizeof all,
        ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 at)\n{\n"
        ".reg .b32 i, j, o, c; .reg .f32 f, g, h; .reg .b64 l, m, n, r, x, b, y, z, v, w;\n"
        ".reg .b16 s, t, u; .reg .pred p, q, e; .reg .b32 d, k, A, B, C, M; .reg .b64 x1, x3;\n"
        "mov.u32 i, %%tid.x; cvt.rn.f32.u32 f, i; fma.rn.f32 f, f, 0f3ebd70a4, 0f3dcccccd;\n"
        "setp.eq.u32 p, i, 5; mad.lo.u32 j, i, 0x1234567, 3; and.b32 j, j, 0xffff;\n"
        "ld.param.u64 z, [at]; mad.wide.u32 r, i, 4, z; mul.lo.u32 c, i, 13;\n"
        "mad.wide.u32 y, c, 4, z; mov.u64 x, %d; mov.u64 b, %d; mad.lo.u32 i, i, 0x7654321, 9;\n"
        "mov.u64 x1, %d; mov.u64 x3, %d; and.b32 d, i, 0x7fffff; and.b32 k, j, 0xfff;\n"
        "cvt.u64.u32 l, i; cvt.u64.u32 m, j; mul.lo.u64 w, l, 0x123456789a; or.b64 v, m, "
        "0x100000000;\n"
        "cvt.u16.u32 t, i; cvt.u16.u32 u, j; mov.u32 c, 0;\n"
        "and.b32 A, i, 0xbbbbbbbb; mov.u32 B, 0; mov.u32 C, 0; mov.u32 M, 0x44444444;\n"
        "%s\nL:\n",
        TEXTURE, TEXTURE + 1, TEXTURE + 2, TEXTURE + 3,
        strstr(text, "tex.2d.v4.f32.s32") ? "and.b32 i, i, 63; and.b32 j, j, 63;" : "");
    for (int i = 0; i < COPIES; i++)
        used += snprintf(all + used, sizeof all - (size_t)used, "%s\n", copies);
    used += snprintf(all + used, sizeof all - (size_t)used,
                     "add.u32 c, c, 1; setp.lt.u32 e, c, %d; @e bra L;\nret;\n}\n", ROUNDS);
    if (!open_text(&world, all, (size_t)used + 1))
        exit(1);
    memory = world_alloc(&world, 1 << 16);
    for (int i = 0; i < runs; i++) {
        struct ptx_launch request = {.image = world.image,
                                     .function = world_function(&world, "k"),
                                     .grid = {16, 1, 1},
                                     .block = {32, 1, 1},
                                     .params = &memory,
                                     .machine = &world.machine,
                                     .world = &world.calls};
        double start = seconds();

        if (!ptx_launch(&request, &world.fault)) {
            fprintf(stderr, "%s\n", world.fault.report);
            exit(1);
        }
        best = seconds() - start < best ? seconds() - start : best;
    }
    world_close(&world);
    return best * 1e9 / (16 * COPIES * ROUNDS);
}

static void time_load(const char *what, size_t lines, size_t functions)
{
    size_t room = lines * 48 + functions * 256 + 256, used;
    char *text = malloc(room);
    struct world world;
    struct rusage usage;
    double start;

    if (!text)
        return;
    used = (size_t)snprintf(text, room, ".version 8.0\n.target sm_80\n.address_size 64\n");
    for (size_t f = 0; f < functions; f++) {
        used += (size_t)snprintf(text + used, room - used,
                                 ".visible .entry k%zu(.param .u64 at)\n{\n.reg .b32 r<64>;\n"
                                 ".reg .pred p;\n.reg .b64 a;\nld.param.u64 a, [at];\n",
                                 f);
        for (size_t i = 0; i < lines / functions; i++)
            used +=
                (size_t)snprintf(text + used, room - used,
                                 i % 16 == 7    ? "setp.lt.u32 p, r%zu, r%zu; @p bra L%zu;\nL%zu:\n"
                                 : i % 16 == 15 ? "ld.global.b32 r%zu, [a+%zu]; // %zu %zu\n"
                                                : "mad.lo.u32 r%zu, r%zu, %zu, %zu;\n",
                                 i % 64, i % 16 == 15 ? i % 64 * 4 : (i * 7 + 1) % 64, i, i);
        used += (size_t)snprintf(text + used, room - used, "st.global.b32 [a], r1;\nret;\n}\n");
    }
    start = seconds();
    if (open_text(&world, text, used + 1)) {
        start = seconds() - start;
        getrusage(RUSAGE_SELF, &usage);
        printf("%-20s %zu lines, %zu bytes: %.3f s; %ld KiB resident at most\n", what, lines, used,
               start, usage.ru_maxrss);
    }
    world_close(&world);
    free(text);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    bool is_whole = false;

    if (strcmp(name, "load") == 0) {
        size_t lines = argc > 2 ? (size_t)atol(argv[2]) : 100000;

        time_load("many functions", lines, lines / 100);
        time_load("one function", lines, 1);
        return 0;
    }
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        is_whole |= strcmp(steps[i].name, name) == 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (is_whole ? strcmp(steps[i].name, name) == 0 : !!strstr(steps[i].name, name))
            printf("%-24s %8.1f ns\n", steps[i].name,
                   time_step(steps[i].text, steps[i].text, argc > 2 ? atoi(argv[2]) : 9));
    return 0;
}
