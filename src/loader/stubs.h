/* SPDX-License-Identifier: MIT */
/* What a slot does that no driver fills. */
#ifndef CUSHIM_LOADER_STUBS_H
#define CUSHIM_LOADER_STUBS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <cushim/cushim.h>

/* Why an entry is missing from a driver of a version; version 0: there is no driver. */
enum cushim_state cushim_stubs_missing(int version, size_t index);

/* Fill the slot of an entry that is missing for that reason. */
void cushim_stubs_set(struct cushim_api *table, size_t index, enum cushim_state state);

/* Of the slots that are stubs, let those answer that have an answer without a driver. */
void cushim_stubs_answer(struct cushim_api *table);

/* Whether what a slot holds is a stub of that slot, or NULL, which only a caller can put there. */
bool cushim_stubs_is_stub(const void *held, size_t index);

/* A simulated driver that hears of the calls of stubs, and of helpers that refused what they were
 * given; it has a lock. NULL: there is none. */
typedef void cushim_stubs_listener(const char *symbol, CUresult code);
extern _Atomic(cushim_stubs_listener *) cushim_stubs_told;

/* Set it, and who knows the fault rules, if the library of this handle, or NULL, is one. */
void cushim_stubs_tell(void *library);

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
