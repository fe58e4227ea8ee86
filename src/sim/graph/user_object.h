/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_GRAPH_USER_OBJECT_H
#define CUSHIM_SIM_GRAPH_USER_OBJECT_H

#include "sim.h"

struct sim_hold;

void sim_user_object_holds_free(struct sim_hold *holds);
CUresult sim_user_object_holds_copy(const struct sim_hold *holds, struct sim_hold **copy);

#endif
