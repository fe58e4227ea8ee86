/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_TESTS_BENCH_SIM_LOOP_H
#define CUSHIM_TESTS_BENCH_SIM_LOOP_H

void loop_matmul(const float *a, const float *b, float *c, unsigned rows, unsigned size);
void loop_vecadd(const float *a, const float *b, float *c, unsigned count);

#endif
