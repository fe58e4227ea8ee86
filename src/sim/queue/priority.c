/* SPDX-License-Identifier: MIT */
#include "queue/queue.h"

#include "core/config.h"

int sim_priority_greatest(void)
{
    return sim_config.cuda >= 11000 ? -5 : -1;
}

int sim_priority_clamp(int priority)
{
    int greatest = sim_priority_greatest();
    return priority > SIM_PRIORITY_LEAST ? SIM_PRIORITY_LEAST
           : priority < greatest         ? greatest
                                         : priority;
}
