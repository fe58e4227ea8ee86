/* SPDX-License-Identifier: MIT */
#include "check_model.h"

#include <stdlib.h>
#include <string.h>

#define MOST_EVENTS 600 /* of a warp */
#define MOST_RECORDS 200000
#define CELLS (MODEL_AREA / 4)

struct event {
    const struct model_statement *statement;
    uint32_t mask, turn;
};

struct warp {
    struct event events[MOST_EVENTS];
    uint32_t count, next;
    uint32_t clock[MODEL_WARPS]; /* how far it knows each warp */
    uint32_t atomics[MOST_EVENTS];
    uint32_t atomic_count; /* its own clock at each atomic access */
    bool waits;
};

/* Lanes of a warp that use the same bytes of a cell by one event. */
struct record {
    uint32_t next; /* of the cell; 0: none */
    uint32_t clock[MODEL_WARPS];
    uint32_t mask, line, event, value; /* value: of a constant store */
    uint8_t block, warp, bytes;
    bool write, read, atomic, constant, byte;
};

struct model {
    const struct model_program *program;
    struct model_answer *answer;
    struct warp warps[MODEL_BLOCKS][MODEL_WARPS];
    uint32_t warp_count;
    uint32_t cells[1 + MODEL_BLOCKS][CELLS]; /* of global memory, and of each block's */
    uint32_t used;
    bool pairs; /* barriers of two warps */
    struct record records[MOST_RECORDS];
};

static bool is_pair(const struct model_statement *statement)
{
    return statement->kind == MODEL_PAIR_SYNC || statement->kind == MODEL_PAIR_ARRIVE;
}

static uint32_t end_of(const struct model_program *program, uint32_t at)
{
    uint32_t depth = 0;

    for (;; at++) {
        const enum model_kind kind = program->statements[at].kind;

        depth += kind == MODEL_IF || kind == MODEL_LOOP;
        if (depth == 1 && kind == MODEL_ELSE)
            return at;
        if (kind == MODEL_END && --depth == 0)
            return at;
    }
}

static uint32_t lanes_that(const struct model_test *test, uint32_t mask, uint32_t warp,
                           uint32_t block)
{
    uint32_t held = 0;

    for (uint32_t lane = 0; lane < 32; lane++)
        if (mask >> lane & 1 && model_holds(test, warp * 32 + lane, block))
            held |= UINT32_C(1) << lane;
    return held;
}

/* The statements from `at` to `end`, for some lanes of a warp. */
static void walk(struct model *model, uint32_t block, uint32_t number, uint32_t at, uint32_t end,
                 uint32_t mask, uint32_t turn, uint32_t *ended)
{
    const struct model_program *program = model->program;
    struct warp *warp = &model->warps[block][number];

    for (; at < end; at++) {
        const struct model_statement *statement = &program->statements[at];
        uint32_t now = mask & ~*ended, last, held;

        switch (statement->kind) {
        case MODEL_IF:
            last = end_of(program, at);
            held = lanes_that(&statement->test, now, number, block);
            walk(model, block, number, at + 1, last, held, turn, ended);
            if (program->statements[last].kind == MODEL_ELSE) {
                at = last;
                while (program->statements[last].kind != MODEL_END ||
                       program->statements[last].a != program->statements[at].a)
                    last++;
                walk(model, block, number, at + 1, last, now & ~held, turn, ended);
            }
            at = last;
            continue;
        case MODEL_LOOP:
            last = end_of(program, at);
            for (uint32_t i = 0; i < statement->a; i++)
                walk(model, block, number, at + 1, last, now, i, ended);
            at = last;
            continue;
        case MODEL_EXIT:
            *ended |= lanes_that(&statement->test, now, number, block);
            continue;
        default:
            break;
        }
        if (is_pair(statement) && number != statement->a && number != statement->b)
            continue;
        if (statement->guarded)
            now = lanes_that(&statement->test, now, number, block);
        if (!now)
            continue;
        if (warp->count == MOST_EVENTS) {
            model->answer->fits = false;
            return;
        }
        warp->events[warp->count++] = (struct event){statement, now, turn};
    }
}

/* The bytes of a constant that a statement stores in a cell: each element is 7. */
static uint32_t constant_of(const struct model_statement *statement, uint32_t at, uint32_t place,
                            uint32_t count)
{
    const uint32_t size = statement->size < 8          ? statement->size
                          : model_is_vector(statement) ? 4
                                                       : 8;
    uint32_t value = 0;

    for (uint32_t i = 0; i < count; i++)
        value |= (at + i) % size ? 0 : 7U << 8 * (place + i);
    return value;
}

static void access_bytes(struct model *model, uint32_t block, uint32_t number,
                         const struct event *event, uint32_t first, uint32_t lane)
{
    const struct model_statement *statement = event->statement;
    const struct warp *warp = &model->warps[block][number];
    const uint32_t end = first + statement->size;

    if (end > MODEL_AREA) {
        model->answer->fits = false;
        return;
    }
    for (uint32_t at = first; at < end; at = (at | 3) + 1) {
        const uint32_t count = end - at < 4 - at % 4 ? end - at : 4 - at % 4;
        const uint8_t bytes = (uint8_t)(((1U << count) - 1) << at % 4);
        uint32_t *cell = &model->cells[statement->global ? 0 : 1 + block][at / 4];
        struct record *record = &model->records[*cell];

        /* Lanes of one event follow each other. */
        if (*cell && record->block == block && record->warp == number &&
            record->event == warp->next && record->bytes == bytes) {
            record->mask |= UINT32_C(1) << lane;
            continue;
        }
        if (model->used == MOST_RECORDS) {
            model->answer->fits = false;
            return;
        }
        record = &model->records[model->used];
        *record = (struct record){.next = *cell,
                                  .mask = UINT32_C(1) << lane,
                                  .line = statement->line,
                                  .event = warp->next,
                                  .value = constant_of(statement, at - first, at % 4, count),
                                  .block = (uint8_t)block,
                                  .warp = (uint8_t)number,
                                  .bytes = bytes,
                                  .write = statement->write,
                                  .read = statement->read,
                                  .atomic = statement->atomic,
                                  .byte = statement->size == 1,
                                  .constant = statement->constant && statement->write &&
                                              !statement->atomic};
        memcpy(record->clock, warp->clock, sizeof record->clock);
        *cell = model->used++;
    }
}

static void access_all(struct model *model, uint32_t block, uint32_t number,
                       const struct event *event)
{
    const struct model_statement *statement = event->statement;
    struct warp *warp = &model->warps[block][number];

    for (uint32_t lane = 0; lane < 32; lane++)
        if (event->mask >> lane & 1)
            access_bytes(model, block, number, event,
                         model_element(model->program, statement, number * 32 + lane, event->turn) *
                                 statement->size +
                             statement->offset +
                             (statement->global ? block * statement->stride : 0),
                         lane);
    if (statement->atomic)
        warp->atomics[warp->atomic_count++] = warp->clock[number];
}

static void join(uint32_t *to, const uint32_t *from)
{
    for (uint32_t i = 0; i < MODEL_WARPS; i++)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}

/* Warps that wait for each other; all are there. */
static void meet(struct warp *warps, uint32_t set, uint32_t learn)
{
    uint32_t clock[MODEL_WARPS] = {0};

    for (uint32_t i = 0; i < MODEL_WARPS; i++)
        if (set >> i & 1)
            join(clock, warps[i].clock);
    for (uint32_t i = 0; i < MODEL_WARPS; i++) {
        if (learn >> i & 1)
            join(warps[i].clock, clock);
        if (set >> i & 1) {
            warps[i].clock[i]++;
            warps[i].next++;
        }
    }
}

static const struct model_statement *at_statement(const struct warp *warp)
{
    return warp->next < warp->count ? warp->events[warp->next].statement : NULL;
}

/* Run a warp up to a barrier that others have to reach; true: it did something. */
static bool run(struct model *model, uint32_t block, uint32_t number)
{
    struct warp *warp = &model->warps[block][number];
    const uint32_t before = warp->next;

    while (warp->next < warp->count) {
        const struct event *event = &warp->events[warp->next];

        if (event->statement->kind == MODEL_ACCESS)
            access_all(model, block, number, event);
        else if (event->statement->kind == MODEL_WARP_BARRIER)
            warp->clock[number]++;
        else
            break;
        warp->next++;
    }
    return warp->next != before;
}

static void run_block(struct model *model, uint32_t block)
{
    struct warp *warps = model->warps[block];
    const uint32_t all = (UINT32_C(1) << model->warp_count) - 1;

    for (bool done = false; !done;) {
        bool some = false;
        uint32_t full = 0, ended = 0;

        for (uint32_t i = 0; i < model->warp_count; i++) {
            some |= run(model, block, i);
            const struct model_statement *statement = at_statement(&warps[i]);

            ended |= (uint32_t)!statement << i;
            if (statement && statement->kind == MODEL_BARRIER)
                full |= UINT32_C(1) << i;
        }
        for (uint32_t i = 0; i < model->warp_count; i++) {
            const struct model_statement *statement = at_statement(&warps[i]);

            if (!statement || !is_pair(statement) || i != statement->a ||
                at_statement(&warps[statement->b]) != statement)
                continue;
            meet(warps, 1U << statement->a | 1U << statement->b,
                 1U << statement->b |
                     (statement->kind == MODEL_PAIR_SYNC ? 1U << statement->a : 0));
            some = true;
        }
        if (full && (full | ended) == all) {
            meet(warps, full, full);
            some = true;
        }
        done = ended == all;
        if (!some && !done) {
            model->answer->fits = false;
            return;
        }
    }
}

/* --- Pairs --- */

static bool is_before(const struct record *one, const struct record *other)
{
    return one->block == other->block && one->warp != other->warp &&
           other->clock[one->warp] >= one->clock[one->warp] && other->clock[one->warp] > 0;
}

static bool is_ordered(const struct record *one, const struct record *other)
{
    if (one->block != other->block)
        return false;
    if (one->warp == other->warp)
        return one->clock[one->warp] != other->clock[one->warp];
    return is_before(one, other) || is_before(other, one);
}

/* Was there an atomic access of the warp behind the record, or before it? */
static bool has_atomic(const struct model *model, const struct record *record, bool behind)
{
    const struct warp *warp = &model->warps[record->block][record->warp];
    const uint32_t clock = record->clock[record->warp];

    for (uint32_t i = 0; i < warp->atomic_count; i++)
        if (behind ? warp->atomics[i] >= clock : warp->atomics[i] <= clock)
            return true;
    return false;
}

static bool block_has_atomic(const struct model *model, uint32_t block)
{
    for (uint32_t i = 0; i < model->warp_count; i++)
        if (model->warps[block][i].atomic_count)
            return true;
    return false;
}

/* Could atomic operations order the two? */
static bool may_be_ordered(const struct model *model, const struct record *one,
                           const struct record *other)
{
    if (one->block != other->block)
        return block_has_atomic(model, one->block) && block_has_atomic(model, other->block);
    if (model->pairs)
        return block_has_atomic(model, one->block);
    if (one->warp == other->warp)
        return has_atomic(model, one, true) && has_atomic(model, one, false);
    return (has_atomic(model, one, true) && has_atomic(model, other, false)) ||
           (has_atomic(model, other, true) && has_atomic(model, one, false));
}

static void tell(bool (*table)[MODEL_LINES], uint32_t *count, uint32_t one, uint32_t other)
{
    *count += !table[one][other];
    table[one][other] = table[other][one] = true;
}

/* The bits of some bytes of a cell. */
static uint32_t bits_of(uint8_t bytes)
{
    return (bytes & 1U) * 0xFF + (bytes >> 1 & 1U) * 0xFF00 + (bytes >> 2 & 1U) * 0xFF0000 +
           (bytes >> 3 & 1U) * 0xFF000000;
}

static bool is_same(const struct record *one, const struct record *other)
{
    return one->constant && other->constant &&
           !((one->value ^ other->value) & bits_of(one->bytes & other->bytes));
}

/* Whatever the order, the two leave the same. */
static bool is_same_always(const struct model *model, uint32_t cell, const struct record *one,
                           const struct record *other)
{
    if (!is_same(one, other))
        return false;
    for (uint32_t i = cell; i; i = model->records[i].next)
        if (model->records[i].write && !is_same(one, &model->records[i]))
            return false;
    return true;
}

/* May the same have been stored by others? Then a store may be as if it had not been. */
static bool is_repeated(const struct model *model, uint32_t cell, const struct record *one)
{
    for (uint32_t i = cell; one->write && i; i = model->records[i].next) {
        const struct record *write = &model->records[i];

        if (!write->write || write == one)
            continue;
        if (write->constant && one->constant)
            return true;
        /* A byte is the thread's number, which is not all of it. */
        if ((write->byte || one->byte) && (write->line != one->line || write->block != one->block))
            return true;
    }
    return one->constant && one->mask & (one->mask - 1);
}

static void compare(struct model *model, uint32_t cell, const struct record *one,
                    const struct record *other)
{
    struct model_answer *answer = model->answer;
    const bool same_thread = one->block == other->block && one->warp == other->warp &&
                             one->mask == other->mask && !(one->mask & (one->mask - 1));

    if (!(one->write || other->write) || (one->atomic && other->atomic) || same_thread ||
        !(one->bytes & other->bytes) || is_ordered(one, other) ||
        is_same_always(model, cell, one, other))
        return;
    tell(answer->race_some, &answer->races_some, one->line, other->line);
    if (!is_repeated(model, cell, one) && !is_repeated(model, cell, other) &&
        !may_be_ordered(model, one, other))
        tell(answer->race, &answer->races, one->line, other->line);
}

static void compare_read(struct model *model, uint32_t cell, const struct record *read,
                         uint8_t written)
{
    struct model_answer *answer = model->answer;
    uint8_t sure = written, possible = written;

    for (uint32_t i = cell; i; i = model->records[i].next) {
        const struct record *write = &model->records[i];
        const bool same_warp = write->block == read->block && write->warp == read->warp;
        const uint32_t both = write->mask & read->mask;

        if (!write->write)
            continue;
        /* All lanes that read have written before, or others that are surely before. */
        if (is_before(write, read) ||
            (same_warp &&
             (both == read->mask || write->clock[write->warp] < read->clock[read->warp]) &&
             write->event < read->event))
            sure |= write->bytes;
        if (!(is_before(read, write) ||
              (same_warp && (write->clock[write->warp] > read->clock[read->warp] ||
                             (both == read->mask && both == write->mask && !(both & (both - 1)) &&
                              write->event >= read->event)))))
            possible |= write->bytes;
    }
    if (read->bytes & ~sure && !answer->init_some[read->line]) {
        answer->init_some[read->line] = true;
        answer->inits_some++;
    }
    if (read->bytes & ~possible && !answer->init[read->line]) {
        answer->init[read->line] = true;
        answer->inits++;
    }
}

static void each_cell(struct model *model, uint32_t space, uint32_t at)
{
    const uint32_t cell = model->cells[space][at], written = model->program->written;
    const uint32_t left = space > 0 || at * 4 >= written ? 0 : written - at * 4;
    const uint8_t bytes = (uint8_t)((1U << (left < 4 ? left : 4)) - 1);

    for (uint32_t i = cell; i; i = model->records[i].next) {
        for (uint32_t j = i; j; j = model->records[j].next)
            compare(model, cell, &model->records[i], &model->records[j]);
        if (model->records[i].read)
            compare_read(model, cell, &model->records[i], bytes);
    }
}

void model_answer(const struct model_program *program, struct model_answer *answer)
{
    static struct model model;
    const uint32_t warps = (program->threads + 31) / 32;

    memset(answer, 0, sizeof *answer);
    memset(model.cells, 0, sizeof model.cells);
    memset(model.warps, 0, sizeof model.warps);
    answer->fits = true;
    model.program = program;
    model.answer = answer;
    model.warp_count = warps;
    model.used = 1;
    model.pairs = false;
    for (uint32_t i = 0; i < program->count; i++)
        model.pairs |= is_pair(&program->statements[i]);
    for (uint32_t block = 0; block < program->blocks; block++) {
        for (uint32_t i = 0; i < warps; i++) {
            const uint32_t lanes = program->threads - i * 32;
            uint32_t ended = 0;

            walk(&model, block, i, 0, program->count,
                 lanes < 32 ? (UINT32_C(1) << lanes) - 1 : UINT32_MAX, 0, &ended);
            model.warps[block][i].clock[i] = 1;
        }
        run_block(&model, block);
    }
    for (uint32_t space = 0; answer->fits && space < 1 + MODEL_BLOCKS; space++)
        for (uint32_t at = 0; at < CELLS; at++)
            each_cell(&model, space, at);
}
