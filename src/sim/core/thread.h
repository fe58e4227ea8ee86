/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_CORE_THREAD_H
#define CUSHIM_SIM_CORE_THREAD_H

#include <stdbool.h>

/* The calling thread runs a host callback: most calls are refused. */
bool sim_thread_in_callback(void);
void sim_thread_set_in_callback(bool in);
/* The call that it is in is a _ptsz or _ptds form. */
bool sim_thread_per_thread(void);
void sim_thread_set_per_thread(bool is);

#endif
