/* SPDX-License-Identifier: MIT */
/* Two accesses of different threads are a race if one of them writes, not both are atomic, and
 * nothing orders them. What orders them, of one block: vector clocks. A warp has a clock of its
 * own, and for each other warp the newest one that it has heard of; barriers, mbarriers and atomic
 * operations tell it. The lanes of a warp are ordered by its .warp.sync and by all of these.
 * Threads of different blocks are ordered if that of the first access did something atomic behind
 * it, and that of the second before it. This finds no order where there is none to be had from a
 * program's own instructions; it may see order where there is none, and then finds no race.
 *
 * A checked launch has one worker, so that nothing here needs a lock. */
#include "ptx/memory/memory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARPS 32
#define CELL 4          /* bytes */
#define PAGE_CELLS 1024 /* of a page */
#define BUCKETS 16384   /* of pages */
#define MEETINGS 1024
#define MOST_SERIAL UINT32_C(3000000000)
#define MOST_PAGES 8192 /* then memory that comes new is not looked at */
#define MOST_REPORTS 16 /* of a launch */
#define MOST_BLOCKS (UINT64_C(1) << 24)

struct seen {        /* the last access of a kind */
    uint32_t serial; /* of the access; 0: none */
    uint32_t clock;  /* the warp's own */
    uint32_t block;  /* of those that are looked at */
    uint16_t thread;
    uint8_t bytes; /* of the cell, a bit each */
    bool atomic;
    const struct ptx_step *step;
};

struct cell {
    struct seen write, reads[2]; /* the reads of two threads */
    uint32_t written_in;         /* when the block of this shared memory began, in accesses */
    uint32_t written;            /* bytes, a bit each */
};

struct meeting { /* what atomic operations in one cell of a block told */
    uintptr_t cell;
    uint64_t block;
    uint32_t launch; /* its first access */
    struct meeting *next;
    uint32_t clocks[WARPS];
};

struct page {
    uintptr_t number;
    struct page *next;
    struct cell cells[PAGE_CELLS];
};

struct times { /* of a block's last atomic operation */
    uint32_t last;
};

struct check {
    unsigned which;
    struct page *buckets[BUCKETS], *last;
    struct meeting *meetings[MEETINGS];
    uint32_t pages;
    uint32_t serial;     /* of the last access; it goes on from launch to launch */
    uint32_t first;      /* of the launch: what is older is of another one */
    struct check *next;  /* that no launch has */
    struct times *times; /* of each block; NULL: too many */
    uint32_t reports;
    struct {
        const struct ptx_step *one, *other;
    } reported[MOST_REPORTS];
};

struct check_block {
    uint32_t began;                /* the serial at its begin */
    uint32_t clocks[WARPS][WARPS]; /* what a warp knows of each */
    uint32_t barriers[BARRIERS + 1][WARPS];
    uint32_t atomics[WARPS]; /* of mbarriers, all together */
};

static unsigned wanted;

void ptx_checks(unsigned which)
{
    wanted = which;
}

unsigned check_wanted(void)
{
    return wanted;
}

/* --- Launches and blocks --- */

static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static struct check *idle; /* with pages, which launches would have to ask for again */

static void check_free(struct check *check)
{
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct page *page = check->buckets[i], *next; page; page = next) {
            next = page->next;
            free(page);
        }
    for (size_t i = 0; i < MEETINGS; i++)
        for (struct meeting *one = check->meetings[i], *next; one; one = next) {
            next = one->next;
            free(one);
        }
    free(check);
}

static struct check *check_take(void)
{
    struct check *check;

    pthread_mutex_lock(&idle_lock);
    check = idle;
    idle = check ? check->next : NULL;
    pthread_mutex_unlock(&idle_lock);
    if (check && (check->serial > MOST_SERIAL || check->pages == MOST_PAGES)) {
        check_free(check);
        check = NULL;
    }
    return check ? check : calloc(1, sizeof *check);
}

bool check_begin(struct launch *launch)
{
    const uint32_t *grid = launch->request->grid;
    uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2];
    struct check *check;

    if (!wanted)
        return true;
    check = launch->check = check_take();
    if (!check)
        return false;
    check->which = wanted;
    check->first = ++check->serial;
    check->reports = 0;
    check->times = blocks <= MOST_BLOCKS ? calloc(blocks, sizeof *check->times) : NULL;
    return true;
}

void check_end(struct launch *launch)
{
    struct check *check = launch->check;

    if (!check)
        return;
    free(check->times);
    check->times = NULL;
    pthread_mutex_lock(&idle_lock);
    check->next = idle;
    idle = check;
    pthread_mutex_unlock(&idle_lock);
}

bool check_block_begin(struct ptx_block *block)
{
    if (!block->launch->check)
        return true;
    if (!block->check)
        block->check = malloc(sizeof *block->check);
    if (!block->check)
        return false;
    memset(block->check, 0, sizeof *block->check);
    block->check->began = ++block->launch->check->serial;
    for (unsigned i = 0; i < WARPS; i++)
        block->check->clocks[i][i] = 1;
    return true;
}

void check_block_end(struct ptx_block *block)
{
    free(block->check);
}

/* --- Clocks --- */

static void join(uint32_t *to, const uint32_t *from)
{
    for (unsigned i = 0; i < WARPS; i++)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}

/* Tell what the warp has done, and begin anew. */
static void tell(struct ptx_block *block, unsigned warp, uint32_t *to)
{
    join(to, block->check->clocks[warp]);
    block->check->clocks[warp][warp]++;
}

void check_arrive(struct ptx_warp_state *state, unsigned barrier)
{
    struct ptx_block *block = state->warp.block;

    if (block->check)
        tell(block, state->warp.index, block->check->barriers[barrier]);
}

void check_leave(struct ptx_warp_state *state, unsigned barrier)
{
    struct ptx_block *block = state->warp.block;

    if (block->check)
        join(block->check->clocks[state->warp.index], block->check->barriers[barrier]);
}

void check_open(struct ptx_block *block, unsigned barrier)
{
    if (block->check)
        memset(block->check->barriers[barrier], 0, sizeof block->check->barriers[barrier]);
}

/* --- Reports --- */

static const struct step_source *source_of(const struct ptx_module *module,
                                           const struct ptx_step *step)
{
    for (uint32_t i = 0; i < module->code_count; i++) {
        const struct ptx_code *code = &module->codes[i];

        if (step >= code->steps && step < code->steps + code->step_count)
            return &code->sources[step - code->steps];
    }
    return NULL;
}

static bool is_new(struct check *check, const struct ptx_step *one, const struct ptx_step *other)
{
    for (uint32_t i = 0; i < check->reports && i < MOST_REPORTS; i++)
        if (check->reported[i].one == one && check->reported[i].other == other)
            return false;
    if (check->reports >= MOST_REPORTS)
        return false;
    check->reported[check->reports].one = one;
    check->reported[check->reports++].other = other;
    return true;
}

static void place(const struct launch *launch, uint64_t block, uint32_t thread,
                  const struct ptx_step *step, bool with_block, char *text, size_t size)
{
    const uint32_t *grid = launch->request->grid;
    const uint32_t *at = launch->tids + thread / PTX_LANES * 3 * PTX_LANES + thread % PTX_LANES;
    const struct step_source *source = source_of(launch->image->module, step);
    char blocks[64] = "";

    if (with_block)
        snprintf(blocks, sizeof blocks, "block (%u,%u,%u), ", (unsigned)(block % grid[0]),
                 (unsigned)(block / grid[0] % grid[1]), (unsigned)(block / grid[0] / grid[1]));
    snprintf(text, size, "%sthread (%u,%u,%u), line %u, %s", blocks, (unsigned)at[0],
             (unsigned)at[PTX_LANES], (unsigned)at[2 * PTX_LANES],
             source ? (unsigned)source->line : 0, source ? opcodes_text[source->op] : "?");
}

static void note(struct ptx_warp *warp, unsigned lane, const struct ptx_step *step,
                 const struct ptx_step *other, const char *kind, const char *what)
{
    const struct launch *launch = warp->block->launch;
    char where[160], sentence[640];

    if (!is_new(launch->check, step, other) || !launch->world->note)
        return;
    place(launch, warp->block->number, warp->index * PTX_LANES + lane, step, true, where,
          sizeof where);
    snprintf(sentence, sizeof sentence, "%s: kernel '%s', %s: %s", kind, launch->entry->info.name,
             where, what);
    launch->world->note(launch->world->user, sentence);
}

/* --- Accesses --- */

static struct cell *cell_of(struct check *check, uintptr_t address)
{
    const uintptr_t number = address / CELL / PAGE_CELLS;
    struct page **bucket, *page = check->last;

    if (page && page->number == number)
        return &page->cells[address / CELL % PAGE_CELLS];
    bucket = &check->buckets[number * UINT64_C(0x9E3779B97F4A7C15) >> 50];
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
    check->last = page;
    return &page->cells[address / CELL % PAGE_CELLS];
}

static bool is_ordered(const struct check *check, const struct ptx_warp *warp,
                       const struct seen *old)
{
    const uint32_t(*clocks)[WARPS] = (const uint32_t(*)[WARPS])warp->block->check->clocks;
    const unsigned other = old->thread / PTX_LANES;

    if (old->block != (uint32_t)warp->block->number)
        return check->times[old->block].last > old->serial &&
               check->times[warp->block->number].last > old->serial;
    return other == warp->index ? old->clock < clocks[other][other]
                                : old->clock <= clocks[warp->index][other];
}

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

    if (step->how.memory.store == STORE_128 || list[1 + part] == PTX_ABSENT || size < CELL)
        return false;
    bits = wide ? ((const reg64 *)ptx_in(warp, list[1 + part]))[lane]
                : ((const reg32 *)ptx_in(warp, list[1 + part]))[lane];
    *value = (uint32_t)(bits >> 8 * (at % size));
    return true;
}

/* Does the store leave the cell as the other thread's left it? Then nobody can tell the order. */
static bool is_same(const struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                    uint32_t at, uintptr_t address, const struct seen *old, uint32_t serial)
{
    uint32_t value, before;

    if (at % CELL || address % CELL || !new_value(warp, step, lane, at, &value))
        return false;
    if (old->serial == serial) /* of this very instruction: it is not in memory yet */
        return new_value(warp, step, old->thread % PTX_LANES, at, &before) && before == value;
    memcpy(&before, (const void *)address, sizeof before);
    return before == value;
}

static void race(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane, bool write,
                 bool shared, const struct seen *old, bool old_write)
{
    char other[160], what[400];

    place(warp->block->launch, old->block, old->thread, old->step,
          old->block != (uint32_t)warp->block->number, other, sizeof other);
    snprintf(what, sizeof what, "it %s %s memory that %s, %s, and nothing orders the two",
             write ? "writes" : "reads", shared ? "shared" : "global", other,
             old_write ? "wrote" : "read");
    note(warp, lane, step, old->step, "race", what);
}

struct doing { /* an access of one lane */
    const struct ptx_step *step;
    unsigned lane;
    uint32_t serial;
    uint16_t thread;
    bool write, atomic, shared, store;
};

static bool conflicts(const struct check *check, const struct ptx_warp *warp,
                      const struct doing *now, const struct seen *old, uint8_t bytes)
{
    if (old->serial < check->first || !(old->bytes & bytes) || (old->atomic && now->atomic))
        return false;
    if (old->block != (uint32_t)warp->block->number)
        return !now->shared && check->times && !is_ordered(check, warp, old);
    return old->thread != now->thread && !is_ordered(check, warp, old);
}

static void look(struct check *check, struct ptx_warp *warp, const struct doing *now,
                 struct cell *cell, uintptr_t address, uint32_t at, uint8_t bytes)
{
    const struct seen seen = {.step = now->step,
                              .block = (uint32_t)warp->block->number,
                              .clock = warp->block->check->clocks[warp->index][warp->index],
                              .serial = now->serial,
                              .thread = now->thread,
                              .bytes = bytes,
                              .atomic = now->atomic};

    if (conflicts(check, warp, now, &cell->write, bytes) &&
        !(now->store &&
          is_same(warp, now->step, now->lane, at, address, &cell->write, now->serial)))
        race(warp, now->step, now->lane, now->write, now->shared, &cell->write, true);
    for (unsigned i = 0; now->write && i < 2; i++)
        if (conflicts(check, warp, now, &cell->reads[i], bytes))
            race(warp, now->step, now->lane, true, now->shared, &cell->reads[i], false);
    if (now->write) {
        cell->write = seen;
    } else if (cell->reads[0].thread == now->thread && cell->reads[0].block == seen.block &&
               cell->reads[0].serial >= check->first) {
        cell->reads[0] = seen;
    } else {
        cell->reads[1] = cell->reads[0];
        cell->reads[0] = seen;
    }
}

static void first_write(struct ptx_warp *warp, struct cell *cell, uint8_t bytes)
{
    if (cell->written_in != warp->block->check->began) {
        cell->written_in = warp->block->check->began;
        cell->written = 0;
    }
    cell->written |= bytes;
}

static bool is_unwritten(const struct ptx_warp *warp, const struct cell *cell, uint8_t bytes)
{
    return cell->written_in != warp->block->check->began || (cell->written & bytes) != bytes;
}

/* An atomic operation, or a load or store with an order, tells what came before and learns what
 * others told here. */
static void meet(struct check *check, struct ptx_warp *warp, uintptr_t at)
{
    struct ptx_block *block = warp->block;
    const uintptr_t cell = at / CELL;
    struct meeting **bucket = &check->meetings[cell % MEETINGS], *one = *bucket;

    if (check->times)
        check->times[block->number].last = check->serial;
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
        memset(one->clocks, 0, sizeof one->clocks);
    one->block = block->number;
    one->launch = check->first;
    join(block->check->clocks[warp->index], one->clocks);
    tell(block, warp->index, one->clocks);
}

/* The bytes from `at` on that are in one cell. */
static uint8_t bytes_of(uintptr_t at, uint32_t size)
{
    const uint32_t first = at % CELL, count = size < CELL - first ? size : CELL - first;

    return (uint8_t)(((1U << count) - 1) << first);
}

static bool is_own_shared(const struct ptx_block *block, uintptr_t at)
{
    return at - (uintptr_t)block->shared < block->shared_size;
}

/* Local memory and parameters, which generic addresses reach too, are a thread's own. */
static bool is_private(const struct ptx_warp *warp, uintptr_t at)
{
    const struct ptx_warp_state *state = warp->state;
    const struct launch *launch = warp->block->launch;

    return at - (uintptr_t)state->local < (uint64_t)PTX_LANES * state->local_stride ||
           at - (uintptr_t)launch->params < launch->param_size;
}

static bool is_atomic(const struct ptx_warp *warp, const struct ptx_step *step, bool *store)
{
    const struct ptx_code *code = warp->state->frame->code;
    const uint16_t op = code->sources[step - code->steps].op;

    *store = op == IR_ST && !step->how.memory.ordered;
    return op == IR_ATOM || op == IR_RED ||
           ((op == IR_LD || op == IR_ST) && step->how.memory.ordered);
}

void check_access(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask,
                  enum memory_space space, uint32_t size, bool write, const struct access *access)
{
    struct check *check = warp->block->launch->check;
    struct doing now = {.step = step, .write = write, .serial = ++check->serial};

    if (space == MEMORY_LOCAL || space == MEMORY_PARAM ||
        !(check->which & (PTX_CHECK_RACE | PTX_CHECK_INIT)))
        return;
    now.atomic = is_atomic(warp, step, &now.store);
    FOR_LANES (lane, mask) {
        const uintptr_t first = access_lane(access, lane);

        now.lane = lane;
        now.thread = (uint16_t)(warp->index * PTX_LANES + lane);
        now.shared = is_own_shared(warp->block, first);
        if (!now.shared && (space == MEMORY_SHARED || is_private(warp, first)))
            continue; /* or of another block of the cluster */
        for (uintptr_t at = first; at < first + size; at = (at | (CELL - 1)) + 1) {
            const uint8_t bytes = bytes_of(at, (uint32_t)(first + size - at));
            struct cell *cell = cell_of(check, at);

            if (!cell)
                continue;
            if (check->which & PTX_CHECK_INIT && now.shared && !write &&
                is_unwritten(warp, cell, bytes))
                note(warp, lane, step, NULL, "init", "it reads shared memory that nothing wrote");
            if (now.shared && write) {
                if (check->which & PTX_CHECK_INIT && now.atomic && is_unwritten(warp, cell, bytes))
                    note(warp, lane, step, NULL, "init",
                         "it reads shared memory that nothing wrote");
                first_write(warp, cell, bytes);
            }
            if (check->which & PTX_CHECK_RACE && !warp->block->cluster)
                look(check, warp, &now, cell, at, (uint32_t)(at - first), bytes);
            if (now.atomic)
                meet(check, warp, at);
        }
    }
}

void check_touch(struct ptx_warp *warp, const struct ptx_step *step, const char *host,
                 uint32_t size, bool write)
{
    struct ptx_block *block = warp->block;
    const struct ptx_code *code = warp->state->frame->code;
    const uintptr_t first = (uintptr_t)host;

    if (code->sources[step - code->steps].op == IR_MBARRIER) {
        join(block->check->clocks[warp->index], block->check->atomics);
        tell(block, warp->index, block->check->atomics);
    }
    for (uintptr_t at = first; write && is_own_shared(block, at) && at < first + size;
         at = (at | (CELL - 1)) + 1) {
        struct cell *cell = cell_of(block->launch->check, at);

        if (cell)
            first_write(warp, cell, bytes_of(at, (uint32_t)(first + size - at)));
    }
}

/* --- Lanes --- */

void check_sync(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask,
                const reg32 *members)
{
    const struct check *check = warp->block->launch->check;
    const struct ptx_code *code = warp->state->frame->code;
    const bool barrier = code->sources[step - code->steps].op == IR_BAR;

    if (barrier)
        warp->block->check->clocks[warp->index][warp->index]++;
    if (!(check->which & PTX_CHECK_SYNC))
        return;
    FOR_LANES (lane, mask) {
        if (!(members[lane] >> lane & 1)) {
            note(warp, lane, step, NULL, "sync", "its mask does not name the thread itself");
            return;
        }
        if (!barrier && members[lane] & warp->state->first_alive & ~warp->alive) {
            note(warp, lane, step, NULL, "sync", "its mask names threads that have ended");
            return;
        }
    }
}
