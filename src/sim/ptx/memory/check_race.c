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

#include "ptx/ops/ops.h"

#define MOST_PAGES 131072  /* then memory that comes new is not looked at */
#define MOST_LINED 32768   /* nor that which is used irregularly */
#define MOST_SPLITS 262144 /* nor lines that are to be split */

/* --- Lines --- */

struct check_page *check_race_page(struct check *check, uintptr_t at)
{
    const uintptr_t number = at / CHECK_PAGE;
    struct check_page **recent = &check->recent[number % CHECK_RECENT], **bucket, *page = *recent;

    if (page && page->number == number)
        return page;
    bucket = &check->buckets[number * UINT64_C(0x9E3779B97F4A7C15) >> 48];
    page = *bucket;
    while (page && page->number != number)
        page = page->next;
    if (!page) {
        if (check->pages == MOST_PAGES || !(page = calloc(1, sizeof *page)))
            return NULL;
        check->pages++;
        page->number = number;
        page->next = *bucket;
        *bucket = page;
    }
    return *recent = page;
}

struct check_seen check_quick_seen(const struct check_quick *quick)
{
    const unsigned shift = quick->what >> 2 & 15; /* of a cell: 2 */

    return (struct check_seen){.serial = quick->serial,
                               .block = quick->block,
                               .thread = (uint16_t)(quick->what >> 6 & 1023),
                               .bytes = (1U << CHECK_CELL) - 1,
                               .spread = shift < 2 ? (2 - shift) & 3 : 0,
                               .shift = shift < 2 ? 0 : (shift - 2) & 15,
                               .step = (const struct ptx_step *)(uintptr_t)(quick->what >> 16)};
}

/* What the entry for all of the line says, for its line. */
static void from_quick(struct check_line *line, const struct check_quick *quick)
{
    const struct check_seen seen = check_quick_seen(quick);

    line->whole = (struct check_cell){0};
    line->split = false;
    if (quick->what & CHECK_WHAT_WRITE)
        line->whole.write = seen;
    else
        line->whole.reads[0] = seen;
}

/* The line of an address, where what is older than `since` is forgotten; NULL: no memory for it. */
static struct check_line *line_of(struct check *check, uintptr_t at, uint32_t since)
{
    struct check_page *page = check_race_page(check, at);
    struct check_quick *quick;
    struct check_line *line;

    if (!page)
        return NULL;
    if (!page->lines) {
        if (check->lined == MOST_LINED || !(page->lines = calloc(CHECK_LINES, sizeof *page->lines)))
            return NULL;
        check->lined++;
    }
    line = &page->lines[at % CHECK_PAGE / CHECK_LINE];
    quick = &page->quick[at % CHECK_PAGE / CHECK_LINE];
    if (quick->serial < since) {
        line->whole = (struct check_cell){0};
        line->split = false;
    } else if (!(quick->what & CHECK_LINE_COUNTS)) {
        from_quick(line, quick);
    }
    quick->what = CHECK_LINE_COUNTS;
    quick->serial = check->serial;
    return line;
}

static void of_cell(struct check_seen *seen, unsigned cell)
{
    seen->thread = (uint16_t)(seen->thread + (cell << seen->spread >> seen->shift));
    seen->shift = 0;
}

/* The cell of a line that is split from now on; NULL: no memory. */
static struct check_cell *cell_of(struct check *check, struct check_line *line, uintptr_t at)
{
    struct check_cell *cells = line->cells;

    if (line->split)
        return &cells[at % CHECK_LINE / CHECK_CELL];
    if (!cells) {
        if (check->splits == MOST_SPLITS || !(cells = malloc(CHECK_CELLS * sizeof *cells)))
            return NULL;
        check->splits++;
        line->cells = cells;
    }
    for (unsigned i = 0; i < CHECK_CELLS; i++) {
        cells[i] = line->whole;
        of_cell(&cells[i].write, i);
        of_cell(&cells[i].reads[0], i);
        of_cell(&cells[i].reads[1], i);
    }
    line->split = true;
    return &cells[at % CHECK_LINE / CHECK_CELL];
}

void check_race_free(struct check *check)
{
    for (size_t i = 0; i < CHECK_BUCKETS; i++)
        for (struct check_page *page = check->buckets[i], *next; page; page = next) {
            next = page->next;
            for (size_t l = 0; page->lines && l < CHECK_LINES; l++)
                free(page->lines[l].cells);
            free(page->lines);
            free(page);
        }
    for (size_t i = 0; i < CHECK_MEETINGS; i++)
        for (struct check_meeting *one = check->meetings[i], *next; one; one = next) {
            next = one->next;
            free(one);
        }
}

/* --- Order --- */

static bool is_ordered(const struct check *check, const struct ptx_warp *warp,
                       const struct check_seen *old)
{
    if (old->block != (uint32_t)warp->block->number)
        return check->last_atomic[old->block] > old->serial &&
               check->last_atomic[warp->block->number] > old->serial;
    if (old->serial >= warp->block->check->since && old->thread / PTX_LANES != warp->index)
        check_near_order(warp->block);
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

/* An atomic operation, or a load or store with an order, tells what came before and learns what
 * others told here. */
static void meet(struct check *check, struct ptx_warp *warp, uintptr_t at, uint32_t serial)
{
    struct ptx_block *block = warp->block;
    const uintptr_t cell = at / CHECK_CELL;
    uint32_t *known = block->check->known[warp->index], own;
    struct check_meeting **bucket = &check->meetings[cell % CHECK_MEETINGS], *one = *bucket;

    if (check->last_atomic)
        check->last_atomic[block->number] = check->serial;
    /* Of blocks that have ended, one is taken again. */
    while (one && one->cell != cell)
        one = one->next;
    if (!one) {
        if (!(one = calloc(1, sizeof *one)))
            return;
        one->cell = cell;
        one->block = block->number;
        one->next = *bucket;
        *bucket = one;
    }
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

/* The bits that a store of one lane writes to the cell, if they are known. */
static bool new_value(const struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                      uint32_t at, uint32_t *value)
{
    const uint32_t *list = step->list ? step->list : step->operand;
    const unsigned size =
        step->how.memory.store == STORE_8_32 || step->how.memory.store == STORE_8_64     ? 1
        : step->how.memory.store == STORE_16_32 || step->how.memory.store == STORE_16_64 ? 2
        : step->how.memory.store == STORE_64_64                                          ? 8
                                                                                         : 4;
    const unsigned part = at / size;
    const bool wide = step->how.memory.store == STORE_64_64 ||
                      step->how.memory.store == STORE_32_64 ||
                      step->how.memory.store == STORE_16_64 || step->how.memory.store == STORE_8_64;
    uint64_t bits;

    if (step->how.memory.store == STORE_128 || list[1 + part] == PTX_ABSENT || size < CHECK_CELL)
        return false;
    bits = wide ? ((const reg64 *)ptx_in(warp, list[1 + part]))[lane]
                : ((const reg32 *)ptx_in(warp, list[1 + part]))[lane];
    *value = (uint32_t)(bits >> 8 * (at % size));
    return true;
}

/* Does the store leave the cell as the other thread's left it? Then nobody can tell the order. */
static bool is_same(const struct ptx_warp *warp, const struct check_doing *now, unsigned lane,
                    uint32_t at, uintptr_t address, const struct check_seen *old)
{
    uint32_t value, before;

    if (at % CHECK_CELL || address % CHECK_CELL || !new_value(warp, now->step, lane, at, &value))
        return false;
    if (old->serial == now->serial) /* of this very instruction: it is not in memory yet */
        return new_value(&warp->block->warps[old->thread / PTX_LANES].warp, now->step,
                         old->thread % PTX_LANES, at, &before) &&
               before == value;
    memcpy(&before, (const void *)address, sizeof before);
    return before == value;
}

/* --- Accesses --- */

static void race(struct ptx_warp *warp, const struct check_doing *now, unsigned lane,
                 const struct check_seen *old, bool old_write)
{
    char other[280], what[480];

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

static bool is_of(const struct check_seen *one, const struct check_seen *other)
{
    return one->thread == other->thread && one->block == other->block &&
           one->shift == other->shift && one->spread == other->spread;
}

/* A read of what the thread has read since it was written and since it told others anything. */
static bool is_known(const struct ptx_warp *warp, const struct check_cell *cell,
                     const struct check_seen *seen)
{
    const struct check_block *block = warp->block->check;
    const uint32_t told = block->known[warp->index][warp->index];

    for (unsigned i = 0; i < 2; i++) {
        const struct check_seen *read = &cell->reads[i];

        if (is_of(read, seen) && read->serial > told && read->serial >= block->since &&
            read->serial > cell->write.serial && (read->bytes & seen->bytes) == seen->bytes &&
            read->atomic == seen->atomic)
            return true;
    }
    return false;
}

static void keep(const struct check *check, struct check_cell *cell, const struct check_seen *seen,
                 bool write)
{
    if (write) {
        cell->write = *seen;
        return;
    }
    if (!is_of(&cell->reads[0], seen) || cell->reads[0].serial < check->first)
        cell->reads[1] = cell->reads[0];
    cell->reads[0] = *seen;
}

/* The bytes from `at` on that are in one cell. */
static uint8_t bytes_of(uintptr_t at, uint64_t size)
{
    const uint64_t first = at % CHECK_CELL;
    const uint64_t count = size < CHECK_CELL - first ? size : CHECK_CELL - first;

    return (uint8_t)(((1U << count) - 1) << first);
}

/* Did the same thread read it? Of several that read the cell, the one that is left in `read` is one
 * that read what `seen` uses. */
static bool is_thread(struct check_seen *read, const struct check_seen *seen)
{
    const unsigned size = CHECK_CELL >> read->spread;
    const unsigned common = read->bytes & seen->bytes;
    const unsigned first = (unsigned)__builtin_ctz(common) / size;
    const unsigned last = (31 - (unsigned)__builtin_clz(common)) / size;

    read->thread = (uint16_t)(read->thread + first);
    return first == last && read->thread == seen->thread;
}

static void look(struct check *check, struct ptx_warp *warp, const struct check_doing *now,
                 unsigned lane, struct check_cell *cell, uintptr_t address, uint32_t at,
                 uint8_t bytes)
{
    const struct check_seen seen = seen_of(warp, now, lane, bytes);
    const struct check_seen *write = &cell->write;

    if (now->replay) {
        keep(check, cell, &seen, now->write);
        return;
    }
    if (!now->write && is_known(warp, cell, &seen))
        return;
    if (write->bytes & bytes && conflicts(check, warp, now, write, write->thread == seen.thread) &&
        !(now->store && is_same(warp, now, lane, at, address, write)))
        race(warp, now, lane, write, true);
    for (unsigned i = 0; now->write && i < 2; i++) {
        struct check_seen read = cell->reads[i];

        if (!(read.bytes & bytes))
            continue;
        if (conflicts(check, warp, now, &read, is_thread(&read, &seen)))
            race(warp, now, lane, &read, false);
    }
    keep(check, cell, &seen, now->write);
}

static void each_lane(struct check *check, struct ptx_warp *warp, const struct check_doing *now,
                      uint32_t mask, uint32_t since)
{
    uintptr_t number = 0;
    struct check_line *line = NULL;

    FOR_LANES (lane, mask) {
        const uintptr_t first = access_lane(now->access, lane), end = first + now->size;

        for (uintptr_t at = first; at < end; at = (at | (CHECK_CELL - 1)) + 1) {
            struct check_cell *cell;

            if (!line || at / CHECK_LINE != number) {
                number = at / CHECK_LINE;
                if (now->shared && !now->replay)
                    check_near_exact(warp->block, at);
                line = line_of(check, at, since);
            }
            cell = line ? cell_of(check, line, at) : NULL;
            if (cell)
                look(check, warp, now, lane, cell, at, (uint32_t)(at - first),
                     bytes_of(at, end - at));
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
        keep(check, whole, &seen, now->write);
        return true;
    }
    if (!line->split && !now->write && is_known(warp, whole, &seen))
        return true;
    if (line->split || conflicts(check, warp, now, &whole->write, is_of(&whole->write, &seen)))
        return false;
    for (unsigned i = 0; now->write && i < 2; i++) /* its threads may be of two warps */
        if (whole->reads[i].spread ||
            conflicts(check, warp, now, &whole->reads[i], is_of(&whole->reads[i], &seen)))
            return false;
    keep(check, whole, &seen, now->write);
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
            line = line_of(check, at, check->first);
        }
        cell = line ? cell_of(check, line, at) : NULL;
        if (cell && cell->write.serial < check->first)
            keep(check, cell, &seen, false);
        else if (cell)
            each_lane(check, warp, now, ((UINT32_C(1) << lanes) - 1) << lane, check->first);
    }
}

bool check_race_read(struct check *check, uintptr_t at, const struct check_seen *seen)
{
    struct check_line *line = line_of(check, at, check->first);

    if (!line || line->split || line->whole.write.serial >= check->first)
        return false;
    keep(check, &line->whole, seen, false);
    return true;
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
                check_near_exact(warp->block, at);
            line = line_of(check, at, since);
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
