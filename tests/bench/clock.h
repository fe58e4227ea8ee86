/* SPDX-License-Identifier: MIT */
/* What the benchmark programs share. */
#ifndef CUSHIM_TESTS_BENCH_CLOCK_H
#define CUSHIM_TESTS_BENCH_CLOCK_H

#include <time.h>

/* A function that keeps its name and its call, for callgrind's --toggle-collect. */
#if defined(__clang__)
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noinline, noclone))
#endif

static inline long long clock_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

#endif
