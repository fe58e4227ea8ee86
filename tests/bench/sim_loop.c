/* SPDX-License-Identifier: MIT */
/* What the simulated matmul is compared with: a plain loop, compiled with -O2 in any build. */
#include "sim_loop.h"

void loop_matmul(const float *a, const float *b, float *c, unsigned rows, unsigned size)
{
    for (unsigned row = 0; row < rows; row++)
        for (unsigned column = 0; column < size; column++) {
            float sum = 0;
            for (unsigned k = 0; k < size; k++)
                sum = a[row * size + k] * b[k * size + column] + sum;
            c[row * size + column] = sum;
        }
}

void loop_vecadd(const float *a, const float *b, float *c, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        c[i] = a[i] + b[i];
}
