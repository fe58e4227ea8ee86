/* SPDX-License-Identifier: MIT */
/* A warp under way: its groups of lanes and the frames of its calls. */
#ifndef CUSHIM_SIM_PTX_OPS_WARP_STATE_H
#define CUSHIM_SIM_PTX_OPS_WARP_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/ops/exec.h"

struct call_site;
struct launch;
struct ptx_code;
struct worker;

struct ptx_frame {
    struct ptx_frame *parent; /* or the next free one */
    const struct ptx_code *code;
    const struct call_site *site;
    const struct ptx_step *call;   /* in the parent */
    const struct ptx_step *resume; /* in the parent */
    uint32_t lanes;                /* that are inside, in this frame or deeper */
    uint32_t depth;
    uint32_t local_base, local_top; /* offsets in the threads' local memory */
    uint32_t counted;               /* bytes of stack down to here, as the limit counts */
    uint32_t size_class;
    uint32_t *predicates;
    char *registers;
};

enum group_state { GROUP_READY, GROUP_BARRIER, GROUP_SYNC, GROUP_CLUSTER };
/* Lanes that are at one place. */
struct group {
    uint32_t mask;
    uint32_t epoch; /* how often it had to let others go first */
    const struct ptx_step *pc;
    struct ptx_frame *frame;
    uint8_t state;
    uint8_t barrier;
    bool forced; /* goes through the CONTROL_SYNC step at pc */
};

/* Lanes that waited for each other at several steps of one kind: what they brought. */
struct warp_meeting {
    ptx_run *run; /* the kind */
    uint32_t lanes;
    uint32_t membermask[PTX_LANES];
    uint64_t values[PTX_LANES];
};

struct ptx_warp_state {
    struct ptx_warp warp;
    struct ptx_frame *frame; /* of the running group */
    struct worker *worker;
    struct launch *launch;
    char *local; /* lane 0's; NULL: none */
    uint32_t local_stride;
    uint32_t group_count, current;
    uint32_t first_alive;     /* lanes at the start */
    uint32_t cluster_pending; /* lanes that arrived at the cluster's barrier */
    uint32_t products;        /* of its warpgroup that it had a part in */
    int32_t budget, spins;
    uint64_t wakes; /* when its nap ends, in special_time; 0: awake */
    bool stopped;   /* a fault */
    bool begun, done, blocked;
    bool team;               /* runs the steps for teams, with others or alone */
    struct ptx_frame *entry; /* stays for the warps to come; or NULL */
    struct group groups[PTX_LANES];
    struct warp_meeting meeting; /* while groups are forced */
};

#endif
