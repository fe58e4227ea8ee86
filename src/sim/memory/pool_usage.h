/* SPDX-License-Identifier: MIT */
/* How much memory a pool has, and how much of it is in use. */
#ifndef CUSHIM_SIM_MEMORY_POOL_USAGE_H
#define CUSHIM_SIM_MEMORY_POOL_USAGE_H

#include <stdbool.h>
#include <stddef.h>

struct sim_pool;
struct sim_stream;

bool sim_pool_usage_fits(const struct sim_pool *pool, size_t size); /* below the pool's limit */
/* Account for memory that came from the pool, or goes back: at once, or when the program has waited
 * for the stream. The pool may be gone afterwards. */
void sim_pool_usage_take(struct sim_pool *pool, size_t size);
void sim_pool_usage_give(struct sim_pool *pool, size_t size);
void sim_pool_usage_give_in(struct sim_pool *pool, size_t size, struct sim_stream *stream);

#endif
