/* SPDX-License-Identifier: MIT */
/* Ask the driver for the block size that keeps the device busiest, check a launch before it is
 * made, and launch in two dimensions. */
#include <stdio.h>

#include <cushim/device.h>
#include <cushim/error.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>

#include "saxpy_ptx.h"
#include "transpose_ptx.h"

#define WIDTH 301
#define HEIGHT 77
#define BYTES (WIDTH * HEIGHT * sizeof(unsigned))

static bool choose_block(const struct cushim_api *cu, CUfunction saxpy)
{
    size_t block = 0, grid = 0, each = 0, all = 0;
    if (!CUSHIM_CHECK(cushim_launch_block_size(cu, saxpy, 0, NULL, 0, &block, &grid)))
        return false;
    struct cushim_launch launch = cushim_launch_1d(block * grid, block, NULL);
    if (!CUSHIM_CHECK(cushim_launch_occupancy(cu, saxpy, &launch, &each, &all)))
        return false;
    printf("saxpy: %zu threads in a block; %zu blocks run at once, %zu on a multiprocessor\n",
           block, all, each);

    /* A kernel of four parameters: a check with one finds that out on drivers that can tell (12.4),
     * and more threads than a block can have are found by all. */
    const size_t one = sizeof(int);
    if (cushim_launch_check(cu, saxpy, &launch, &one, 1) != CUDA_SUCCESS)
        printf("%s\n", cushim_last_error());
    launch.block[0] = 1 << 20;
    CUresult code = cushim_launch_check(cu, saxpy, &launch, NULL, 4);
    printf("%s\n", cushim_last_error());
    return code == CUDA_ERROR_INVALID_VALUE;
}

static bool transpose(const struct cushim_api *cu, CUfunction function)
{
    static unsigned from[HEIGHT][WIDTH], to[WIDTH][HEIGHT];
    /* One block for each tile of 32 by 32 numbers, with 32 by 8 threads. */
    struct cushim_launch launch = cushim_launch_2d(WIDTH, HEIGHT, 32, 32, NULL);
    CUdeviceptr source = 0, target = 0;
    launch.block[1] = 8;
    for (unsigned y = 0; y < HEIGHT; y++)
        for (unsigned x = 0; x < WIDTH; x++)
            from[y][x] = y * 65536 + x;
    bool good = CUSHIM_CHECK(cushim_memory_alloc(cu, BYTES, &source)) &&
                CUSHIM_CHECK(cushim_memory_alloc(cu, BYTES, &target)) &&
                CUSHIM_CHECK(cushim_copy_to_device(cu, source, from, BYTES)) &&
                CUSHIM_CHECK(CUSHIM_LAUNCH(cu, function, &launch, source, target, (unsigned)WIDTH,
                                           (unsigned)HEIGHT)) &&
                CUSHIM_CHECK(cushim_copy_to_host(cu, to, target, BYTES));
    for (unsigned y = 0; good && y < HEIGHT; y++)
        for (unsigned x = 0; x < WIDTH; x++)
            good = good && to[x][y] == from[y][x];
    good &= CUSHIM_CHECK(cushim_memory_free(cu, target));
    return CUSHIM_CHECK(cushim_memory_free(cu, source)) && good;
}

static bool run(const struct cushim_api *cu)
{
    CUmodule first = NULL, second = NULL;
    CUfunction saxpy = NULL, transposing = NULL;
    bool good =
        CUSHIM_CHECK(cushim_module_load(cu, saxpy_ptx, sizeof saxpy_ptx, NULL, NULL, &first)) &&
        CUSHIM_CHECK(cushim_module_function(cu, first, "saxpy", &saxpy)) &&
        CUSHIM_CHECK(
            cushim_module_load(cu, transpose_ptx, sizeof transpose_ptx, NULL, NULL, &second)) &&
        CUSHIM_CHECK(cushim_module_function(cu, second, "transpose", &transposing)) &&
        choose_block(cu, saxpy) && transpose(cu, transposing);
    good &= CUSHIM_CHECK(cushim_module_unload(cu, second));
    return CUSHIM_CHECK(cushim_module_unload(cu, first)) && good;
}

int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    struct cushim_device_scope gpu;
    if (cushim_device_enter(cu, 0, &gpu) != CUDA_SUCCESS) {
        printf("skipped: %s\n", gpu.outcome.message);
        return 77;
    }
    bool good = run(cu);
    good &= CUSHIM_CHECK(cushim_device_leave(&gpu));
    return good ? 0 : 1;
}
