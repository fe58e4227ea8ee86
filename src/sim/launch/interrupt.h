/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_LAUNCH_INTERRUPT_H
#define CUSHIM_SIM_LAUNCH_INTERRUPT_H

/* Around each launch of a kernel, without the lock. */
void sim_interrupt_begin(void);
void sim_interrupt_end(void);
/* The signal is the program's again. */
void sim_interrupt_unload(void);

#endif
