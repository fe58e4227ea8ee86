/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_CALL_START_H
#define CUSHIM_SIM_CALL_START_H

#include <stdbool.h>

struct sim_config;

void sim_start(void); /* from the environment; nothing if the driver has started */
/* Instead of the environment's; false: the driver has started. */
bool sim_start_with(const struct sim_config *config);

#endif
