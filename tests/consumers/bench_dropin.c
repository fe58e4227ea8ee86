/* SPDX-License-Identifier: MIT */
/*
 * What a call through the drop-in costs beside the same call through the PLT: one function of one
 * shared library (driver.c) under two names, in one run. Usage: bench_dropin [ROUNDS [CALLS]]
 */
#define _POSIX_C_SOURCE 200112L
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int driver_trivial(CUcontext *context);

typedef void loop_fn(long calls);

void loop_plt(long calls);
void loop_dropin(long calls);

__attribute__((noinline)) void loop_plt(long calls)
{
    CUcontext context;
    for (long i = 0; i < calls; i++)
        driver_trivial(&context);
}

__attribute__((noinline)) void loop_dropin(long calls)
{
    CUcontext context;
    for (long i = 0; i < calls; i++)
        cuCtxGetCurrent(&context);
}

static double nanoseconds(loop_fn *loop, long calls)
{
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    loop(calls);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) /
           (double)calls;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 51;
    long calls = argc > 2 ? atol(argv[2]) : 1000000;
    double *plt = calloc((size_t)rounds, sizeof *plt);
    double *dropin = calloc((size_t)rounds, sizeof *dropin);
    double *ratio = calloc((size_t)rounds, sizeof *ratio);
    if (!plt || !dropin || !ratio || rounds < 1)
        return 1;
    CUcontext context;
    driver_trivial(&context);  /* binds the one */
    cuCtxGetCurrent(&context); /* loads for the other */
    for (int i = 0; i < rounds; i++) {
        plt[i] = nanoseconds(loop_plt, calls);
        dropin[i] = nanoseconds(loop_dropin, calls);
        ratio[i] = dropin[i] / plt[i];
    }
    qsort(plt, (size_t)rounds, sizeof *plt, compare);
    qsort(dropin, (size_t)rounds, sizeof *dropin, compare);
    qsort(ratio, (size_t)rounds, sizeof *ratio, compare);
    printf("plt %.3f\ndropin %.3f\nratio %.3f\n", plt[rounds / 2], dropin[rounds / 2],
           ratio[rounds / 2]);
    return 0;
}
