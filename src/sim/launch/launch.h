/* SPDX-License-Identifier: MIT */
/* From a call to work in the queue. */
#ifndef CUSHIM_SIM_LAUNCH_LAUNCH_H
#define CUSHIM_SIM_LAUNCH_LAUNCH_H

#include "module/module.h"

/* --- launch.c --- One launch: what it asks for, and the kernel on its way through the queue. */
/* What the attributes of a launch ask for. */
struct sim_launch_extras {
    bool cooperative;
    uint32_t cluster[3]; /* 0: none */
};

/* --- condition.c --- Values that kernels set and graphs ask for: cudaGraphSetConditional and
 * conditional nodes. */
struct sim_condition {
    CUgraphConditionalHandle handle; /* no two have the same, ever */
    uint32_t value, initial;
    bool assigned;  /* `initial` is set anew by every launch of the graph */
    bool used;      /* by a node */
    uint64_t graph; /* serial of the graph that it was made for */
    unsigned references;
    struct sim_condition *next;
};

/* With the driver's lock. NULL: no memory. */
struct sim_condition *sim_condition_make(uint64_t graph, uint32_t initial, bool assigned);
struct sim_condition *sim_condition_find(CUgraphConditionalHandle handle); /* NULL: none */
struct sim_condition *sim_condition_retain(struct sim_condition *condition);
void sim_condition_release(struct sim_condition *condition);
bool sim_condition_all_used(uint64_t graph);   /* all of the graph's */
void sim_condition_graph_gone(uint64_t graph); /* gives up the graph's own references */

/* Without it, from kernels and the work of graphs. */
void sim_condition_set(CUgraphConditionalHandle handle, uint32_t value); /* unknown: nothing */

/* --- device_heap.c --- The heap of the malloc and free that kernels call: one per context, from
 * the first launch of a module that has such calls until the context's end. */
/* Make sure that there is one; its size is the limit of now, which then stays. */
CUresult sim_device_heap_make(struct sim_context *context);
struct ptx_heap *sim_device_heap_blocks(const struct sim_context *context); /* NULL: none yet */
void sim_device_heap_end(struct sim_context *context);

/* --- interrupt.c --- */
/* Around each launch of a kernel, without the lock. */
void sim_interrupt_begin(void);
void sim_interrupt_end(void);
/* The signal is the program's again. */
void sim_interrupt_unload(void);

/* --- launch_check.c --- */
CUresult sim_launch_check_attributes(const CUlaunchAttribute *attributes, unsigned count,
                                     struct sim_launch_extras *extras);
/* The sizes that a configuration has. */
CUDA_KERNEL_NODE_PARAMS_v2 sim_launch_check_params(const CUlaunchConfig *config);
/* Grid, block, shared memory, cluster: the code of the first that the device does not take. */
CUresult sim_launch_check(const struct sim_function *function,
                          const CUDA_KERNEL_NODE_PARAMS_v2 *params,
                          const struct sim_launch_extras *extras);

/* --- launch_prepare.c --- */
/* A kernel. `params` and the attributes are checked and copied: item->params.kernel with
 * kernelParams pointing to copies of the arguments (extra NULL, or a copy of the packed buffer
 * where the caller used that form). Used by launches, graph nodes and graph instantiation. */
CUresult sim_launch_prepare(struct sim_context *context, const CUDA_KERNEL_NODE_PARAMS_v2 *params,
                            const CUlaunchAttribute *attributes, unsigned attribute_count,
                            struct sim_item *item);
/* A copy of a kernel was launched, or put into a graph, where the kernel was. */
void sim_launch_prepare_keep_origin(const struct sim_item *from, const struct sim_item *item);
/* Whether what the item's kernel needs (function, module) still exists. */
bool sim_launch_prepare_is_alive(const struct sim_item *item);
/* Whether the item's kernel uses texture references, which no capture takes. */
bool sim_launch_prepare_is_bound(const struct sim_item *item);
/* The kernel sees texture and surface references as they are bound now. */
void sim_launch_prepare_keep_bindings(const struct sim_item *item);
struct sim_launch_findings {
    unsigned long long notes;  /* how often a check of kernels found something */
    unsigned long long faults; /* how many kernels a fault of theirs ended */
    const char *origin;        /* what launched the first of them (core/callers.c), or NULL */
} sim_launch_prepare_findings(void);

/* --- occupancy.c --- */
/* Blocks of this many threads that one multiprocessor holds at a time. */
int sim_occupancy(const struct sim_function *function, int threads, size_t dynamic);
size_t
sim_occupancy_max_dynamic(const struct sim_function *function);     /* bytes a launch may ask for */
int sim_occupancy_max_threads(const struct sim_function *function); /* of a block */
/* A live function, of the current context. */
CUresult sim_occupancy_function(CUfunction handle, struct sim_function **function);

#endif
