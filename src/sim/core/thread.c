/* SPDX-License-Identifier: MIT */
/* What the calling thread is doing, as far as other rooms ask. */
#include "core/core.h"

static _Thread_local bool in_callback, per_thread;

bool sim_thread_in_callback(void)
{
    return in_callback;
}

void sim_thread_set_in_callback(bool in)
{
    in_callback = in;
}

bool sim_thread_per_thread(void)
{
    return per_thread;
}

void sim_thread_set_per_thread(bool is)
{
    per_thread = is;
}
