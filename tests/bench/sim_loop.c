/* SPDX-License-Identifier: MIT */
/* What simulated kernels are compared with: plain loops, compiled with -O2 in any build. */
#include "sim_loop.h"

#include <math.h>
#include <string.h>

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

void loop_reduce(const float *data, float *sums, unsigned count)
{
    for (unsigned at = 0; at < count; at += 256) {
        float sum = 0;
        for (unsigned i = 0; i < 256; i++)
            sum += data[at + i];
        sums[at / 256] = sum;
    }
}

void loop_histogram(const unsigned char *data, unsigned *bins, unsigned count)
{
    memset(bins, 0, 256 * sizeof *bins);
    for (unsigned i = 0; i < count; i++)
        bins[data[i]]++;
}

void loop_collatz(unsigned *steps, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned at = i + 1, taken = 0;
        for (; at > 1 && taken < 1000; taken++)
            at = at & 1 ? 3 * at + 1 : at / 2;
        steps[i] = taken;
    }
}

void loop_nbody(const float *x, const float *y, float *force, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        float sum = 0;
        for (unsigned j = 0; j < count; j++) {
            float far_x = x[j] - x[i], far_y = y[j] - y[i];
            float near = 1 / sqrtf(far_x * far_x + far_y * far_y + 0.01f);
            sum += far_x * near * near * near;
        }
        force[i] = sum;
    }
}
