/* SPDX-License-Identifier: MIT */
/* { dg-do run { target offload_device } } */
/* Loops over teams, threads and lanes: sums, what each thread owns, and the device's number. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 3000 };

static double weights[16];
#pragma omp declare target(weights)

#pragma omp declare target
static int collatz(unsigned long number)
{
    int steps = 0;
    for (; number > 1; steps++)
        number = number % 2 ? 3 * number + 1 : number / 2;
    return steps;
}
#pragma omp end declare target

int main(void)
{
    static int steps[SIZE];
    int on_host = -1, longest = 0, counts[4] = {0};
    double sum = 0, weighted = 0;

#pragma omp target map(from : on_host)
    on_host = omp_is_initial_device();
    if (on_host != 0 || omp_get_num_devices() != 1)
        abort();

#pragma omp target teams distribute parallel for map(from : steps) reduction(max : longest)
    for (int i = 0; i < SIZE; i++) {
        steps[i] = collatz((unsigned long)i + 1);
        longest = steps[i] > longest ? steps[i] : longest;
    }
    if (steps[26] != 111 || longest != 216)
        abort();

#pragma omp target teams distribute parallel for simd collapse(2) reduction(+ : sum)
    for (int i = 0; i < 100; i++)
        for (int j = 0; j < 50; j++)
            sum += i * j;
    if (sum != 4950. * 1225.)
        abort();

    for (int i = 0; i < 16; i++)
        weights[i] = i;
#pragma omp target update to(weights)
#pragma omp target parallel for num_threads(4) reduction(+ : weighted) map(tofrom : counts)
    for (int i = 0; i < 16; i++) {
        weighted += weights[i];
#pragma omp atomic
        counts[i % 4]++;
    }
    if (weighted != 120 || counts[0] != 4 || counts[3] != 4)
        abort();
    puts("longest: 216");
    return 0;
}

/* { dg-output "longest: 216" } */
