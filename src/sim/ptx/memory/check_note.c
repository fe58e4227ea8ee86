/* SPDX-License-Identifier: MIT */
/* What the checks report: a sentence once for each pair of instructions. */
#include "ptx/memory/check_state.h"

#include <stdio.h>

/* A warp by itself and a team have steps of their own for an instruction. */
static const struct step_source *source_of(const struct ptx_warp *warp, const struct ptx_step *step)
{
    const struct ptx_code *code = warp->state->frame->code;

    if (step >= code->steps && step < code->steps + code->step_count)
        return &code->sources[step - code->steps];
    return step ? fault_source(warp->block->launch->image->module, step) : NULL;
}

static bool is_new(struct check *check, const struct step_source *one,
                   const struct step_source *other)
{
    for (uint32_t i = 0; i < check->reports; i++)
        if (check->reported[i].one == one && check->reported[i].other == other)
            return false;
    if (check->reports == CHECK_REPORTS)
        return false;
    check->reported[check->reports].one = one;
    check->reported[check->reports++].other = other;
    return true;
}

void check_note_place(const struct launch *launch, uint64_t block, uint32_t thread,
                      const struct ptx_step *step, bool with_block, char *text, size_t size)
{
    const uint32_t *grid = launch->request->grid;
    const uint32_t *at = launch->tids + thread / PTX_LANES * 3 * PTX_LANES + thread % PTX_LANES;
    const struct ptx_module *module = launch->image->module;
    char blocks[64] = "", insn[192];

    if (with_block)
        snprintf(blocks, sizeof blocks, "block (%u,%u,%u), ", (unsigned)(block % grid[0]),
                 (unsigned)(block / grid[0] % grid[1]), (unsigned)(block / grid[0] / grid[1]));
    fault_describe(module, fault_source(module, step), insn, sizeof insn);
    snprintf(text, size, "%sthread (%u,%u,%u), %s", blocks, (unsigned)at[0],
             (unsigned)at[PTX_LANES], (unsigned)at[2 * PTX_LANES], insn);
}

void check_note(struct ptx_warp *warp, unsigned lane, const struct ptx_step *step,
                const struct ptx_step *other, const char *kind, const char *what)
{
    const struct launch *launch = warp->block->launch;
    char where[320], sentence[960];

    if (!is_new(launch->check, source_of(warp, step), source_of(warp, other)) ||
        !launch->world->note)
        return;
    check_note_place(launch, warp->block->number, warp->index * PTX_LANES + lane, step, true, where,
                     sizeof where);
    snprintf(sentence, sizeof sentence, "%s: kernel '%s', %s: %s", kind, launch->entry->info.name,
             where, what);
    launch->world->note(launch->world->user, sentence);
}
