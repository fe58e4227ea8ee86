/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_MEMORY_IDLE_H
#define CUSHIM_SIM_MEMORY_IDLE_H

/* Call release(data) when nothing that is queued now can still use it; at once where possible
 * (memory_idle.c). */
void sim_idle_call(void (*release)(void *), void *data);
void sim_idle_release(void); /* what can be released by now */

#endif
