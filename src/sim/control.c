/* SPDX-License-Identifier: MIT */
/* What faults and the log do around each call. */
#include "control.h"

#include <stdio.h>

#include "fault.h"
#include "log.h"
#include "summary.h"

bool sim_control_before(struct sim_call *call)
{
    if (call->entry->superseded && sim_fault_traps()) {
        sim_unlock();
        sim_trap((size_t)(call->entry - sim_entries));
    }
    return sim_fault_before(call);
}

void sim_control_after(struct sim_call *call)
{
    sim_fault_after(call);
    sim_log_call(call);
    sim_summary_call(call->result);
}

void sim_control_report(const struct sim_device *device, const char *sentence)
{
    char line[1024];
    snprintf(line, sizeof line, "cushim: simulated device %d: %s", device->ordinal, sentence);
    sim_log_report(line);
}
