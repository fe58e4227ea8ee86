/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_GRAPH_PARAMS_H
#define CUSHIM_SIM_GRAPH_PARAMS_H

#include "sim.h"

struct sim_context;
struct sim_item;
struct sim_node;

/* Work as the parameters say it, checked and copied; not for child graphs and memory. */
CUresult sim_params_prepare(const CUgraphNodeParams *params, const CUlaunchAttribute *attributes,
                            unsigned attribute_count, struct sim_item *item);
/* The same work again, independent of `item`. */
CUresult sim_params_copy(const struct sim_item *item, struct sim_item *copy);
/* The live context that the work belongs to; NULL: none, or one that is destroyed. */
struct sim_context *sim_params_context(const CUgraphNodeParams *params);
CUresult sim_params_set(struct sim_node *node, const CUgraphNodeParams *params);
/* Where the entries of one type of node have its parameters: of a copy behind the context. */
const void *sim_params_typed(const CUgraphNodeParams *params);
/* The general form of what such an entry takes, whose older versions are the beginning of the
 * newer; the context is of copies and fills alone. False: `from` is NULL. */
bool sim_params_from(CUgraphNodeParams *params, CUgraphNodeType type, const void *from, size_t size,
                     CUcontext ctx);
/* Whether what is reserved in the generic form is zero. */
bool sim_params_valid(const CUgraphNodeParams *params);

#endif
