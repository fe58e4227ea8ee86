/* SPDX-License-Identifier: MIT */
/* A block under way, its barriers and its cluster. */
#ifndef CUSHIM_SIM_PTX_OPS_BLOCK_STATE_H
#define CUSHIM_SIM_PTX_OPS_BLOCK_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct check_block;
struct launch;
struct ptx_warp_state;
struct worker;

#define BARRIERS 16
/* Shared memory of the cluster: block r is at (r + 1) times this in the shared window. */
#define CLUSTER_STRIDE UINT64_C(0x40000)

struct barrier {
    uint32_t waiting;  /* threads */
    uint32_t arrived;  /* threads that went on: bar.arrive */
    uint32_t expected; /* 0: all of the block */
    uint32_t popc;     /* of bar.red */
    bool not_all, any;
};

struct cluster { /* blocks that run together; of one block where the launch has none */
    struct ptx_block **blocks;
    uint32_t size, unfinished;
    uint32_t arrived, alive; /* threads */
};

struct ptx_block {
    struct launch *launch;
    struct worker *worker;
    struct ptx_block *next;
    struct cluster *cluster; /* of several blocks, else NULL */
    uint32_t cluster_rank;
    uint64_t number;
    uint32_t index[3]; /* ctaid */
    char *shared;
    uint32_t shared_size;
    uint32_t alive; /* threads */
    uint32_t warp_count, warps_left;
    bool team;                /* all warps are one team still */
    bool products;            /* a warp had a part in one of its warpgroup */
    uint32_t barriers_used;   /* bit set */
    uint32_t cluster_arrived; /* threads, of a block without a cluster */
    struct barrier barriers[BARRIERS];
    struct check_block *check; /* memory/check.h */
    struct ptx_warp_state *warps;
};

#endif
