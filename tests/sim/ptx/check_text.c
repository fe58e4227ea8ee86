/* SPDX-License-Identifier: MIT */
/* Random programs of the model, and their PTX. */
#include "check_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec_text.h"

static uint32_t any(struct check_text *text, uint32_t past)
{
    text->seed = text->seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(text->seed >> 40) % past;
}

#define PICK(text, ...)                                                                            \
    (((const uint32_t[]){                                                                          \
        __VA_ARGS__})[any(text, (uint32_t)(sizeof(uint32_t[]){__VA_ARGS__} / sizeof(uint32_t)))])

/* --- Programs --- */

static struct model_statement *add(struct check_text *text, enum model_kind kind)
{
    struct model_program *program = &text->program;

    if (program->count == MODEL_STATEMENTS) {
        text->full = true;
        program->count--;
    }
    program->statements[program->count] = (struct model_statement){.kind = kind};
    return &program->statements[program->count++];
}

static struct model_test test(struct check_text *text)
{
    switch (any(text, 6)) {
    case 0:
        return (struct model_test){MODEL_BELOW, PICK(text, 1, 16, 32, 33, 40, 64, 96)};
    case 1:
        return (struct model_test){MODEL_FROM, PICK(text, 1, 16, 31, 32, 48, 64)};
    case 2:
        return (struct model_test){MODEL_BIT, PICK(text, 1, 2, 16, 32, 64)};
    case 3:
        return (struct model_test){MODEL_BLOCK_IS, any(text, text->program.blocks)};
    default:
        return (struct model_test){MODEL_WARP_IS, any(text, (text->program.threads + 31) / 32)};
    }
}

/* Do all lanes of a warp agree? */
static bool is_of_warps(const struct model_test *test)
{
    return test->kind == MODEL_WARP_IS || test->kind == MODEL_BLOCK_IS || test->value % 32 == 0;
}

static void add_access(struct check_text *text)
{
    struct model_statement *statement = add(text, MODEL_ACCESS);
    const uint32_t kind = any(text, 12);
    const bool own = any(text, 100) < text->owners;

    statement->global = any(text, 100) < text->globals;
    statement->read = kind < 5 || kind == 10;
    statement->write = !statement->read;
    statement->size = (uint8_t)PICK(text, 1, 2, 4, 4, 4, 4, 8, 8, 16);
    if (text->atomics && any(text, 5) == 0) {
        statement->atomic = true;
        statement->size = any(text, 4) ? 4 : 8;
        statement->read = statement->write = true;
        if (any(text, 4) == 0)
            *(any(text, 2) ? &statement->read : &statement->write) = false;
    }
    if (own && any(text, 4))
        statement->size = text->element;
    statement->atomic &= statement->size == 4 || statement->size == 8;
    if (statement->read && statement->write)
        statement->write = statement->atomic;
    statement->constant = any(text, 8) == 0;
    statement->index = own ? MODEL_OWN : (enum model_index)any(text, MODEL_PLACES);
    switch (statement->index) {
    case MODEL_XOR:
        statement->a = PICK(text, 1, 2, 16, 31, 32, 33, 64);
        break;
    case MODEL_WRAPPED:
        statement->a = PICK(text, 1, 4, 31, 32, 64);
        break;
    case MODEL_SPREAD:
        statement->a = PICK(text, 2, 3, 4, 16, 17);
        break;
    case MODEL_SHARED_BY:
        statement->a = PICK(text, 2, 4, 16, 32);
        break;
    default:
        statement->a = PICK(text, 0, 1, 3, 4, 16, 32, 64);
    }
    statement->offset = own ? text->offset : PICK(text, 0, 0, 0, 16, 64, 1024, 4, 8, 100);
    if (own && any(text, 4) == 0)
        statement->offset = 4096;
    statement->offset -= statement->offset % statement->size;
    statement->stride = any(text, 8) ? 4096 : 0;
    statement->guarded = any(text, 6) == 0;
    statement->test = test(text);
}

static void add_many(struct check_text *text, uint32_t depth, bool blocks, bool warps);

static void add_one(struct check_text *text, uint32_t depth, bool blocks, bool warps)
{
    const uint32_t count = (text->program.threads + 31) / 32, what = any(text, 100);
    const uint32_t id = ++text->ids;
    struct model_statement *statement;

    if (depth < 2 && what < 12) {
        const struct model_test wanted = test(text);

        add(text, MODEL_IF)->test = wanted;
        add_many(text, depth + 1, blocks && wanted.kind == MODEL_BLOCK_IS,
                 warps && is_of_warps(&wanted));
        if (any(text, 2)) {
            add(text, MODEL_ELSE)->a = id;
            add_many(text, depth + 1, blocks && wanted.kind == MODEL_BLOCK_IS,
                     warps && is_of_warps(&wanted));
        }
        add(text, MODEL_END)->a = id;
    } else if (depth < 2 && what < 20) {
        add(text, MODEL_LOOP)->a = PICK(text, 1, 2, 2, 3);
        add_many(text, depth + 1, blocks, warps);
        add(text, MODEL_END)->a = id;
    } else if (blocks && what < 20 + text->barriers) {
        add(text, MODEL_BARRIER);
    } else if (warps && what < 30 + text->barriers) {
        add(text, MODEL_WARP_BARRIER);
    } else if (depth == 0 && text->pairs && count > 1 && what < 45 + text->barriers) {
        statement = add(text, any(text, 2) ? MODEL_PAIR_SYNC : MODEL_PAIR_ARRIVE);
        statement->a = any(text, count);
        statement->b = (statement->a + 1 + any(text, count - 1)) % count;
    } else if (depth == 0 && what == 99) {
        add(text, MODEL_EXIT)->test = test(text);
    } else {
        add_access(text);
    }
}

static void add_many(struct check_text *text, uint32_t depth, bool blocks, bool warps)
{
    const uint32_t count = 1 + any(text, 3);

    for (uint32_t i = 0; i < count; i++)
        add_one(text, depth, blocks, warps);
}

static void put_program(struct check_text *text);

void check_text_make(struct check_text *text, uint64_t seed, bool alone)
{
    static struct model_answer answer, next;
    struct model_program *program = &text->program;
    uint32_t wanted;

    memset(text, 0, sizeof *text);
    text->seed = seed * UINT64_C(0x9E3779B97F4A7C15);
    text->alone = alone;
    any(text, 2);
    program->threads = PICK(text, 32, 48, 64, 64, 80, 96, 128, 128, 256);
    program->blocks = 1 + any(text, any(text, 2) ? 1 : MODEL_BLOCKS);
    program->written = any(text, 3) ? MODEL_AREA : any(text, MODEL_AREA);
    text->owners = PICK(text, 0, 30, 60, 90);
    text->globals = PICK(text, 0, 20, 50, 100);
    text->barriers = PICK(text, 5, 20, 40);
    text->atomics = any(text, 3) == 0;
    text->pairs = any(text, 3) == 0 && program->threads % 32 == 0;
    text->element = (uint8_t)PICK(text, 1, 2, 4, 4, 8, 16);
    text->offset = PICK(text, 0, 0, 16, 64);
    wanted = 4 + any(text, MODEL_STATEMENTS - 14);
    put_program(text);
    model_answer(program, &answer);
    for (uint32_t tries = 0; program->count < wanted && tries < 40; tries++) {
        const uint32_t count = program->count;

        text->full = false;
        add_one(text, 0, true, true);
        if (text->full) {
            program->count = count;
            continue;
        }
        put_program(text);
        model_answer(program, &next);
        if (!next.fits ||
            (next.races > answer.races && any(text, 100) < (answer.races ? 95 : 50)) ||
            (next.races_some > answer.races_some && any(text, 2)) ||
            (next.inits_some > answer.inits_some && any(text, 100) < 80)) {
            program->count = count;
            continue;
        }
        answer = next;
    }
    put_program(text);
}

/* --- Text --- */

static void __attribute__((format(printf, 2, 3)))
put(struct check_text *text, const char *format, ...)
{
    const size_t before = text->size;
    va_list list;

    va_start(list, format);
    text->size +=
        (size_t)vsnprintf(text->text + text->size, sizeof text->text - text->size, format, list);
    va_end(list);
    if (text->size >= sizeof text->text)
        abort();
    for (size_t i = before; i < text->size; i++)
        text->lines += text->text[i] == '\n';
}

static void put_test(struct check_text *text, const struct model_test *test)
{
    switch (test->kind) {
    case MODEL_BELOW:
        put(text, "setp.lt.u32 %%p1, %%r61, %u;\n", test->value);
        break;
    case MODEL_FROM:
        put(text, "setp.ge.u32 %%p1, %%r61, %u;\n", test->value);
        break;
    case MODEL_BIT:
        put(text, "and.b32 %%r21, %%r61, %u;\nsetp.ne.u32 %%p1, %%r21, 0;\n", test->value);
        break;
    case MODEL_WARP_IS:
        put(text, "setp.eq.u32 %%p1, %%r57, %u;\n", test->value);
        break;
    default:
        put(text, "setp.eq.u32 %%p1, %%r63, %u;\n", test->value);
    }
}

/* %r20: the thread's element. */
static void put_element(struct check_text *text, const struct model_statement *statement,
                        uint32_t loop)
{
    const uint32_t a = statement->a;
    uint32_t mask = 1;

    while (mask < text->program.threads)
        mask *= 2;
    switch (statement->index) {
    case MODEL_XOR:
        put(text, "xor.b32 %%r20, %%r61, %u;\n", a);
        break;
    case MODEL_WRAPPED:
        put(text, "add.u32 %%r20, %%r61, %u;\nand.b32 %%r20, %%r20, %u;\n", a, mask - 1);
        break;
    case MODEL_LANE:
        put(text, "and.b32 %%r20, %%r61, 31;\n");
        break;
    case MODEL_WARP:
        put(text, "shr.u32 %%r20, %%r61, 5;\n");
        break;
    case MODEL_ONE:
        put(text, "mov.u32 %%r20, %u;\n", a);
        break;
    case MODEL_SPREAD:
        put(text, "mul.lo.u32 %%r20, %%r61, %u;\n", a);
        break;
    case MODEL_REVERSED:
        put(text, "sub.u32 %%r20, 255, %%r61;\n");
        break;
    case MODEL_SHARED_BY:
        put(text, "shr.u32 %%r20, %%r61, %d;\n", __builtin_ctz(a));
        break;
    case MODEL_NEXT:
        put(text, "add.u32 %%r20, %%r61, %u;\n", a);
        break;
    case MODEL_TURN:
        put(text, "mad.lo.u32 %%r20, %%r%u, %u, %%r61;\n", 40 + loop, loop ? a : 0);
        break;
    case MODEL_HALVES:
        put(text,
            "and.b32 %%r20, %%r61, 15;\nshr.u32 %%r21, %%r61, 4;\n"
            "mad.lo.u32 %%r20, %%r21, %u, %%r20;\n",
            a);
        break;
    default:
        put(text, "mov.u32 %%r20, %%r61;\n");
    }
}

static void put_values(struct check_text *text, const struct model_statement *statement)
{
    if (statement->constant)
        put(text, "mov.u32 %%r30, 7;\nmov.u32 %%r31, 7;\nmov.u32 %%r32, 7;\nmov.u32 %%r33, 7;\n");
    else
        put(text,
            "mad.lo.u32 %%r30, %%r63, 16384, %%r61;\nadd.u32 %%r30, %%r30, %u;\n"
            "not.b32 %%r31, %%r30;\nxor.b32 %%r32, %%r30, 0x40000000;\n"
            "not.b32 %%r33, %%r32;\n",
            text->lines << 20);
    put(text, statement->constant ? "mov.b64 %%d30, 7;\n" : "mov.b64 %%d30, {%%r30, %%r31};\n");
    put(text, "cvt.u16.u32 %%h1, %%r30;\n");
}

static void put_access(struct check_text *text, struct model_statement *statement, uint32_t loop)
{
    static const char *const types[] = {"u8", "u16", "u32", "u64", "v4.u32"};
    static const char *const values[] = {"%h1", "%h1", "%r30", "%d30", "{%r30, %r31, %r32, %r33}"};
    const unsigned log = (unsigned)__builtin_ctz(statement->size);
    const bool pair = log == 3 && model_is_vector(statement);
    const char *type = pair ? "v2.u32" : types[log];
    const char *value = pair ? "{%r30, %r31}" : values[log];
    const char *space = statement->global ? ".global" : ".shared";
    char place[40];

    put_element(text, statement, loop);
    put_values(text, statement);
    if (statement->global) {
        put(text, "mul.wide.u32 %%d20, %%r20, %u;\nadd.u64 %%d20, %%d20, %%d0;\n", statement->size);
        if (statement->stride)
            put(text, "mad.wide.u32 %%d20, %%r63, %u, %%d20;\n", statement->stride);
        snprintf(place, sizeof place, "[%%d20+%u]", statement->offset);
    } else {
        put(text, "shl.b32 %%r20, %%r20, %u;\nadd.u32 %%r20, %%r20, %%r1;\n", log);
        snprintf(place, sizeof place, "[%%r20+%u]", statement->offset);
        if (text->lines % 5 == 0) {
            put(text, "cvt.u64.u32 %%d20, %%r20;\ncvta.shared.u64 %%d20, %%d20;\n");
            snprintf(place, sizeof place, "[%%d20+%u]", statement->offset);
            space = "";
        }
    }
    if (statement->guarded)
        put_test(text, &statement->test);
    statement->line = text->lines + 1;
    if (statement->guarded)
        put(text, "@%%p1 ");
    if (statement->atomic && statement->read && statement->write && statement->constant)
        put(text, "red%s.add.%s %s, %s;\n", space, type, place, value);
    else if (statement->atomic && statement->read && statement->write)
        put(text, "atom%s.exch.b%u %s, %s, %s;\n", space, statement->size * 8U, value, place,
            value);
    else if (statement->read)
        put(text, "ld%s%s.%s %s, %s;\n", statement->atomic ? ".volatile" : "", space, type, value,
            place);
    else
        put(text, "st%s%s.%s %s, %s;\n", statement->atomic ? ".volatile" : "", space, type, place,
            value);
    if (statement->read && text->lines % 2)
        put(text, "add.u32 %%r50, %%r50, %%r30;\n");
}

static void put_pair(struct check_text *text, struct model_statement *statement)
{
    const uint32_t number = 1 + text->barrier++ % 15;

    put(text, "setp.eq.u32 %%p1, %%r57, %u;\nsetp.eq.u32 %%p2, %%r57, %u;\n", statement->a,
        statement->b);
    put(text,
        statement->kind == MODEL_PAIR_SYNC ? "@%%p1 bar.sync %u, 64;\n"
                                           : "@%%p1 bar.arrive %u, 64;\n",
        number);
    put(text, "@%%p2 bar.sync %u, 64;\n", number);
}

static void put_statements(struct check_text *text)
{
    struct model_program *program = &text->program;
    struct {
        uint32_t label;
        bool loop, other;
    } open[8];
    uint32_t depth = 0, label = 0, loops = 0;

    for (uint32_t i = 0; i < program->count; i++) {
        struct model_statement *statement = &program->statements[i];

        switch (statement->kind) {
        case MODEL_ACCESS:
            put_access(text, statement, loops);
            break;
        case MODEL_BARRIER:
            put(text, "bar.sync 0;\n");
            break;
        case MODEL_WARP_BARRIER:
            put(text, "bar.warp.sync -1;\n");
            break;
        case MODEL_IF:
            open[depth].label = ++label;
            open[depth].loop = open[depth].other = false;
            put_test(text, &statement->test);
            put(text, "@!%%p1 bra ELSE%u;\n", label);
            depth++;
            break;
        case MODEL_ELSE:
            open[depth - 1].other = true;
            put(text, "bra END%u;\nELSE%u:\n", open[depth - 1].label, open[depth - 1].label);
            break;
        case MODEL_LOOP:
            open[depth].label = ++label;
            open[depth].loop = true;
            loops++;
            put(text, "mov.u32 %%r%u, 0;\nLOOP%u:\n", 40 + loops, label);
            depth++;
            break;
        case MODEL_END:
            depth--;
            if (!open[depth].loop) {
                put(text, "%s%u:\n", open[depth].other ? "END" : "ELSE", open[depth].label);
                break;
            }
            for (uint32_t j = i, nested = 0;; j--) {
                nested += program->statements[j].kind == MODEL_END;
                if ((program->statements[j].kind == MODEL_IF ||
                     program->statements[j].kind == MODEL_LOOP) &&
                    --nested == 0) {
                    put(text, "add.u32 %%r%u, %%r%u, 1;\nsetp.lt.u32 %%p1, %%r%u, %u;\n",
                        40 + loops, 40 + loops, 40 + loops, program->statements[j].a);
                    break;
                }
            }
            put(text, "@%%p1 bra LOOP%u;\n", open[depth].label);
            loops--;
            break;
        case MODEL_EXIT:
            put_test(text, &statement->test);
            put(text, "@%%p1 ret;\n");
            break;
        default:
            put_pair(text, statement);
        }
    }
}

static void put_program(struct check_text *text)
{
    text->size = text->lines = text->barrier = 0;
    put(text, EXEC_MODULE ".func f() {\nret;\n}\n");
    put(text, "%s", EXEC_ENTRY);
    put(text, ".shared .align 16 .b8 s[%u];\nmov.u32 %%r1, s;\n", (unsigned)MODEL_AREA);
    put(text, "shr.u32 %%r57, %%r61, 5;\nmov.u32 %%r50, 0;\nmov.u32 %%r40, 0;\n");
    put(text, text->alone ? "call f;\n" : "\n");
    put_statements(text);
    put(text, "setp.eq.u32 %%p15, %%r50, 0x7fedbeef;\n@%%p15 trap;\nret;\n}\n");
}
