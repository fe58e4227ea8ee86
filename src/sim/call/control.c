/* SPDX-License-Identifier: MIT */
/* What faults and the log do around each call. */
#include "call/call.h"

#include "core/core.h"

bool sim_control_before(struct sim_call *call)
{
    if (call->entry->superseded && sim_fault_traps()) {
        sim_lock_leave();
        sim_fault_trap((size_t)(call->entry - sim_entries));
    }
    return sim_fault_before(call);
}

void sim_control_after(struct sim_call *call)
{
    sim_fault_after(call);
    sim_log_call(call);
    sim_summary_call(call->result);
}
