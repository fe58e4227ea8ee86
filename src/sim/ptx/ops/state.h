/* SPDX-License-Identifier: MIT */
/* What compiled code is, and what there is of a launch while it runs. */
#ifndef CUSHIM_SIM_PTX_OPS_STATE_H
#define CUSHIM_SIM_PTX_OPS_STATE_H

#include <stdatomic.h>

#include "ptx/ops/exec.h"
#include "ptx/ptx.h"

/* A module, compiled, and its image on a device. */
enum pool_kind { POOL_IMMEDIATE, POOL_VARIABLE, POOL_FUNCTION };
struct pool_entry {
    uint8_t kind;   /* enum pool_kind */
    uint8_t place;  /* PLACE_32, PLACE_64, PLACE_128, PLACE_FORM */
    uint32_t index; /* variable or function of the IR */
    uint32_t offset;
    uint64_t value; /* or what is added to the address */
};

struct ptx_module {
    _Atomic unsigned references;
    struct ir_module *ir;
    struct ptx_code *codes;
    uint32_t code_count;
    uint32_t *code_of; /* by function of the IR; UINT32_MAX: no body */
    struct ptx_variable *variables;
    uint32_t variable_count;
    uint32_t *variable_ir; /* IR index of each public variable */
    uint32_t *variable_of; /* public index of each IR variable; UINT32_MAX: shared */
    uint32_t *shared_of;   /* shared number of each IR variable; UINT32_MAX: not shared */
    const struct ir_variable **shared;
    uint32_t shared_count;
    struct pool_entry *pool;
    uint32_t pool_count, pool_capacity;
    uint32_t pool_bytes;
    uint32_t *pool_hash;
    uint32_t pool_hash_size;
    bool dynamic_stack, reserved_shared, uses_heap;
    struct ir_arena *arena; /* memory that lives as long as the module */
};

struct ptx_image {
    struct ptx_module *module;
    uint32_t const_count; /* variables in constant memory, which isspacep.const knows */
    uint32_t *consts;
    char *constants;
    uint64_t *addresses; /* by public variable */
    char **hosts;
};

/* A function, compiled: its steps, and where its values are. */
#define CALL_OVERHEAD 16 /* bytes of stack that a call takes besides its variables */

enum value_place {
    PLACE_MEMORY,
    PLACE_32,
    PLACE_64,
    PLACE_128,
    PLACE_PREDICATE,
    PLACE_FORM /* of a constant in the pool: a struct affine */
};

struct call_value {
    uint8_t place;   /* enum value_place */
    uint32_t offset; /* in the frame's local memory; of a register: its place in step->list, and for
                        a parameter of the callee its offset in the register file */
    uint32_t size;   /* bytes */
};

struct call_site {
    uint32_t callee; /* index of code; UINT32_MAX: the address in list[0] */
    uint32_t argument_count, return_count;
    struct call_value *arguments, *returns;
};

struct jump_table {
    uint32_t count;
    uint32_t targets[]; /* step indices */
};

struct step_source {
    const struct ir_insn *insn;
    uint8_t affine; /* enum affine_op: what the step does on affine values */
};

/* A register of the general steps that is affine in those for teams. */
struct affine_value {
    uint32_t from, to; /* general steps between which it has its places */
    uint32_t vector, form;
    bool wide; /* 64 bits */
};

/* Steps for teams of warps (affine.h). */
struct team_code {
    struct ptx_step *steps;
    uint32_t *general; /* of each step: the general step that it stands for */
    bool *region;      /* branches that some lanes can take; atomics that a team does */
    uint32_t step_count;
    struct ptx_step *fixed; /* what is the same in all blocks of a launch; no guards */
    uint32_t fixed_count;
    struct affine_value *values;
    uint32_t value_count;
    uint8_t tids; /* bit set: components of %tid that must be affine */
};

/* One function, compiled. */
struct ptx_code {
    const struct ir_function *ir;
    struct ptx_function_info info;
    struct ptx_step *steps;
    struct step_source *sources; /* of each step, for reports */
    uint32_t step_count;
    struct team_code *team; /* of an entry, where some value is affine; or NULL */
    uint32_t register_bytes, predicate_count;
    uint32_t fixed_bytes; /* at the end of the registers: what lasts from warp to warp */
    bool clear;           /* some register is read before it is written */
    struct call_value *params, *returns;
    struct call_value *locals; /* variables in local memory */
    uint32_t local_count;
    uint32_t local_size; /* of a frame: variables, arguments, results */
    uint32_t counted;    /* of a frame, what counts against the stack limit */
    /* Calls: bit sets and flags that layout walks. */
    uint32_t *callees; /* code indices */
    uint32_t callee_count;
    bool indirect, dynamic_stack, reserved_shared;
    uint32_t *shared_used; /* module shared-variable numbers */
    uint32_t shared_used_count;
    /* Of an entry. */
    uint32_t stack_size;      /* of a thread, without recursion */
    uint32_t stack_counted;   /* of that, what counts against the limit */
    uint32_t stack_ratio;     /* bytes of memory for one that counts, at most */
    bool unbounded;           /* recursion or calls through pointers: the stack limit counts too */
    uint32_t *shared_offsets; /* by number of the shared variable; UINT32_MAX: not reachable */
    uint32_t shared_static;
};

/* A launch under way: what all of its workers share. */
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
    bool lasting;             /* warps that end as a team need nothing to begin again */
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
    struct check *check; /* memory/check.c; NULL: nothing is checked */
    pthread_mutex_t lock;
    struct ptx_fault *fault;
    uint32_t workspace[GRID_WORKSPACE / 4];
};

/* A block under way, its barriers and its cluster. */
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
    bool ready;               /* they ended as one, and are as they began */
    bool products;            /* a warp had a part in one of its warpgroup */
    uint32_t barriers_used;   /* bit set */
    uint32_t cluster_arrived; /* threads, of a block without a cluster */
    struct barrier barriers[BARRIERS];
    struct check_block *check; /* memory/check.c */
    struct ptx_warp_state *warps;
    char *entries; /* the frames of their entry */
};

/* A thread of the CPU that runs blocks. */
#define FRAME_CLASSES 20
#define RANGE_CACHE 64

struct worker {
    struct launch *launch;
    struct ptx_range cache[RANGE_CACHE];
    struct ptx_frame *frames[FRAME_CLASSES];
    char *stacks; /* free local memories, linked through their first bytes */
    struct ptx_block *live, *spare;
    uint32_t live_count;
    uint64_t next, end;  /* clusters that are its own to begin */
    uint64_t changed_at; /* when a block came or ended */
    uint64_t wakes;      /* in this round the first of its warps, 0 if one is awake */
};

/* A warp under way: its groups of lanes and the frames of its calls. */
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
    bool passed; /* waits at a barrier that others of the warp went around */
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
    struct ptx_frame *entry; /* stays for the warps to come */
    struct group groups[PTX_LANES];
    struct warp_meeting meeting; /* while groups are forced */
};

#endif
