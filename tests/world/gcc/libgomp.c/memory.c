/* SPDX-License-Identifier: MIT */
/* { dg-do run { target offload_device } } */
/* Memory that the program asks for and maps itself, and regions that wait for others. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 1000 };

int main(void)
{
    int host[SIZE], back[SIZE], device = omp_get_default_device();
    int *there = omp_target_alloc(sizeof host, device);
    int first = 0, second = 0;

    if (!there)
        abort();
    for (int i = 0; i < SIZE; i++)
        host[i] = i;
    if (omp_target_memcpy(there, host, sizeof host, 0, 0, device, omp_get_initial_device()) != 0)
        abort();
#pragma omp target is_device_ptr(there)
    for (int i = 0; i < SIZE; i++)
        there[i] *= 2;
    if (omp_target_memcpy(back, there, sizeof back, 0, 0, omp_get_initial_device(), device) != 0)
        abort();
    omp_target_free(there, device);
    for (int i = 0; i < SIZE; i++)
        if (back[i] != 2 * i)
            abort();

#pragma omp target enter data map(to : host)
#pragma omp target nowait depend(out : first) map(tofrom : first)
    first = host[10];
#pragma omp target nowait depend(in : first) map(to : first) map(from : second)
    second = first + host[20];
#pragma omp taskwait
    if (second != 30 || !omp_target_is_present(host, device))
        abort();
#pragma omp target exit data map(delete : host)
    return omp_target_is_present(host, device);
}
