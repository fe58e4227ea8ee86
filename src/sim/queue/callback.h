/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_QUEUE_CALLBACK_H
#define CUSHIM_SIM_QUEUE_CALLBACK_H

#include "sim.h"

struct sim_item;

/* A host function as work. */
CUresult sim_callback_prepare(CUhostFn function, void *data, struct sim_item *item);

#endif
