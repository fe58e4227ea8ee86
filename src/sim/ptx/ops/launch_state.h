/* SPDX-License-Identifier: MIT */
/* A launch under way: what all of its workers share. */
#ifndef CUSHIM_SIM_PTX_OPS_LAUNCH_STATE_H
#define CUSHIM_SIM_PTX_OPS_LAUNCH_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct affine;
struct check;
struct ptx_code;
struct ptx_fault;
struct ptx_image;
struct ptx_launch;
struct ptx_step;
struct ptx_world;

/* The workspace of a grid barrier, which cooperative groups find through %envreg1 and 2. */
#define GRID_WINDOW UINT64_C(0x840000000000)
#define GRID_WORKSPACE 256
#define RESERVED_SHARED 1024U /* bytes of a block's shared memory that are the system's */

struct launch {
    const struct ptx_launch *request;
    const struct ptx_image *image;
    const struct ptx_code *entry;
    const struct ptx_world *world;
    const char *params;
    uint32_t param_size;
    uint32_t threads, warp_count;
    uint32_t shared_size; /* of the program */
    uint32_t reserved_at; /* what follows it, where code asks for the system's own part */
    uint32_t shared_end;
    uint32_t stack_size;      /* per thread */
    uint32_t stack_limit;     /* of what counts */
    uint32_t *tids;           /* 3 times 32 per warp */
    struct affine *tid_forms; /* of a block, and then of each warp alone, 3 each */
    bool teams;               /* all warps of a block begin as a team */
    const struct ptx_step *start;
    uint64_t cluster_count; /* of clusters, which are blocks where there are none */
    uint32_t cluster[3], cluster_size;
    bool clustered;      /* the request or the kernel says so, be it of one block */
    uint32_t first_live; /* blocks that a worker has under way at once */
    uint32_t batch;      /* clusters that a worker gets from the counter at once */
    char apart1[64];     /* what all workers write has a cache line of its own */
    _Atomic uint64_t next_cluster;
    char apart2[64];
    _Atomic bool stop;
    _Atomic uint32_t fence;
    uint64_t deadline; /* CLOCK_MONOTONIC, ns; 0: none */
    uint64_t id;
    struct check *check; /* memory/check.h; NULL: nothing is checked */
    pthread_mutex_t lock;
    struct ptx_fault *fault;
    uint32_t workspace[GRID_WORKSPACE / 4];
};

#endif
