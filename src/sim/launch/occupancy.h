/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_LAUNCH_OCCUPANCY_H
#define CUSHIM_SIM_LAUNCH_OCCUPANCY_H

#include <stddef.h>

struct sim_function;

/* Blocks of this many threads that one multiprocessor holds at a time. */
int sim_occupancy(const struct sim_function *function, int threads, size_t dynamic);
size_t
sim_occupancy_max_dynamic(const struct sim_function *function);     /* bytes a launch may ask for */
int sim_occupancy_max_threads(const struct sim_function *function); /* of a block */

#endif
