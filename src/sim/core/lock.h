/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_CORE_LOCK_H
#define CUSHIM_SIM_CORE_LOCK_H

#include <pthread.h>

void sim_lock_enter(void);
void sim_lock_begin(void); /* the same, of a call that begins: it holds nothing yet */
void sim_lock_leave(void);
void sim_lock_wait(pthread_cond_t *changed); /* with the lock, which it gives up meanwhile */
pthread_mutex_t *sim_lock_mutex(void);       /* for one that cannot wait for it */

#endif
