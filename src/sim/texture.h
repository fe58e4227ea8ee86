/* SPDX-License-Identifier: MIT */
/* Textures and surfaces, objects and references alike: what a kernel finds behind a handle. */
#ifndef CUSHIM_SIM_TEXTURE_H
#define CUSHIM_SIM_TEXTURE_H

#include "memory.h"
#include "ptx/ptx.h"

struct sim_view { /* what is behind a handle at one time */
    struct ptx_texture seen;
    uint64_t address, memory; /* of the first byte, and the allocation's id: gone if another's */
    size_t bytes;
    uint64_t handle; /* of a view that is withdrawn */
    struct ptx_level levels[];
};

/* --- Handles, by which kernels find views (texture_table.c). The functions that launches call take
 * no lock of the driver's; the answer lives until the launch ends. --- */
const struct ptx_texture *sim_texture_find(uint64_t handle); /* NULL: none, or its memory is gone */
const struct ptx_texture *sim_surface_find(uint64_t handle);
/* A handle for a view, which may be NULL and change; 0: no memory. */
uint64_t sim_view_publish(struct sim_view *view, bool surface, void *owner);
void *sim_view_owner(uint64_t handle, bool surface);          /* NULL: no such handle */
void sim_view_change(uint64_t handle, struct sim_view *view); /* frees the one before */
/* For calls the handle is gone; launches that are queued now still find the view, which is freed
 * when they are done. */
void sim_view_withdraw(uint64_t handle);

/* --- Views of resources (texture_view.c) --- */
CUresult sim_view_make(const CUDA_RESOURCE_DESC_v1 *resource, const CUDA_TEXTURE_DESC_v1 *texture,
                       const CUDA_RESOURCE_VIEW_DESC_v1 *part, bool surface,
                       struct sim_view **view);

/* --- References (texture_reference.c), for modules: CUtexref and CUsurfref. The eight bytes of a
 * module's variable hold the handle, which stays the same whatever is bound. --- */
struct sim_reference *sim_reference_make(struct sim_context *context, bool surface);
char *sim_reference_bytes(struct sim_reference *reference); /* those eight, for the image */
uint64_t sim_reference_handle(const struct sim_reference *reference);
void sim_reference_destroy(struct sim_reference *reference);
void sim_references_clear(struct sim_context *context); /* those of no module, at its end */

#endif
