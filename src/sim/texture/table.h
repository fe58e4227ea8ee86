/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_TEXTURE_TABLE_H
#define CUSHIM_SIM_TEXTURE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct ptx_texture;
struct sim_view;

/* Handles, by which kernels find views. The functions that launches call take no lock of the
 * driver's; the answer lives until the launch ends. */
/* As bound at that number of changes; NULL: nothing, or its memory is gone. */
const struct ptx_texture *sim_table_texture(uint64_t handle, uint64_t changes);
const struct ptx_texture *sim_table_surface(uint64_t handle, uint64_t changes);
uint64_t sim_table_changes(void); /* how many there were; with the driver's lock */
#define SIM_TABLE_NEWEST UINT64_MAX
/* A handle for a view, which may be NULL and change; 0: no memory. */
uint64_t sim_table_publish(struct sim_view *view, bool surface, void *owner);
void *sim_table_owner(uint64_t handle, bool surface); /* NULL: no such handle */
/* Launches that are queued now see the one before, which is freed when they are done. */
void sim_table_change(uint64_t handle, struct sim_view *view);
/* For calls the handle is gone; launches that are queued now still find the view, which is freed
 * when they are done. */
void sim_table_withdraw(uint64_t handle);

#endif
