/* SPDX-License-Identifier: MIT */
/* { dg-do run { target offload_device } } */
/* A region that aborts ends the program, with what it printed. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
#pragma omp target
    {
        printf("on the device\n");
        abort();
    }
    return 0;
}

/* { dg-output "on the device.*libgomp: cuCtxSynchronize error" } */
/* { dg-shouldfail "abort" } */
