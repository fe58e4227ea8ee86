/* SPDX-License-Identifier: MIT */
/* The simulated driver as files: one engine, and for each CUDA version a thin library of the name
 * libcuda-sim-X.Y.so. A thin library exports what that version's driver exports. Each export is one
 * jump through its table, which the engine fills when the thin library is loaded. An engine holds
 * the state of one driver: it belongs to the first thin library that attaches to it, and another
 * one in the same process loads a copy. */
#ifndef CUSHIM_SIM_THIN_THIN_H
#define CUSHIM_SIM_THIN_THIN_H

#include <stddef.h>
#include <stdint.h>

#include "sim_behaviours.h"

/* What a thin library tells the engine. It stays where it is until the library is unloaded. */
struct sim_thin {
    uint64_t entries; /* SIM_ENTRIES_ID; the first member in every build */
    int version;
    void **table;                   /* SIM_ENTRY_COUNT functions, for the engine to fill */
    void *(*address)(size_t entry); /* the function that jumps through the table's slot */
};

enum sim_attached { SIM_ATTACHED, SIM_ATTACH_TAKEN, SIM_ATTACH_REFUSED };

/* The one symbol that the engine exports. On success `*unload` is what to call at the end. */
enum sim_attached cushim_sim_attach(const struct sim_thin *thin, void (**unload)(void));
#define SIM_ATTACH "cushim_sim_attach"
typedef enum sim_attached sim_attach(const struct sim_thin *thin, void (**unload)(void));

/* --- Within a thin library --- */
extern void *sim_thin_table[SIM_ENTRY_COUNT];
extern const int sim_thin_version;
void *sim_thin_address(size_t entry);

#endif
