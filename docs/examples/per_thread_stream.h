/* SPDX-License-Identifier: MIT */
/* What per_thread_stream_macro.c and per_thread_stream_option.c share: work that holds up one
 * thread's default stream until a second thread is through with its own.
 *
 * With the default stream of old, one for all threads, the second thread would wait for the first;
 * `gave_up` then ends it. */
#ifndef PER_THREAD_STREAM_H
#define PER_THREAD_STREAM_H

#include <stdatomic.h>
#include <time.h>

struct hold {
    atomic_bool release; /* set by the second thread */
    atomic_bool gave_up;
};

/* Runs in the first thread's stream, on a thread of the driver's. */
static void hold_up(void *argument)
{
    struct hold *hold = argument;
    struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; i < 5000; i++) {
        if (atomic_load(&hold->release))
            return;
        nanosleep(&pause, NULL);
    }
    atomic_store(&hold->gave_up, true);
}

#endif
