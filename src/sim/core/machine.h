/* SPDX-License-Identifier: MIT */
/* What the simulated devices may take of the machine: all of it, or what the process's control
 * group leaves. */
#ifndef CUSHIM_SIM_CORE_MACHINE_H
#define CUSHIM_SIM_CORE_MACHINE_H

#include <stdint.h>

struct sim_machine {
    uint64_t memory;     /* bytes */
    unsigned processors; /* at least one */
};

/* Read anew; `root` comes before each path, "" outside of tests. */
struct sim_machine sim_machine_read(const char *root);

#endif
