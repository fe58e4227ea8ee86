/* SPDX-License-Identifier: MIT */
/* Linking for another helper; internal to the library. */
#ifndef CUSHIM_HELPERS_LINK_H
#define CUSHIM_HELPERS_LINK_H

#include <cushim/module.h>

#include "jit.h"

/* Link into a cubin that the caller releases. */
CUresult cushim_link_all(struct cushim_jit *jit, const struct cushim_link_input *given,
                         size_t count, struct cushim_cubin *cubin);

#endif
