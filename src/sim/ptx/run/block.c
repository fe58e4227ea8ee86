/* SPDX-License-Identifier: MIT */
/* A worker: takes blocks from the launch's counter and runs them, normally one at a time. Where all
 * of its blocks only wait for others (a grid barrier, a flag of another block), it takes more of
 * them and gives them turns. */
#include "ptx/run/run.h"

#include <fenv.h>
#include <stdlib.h>
#include <time.h>

#define PATIENCE_NS 2000000 /* that blocks may spin before more are taken */
#define SLEEP_NS 100000     /* of a worker whose warps all nap */
#define BLOCK_ROUNDS 256    /* turns of all warps in one of their block */

static void block_free(struct ptx_block *block)
{
    if (!block)
        return;
    check_block_end(block);
    free(block->entries);
    free(block->warps);
    free(block->shared);
    free(block);
}

/* What stays so in all blocks that have this memory. */
static void warp_prepare(struct ptx_block *block, uint32_t index)
{
    struct ptx_warp_state *state = &block->warps[index];
    const struct launch *launch = block->launch;
    const uint32_t left = launch->threads - index * PTX_LANES;

    state->worker = block->worker;
    state->launch = block->launch;
    state->first_alive = left >= PTX_LANES ? PTX_FULL : (UINT32_C(1) << left) - 1;
    state->warp.constants = launch->image->constants;
    state->warp.block = block;
    state->warp.index = index;
    state->warp.state = state;
    state->warp.follow = 0;
}

static void warp_reset(struct ptx_warp_state *state)
{
    state->local = NULL;
    state->group_count = state->current = 0;
    state->cluster_pending = state->products = 0;
    state->stopped = state->begun = state->done = state->blocked = false;
    state->wakes = 0;
    state->warp.alive = state->first_alive;
    state->warp.met = false;
}

static struct ptx_block *block_new(struct worker *worker)
{
    struct launch *launch = worker->launch;
    struct ptx_block *block = worker->spare;

    if (block) {
        worker->spare = block->next;
        return block;
    }
    block = calloc(1, sizeof *block);
    if (!block)
        return NULL;
    block->warps = calloc(launch->warp_count, sizeof *block->warps);
    block->shared = aligned_alloc(128, ((size_t)launch->shared_end + 255) & ~(size_t)127);
    block->launch = launch;
    block->worker = worker;
    block->shared_size = launch->shared_end;
    block->warp_count = launch->warp_count;
    for (uint32_t i = 0; block->warps && i < launch->warp_count; i++)
        warp_prepare(block, i);
    if (!block->warps || !block->shared || !call_entries(block)) {
        block_free(block);
        return NULL;
    }
    return block;
}

static void block_spare(struct ptx_block *block)
{
    block->cluster = NULL;
    block->next = block->worker->spare;
    block->worker->spare = block;
}

static bool block_begin(struct ptx_block *block, uint64_t number)
{
    struct launch *launch = block->launch;
    const uint32_t *grid = launch->request->grid;

    block->index[0] = (uint32_t)(number % grid[0]);
    block->index[1] = (uint32_t)(number / grid[0] % grid[1]);
    block->index[2] = (uint32_t)(number / grid[0] / grid[1]);
    block->number = number;
    block->alive = launch->threads;
    block->warps_left = launch->warp_count;
    block->team = launch->teams;
    block->cluster = NULL;
    block->cluster_rank = 0;
    block->cluster_arrived = 0;
    block->products = false;
    if (block->barriers_used)
        memset(block->barriers, 0, sizeof block->barriers);
    block->barriers_used = 0;
    for (uint32_t i = 0; i < launch->warp_count && !block->ready; i++)
        warp_reset(&block->warps[i]);
    return check_block_begin(block);
}

/* Number of a block from its cluster's number and its rank there. */
static uint64_t cluster_block(const struct launch *launch, uint64_t cluster, uint32_t rank)
{
    const uint32_t *grid = launch->request->grid, *size = launch->cluster;
    uint64_t wide = grid[0] / size[0], high = grid[1] / size[1];
    uint64_t x = cluster % wide * size[0] + rank % size[0];
    uint64_t y = cluster / wide % high * size[1] + rank / size[0] % size[1];
    uint64_t z = cluster / wide / high * size[2] + rank / size[0] / size[1];

    return x + grid[0] * (y + grid[1] * z);
}

static bool cluster_form(struct ptx_block **blocks, const struct launch *launch)
{
    struct cluster *cluster =
        malloc(sizeof *cluster + launch->cluster_size * sizeof(struct ptx_block *));

    if (!cluster)
        return false;
    cluster->blocks = (struct ptx_block **)(cluster + 1);
    cluster->size = cluster->unfinished = launch->cluster_size;
    cluster->arrived = 0;
    cluster->alive = launch->threads * launch->cluster_size;
    for (uint32_t i = 0; i < cluster->size; i++) {
        cluster->blocks[i] = blocks[i];
        blocks[i]->cluster = cluster;
        blocks[i]->cluster_rank = i;
    }
    return true;
}

/* Number of the next cluster, or block; UINT64_MAX: there is none. Neighbours mostly go to one
 * worker: they often write neighbouring lines of memory. */
static uint64_t worker_next(struct worker *worker)
{
    struct launch *launch = worker->launch;

    if (worker->next == worker->end) {
        worker->next = atomic_fetch_add(&launch->next_cluster, launch->batch);
        worker->end = worker->next + launch->batch;
        if (worker->end > launch->cluster_count)
            worker->end = launch->cluster_count;
        if (worker->next >= worker->end) {
            worker->next = worker->end;
            return UINT64_MAX;
        }
    }
    return worker->next++;
}

/* One more cluster, or block. False: there is none, or no memory. */
static bool worker_take(struct worker *worker)
{
    struct launch *launch = worker->launch;
    struct ptx_block *blocks[64];
    uint32_t count = launch->cluster_size, made = 0;
    uint64_t number = UINT64_MAX;

    while (made < count && (blocks[made] = block_new(worker)))
        made++;
    bool full = made == count;
    if (full)
        number = worker_next(worker);
    if (number == UINT64_MAX) {
        while (made)
            block_spare(blocks[--made]);
        if (!full && !worker->live_count)
            fault_launch(launch, PTX_FAULT_NO_MEMORY, "the host has no memory for a block");
        return false;
    }
    for (uint32_t i = 0; i < count; i++)
        full &= block_begin(blocks[i], count > 1 ? cluster_block(launch, number, i) : number);
    if (!full || (count > 1 && !cluster_form(blocks, launch))) {
        fault_launch(launch, PTX_FAULT_NO_MEMORY, "the host has no memory for a block");
        return false;
    }
    for (uint32_t i = count; i-- > 0;) {
        blocks[i]->next = worker->live;
        worker->live = blocks[i];
        worker->live_count++;
    }
    return true;
}

/* WAITS: for other blocks of its cluster, but went on before; STUCK: could not go on at all. */
enum turn { TURN_STUCK, TURN_WAITS, TURN_SPUN, TURN_RAN, TURN_ENDED };

/* All warps, as a team; false: they are none any more. */
static bool block_team(struct ptx_block *block, enum turn *turn)
{
    for (uint32_t i = 0; i < block->warp_count && block->team; i++)
        if (!block->warps[i].begun && !call_warp_begin(&block->warps[i])) {
            *turn = TURN_STUCK;
            return true;
        }
    switch (team_run(block->warps, block->warp_count)) {
    case SLICE_DONE:
        block->warps_left = 0;
        *turn = TURN_ENDED;
        return true;
    case SLICE_BUDGET:
        *turn = TURN_RAN;
        return true;
    case SLICE_STOP:
        *turn = TURN_STUCK;
        return true;
    default:
        block->team = false;
        return false;
    }
}

/* Whether the warp goes on napping; the worker may sleep as long as all of its warps do. */
static bool naps(struct ptx_warp_state *state)
{
    if (state->wakes && state->wakes <= special_time())
        state->wakes = 0;
    if (state->wakes < state->worker->wakes)
        state->worker->wakes = state->wakes;
    return state->wakes != 0;
}

/* Every warp of the block has a turn, again and again until none can go on at once. */
static enum turn block_run(struct ptx_block *block)
{
    enum turn turn = TURN_STUCK;
    bool again = true;

    if (block->team && block_team(block, &turn))
        return turn;
    for (unsigned rounds = 0; again; rounds++) {
        /* A loop with a barrier in it may never end: the clock has its turn. */
        if (rounds == BLOCK_ROUNDS)
            return TURN_RAN;
        again = false;
        for (uint32_t i = 0; i < block->warp_count; i++) {
            struct ptx_warp_state *state = &block->warps[i];

            if (state->done || state->blocked)
                continue;
            if (naps(state)) {
                turn = turn < TURN_SPUN ? TURN_SPUN : turn;
                continue;
            }
            turn = turn == TURN_STUCK ? TURN_WAITS : turn;
            switch (warp_run(state)) {
            case SLICE_DONE:
                again = true;
                if (--block->warps_left == 0)
                    return TURN_ENDED;
                break;
            case SLICE_BLOCKED:
                /* It may have been the last to come to its barrier: then others go on. */
                state->blocked = true;
                again = true;
                break;
            case SLICE_BUDGET:
                turn = TURN_RAN;
                break;
            case SLICE_SPIN:
                turn = turn == TURN_RAN ? TURN_RAN : TURN_SPUN;
                break;
            default:
                return TURN_STUCK;
            }
        }
        if (turn > TURN_WAITS)
            return turn;
    }
    return turn == TURN_WAITS && !block->cluster ? TURN_STUCK : turn;
}

/* A warp that stopped keeps its frames; they go with the launch. */
static void frames_drop(struct ptx_block *block)
{
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct ptx_warp_state *state = &block->warps[i];

        if (!state->begun || state->done)
            continue;
        for (unsigned g = 0; g < state->group_count; g++) {
            struct ptx_frame *frame = state->groups[g].frame, *parent;

            for (; frame; frame = parent) {
                parent = frame->parent;
                frame->lanes &= ~state->groups[g].mask;
                if (!frame->lanes && parent)
                    free(frame);
            }
        }
        free(state->local);
    }
}

static void worker_end(struct worker *worker)
{
    struct ptx_block *block, *next;
    char *stack;

    for (block = worker->live; block; block = next) {
        struct cluster *cluster = block->cluster;

        next = block->next;
        frames_drop(block);
        if (!cluster) {
            block_free(block);
        } else if (--cluster->unfinished == 0) { /* with those that ended before */
            for (uint32_t i = 0; i < cluster->size; i++)
                block_free(cluster->blocks[i]);
            free(cluster);
        }
    }
    for (block = worker->spare; block; block = next) {
        next = block->next;
        block_free(block);
    }
    for (unsigned i = 0; i < FRAME_CLASSES; i++) {
        struct ptx_frame *frame, *after;

        for (frame = worker->frames[i]; frame; frame = after) {
            after = frame->parent;
            free(frame);
        }
    }
    for (; worker->stacks; worker->stacks = stack) {
        memcpy(&stack, worker->stacks, sizeof stack);
        free(worker->stacks);
    }
}

/* All blocks of the cluster may still read the shared memory of one that ended. */
static void block_end(struct worker *worker, struct ptx_block *block)
{
    struct cluster *cluster = block->cluster;

    worker->live_count--;
    if (!cluster) {
        block_spare(block);
    } else if (--cluster->unfinished == 0) {
        for (uint32_t i = 0; i < cluster->size; i++)
            block_spare(cluster->blocks[i]);
        free(cluster);
    }
}

/* A turn for every live block; false: the launch is to stop. */
static bool worker_round(struct worker *worker, bool *waiting)
{
    struct ptx_block **at = &worker->live, *stuck = NULL;
    bool moved = false;

    *waiting = true;
    worker->wakes = UINT64_MAX;
    while (*at) {
        struct ptx_block *block = *at;

        if (atomic_load_explicit(&worker->launch->stop, memory_order_relaxed))
            return false;
        switch (block_run(block)) {
        case TURN_ENDED:
            *at = block->next;
            block_end(worker, block);
            *waiting = false;
            moved = true;
            continue;
        case TURN_STUCK:
            stuck = block;
            break;
        case TURN_WAITS:
            *waiting = false;
            moved = true;
            break;
        case TURN_RAN:
            *waiting = false;
            /* fallthrough */
        default:
            moved = true;
        }
        at = &block->next;
    }
    if (atomic_load_explicit(&worker->launch->stop, memory_order_relaxed))
        return false;
    if (stuck && (!stuck->cluster || !moved))
        barrier_report(stuck);
    return !stuck || (stuck->cluster && moved);
}

/* Where one of the live warps is goes into the report. A team's place is that of its first warp. */
static void end_early(struct worker *worker, enum ptx_fault_kind kind, const char *why)
{
    for (struct ptx_block *block = worker->live; block; block = block->next)
        FOR_GROUPS (block, state, group) {
            fault_warp(&state->warp, group->pc, (unsigned)__builtin_ctz(group->mask), kind, 0, why);
            return;
        }
    fault_launch(worker->launch, kind, why);
}

/* The time limit is over, or somebody asked for the end. */
static bool must_end(struct worker *worker, uint64_t now)
{
    const struct launch *launch = worker->launch;

    if (stop_due(launch->id)) {
        end_early(worker, PTX_FAULT_STOPPED, "the launch was stopped here");
        return true;
    }
    if (!launch->deadline || now < launch->deadline)
        return false;
    end_early(worker, PTX_FAULT_TIMEOUT, "here the launch took longer than its time limit");
    return true;
}

/* In short pieces: another worker's fault ends the launch. */
static void sleep_until(uint64_t wakes, uint64_t now)
{
    uint64_t left = wakes > now ? wakes - now : 0;

    if (wakes != UINT64_MAX && left)
        nanosleep(&(struct timespec){.tv_nsec = left < SLEEP_NS ? (long)left : SLEEP_NS}, NULL);
}

static void worker_loop(struct worker *worker)
{
    struct launch *launch = worker->launch;
    uint32_t wanted = launch->first_live;
    bool waiting = false;

    for (;;) {
        while (worker->live_count < wanted && worker_take(worker))
            ;
        if (!worker->live || !worker_round(worker, &waiting))
            return;
        if (!waiting) {
            wanted = launch->first_live;
            worker->changed_at = 0;
        }
        if (stop_due(launch->id) || waiting || launch->deadline) {
            uint64_t now = special_time();

            if (must_end(worker, now))
                return;
            if (waiting)
                sleep_until(worker->wakes, now);
            if (worker->changed_at == 0)
                worker->changed_at = now;
            if (waiting && now - worker->changed_at > PATIENCE_NS) {
                wanted = worker->live_count * 2;
                worker->changed_at = now;
            }
        }
    }
}

void block_worker(struct launch *launch)
{
    struct worker worker = {.launch = launch};
    fenv_t before;

    /* Kernels round as PTX says, whatever the program did to its threads. */
    fegetenv(&before);
    fesetenv(FE_DFL_ENV);
    worker_loop(&worker);
    fesetenv(&before);
    worker_end(&worker);
}
