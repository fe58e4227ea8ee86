/* SPDX-License-Identifier: MIT */
/* What the files about contexts share. */
#ifndef CUSHIM_SIM_CONTEXT_H
#define CUSHIM_SIM_CONTEXT_H

#include "sim.h"

/* --- Memory of a context: kept while a reference is held, long after its end if need be --- */
struct sim_context *sim_context_retain(struct sim_context *context);
void sim_context_release(struct sim_context *context);
/* The end of all that the context owns; a primary one can be opened again. */
CUresult sim_context_open(struct sim_context *context, unsigned flags);
void sim_context_close(struct sim_context *context);
/* Release what the context owns, family by family. */
void sim_context_clear(struct sim_context *context);
bool sim_context_flags_valid(unsigned flags);

/* What a device does after such an error is lost: all its contexts answer it from now on, and none
 * can be made, until the process ends. */
void sim_device_fail(struct sim_device *device, CUresult error);

/* --- The calling thread's stack (stack.c): entries outlive the contexts they name --- */
/* The handle on top, destroyed or not; NULL: none. */
CUcontext sim_stack_top(void);
size_t sim_stack_depth(void);
int sim_stack_device(void); /* of the top, destroyed or not; -1: none */
CUresult sim_stack_push(CUcontext context);
CUcontext sim_stack_pop(void);
CUresult sim_stack_set(CUcontext context); /* replaces the top; NULL takes it off */

/* --- Limits (limit.c) --- */
void sim_limits_reset(struct sim_context *context);

/* --- Each family's part of a context's end --- */
void sim_events_clear(struct sim_context *context); /* event.c */

/* --- Peers (context_peer.c) --- */
void sim_peers_forget(struct sim_context *context);
bool sim_devices_reach(const struct sim_device *from, const struct sim_device *to);

/* --- Priorities of streams: 0 and below --- */
#define SIM_PRIORITY_LEAST 0
int sim_priority_greatest(void);
int sim_priority_clamp(int priority);

#endif
