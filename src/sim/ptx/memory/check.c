/* SPDX-License-Identifier: MIT */
/* Launches that are checked: they have one worker, so that nothing here needs a lock. */
#include "ptx/memory/check_state.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ops/ops.h"

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
    check_race_free(check);
    free(check);
}

/* With this much it is better to begin anew. */
static bool is_large(const struct check *check)
{
    return check->serial > MOST_SERIAL ||
           check->pages * sizeof(struct check_page) +
                   (uint64_t)check->splits * CHECK_CELLS * sizeof(struct check_cell) >
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
    check->which = wanted;
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
    free(check->last_atomic);
    check->last_atomic = NULL;
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
    for (unsigned i = 0; i < CHECK_WARPS; i++)
        block->check->clocks[i][i] = 1;
    return true;
}

void check_block_end(struct ptx_block *block)
{
    free(block->check);
}

/* --- Clocks --- */

void check_arrive(struct ptx_warp_state *state, unsigned barrier)
{
    struct ptx_block *block = state->warp.block;

    if (block->check)
        check_tell(block, state->warp.index, block->check->barriers[barrier]);
}

void check_leave(struct ptx_warp_state *state, unsigned barrier)
{
    struct ptx_block *block = state->warp.block;

    if (block->check)
        check_join(block->check->clocks[state->warp.index], block->check->barriers[barrier]);
}

void check_open(struct ptx_block *block, unsigned barrier)
{
    if (block->check)
        memset(block->check->barriers[barrier], 0, sizeof block->check->barriers[barrier]);
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

static enum ir_op op_of(const struct ptx_warp *warp, const struct ptx_step *step)
{
    const struct ptx_code *code = warp->state->frame->code;
    size_t at = (size_t)(step - code->steps);

    if (step < code->steps || step >= code->steps + code->step_count)
        at = code->team->general[step - code->team->steps];
    return (enum ir_op)code->sources[at].op;
}

/* Note that bytes of shared memory are written; were they before? What has no line was. */
static bool shared_bytes(struct ptx_block *block, uintptr_t first, uint64_t size, bool write)
{
    const uint32_t began = block->check->began;
    const uintptr_t end = first + size;
    bool were = true;

    for (uintptr_t at = first; at < end; at = (at | (CHECK_LINE - 1)) + 1) {
        struct check_line *line = check_race_line(block->launch->check, at, began);
        const unsigned skipped = at % CHECK_LINE;
        const uint64_t here = end - at < CHECK_LINE - skipped ? end - at : CHECK_LINE - skipped;
        const uint64_t bits = UINT64_MAX >> (CHECK_LINE - here) << skipped;

        if (!line)
            continue;
        if (line->written_in != began) {
            line->written_in = began;
            line->written = 0;
        }
        were = were && !(bits & ~line->written);
        line->written |= write ? bits : 0;
    }
    return were;
}

static bool bytes_were(struct ptx_warp *warp, const struct check_doing *now, uintptr_t first,
                       uint64_t size)
{
    bool were = true;

    if (now->shared)
        return shared_bytes(warp->block, first, size, now->write);
    if (!now->write || now->atomic)
        were = check_init_is_written(first, size);
    if (now->write)
        ptx_memory_written((const void *)first, size);
    return were;
}

/* Of lanes that lie together: at once. */
static bool rows_were(struct ptx_warp *warp, const struct check_doing *now)
{
    const struct access *access = now->access;
    const uint64_t size = access->stride == now->size ? PTX_LANES / 2 * now->size : now->size;
    bool were;

    if (access->pattern == ACCESS_ROW && access->stride == now->size)
        return bytes_were(warp, now, (uintptr_t)access->base, 2 * size);
    were = bytes_were(warp, now, (uintptr_t)access->base, size);
    return bytes_were(warp, now, (uintptr_t)access->second, size) && were;
}

static void init(struct ptx_warp *warp, const struct check_doing *now)
{
    const struct access *access = now->access;
    const bool reads = !now->write || now->atomic;
    const char *what = now->shared ? "it reads shared memory that nothing wrote"
                                   : "it reads global memory that nothing wrote";

    if (access->pattern != ACCESS_GATHER && (access->stride == now->size || access->stride == 0)) {
        if (rows_were(warp, now) || !reads)
            return;
        if (now->write) { /* all of it is written now: nobody knows which lane's was not */
            check_note(warp, 0, now->step, NULL, "init", what);
            return;
        }
    }
    FOR_LANES (lane, now->mask) {
        if (bytes_were(warp, now, access_lane(access, lane), now->size) || !reads)
            continue;
        check_note(warp, lane, now->step, NULL, "init", what);
        return;
    }
}

void check_access(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask,
                  enum memory_space space, uint32_t size, bool write, const struct access *access)
{
    struct check *check = warp->block->launch->check;
    struct check_doing now = {.step = step, .access = access, .size = size, .write = write};
    uint32_t shared = 0, global = 0;
    enum ir_op op;

    now.serial = ++check->serial;
    if (space == MEMORY_LOCAL || space == MEMORY_PARAM ||
        !(check->which & (PTX_CHECK_RACE | PTX_CHECK_INIT)))
        return;
    op = op_of(warp, step);
    now.store = op == IR_ST && !step->how.memory.ordered;
    now.atomic =
        op == IR_ATOM || op == IR_RED || ((op == IR_LD || op == IR_ST) && step->how.memory.ordered);
    FOR_LANES (lane, mask) {
        const uintptr_t first = access_lane(access, lane);

        if (is_own_shared(warp->block, first))
            shared |= UINT32_C(1) << lane;
        else if (space != MEMORY_SHARED && !is_private(warp, first))
            global |= UINT32_C(1) << lane; /* and nothing of other blocks of the cluster */
        if (mask == PTX_FULL && access->pattern != ACCESS_GATHER) {
            shared = shared ? PTX_FULL : 0; /* all are in one span */
            global = global ? PTX_FULL : 0;
            break;
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        now.shared = i == 0;
        now.mask = now.shared ? shared : global;
        if (now.mask && check->which & PTX_CHECK_INIT)
            init(warp, &now);
        if (now.mask && check->which & PTX_CHECK_RACE && !warp->block->cluster)
            check_race(warp, &now);
    }
}

void check_touch(struct ptx_warp *warp, const struct ptx_step *step, const char *host,
                 uint64_t size, bool write)
{
    struct ptx_block *block = warp->block;

    if (op_of(warp, step) == IR_MBARRIER) {
        check_join(block->check->clocks[warp->index], block->check->atomics);
        check_tell(block, warp->index, block->check->atomics);
    }
    if (!write)
        return;
    if (is_own_shared(block, (uintptr_t)host))
        shared_bytes(block, (uintptr_t)host, size, true);
    else
        ptx_memory_written(host, size);
}

/* --- Lanes --- */

void check_sync(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask,
                const reg32 *members)
{
    const struct check *check = warp->block->launch->check;
    const bool barrier = op_of(warp, step) == IR_BAR;

    if (barrier)
        warp->block->check->clocks[warp->index][warp->index]++;
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
