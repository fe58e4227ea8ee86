/* SPDX-License-Identifier: MIT */
/* There are no such signals. */
#include "launch/launch.h"

void sim_interrupt_begin(void)
{
}

void sim_interrupt_end(void)
{
}

void sim_interrupt_unload(void)
{
}
