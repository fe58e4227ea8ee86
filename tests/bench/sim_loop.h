/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_TESTS_BENCH_SIM_LOOP_H
#define CUSHIM_TESTS_BENCH_SIM_LOOP_H

void loop_matmul(const float *a, const float *b, float *c, unsigned rows, unsigned size);
void loop_vecadd(const float *a, const float *b, float *c, unsigned count);
void loop_reduce(const float *data, float *sums, unsigned count); /* sums of 256 each */
void loop_histogram(const unsigned char *data, unsigned *bins, unsigned count);
void loop_collatz(unsigned *steps, unsigned count);
void loop_nbody(const float *x, const float *y, float *force, unsigned count);

#endif
