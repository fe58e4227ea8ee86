/* SPDX-License-Identifier: MIT */
/* A texture or surface reference: settings, and what is bound. */
#ifndef CUSHIM_SIM_TEXTURE_REFERENCE_H
#define CUSHIM_SIM_TEXTURE_REFERENCE_H

#include "core/object.h"
#include "sim.h"

struct sim_context;

struct sim_reference {
    struct sim_object object; /* SIM_TEXREF or SIM_SURFREF */
    uint64_t handle;
    bool bound, own; /* own: made by cuTexRefCreate, not a module's */
    CUDA_RESOURCE_DESC_v1 resource;
    CUDA_TEXTURE_DESC_v1 texture;
    CUarray_format format;
    int channels;
    CUdeviceptr address; /* as it was bound, before it was rounded down */
};

/* The live reference of a handle, or the code to answer. */
CUresult sim_reference_of(CUtexref handle, struct sim_reference **reference);
/* Let kernels see the reference as it is now. What cannot be seen stays unbound until it can. */
CUresult sim_reference_update(struct sim_reference *reference);
struct sim_reference *sim_reference_make(struct sim_context *context, bool surface);
char *sim_reference_bytes(struct sim_reference *reference); /* those eight, for the image */
uint64_t sim_reference_handle(const struct sim_reference *reference);
void sim_reference_destroy(struct sim_reference *reference);
void sim_reference_end(struct sim_object *object); /* with its context, if it is no module's */

#endif
