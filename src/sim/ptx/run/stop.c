/* SPDX-License-Identifier: MIT */
/* ptx_stop: launches are numbered as they begin, and a request is for those below a number. */
#include <stdatomic.h>

#include "ptx/ops/ops.h"
#include "ptx/run/run.h"

static _Atomic uint64_t begun; /* the next launch's number */
static _Atomic uint64_t below; /* the request is for launches with lower numbers */
static _Atomic uint64_t since; /* and holds from this time on */

uint64_t stop_number(void)
{
    return atomic_fetch_add(&begun, 1);
}

bool stop_due(uint64_t number)
{
    return number < atomic_load_explicit(&below, memory_order_acquire) &&
           special_time() >= atomic_load_explicit(&since, memory_order_relaxed);
}

void ptx_stop(uint64_t at, bool later)
{
    atomic_store_explicit(&since, at, memory_order_relaxed);
    atomic_store_explicit(&below, later ? UINT64_MAX : atomic_load(&begun), memory_order_release);
}

uint64_t ptx_launches(void)
{
    return atomic_load(&begun);
}

bool ptx_stops(uint64_t launches)
{
    return stop_due(launches);
}
