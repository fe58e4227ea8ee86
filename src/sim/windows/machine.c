/* SPDX-License-Identifier: MIT */
/* The machine on Windows: its memory and processors. It has no signals that interrupt, and no
 * simulated NVML, for which usage is noted elsewhere. */
#include "core/core.h"
#include "launch/launch.h"

#include <stddef.h>
#include <unistd.h>

struct sim_machine sim_machine_read(const char *root)
{
    (void)root;
    return (struct sim_machine){.memory = (uint64_t)sysconf(_SC_PHYS_PAGES) *
                                          (uint64_t)sysconf(_SC_PAGESIZE),
                                .processors = (unsigned)sysconf(_SC_NPROCESSORS_ONLN)};
}

struct sim_usage *sim_usage_all(void)
{
    return NULL;
}

void sim_usage_note(int physical, uint64_t bytes, bool contexts)
{
    (void)physical, (void)bytes, (void)contexts;
}

void sim_usage_kernel_begin(int physical)
{
    (void)physical;
}

void sim_usage_kernel_end(int physical)
{
    (void)physical;
}

void sim_interrupt_begin(void)
{
}

void sim_interrupt_end(void)
{
}

void sim_interrupt_unload(void)
{
}
