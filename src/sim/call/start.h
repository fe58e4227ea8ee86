/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_CALL_START_H
#define CUSHIM_SIM_CALL_START_H

#include <stdbool.h>

struct sim_config;

void sim_start(void); /* from the environment; nothing if the driver has started */
/* With these settings. Faults and log are the environment's unless the caller has its own. False:
 * the driver has started. */
bool sim_start_with(const struct sim_config *config, bool own_faults, bool own_log);
bool sim_start_done(void);  /* the driver has started */
void sim_start_again(void); /* the next call starts it anew */

#endif
