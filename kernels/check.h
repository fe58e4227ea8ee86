/* SPDX-License-Identifier: MIT */
/* What the checks share. Each function that fails says so in run->message; what is made with them
 * is released by check_kernel. */
#ifndef KERNELS_CHECK_H
#define KERNELS_CHECK_H

#include "checks.h"

#include <cushim/launch.h>

/* How many elements most checks have, and how many behind them must stay as they were. */
enum { CHECK_MANY = 100003, CHECK_SPARE = 29 };

bool check_failed(struct check_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3))); /* false */
/* True for CUDA_SUCCESS. */
bool check_call(struct check_run *run, const char *call, CUresult code);
#define CHECK_CALL(run, call) check_call(run, #call, call)
#define CHECK_LAUNCH(run, function, launch, ...)                                                   \
    check_call(run, "launch", CUSHIM_LAUNCH((run)->cu, function, launch, __VA_ARGS__))

void check_progress(const struct check_run *run, unsigned done, unsigned of);
/* NULL or 0 where it failed. */
void *check_host(struct check_run *run, size_t bytes);
float *check_floats(struct check_run *run, size_t count, unsigned seed);
CUdeviceptr check_copy(struct check_run *run, const void *host, size_t bytes);
CUfunction check_load(struct check_run *run, const char *ptx, const char *name);
/* Copy back, free, and compare. */
bool check_equal(struct check_run *run, CUdeviceptr memory, const void *expected, size_t bytes);
/* Values in [-8, 8) with all their bits in use. */
float check_number(unsigned i);

bool check_vecadd(struct check_run *run);
bool check_saxpy(struct check_run *run);
bool check_fill(struct check_run *run);
bool check_reduce(struct check_run *run);
bool check_transpose(struct check_run *run);
bool check_histogram(struct check_run *run);
bool check_matmul(struct check_run *run);
bool check_texture(struct check_run *run);
bool check_parameters(struct check_run *run);
bool check_link(struct check_run *run);
bool check_syntax_error(struct check_run *run);

#endif
