/* SPDX-License-Identifier: MIT */
/* { dg-do run } */
/* Gangs, workers and vectors, queues, and a region whose data is not there. */
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 30, SIZE = 64 };

int main(void)
{
    static float in[ROWS][SIZE], out[ROWS];
    int order = 0;

    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < SIZE; j++)
            in[i][j] = (float)(i + j);
#pragma acc data copyin(in) copyout(out)
    {
#pragma acc parallel loop gang num_gangs(8) num_workers(4) vector_length(32) async(1)
        for (int i = 0; i < ROWS; i++) {
            float sum = 0;
#pragma acc loop worker vector reduction(+ : sum)
            for (int j = 0; j < SIZE; j++)
                sum += in[i][j];
            out[i] = sum;
        }
#pragma acc wait(1)
    }
    for (int i = 0; i < ROWS; i++)
        if (out[i] != (float)(SIZE * i + SIZE * (SIZE - 1) / 2))
            abort();

#pragma acc enter data copyin(order) async(1)
#pragma acc parallel present(order) async(1)
    order = 5;
#pragma acc parallel present(order) async(2) wait(1)
    order *= 3;
#pragma acc exit data copyout(order) async(2)
    acc_wait_all();
    if (order != 15)
        abort();
    fprintf(stderr, "so far\n");
#pragma acc parallel present(order)
    order = 0;
    return 0;
}

/* { dg-output "so far.*libgomp: present clause: " } */
/* { dg-shouldfail "not present" } */
