/* SPDX-License-Identifier: MIT */
#include "lock.h"

#include "platform.h"

void cushim_lock_take(struct cushim_lock *lock)
{
    long self = cushim_platform_process_id();
    for (;;) {
        long owner = 0;
        if (atomic_compare_exchange_strong_explicit(&lock->owner, &owner, self,
                                                    memory_order_acquire, memory_order_relaxed))
            return;
        if (owner == self)
            cushim_platform_pause();
        else if (atomic_compare_exchange_strong_explicit(
                     &lock->owner, &owner, self, memory_order_acquire, memory_order_relaxed))
            return;
    }
}

void cushim_lock_release(struct cushim_lock *lock)
{
    atomic_store_explicit(&lock->owner, 0, memory_order_release);
}
