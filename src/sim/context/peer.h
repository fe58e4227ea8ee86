/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_CONTEXT_PEER_H
#define CUSHIM_SIM_CONTEXT_PEER_H

struct sim_context;

void sim_peer_forget(struct sim_context *context);

#endif
