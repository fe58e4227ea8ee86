/* SPDX-License-Identifier: MIT */
/* Kernels that use shared memory. */
#include "check.h"

#include <math.h>

#include "histogram_ptx.h"
#include "matmul_ptx.h"
#include "reduce_ptx.h"
#include "transpose_ptx.h"

enum { MANY = CHECK_MANY, SPARE = CHECK_SPARE };

/* What one block of `threads` adds up, in its order. */
static float tree(const float *data, size_t count, size_t threads)
{
    float partial[1024];
    for (size_t i = 0; i < threads; i++)
        partial[i] = i < count ? data[i] : 0;
    for (size_t half = threads / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; i++)
            partial[i] += partial[i + half];
    return partial[0];
}

static bool reduce_by(struct check_run *run, CUfunction function, CUdeviceptr memory,
                      const float *data, size_t threads)
{
    struct cushim_launch launch = cushim_launch_1d(MANY, threads, NULL);
    size_t blocks = launch.grid[0], bytes = (blocks + SPARE) * sizeof(float);
    float *sums = check_floats(run, blocks + SPARE, 6);
    CUdeviceptr device_sums = sums ? check_copy(run, sums, bytes) : 0;
    launch.shared = threads * sizeof(float);
    if (!device_sums || !CHECK_LAUNCH(run, function, &launch, memory, device_sums, (unsigned)MANY))
        return false;
    for (size_t i = 0; i < blocks; i++)
        sums[i] = tree(data + i * threads, MANY - i * threads, threads);
    return check_equal(run, device_sums, sums, bytes);
}

bool check_reduce(struct check_run *run)
{
    float *data = check_floats(run, MANY, 4);
    CUdeviceptr memory = data ? check_copy(run, data, MANY * sizeof *data) : 0;
    CUfunction function = memory ? check_load(run, reduce_ptx, "reduce") : NULL;
    bool good = function;
    for (size_t threads = 32; good && threads <= 1024; threads *= 2)
        good = reduce_by(run, function, memory, data, threads);
    return good;
}

bool check_transpose(struct check_run *run)
{
    enum { WIDTH = 301, HEIGHT = 77, BYTES = WIDTH * HEIGHT * sizeof(unsigned) };
    struct cushim_launch launch = {.size = sizeof launch,
                                   .grid = CUSHIM_DIM((WIDTH + 31) / 32, (HEIGHT + 31) / 32),
                                   .block = CUSHIM_DIM(32, 8)};
    unsigned *from = check_host(run, BYTES), *to = check_host(run, BYTES);
    if (!from || !to)
        return false;
    for (unsigned y = 0; y < HEIGHT; y++)
        for (unsigned x = 0; x < WIDTH; x++)
            from[y * WIDTH + x] = to[x * HEIGHT + y] = y * 65536 + x;
    CUdeviceptr source = check_copy(run, from, BYTES), target = check_copy(run, from, BYTES);
    CUfunction function = check_load(run, transpose_ptx, "transpose");
    return source && target && function &&
           CHECK_LAUNCH(run, function, &launch, source, target, (unsigned)WIDTH,
                        (unsigned)HEIGHT) &&
           check_equal(run, target, to, BYTES);
}

bool check_histogram(struct check_run *run)
{
    unsigned bins[256 + SPARE];
    struct cushim_launch launch = {
        .size = sizeof launch, .grid = CUSHIM_DIM(13), .block = CUSHIM_DIM(160)};
    unsigned char *data = check_host(run, MANY);
    if (!data)
        return false;
    for (unsigned i = 0; i < MANY; i++) /* some often, some never */
        data[i] = (unsigned char)(int)(check_number(i) * check_number(i + 7));
    for (unsigned i = 0; i < 256 + SPARE; i++)
        bins[i] = i;
    CUdeviceptr memory = check_copy(run, data, MANY), device = check_copy(run, bins, sizeof bins);
    CUfunction function = check_load(run, histogram_ptx, "histogram");
    if (!memory || !device || !function ||
        !CHECK_LAUNCH(run, function, &launch, memory, (unsigned)MANY, device))
        return false;
    for (unsigned i = 0; i < MANY; i++)
        bins[data[i]]++;
    return check_equal(run, device, bins, sizeof bins);
}

struct matrices {
    size_t rows, inner, columns;
    const float *a, *b;
    float *c;
};

static void multiply(const struct matrices *all, size_t row)
{
    for (size_t column = 0; column < all->columns; column++) {
        float sum = 0;
        for (size_t k = 0; k < all->inner; k++)
            sum = fmaf(all->a[row * all->inner + k], all->b[k * all->columns + column], sum);
        all->c[row * all->columns + column] = sum;
    }
}

/* In bands of rows, each a launch of its own, so that it can be seen how far it is. */
bool check_matmul(struct check_run *run)
{
    enum { BAND = 32 };
    struct matrices all = {.rows = 45, .inner = 83, .columns = 67};
    if (run->large)
        all = (struct matrices){.rows = 509, .inner = 503, .columns = 521};
    size_t bytes = (all.rows * all.columns + SPARE) * sizeof(float);
    float *a = check_floats(run, all.rows * all.inner, 8),
          *b = check_floats(run, all.inner * all.columns, 3),
          *c = check_floats(run, all.rows * all.columns + SPARE, 7);
    if (!a || !b || !c)
        return false;
    all.a = a, all.b = b, all.c = c;
    CUdeviceptr device_a = check_copy(run, a, all.rows * all.inner * sizeof *a),
                device_b = check_copy(run, b, all.inner * all.columns * sizeof *b),
                device_c = check_copy(run, c, bytes);
    CUfunction function = check_load(run, matmul_ptx, "matmul");
    if (!device_a || !device_b || !device_c || !function)
        return false;
    for (size_t row = 0; row < all.rows; row += BAND) {
        size_t rows = all.rows - row < BAND ? all.rows - row : BAND;
        struct cushim_launch launch = {
            .size = sizeof launch,
            .grid = CUSHIM_DIM((unsigned)(all.columns + 15) / 16, (unsigned)(rows + 15) / 16),
            .block = CUSHIM_DIM(16, 16)};
        CUdeviceptr from = device_a + row * all.inner * sizeof *a,
                    to = device_c + row * all.columns * sizeof *c;
        if (!CHECK_LAUNCH(run, function, &launch, from, device_b, to, (unsigned)rows,
                          (unsigned)all.inner, (unsigned)all.columns) ||
            !CHECK_CALL(run, run->cu->cuCtxSynchronize_v1()))
            return false;
        for (size_t i = 0; i < rows; i++)
            multiply(&all, row + i);
        check_progress(run, (unsigned)(row + rows), (unsigned)all.rows);
    }
    return check_equal(run, device_c, c, bytes);
}
