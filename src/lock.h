/* SPDX-License-Identifier: MIT */
/* A lock for what is rare: opening, closing, initialising. */
#ifndef CUSHIM_SRC_LOCK_H
#define CUSHIM_SRC_LOCK_H

#include <stdatomic.h>

/*
 * Holds the process that took it, 0: nobody. A child forked while another thread held the lock has
 * no such thread: there, a lock of the parent's is nobody's. A mutex would wait for ever.
 */
struct cushim_lock {
    _Atomic long owner;
};

void cushim_lock_take(struct cushim_lock *lock);
void cushim_lock_release(struct cushim_lock *lock);

#endif
