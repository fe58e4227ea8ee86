/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_TEXTURE_TEXTURE_OBJECT_H
#define CUSHIM_SIM_TEXTURE_TEXTURE_OBJECT_H

struct sim_object;

void sim_texture_object_end(struct sim_object *object); /* with its context */

#endif
