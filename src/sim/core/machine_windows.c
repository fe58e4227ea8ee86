/* SPDX-License-Identifier: MIT */
/* The machine's memory and processors, on Windows. */
#include "core/core.h"

#include <unistd.h>

struct sim_machine sim_machine_read(const char *root)
{
    (void)root;
    return (struct sim_machine){.memory = (uint64_t)sysconf(_SC_PHYS_PAGES) *
                                          (uint64_t)sysconf(_SC_PAGESIZE),
                                .processors = (unsigned)sysconf(_SC_NPROCESSORS_ONLN)};
}
