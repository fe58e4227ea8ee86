/* SPDX-License-Identifier: MIT */
/* What each process uses of each device, in a file that the processes of one `cushim sim` share.
 * CUSHIM_SIM_USAGE names the file; without it nothing is noted. The simulated NVML reads it. */
#ifndef CUSHIM_SIM_CORE_USAGE_H
#define CUSHIM_SIM_CORE_USAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/config.h"

#define SIM_USAGE_PROCESSES 256
#define SIM_USAGE_SETTINGS 16
#define SIM_USAGE_WINDOW_NS UINT64_C(200000000)

/* Of a device, for all processes: what the simulated NVML has set, and all that ever ran. */
struct sim_usage_board {
    _Atomic uint32_t settings[SIM_USAGE_SETTINGS]; /* 0: as it was made */
    _Atomic uint64_t busy_ns;
};
struct sim_usage_device {
    _Atomic uint64_t bytes;         /* of memory in use */
    _Atomic uint64_t busy_ns;       /* time in kernels that have ended */
    _Atomic uint64_t running_since; /* when the first of those that run began */
    _Atomic uint32_t running;       /* kernels */
    _Atomic uint32_t contexts;      /* whether the process has any */
    /* Busy time of the last two windows: its number in the upper half, microseconds in the lower.
     * So a reader that was not there before knows how busy a device was. */
    _Atomic uint64_t windows[2];
    _Atomic uint64_t most_bytes; /* that it ever had in use */
};
struct sim_usage {
    _Atomic int32_t process; /* 0: this place is free */
    int32_t zero;
    _Atomic uint64_t start;                           /* of the process: numbers are used again */
    struct sim_usage_device devices[SIM_MAX_DEVICES]; /* without CUDA_VISIBLE_DEVICES */
};

/* The places of all processes; NULL if there is no file. */
struct sim_usage *sim_usage_all(void);
/* One of this process's own if there is no file. */
struct sim_usage_board *sim_usage_board(int physical);
/* Busy time of a process from sim_usage_since(now) to now, kernels that run included. */
uint64_t sim_usage_recent(struct sim_usage_device *device, uint64_t now);
uint64_t sim_usage_since(uint64_t now);
/* Whether a place is of a process that is there. */
bool sim_usage_alive(struct sim_usage *place);

void sim_usage_note(int physical, uint64_t bytes, bool contexts);
void sim_usage_kernel_begin(int physical);
void sim_usage_kernel_end(int physical);

#endif
