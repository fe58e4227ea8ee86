/* SPDX-License-Identifier: MIT */
/* Launches that are checked: they have one worker, so that nothing here needs a lock. */
#include "ptx/memory/check_state.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SERIAL UINT32_C(3000000000)
#define MOST_BYTES (UINT32_C(1) << 29) /* of what is kept for the next launch */
#define MOST_BLOCKS (UINT64_C(1) << 24)

static unsigned wanted;

void ptx_checks(unsigned which)
{
    wanted = which;
    check_init_start(which & PTX_CHECK_INIT);
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
    check_line_free(check);
    free(check);
}

/* With this much it is better to begin anew. */
static bool is_large(const struct check *check)
{
    return check->serial > MOST_SERIAL ||
           check->pages * (uint64_t)sizeof(struct check_page) +
                   (check->pages + check->shared) *
                       (uint64_t)(CHECK_LINES * sizeof(struct check_quick)) +
                   check->lined * (uint64_t)(CHECK_LINES * sizeof(struct check_line)) +
                   check->splits * (uint64_t)(CHECK_CELLS * sizeof(struct check_cell)) >
               MOST_BYTES;
}

static struct check *check_take(void)
{
    struct check *check;

    pthread_mutex_lock(&idle_lock);
    check = idle;
    idle = check ? check->next : NULL;
    pthread_mutex_unlock(&idle_lock);
    if (check && is_large(check)) {
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
    check_init_hold();
    check->which = wanted;
    check->generation = 0;
    check->first = ++check->serial;
    check->reports = 0;
    check->last_atomic = blocks <= MOST_BLOCKS ? calloc(blocks, sizeof *check->last_atomic) : NULL;
    return true;
}

void check_end(struct launch *launch)
{
    struct check *check = launch->check;

    if (!check)
        return;
    check_init_release();
    free(check->last_atomic);
    check->last_atomic = NULL;
    pthread_mutex_lock(&idle_lock);
    check->next = idle;
    idle = check;
    pthread_mutex_unlock(&idle_lock);
}

/* What was told at a barrier. */
static void forget(struct check_block *check, unsigned barrier)
{
    if (check->told >> barrier & 1)
        memset(check->barriers[barrier], 0, sizeof check->barriers[barrier]);
    check->told &= ~(UINT32_C(1) << barrier);
}

bool check_block_begin(struct ptx_block *block)
{
    const size_t lines = block->shared_size / CHECK_LINE + 1;
    struct check_block *check = block->check;

    if (!block->launch->check)
        return true;
    if (!check)
        check = block->check = calloc(1, sizeof *check + lines * sizeof *check->lines);
    if (!check)
        return false;
    check->began = check->since = ++block->launch->check->serial;
    check->logged = check->listed = 0;
    memset(check->known, 0, block->warp_count * sizeof *check->known);
    for (unsigned i = 0; check->told; i++)
        forget(check, i);
    memset(check->atomics, 0, sizeof check->atomics);
    memset(check->lines, 0, lines * sizeof *check->lines);
    check->lines[lines - 1].written = UINT64_MAX << block->shared_size % CHECK_LINE;
    check->full = 0;
    check->quiet = true;
    return true;
}

void check_block_end(struct ptx_block *block)
{
    for (unsigned i = 0; block->check && i < CHECK_WARPS; i++)
        free(block->check->locals[i]);
    if (block->check) {
        free(block->check->log);
        free(block->check->lists);
    }
    free(block->check);
}

/* --- Order --- */

/* Do all threads wait there? */
static bool is_full(const struct ptx_block *block, unsigned barrier)
{
    return barrier < BARRIERS && block->barriers[barrier].waiting == block->launch->threads;
}

void check_arrive(struct ptx_warp_state *state, unsigned barrier)
{
    struct ptx_block *block = state->warp.block;

    if (!block->check || check_rows_arrive(block, state->warp.index, barrier))
        return;
    check_race_order(block);
    check_tell(block, state->warp.index, block->check->barriers[barrier]);
    block->check->told |= UINT32_C(1) << barrier;
}

void check_leave(struct ptx_warp_state *state, unsigned barrier)
{
    struct ptx_block *block = state->warp.block;

    if (!block->check || is_full(block, barrier))
        return;
    check_race_order(block);
    check_join(block->check->known[state->warp.index], block->check->barriers[barrier]);
}

/* All warps know what is older. */
static void begin_anew(struct ptx_block *block)
{
    block->check->since = ++block->launch->check->serial;
    block->check->logged = block->check->listed = 0;
    block->check->quiet = true;
}

void check_open(struct ptx_block *block, unsigned barrier)
{
    if (!block->check)
        return;
    forget(block->check, barrier);
    if (is_full(block, barrier))
        begin_anew(block);
}

void check_meet(struct ptx_block *block)
{
    begin_anew(block);
}

/* --- Accesses --- */

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

static const struct ir_insn *insn_of(const struct ptx_warp *warp, const struct ptx_step *step)
{
    const struct ptx_code *code = warp->state->frame->code;
    size_t at = (size_t)(step - code->steps);

    if (step < code->steps || step >= code->steps + code->step_count)
        at = code->team->general[step - code->team->steps];
    return code->sources[at].insn;
}

static bool has_register(const struct ir_operand *operand, uint32_t index)
{
    for (unsigned i = 0; i < operand->count; i++)
        if (has_register(&operand->parts[i], index))
            return true;
    return operand->kind == IR_OPERAND_REG && operand->index == index;
}

/* An exchange whose old value no instruction takes is a write. */
static bool is_write(const struct ptx_warp *warp, const struct ir_insn *insn)
{
    const struct ir_function *function = warp->state->frame->code->ir;
    const struct ir_operand *old = &insn->operands[0];

    if (insn->op != IR_ATOM || insn->atomic != IR_ATOM_EXCH)
        return false;
    for (uint32_t i = 0; old->kind == IR_OPERAND_REG && i < function->insn_count; i++)
        for (unsigned j = 0; &function->insns[i] != insn && j < function->insns[i].count; j++)
            if (has_register(&function->insns[i].operands[j], old->index))
                return false;
    return true;
}

static bool bytes_were(struct ptx_warp *warp, const struct check_doing *now, uintptr_t first,
                       uint64_t size)
{
    struct check *check = warp->block->launch->check;
    bool were = true;

    if (now->shared)
        return check_segment_written(warp->block, first, size, now->write);
    if (now->read)
        were = check_init_read(check, first, size);
    if (now->write)
        check_init_write(check, first, size);
    return were;
}

static void init(struct ptx_warp *warp, const struct check_doing *now)
{
    const struct access *access = now->access;
    const char *what = now->shared ? "it reads shared memory that nothing wrote"
                                   : "it reads global memory that nothing wrote";
    bool said = false;

    FOR_LANES (lane, now->mask) {
        if (bytes_were(warp, now, access_lane(access, lane), now->size) || !now->read || said ||
            is_write(warp, insn_of(warp, now->step)))
            continue;
        check_note(warp, lane, now->step, NULL, "init", what);
        said = true;
    }
}

/* What is left to be looked at lane by lane, all in one kind of memory. */
static void each_lane(struct ptx_warp *warp, struct check_doing *now, unsigned which)
{
    if (which & PTX_CHECK_INIT)
        init(warp, now);
    if (which & PTX_CHECK_RACE)
        check_race(warp, now);
}

/* What can be looked at: not what blocks of a cluster do in each other's memory. */
static unsigned looked_at(const struct ptx_block *block, bool shared)
{
    const unsigned which = block->launch->check->which & (PTX_CHECK_RACE | PTX_CHECK_INIT);

    return !block->cluster ? which : shared ? 0 : which & PTX_CHECK_INIT;
}

void check_each(struct ptx_block *block, const struct check_rows *rows)
{
    const bool shared = is_own_shared(block, rows->base);
    unsigned left = looked_at(block, shared);
    /* Of warps that read the same, two are as good as all. */
    const bool same = rows->warp == 0 && !rows->write && rows->count > 1;

    if (left)
        left = check_rows(block, rows, shared, left);
    for (uint32_t w = 0; left && w < rows->count; w += same ? rows->count - 1 : 1) {
        struct access access = {.pattern = ACCESS_HALVES, .stride = (uint64_t)rows->lane};
        struct check_doing now = {.step = rows->step,
                                  .access = &access,
                                  .mask = rows->mask,
                                  .size = rows->size,
                                  .serial = rows->serial,
                                  .read = !rows->write,
                                  .write = rows->write,
                                  .store = rows->write,
                                  .shared = shared};

        access.base = (char *)rows->base + (int64_t)w * rows->warp;
        access.second = access.base + rows->half;
        each_lane(&block->warps[rows->first + w].warp, &now, left);
    }
}

/* All lanes in one range of memory, and neighbours or at one place. */
static bool access_rows(struct ptx_warp *warp, const struct ptx_step *step, enum memory_space space,
                        uint32_t size, bool write, const struct access *access)
{
    const uintptr_t first = (uintptr_t)access->base;

    if (space == MEMORY_GENERIC && is_private(warp, first))
        return false;
    const struct check_rows rows = {.step = step,
                                    .base = first,
                                    .lane = (int64_t)access->stride,
                                    .half = access->second - access->base,
                                    .first = warp->index,
                                    .count = 1,
                                    .serial = warp->block->launch->check->serial,
                                    .mask = PTX_FULL,
                                    .size = (uint8_t)size,
                                    .write = write};
    check_each(warp->block, &rows);
    return true;
}

/* A variable may have gaps that are copied with it: one byte that was written is enough. */
static void local(struct ptx_warp *warp, const struct check_doing *now, uint32_t mask)
{
    bool said = false;

    FOR_LANES (lane, mask) {
        if (check_init_local(warp, access_lane(now->access, lane), now->size, now->write) ||
            !now->read || said)
            continue;
        check_note(warp, lane, now->step, NULL, "init", "it reads local memory that nothing wrote");
        said = true;
    }
}

void check_access(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask,
                  enum memory_space space, uint32_t size, bool write, const struct access *access)
{
    struct check *check = warp->block->launch->check;
    struct check_doing now = {.step = step, .access = access, .size = size, .write = write};
    uint32_t shared = 0, global = 0, own = 0;
    unsigned left;
    enum ir_op op;

    now.serial = ++check->serial;
    op = (enum ir_op)insn_of(warp, step)->op;
    now.read = !write || op == IR_ATOM || op == IR_RED;
    if (space == MEMORY_PARAM || !(check->which & (PTX_CHECK_RACE | PTX_CHECK_INIT)))
        return;
    if (space == MEMORY_LOCAL) {
        local(warp, &now, mask);
        return;
    }
    now.store = op == IR_ST && !step->how.memory.ordered;
    now.atomic =
        op == IR_ATOM || op == IR_RED || ((op == IR_LD || op == IR_ST) && step->how.memory.ordered);
    if (mask == PTX_FULL && access->pattern != ACCESS_GATHER && (op == IR_LD || now.store) &&
        !now.atomic && access_rows(warp, step, space, size, write, access))
        return;
    if (space == MEMORY_SHARED && !warp->block->cluster)
        shared = mask;
    FOR_LANES (lane, mask & ~shared) {
        const uintptr_t first = access_lane(access, lane);

        if (is_own_shared(warp->block, first))
            shared |= UINT32_C(1) << lane;
        else if (space != MEMORY_SHARED && !is_private(warp, first))
            global |= UINT32_C(1) << lane; /* and nothing of other blocks of the cluster */
        else if (space != MEMORY_SHARED)
            own |= UINT32_C(1) << lane;
    }
    local(warp, &now, own);
    for (unsigned i = 0; i < 2; i++) {
        now.shared = i == 0;
        now.mask = now.shared ? shared : global;
        if (!now.mask)
            continue;
        left = looked_at(warp->block, now.shared);
        if (left && now.shared && (op == IR_ATOM || op == IR_RED) && size <= 8)
            left = check_rows_atomic(warp, &now, left);
        each_lane(warp, &now, left);
    }
}

void check_touch(struct ptx_warp *warp, const struct ptx_step *step, const char *host,
                 uint64_t size, bool write)
{
    struct ptx_block *block = warp->block;

    if (insn_of(warp, step)->op == IR_MBARRIER) {
        check_race_order(block);
        check_join(block->check->known[warp->index], block->check->atomics);
        check_tell(block, warp->index, block->check->atomics);
    }
    if (!write)
        return;
    if (is_private(warp, (uintptr_t)host))
        check_init_local(warp, (uintptr_t)host, size, true);
    else if (is_own_shared(block, (uintptr_t)host))
        check_segment_written(block, (uintptr_t)host, size, true);
    else
        check_init_write(block->launch->check, (uintptr_t)host, size);
}

void check_allocated(struct ptx_warp *warp, uint64_t address, uint64_t size)
{
    struct launch *launch = warp->block->launch;
    struct ptx_range range;

    if (launch->check && address && heap_range(launch->world->heap, address, &range))
        check_line_forget(launch->check, (uintptr_t)range.host + (address - range.base), size);
}

/* --- Lanes --- */

void check_apart(struct ptx_warp *warp, unsigned lane, const struct ptx_step *step, const char *why)
{
    if (warp->block->launch->check->which & PTX_CHECK_SYNC)
        check_note(warp, lane, step, NULL, "sync", why);
}

void check_sync(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask,
                const reg32 *members)
{
    const struct check *check = warp->block->launch->check;
    const bool barrier = insn_of(warp, step)->op == IR_BAR;

    if (barrier)
        warp->block->check->known[warp->index][warp->index] = check->serial;
    if (!(check->which & PTX_CHECK_SYNC))
        return;
    FOR_LANES (lane, mask) {
        if (!(members[lane] >> lane & 1)) {
            check_note(warp, lane, step, NULL, "sync", "its mask does not name the thread itself");
            return;
        }
        if (!barrier && members[lane] & warp->state->first_alive & ~warp->alive) {
            check_note(warp, lane, step, NULL, "sync", "its mask names threads that have ended");
            return;
        }
    }
}
