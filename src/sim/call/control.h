/* SPDX-License-Identifier: MIT */
/* Faults on demand and the log, around each call. */
#ifndef CUSHIM_SIM_CALL_CONTROL_H
#define CUSHIM_SIM_CALL_CONTROL_H

#include <pthread.h>
#include <stdbool.h>

struct sim_call;

/* True: a fault answers the call with call->result; the behaviour does not run. */
bool sim_control_before(struct sim_call *call);
void sim_control_after(struct sim_call *call);

#endif
