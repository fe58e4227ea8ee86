/* SPDX-License-Identifier: MIT */
#include "call/unload.h"

#include "core/stack.h"
#include "launch/interrupt.h"
#include "queue/ticket.h"

void sim_unload(void)
{
    sim_interrupt_unload();
    sim_ticket_unload();
    sim_stack_unload();
}
