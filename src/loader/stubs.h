/* SPDX-License-Identifier: MIT */
/* What a slot does that no driver fills. */
#ifndef CUSHIM_LOADER_STUBS_H
#define CUSHIM_LOADER_STUBS_H

#include <cushim/cushim.h>

/* Fill every slot whose entry is not available. state_of tells an entry's state. */
void cushim_stubs_fill(struct cushim_api *table,
                       enum cushim_state state_of(const void *user, size_t index),
                       const void *user);

/* Assembler uses it. gcc's link-time optimisation does not see that, and would make it local. */
#if defined(__GNUC__) && defined(__clang__)
#define CUSHIM_KEPT __attribute__((used))
#elif defined(__GNUC__)
#define CUSHIM_KEPT __attribute__((used, externally_visible))
#else
#define CUSHIM_KEPT
#endif

/* What the stubs of each family jump to: note the call and return its code. */
CUSHIM_KEPT CUresult cushim_stubs_no_driver(unsigned index);
CUSHIM_KEPT CUresult cushim_stubs_newer(unsigned index);
CUSHIM_KEPT CUresult cushim_stubs_absent(unsigned index);

#endif
