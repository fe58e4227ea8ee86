/* SPDX-License-Identifier: MIT */
/* The log of every call. */
#ifndef CUSHIM_SIM_CALL_LOG_H
#define CUSHIM_SIM_CALL_LOG_H

struct sim_call;

void sim_log_call(const struct sim_call *call);

#endif
