/* SPDX-License-Identifier: MIT */
/* Barriers of a block and of a cluster. Lanes that exited count as arrived where the whole block is
 * waited for. */
#include "ptx/run/run.h"

#include <stdio.h>

/* Threads that count for a barrier with an explicit number: warps count whole when all of their
 * lanes that still live are there. */
static uint32_t threads_waiting(const struct ptx_block *block, unsigned index)
{
    uint32_t count = 0;

    for (uint32_t w = 0; w < block->warp_count; w++) {
        const struct ptx_warp_state *state = &block->warps[w];
        uint32_t mask = 0;

        for (unsigned i = 0; state->begun && !state->done && i < state->group_count; i++)
            if (state->groups[i].state == GROUP_BARRIER && state->groups[i].barrier == index)
                mask |= state->groups[i].mask;
        if (mask)
            count += mask == state->warp.alive ? PTX_LANES : (uint32_t)__builtin_popcount(mask);
    }
    return count;
}

static bool barrier_full(const struct ptx_block *block, unsigned index)
{
    const struct barrier *barrier = &block->barriers[index];

    if (barrier->expected) /* also where so many cannot come */
        return threads_waiting(block, index) + barrier->arrived >= barrier->expected;
    if (barrier->arrived)
        return barrier->waiting + barrier->arrived >= block->launch->threads;
    return barrier->waiting == block->alive;
}

/* The result of bar.red for a group that waited at the step before its pc. */
static void give_result(const struct group *group, const struct barrier *barrier)
{
    const struct ptx_step *step = group->pc - 1;
    uint32_t to = step->operand[0];

    if (to == PTX_ABSENT)
        return;
    if (ptx_insn(step)->mode == IR_BAR_RED_POPC) {
        reg32 *values = (reg32 *)(void *)(group->frame->registers + to);

        FOR_LANES (lane, group->mask)
            values[lane] = barrier->popc;
    } else {
        bool result = ptx_insn(step)->mode == IR_BAR_RED_AND ? !barrier->not_all : barrier->any;
        uint32_t *bits = &group->frame->predicates[to];

        *bits = result ? *bits | group->mask : *bits & ~group->mask;
    }
}

/* Do all threads come to a barrier of all, and by one instruction? */
static void compare_steps(const struct ptx_block *block, unsigned index)
{
    const struct ir_insn *first = NULL;

    FOR_GROUPS (block, state, group) {
        if (group->state != GROUP_BARRIER || group->barrier != index)
            continue;
        const bool other = first && ptx_insn(group->pc - 1) != first;
        if (other || group->passed) {
            check_apart(&state->warp, (unsigned)__builtin_ctz(group->mask), group->pc - 1,
                        other ? "other threads of the block came to this barrier by another "
                                "instruction"
                              : "other threads of the warp went around this barrier");
            return;
        }
        first = ptx_insn(group->pc - 1);
    }
}

static void barrier_open(struct ptx_block *block, unsigned index)
{
    struct barrier *barrier = &block->barriers[index];

    if (block->launch->check && barrier->expected == 0)
        compare_steps(block, index);
    FOR_GROUPS (block, state, group) {
        if (group->state != GROUP_BARRIER || group->barrier != index)
            continue;
        give_result(group, barrier);
        group->state = GROUP_READY;
        group->passed = false;
        state->blocked = false;
        check_leave(state, index);
    }
    check_open(block, index);
    *barrier = (struct barrier){0};
    block->barriers_used &= ~(UINT32_C(1) << index);
}

/* Lanes of the current group, all at barrier `index`; another number of threads than those before
 * them expect is no instruction. */
static bool arrive_at(struct ptx_warp_state *state, const struct ptx_step *step, unsigned index,
                      uint32_t expected, uint32_t mask)
{
    struct ptx_block *block = state->warp.block;
    struct barrier *barrier = &block->barriers[index];
    uint32_t count = (uint32_t)__builtin_popcount(mask);

    if ((barrier->waiting || barrier->arrived) && barrier->expected != expected)
        return false;
    block->barriers_used |= UINT32_C(1) << index;
    barrier->expected = expected;
    check_arrive(state, index);
    if (step->operand[3] != PTX_ABSENT) {
        uint32_t bits = state->warp.predicates[step->operand[3]] & mask;

        barrier->popc += (uint32_t)__builtin_popcount(bits);
        barrier->any |= bits != 0;
        barrier->not_all |= bits != mask;
    }
    if (ptx_insn(step)->mode == IR_BAR_ARRIVE) {
        barrier->arrived += mask == state->warp.alive ? PTX_LANES : count;
    } else {
        barrier->waiting += count;
        struct group *group = schedule_move(state, mask, step + 1, state->frame);
        group->state = GROUP_BARRIER;
        group->barrier = (uint8_t)index;
    }
    if (barrier_full(block, index))
        barrier_open(block, index);
    return true;
}

/* Do all lanes name the same barrier and number of threads? */
static bool lanes_alike(uint32_t mask, const reg32 *barriers, const reg32 *counts)
{
    uint32_t first = (uint32_t)__builtin_ctz(mask);

    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);

        if (barriers[lane] != barriers[first] || (counts && counts[lane] != counts[first]))
            return false;
    }
    return true;
}

enum { MAX_THREADS = 1024 }; /* of a block */

/* Of registers a device takes the low 4 bits as barrier and the low 12 as number of threads, 0 for
 * all of them. A barrier that waits for more threads than can come hangs there; here it ends with
 * an error (barrier_report), as a test is better off with one. */

void barrier_arrive(struct ptx_warp_state *state, const struct ptx_step *step, uint32_t mask)
{
    struct ptx_warp *warp = &state->warp;
    const reg32 *barriers = ptx_in(warp, step->operand[1]);
    const reg32 *counts = step->operand[2] == PTX_ABSENT ? NULL : ptx_in(warp, step->operand[2]);
    bool constant =
        (step->operand[1] & PTX_CONSTANT) && (!counts || (step->operand[2] & PTX_CONSTANT));

    uint32_t first = (uint32_t)__builtin_ctz(mask);
    uint32_t index = barriers[first] % BARRIERS, count = counts ? counts[first] % 4096 : 0;
    const char *why = NULL;

    if (count % PTX_LANES || count > MAX_THREADS)
        why = "the barrier's thread count is no multiple of 32, or more than 1024";
    else if (!constant && !lanes_alike(mask, barriers, counts))
        why = "the lanes name several barriers or thread counts";
    else if (!arrive_at(state, step, index, count, mask))
        why = "others wait at the barrier with another thread count";
    if (why)
        fault_warp(warp, step, first, PTX_FAULT_ILLEGAL_INSTRUCTION, 0, why);
}

static void cluster_open(struct ptx_block *block)
{
    for (uint32_t w = 0; w < block->warp_count; w++) {
        struct ptx_warp_state *state = &block->warps[w];

        state->cluster_pending = 0;
        state->blocked = false;
        check_leave(state, BARRIERS);
    }
    FOR_GROUPS (block, state, group)
        if (group->state == GROUP_CLUSTER)
            group->state = GROUP_READY;
    check_open(block, BARRIERS);
    block->cluster_arrived = 0;
}

static void cluster_check(struct ptx_block *block)
{
    struct cluster *cluster = block->cluster;

    if (!cluster) {
        if (block->cluster_arrived && block->cluster_arrived == block->alive)
            cluster_open(block);
        return;
    }
    if (!cluster->arrived || cluster->arrived != cluster->alive)
        return;
    cluster->arrived = 0;
    for (uint32_t i = 0; i < cluster->size; i++)
        cluster_open(cluster->blocks[i]);
}

/* barrier.cluster.arrive and .wait; a block that is in no cluster is one of its own. */
void barrier_cluster(struct ptx_warp_state *state, const struct ptx_step *step, uint32_t mask)
{
    struct ptx_block *block = state->warp.block;

    if (ptx_insn(step)->mode == IR_BAR_CLUSTER_ARRIVE) {
        check_arrive(state, BARRIERS);
        uint32_t count = (uint32_t)__builtin_popcount(mask & ~state->cluster_pending);
        state->cluster_pending |= mask;
        block->barriers_used |= UINT32_C(1) << BARRIERS;
        if (block->cluster)
            block->cluster->arrived += count;
        else
            block->cluster_arrived += count;
        cluster_check(block);
        return;
    }
    if (!(mask & state->cluster_pending))
        return;
    schedule_move(state, mask, step + 1, state->frame)->state = GROUP_CLUSTER;
}

/* Lanes are gone: a barrier may wait for nobody now. */
void barrier_exited(struct ptx_block *block)
{
    for (unsigned i = 0; i < BARRIERS; i++)
        if (block->barriers_used >> i & 1 && block->barriers[i].waiting && barrier_full(block, i))
            barrier_open(block, i);
    if (block->barriers_used >> BARRIERS & 1)
        cluster_check(block);
}

static void waiting(const struct ptx_block *block, unsigned index, char *what, size_t size)
{
    const struct barrier *barrier = &block->barriers[index];
    uint32_t here = barrier->waiting, wanted = block->launch->threads;

    if (barrier->expected) {
        here = threads_waiting(block, index) + barrier->arrived;
        wanted = barrier->expected;
    }
    snprintf(what, size,
             "the thread waits at barrier %u with %u of %u threads, and no other can come", index,
             (unsigned)here, (unsigned)wanted);
}

/* Every thread of the block waits for what cannot come. */
void barrier_report(struct ptx_block *block)
{
    FOR_GROUPS (block, state, group) {
        bool sync = group->state == GROUP_SYNC;
        const struct ptx_step *step = sync ? group->pc : group->pc - 1;
        char what[128];

        state->frame = group->frame;
        if (group->state == GROUP_BARRIER)
            waiting(block, group->barrier, what, sizeof what);
        else
            snprintf(what, sizeof what, "the thread waits for others of its %s that cannot come",
                     sync ? "warp" : "cluster");
        fault_warp(&state->warp, step, (unsigned)__builtin_ctz(group->mask), PTX_FAULT_BARRIER, 0,
                   what);
        return;
    }
}
