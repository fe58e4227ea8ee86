/* SPDX-License-Identifier: MIT */
#include "call/call.h"

#include "core/core.h"
#include "launch/launch.h"
#include "queue/queue.h"

void sim_unload(void)
{
    sim_interrupt_unload();
    sim_ticket_unload();
    sim_stack_unload();
}
