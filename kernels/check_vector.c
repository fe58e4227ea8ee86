/* SPDX-License-Identifier: MIT */
/* One element, one thread. */
#include "check.h"

#include <math.h>

#include "fill_ptx.h"
#include "saxpy_ptx.h"
#include "vecadd_ptx.h"

enum { MANY = CHECK_MANY, SPARE = CHECK_SPARE };

bool check_vecadd(struct check_run *run)
{
    struct cushim_launch launch = cushim_launch_1d(MANY, 192, NULL);
    size_t bytes = (MANY + SPARE) * sizeof(float);
    float *a = check_floats(run, MANY, 1), *b = check_floats(run, MANY, 5),
          *sum = check_floats(run, MANY + SPARE, 9);
    if (!a || !b || !sum)
        return false;
    CUdeviceptr device_a = check_copy(run, a, MANY * sizeof *a),
                device_b = check_copy(run, b, MANY * sizeof *b),
                device_sum = check_copy(run, sum, bytes);
    CUfunction function = check_load(run, vecadd_ptx, "vecadd");
    if (!device_a || !device_b || !device_sum || !function ||
        !CHECK_LAUNCH(run, function, &launch, device_a, device_b, device_sum, (unsigned)MANY))
        return false;
    for (int i = 0; i < MANY; i++)
        sum[i] = a[i] + b[i];
    return check_equal(run, device_sum, sum, bytes);
}

bool check_saxpy(struct check_run *run)
{
    struct cushim_launch launch = cushim_launch_1d(MANY, 256, NULL);
    size_t bytes = (MANY + SPARE) * sizeof(float);
    float *x = check_floats(run, MANY, 2), *y = check_floats(run, MANY + SPARE, 3);
    if (!x || !y)
        return false;
    CUdeviceptr device_x = check_copy(run, x, MANY * sizeof *x),
                device_y = check_copy(run, y, bytes);
    CUfunction function = check_load(run, saxpy_ptx, "saxpy");
    if (!device_x || !device_y || !function ||
        !CHECK_LAUNCH(run, function, &launch, (unsigned)MANY, -1.7F, device_x, device_y))
        return false;
    for (int i = 0; i < MANY; i++)
        y[i] = fmaf(-1.7F, x[i], y[i]);
    return check_equal(run, device_y, y, bytes);
}

bool check_fill(struct check_run *run)
{
    struct cushim_launch launch = {
        .size = sizeof launch, .grid = CUSHIM_DIM(7), .block = CUSHIM_DIM(96)};
    size_t bytes = (MANY + SPARE) * sizeof(unsigned);
    unsigned *data = check_host(run, bytes);
    CUdeviceptr memory = data ? check_copy(run, data, bytes) : 0;
    CUfunction function = memory ? check_load(run, fill_ptx, "fill") : NULL;
    if (!function ||
        !CHECK_LAUNCH(run, function, &launch, memory, 0xdeadbeefU, (unsigned long long)MANY))
        return false;
    for (int i = 0; i < MANY; i++)
        data[i] = 0xdeadbeef;
    return check_equal(run, memory, data, bytes);
}
