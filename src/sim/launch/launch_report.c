/* SPDX-License-Identifier: MIT */
/* What a kernel's fault says to the user: where it was, what is near, and what follows. */
#include "launch/launch.h"

#include <stdio.h>
#include <string.h>

#include "core/core.h"
#include "device/device.h"
#include "memory/memory.h"
#include "ptx/ptx.h"
#include "queue/queue.h"

#define NEAR ((uint64_t)1 << 20)

/* The block that an illegal address was probably meant to be in. */
static void nearest(uint64_t address, char *text, size_t size)
{
    struct sim_allocation below, above;
    bool has_below, has_above;
    sim_range_neighbours(address, &below, &has_below, &above, &has_above);
    uint64_t behind = has_below ? address - below.address : 0;
    uint64_t before = has_above ? above.address - address : UINT64_MAX;
    if (has_below && behind < below.size)
        snprintf(text, size, "; a block of %zu bytes, which ends %llu bytes further on, is there",
                 below.size, (unsigned long long)(below.size - behind));
    else if (has_below && behind - below.size < NEAR && behind - below.size <= before)
        snprintf(text, size,
                 "; the nearest block, %zu bytes at 0x%llx, ends %llu bytes before that",
                 below.size, (unsigned long long)below.address,
                 (unsigned long long)(behind - below.size));
    else if (has_above && before < NEAR)
        snprintf(text, size,
                 "; the nearest block, %zu bytes at 0x%llx, begins %llu bytes behind that",
                 above.size, (unsigned long long)above.address, (unsigned long long)before);
    else
        snprintf(text, size, "; no block is near");
}

static unsigned long long notes;

void sim_launch_report_note(const struct sim_device *device, const char *sentence)
{
    __atomic_fetch_add(&notes, 1, __ATOMIC_RELAXED);
    sim_report_device(device->ordinal, sentence);
}

unsigned long long sim_launch_report_count(void)
{
    return __atomic_load_n(&notes, __ATOMIC_RELAXED);
}

void sim_launch_report(const struct sim_device *device, const struct ptx_fault *fault,
                       CUresult code)
{
    char place[160] = "", sentence[sizeof fault->report + sizeof place + 80];
    if (fault->kind == PTX_FAULT_ILLEGAL_ADDRESS)
        nearest(fault->address, place, sizeof place);
    snprintf(sentence, sizeof sentence, "%s%s%s", fault->report, place,
             sim_ticket_error_is_sticky(code)
                 ? "; every later call for this device fails because of it"
                 : "");
    sim_report_device(device->ordinal, sentence);
}
