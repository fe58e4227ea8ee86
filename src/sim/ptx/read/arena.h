/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_READ_ARENA_H
#define CUSHIM_SIM_PTX_READ_ARENA_H

#include <stddef.h>

struct ir_arena;

void *arena_alloc(struct ir_arena *arena, size_t size); /* zeroed; NULL: no memory */
struct ir_arena *arena_create(void);
void arena_destroy(struct ir_arena *arena);

#endif
