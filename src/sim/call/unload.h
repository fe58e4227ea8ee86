/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_CALL_UNLOAD_H
#define CUSHIM_SIM_CALL_UNLOAD_H

/* The process ends, or what holds this code is unloaded. */
void sim_unload(void);

#endif
