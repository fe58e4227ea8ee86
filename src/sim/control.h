/* SPDX-License-Identifier: MIT */
/* Faults on demand and the log (control.c), and the state that cuInit leaves (init.c). */
#ifndef CUSHIM_SIM_CONTROL_H
#define CUSHIM_SIM_CONTROL_H

#include <pthread.h>

#include "sim.h"

pthread_mutex_t *sim_mutex(void); /* the driver's lock, for condition variables */
/* CUDA_SUCCESS after cuInit succeeded in this very process, else what later calls answer. */
CUresult sim_init_state(void);
/* True: a fault answers the call with call->result; the behaviour does not run. */
bool sim_control_before(struct sim_call *call);
void sim_control_after(struct sim_call *call);

/* What went wrong in a kernel, one sentence: to the log, else to standard error. */
void sim_control_report(const struct sim_device *device, const char *sentence);

#endif
