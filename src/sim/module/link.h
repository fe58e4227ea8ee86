/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_MODULE_LINK_H
#define CUSHIM_SIM_MODULE_LINK_H

#include <stddef.h>

struct ptx_module;
struct sim_object;

void sim_link_end(struct sim_object *object);
/* The module compiled for a linked image, as long as its link lives; NULL: there is none. The
 * caller's reference. */
struct ptx_module *sim_link_module(const void *image, size_t size, unsigned architecture,
                                   unsigned max_registers);

#endif
