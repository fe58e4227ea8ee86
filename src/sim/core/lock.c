/* SPDX-License-Identifier: MIT */
/* The driver's one lock: every behaviour runs with it. */
#include "core/core.h"

#include <sched.h>

#define GLANCES_MAX 64 /* about 10 us */

/* It is held for less time than a thread takes to sleep and wake. */
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
pthread_mutex_t sim_lock_mutex = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
#else
pthread_mutex_t sim_lock_mutex = PTHREAD_MUTEX_INITIALIZER;
#endif

void sim_lock_enter(void)
{
    pthread_mutex_lock(&sim_lock_mutex);
    sim_expire_all();
}

void sim_lock_begin(void)
{
    pthread_mutex_lock(&sim_lock_mutex);
    sim_expire_renew_all();
}

void sim_lock_leave(void)
{
    pthread_mutex_unlock(&sim_lock_mutex);
}

void sim_lock_wait(pthread_cond_t *changed)
{
    pthread_cond_wait(changed, &sim_lock_mutex);
    sim_expire_all();
}

void sim_lock_wait_ns(pthread_cond_t *changed, uint64_t ns)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    ns += (uint64_t)until.tv_nsec;
    until.tv_sec += (time_t)(ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    (void)pthread_cond_timedwait(changed, &sim_lock_mutex, &until);
    sim_expire_all();
}

void sim_lock_glance(const atomic_uint *count)
{
    sim_lock_leave();
    for (unsigned glances = 0; glances < GLANCES_MAX && *count == 0; glances++)
        (void)sched_yield();
    sim_lock_enter();
}
