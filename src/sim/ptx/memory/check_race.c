/* SPDX-License-Identifier: MIT */
/* Two accesses of different threads are a race if one of them writes, not both are atomic, and
 * nothing orders them. What orders them, of one block: accesses have numbers, and a warp knows for
 * each other warp up to which access it has heard of; barriers, mbarriers and atomic operations
 * tell it. The lanes of a warp are ordered by its .warp.sync and by all of these.
 * Threads of different blocks are ordered if that of the first access did something atomic behind
 * it, and that of the second before it. This finds no order where there is none to be had from a
 * program's own instructions; it may see order where there is none, and then finds no race. */
#include "ptx/memory/check_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- What was logged (check_rows.c) --- */

static void replay_one(struct ptx_warp *warp, const struct check_rows *rows, uint32_t mask,
                       const struct access *access)
{
    const struct check_doing now = {.step = rows->step,
                                    .access = access,
                                    .mask = mask,
                                    .size = rows->size,
                                    .serial = rows->serial,
                                    .write = rows->write,
                                    .atomic = rows->count == 0,
                                    .replay = true,
                                    .shared = true};

    check_race(warp, &now);
}

static void replay_lanes(struct ptx_block *block, const struct check_rows *rows)
{
    const struct check_lanes *lanes = &block->check->lists[rows->lanes];
    struct access access = {.pattern = ACCESS_GATHER};

    access.offsets = access.pointers;
    FOR_LANES (lane, lanes->mask)
        access.pointers[lane] = (uintptr_t)block->shared + lanes->at[lane];
    replay_one(&block->warps[rows->first].warp, rows, lanes->mask, &access);
}

static void replay_arrival(struct check_block *check, const struct check_rows *rows)
{
    uint32_t *const known = check->known[rows->first], own = known[rows->first];

    known[rows->first] = rows->serial;
    check_join(check->barriers[rows->lanes & ~CHECK_ARRIVES], known);
    check->told |= UINT32_C(1) << (rows->lanes & ~CHECK_ARRIVES);
    known[rows->first] = own;
}

void check_race_replay(struct ptx_block *block)
{
    struct check_block *check = block->check;
    const uint32_t logged = check->logged;
    const bool quiet = check->quiet;

    check_segment_settle(block);
    check->quiet = quiet;
    check->logged = 0;
    for (uint32_t i = 0; i < logged; i++) {
        const struct check_rows *rows = &check->log[i];

        if (rows->count == 0 && rows->lanes & CHECK_ARRIVES)
            replay_arrival(check, rows);
        else if (rows->count == 0)
            replay_lanes(block, rows);
        for (uint32_t w = 0; w < rows->count; w++) {
            struct access access = {.pattern = ACCESS_HALVES, .stride = (uint64_t)rows->lane};

            access.base = (char *)rows->base + (int64_t)w * rows->warp;
            access.second = access.base + rows->half;
            replay_one(&block->warps[rows->first + w].warp, rows, rows->mask, &access);
        }
    }
    check->listed = 0;
}

void check_race_order(struct ptx_block *block)
{
    if (block->check->listed)
        check_race_replay(block);
}

/* A byte of shared memory is looked at here alone until the next barrier. */
static void exact(struct ptx_block *block, uintptr_t at)
{
    struct check_block *check = block->check;
    struct check_near *line = &check->lines[(at - (uintptr_t)block->shared) / CHECK_LINE];

    check_segment_settle(block);
    if (line->touched >= check->since && !(line->key & CHECK_NEAR_EXACT))
        check_race_replay(block);
    line->touched = block->launch->check->serial;
    line->key = CHECK_NEAR_EXACT;
}

#define MOST_MEETINGS 262144

/* --- Order --- */

static bool is_ordered(const struct check *check, const struct ptx_warp *warp,
                       const struct check_seen *old)
{
    if (old->block != (uint32_t)warp->block->number)
        return check->last_atomic[old->block] > old->serial &&
               check->last_atomic[warp->block->number] > old->serial;
    if (old->serial >= warp->block->check->since && old->thread / PTX_LANES != warp->index)
        check_race_order(warp->block);
    return old->serial < warp->block->check->since ||
           old->serial <= warp->block->check->known[warp->index][old->thread / PTX_LANES];
}

/* `same`: it was the same thread that accessed it. */
static bool conflicts(const struct check *check, const struct ptx_warp *warp,
                      const struct check_doing *now, const struct check_seen *old, bool same)
{
    if (old->serial < check->first || (old->atomic && now->atomic))
        return false;
    if (old->block != (uint32_t)warp->block->number)
        return !now->shared && check->last_atomic && !is_ordered(check, warp, old);
    return !same && !is_ordered(check, warp, old);
}

/* Those of launches that have ended are taken again. When there are too many, cells share one: that
 * is more order than there is. */
static struct check_meeting *meeting_of(struct check *check, uintptr_t cell)
{
    struct check_meeting **bucket = &check->meetings[cell % CHECK_MEETINGS];
    struct check_meeting *one = *bucket, *old = NULL;

    for (; one && one->cell != cell; one = one->next)
        if (one->launch != check->first)
            old = one;
    if (one)
        return one;
    if (old)
        old->cell = cell;
    if (old || (check->met >= MOST_MEETINGS && *bucket))
        return old ? old : *bucket;
    if (!(one = calloc(1, sizeof *one)))
        return NULL;
    check->met++;
    one->cell = cell;
    one->next = *bucket;
    return *bucket = one;
}

/* An atomic operation, or a load or store with an order, tells what came before and learns what
 * others told here. */
static void meet(struct check *check, struct ptx_warp *warp, uintptr_t at, uint32_t serial)
{
    struct ptx_block *block = warp->block;
    uint32_t *known = block->check->known[warp->index], own;
    struct check_meeting *one;

    if (check->last_atomic)
        check->last_atomic[block->number] = check->serial;
    if (!(one = meeting_of(check, at / CHECK_CELL)))
        return;
    if (one->block != block->number || one->launch != check->first)
        memset(one->known, 0, sizeof one->known);
    one->block = block->number;
    one->launch = check->first;
    check_join(known, one->known);
    own = known[warp->index];
    known[warp->index] = serial; /* and nothing newer, if it is told late */
    check_join(one->known, known);
    if (own > serial)
        known[warp->index] = own;
}

/* --- Stores of what is there already --- */

/* The bytes that a store of one lane writes from `at` on, if they are known. */
static bool new_value(const struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                      uint32_t at, uint32_t count, uint32_t *value)
{
    const uint32_t *list = step->list ? step->list : step->operand;
    const enum store_kind kind = (enum store_kind)step->how.memory.store;
    const unsigned size = kind == STORE_8_32 || kind == STORE_8_64     ? 1
                          : kind == STORE_16_32 || kind == STORE_16_64 ? 2
                          : kind == STORE_64_64                        ? 8
                                                                       : 4;
    const bool wide = kind >= STORE_8_64;

    *value = 0;
    for (uint32_t i = 0; i < count; i++, at++) {
        const uint32_t operand = list[1 + at / size];
        uint64_t bits;

        if (kind == STORE_128)
            return false;
        bits = ptx_lane(ptx_in(warp, operand), wide, lane);
        *value |= (uint32_t)(bits >> 8 * (at % size) & 0xFF) << 8 * i;
    }
    return true;
}

/* Does the store leave the bytes as the other thread's left them? Then nobody can tell the order.
 */
static bool is_same(const struct ptx_warp *warp, const struct check_doing *now, unsigned lane,
                    uint32_t at, uintptr_t address, uint8_t bytes, const struct check_seen *old)
{
    const uint32_t count = (uint32_t)__builtin_popcount(bytes);
    uint32_t value, before = 0;

    if (!new_value(warp, now->step, lane, at, count, &value))
        return false;
    if (old->serial == now->serial) /* of this very instruction: it is not in memory yet */
        return new_value(&warp->block->warps[old->thread / PTX_LANES].warp, now->step,
                         old->thread % PTX_LANES, at, count, &before) &&
               before == value;
    memcpy(&before, (const void *)address, count);
    return before == value;
}

/* --- Accesses --- */

static void race(struct ptx_warp *warp, const struct check_doing *now, unsigned lane,
                 const struct check_seen *old, bool old_write)
{
    char other[320], what[480];

    check_note_place(warp->block->launch, old->block, old->thread, old->step,
                     old->block != (uint32_t)warp->block->number, other, sizeof other);
    snprintf(what, sizeof what, "it %s %s memory that %s, %s, and nothing orders the two",
             now->write ? "writes" : "reads", now->shared ? "shared" : "global", other,
             old_write ? "wrote" : "read");
    check_note(warp, lane, now->step, old->step, "race", what);
}

static struct check_seen seen_of(const struct ptx_warp *warp, const struct check_doing *now,
                                 unsigned lane, uint8_t bytes)
{
    return (struct check_seen){.step = now->step,
                               .block = (uint32_t)warp->block->number,
                               .serial = now->serial,
                               .thread = (uint16_t)(warp->index * PTX_LANES + lane),
                               .bytes = bytes,
                               .atomic = now->atomic};
}

/* A read of what the thread has read since it was written and since it told others anything. */
static bool is_known(const struct ptx_warp *warp, const struct check_cell *cell,
                     const struct check_seen *seen)
{
    const struct check_block *block = warp->block->check;
    const uint32_t told = block->known[warp->index][warp->index];

    for (unsigned i = 0; i < 2; i++) {
        const struct check_seen *read = &cell->reads[i];

        if (check_seen_alike(read, seen) && read->serial > told && read->serial >= block->since &&
            read->serial > cell->write.serial && (read->bytes & seen->bytes) == seen->bytes &&
            read->atomic == seen->atomic)
            return true;
    }
    return false;
}

/* The bytes from `at` on that are in one cell. */
static uint8_t bytes_of(uintptr_t at, uint64_t size)
{
    const uint64_t first = at % CHECK_CELL;
    const uint64_t count = size < CHECK_CELL - first ? size : CHECK_CELL - first;

    return (uint8_t)(((1U << count) - 1) << first);
}

/* Was it the same thread? Of several that used the cell, the one that is left in `old` is one that
 * used what `seen` uses. */
static bool is_thread(struct check_seen *old, const struct check_seen *seen)
{
    const unsigned size = CHECK_CELL >> old->spread;
    const unsigned common = old->bytes & seen->bytes;
    const unsigned first = (unsigned)__builtin_ctz(common) / size;
    const unsigned last = (31 - (unsigned)__builtin_clz(common)) / size;

    old->thread = (uint16_t)(old->thread + first);
    return first == last && old->thread == seen->thread;
}

static void look(struct check *check, struct ptx_warp *warp, const struct check_doing *now,
                 unsigned lane, struct check_cell *cell, uintptr_t address, uint32_t at,
                 uint8_t bytes)
{
    const struct check_seen seen = seen_of(warp, now, lane, bytes);
    struct check_seen write = cell->write;

    if (now->replay) {
        check_line_keep(check, cell, &seen, now->write);
        return;
    }
    if (!now->write && is_known(warp, cell, &seen))
        return;
    if (write.bytes & bytes && conflicts(check, warp, now, &write, is_thread(&write, &seen)) &&
        !(now->store && is_same(warp, now, lane, at, address, bytes, &write)))
        race(warp, now, lane, &write, true);
    for (unsigned i = 0; now->write && i < 2; i++) {
        struct check_seen read = cell->reads[i];

        if (!(read.bytes & bytes))
            continue;
        if (conflicts(check, warp, now, &read, is_thread(&read, &seen)))
            race(warp, now, lane, &read, false);
    }
    check_line_keep(check, cell, &seen, now->write);
}

static void each_lane(struct check *check, struct ptx_warp *warp, const struct check_doing *now,
                      uint32_t mask, uint32_t since)
{
    uintptr_t number = 0;
    struct check_line *line = NULL;

    FOR_LANES (lane, mask) {
        const uintptr_t first = access_lane(now->access, lane), end = first + now->size;

        for (uintptr_t at = first, next; at < end; at = next) {
            struct check_cell *cell;

            next = (at | (CHECK_CELL - 1)) + 1;
            if (!line || at / CHECK_LINE != number) {
                number = at / CHECK_LINE;
                if (now->shared && !now->replay)
                    exact(warp->block, at);
                line = check_line_of(check, at, since);
            }
            if (line && (at % CHECK_CELL || next > end))
                check_line_refine(check, line);
            cell = line ? check_line_cell(check, line, at) : NULL;
            if (cell && line->fine)
                next = at + 1;
            if (cell)
                look(check, warp, now, lane, cell, at, (uint32_t)(at - first),
                     bytes_of(at, (next < end ? next : end) - at));
            if (now->atomic)
                meet(check, warp, at, now->serial);
        }
    }
}

/* All of a line by lanes from `lane` on, each as many cells; false: it is to be split. */
static bool whole_line(struct check *check, struct ptx_warp *warp, const struct check_doing *now,
                       struct check_line *line, unsigned lane, unsigned shift)
{
    struct check_seen seen = seen_of(warp, now, lane, (1U << CHECK_CELL) - 1);
    struct check_cell *whole = &line->whole;

    seen.shift = shift & 15;
    if (!line->split && now->replay) {
        check_line_keep(check, whole, &seen, now->write);
        return true;
    }
    if (!line->split && !now->write && is_known(warp, whole, &seen))
        return true;
    if (line->split || whole->write.spread || /* its threads may be of two warps */
        conflicts(check, warp, now, &whole->write, check_seen_alike(&whole->write, &seen)))
        return false;
    for (unsigned i = 0; now->write && i < 2; i++)
        if (whole->reads[i].spread || conflicts(check, warp, now, &whole->reads[i],
                                                check_seen_alike(&whole->reads[i], &seen)))
            return false;
    check_line_keep(check, whole, &seen, now->write);
    return true;
}

/* Reads of bytes or pairs of them, by neighbouring lanes: a cell at once if nobody wrote it. */
static void each_cell(struct check *check, struct ptx_warp *warp, const struct check_doing *now)
{
    const unsigned lanes = CHECK_CELL / now->size;
    struct check_line *line = NULL;
    uintptr_t number = 0;

    for (unsigned lane = 0; lane < PTX_LANES; lane += lanes) {
        const uintptr_t at = access_lane(now->access, lane);
        struct check_seen seen = seen_of(warp, now, lane, (1U << CHECK_CELL) - 1);
        struct check_cell *cell;

        seen.spread = lanes / 2 & 3;
        if (!line || at / CHECK_LINE != number) {
            number = at / CHECK_LINE;
            line = check_line_of(check, at, check->first);
        }
        cell = line ? check_line_cell(check, line, at) : NULL;
        if (cell && !line->fine && cell->write.serial < check->first)
            check_line_keep(check, cell, &seen, false);
        else if (cell)
            each_lane(check, warp, now, ((UINT32_C(1) << lanes) - 1) << lane, check->first);
    }
}

/* Rows of whole lines: no lane beside them. */
static bool is_whole(const struct check_doing *now)
{
    const struct access *access = now->access;

    return now->mask == PTX_FULL && access->pattern != ACCESS_GATHER &&
           access->stride == now->size && now->size >= CHECK_CELL &&
           ((uintptr_t)access->base | (uintptr_t)access->second) % CHECK_LINE == 0;
}

void check_race(struct ptx_warp *warp, const struct check_doing *now)
{
    struct check *check = warp->block->launch->check;
    const uint32_t since = now->shared ? warp->block->check->since : check->first;
    const struct access *access = now->access;
    uint32_t mask = now->mask;

    if (is_whole(now) && !now->atomic) {
        const unsigned lanes = CHECK_LINE / now->size;
        const unsigned shift = (unsigned)__builtin_ctz(now->size / CHECK_CELL);

        for (unsigned lane = 0; lane < PTX_LANES; lane += lanes) {
            const uintptr_t at = access_lane(access, lane);
            struct check_line *line;

            if (now->shared && !now->replay)
                exact(warp->block, at);
            line = check_line_of(check, at, since);
            if (line && !whole_line(check, warp, now, line, lane, shift))
                each_lane(check, warp, now, ((UINT32_C(1) << lanes) - 1) << lane, since);
        }
        return;
    }
    if (!now->shared && !now->write && !now->atomic && mask == PTX_FULL && now->size < CHECK_CELL &&
        access->pattern != ACCESS_GATHER && access->stride == now->size &&
        ((uintptr_t)access->base | (uintptr_t)access->second) % CHECK_CELL == 0) {
        each_cell(check, warp, now);
        return;
    }
    /* Of lanes that do the same, two are as good as all. */
    if (mask == PTX_FULL && access->pattern == ACCESS_HALVES && access->stride == 0 && !now->store)
        mask = UINT32_C(0x80018001);
    each_lane(check, warp, now, mask, since);
}
