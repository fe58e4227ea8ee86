/* SPDX-License-Identifier: MIT */
/* Priorities of streams: 0 and below. */
#ifndef CUSHIM_SIM_QUEUE_PRIORITY_H
#define CUSHIM_SIM_QUEUE_PRIORITY_H

#define SIM_PRIORITY_LEAST 0
int sim_priority_greatest(void);
int sim_priority_clamp(int priority);

#endif
