/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_TEXTURE_MIPMAP_H
#define CUSHIM_SIM_TEXTURE_MIPMAP_H

struct sim_mipmap;
struct sim_object;

void sim_mipmap_end(struct sim_object *object);
void sim_mipmap_destroy(struct sim_mipmap *mipmap);
#endif
