/* SPDX-License-Identifier: MIT */
#include "ptx/memory/memory.h"

uint64_t builtin_value_argument(const struct ptx_warp *warp, const struct ptx_step *step,
                                unsigned index, unsigned lane)
{
    const struct ptx_warp_state *state = warp->state;
    const struct call_site *site = step->how.call.site;
    const struct call_value *value = &site->arguments[index];
    uint64_t bits = 0;

    memcpy(&bits,
           state->local + (size_t)lane * state->local_stride + state->frame->local_base +
               value->offset,
           value->size < 8 ? value->size : 8);
    return bits;
}

void builtin_value_result(const struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                          uint64_t bits)
{
    const struct ptx_warp_state *state = warp->state;
    const struct call_site *site = step->how.call.site;

    if (site->return_count)
        memcpy(state->local + (size_t)lane * state->local_stride + state->frame->local_base +
                   site->returns[0].offset,
               &bits, site->returns[0].size < 8 ? site->returns[0].size : 8);
}
