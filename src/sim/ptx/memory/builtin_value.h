/* SPDX-License-Identifier: MIT */
/* Up to 8 bytes of an argument of a built-in function's call, which is in the caller's frame, and
 * its result. */
#ifndef CUSHIM_SIM_PTX_MEMORY_BUILTIN_VALUE_H
#define CUSHIM_SIM_PTX_MEMORY_BUILTIN_VALUE_H

#include <stdint.h>

struct ptx_step;
struct ptx_warp;

uint64_t builtin_value_argument(const struct ptx_warp *warp, const struct ptx_step *step,
                                unsigned index, unsigned lane);
void builtin_value_result(const struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                          uint64_t bits);

#endif
