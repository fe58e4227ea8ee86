/* SPDX-License-Identifier: MIT */
/* Textures and surfaces, objects and references alike: what a kernel finds behind a handle. */
#ifndef CUSHIM_SIM_TEXTURE_TEXTURE_H
#define CUSHIM_SIM_TEXTURE_TEXTURE_H

#include "ptx/ptx.h"

struct sim_context;
struct sim_object;
struct sim_reference;

struct sim_view { /* what is behind a handle at one time */
    struct ptx_texture seen;
    uint64_t address, memory; /* of the first byte, and the allocation's id: gone if another's */
    size_t bytes;
    uint64_t handle;         /* of a view that is withdrawn, or was replaced */
    uint64_t since, until;   /* numbers of changes: what was launched between sees this one */
    struct sim_view *before; /* that some queued launch may still see */
    struct ptx_level levels[];
};

#endif
