/* SPDX-License-Identifier: MIT */
/* Calls, returns and the end of lanes. A call makes a frame, which its lanes share until the last
 * of them has returned or exited. */
#include "ptx/run/run.h"

#include <stdlib.h>

#include "ptx/read/read.h"

static uint32_t frame_class(size_t size)
{
    return size <= 256 ? 0 : 56 - (uint32_t)__builtin_clzll(size - 1);
}

static size_t frame_head(const struct ptx_code *code)
{
    return (sizeof(struct ptx_frame) + code->predicate_count * sizeof(uint32_t) + 63) & ~(size_t)63;
}

/* Lanes that do not run compute as well: what they have is to be initialised, for valgrind. */
static void *zeroed(size_t size)
{
    void *made = aligned_alloc(64, size);

    return made ? memset(made, 0, size) : NULL;
}

/* Of a function that reads registers before it writes them. */
static void frame_clear(struct ptx_frame *frame)
{
    const struct ptx_code *code = frame->code;

    if (code->clear)
        memset(frame + 1, 0,
               frame_head(code) - sizeof *frame + code->register_bytes - code->fixed_bytes);
}

static void frame_init(struct ptx_frame *frame, const struct ptx_code *code)
{
    memset(frame, 0, sizeof *frame);
    frame->code = code;
    frame->predicates = (uint32_t *)(frame + 1);
    frame->registers = (char *)frame + frame_head(code);
}

static struct ptx_frame *frame_new(struct worker *worker, const struct ptx_code *code)
{
    uint32_t class = frame_class(frame_head(code) + code->register_bytes);

    if (class >= FRAME_CLASSES)
        return NULL;
    struct ptx_frame *frame = worker->frames[class];
    if (frame)
        worker->frames[class] = frame->parent;
    else
        frame = zeroed((size_t)256 << class);
    if (!frame)
        return NULL;
    frame_init(frame, code);
    frame->size_class = class;
    frame_clear(frame);
    return frame;
}

static void frame_free(struct worker *worker, struct ptx_frame *frame)
{
    frame->parent = worker->frames[frame->size_class];
    worker->frames[frame->size_class] = frame;
}

/* Bytes of one argument or result in a frame. */
static void value_get(const struct ptx_warp_state *state, const struct ptx_frame *frame,
                      const struct call_value *value, uint32_t offset, unsigned lane, char *bytes,
                      uint32_t size)
{
    const bool wide = value->place != PLACE_32;
    struct ptx_warp at = state->warp;
    uint64_t bits[2] = {0, 0};

    at.registers = frame->registers;
    if (value->place == PLACE_MEMORY) {
        memcpy(bytes,
               state->local + (size_t)lane * state->local_stride + frame->local_base + offset,
               size);
        return;
    }
    if (value->place == PLACE_PREDICATE) {
        bytes[0] = frame->predicates[offset] >> lane & 1;
        return;
    }
    bits[0] = ptx_lane(ptx_in(&at, offset), wide, lane);
    if (value->place == PLACE_128)
        bits[1] = ptx_lane(ptx_in(&at, offset), true, lane + PTX_LANES);
    memcpy(bytes, bits, size < 16 ? size : 16);
}

static void value_put(const struct ptx_warp_state *state, struct ptx_frame *frame,
                      const struct call_value *value, uint32_t offset, unsigned lane,
                      const char *bytes, uint32_t size)
{
    uint64_t wide[2] = {0, 0};

    if (value->place == PLACE_MEMORY) {
        memcpy(state->local + (size_t)lane * state->local_stride + frame->local_base + offset,
               bytes, size);
        return;
    }
    if (offset == PTX_ABSENT)
        return;
    memcpy(wide, bytes, size < 16 ? size : 16);
    if (value->place == PLACE_PREDICATE) {
        frame->predicates[offset] =
            (frame->predicates[offset] & ~(UINT32_C(1) << lane)) | (uint32_t)(wide[0] & 1) << lane;
        return;
    }
    ptx_lane_set(frame->registers + offset, value->place != PLACE_32, lane, wide[0]);
    if (value->place == PLACE_128)
        ptx_lane_set(frame->registers + offset, true, lane + PTX_LANES, wide[1]);
}

/* Where a value of the caller is: in memory, or in a register that the call's list names. */
static uint32_t caller_offset(const struct call_value *value, const struct ptx_step *call)
{
    return value->place == PLACE_MEMORY ? value->offset : call->list[value->offset];
}

static void pass(struct ptx_warp_state *state, struct ptx_frame *from,
                 const struct call_value *source, uint32_t source_offset, struct ptx_frame *to,
                 const struct call_value *dest, uint32_t dest_offset, uint32_t mask)
{
    uint32_t size = source->size < dest->size ? source->size : dest->size;
    size_t stride = state->local_stride;

    if (source->place == PLACE_MEMORY && dest->place == PLACE_MEMORY) {
        char *in = state->local + from->local_base + source_offset;
        char *out = state->local + to->local_base + dest_offset;

        FOR_LANES (lane, mask)
            memcpy(out + lane * stride, in + lane * stride, size);
        return;
    }
    /* One of them is a register: at most 16 bytes. */
    size = size > 16 ? 16 : size;
    FOR_LANES (lane, mask) {
        char bytes[16] = {0};

        value_get(state, from, source, source_offset, lane, bytes, size);
        value_put(state, to, dest, dest_offset, lane, bytes, size);
    }
}

/* The frame of lanes that made this call from the running frame and are still inside: lanes that
 * come later go into it, so that they can meet the others at a step that needs all of them. Where
 * the others have taken more of the stack the new ones get a frame of their own. */
static struct ptx_frame *call_frame_open(const struct ptx_warp_state *state,
                                         const struct ptx_step *step, const struct ptx_code *code)
{
    for (uint32_t i = 0; i < state->group_count; i++) {
        struct ptx_frame *frame = state->groups[i].frame;

        while (frame->depth > state->frame->depth + 1)
            frame = frame->parent;
        if (frame->parent == state->frame && frame->call == step && frame->code == code &&
            frame->local_top == frame->local_base + code->local_size)
            return frame;
    }
    return NULL;
}

static void call_arguments(struct ptx_warp_state *state, struct ptx_frame *frame,
                           const struct ptx_step *step, uint32_t mask)
{
    const struct call_site *site = step->how.call.site;
    const struct ptx_code *code = frame->code;

    frame->lanes |= mask;
    if (state->launch->check)
        check_init_frame(state, frame, mask);
    for (uint32_t i = 0; i < site->argument_count && i < code->ir->param_count; i++)
        pass(state, frame->parent, &site->arguments[i], caller_offset(&site->arguments[i], step),
             frame, &code->params[i], code->params[i].offset, mask);
}

/* The lanes' frame, with their arguments; NULL after a fault. */
static struct ptx_frame *call_frame(struct ptx_warp_state *state, const struct ptx_step *step,
                                    const struct ptx_code *code, uint32_t mask)
{
    const struct call_site *site = step->how.call.site;
    struct ptx_frame *parent = state->frame, *frame;
    uint32_t base = parent->local_top + CALL_OVERHEAD, lane = (uint32_t)__builtin_ctz(mask);

    uint32_t counted = parent->counted + CALL_OVERHEAD + code->counted;

    if (state->group_count > 1 && (frame = call_frame_open(state, step, code))) {
        call_arguments(state, frame, step, mask);
        return frame;
    }
    if (base + (uint64_t)code->local_size > state->local_stride ||
        counted > state->launch->stack_limit) {
        fault_warp(&state->warp, step, lane, PTX_FAULT_STACK, 0,
                   "the call needs more stack than the thread has");
        return NULL;
    }
    frame = frame_new(state->worker, code);
    if (!frame) {
        fault_warp(&state->warp, step, lane, PTX_FAULT_NO_MEMORY, 0,
                   "the host has no memory for the call");
        return NULL;
    }
    frame->parent = parent;
    frame->site = site;
    frame->call = step;
    frame->resume = step + 1;
    frame->depth = parent->depth + 1;
    frame->local_base = base;
    frame->local_top = base + code->local_size;
    frame->counted = counted;
    call_arguments(state, frame, step, mask);
    return frame;
}

/* The index of the function at an address that device code computed; UINT32_MAX: there is none. */
static uint32_t function_at(const struct ptx_module *module, uint64_t address)
{
    const uint64_t at = address - PTX_CODE_WINDOW;

    return address < PTX_CODE_WINDOW || at % 16 || at / 16 == 0 ||
                   at / 16 > module->ir->function_count
               ? UINT32_MAX
               : (uint32_t)(at / 16 - 1);
}

/* A function that the engine runs itself, whose address device code has taken. */
static const struct ptx_builtin *builtin_at(const struct ir_function *function,
                                            const struct call_site *site)
{
    const struct ptx_builtin *builtin = function->body ? NULL : opcodes_builtin(function->name);

    if (!builtin || builtin->arguments != site->argument_count ||
        site->return_count > builtin->returns)
        return NULL;
    for (uint32_t i = 0; i < site->argument_count + site->return_count; i++)
        if (site->arguments[i].place != PLACE_MEMORY) /* the results are behind the arguments */
            return NULL;
    return builtin;
}

static bool call_matches(const struct ptx_code *code, const struct call_site *site)
{
    return !code->ir->entry && code->ir->param_count == site->argument_count &&
           code->ir->return_count == site->return_count;
}

/* The current group's lanes of `mask` go into their functions; its pc is behind the call. */
void call_enter(struct ptx_warp_state *state, const struct ptx_step *step, uint32_t mask)
{
    const struct call_site *site = step->how.call.site;
    const struct ptx_module *module = state->launch->image->module;
    const reg64 *addresses = NULL;
    uint32_t left = mask;

    if (site->callee == UINT32_MAX)
        addresses = ptx_in(&state->warp, step->list[0]);
    while (left) {
        uint32_t first = (uint32_t)__builtin_ctz(left), same = left, index;
        const struct ptx_builtin *builtin = NULL;
        const struct ptx_code *code = NULL;

        if (addresses) {
            same = 0;
            FOR_LANES (lane, left)
                if (addresses[lane] == addresses[first])
                    same |= UINT32_C(1) << lane;
            index = function_at(module, addresses[first]);
            if (index != UINT32_MAX && module->code_of[index] != UINT32_MAX)
                code = &module->codes[module->code_of[index]];
            else if (index != UINT32_MAX)
                builtin = builtin_at(&module->ir->functions[index], site);
            if (builtin) {
                builtin_run(builtin)(&state->warp, step, same);
                if (state->stopped)
                    return;
                left &= ~same;
                continue;
            }
            if (!code || !call_matches(code, site)) {
                fault_warp(&state->warp, step, first, PTX_FAULT_INVALID_PC, addresses[first],
                           !code ? "the address is no function's"
                                 : "the function at this address takes other arguments");
                return;
            }
        } else {
            code = &module->codes[site->callee];
        }
        struct ptx_frame *frame = call_frame(state, step, code, same);
        if (!frame)
            return;
        left &= ~same;
        schedule_move(state, same, code->steps, frame);
    }
}

/* The lanes go back to the caller with their results. */
void call_return(struct ptx_warp_state *state, uint32_t mask)
{
    struct ptx_frame *frame = state->frame, *parent = frame->parent;
    const struct ptx_code *code = frame->code;
    const struct call_site *site = frame->site;

    for (uint32_t i = 0; i < site->return_count && i < code->ir->return_count; i++)
        pass(state, frame, &code->returns[i], code->returns[i].offset, parent, &site->returns[i],
             caller_offset(&site->returns[i], frame->call), mask);
    schedule_move(state, mask, frame->resume, parent);
    frame->lanes &= ~mask;
    if (!frame->lanes)
        frame_free(state->worker, frame);
}

/* The current group's lanes of `mask` end. */
void call_lanes_exit(struct ptx_warp_state *state, uint32_t mask)
{
    struct ptx_frame *frame = state->frame, *parent;
    struct ptx_block *block = state->warp.block;
    uint32_t count = mask == PTX_FULL ? PTX_LANES : (uint32_t)__builtin_popcount(mask);

    for (; frame; frame = parent) {
        parent = frame->parent;
        frame->lanes &= ~mask;
        if (!frame->lanes && parent)
            frame_free(state->worker, frame);
    }
    schedule_take(state, state->current, mask);
    state->warp.alive &= ~mask;
    state->cluster_pending &= ~mask;
    block->alive -= count;
    if (block->cluster)
        block->cluster->alive -= count;
    if (block->barriers_used)
        barrier_exited(block);
}

/* What no block of the launch changes is computed where a frame is new. */
static void call_fixed(struct ptx_warp_state *state)
{
    const struct team_code *code = state->launch->entry->team;
    struct ptx_team team = {.warps = state,
                            .count = 1,
                            .registers = state->entry->registers,
                            .constants = state->warp.constants};

    for (uint32_t i = 0; i < code->fixed_count; i++)
        code->fixed[i].affine(&team, &code->fixed[i]);
}

/* Frames of the entry for all warps of a block, which stay with its memory. An odd number of the
 * cache's lines is between two of them, so that they are spread over all of it. */
bool call_entries(struct ptx_block *block)
{
    const struct launch *launch = block->launch;
    const struct ptx_code *entry = launch->entry;
    const size_t stride = ((frame_head(entry) + entry->register_bytes + 63) & ~(size_t)63) | 64;

    block->entries = zeroed(stride * block->warp_count);
    for (uint32_t i = 0; block->entries && i < block->warp_count; i++) {
        struct ptx_warp_state *state = &block->warps[i];

        state->entry = (struct ptx_frame *)(void *)(block->entries + i * stride);
        state->warp.stride = (uint32_t)stride;
        frame_init(state->entry, entry);
        if (launch->start != entry->steps && state->first_alive == PTX_FULL)
            call_fixed(state);
    }
    return block->entries;
}

bool call_warp_begin(struct ptx_warp_state *state)
{
    struct worker *worker = state->worker;
    struct launch *launch = state->launch;

    if (launch->stack_size) {
        state->local = worker->stacks;
        if (state->local)
            memcpy(&worker->stacks, state->local, sizeof worker->stacks);
        else
            state->local = aligned_alloc(64, (size_t)launch->stack_size * PTX_LANES);
    }
    if (launch->stack_size && !state->local) {
        fault_launch(launch, PTX_FAULT_NO_MEMORY, "the host has no memory for the threads");
        return false;
    }
    state->local_stride = launch->stack_size;
    frame_clear(state->entry);
    state->entry->lanes = state->first_alive;
    state->entry->local_top = launch->entry->local_size;
    state->entry->counted = CALL_OVERHEAD + launch->entry->counted;
    if (launch->check)
        check_init_frame(state, state->entry, state->first_alive);
    state->warp.carry = 0;
    state->group_count = 0;
    state->begun = true;
    /* The rows of a team are whole. */
    state->team = launch->start != launch->entry->steps && state->first_alive == PTX_FULL;
    schedule_add(state, state->first_alive, state->team ? launch->start : launch->entry->steps,
                 state->entry);
    return true;
}

/* Did another warp of the warpgroup have a part in a product that this one never came to? */
static bool missed_product(const struct ptx_warp_state *state)
{
    const struct ptx_block *block = state->warp.block;

    for (uint32_t i = state->warp.index & ~3U; i <= (state->warp.index | 3); i++)
        if (i < block->warp_count && block->warps[i].products > state->products)
            return true;
    return false;
}

/* All lanes are gone: what the warp had is for the next. */
void call_warp_end(struct ptx_warp_state *state)
{
    struct worker *worker = state->worker;

    state->done = true;
    if (state->warp.block->products && missed_product(state))
        fault_launch(state->launch, PTX_FAULT_ILLEGAL_INSTRUCTION,
                     "a warp ended while others of its warpgroup ran wgmma.mma_async");
    if (state->local) {
        memcpy(state->local, &worker->stacks, sizeof worker->stacks);
        worker->stacks = state->local;
        state->local = NULL;
    }
}
