/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_MODULE_PLACE_H
#define CUSHIM_SIM_MODULE_PLACE_H

#include "sim.h"

struct ptx_module;
struct sim_context;
struct sim_function;
struct sim_module;
struct sim_object;

/* Newest PTX version of the simulated CUDA version: 804 for 12.4. */
unsigned sim_place_ptx_version(void);
CUresult sim_place_make(struct sim_context *context, struct ptx_module *ptx,
                        struct sim_module **module);
void sim_place_destroy(struct sim_module *module);
void sim_place_end(struct sim_object *object); /* with its context */
/* The handle of a function of the module; made on first use. NULL: no memory. */
struct sim_function *sim_place_function(struct sim_module *module, size_t index);

#endif
