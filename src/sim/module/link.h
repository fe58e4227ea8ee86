/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_MODULE_LINK_H
#define CUSHIM_SIM_MODULE_LINK_H

struct sim_object;

void sim_link_end(struct sim_object *object);

#endif
