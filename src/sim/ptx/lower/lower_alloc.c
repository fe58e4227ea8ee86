/* SPDX-License-Identifier: MIT */
/* Places in the register file. A lane's values are apart from those of other lanes, so the liveness
 * of a single thread decides; but registers of different widths never share a place, as a lane's
 * part of one would be another lane's part of the other.
 *
 * First the usual backward iteration over the blocks finds the registers that live across them. Its
 * sets of bits take a bounded amount of memory: of a large function the registers are taken in
 * several turns. Then one walk through the steps gives each register the place of its width that
 * became free last, so that the register file stays small and its lines stay in the cache. */
#include "ptx/lower/lower.h"

#define NONE UINT32_MAX
#define PLACES 5 /* enum value_place */
#define LIVENESS_BYTES ((size_t)16 << 20)

struct block {
    uint32_t first, last; /* steps */
    uint32_t next[2];     /* blocks; NONE */
    const struct jump_table *table;
    uint64_t *used, *defined, *in, *out;
};

struct alloc {
    struct lower *lower;
    struct block *blocks;
    uint32_t block_count;
    uint32_t *block_of; /* by step */
    uint32_t *number;   /* of virtual registers that live across blocks; NONE */
    uint32_t *names;    /* and back */
    uint32_t number_count;
    uint32_t first;  /* liveness is solved for so many registers at a time: the first's number */
    size_t words;    /* and how many words of 64 */
    uint32_t *stamp; /* by virtual register: the block that defined it last */
    uint64_t *bits;
    uint32_t *start, *end; /* of virtual registers, in steps; start NONE: unused */
    uint32_t *place;       /* slot within the class */
    uint32_t slots[PLACES], live;
};

static bool ends_block(const struct ptx_step *step)
{
    switch (step->control) {
    case CONTROL_JUMP:
    case CONTROL_BRANCH:
    case CONTROL_INDEXED:
    case CONTROL_RETURN:
    case CONTROL_EXIT:
    case CONTROL_TRAP:
        return true;
    default:
        return false;
    }
}

static bool falls_through(const struct ptx_step *step)
{
    return !ends_block(step) || step->guard != PTX_ABSENT;
}

static bool find_blocks(struct alloc *alloc)
{
    struct lower *lower = alloc->lower;
    uint32_t steps = lower->step_count, count = 0;
    uint8_t *leader = lower_scratch(lower, steps, 1);

    if (!leader)
        return false;
    leader[0] = 1;
    for (uint32_t i = 0; i <= lower->fn->insn_count; i++)
        if (lower->targeted[i])
            leader[lower->first_step[i]] = 1;
    for (uint32_t i = 0; i < steps; i++)
        if (ends_block(&lower->steps[i]))
            leader[i + 1] = 1;
    for (uint32_t i = 0; i < steps; i++)
        count += leader[i];
    alloc->blocks = lower_scratch(lower, count, sizeof *alloc->blocks);
    alloc->block_of = lower_scratch(lower, steps, sizeof *alloc->block_of);
    if (!alloc->blocks || !alloc->block_of)
        return false;
    for (uint32_t i = 0; i < steps; i++) {
        if (leader[i])
            alloc->blocks[alloc->block_count++].first = i;
        alloc->block_of[i] = alloc->block_count - 1;
        alloc->blocks[alloc->block_count - 1].last = i;
    }
    return true;
}

static void find_edges(struct alloc *alloc)
{
    struct lower *lower = alloc->lower;

    for (uint32_t b = 0; b < alloc->block_count; b++) {
        struct block *block = &alloc->blocks[b];
        const struct ptx_step *step = &lower->steps[block->last];

        block->next[0] = falls_through(step) && b + 1 < alloc->block_count ? b + 1 : NONE;
        block->next[1] = NONE;
        if (step->control == CONTROL_JUMP || step->control == CONTROL_BRANCH)
            block->next[1] = alloc->block_of[lower->first_step[step->how.jump.index]];
        if (step->control == CONTROL_INDEXED)
            block->table = step->how.table;
    }
}

/* References are in the order of their steps. */
static bool index_refs(struct alloc *alloc)
{
    struct lower *lower = alloc->lower;
    uint32_t at = 0;

    lower->first_ref = lower_scratch(lower, lower->step_count, sizeof *lower->first_ref);
    if (!lower->first_ref)
        return false;
    for (uint32_t i = 0; i < lower->step_count; i++) {
        alloc->lower->first_ref[i] = at;
        while (at < lower->ref_count && lower->refs[at].step == i)
            at++;
    }
    alloc->lower->first_ref[lower->step_count] = at;
    return true;
}

/* Is the value from before the step needed? A guarded definition keeps it in some lanes. */
static bool needs_old(const struct lower *lower, const struct lower_ref *ref)
{
    if (!ref->def)
        return true;
    return lower->steps[ref->step].guard != PTX_ABSENT && ref->vreg < lower->first_temp;
}

typedef void visit(struct alloc *alloc, struct block *block, uint32_t vreg);

/* Call `use` for registers that the block needs from outside, `def` for those that it writes. */
static void scan_block(struct alloc *alloc, uint32_t index, visit *use, visit *def)
{
    struct lower *lower = alloc->lower;
    struct block *block = &alloc->blocks[index];

    for (uint32_t s = block->first; s <= block->last; s++) {
        FOR_REFS (lower, ref, s)
            if (alloc->stamp[ref->vreg] != index && needs_old(lower, ref))
                use(alloc, block, ref->vreg);
        FOR_REFS (lower, ref, s)
            if (ref->def) {
                alloc->stamp[ref->vreg] = index;
                if (def)
                    def(alloc, block, ref->vreg);
            }
    }
}

static void scan_blocks(struct alloc *alloc, visit *use, visit *def)
{
    memset(alloc->stamp, 0xff, (alloc->lower->vreg_count + 1) * sizeof *alloc->stamp);
    for (uint32_t b = 0; b < alloc->block_count; b++)
        scan_block(alloc, b, use, def);
}

static void name_global(struct alloc *alloc, struct block *block, uint32_t vreg)
{
    (void)block;
    if (alloc->number[vreg] != NONE)
        return;
    alloc->names[alloc->number_count] = vreg;
    alloc->number[vreg] = alloc->number_count++;
}

static void mark(const struct alloc *alloc, uint64_t *set, uint32_t vreg)
{
    uint32_t number = alloc->number[vreg] - alloc->first;

    if (alloc->number[vreg] != NONE && number / 64 < alloc->words)
        set[number / 64] |= UINT64_C(1) << number % 64;
}

static void mark_used(struct alloc *alloc, struct block *block, uint32_t vreg)
{
    mark(alloc, block->used, vreg);
}

static void mark_defined(struct alloc *alloc, struct block *block, uint32_t vreg)
{
    mark(alloc, block->defined, vreg);
}

/* Number the registers that live across blocks. */
static bool find_globals(struct alloc *alloc)
{
    struct lower *lower = alloc->lower;
    size_t count = lower->vreg_count;

    alloc->stamp = lower_scratch(lower, count, sizeof *alloc->stamp);
    alloc->number = lower_scratch(lower, count, sizeof *alloc->number);
    alloc->names = lower_scratch(lower, count, sizeof *alloc->names);
    if (lower->status != PTX_OK)
        return false;
    memset(alloc->number, 0xff, count * sizeof *alloc->number);
    scan_blocks(alloc, name_global, NULL);
    return true;
}

/* Four sets for each block, of as many registers as a bounded amount of memory has room for: text
 * of a few megabytes can have blocks and registers whose product is many gigabytes. */
static bool make_sets(struct alloc *alloc)
{
    size_t all = (alloc->number_count + 63) / 64;
    size_t room = LIVENESS_BYTES / (4 * sizeof *alloc->bits) / (alloc->block_count + 1);

    alloc->words = room < 1 ? 1 : room;
    alloc->words = alloc->words < all ? alloc->words : all;
    alloc->bits =
        lower_scratch(alloc->lower, alloc->words * alloc->block_count * 4, sizeof *alloc->bits);
    for (uint32_t b = 0; alloc->bits && b < alloc->block_count; b++) {
        struct block *block = &alloc->blocks[b];

        block->used = alloc->bits + alloc->words * 4 * b;
        block->defined = block->used + alloc->words;
        block->in = block->defined + alloc->words;
        block->out = block->in + alloc->words;
    }
    return alloc->bits;
}

static void flow_from(struct alloc *alloc, struct block *block, uint32_t next)
{
    if (next != NONE)
        for (size_t i = 0; i < alloc->words; i++)
            block->out[i] |= alloc->blocks[next].in[i];
}

/* Of the registers from alloc->first on. */
static void solve_liveness(struct alloc *alloc)
{
    bool changed = true;

    memset(alloc->bits, 0, alloc->words * alloc->block_count * 4 * sizeof *alloc->bits);
    scan_blocks(alloc, mark_used, mark_defined);
    while (changed) {
        changed = false;
        for (uint32_t b = alloc->block_count; b-- > 0;) {
            struct block *block = &alloc->blocks[b];

            flow_from(alloc, block, block->next[0]);
            flow_from(alloc, block, block->next[1]);
            for (uint32_t i = 0; block->table && i < block->table->count; i++)
                flow_from(alloc, block,
                          alloc->block_of[alloc->lower->first_step[block->table->targets[i]]]);
            for (size_t i = 0; i < alloc->words; i++) {
                uint64_t in = block->used[i] | (block->out[i] & ~block->defined[i]);

                changed |= in != block->in[i];
                block->in[i] = in;
            }
        }
    }
}

static void extend(struct alloc *alloc, uint32_t vreg, uint32_t step)
{
    if (alloc->start[vreg] == NONE) {
        alloc->start[vreg] = alloc->end[vreg] = step;
        return;
    }
    if (step < alloc->start[vreg])
        alloc->start[vreg] = step;
    if (step > alloc->end[vreg])
        alloc->end[vreg] = step;
}

static void extend_set(struct alloc *alloc, const uint64_t *set, uint32_t step)
{
    for (size_t i = 0; i < alloc->words; i++)
        for (uint64_t left = set[i]; left; left &= left - 1)
            extend(alloc, alloc->names[alloc->first + i * 64 + (size_t)__builtin_ctzll(left)],
                   step);
}

static bool find_intervals(struct alloc *alloc)
{
    struct lower *lower = alloc->lower;
    const struct ir_function *fn = lower->fn;

    alloc->start = lower_scratch(lower, lower->vreg_count, sizeof *alloc->start);
    alloc->end = lower_scratch(lower, lower->vreg_count, sizeof *alloc->end);
    if (lower->status != PTX_OK)
        return false;
    memset(alloc->start, 0xff, (lower->vreg_count + 1) * sizeof *alloc->start);
    for (uint32_t i = 0; i < lower->ref_count; i++)
        extend(alloc, lower->refs[i].vreg, lower->refs[i].step);
    for (; alloc->first < alloc->number_count; alloc->first += (uint32_t)alloc->words * 64) {
        solve_liveness(alloc);
        for (uint32_t b = 0; b < alloc->block_count; b++) {
            extend_set(alloc, alloc->blocks[b].in, alloc->blocks[b].first);
            extend_set(alloc, alloc->blocks[b].out, alloc->blocks[b].last);
        }
        for (size_t i = 0; i < alloc->words; i++)
            lower->code->clear |= alloc->blocks[0].in[i] != 0;
    }
    /* What the caller fills is live from the first step on. */
    for (uint32_t i = 0; !fn->entry && i < fn->param_count; i++)
        if (fn->params[i].reg)
            extend(alloc, lower->base[fn->params[i].index], 0);
    return true;
}

static uint32_t weight(unsigned place)
{
    return place == PLACE_PREDICATE ? 0 : place == PLACE_128 ? 4 : place == PLACE_64 ? 2 : 1;
}

/* Go through the steps, giving each register the place that became free last. */
static bool scan_linear(struct alloc *alloc)
{
    struct lower *lower = alloc->lower;
    uint32_t vregs = lower->vreg_count, steps = lower->step_count, most = 0;
    uint32_t *starts = lower_scratch(lower, steps * (size_t)2 + 1, sizeof *starts);
    uint32_t *ends = starts + steps + 1;
    uint32_t *links = lower_scratch(lower, vregs * (size_t)2 + 1, sizeof *links);
    uint32_t *end_links = links + vregs + 1;
    uint32_t *spare = lower_scratch(lower, (vregs + (size_t)1) * PLACES, sizeof *spare);
    uint32_t spares[PLACES] = {0};

    alloc->place = lower_scratch(lower, vregs, sizeof *alloc->place);
    if (lower->status != PTX_OK)
        return false;
    memset(starts, 0xff, (steps + 1) * 2 * sizeof *starts);
    for (uint32_t v = 0; v < vregs; v++) {
        if (alloc->start[v] == NONE)
            continue;
        links[v] = starts[alloc->start[v]];
        starts[alloc->start[v]] = v;
        end_links[v] = ends[alloc->end[v]];
        ends[alloc->end[v]] = v;
    }
    for (uint32_t s = 0; s < steps; s++) {
        for (uint32_t v = starts[s]; v != NONE; v = links[v]) {
            unsigned place = lower->places[v];

            alloc->place[v] = spares[place] ? spare[place * (vregs + 1) + --spares[place]]
                                            : alloc->slots[place]++;
            alloc->live += weight(place);
        }
        most = alloc->live > most ? alloc->live : most;
        for (uint32_t v = ends[s]; v != NONE; v = end_links[v]) {
            unsigned place = lower->places[v];

            spare[place * (vregs + 1) + spares[place]++] = alloc->place[v];
            alloc->live -= weight(place);
        }
    }
    lower->code->info.registers = most + 8 > 255 ? 255 : most + 8;
    return true;
}

static uint32_t final_place(const struct alloc *alloc, uint32_t vreg)
{
    uint32_t wide = alloc->slots[PLACE_32] * 128, widest = wide + alloc->slots[PLACE_64] * 256;

    switch (alloc->lower->places[vreg]) {
    case PLACE_32:
        return alloc->place[vreg] * 128;
    case PLACE_64:
        return wide + alloc->place[vreg] * 256;
    case PLACE_128:
        return widest + alloc->place[vreg] * 512;
    default:
        return alloc->place[vreg];
    }
}

/* What the registers' places are, for the steps for teams. */
static void publish(struct alloc *alloc)
{
    struct lower *lower = alloc->lower;

    lower->place_at = lower_scratch(lower, lower->vreg_count, sizeof *lower->place_at);
    for (uint32_t v = 0; lower->place_at && v < lower->vreg_count; v++)
        lower->place_at[v] = final_place(alloc, v);
    lower->narrow_bytes = alloc->slots[PLACE_32] * 128;
    lower->live_from = alloc->start;
    lower->live_to = alloc->end;
}

static void rewrite(struct alloc *alloc)
{
    struct lower *lower = alloc->lower;
    struct ptx_code *code = lower->code;
    const struct ir_function *fn = lower->fn;

    for (uint32_t i = 0; i < lower->ref_count; i++) {
        const struct lower_ref *ref = &lower->refs[i];
        struct ptx_step *step = &lower->steps[ref->step];
        uint32_t at = final_place(alloc, ref->vreg);

        if (ref->slot == SLOT_GUARD)
            step->guard = at;
        else if (step->list)
            ((uint32_t *)(uintptr_t)step->list)[ref->slot] = at;
        else
            step->operand[ref->slot] = at;
    }
    for (uint32_t i = 0; i < lower->step_count; i++) {
        struct ptx_step *step = &lower->steps[i];

        for (uint32_t k = 0; step->list && k < step->list_count && k < STEP_OPERANDS; k++)
            step->operand[k] = step->list[k];
    }
    for (uint32_t i = 0; !fn->entry && i < fn->param_count; i++)
        if (fn->params[i].reg)
            code->params[i].offset = final_place(alloc, lower->base[fn->params[i].index]);
    for (uint32_t i = 0; !fn->entry && i < fn->return_count; i++)
        if (fn->returns[i].reg)
            code->returns[i].offset = final_place(alloc, lower->base[fn->returns[i].index]);
    code->predicate_count = alloc->slots[PLACE_PREDICATE];
    code->register_bytes =
        alloc->slots[PLACE_32] * 128 + alloc->slots[PLACE_64] * 256 + alloc->slots[PLACE_128] * 512;
}

void lower_alloc_registers(struct lower *lower)
{
    struct alloc alloc = {.lower = lower};

    if (!find_blocks(&alloc) || !index_refs(&alloc))
        return;
    find_edges(&alloc);
    if (!find_globals(&alloc) || !make_sets(&alloc) || !find_intervals(&alloc) ||
        !scan_linear(&alloc))
        return;
    rewrite(&alloc);
    publish(&alloc);
}
